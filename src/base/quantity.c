/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A suffix multiplies by 10^ten or by 2^two. */
static const struct suffix {
	const char *text;
	enum quantity_format format;
	int ten;
	int two;
} suffixes[] = {
	{ "", QUANTITY_DECIMAL_SI, 0, 0 },
	{ "n", QUANTITY_DECIMAL_SI, -9, 0 },
	{ "u", QUANTITY_DECIMAL_SI, -6, 0 },
	{ "m", QUANTITY_DECIMAL_SI, -3, 0 },
	{ "k", QUANTITY_DECIMAL_SI, 3, 0 },
	{ "M", QUANTITY_DECIMAL_SI, 6, 0 },
	{ "G", QUANTITY_DECIMAL_SI, 9, 0 },
	{ "T", QUANTITY_DECIMAL_SI, 12, 0 },
	{ "P", QUANTITY_DECIMAL_SI, 15, 0 },
	{ "E", QUANTITY_DECIMAL_SI, 18, 0 },
	{ "Ki", QUANTITY_BINARY_SI, 0, 10 },
	{ "Mi", QUANTITY_BINARY_SI, 0, 20 },
	{ "Gi", QUANTITY_BINARY_SI, 0, 30 },
	{ "Ti", QUANTITY_BINARY_SI, 0, 40 },
	{ "Pi", QUANTITY_BINARY_SI, 0, 50 },
	{ "Ei", QUANTITY_BINARY_SI, 0, 60 },
};

#define MILLI_PLACES 3
#define NANO_PLACES  9

/* A larger exponent changes nothing: the value is already out of range or below a thousandth. */
#define EXPONENT_LIMIT 100000000

/* "e3", "E-2": all of text. An exponent beyond 64 bits is invalid (suffix.go: strconv.ParseInt). */
static bool read_exponent(const char *text, int *out)
{
	char *end;
	long long value;

	if (isspace((unsigned char)text[1]))
		return false;
	errno = 0;
	value = strtoll(text + 1, &end, 10);
	*out = (int)(value < -EXPONENT_LIMIT ? -EXPONENT_LIMIT : value > EXPONENT_LIMIT ? EXPONENT_LIMIT : value);
	return end > text + 1 && *end == '\0' && errno == 0;
}

static bool read_suffix(const char *text, struct suffix *out)
{
	for (size_t i = 0; i < MEM_COUNT(suffixes); i++) {
		if (strcmp(text, suffixes[i].text) == 0) {
			*out = suffixes[i];
			return true;
		}
	}
	*out = (struct suffix){ "", QUANTITY_DECIMAL_EXPONENT, 0, 0 };
	return (text[0] == 'e' || text[0] == 'E') && read_exponent(text, &out->ten);
}

/*
 * A number wider than the result: whole + part / 10^18, exact to 36 digits. `more`: nonzero digits
 * below that were cut off; they matter, because a quantity is rounded away from zero.
 */
struct wide {
	uint64_t whole;
	uint64_t part; /* below PART_ONE */
	bool more;
	bool huge; /* above every int64 */
};

#define PART_ONE    UINT64_C(1000000000000000000)
#define PART_DIGITS 18

/* factor: at most 10 */
static void wide_times(struct wide *w, unsigned factor)
{
	uint64_t part = w->part * factor;
	uint64_t whole;

	if (__builtin_mul_overflow(w->whole, (uint64_t)factor, &whole) ||
		__builtin_add_overflow(whole, part / PART_ONE, &whole))
		w->huge = true;
	w->whole = whole;
	w->part = part % PART_ONE;
}

static void wide_divide_by_ten(struct wide *w)
{
	uint64_t part = w->whole % 10 * PART_ONE + w->part;

	w->whole /= 10;
	w->part = part / 10;
	w->more = w->more || part % 10 != 0;
}

static bool wide_is_zero(const struct wide *w)
{
	return w->whole == 0 && w->part == 0;
}

/*
 * Multiplies by 10^ten and 2^two. Divides first, to avoid a needless overflow. The loops end when
 * nothing changes any more, however large the exponent.
 */
static void wide_scale(struct wide *w, int ten, int two)
{
	for (; ten < 0 && !wide_is_zero(w); ten++)
		wide_divide_by_ten(w);
	for (; two > 0; two--)
		wide_times(w, 2);
	for (; ten > 0 && !wide_is_zero(w) && !w->huge; ten--)
		wide_times(w, 10);
}

/*
 * Reads the significant digits of text[0..len), which may have a point: 18 into whole, 18 into
 * part. Adds the position of the point to *exponent.
 */
static struct wide read_digits(const char *text, size_t len, int *exponent)
{
	struct wide w = { 0, 0, false, false };
	uint64_t worth = PART_ONE / 10;
	bool behind_point = false;
	int taken = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned digit = (unsigned)(text[i] - '0');
		if (text[i] == '.') {
			behind_point = true;
		} else if (taken < PART_DIGITS) {
			w.whole = w.whole * 10 + digit;
			taken += taken > 0 || digit > 0 ? 1 : 0;
			*exponent -= behind_point ? 1 : 0;
		} else {
			w.part += digit * worth;
			w.more = w.more || (worth == 0 && digit > 0);
			worth /= 10;
			*exponent += behind_point ? 0 : 1;
		}
	}
	return w;
}

static int64_t rounded(const struct wide *w, bool negative)
{
	uint64_t whole = w->whole;

	if (!w->huge && whole <= (uint64_t)INT64_MAX && (w->part > 0 || w->more))
		whole++;
	if (w->huge || whole > (uint64_t)INT64_MAX)
		return negative ? INT64_MIN : INT64_MAX;
	return negative ? -(int64_t)whole : (int64_t)whole;
}

/* Length of "digits[.digits]"; 0 without a digit. */
static size_t number_length(const char *text)
{
	size_t whole = strspn(text, "0123456789");
	size_t part = text[whole] == '.' ? 1 + strspn(text + whole + 1, "0123456789") : 0;

	return whole > 0 || part > 1 ? whole + part : 0;
}

/* *out: the value * 10^places. False: not a quantity. */
static bool read_quantity(const char *text, int places, int64_t *out, enum quantity_format *format)
{
	bool negative = text[0] == '-';
	const char *number = text + (text[0] == '-' || text[0] == '+');
	size_t len = number_length(number);
	struct suffix suffix;

	if (len == 0 || !read_suffix(number + len, &suffix))
		return false;

	int exponent = suffix.ten;
	struct wide w = read_digits(number, len, &exponent);
	wide_scale(&w, exponent + places, suffix.two);
	*out = rounded(&w, negative);
	*format = suffix.format;
	return true;
}

int quantity_parse(const char *text, struct quantity *out, struct err *err)
{
	if (!read_quantity(text, MILLI_PLACES, &out->milli, &out->format))
		return err_set(err, ERR_INVALID, "\"%.64s\" is not a quantity like 5, 1.5, 100m or 2Gi", text);
	/* As in Kubernetes a value between -1 and 1 has no binary form. */
	if (out->format == QUANTITY_BINARY_SI && out->milli > -1000 && out->milli < 1000)
		out->format = QUANTITY_DECIMAL_SI;
	return 0;
}

int64_t quantity_nano(const char *text)
{
	enum quantity_format format;
	int64_t nano;

	return read_quantity(text, NANO_PLACES, &nano, &format) ? nano : 0;
}

/* Not by printf, for speed: each answer of the metrics API contains a quantity. */
static void put_number(uint64_t amount, const char *sign, const char *suffix, char *out)
{
	char digits[24];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + amount % 10);
	while ((amount /= 10) > 0);
	out = stpcpy(out, sign);
	memcpy(out, digits + at, sizeof(digits) - at);
	strcpy(out + sizeof(digits) - at, suffix);
}

/*
 * The shortest form: the largest suffix, each `base` times the one before, that divides the amount.
 */
static void put_shortened(uint64_t amount, unsigned base, const char *const *suffix, const char *sign, char *out)
{
	for (; amount % base == 0; suffix++)
		amount /= base;
	put_number(amount, sign, *suffix, out);
}

char *quantity_format(struct quantity q, char *out)
{
	static const char *const letters[] = { "m", "", "k", "M", "G", "T", "P" },
				 *const exponents[] = { "e-3", "", "e3", "e6", "e9", "e12", "e15" },
				 *const binary[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi" };
	uint64_t amount = q.milli < 0 ? (uint64_t)0 - (uint64_t)q.milli : (uint64_t)q.milli;
	const char *sign = q.milli < 0 ? "-" : "";

	/* quantity.go CanonicalizeBytes: a binary form only from 1024 on, and only if exact. */
	if (amount == 0)
		memcpy(out, "0", 2);
	else if (q.format == QUANTITY_BINARY_SI && amount >= 1024000 && amount % 1000 == 0)
		put_shortened(amount / 1000, 1024, binary, sign, out);
	else
		put_shortened(amount, 1000, q.format == QUANTITY_DECIMAL_EXPONENT ? exponents : letters, sign, out);
	return out;
}

struct quantity quantity_from_int(int64_t value)
{
	int64_t milli;

	if (__builtin_mul_overflow(value, INT64_C(1000), &milli))
		milli = value < 0 ? INT64_MIN : INT64_MAX;
	return (struct quantity){ milli, QUANTITY_DECIMAL_SI };
}

/*
 * Rounds the exact binary value, as printf does. Multiplication gives the same unless the product
 * is large or close to a tie; these rare cases use printf.
 */
static int64_t milli_of(double value)
{
	char text[64];
	struct quantity q;
	double product = value * 1000;
	double below = floor(product);
	double part = product - below;

	if (product < 1e12 && fabs(part - 0.5) > 1e-3)
		return (int64_t)below + (part > 0.5 ? 1 : 0);
	snprintf(text, sizeof(text), "%.3f", value);
	return quantity_parse(text, &q, NULL) == 0 ? q.milli : INT64_MAX;
}

struct quantity quantity_from_double(double value)
{
	struct quantity q = { 0, QUANTITY_DECIMAL_SI };

	if (!isfinite(value) || value <= 0)
		return q;
	/* INT64_MAX thousandths, as a double. */
	q.milli = value >= 9223372036854775.0 ? INT64_MAX : milli_of(value);
	return q;
}
