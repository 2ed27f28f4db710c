/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/duration.h"

static void reads(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} rows[] = {
		{ "0", 0 },
		{ "+0", 0 },
		{ "0s", 0 },
		{ "5s", 5000 },
		{ "30s", 30000 },
		{ "1478s", 1478000 },
		{ "+5s", 5000 },
		{ "5.0s", 5000 },
		{ "5.6s", 5600 },
		{ "5.s", 5000 },
		{ ".5s", 500 },
		{ "1.0s", 1000 },
		{ "1.00s", 1000 },
		{ "1.004s", 1004 },
		{ "1.0040s", 1004 },
		{ "100.00100s", 100001 },
		{ "13ms", 13 },
		{ "14s", 14000 },
		{ "15m", 900000 },
		{ "16h", 57600000 },
		{ "3h30m", 12600000 },
		{ "10.5s4m", 250500 },
		{ "4m10.5s", 250500 },
		{ "1h30m15.5s", 5415500 },
		{ "0.25h", 900000 },
		{ "1m0.5m", 90000 },
		/* finer than a millisecond: up */
		{ "1ns", 1 },
		{ "999us", 1 },
		{ "1us", 1 },
		{ "12\xC2\xB5s", 1 },
		{ "12\xCE\xBCs", 1 },
		{ "1000us", 1 },
		{ "1001us", 2 },
		{ "1.0001s", 1001 },
		{ "0.1ns", 0 },
		{ "0.0000000000001h", 0 },
		{ "0.3333333333333333333h", 1200000 },
		{ "0.100000000000000000000h", 360000 },
		{ "0.9007199254740993h", 3242592 },
		{ "2562047h47m16.854s", INT64_C(9223372036854) },
		{ "9223372036854775807ns", INT64_C(9223372036855) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ms = -1;
		struct err err;
		if (duration_parse(rows[i].text, &ms, &err) < 0)
			fail_msg("\"%s\": %s", rows[i].text, err.msg);
		if (ms != rows[i].ms)
			fail_msg("\"%s\": %lld, not %lld", rows[i].text, (long long)ms, (long long)rows[i].ms);
	}
}

static void refuses(void **state)
{
	static const char *const rows[] = {
		"",
		"3",
		"15",
		"-1s",
		"-0",
		"-5m",
		"s",
		".",
		".s",
		"-.s",
		"+",
		"+.s",
		"1..5s",
		"1.5.s",
		"5",
		"1d",
		"1S",
		"1 s",
		" 1s",
		"1s ",
		"1s1",
		"1,5s",
		"1e3s",
		"ms",
		"0x1s",
		"one second",
		"1h-30m",
		"9223372036854775808ns",
		"9223372036854776us",
		"2562048h",
		"99999999999999999999s",
		"9223372036s9223372036s",
		"1\xC2s",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ms = -7;
		struct err err;
		if (duration_parse(rows[i], &ms, &err) == 0)
			fail_msg("\"%s\" was read as %lld", rows[i], (long long)ms);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_true(ms == -7);
	}
}

static void writes(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} rows[] = {
		{ 0, "0s" },
		{ 1, "1ms" },
		{ 250, "250ms" },
		{ 999, "999ms" },
		{ 1000, "1s" },
		{ 1500, "1.5s" },
		{ 1050, "1.05s" },
		{ 1001, "1.001s" },
		{ 59999, "59.999s" },
		{ 60000, "1m" },
		{ 90000, "1m30s" },
		{ 60001, "1m0.001s" },
		{ 3600000, "1h" },
		{ 3601000, "1h1s" },
		{ 5400000, "1h30m" },
		{ 86400000, "24h" },
		{ -1500, "-1.5s" },
		{ -3600000, "-1h" },
		{ -20, "-20ms" },
		{ INT64_MAX, "2562047788015h12m55.807s" },
		{ INT64_MIN, "-2562047788015h12m55.808s" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[DURATION_TEXT_MAX];
		assert_string_equal(duration_format(rows[i].ms, text), rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reads), cmocka_unit_test(refuses),
		cmocka_unit_test(writes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
