/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cron expressions: the grammar, and when they fire, against a walk over every minute and by hand
 * around changes of clocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/calendar.h"
#include "base/cronexpr.h"
#include "base/timestamp.h"
#include "base/zonefile.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct cronexpr parsed(const char *text)
{
	struct cronexpr e;
	struct err err = { 0 };

	if (cronexpr_parse(text, &e, &err))
		fail_msg("%s: %s", text, err.msg);
	return e;
}

static const struct zone *zone(const char *name)
{
	struct err err = { 0 };
	const struct zone *z = zonefile_get(name, &err);

	if (!z)
		fail_msg("%s", err.msg);
	return z;
}

static int64_t at(const char *text)
{
	int64_t ms = 0;

	if (timestamp_parse(text, &ms, NULL))
		fail_msg("%s is no time", text);
	return ms;
}

/* ---- The grammar ---- */

static uint64_t bits(int from, int to, int step)
{
	uint64_t found = 0;

	for (int i = from; i <= to; i += step)
		found |= UINT64_C(1) << i;
	return found;
}

static void fields_are_read(void **state)
{
	struct cronexpr e = parsed("5,10-12,50/4 */6 ? JAN,mar-May fri");

	(void)state;
	assert_true(e.minutes == (bits(5, 5, 1) | bits(10, 12, 1) | bits(50, 59, 4)));
	assert_true(e.hours == bits(0, 23, 6));
	assert_true(e.days == bits(1, 31, 1));
	assert_true(e.months == (bits(1, 1, 1) | bits(3, 5, 1)));
	assert_true(e.weekdays == bits(5, 5, 1));
	assert_false(e.either);
	assert_string_equal(e.zone, "");
	e = parsed("\t00  06-18/3 1,,15, 2/5   sun,6 ");
	assert_true(e.minutes == 1);
	assert_true(e.hours == bits(6, 18, 3));
	assert_true(e.days == (bits(1, 1, 1) | bits(15, 15, 1)));
	assert_true(e.months == bits(2, 12, 5));
	assert_true(e.weekdays == (bits(0, 0, 1) | bits(6, 6, 1)));
	assert_true(e.either);
	assert_true(parsed("*/100 * * * *").minutes == 1);
	assert_string_equal(parsed("TZ=Asia/Tokyo 0 6 * * *").zone, "Asia/Tokyo");
	assert_string_equal(parsed("CRON_TZ=UTC  0 6 * * *").zone, "UTC");
}

/* Both must match if either carries a star; a step above 1 takes it away. */
static void stars_join_day_and_weekday(void **state)
{
	static const struct {
		const char *text;
		bool either;
	} rows[] = {
		{ "0 0 1 * 1", true },
		{ "0 0 * * 1", false },
		{ "0 0 1 * *", false },
		{ "0 0 ? * 1", false },
		{ "0 0 */1 * 1", false },
		{ "0 0 */2 * 1", true },
		{ "0 0 1-31 * 1", true },
		{ "0 0 1 * */2", true },
		{ "0 0 1 * 2,*", false },
		{ "0 0 * * *", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (parsed(rows[i].text).either != rows[i].either)
			fail_msg("%s", rows[i].text);
}

static void refused_with_its_place(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "", "\"\" has 0 fields, not five: minute, hour, day of month, month, day of week" },
		{ "0 6 * *", "has 4 fields, not five" },
		{ "0 0 6 * * *", "has 6 fields, not five" },
		{ "@daily", "words such as @daily are not understood" },
		{ "0 25 * * *", "\"0 25 * * *\": hour \"25\" (character 3): must be from 0 to 23" },
		{ "60 * * * *", "minute \"60\" (character 1): must be from 0 to 59" },
		{ "0 0 0 * *", "day of month \"0\" (character 5): must be from 1 to 31" },
		{ "0 0 * 13 *", "month \"13\" (character 7): must be from 1 to 12" },
		{ "0 0 * * 7", "day of week \"7\" (character 9): must be from 0 to 6 (Sunday is 0)" },
		{ "0 0 * * fri-mon", "day of week \"fri-mon\" (character 9): the range ends before it begins" },
		{ "0 0 L * *", "day of month \"L\" (character 5): must be a number" },
		{ "0 0 * * 5#2", "day of week \"5#2\" (character 9): must be a number or a name as in mon" },
		{ "0 0 * xyz *", "month \"xyz\" (character 7): must be a number or a name as in jan" },
		{ "0 jan * * *", "hour \"jan\" (character 3): must be a number" },
		{ "*/0 * * * *", "minute \"0\" (character 3): the step must be more than 0" },
		{ "*/x * * * *", "the step must be a number" },
		{ "*/2/3 * * * *", "the step must be a number" },
		{ "1-2-3 * * * *", "minute \"2-3\" (character 3): must be a number" },
		{ "*-5 * * * *", "must be a number" },
		{ "- * * * *", "minute \"\" (character 1): must be a number" },
		{ ", * * * *", "minute \",\" (character 1): has no value" },
		{ "-1 * * * *", "must be a number" },
		{ "99999999999999999999 * * * *", "must be from 0 to 59" },
		{ "TZ=Europe/Berlin", "the time zone must be followed by a blank" },
		{ "TZ= 0 6 * * *", "TZ= names no time zone" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cronexpr e;
		struct err err = { 0 };

		if (cronexpr_parse(rows[i].text, &e, &err) == 0)
			fail_msg("\"%s\" was accepted", rows[i].text);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, rows[i].message))
			fail_msg("\"%s\": said \"%s\"", rows[i].text, err.msg);
	}
}

static void same_however_written(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{ "0 6 * * *", "00 06 ? * *", true },
		{ "0 6 * * 1-5", "0 6 * * mon,tue,wed,4,5", true },
		{ "0 6 * * *", "0 6 * * 0-6", true },
		{ "0 6 1-31 * 1", "0 6 * * *", true },
		{ "*/60 * * * *", "0 * * * *", true },
		{ "0 6 * * *", "1 6 * * *", false },
		{ "0 6 * * 1-5", "0 6 * * *", false },
		{ "0 6 1 * 1", "0 6 1 * *", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cronexpr a = parsed(rows[i].a), b = parsed(rows[i].b);

		if (cronexpr_same(&a, &b) != rows[i].same)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
	}
}

static void days_that_never_come(void **state)
{
	static const struct {
		const char *text;
		bool can;
	} rows[] = {
		{ "0 0 30 2 *", false },
		{ "0 0 31 4,6,9,11 *", false },
		{ "0 0 31 2,3 *", true },
		{ "0 0 29 2 *", true },
		{ "0 0 30 2 1", true },
		{ "0 0 30 2 ?", false },
		{ "* * * * *", true },
	};
	struct cronexpr leap = parsed("0 0 29 2 *"), never = parsed("0 0 30 2 *");
	const struct zone *utc = zone("UTC");
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cronexpr e = parsed(rows[i].text);

		if (cronexpr_can_fire(&e) != rows[i].can)
			fail_msg("%s", rows[i].text);
	}
	assert_false(cronexpr_next(&never, utc, at("2026-01-01T00:00:00Z"), &ms));
	assert_false(cronexpr_last(&never, utc, at("2026-01-01T00:00:00Z"), &ms));
	/* The search ends after five years: 2096 was a leap year, 2100 is not. */
	assert_true(cronexpr_next(&leap, utc, at("2025-01-01T00:00:00Z"), &ms) && ms == at("2028-02-29T00:00:00Z"));
	assert_false(cronexpr_next(&leap, utc, at("2096-03-01T00:00:00Z"), &ms));
	assert_true(cronexpr_next(&leap, utc, at("2099-03-01T00:00:00Z"), &ms) && ms == at("2104-02-29T00:00:00Z"));
	assert_true(cronexpr_last(&leap, utc, at("2028-02-28T23:59:59Z"), &ms) && ms == at("2024-02-29T00:00:00Z"));
	assert_false(cronexpr_last(&leap, utc, at("2103-01-01T00:00:00Z"), &ms));
	assert_true(cronexpr_next(&leap, utc, INT64_MAX, &ms) || true); /* far away is only far away */
	assert_true(cronexpr_last(&leap, utc, INT64_MIN, &ms) || true);
	zonefile_put(utc);
}

/* ---- Clocks that are changed ---- */

static const struct {
	const char *zone, *text, *after, *next;
} fires[] = {
	/*
	 * Forward at 02:00 on 29 March 2026: times in the gap wait for the next day, others do not.
	 */
	{ "Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z" },
	{ "Europe/Berlin", "0 3 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z" },
	{ "Europe/Berlin", "*/30 * 29 3 *", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z" },
	/* Back at 03:00 on 25 October: 02:30 comes twice. */
	{ "Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z" },
	{ "Europe/Berlin", "30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z" },
	{ "Europe/Berlin", "30 2 * * *", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z" },
	{ "America/New_York", "30 2 * * *", "2026-03-08T00:00:00Z", "2026-03-09T06:30:00Z" },
	{ "America/New_York", "30 1 * * *", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z" },
	/* Half an hour: forward at 02:00 on 4 October, back to 01:30 on 5 April. */
	{ "Australia/Lord_Howe", "15 2 * * *", "2026-10-03T00:00:00Z", "2026-10-04T15:15:00Z" },
	{ "Australia/Lord_Howe", "30 2 * * *", "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z" },
	{ "Australia/Lord_Howe", "45 1 * * *", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z" },
	{ "Asia/Kolkata", "0 6 * * 1-5", "2026-06-05T00:30:00Z", "2026-06-08T00:30:00Z" },
	{ "Asia/Kolkata", "0 6 * * 1-5", "2026-06-05T00:29:59Z", "2026-06-05T00:30:00Z" },
	/* 30 December 2011 was left out. */
	{ "Pacific/Apia", "0 12 30 12 *", "2011-12-01T00:00:00Z", "2012-12-29T22:00:00Z" },
	{ "Pacific/Apia", "0 0 * * *", "2011-12-29T12:00:00Z", "2011-12-30T10:00:00Z" },
	/* Behind the last change in the file, by its rule. */
	{ "Europe/Berlin", "30 2 * * *", "2060-03-27T12:00:00Z", "2060-03-29T00:30:00Z" },
	{ "UTC", "0 0 * * *", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z" },
	{ "UTC", "* * * * *", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00Z" },
	{ "UTC", "* * * * *", "2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z" },
};

static void fires_by_local_clocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(fires); i++) {
		struct cronexpr e = parsed(fires[i].text);
		const struct zone *z = zone(fires[i].zone);
		char got[TIMESTAMP_TEXT_MAX];
		int64_t ms = 0, last_ms = 0;

		assert_true(cronexpr_next(&e, z, at(fires[i].after), &ms));
		if (ms != at(fires[i].next))
			fail_msg("%s in %s after %s: %s, not %s", fires[i].text, fires[i].zone, fires[i].after,
				timestamp_format(ms, got), fires[i].next);
		assert_true(cronexpr_last(&e, z, ms, &last_ms) && last_ms == ms);
		assert_true(cronexpr_last(&e, z, ms - 1, &last_ms) && last_ms <= at(fires[i].after));
		zonefile_put(z);
	}
}

/* ---- Every minute ---- */

static unsigned seed = 1;

static int below(int n)
{
	seed = seed * 1103515245u + 12345u;
	return (int)(seed >> 8) % n;
}

static void put_field(char *out, int least, int most, int stars)
{
	int a = least + below(most - least + 1), b = a + below(most - a + 1);

	switch (below(10) < stars ? 4 : below(4)) {
	case 0: sprintf(out, "%d", a); break;
	case 1: sprintf(out, "%d-%d", a, b); break;
	case 2: sprintf(out, "%d,%d", a, b); break;
	case 3: sprintf(out, "*/%d", 1 + below(5)); break;
	default: strcpy(out, "*"); break;
	}
}

static bool matches(const struct cronexpr *e, const struct zone *z, int64_t unix_s)
{
	int64_t local = unix_s + zone_period(z, unix_s).offset_s,
		day = (local - ((local % 86400) + 86400) % 86400) / 86400;
	struct calendar_date date = calendar_date(day);
	bool by_date = e->days >> date.day & 1, by_weekday = e->weekdays >> calendar_weekday(day) & 1;
	int second = (int)(local - day * 86400);

	return second % 60 == 0 && (e->minutes >> (second / 60 % 60) & 1) && (e->hours >> (second / 3600) & 1) &&
		(e->months >> date.month & 1) && (e->either ? by_date || by_weekday : by_date && by_weekday);
}

static void agrees_with_a_walk_over_every_minute(void **state)
{
	static const char *const zones[] = { "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
		"Pacific/Apia", "Africa/Cairo", "America/Sao_Paulo" };

	(void)state;
	for (int round = 0; round < 400; round++) {
		const struct zone *z = zone(zones[round % (int)COUNT(zones)]);
		char text[200], field[5][32];
		struct cronexpr e;
		int64_t from_s, s, ms;

		put_field(field[0], 0, 59, 2);
		put_field(field[1], 0, 23, 4);
		put_field(field[2], 1, 31, 6);
		put_field(field[3], 1, 12, 8);
		put_field(field[4], 0, 6, 6);
		sprintf(text, "%s %s %s %s %s", field[0], field[1], field[2], field[3], field[4]);
		e = parsed(text);
		/* From shortly before a change of clocks, where there is one. */
		from_s = zone_period(z, at("2009-01-01T00:00:00Z") / 1000 + below(800) * INT64_C(86400)).until_s;
		from_s = (from_s > 4000000000 ? 1750000000 : from_s) - below(90000);
		for (s = from_s / 60 * 60 + 60; s < from_s + 40 * 86400 && !matches(&e, z, s);)
			s += 60;
		if (!cronexpr_next(&e, z, from_s * 1000, &ms) ||
			(s < from_s + 40 * 86400 ? ms != s * 1000 : ms < s * 1000)) {
			if (cronexpr_can_fire(&e) && !(strstr(text, " 29 2 ")))
				fail_msg("%s in %s after %lld: %lld, not %lld", text, zones[round % (int)COUNT(zones)],
					(long long)from_s, (long long)ms / 1000, (long long)s);
		}
		for (s = from_s / 60 * 60; s > from_s - 40 * 86400 && !matches(&e, z, s);)
			s -= 60;
		if (cronexpr_last(&e, z, from_s * 1000, &ms) && s > from_s - 40 * 86400)
			assert_true(ms == s * 1000);
		zonefile_put(z);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_read),
		cmocka_unit_test(stars_join_day_and_weekday),
		cmocka_unit_test(refused_with_its_place),
		cmocka_unit_test(same_however_written),
		cmocka_unit_test(days_that_never_come),
		cmocka_unit_test(fires_by_local_clocks),
		cmocka_unit_test(agrees_with_a_walk_over_every_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
