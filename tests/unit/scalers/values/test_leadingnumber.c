/* SPDX-License-Identifier: Apache-2.0 */
/* The number that a text begins with, as scanned by Go, with intended differences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/values/leadingnumber.h"

#define NONE NAN

static const struct {
	const char *text;
	double decimal, whole;
} rows[] = {
	{ "12", 12, 12 },
	{ "12abc", 12, 12 },
	{ "12 of 40", 12, 12 },
	{ " \t12\n", 12, 12 },
	{ "\n12", 12, 12 },
	{ "12.75", 12.75, 12 },
	{ "-3", -3, -3 },
	{ "+3.5x", 3.5, 3 },
	{ ".5", 0.5, NONE },
	{ "-.5", -0.5, NONE },
	{ "5.", 5, 5 },
	{ "5.x", 5, 5 },
	{ "0", 0, 0 },
	{ "-0", 0, 0 },
	{ "007", 7, 7 },
	{ "1e3", 1000, 1 },
	{ "1E+3abc", 1000, 1 },
	{ "25e-1", 2.5, 25 },
	{ "5Ki", 5, 5 }, /* not a quantity here */
	{ "500m", 500, 500 },
	{ "1.5.7", 1.5, 1 },
	{ "12,5", 12, 12 },
	{ "00x1", 0, 0 },
	{ "3x", 3, 3 },
	{ "9223372036854775807", 9223372036854775807.0, 9223372036854775807.0 },
	{ "9223372036854775808", 9223372036854775808.0, NONE },
	{ "1e400", NONE, 1 },
	{ "", NONE, NONE },
	{ "  ", NONE, NONE },
	{ "abc", NONE, NONE },
	{ "abc12", NONE, NONE },
	{ "-", NONE, NONE },
	{ "+-5", NONE, NONE },
	{ "- 5", NONE, NONE },
	{ ".", NONE, NONE },
	{ "-.", NONE, NONE },
	{ ".e5", NONE, NONE },
	{ "e5", NONE, NONE },
	{ "12e", NONE, 12 },
	{ "12e+", NONE, 12 },
	{ "5eggs", NONE, 5 },
	{ "1_000", NONE, NONE },
	{ "1.0_0", NONE, 1 },
	{ "1e1_0", NONE, 1 },
	{ "_1", NONE, NONE },
	{ "0x1f", NONE, 0 },
	{ "-0X1F", NONE, 0 },
	{ "1p3", NONE, 1 },
	{ "nan", NONE, NONE },
	{ "NaN", NONE, NONE },
	{ "inf", NONE, NONE },
	{ "-Infinity", NONE, NONE },
	{ "\"12\"", NONE, NONE },
};

static void check(const char *text, const char *how, bool found, double value, double wanted)
{
	if (found != !isnan(wanted) || (found && value != wanted))
		fail_msg("\"%s\" %s: %g, not %g", text, how, found ? value : NAN, wanted);
}

static void scanned(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		size_t len = strlen(rows[i].text);
		double value = -99;
		bool found = leadingnumber_decimal(rows[i].text, len, &value);

		check(rows[i].text, "decimal", found, value, rows[i].decimal);
		found = leadingnumber_whole(rows[i].text, len, &value);
		check(rows[i].text, "whole", found, value, rows[i].whole);
	}
}

/* Bytes after the length are not read, and a NUL ends a number. */
static void lengths(void **state)
{
	char *digits = mem_alloc(200);
	double value;

	(void)state;
	assert_true(leadingnumber_decimal("1234", 2, &value) && value == 12);
	assert_true(leadingnumber_whole("1234", 2, &value) && value == 12);
	assert_true(leadingnumber_decimal("12\0"
					  "34",
			    5, &value) &&
		value == 12);
	assert_false(leadingnumber_decimal("\0"
					   "34",
		3, &value));
	memset(digits, '1', 200);
	for (size_t len = 100; len <= 200; len += 28)
		assert_int_equal(leadingnumber_decimal(digits, len, &value), len < 128);
	free(digits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scanned),
		cmocka_unit_test(lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
