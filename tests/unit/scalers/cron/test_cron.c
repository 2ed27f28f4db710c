/* SPDX-License-Identifier: Apache-2.0 */
/* The cron trigger: parameters, windows compared with KEDA's rule, and wake-ups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakeloop.h"
#include "../pairs.h"
#include "base/timestamp.h"
#include "base/zonefile.h"
#include "scalers/cron/cronwindow.h"
#include "scalers/scaler.h"
#include "scalers/sources.h"
#include "scalers/types.h"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define MINUTE_MS INT64_C(60000)

/* Replaces the registry, whose other types would need the real loop. */
const struct scaler_type *scaler_type_find(const char *name)
{
	return strcmp(name, cron_scaler_type.name) == 0 ? &cron_scaler_type : NULL;
}

const char *scaler_type_names(void)
{
	return cron_scaler_type.name;
}

static int build(const char *pairs, const char *metric_type, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "cron",
		.index = 0,
		.namespace_ = "shop",
		.metric_type = metric_type };

	return pairs_build(&params, pairs, NULL, NULL, out, err);
}

/* ---- Parameters ---- */

#define DAY "timezone=Europe/Berlin|start=0 6 * * *|end=0 20 * * *"

static void accepted(void **state)
{
	static const struct {
		const char *metadata, *metric_type, *metric, *unknown;
		enum metric_target_type type;
	} rows[] = {
		{ "timezone=Asia/Kolkata|start=0 6 * * *|end=0 20 * * *|desiredReplicas=10", NULL,
			"s0-cron-Asia-Kolkata-06xxx-020xxx", NULL, METRIC_AVERAGE_VALUE },
		{ "timezone= UTC |start= */5 6,7 ? * 1-5 |end=59 7 * * 1-5|desiredReplicas= 1 ", "AverageValue",
			"s0-cron-UTC-xSl56Cm7Qmx1-5-597xx1-5", NULL, METRIC_AVERAGE_VALUE },
		{ "timezone=UTC|start=TZ=Europe/Berlin 0 6 * * *|end=0 6 * * *|desiredReplicas=2", "Value",
			"s0-cron-UTC-TZ=EuropeSlBerlin06xxx-06xxx", NULL, METRIC_VALUE },
		{ DAY "|desiredReplicas=3|desiredReplica=4", NULL, "s0-cron-Europe-Berlin-06xxx-020xxx",
			"\"desiredReplica\" (did you mean \"desiredReplicas\"?)", METRIC_AVERAGE_VALUE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(rows[i].metadata, rows[i].metric_type, &s, &err))
			fail_msg("%s: %s", rows[i].metadata, err.msg);
		assert_string_equal(s.metric_name, rows[i].metric);
		assert_int_equal(s.target.milli, 1000);
		assert_int_equal(s.target_type, rows[i].type);
		assert_true(s.activation == 0);
		if (rows[i].unknown)
			assert_string_equal(s.unknown, rows[i].unknown);
		else
			assert_null(s.unknown);
		scaler_done(&s);
	}
}

static void rejected(void **state)
{
	static const struct {
		const char *metadata, *metric_type, *message;
	} rows[] = {
		{ "start=0 6 * * *|end=0 20 * * *|desiredReplicas=1", NULL,
			"trigger 0 (cron): missing required parameter \"timezone\" in [triggerMetadata]" },
		{ "timezone=UTC|end=0 20 * * *|desiredReplicas=1", NULL, "missing required parameter \"start\"" },
		{ "timezone=UTC|start=0 6 * * *|end= |desiredReplicas=1", NULL, "missing required parameter \"end\"" },
		{ DAY, NULL, "missing required parameter \"desiredReplicas\"" },
		{ DAY "|desiredReplicas=0", NULL,
			"\"desiredReplicas\" value \"0\" must be greater than 0: outside its window a cron trigger "
			"asks for no replicas" },
		{ DAY "|desiredReplicas=-1", NULL, "\"desiredReplicas\" value \"-1\" must be greater than 0" },
		{ DAY "|desiredReplicas=many", NULL, "\"desiredReplicas\" value \"many\": must be a whole number" },
		{ "timezone=Europe/Entenhausen|start=0 6 * * *|end=0 20 * * *|desiredReplicas=1", NULL,
			"parameter \"timezone\": unknown time zone \"Europe/Entenhausen\"" },
		{ "timezone=UTC|start=TZ=Mars/North 0 6 * * *|end=0 20 * * *|desiredReplicas=1", NULL,
			"parameter \"start\": unknown time zone \"Mars/North\"" },
		{ "timezone=Local|start=TZ=UTC 0 6 * * *|end=TZ=UTC 0 20 * * *|desiredReplicas=1", NULL,
			"parameter \"timezone\": unknown time zone \"Local\"" },
		{ "timezone=UTC|start=0 25 * * *|end=0 20 * * *|desiredReplicas=1", NULL,
			"parameter \"start\": \"0 25 * * *\": hour \"25\" (character 3): must be from 0 to 23" },
		{ "timezone=UTC|start=0 6 * * *|end=0 0 20 * * *|desiredReplicas=1", NULL,
			"parameter \"end\": \"0 0 20 * * *\" has 6 fields" },
		{ "timezone=UTC|start=0 6 * * *|end=0 6 * * *|desiredReplicas=1", NULL,
			"\"start\" and \"end\" can not have exactly same time input" },
		{ "timezone=UTC|start=00 6 * * *|end=0 06 ? * 0-6|desiredReplicas=1", NULL,
			"\"00 6 * * *\" and \"0 06 ? * 0-6\" are the same times" },
		{ "timezone=UTC|start=0 6 30 2 *|end=0 20 * * *|desiredReplicas=1", NULL,
			"parameter \"start\" value \"0 6 30 2 *\": this date does not exist in any year" },
		{ "timezone=UTC|start=0 6 * * *|end=0 20 31 4 *|desiredReplicas=1", NULL,
			"parameter \"end\" value \"0 20 31 4 *\": this date does not exist in any year" },
		{ DAY "|desiredReplicas=1", "Utilization", "'Utilization' metric type is unsupported" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(rows[i].metadata, rows[i].metric_type, &s, &err);

		pairs_refused(rc, rows[i].metadata, &err, rows[i].message);
	}
}

static void questions(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{ DAY "|desiredReplicas=1", DAY "|desiredReplicas=1|x=y", true },
		{ DAY "|desiredReplicas=1", DAY "|desiredReplicas=2", false },
		{ DAY "|desiredReplicas=1", "timezone=Europe/Paris|start=0 6 * * *|end=0 20 * * *|desiredReplicas=1",
			false },
		{ DAY "|desiredReplicas=1", "timezone=Europe/Berlin|start=0 7 * * *|end=0 20 * * *|desiredReplicas=1",
			false },
		{ DAY "|desiredReplicas=1", "timezone=Europe/Berlin|start=0 6 * * *|end=0 21 * * *|desiredReplicas=1",
			false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scaler a, b;

		assert_int_equal(build(rows[i].a, NULL, &a, NULL), 0);
		assert_int_equal(build(rows[i].b, NULL, &b, NULL), 0);
		assert_true((strcmp(a.question->key, b.question->key) == 0) == rows[i].same);
		scaler_done(&a);
		scaler_done(&b);
	}
}

/* ---- Windows ---- */

static void window_init(struct cronwindow *w, const char *zone, const char *start, const char *end)
{
	struct err err = { 0 };

	if (cronexpr_parse(start, &w->start, &err) || cronexpr_parse(end, &w->end, &err))
		fail_msg("%s", err.msg);
	w->start_zone = zonefile_get(zone, NULL);
	w->end_zone = zonefile_get(zone, NULL);
	assert_non_null(w->end_zone);
}

static void window_done(struct cronwindow *w)
{
	zonefile_put(w->start_zone);
	zonefile_put(w->end_zone);
}

static int64_t at(const char *text)
{
	int64_t ms = 0;

	assert_int_equal(timestamp_parse(text, &ms, NULL), 0);
	return ms;
}

/* KEDA's rule: open if the next boundary is an end. */
static bool keda_says(const struct cronwindow *w, int64_t ms)
{
	int64_t start = INT64_MAX, end = INT64_MAX;

	cronexpr_next(&w->start, w->start_zone, ms, &start);
	cronexpr_next(&w->end, w->end_zone, ms, &end);
	return end <= start;
}

static void open_and_closed(void **state)
{
	static const struct {
		const char *zone, *start, *end, *now;
		bool open, keda;
	} rows[] = {
		/* from the start, until just before the end */
		{ "UTC", "0 6 * * *", "0 20 * * *", "2026-06-01T05:59:59.999Z", false, false },
		{ "UTC", "0 6 * * *", "0 20 * * *", "2026-06-01T06:00:00Z", true, true },
		{ "UTC", "0 6 * * *", "0 20 * * *", "2026-06-01T19:59:59.999Z", true, true },
		{ "UTC", "0 6 * * *", "0 20 * * *", "2026-06-01T20:00:00Z", false, false },
		/* across midnight */
		{ "UTC", "0 22 * * *", "0 6 * * *", "2026-06-01T23:00:00Z", true, true },
		{ "UTC", "0 22 * * *", "0 6 * * *", "2026-06-01T05:59:00Z", true, true },
		{ "UTC", "0 22 * * *", "0 6 * * *", "2026-06-01T06:00:00Z", false, false },
		/* across a weekend: Friday 18:00 to Monday 06:00 */
		{ "UTC", "0 18 * * 5", "0 6 * * 1", "2026-06-06T12:00:00Z", true, true },
		{ "UTC", "0 18 * * 5", "0 6 * * 1", "2026-06-08T06:00:00Z", false, false },
		/*
		 * an end on each day, starts on weekdays (kedacore/keda#4677): closed on Saturday,
		 * open in KEDA
		 */
		{ "UTC", "30 6 * * 1-5", "10 22 * * *", "2026-06-05T12:00:00Z", true, true },
		{ "UTC", "30 6 * * 1-5", "10 22 * * *", "2026-06-05T22:10:00Z", false, true },
		{ "UTC", "30 6 * * 1-5", "10 22 * * *", "2026-06-06T12:00:00Z", false, true },
		{ "UTC", "30 6 * * 1-5", "10 22 * * *", "2026-06-08T06:30:00Z", true, true },
		/* two starts before one end: the first opens, in KEDA the last */
		{ "UTC", "0 6,8 * * *", "0 20 * * *", "2026-06-01T07:00:00Z", true, false },
		/* one trigger, two adjacent windows: no gap */
		{ "UTC", "0 6,12 * * *", "0 12,18 * * *", "2026-06-01T12:00:00Z", true, true },
		{ "UTC", "0 6,12 * * *", "0 12,18 * * *", "2026-06-01T18:00:00Z", false, false },
		/* a start at the end of a window: KEDA's rule decides */
		{ "UTC", "0 6,18 * * *", "0 18 * * *", "2026-06-01T18:30:00Z", false, false },
		{ "UTC", "0 0 * * 1-5", "0 0 * * *", "2026-06-03T12:00:00Z", true, true },
		{ "UTC", "0 0 * * 1-5", "0 0 * * *", "2026-06-06T12:00:00Z", false, true },
		/* once a year */
		{ "UTC", "0 0 24 12 *", "0 0 27 12 *", "2026-12-25T00:00:00Z", true, true },
		{ "UTC", "0 0 24 12 *", "0 0 27 12 *", "2026-06-01T00:00:00Z", false, false },
		/*
		 * Berlin skips 02:30 on 29 March: a window does not open then (KEDA's is open since
		 * the previous end), and none closes (KEDA's did not open); 25 October has it twice
		 */
		{ "Europe/Berlin", "30 2 * * *", "0 5 * * *", "2026-03-29T02:00:00Z", false, true },
		{ "Europe/Berlin", "0 22 * * *", "30 2 * * *", "2026-03-28T23:00:00Z", true, false },
		{ "Europe/Berlin", "0 22 * * *", "30 2 * * *", "2026-03-29T04:00:00Z", true, false },
		{ "Europe/Berlin", "0 6 * * *", "0 20 * * *", "2026-03-29T04:00:00Z", true, true },
		{ "Europe/Berlin", "0 6 * * *", "0 20 * * *", "2026-10-25T04:59:59Z", false, false },
		{ "Europe/Berlin", "15 2 * * *", "45 2 * * *", "2026-10-25T01:00:00Z", false, false },
		{ "Europe/Berlin", "15 2 * * *", "45 2 * * *", "2026-10-25T01:15:00Z", true, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cronwindow w;

		window_init(&w, rows[i].zone, rows[i].start, rows[i].end);
		if (cronwindow_is_open(&w, at(rows[i].now)) != rows[i].open ||
			keda_says(&w, at(rows[i].now)) != rows[i].keda)
			fail_msg("%zu: %s to %s at %s: %d, KEDA %d", i, rows[i].start, rows[i].end, rows[i].now,
				cronwindow_is_open(&w, at(rows[i].now)), keda_says(&w, at(rows[i].now)));
		window_done(&w);
	}
}

/* If starts and ends alternate, both rules agree at each minute. */
static void agrees_with_keda_where_boundaries_alternate(void **state)
{
	static const struct {
		const char *zone, *start, *end;
	} rows[] = {
		{ "Europe/Berlin", "0 6 * * *", "0 20 * * *" },
		{ "America/New_York", "0 22 * * *", "0 6 * * *" },
		{ "Asia/Kolkata", "30 8 * * 1-5", "0 19 * * 1-5" },
		{ "Australia/Lord_Howe", "0 1 * * *", "0 3 * * *" },
		{ "UTC", "0 18 * * 5", "0 6 * * 1" },
		{ "UTC", "0 6,12 * * *", "0 12,18 * * *" },
		{ "UTC", "0 * * * *", "30 * * * *" },
		{ "Europe/Berlin", "0 0 1 * *", "0 0 2 * *" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cronwindow w;
		int64_t from = at("2026-03-01T00:00:00Z");

		window_init(&w, rows[i].zone, rows[i].start, rows[i].end);
		for (int64_t ms = from; ms < from + 35 * 1440 * MINUTE_MS; ms += MINUTE_MS)
			if (cronwindow_is_open(&w, ms) != keda_says(&w, ms))
				fail_msg("%s to %s in %s at %lld", rows[i].start, rows[i].end, rows[i].zone,
					(long long)ms / 1000);
		window_done(&w);
	}
}

static void next_boundary(void **state)
{
	struct cronwindow w;

	(void)state;
	window_init(&w, "UTC", "0 6 * * *", "0 20 * * *");
	assert_true(cronwindow_next_boundary(&w, at("2026-06-01T05:59:59.999Z")) == at("2026-06-01T06:00:00Z"));
	assert_true(cronwindow_next_boundary(&w, at("2026-06-01T06:00:00Z")) == at("2026-06-01T20:00:00Z"));
	window_done(&w);
}

/* ---- Asking ---- */

struct heard {
	struct loop *loop;
	int count;
	double value;
};

static void on_answer(void *arg, const struct answer *answer, const struct err *err)
{
	struct heard *h = arg;

	assert_null(err);
	h->count++;
	h->value = answer->value;
}

/* Builds a window that begins and ends in so many minutes from now, by minutes of the hour. */
static void build_around_now(int begins, int lasts, struct scaler *s)
{
	int64_t minute = fakeloop_wall_ms() / MINUTE_MS % 60;
	char metadata[200];
	struct err err = { 0 };

	snprintf(metadata, sizeof(metadata), "timezone=UTC|start=%d * * * *|end=%d * * * *|desiredReplicas=7",
		(int)(minute + begins + 60) % 60, (int)(minute + begins + lasts + 60) % 60);
	if (build(metadata, NULL, s, &err))
		fail_msg("%s", err.msg);
}

static void asked(void **state)
{
	struct heard h = { .loop = fakeloop_start() };
	struct scaler_sources sources = { .loop = h.loop };

	(void)state;
	for (int open = 0; open < 2; open++) {
		struct scaler s;
		void *handle;

		build_around_now(open ? -10 : 10, 20, &s);
		handle = question_ask(s.question, &sources, loop_now_ms(h.loop) + 1000, on_answer, &h);
		question_cancel(handle);
		fakeloop_advance(10);
		assert_int_equal(h.count, 0);
		question_ask(s.question, &sources, loop_now_ms(h.loop) + 1000, on_answer, &h);
		assert_int_equal(h.count, 0);
		fakeloop_advance(0);
		assert_int_equal(h.count, 1);
		assert_true(h.value == (open ? 7 : 0));
		assert_true(scaler_judge(&s, &(struct answer){ .value = h.value }).active == open);
		h.count = 0;
		scaler_done(&s);
	}
	fakeloop_end();
}

static void on_look(void *arg)
{
	struct heard *h = arg;

	h->count++;
	h->value = (double)fakeloop_wall_ms();
}

/* Called once at each boundary, and at no other time. */
static void watched(void **state)
{
	struct heard h = { .loop = fakeloop_start() };
	struct scaler_sources sources = { .loop = h.loop };
	struct scaler s;
	void *watch;

	(void)state;
	build_around_now(3, 5, &s);
	watch = s.type->watch(&sources, s.question, on_look, &h);
	assert_int_equal(s.type->watch_report(watch).state, WATCH_ON);
	assert_string_equal(s.type->watch_report(watch).why, "");
	scaler_done(&s); /* the watch holds a reference */
	fakeloop_advance(3 * MINUTE_MS - fakeloop_wall_ms() % MINUTE_MS - 1);
	assert_int_equal(h.count, 0);
	fakeloop_advance(2);
	assert_int_equal(h.count, 1);
	assert_int_equal((int64_t)h.value % MINUTE_MS, 0);
	fakeloop_advance(5 * MINUTE_MS);
	assert_int_equal(h.count, 2);
	assert_int_equal((int64_t)h.value % MINUTE_MS, 0);
	fakeloop_advance(50 * MINUTE_MS);
	assert_int_equal(h.count, 2);
	cron_scaler_type.unwatch(watch);
	fakeloop_end();
}

static void on_look_once(void *arg)
{
	void **watch = arg;

	cron_scaler_type.unwatch(*watch);
	*watch = NULL;
}

static void unwatched_in_the_callback(void **state)
{
	struct scaler_sources sources = { .loop = fakeloop_start() };
	struct scaler s;
	void *watch;

	(void)state;
	build_around_now(1, 5, &s);
	watch = s.type->watch(&sources, s.question, on_look_once, &watch);
	fakeloop_advance(2 * MINUTE_MS);
	assert_null(watch);
	scaler_done(&s);
	fakeloop_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(questions),
		cmocka_unit_test(open_and_closed),
		cmocka_unit_test(agrees_with_keda_where_boundaries_alternate),
		cmocka_unit_test(next_boundary),
		cmocka_unit_test(asked),
		cmocka_unit_test(watched),
		cmocka_unit_test(unwatched_in_the_callback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
