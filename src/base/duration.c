/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define NS_PER_MS UINT64_C(1000000)
#define MAX_NS    ((uint64_t)INT64_MAX) /* Go's own limit, some 292 years */

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "\xC2\xB5s", 1000 }, /* U+00B5, the micro sign */
	{ "\xCE\xBCs", 1000 }, /* U+03BC, the Greek letter */
	{ "ms", NS_PER_MS },
	{ "s", 1000 * NS_PER_MS },
	{ "m", 60 * 1000 * NS_PER_MS },
	{ "h", 3600 * 1000 * NS_PER_MS },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The unit extends to the next number. */
static const struct unit *read_unit(const char **p)
{
	size_t len = strcspn(*p, ".0123456789");

	for (size_t i = 0; i < MEM_COUNT(units); i++) {
		if (strlen(units[i].name) == len && memcmp(units[i].name, *p, len) == 0) {
			*p += len;
			return &units[i];
		}
	}
	return NULL;
}

static bool read_whole(const char **p, uint64_t *out)
{
	uint64_t value = 0;

	for (; is_digit(**p); (*p)++) {
		if (value > MAX_NS / 10)
			return false;
		value = value * 10 + (uint64_t)(**p - '0');
	}
	*out = value;
	return value <= MAX_NS;
}

/* The digits after a point, as far as a double has them. */
static double read_fraction(const char **p)
{
	double value = 0, scale = 1;

	for (; is_digit(**p); (*p)++) {
		if (scale < 1e18) {
			value = value * 10 + (**p - '0');
			scale *= 10;
		}
	}
	return value / scale;
}

/* Adds one "<number><unit>" to *total_ns. Returns what is wrong with it, or NULL. */
static const char *read_part(const char **p, uint64_t *total_ns)
{
	const char *start = *p;
	uint64_t whole;
	double part = 0;
	bool seen = is_digit(*start);

	if (!read_whole(p, &whole))
		return "is too long";
	if (**p == '.') {
		(*p)++;
		seen = seen || is_digit(**p);
		part = read_fraction(p);
	}
	const struct unit *unit = seen ? read_unit(p) : NULL;
	if (unit == NULL)
		return "is not a duration like 15s, 1m30s or 300ms";
	if (whole > MAX_NS / unit->ns)
		return "is too long";
	uint64_t ns = whole * unit->ns + (uint64_t)(part * (double)unit->ns);
	if (ns > MAX_NS || *total_ns > MAX_NS - ns)
		return "is too long";
	*total_ns += ns;
	return NULL;
}

int duration_parse(const char *text, int64_t *ms, struct err *err)
{
	const char *p = text;
	const char *wrong = NULL;
	uint64_t total_ns = 0;

	if (*p == '-')
		return err_set(err, ERR_INVALID, "\"%.64s\" is negative", text);
	if (*p == '+')
		p++;
	if (strcmp(p, "0") == 0) {
		*ms = 0;
		return 0;
	}
	do
		wrong = read_part(&p, &total_ns);
	while (wrong == NULL && *p != '\0');
	if (wrong != NULL)
		return err_set(err, ERR_INVALID, "\"%.64s\" %s", text, wrong);
	*ms = (int64_t)(total_ns / NS_PER_MS + (total_ns % NS_PER_MS > 0 ? 1 : 0));
	return 0;
}

char *duration_format(int64_t ms, char *out)
{
	uint64_t rest = ms < 0 ? (uint64_t)0 - (uint64_t)ms : (uint64_t)ms;
	uint64_t hours = rest / 3600000;
	unsigned minutes = (unsigned)(rest / 60000 % 60), seconds = (unsigned)(rest / 1000 % 60),
		 millis = (unsigned)(rest % 1000);
	char *end = out;

	if (ms < 0)
		*end++ = '-';
	if (rest < 1000 && rest > 0) {
		sprintf(end, "%ums", millis);
		return out;
	}
	if (hours > 0)
		end += sprintf(end, "%lluh", (unsigned long long)hours);
	if (minutes > 0)
		end += sprintf(end, "%um", minutes);
	if (millis > 0) {
		end += sprintf(end, "%u.%03u", seconds, millis);
		while (end[-1] == '0')
			end--;
		strcpy(end, "s");
	} else if (seconds > 0 || rest == 0) {
		sprintf(end, "%us", seconds);
	}
	return out;
}
