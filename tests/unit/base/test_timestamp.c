/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/timestamp.h"

static void reads(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01T00:00:00.001Z", 1 },
		{ "1969-12-31T23:59:59Z", -1000 },
		{ "1969-12-31T23:59:59.999Z", -1 },
		{ "2026-01-02T03:04:05Z", INT64_C(1767323045000) },
		{ "2026-01-02T03:04:05.6Z", INT64_C(1767323045600) },
		{ "2026-01-02T03:04:05.678Z", INT64_C(1767323045678) },
		{ "2026-01-02T03:04:05.678999999Z", INT64_C(1767323045678) },
		{ "2026-01-02T03:04:05.000000000000000000000001Z", INT64_C(1767323045000) },
		{ "2026-01-02T03:04:05+00:00", INT64_C(1767323045000) },
		{ "2026-01-02T03:04:05-00:00", INT64_C(1767323045000) },
		{ "2026-01-02T05:04:05+02:00", INT64_C(1767323045000) },
		{ "2026-01-01T21:34:05-05:30", INT64_C(1767323045000) },
		{ "2000-02-29T00:00:00Z", INT64_C(951782400000) },
		{ "2024-02-29T12:00:00Z", INT64_C(1709208000000) },
		{ "1900-03-01T00:00:00Z", INT64_C(-2203891200000) },
		{ "2100-03-01T00:00:00Z", INT64_C(4107542400000) },
		{ "0000-01-01T00:00:00Z", INT64_C(-62167219200000) },
		{ "9999-12-31T23:59:59.999Z", INT64_C(253402300799999) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ms = 7;
		struct err err;
		if (timestamp_parse(rows[i].text, &ms, &err) < 0)
			fail_msg("\"%s\": %s", rows[i].text, err.msg);
		if (ms != rows[i].ms)
			fail_msg("\"%s\": %lld, not %lld", rows[i].text, (long long)ms, (long long)rows[i].ms);
	}
}

static void refuses(void **state)
{
	static const char *const rows[] = {
		"",
		"x",
		"2026-01-02",
		"2026-01-02T03:04Z",
		"2026-01-02T03:04:05",
		"2026-01-02 03:04:05Z",
		"2026-01-02t03:04:05z",
		"2026-01-02T03:04:05Z ",
		" 2026-01-02T03:04:05Z",
		"2026-00-02T03:04:05Z",
		"2026-13-02T03:04:05Z",
		"2026-01-00T03:04:05Z",
		"2026-01-32T03:04:05Z",
		"2026-04-31T03:04:05Z",
		"2025-02-29T03:04:05Z",
		"1900-02-29T03:04:05Z",
		"2026-01-02T24:00:00Z",
		"2026-01-02T03:60:05Z",
		"2026-01-02T03:04:60Z",
		"2026-01-02T03:04:05.Z",
		"2026-01-02T03:04:05,5Z",
		"2026-01-02T03:04:05+0200",
		"2026-01-02T03:04:05+24:00",
		"2026-01-02T03:04:05+02:60",
		"2026-01-02T03:04:05+2:00",
		"26-01-02T03:04:05Z",
		"+2026-01-02T03:04:05Z",
		"-001-01-02T03:04:05Z",
		"12026-01-02T03:04:05Z",
		"2026-1-2T3:4:5Z",
		"2026-01-02T03:04:05ZZ",
		"2026-01-0aT03:04:05Z",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ms = 7;
		struct err err;
		if (timestamp_parse(rows[i], &ms, &err) == 0)
			fail_msg("\"%s\" was read as %lld", rows[i], (long long)ms);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_true(ms == 7);
	}
}

static void writes(void **state)
{
	char text[TIMESTAMP_TEXT_MAX];

	(void)state;
	assert_string_equal(timestamp_format(INT64_C(1767323045678), text), "2026-01-02T03:04:05Z");
	assert_string_equal(timestamp_format_milli(INT64_C(1767323045678), text), "2026-01-02T03:04:05.678Z");
	assert_string_equal(timestamp_format_micro(INT64_C(1767323045678), text), "2026-01-02T03:04:05.678000Z");
	assert_string_equal(timestamp_format(-1, text), "1969-12-31T23:59:59Z");
	assert_string_equal(timestamp_format_micro(-1, text), "1969-12-31T23:59:59.999000Z");
	assert_string_equal(timestamp_format(0, text), "1970-01-01T00:00:00Z");
	assert_string_equal(timestamp_format(INT64_MAX, text), "9999-12-31T23:59:59Z");
	assert_string_equal(timestamp_format_micro(INT64_MIN, text), "0000-01-01T00:00:00.000000Z");
}

/* Against the C library, day by day over eight centuries, and back again. */
static void agrees_with_the_library(void **state)
{
	(void)state;
	for (int64_t day = -200000; day < 200000; day += 7) {
		int64_t ms = day * 86400000 + (day & 0xFFFFF) * 61;
		int64_t floor_s = (ms - (((ms % 1000) + 1000) % 1000)) / 1000;
		time_t seconds = (time_t)floor_s;
		struct tm tm;
		char ours[TIMESTAMP_TEXT_MAX], theirs[64];
		int64_t again;
		if (seconds == floor_s) { /* as far as the library's time_t goes */
			assert_non_null(gmtime_r(&seconds, &tm));
			strftime(theirs, sizeof(theirs), "%Y-%m-%dT%H:%M:%SZ", &tm);
			assert_string_equal(timestamp_format(ms, ours), theirs);
		}
		assert_int_equal(timestamp_parse(timestamp_format_micro(ms, ours), &again, NULL), 0);
		assert_true(again == ms);
	}
}

static void now_is_after_this_was_written(void **state)
{
	(void)state;
	assert_true(timestamp_now_ms() > INT64_C(1700000000000));
	assert_true(timestamp_now_ms() < INT64_C(253402300799999));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(refuses),
		cmocka_unit_test(writes),
		cmocka_unit_test(agrees_with_the_library),
		cmocka_unit_test(now_is_after_this_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
