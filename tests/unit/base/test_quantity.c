/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/quantity.h"

#define MAX_TEXT "9223372036854775807m"
#define MIN_TEXT "-9223372036854775808m"

/*
 * Text, thousandths, canonical text. Canonical forms as k8s.io/apimachinery/pkg/api/resource gives
 * them.
 */
static void reads_and_writes(void **state)
{
	static const struct {
		const char *text;
		int64_t milli;
		const char *canonical;
	} rows[] = {
		{ "0", 0, "0" },
		{ "0.0", 0, "0" },
		{ "-0", 0, "0" },
		{ "+0", 0, "0" },
		{ "0Ki", 0, "0" },
		{ "0e5", 0, "0" },
		{ "000", 0, "0" },
		{ "1", 1000, "1" },
		{ "+1", 1000, "1" },
		{ "-1", -1000, "-1" },
		{ "007", 7000, "7" },
		{ "100", 100000, "100" },
		{ "1000", 1000000, "1k" },
		{ "1500", 1500000, "1500" },
		{ "10000", 10000000, "10k" },
		{ "1000000", 1000000000, "1M" },
		{ "1234567", 1234567000, "1234567" },
		{ "1M", 1000000000, "1M" },
		{ "1k", 1000000, "1k" },
		{ "1G", 1000000000000, "1G" },
		{ "1T", 1000000000000000, "1T" },
		{ "1P", 1000000000000000000, "1P" },
		{ "1000k", 1000000000, "1M" },
		{ "0.5", 500, "500m" },
		{ ".5", 500, "500m" },
		{ "5.", 5000, "5" },
		{ "1.5", 1500, "1500m" },
		{ "2.500", 2500, "2500m" },
		{ "3.000", 3000, "3" },
		{ "100m", 100, "100m" },
		{ "1000m", 1000, "1" },
		{ "2000m", 2000, "2" },
		{ "1.5k", 1500000, "1500" },
		{ "1.234k", 1234000, "1234" },
		{ "0.001", 1, "1m" },
		/* finer than a milli: up, away from zero */
		{ "0.0001", 1, "1m" },
		{ "1u", 1, "1m" },
		{ "1n", 1, "1m" },
		{ "1000001n", 2, "2m" },
		{ "1000u", 1, "1m" },
		{ "1001u", 2, "2m" },
		{ "-1n", -1, "-1m" },
		{ "-1.0001", -1001, "-1001m" },
		{ "1.0009", 1001, "1001m" },
		{ "1.00000000000000000000000000000000000000000000001", 1001, "1001m" },
		{ "1.00000000000000000000000000000000000000000000000", 1000, "1" },
		{ "0.00000000000000000000000000000000000000000000001", 1, "1m" },
		/* binary */
		{ "1Ki", 1024000, "1Ki" },
		{ "1024Ki", 1048576000, "1Mi" },
		{ "1536Ki", 1572864000, "1536Ki" },
		{ "1.5Ki", 1536000, "1536" },
		{ "1.5Mi", 1572864000, "1536Ki" },
		{ "2Gi", 2147483648000, "2Gi" },
		{ "1Ti", 1099511627776000, "1Ti" },
		{ "1Pi", 1125899906842624000, "1Pi" },
		{ "-1Ki", -1024000, "-1Ki" },
		{ "0.5Ki", 512000, "512" },
		{ "0.001Ki", 1024, "1024m" },
		{ "0.0001Ki", 103, "103m" },
		{ "1.1Ki", 1126400, "1126400m" },
		{ "0.0000000000000000001Ei", 116, "116m" },
		{ "0.123456789012345678Pi", 138999987248089486, "138999987248089486m" },
		/* exponents */
		{ "1e3", 1000000, "1e3" },
		{ "1E3", 1000000, "1e3" },
		{ "1e+3", 1000000, "1e3" },
		{ "3e2", 300000, "300" },
		{ "12e6", 12000000000, "12e6" },
		{ "5e-1", 500, "500e-3" },
		{ "1e-3", 1, "1e-3" },
		{ "1e-9", 1, "1e-3" },
		{ "1.5e3", 1500000, "1500" },
		{ "0.0000000000000000000001e25", 1000000, "1e3" },
		{ "1000000000000000000000000e-20", 10000000, "10e3" },
		{ "123456789012345678901234567890e-24", 123456790, "123456790e-3" },
		/* both ends */
		{ "9223372036854775807m", INT64_MAX, MAX_TEXT },
		{ "9223372036854775806m", INT64_MAX - 1, "9223372036854775806m" },
		{ "9223372036854775808m", INT64_MAX, MAX_TEXT },
		{ "9223372036854775806.1m", INT64_MAX, MAX_TEXT },
		{ "9223372036854775807", INT64_MAX, MAX_TEXT },
		{ "1E", INT64_MAX, MAX_TEXT },
		{ "10Ei", INT64_MAX, MAX_TEXT },
		{ "1e30", INT64_MAX, "9223372036854775807e-3" },
		{ "1e9223372036854775807", INT64_MAX, "9223372036854775807e-3" },
		{ "1e-9223372036854775808", 1, "1e-3" },
		{ "99999999999999999999999999999999999999999999", INT64_MAX, MAX_TEXT },
		{ "-9223372036854775807m", -INT64_MAX, "-9223372036854775807m" },
		{ "-9223372036854775808m", INT64_MIN, MIN_TEXT },
		{ "-1E", INT64_MIN, MIN_TEXT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[QUANTITY_TEXT_MAX];
		struct quantity q, again;
		struct err err;
		if (quantity_parse(rows[i].text, &q, &err) < 0)
			fail_msg("\"%s\": %s", rows[i].text, err.msg);
		if (q.milli != rows[i].milli)
			fail_msg("\"%s\": %lld, not %lld", rows[i].text, (long long)q.milli, (long long)rows[i].milli);
		assert_ptr_equal(quantity_format(q, text), text);
		if (strcmp(text, rows[i].canonical) != 0)
			fail_msg("\"%s\": written as \"%s\", not \"%s\"", rows[i].text, text, rows[i].canonical);
		assert_int_equal(quantity_parse(text, &again, &err), 0);
		assert_true(again.milli == q.milli);
	}
}

static void refuses(void **state)
{
	static const char *const rows[] = {
		"",
		" ",
		" 1",
		"1 ",
		"1 k",
		"+",
		"-",
		".",
		"+.",
		"Mi",
		"m",
		"e3",
		"1.1.M",
		"1+1.0M",
		"0.1mi",
		"0.1am",
		"aoeu",
		".5i",
		"1i",
		"-3.01i",
		"-3.01e-",
		"1e",
		"1e+",
		"1e1.5",
		"1e 5",
		"1e9223372036854775808", /* strconv.ParseInt takes 64 bits */
		"1e-999999999999999999999",
		"1K",
		"1KI",
		"1ki",
		"1mi",
		"1b",
		"1kB",
		"--1",
		"+-1",
		"1,5",
		"0x10",
		"1_000",
		"inf",
		"NaN",
		"1e3k",
		"1Kim",
		"\xEF\xBC\x91",
		"1\n",
	};
	const char *shown;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct quantity q = { 77, QUANTITY_BINARY_SI };
		struct err err;
		if (quantity_parse(rows[i], &q, &err) == 0)
			fail_msg("\"%s\" was read as %lld", rows[i], (long long)q.milli);
		assert_int_equal(err.kind, ERR_INVALID);
		shown = strcmp(rows[i], "1\n") == 0 ? "1 " : rows[i]; /* a message is one line */
		assert_non_null(strstr(err.msg, shown));
		assert_true(q.milli == 77);
	}
}

static void billionths(void **state)
{
	static const struct {
		const char *text;
		int64_t nano;
	} rows[] = {
		{ "0", 0 },
		{ "-0.0", 0 },
		{ "1", 1000000000 },
		{ "-1.5", -1500000000 },
		{ "500m", 500000000 },
		{ "1n", 1 },
		{ "100000001n", 100000001 },
		{ "0.100000001", 100000001 },
		{ "1e-9", 1 },
		{ "0.1n", 1 },
		{ "-0.0000000001", -1 },
		{ "1.0000000001", 1000000001 },
		{ "1Ki", 1024000000000 },
		{ "9223372036.854775807", INT64_MAX },
		{ "9223372037", INT64_MAX },
		{ "-1E", INT64_MIN },
		{ "five", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (quantity_nano(rows[i].text) != rows[i].nano)
			fail_msg("%s: %lld", rows[i].text, (long long)quantity_nano(rows[i].text));
}

static void formats(void **state)
{
	static const struct {
		struct quantity q;
		const char *text;
	} rows[] = {
		{ { 1024000, QUANTITY_BINARY_SI }, "1Ki" },
		{ { 1023000, QUANTITY_BINARY_SI }, "1023" },
		{ { 1000000, QUANTITY_BINARY_SI }, "1k" }, /* below 1024 it is decimal */
		{ { 2000000, QUANTITY_BINARY_SI }, "2000" },
		{ { 1024001, QUANTITY_BINARY_SI }, "1024001m" },
		{ { -1024000, QUANTITY_BINARY_SI }, "-1Ki" },
		{ { INT64_MAX, QUANTITY_BINARY_SI }, MAX_TEXT },
		{ { INT64_MIN, QUANTITY_DECIMAL_SI }, MIN_TEXT },
		{ { INT64_MIN, QUANTITY_DECIMAL_EXPONENT }, "-9223372036854775808e-3" },
		{ { 0, QUANTITY_BINARY_SI }, "0" },
		{ { 5, QUANTITY_DECIMAL_EXPONENT }, "5e-3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[QUANTITY_TEXT_MAX];
		assert_string_equal(quantity_format(rows[i].q, text), rows[i].text);
	}
}

static void whole_numbers(void **state)
{
	char text[QUANTITY_TEXT_MAX];

	(void)state;
	assert_string_equal(quantity_format(quantity_from_int(0), text), "0");
	assert_string_equal(quantity_format(quantity_from_int(5), text), "5");
	assert_string_equal(quantity_format(quantity_from_int(-7000), text), "-7k");
	assert_true(quantity_from_int(INT64_MAX).milli == INT64_MAX);
	assert_true(quantity_from_int(INT64_MIN).milli == INT64_MIN);
	assert_true(quantity_from_int(9223372036854775).milli == 9223372036854775000);
	assert_true(quantity_from_int(9223372036854776).milli == INT64_MAX);
}

static void doubles(void **state)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ -0.0, "0" },
		{ 1, "1" },
		{ 2.5, "2500m" },
		{ 3.0, "3" },
		{ 0.5, "500m" },
		{ 1000, "1k" },
		{ 1e6, "1M" },
		{ 123456.789, "123456789m" },
		{ 0.0004, "0" },
		{ 0.00049999, "0" },
		{ 0.0005, "1m" },
		{ 0.0006, "1m" },
		{ 0.1 + 0.2, "300m" },
		{ 1.0005, "1" /* 1.000499999... */ },
		{ 2.0005, "2001m" /* 2.000500000...02 */ },
		{ 0.0625, "62m" /* a tie: to even */ },
		{ 0.1875, "188m" /* a tie: to even */ },
		{ 4503599627370.4965, "4503599627370496m" },
		{ -1, "0" },
		{ -0.0001, "0" },
		{ NAN, "0" },
		{ INFINITY, "0" },
		{ -INFINITY, "0" },
		{ 1e15, "1P" },
		{ 9007199254740993.0, "9007199254740992" },
		{ 9.3e15, MAX_TEXT },
		{ 1e300, MAX_TEXT },
		{ 5e-324, "0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[QUANTITY_TEXT_MAX];
		quantity_format(quantity_from_double(rows[i].value), text);
		if (strcmp(text, rows[i].text) != 0)
			fail_msg("%.17g: \"%s\", not \"%s\"", rows[i].value, text, rows[i].text);
	}
}

/*
 * The short way and printf's must not differ, least of all near the middle between two thousandths.
 */
static void doubles_round_as_printf(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char text[64];
		struct quantity printed;
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		double value = (double)(random >> 34) / (i % 2 == 0 ? 2000.0 : 1e5 + (double)(i % 977));
		snprintf(text, sizeof(text), "%.3f", value);
		assert_int_equal(quantity_parse(text, &printed, NULL), 0);
		if (quantity_from_double(value).milli != printed.milli)
			fail_msg("%.17g: %lld, not %s", value, (long long)quantity_from_double(value).milli, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_writes),
		cmocka_unit_test(refuses),
		cmocka_unit_test(billionths),
		cmocka_unit_test(formats),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(doubles),
		cmocka_unit_test(doubles_round_as_printf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
