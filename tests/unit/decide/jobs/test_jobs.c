/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobs.h"

#include <float.h>
#include <math.h>

#include "../../crd/given.h"

#define T     1767323045000 /* 2026-01-02T03:04:05Z */
#define UNSET INT32_UNSET

static const struct err down = { .kind = ERR_TEMPORARY, .msg = "connection refused" };
static const struct err waiting = { .kind = ERR_WAITING, .msg = "not listed yet" };

static struct scaledjob_spec spec_of(const char *strategy, int32_t min, int32_t max)
{
	return (struct scaledjob_spec){ .strategy = (char *)(uintptr_t)strategy,
		.min_jobs = min,
		.max_jobs = max,
		.queue_length_deduction = UNSET };
}

/* ---- One trigger: keda-core.md 4.3 worked out by hand ---- */

struct row {
	const char *strategy, *percentage;
	int32_t deduction, min, max;
	double queue, target;
	int32_t running, pending, create;
	enum jobs_rule rule;
};

static struct jobs_decision decide_row(const struct row *row)
{
	struct scaledjob_spec spec = spec_of(row->strategy, row->min, row->max);
	struct jobs_trigger trigger = { .metric_name = "s0-redis-jobs",
		.queue = row->queue,
		.target = row->target,
		.active = true };
	struct jobs_facts facts = { .spec = &spec,
		.now_unix_ms = T,
		.triggers = &trigger,
		.trigger_count = 1,
		.running = row->running,
		.pending = row->pending };

	spec.queue_length_deduction = row->deduction;
	spec.running_job_percentage = (char *)(uintptr_t)row->percentage;
	return jobs_decide(&facts);
}

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct jobs_decision d = decide_row(&rows[i]);

		if (d.create != rows[i].create || d.rule != rows[i].rule)
			fail_msg("row %zu: creates %d by %s, not %d by %s", i, (int)d.create, jobs_rule_name(d.rule),
				(int)rows[i].create, jobs_rule_name(rows[i].rule));
	}
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

/*
 * The Jobs needed are ceil(min(queue / target, max)); default asks for needed - running; never more
 * than the queue is long.
 */
static void test_default(void **state)
{
	static const struct row rows[] = {
		/* the table under maxReplicaCount in KEDA's documentation */
		/* min(10/1, 3) = 3, 3 - 0; 10 were wanted */
		{ "default", NULL, UNSET, UNSET, 3, 10, 1, 0, 0, 3, JOBS_RULE_AT_MAX },
		/* min(10/2, 3) = 3, 3 - 0; 5 were wanted */
		{ "default", NULL, UNSET, UNSET, 3, 10, 2, 0, 0, 3, JOBS_RULE_AT_MAX },
		/* min(10/1, 3) = 3, 3 - 1 */
		{ "default", NULL, UNSET, UNSET, 3, 10, 1, 1, 0, 2, JOBS_RULE_AT_MAX },
		{ "default", NULL, UNSET, UNSET, 100, 10, 1, 0, 0, 10, JOBS_RULE_CREATE }, /* min(10/1, 100) = 10 */
		/* min(4/5, 3) = 0.8, up to 1 */
		{ "default", NULL, UNSET, UNSET, 3, 4, 5, 0, 0, 1, JOBS_RULE_CREATE },
		/* its story of the default strategy */
		{ "default", NULL, UNSET, UNSET, UNSET, 3, 1, 0, 0, 3, JOBS_RULE_CREATE }, /* 3 - 0 */
		{ "default", NULL, UNSET, UNSET, UNSET, 3, 1, 3, 0, 0, JOBS_RULE_ENOUGH }, /* 3 - 3 */
		{ "default", NULL, UNSET, UNSET, UNSET, 6, 1, 3, 0, 3, JOBS_RULE_CREATE }, /* 6 - 3 */
		/* its story of minReplicaCount: 2 run always, 3 messages make 3 Jobs */
		/* max is 10 - 2 = 8, r = 2 - 2 = 0: min(3, 8) - 0 */
		{ "default", NULL, UNSET, 2, 10, 3, 1, 2, 0, 3, JOBS_RULE_CREATE },
		{ "default", NULL, UNSET, 2, 10, 3, 1, 5, 0, 0, JOBS_RULE_ENOUGH }, /* r = 3: 3 - 3 */
		/* min(20, 8) - 0: 10 in all */
		{ "default", NULL, UNSET, 2, 10, 20, 1, 2, 0, 8, JOBS_RULE_AT_MAX },
		/* r = 8: 8 - 8, 20 - 8 wanted */
		{ "default", NULL, UNSET, 2, 10, 20, 1, 10, 0, 0, JOBS_RULE_AT_MAX },
		/* without maxReplicaCount 100 beyond the minimum */
		{ "default", NULL, UNSET, 2, UNSET, 200, 1, 2, 0, 100, JOBS_RULE_AT_MAX },
		/* below the minimum the strategy is not asked, nor the queue */
		{ "default", NULL, UNSET, 3, 10, 50, 1, 1, 0, 2, JOBS_RULE_BELOW_MIN }, /* 3 - 1 */
		{ "default", NULL, UNSET, 3, 10, 0, 1, 0, 0, 3, JOBS_RULE_BELOW_MIN },
		/* minReplicaCount above maxReplicaCount: min = max = 3, 3 - 2 */
		{ "default", NULL, UNSET, 5, 3, 50, 1, 2, 0, 1, JOBS_RULE_BELOW_MIN },
		/* and then max stays 3 beyond it (keda-core.md 4.2) */
		{ "default", NULL, UNSET, 5, 3, 50, 1, 3, 0, 3, JOBS_RULE_AT_MAX },
		/* parts of Jobs */
		{ "default", NULL, UNSET, UNSET, 10, 5, 2, 0, 0, 3, JOBS_RULE_CREATE },   /* 2.5 up to 3 */
		{ "default", NULL, UNSET, UNSET, 10, 0.2, 5, 0, 0, 1, JOBS_RULE_CREATE }, /* 0.04 up to 1 */
		/* 6 needed, but a queue of 3 gives work to 3 */
		{ "default", NULL, UNSET, UNSET, 10, 3, 0.5, 0, 0, 3, JOBS_RULE_CREATE },
		{ "default", NULL, UNSET, UNSET, 10, 3, 0.5, 4, 0, 2, JOBS_RULE_CREATE }, /* 6 - 4 */
		/* more run than may */
		{ "default", NULL, UNSET, UNSET, 5, 9, 1, 7, 0, 0, JOBS_RULE_AT_MAX }, /* 5 - 7, 9 - 7 wanted */
		{ "default", NULL, UNSET, UNSET, 5, 5, 1, 7, 0, 0, JOBS_RULE_ENOUGH },
		/* pending is nothing to it */
		{ "default", NULL, UNSET, UNSET, 10, 6, 1, 3, 3, 3, JOBS_RULE_CREATE },
		/* active with nothing, without a target, with less than nothing */
		{ "default", NULL, UNSET, UNSET, 10, 0, 1, 0, 0, 0, JOBS_RULE_ENOUGH },
		{ "default", NULL, UNSET, UNSET, 10, 7, 0, 0, 0, 0, JOBS_RULE_ENOUGH },
		{ "default", NULL, UNSET, UNSET, 10, -7, 1, 0, 0, 0, JOBS_RULE_ENOUGH },
		{ "default", NULL, UNSET, UNSET, 10, 7, -1, 0, 0, 0, JOBS_RULE_ENOUGH },
		/* only the webhook forbids a maxReplicaCount of 0 */
		{ "default", NULL, UNSET, UNSET, 0, 7, 1, 0, 0, 0, JOBS_RULE_AT_MAX },
		/* the default by other names */
		{ NULL, NULL, UNSET, UNSET, 10, 6, 1, 3, 0, 3, JOBS_RULE_CREATE },
		{ "", NULL, UNSET, UNSET, 10, 6, 1, 3, 0, 3, JOBS_RULE_CREATE },
		{ "Eager", NULL, UNSET, UNSET, 10, 6, 1, 3, 2, 3, JOBS_RULE_CREATE },
	};

	(void)state;
	CHECK(rows);
}

/* needed - deduction - trunc(running * percentage) */
static void test_custom(void **state)
{
	static const struct row rows[] = {
		{ "custom", "0.5", 1, UNSET, 100, 10, 1, 4, 0, 7, JOBS_RULE_CREATE },     /* 10 - 1 - trunc(2.0) */
		{ "custom", "0.5", 1, UNSET, 100, 10, 1, 3, 0, 8, JOBS_RULE_CREATE },     /* 10 - 1 - trunc(1.5) */
		{ "custom", "0.5", 1, UNSET, 100, 10, 1, 0, 0, 9, JOBS_RULE_CREATE },     /* 10 - 1 - 0 */
		{ "custom", "0.5", UNSET, UNSET, 100, 10, 1, 4, 0, 8, JOBS_RULE_CREATE }, /* 10 - 0 - 2 */
		/* max 10, r = 4: 10 - 1 - 2 = 7, but there is room for 10 - 4 */
		{ "custom", "0.5", 1, 2, 12, 10, 1, 6, 0, 6, JOBS_RULE_AT_MAX },
		{ "custom", "1", 0, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },     /* as default: 10 - 0 - 4 */
		{ "custom", "0.99", 0, UNSET, 100, 10, 1, 1, 0, 10, JOBS_RULE_CREATE }, /* 10 - trunc(0.99) */
		{ "custom", "0.5", 20, UNSET, 100, 10, 1, 4, 0, 0, JOBS_RULE_ENOUGH },  /* 10 - 20 - 2 */
		/* min(20, 10) - 5; 20 - 5 were wanted */
		{ "custom", "0.5", 5, UNSET, 10, 20, 1, 0, 0, 5, JOBS_RULE_AT_MAX },
		/* 5 - trunc(-1.5) = 5 + 1 */
		{ "custom", "-0.5", 0, UNSET, 100, 10, 2, 3, 0, 6, JOBS_RULE_CREATE },
		/* 3 + 5 - 1 = 7, but a queue of 6 */
		{ "custom", "0.5", -5, UNSET, 100, 6, 2, 2, 0, 6, JOBS_RULE_CREATE },
		/*
		 * KEDA compares each creation with max and not what runs: min(10 - 0 - 0, 10) = 10
		 * more, 18 in all, and so on at each poll
		 */
		{ "custom", "0", 0, UNSET, 10, 10, 1, 8, 0, 2, JOBS_RULE_AT_MAX },
		{ "custom", "0", 0, UNSET, 10, 10, 1, 10, 0, 0, JOBS_RULE_AT_MAX },
		/* numbers as Go reads them */
		{ "custom", "5e-1", 1, UNSET, 100, 10, 1, 4, 0, 7, JOBS_RULE_CREATE },
		{ "custom", ".5", 1, UNSET, 100, 10, 1, 4, 0, 7, JOBS_RULE_CREATE },
		{ "custom", "+0.5", 1, UNSET, 100, 10, 1, 4, 0, 7, JOBS_RULE_CREATE },
		/* what is none makes it default: 10 - 4, the deduction does not count either */
		{ "custom", NULL, 1, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },
		{ "custom", "", 1, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },
		{ "custom", "half", 1, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },
		{ "custom", "50%", 1, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },
		{ "custom", " 0.5", 1, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },
		{ "custom", "0.5 ", 1, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },
		{ "custom", "1e999", 1, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },
		{ "custom", "inf", 1, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },
		{ "custom", "NaN", 1, UNSET, 100, 10, 1, 4, 0, 6, JOBS_RULE_CREATE },
	};

	(void)state;
	CHECK(rows);
}

/* needed + running - pending > max: max - running; else needed - pending */
static void test_accurate(void **state)
{
	static const struct row rows[] = {
		{ "accurate", NULL, UNSET, UNSET, 10, 3, 1, 0, 0, 3, JOBS_RULE_CREATE }, /* 3 + 0 - 0 <= 10: 3 - 0 */
		/* those that run have taken theirs: 3 + 3 - 0 <= 10: 3 */
		{ "accurate", NULL, UNSET, UNSET, 10, 3, 1, 3, 0, 3, JOBS_RULE_CREATE },
		{ "accurate", NULL, UNSET, UNSET, 10, 3, 1, 3, 3, 0, JOBS_RULE_ENOUGH }, /* 3 + 3 - 3 <= 10: 3 - 3 */
		{ "accurate", NULL, UNSET, UNSET, 10, 4, 1, 3, 2, 2, JOBS_RULE_CREATE }, /* 4 + 3 - 2 <= 10: 4 - 2 */
		{ "accurate", NULL, UNSET, UNSET, 10, 8, 1, 6, 0, 4, JOBS_RULE_AT_MAX }, /* 8 + 6 - 0 > 10: 10 - 6 */
		/* 6 + 6 - 2 = 10, not more: 6 - 2, which is 10 - 6, too */
		{ "accurate", NULL, UNSET, UNSET, 10, 6, 1, 6, 2, 4, JOBS_RULE_CREATE },
		{ "accurate", NULL, UNSET, UNSET, 10, 7, 1, 6, 2, 4, JOBS_RULE_AT_MAX }, /* 7 + 6 - 2 > 10: 10 - 6 */
		{ "accurate", NULL, UNSET, UNSET, 10, 3, 1, 5, 5, 0, JOBS_RULE_ENOUGH }, /* 3 + 5 - 5 <= 10: 3 - 5 */
		/* 10 + 10 - 4 > 10: 10 - 10 */
		{ "accurate", NULL, UNSET, UNSET, 10, 20, 1, 10, 4, 0, JOBS_RULE_AT_MAX },
		/* 12/5 = 2.4 up to 3: 3 + 2 - 1 <= 10: 3 - 1 */
		{ "accurate", NULL, UNSET, UNSET, 10, 12, 5, 2, 1, 2, JOBS_RULE_CREATE },
		/* max 10, r = 6: as above */
		{ "accurate", NULL, UNSET, 2, 12, 8, 1, 8, 0, 4, JOBS_RULE_AT_MAX },
		/* no more can be pending than run: 4 - 1 */
		{ "accurate", NULL, UNSET, UNSET, 10, 4, 1, 1, 9, 3, JOBS_RULE_CREATE },
		{ "accurate", NULL, UNSET, UNSET, 10, 4, 1, 1, -9, 4, JOBS_RULE_CREATE },
	};

	(void)state;
	CHECK(rows);
}

/* min(max - running - pending, needed), and the queue's length does not limit */
static void test_eager(void **state)
{
	static const struct row rows[] = {
		/*
		 * 3 long-running messages, then 3 more that nobody has taken yet: default has 3 + 3
		 * Jobs at work, eager 3 + 6
		 */
		{ "eager", NULL, UNSET, UNSET, 10, 3, 1, 0, 0, 3, JOBS_RULE_CREATE },  /* min(10 - 0 - 0, 3) */
		{ "eager", NULL, UNSET, UNSET, 10, 6, 1, 3, 0, 6, JOBS_RULE_CREATE },  /* min(10 - 3 - 0, 6) */
		{ "eager", NULL, UNSET, UNSET, 10, 6, 1, 9, 0, 1, JOBS_RULE_AT_MAX },  /* min(10 - 9 - 0, 6) */
		{ "eager", NULL, UNSET, UNSET, 10, 6, 1, 10, 0, 0, JOBS_RULE_AT_MAX }, /* min(10 - 10 - 0, 6) */
		/* min(10 - 3 - 3, 6): a pending Job keeps two places */
		{ "eager", NULL, UNSET, UNSET, 10, 6, 1, 3, 3, 4, JOBS_RULE_AT_MAX },
		{ "eager", NULL, UNSET, UNSET, 10, 6, 1, 6, 5, 0, JOBS_RULE_AT_MAX },   /* min(10 - 6 - 5, 6) < 0 */
		{ "eager", NULL, UNSET, UNSET, 10, 20, 1, 0, 0, 10, JOBS_RULE_AT_MAX }, /* min(10, 10) */
		/* min(10, 1/0.2): 5 for a queue of 1, where the others make 1 */
		{ "eager", NULL, UNSET, UNSET, 10, 1, 0.2, 0, 0, 5, JOBS_RULE_CREATE },
		{ "eager", NULL, UNSET, UNSET, 10, 0, 1, 0, 0, 0, JOBS_RULE_ENOUGH }, /* min(10, 0) */
		/* max 10, r = 3: min(10 - 3 - 0, 6) */
		{ "eager", NULL, UNSET, 2, 12, 6, 1, 5, 0, 6, JOBS_RULE_CREATE },
		{ "eager", NULL, UNSET, 2, 12, 6, 1, 1, 0, 1, JOBS_RULE_BELOW_MIN }, /* 2 - 1 */
	};

	(void)state;
	CHECK(rows);
}

static void test_extremes(void **state)
{
	static const struct row rows[] = {
		{ "default", NULL, UNSET, UNSET, INT32_MAX, DBL_MAX, DBL_MIN, 0, 0, INT32_MAX, JOBS_RULE_AT_MAX },
		{ "default", NULL, UNSET, INT32_MAX, INT32_MAX, 1, 1, 0, 0, INT32_MAX, JOBS_RULE_BELOW_MIN },
		{ "default", NULL, UNSET, INT32_MAX, UNSET, DBL_MAX, 1, INT32_MAX, 0, 100, JOBS_RULE_AT_MAX },
		{ "default", NULL, UNSET, UNSET, INT32_MAX, DBL_MAX, 1, INT32_MAX, 0, 0, JOBS_RULE_AT_MAX },
		{ "default", NULL, UNSET, UNSET, 10, 5, 1, INT32_MIN, INT32_MIN, 5, JOBS_RULE_CREATE },
		{ "default", NULL, UNSET, INT32_MIN + 1, INT32_MIN + 1, 5, 1, 0, 0, 0, JOBS_RULE_AT_MAX },
		/* the quotient is 0 */
		{ "default", NULL, UNSET, UNSET, 10, DBL_TRUE_MIN, DBL_MAX, 0, 0, 0, JOBS_RULE_ENOUGH },
		{ "custom", "1.7976931348623157e308", INT32_MAX, UNSET, INT32_MAX, 10, 1, INT32_MAX, 0, 0,
			JOBS_RULE_ENOUGH },
		{ "custom", "-1.7976931348623157e308", INT32_MIN + 1, UNSET, INT32_MAX, DBL_MAX, 1, 1, 0, INT32_MAX - 1,
			JOBS_RULE_AT_MAX },
		{ "accurate", NULL, UNSET, UNSET, INT32_MAX, DBL_MAX, 1, INT32_MAX, INT32_MAX, 0, JOBS_RULE_AT_MAX },
		{ "eager", NULL, UNSET, UNSET, INT32_MAX, DBL_MAX, 1, INT32_MAX, INT32_MAX, 0, JOBS_RULE_AT_MAX },
		{ "eager", NULL, UNSET, UNSET, INT32_MAX, 1, 1, INT32_MIN, INT32_MAX, 1, JOBS_RULE_CREATE },
		/* which should have come as errors */
		{ "default", NULL, UNSET, UNSET, 10, NAN, 1, 0, 0, 0, JOBS_RULE_ENOUGH },
		{ "default", NULL, UNSET, UNSET, 10, 5, NAN, 0, 0, 0, JOBS_RULE_ENOUGH },
		{ "default", NULL, UNSET, UNSET, 10, INFINITY, 1, 0, 0, 10, JOBS_RULE_AT_MAX },
		{ "default", NULL, UNSET, UNSET, 10, INFINITY, INFINITY, 0, 0, 0, JOBS_RULE_ENOUGH },
		{ "default", NULL, UNSET, UNSET, 10, -INFINITY, 1, 0, 0, 0, JOBS_RULE_ENOUGH },
	};

	(void)state;
	CHECK(rows);
}

/* ---- Several triggers ---- */

struct group {
	const char *calculation;
	struct {
		int index;
		double queue, target;
		char letter;
	} of[4]; /* Active, inactive, Error; 0 ends the list */
	double queue;
	int64_t max_scale;
	int32_t create;
	enum jobs_rule rule;
};

static size_t make_triggers(const struct group *g, struct jobs_trigger *triggers)
{
	static const char *const names[] = { "s0-redis-a", "s1-redis-b", "s2-redis-c", "s3-redis-d" };
	size_t count = 0;

	for (; count < 4 && g->of[count].letter != 0; count++)
		triggers[count] = (struct jobs_trigger){ .index = g->of[count].index,
			.metric_name = names[count],
			.queue = g->of[count].queue,
			.target = g->of[count].target,
			.active = g->of[count].letter == 'A',
			.err = g->of[count].letter == 'E' ? &down : NULL };
	return count;
}

/*
 * maxReplicaCount 10, nothing runs. Beside each: KEDA's queue, Jobs needed and creation, where they
 * are others.
 */
static void test_calculations(void **state)
{
	static const struct group groups[] = {
		{ "max", { { 0, 4, 1, 'A' }, { 1, 7, 1, 'A' } }, 7, 7, 7, JOBS_RULE_CREATE },
		{ "min", { { 0, 4, 1, 'A' }, { 1, 7, 1, 'A' } }, 4, 4, 4, JOBS_RULE_CREATE },
		/* (4 + 7) / 2 = 5.5, both */
		{ "avg", { { 0, 4, 1, 'A' }, { 1, 7, 1, 'A' } }, 5.5, 6, 6, JOBS_RULE_CREATE },
		{ "sum", { { 0, 4, 1, 'A' }, { 1, 7, 1, 'A' } }, 11, 10, 10, JOBS_RULE_AT_MAX }, /* 11 of 10 */
		{ NULL, { { 0, 4, 1, 'A' }, { 1, 7, 1, 'A' } }, 7, 7, 7, JOBS_RULE_CREATE },
		{ "median", { { 0, 4, 1, 'A' }, { 1, 7, 1, 'A' } }, 7, 7, 7, JOBS_RULE_CREATE },
		/*
		 * each trigger is limited by max before they are joined: avg of min(30, 10) and 2,
		 * not min(16, 10)
		 */
		{ "avg", { { 0, 30, 1, 'A' }, { 1, 2, 1, 'A' } }, 16, 6, 6, JOBS_RULE_AT_MAX },
		/* inactive ones do not count, whatever their queue */
		{ "max", { { 0, 4, 1, 'A' }, { 1, 7, 1, 'i' } }, 4, 4, 4, JOBS_RULE_CREATE },
		{ "min", { { 0, 4, 1, 'A' }, { 1, 0, 1, 'i' } }, 4, 4, 4, JOBS_RULE_CREATE },
		{ "avg", { { 0, 4, 1, 'A' }, { 1, 0, 1, 'i' } }, 4, 4, 4, JOBS_RULE_CREATE },
		{ "sum", { { 0, 4, 1, 'A' }, { 1, 3, 1, 'i' } }, 4, 4, 4, JOBS_RULE_CREATE },
		{ "sum", { { 0, 4, 1, 'i' }, { 1, 3, 1, 'i' } }, 0, 0, 0, JOBS_RULE_INACTIVE },
		/* active with nothing in the queue */
		{ "max", { { 0, 0, 1, 'A' }, { 1, 0, 1, 'A' } }, 0, 0, 0, JOBS_RULE_ENOUGH }, /* KEDA: inactive */
		{ "max", { { 0, 0, 1, 'A' }, { 1, 3, 1, 'A' } }, 3, 3, 3, JOBS_RULE_CREATE },
		/* KEDA: 3, 3, 3, by the order of the triggers: */
		{ "min", { { 0, 0, 1, 'A' }, { 1, 3, 1, 'A' } }, 0, 0, 0, JOBS_RULE_ENOUGH },
		{ "min", { { 0, 3, 1, 'A' }, { 1, 0, 1, 'A' } }, 0, 0, 0, JOBS_RULE_ENOUGH }, /* KEDA: 0, 0, 0 */
		{ "avg", { { 0, 0, 1, 'A' }, { 1, 3, 1, 'A' } }, 1.5, 2, 2, JOBS_RULE_CREATE },
		/*
		 * targets that differ: KEDA takes queue and Jobs of the one with the greatest
		 * (smallest) queue
		 */
		{ "max", { { 0, 8, 1, 'A' }, { 1, 7, 100, 'A' } }, 8, 8, 8, JOBS_RULE_CREATE },
		/* KEDA: 9, 1, 1: two more in b's queue take 7 Jobs away */
		{ "max", { { 0, 8, 1, 'A' }, { 1, 9, 100, 'A' } }, 9, 8, 8, JOBS_RULE_CREATE },
		{ "min", { { 0, 8, 100, 'A' }, { 1, 7, 1, 'A' } }, 7, 1, 1, JOBS_RULE_CREATE }, /* KEDA: 7, 7, 7 */
		/* KEDA: the same; with the line above two more in b's queue take 6 Jobs away */
		{ "min", { { 0, 8, 100, 'A' }, { 1, 9, 1, 'A' } }, 8, 1, 1, JOBS_RULE_CREATE },
		{ "sum", { { 0, 8, 4, 'A' }, { 1, 9, 3, 'A' } }, 17, 5, 5, JOBS_RULE_CREATE },  /* 2 + 3 */
		{ "avg", { { 0, 8, 4, 'A' }, { 1, 9, 3, 'A' } }, 8.5, 3, 3, JOBS_RULE_CREATE }, /* 2.5 up to 3 */
		/* a trigger without a target asks for no Jobs */
		{ "sum", { { 0, 8, 0, 'A' }, { 1, 2, 1, 'A' } }, 10, 2, 2, JOBS_RULE_CREATE },
		/* less than nothing is nothing */
		{ "sum", { { 0, -8, 1, 'A' }, { 1, 2, 1, 'A' } }, 2, 2, 2, JOBS_RULE_CREATE }, /* KEDA: -6, -6, 0 */
		/* failing ones */
		{ "max", { { 0, 9, 1, 'E' }, { 1, 2, 1, 'A' } }, 2, 2, 2, JOBS_RULE_CREATE },
		{ "sum", { { 0, 9, 1, 'E' }, { 1, 2, 1, 'A' } }, 2, 2, 2, JOBS_RULE_CREATE },
		{ "avg", { { 0, 9, 1, 'E' }, { 1, 2, 1, 'A' } }, 1, 1, 1, JOBS_RULE_CREATE }, /* KEDA: 2, 2, 2 */
		/* KEDA: 2, 2, 2, also when the failing one's queue is shorter */
		{ "min", { { 0, 9, 1, 'E' }, { 1, 2, 1, 'A' } }, 0, 0, 0, JOBS_RULE_ERROR_HOLD },
		{ "min", { { 0, 9, 1, 'E' }, { 1, 2, 1, 'i' } }, 0, 0, 0, JOBS_RULE_ERROR_HOLD },
		{ "max", { { 0, 9, 1, 'E' }, { 1, 2, 1, 'i' } }, 0, 0, 0, JOBS_RULE_ERROR_HOLD },
		{ "max", { { 0, 9, 1, 'E' }, { 1, 9, 1, 'E' } }, 0, 0, 0, JOBS_RULE_ERROR_HOLD },
		/* none could be asked */
		{ "max", { { 0 } }, 0, 0, 0, JOBS_RULE_ERROR_HOLD },
		/* several metrics of one trigger: the first one's queue, the mean of the targets */
		/* 6/3 + 5 */
		{ "sum", { { 0, 6, 2, 'A' }, { 0, 50, 4, 'A' }, { 1, 5, 1, 'A' } }, 11, 7, 7, JOBS_RULE_CREATE },
		/* one of them fails: so does the trigger */
		{ "sum", { { 0, 6, 2, 'A' }, { 0, 50, 4, 'E' }, { 1, 5, 1, 'A' } }, 5, 5, 5, JOBS_RULE_CREATE },
		/* of two triggers */
		{ "avg", { { 0, 6, 1, 'A' }, { 1, 3, 1, 'A' }, { 1, 50, 1, 'A' } }, 4.5, 5, 5, JOBS_RULE_CREATE },
		/* not in a row: three */
		{ "avg", { { 0, 6, 1, 'A' }, { 1, 3, 1, 'A' }, { 0, 3, 1, 'A' } }, 4, 4, 4, JOBS_RULE_CREATE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		const struct group *g = &groups[i];
		struct scaledjob_spec spec = spec_of(NULL, UNSET, 10);
		struct jobs_trigger triggers[4];
		struct jobs_facts facts = { .spec = &spec,
			.now_unix_ms = T,
			.triggers = triggers,
			.trigger_count = make_triggers(g, triggers) };
		struct jobs_decision d;

		spec.calculation = (char *)(uintptr_t)g->calculation;
		d = jobs_decide(&facts);
		if (d.queue != g->queue || d.max_scale != g->max_scale || d.create != g->create || d.rule != g->rule)
			fail_msg("group %zu: queue %g, needs %d, creates %d by %s", i, d.queue, (int)d.max_scale,
				(int)d.create, jobs_rule_name(d.rule));
	}
}

static void test_sums_stay_finite(void **state)
{
	static const struct group g = { "sum",
		{ { 0, DBL_MAX, 1, 'A' }, { 1, DBL_MAX, DBL_TRUE_MIN, 'A' }, { 2, INFINITY, 1, 'A' } }, 0, 0, 0,
		JOBS_RULE_AT_MAX };
	static const char *const calculations[] = { "max", "min", "avg", "sum" };
	struct jobs_trigger triggers[4];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct scaledjob_spec spec = spec_of("accurate", UNSET, INT32_MAX);
		struct jobs_facts facts = { .spec = &spec,
			.now_unix_ms = T,
			.triggers = triggers,
			.trigger_count = make_triggers(&g, triggers),
			.running = 7 };
		struct jobs_decision d;

		spec.calculation = (char *)(uintptr_t)calculations[i];
		d = jobs_decide(&facts);
		assert_int_equal(d.create, INT32_MAX - 7);
		assert_int_equal(d.rule, JOBS_RULE_AT_MAX);
	}
}

/* ---- What is not known, what is carried on, what is said ---- */

struct scene { /* one trigger, letter as above, queue 5, maxReplicaCount 10 */
	const char *strategy, *calculation;
	int32_t min;
	const char *letters;
	int32_t running;
	const struct err *jobs_err, *pods_err;
	const char *create_trouble;
	enum jobs_rule rule;
	int32_t create;
	bool active, failing;
	const char *ready, *active_said, *failure; /* NULL: stays */
};

#define READY    "True ScaledJobReady: ScaledJob is defined correctly and is ready for scaling"
#define PARTIAL  "Unknown PartialTriggerError: Some triggers defined in ScaledJob are not working correctly"
#define ERROR    "False TriggerError: Triggers defined in ScaledJob are not working correctly"
#define NO_JOBS  "False ErrorGettingJobs: Error getting the Jobs of the ScaledJob"
#define NO_PODS  "False ErrorGettingPods: Error getting the Pods of the Jobs, which scalingStrategy.strategy needs"
#define REFUSED  "False KEDAJobCreateFailed: Failed to create Jobs"
#define ACTIVE   "True ScalerActive: Scaling is performed because triggers are active"
#define INACTIVE "False ScalerNotActive: Scaling is not performed because triggers are not active"
#define DOWN     "s0-redis-a: connection refused"
#define QUOTA    "exceeded quota"

static const struct scene scenes[] = {
	{ NULL, NULL, UNSET, "A", 0, NULL, NULL, NULL, JOBS_RULE_CREATE, 5, true, false, READY, ACTIVE, NULL },
	{ NULL, NULL, UNSET, "i", 0, NULL, NULL, NULL, JOBS_RULE_INACTIVE, 0, false, false, READY, INACTIVE, NULL },
	{ NULL, NULL, UNSET, "i", 3, NULL, NULL, NULL, JOBS_RULE_INACTIVE, 0, false, false, READY, INACTIVE, NULL },
	{ NULL, NULL, UNSET, "E", 0, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, false, true, ERROR, INACTIVE, DOWN },
	{ NULL, NULL, UNSET, "Ei", 0, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, false, true, ERROR, INACTIVE, DOWN },
	{ NULL, NULL, UNSET, "EA", 0, NULL, NULL, NULL, JOBS_RULE_CREATE, 5, true, true, PARTIAL, ACTIVE, DOWN },
	{ NULL, "min", UNSET, "EA", 0, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, true, true, PARTIAL, ACTIVE, DOWN },
	{ NULL, NULL, UNSET, "", 0, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, false, true, NULL, INACTIVE, NULL },
	/* the minimum is kept, and makes it active, whatever the triggers say */
	{ NULL, NULL, 2, "i", 0, NULL, NULL, NULL, JOBS_RULE_BELOW_MIN, 2, true, false, READY, ACTIVE, NULL },
	{ NULL, NULL, 2, "i", 2, NULL, NULL, NULL, JOBS_RULE_INACTIVE, 0, true, false, READY, ACTIVE, NULL },
	{ NULL, NULL, 2, "E", 1, NULL, NULL, NULL, JOBS_RULE_BELOW_MIN, 1, true, true, PARTIAL, ACTIVE, DOWN },
	{ NULL, NULL, 2, "E", 2, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, true, true, PARTIAL, ACTIVE, DOWN },
	{ NULL, NULL, 2, "", 0, NULL, NULL, NULL, JOBS_RULE_BELOW_MIN, 2, true, true, NULL, ACTIVE, NULL },
	/* Jobs */
	{ NULL, NULL, UNSET, "A", 0, &down, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, true, true, NO_JOBS, NULL,
		"connection refused" },
	{ NULL, NULL, 2, "A", 0, &down, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, true, true, NO_JOBS, NULL,
		"connection refused" },
	{ NULL, NULL, UNSET, "E", 0, &down, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, false, true, NO_JOBS, NULL,
		"connection refused" },
	{ NULL, NULL, UNSET, "A", 0, &waiting, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, true, false, READY, NULL, NULL },
	{ NULL, NULL, UNSET, "E", 0, &waiting, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, false, true, ERROR, NULL, DOWN },
	/* Pods */
	{ "accurate", NULL, UNSET, "A", 0, NULL, &down, NULL, JOBS_RULE_PODS_UNKNOWN, 0, true, true, NO_PODS, ACTIVE,
		"connection refused" },
	{ "eager", NULL, UNSET, "A", 0, NULL, &down, NULL, JOBS_RULE_PODS_UNKNOWN, 0, true, true, NO_PODS, ACTIVE,
		"connection refused" },
	{ "eager", NULL, UNSET, "A", 0, NULL, &waiting, NULL, JOBS_RULE_PODS_UNKNOWN, 0, true, false, READY, ACTIVE,
		NULL },
	{ "eager", NULL, UNSET, "i", 0, NULL, &down, NULL, JOBS_RULE_INACTIVE, 0, false, true, NO_PODS, INACTIVE,
		"connection refused" },
	{ "eager", NULL, 2, "A", 0, NULL, &down, NULL, JOBS_RULE_BELOW_MIN, 2, true, true, NO_PODS, ACTIVE,
		"connection refused" },
	{ "default", NULL, UNSET, "A", 0, NULL, &down, NULL, JOBS_RULE_CREATE, 5, true, false, READY, ACTIVE, NULL },
	{ "custom", NULL, UNSET, "A", 0, NULL, &down, NULL, JOBS_RULE_CREATE, 5, true, false, READY, ACTIVE, NULL },
	/* refused Jobs are tried again; nothing is wrong when none is wanted any more */
	{ NULL, NULL, UNSET, "A", 0, NULL, NULL, QUOTA, JOBS_RULE_CREATE, 5, true, false, REFUSED, ACTIVE, QUOTA },
	{ NULL, NULL, UNSET, "EA", 0, NULL, NULL, QUOTA, JOBS_RULE_CREATE, 5, true, true, REFUSED, ACTIVE, QUOTA },
	{ NULL, NULL, 2, "i", 0, NULL, NULL, QUOTA, JOBS_RULE_BELOW_MIN, 2, true, false, REFUSED, ACTIVE, QUOTA },
	{ NULL, NULL, UNSET, "i", 0, NULL, NULL, QUOTA, JOBS_RULE_INACTIVE, 0, false, false, READY, INACTIVE, NULL },
	{ NULL, NULL, UNSET, "E", 0, NULL, NULL, QUOTA, JOBS_RULE_ERROR_HOLD, 0, false, true, ERROR, INACTIVE, DOWN },
	{ NULL, NULL, UNSET, "A", 0, &down, NULL, QUOTA, JOBS_RULE_JOBS_UNKNOWN, 0, true, true, NO_JOBS, NULL,
		"connection refused" },
};

/* facts.triggers is the caller's room for four. */
static void set_scene(const struct scene *scene, struct scaledjob_spec *spec, struct jobs_trigger *triggers,
	struct jobs_facts *facts)
{
	struct group g = { .of = { { 0, 0, 0, 0 } } };

	for (int i = 0; scene->letters[i] != '\0'; i++) {
		g.of[i].index = i;
		g.of[i].queue = 5;
		g.of[i].target = 1;
		g.of[i].letter = scene->letters[i];
	}
	*spec = spec_of(scene->strategy, scene->min, 10);
	spec->calculation = (char *)(uintptr_t)scene->calculation;
	*facts = (struct jobs_facts){ .spec = spec,
		.now_unix_ms = T,
		.triggers = triggers,
		.trigger_count = make_triggers(&g, triggers),
		.running = scene->running,
		.jobs_err = scene->jobs_err,
		.pods_err = scene->pods_err,
		.create_trouble = scene->create_trouble,
		.last_active_unix_ms = T - 5000 };
}

static void check_said(size_t scene, enum condition_status status, const char *reason, const char *message,
	const char *wanted)
{
	char said[256] = "";

	if (reason != NULL)
		snprintf(said, sizeof(said), "%s %s: %s", condition_status_name(status), reason, message);
	if (strcmp(said, wanted != NULL ? wanted : "") != 0)
		fail_msg("scene %zu: %s", scene, said);
}

static void test_scenes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		const struct scene *scene = &scenes[i];
		struct scaledjob_spec spec;
		struct jobs_trigger triggers[4];
		struct jobs_facts facts;
		struct jobs_decision d;
		char failure[ERR_MSG_MAX] = "";

		set_scene(scene, &spec, triggers, &facts);
		d = jobs_decide(&facts);
		if (d.rule != scene->rule || d.create != scene->create || d.active != scene->active ||
			d.failing != scene->failing)
			fail_msg("scene %zu: %s creates %d, active %d, failing %d", i, jobs_rule_name(d.rule),
				(int)d.create, d.active, d.failing);
		check_said(i, d.ready, d.ready_reason, d.ready_message, scene->ready);
		check_said(i, d.active_status, d.active_reason, d.active_message, scene->active_said);
		if (d.last_active_unix_ms != (scene->active ? T : T - 5000))
			fail_msg("scene %zu: active at %lld", i, (long long)d.last_active_unix_ms);
		if (jobs_failure(&facts, failure, sizeof(failure)) != (scene->failure != NULL) ||
			strcmp(failure, scene->failure != NULL ? scene->failure : "") != 0)
			fail_msg("scene %zu: %s", i, failure);
		assert_true((jobs_failure_mark(&facts) != 0) == (scene->failure != NULL));
	}
}

static void test_first_trigger(void **state)
{
	static const struct {
		const char *letters;
		int trigger;
	} cases[] = { { "iA", 1 }, { "EA", 1 }, { "AE", 0 }, { "iE", 1 }, { "ii", -1 }, { "", -1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene = { .letters = cases[i].letters, .min = UNSET };
		struct scaledjob_spec spec;
		struct jobs_trigger triggers[4];
		struct jobs_facts facts;

		set_scene(&scene, &spec, triggers, &facts);
		assert_int_equal(jobs_decide(&facts).trigger, cases[i].trigger);
	}
}

static void test_last_active(void **state)
{
	struct scaledjob_spec spec = spec_of(NULL, UNSET, 10);
	struct jobs_facts facts = { .spec = &spec, .now_unix_ms = T };

	(void)state;
	assert_int_equal(jobs_decide(&facts).last_active_unix_ms, 0); /* never */
	facts.last_active_unix_ms = T + 1000;
	assert_int_equal(jobs_decide(&facts).last_active_unix_ms, T); /* another replica's clock */
	facts.last_active_unix_ms = T - 1000;
	assert_int_equal(jobs_decide(&facts).last_active_unix_ms, T - 1000);
}

static void test_paused(void **state)
{
	struct scaledjob_spec spec = spec_of(NULL, 3, 10);
	struct jobs_trigger trigger = { .metric_name = "s0-redis-a", .queue = 5, .target = 1, .active = true };
	struct jobs_facts facts = { .spec = &spec,
		.now_unix_ms = T,
		.triggers = &trigger,
		.trigger_count = 1,
		.paused = true,
		.last_active_unix_ms = T - 5000 };
	struct jobs_decision d = jobs_decide(&facts);

	(void)state;
	assert_int_equal(d.rule, JOBS_RULE_PAUSED);
	assert_int_equal(d.create, 0);
	assert_false(d.active);
	assert_int_equal(d.last_active_unix_ms, T - 5000);
	assert_null(d.ready_reason);
	assert_null(d.active_reason);
}

static void test_needs_pods(void **state)
{
	static const struct {
		const char *strategy;
		bool needs;
	} cases[] = { { "accurate", true }, { "eager", true }, { "custom", false }, { "default", false },
		{ NULL, false }, { "other", false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob_spec spec = spec_of(cases[i].strategy, UNSET, UNSET);

		assert_int_equal(jobs_needs_pods(&spec), cases[i].needs);
	}
}

/* ---- For people ---- */

struct told {
	const char *strategy, *percentage, *calculation;
	int32_t deduction, min, max;
	struct {
		int index;
		double queue, target;
		char letter;
	} of[4];
	int32_t running, pending;
	const struct err *jobs_err, *pods_err;
	const char *create_trouble, *text;
};

static struct jobs_decision tell(const struct told *t, struct scaledjob_spec *spec, struct jobs_trigger *triggers,
	struct jobs_facts *facts)
{
	struct group g = { 0 };

	memcpy(g.of, t->of, sizeof(g.of));
	*spec = spec_of(t->strategy, t->min, t->max);
	spec->calculation = (char *)(uintptr_t)t->calculation;
	spec->running_job_percentage = (char *)(uintptr_t)t->percentage;
	spec->queue_length_deduction = t->deduction;
	*facts = (struct jobs_facts){ .spec = spec,
		.now_unix_ms = T,
		.triggers = triggers,
		.trigger_count = make_triggers(&g, triggers),
		.running = t->running,
		.pending = t->pending,
		.jobs_err = t->jobs_err,
		.pods_err = t->pods_err,
		.create_trouble = t->create_trouble };
	return jobs_decide(facts);
}

static void test_explain(void **state)
{
	static const struct told cases[] = {
		{ NULL, NULL, NULL, UNSET, UNSET, 20, { { 0, 10, 1, 'A' } }, 7, 0, NULL, NULL, NULL,
			"creates 3 Jobs: 10 waiting in s0-redis-a, 7 Jobs run, at most 20" },
		{ NULL, NULL, NULL, UNSET, UNSET, 20, { { 0, 1, 1, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates 1 Job: 1 waiting in s0-redis-a, no Job runs, at most 20" },
		{ NULL, NULL, NULL, UNSET, 2, 20, { { 0, 12, 5, 'A' } }, 3, 0, NULL, NULL, NULL,
			"creates 2 Jobs: 12 waiting in s0-redis-a (5 for each Job), 3 Jobs run (2 for "
			"minReplicaCount), at most 20" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 20, 1, 'A' } }, 7, 0, NULL, NULL, NULL,
			"creates 3 Jobs, as many as maxReplicaCount allows: 20 waiting in s0-redis-a, 7 Jobs run, at "
			"most 10" },
		{ NULL, NULL, NULL, UNSET, UNSET, 1, { { 0, 20, 1, 'A' } }, 1, 0, NULL, NULL, NULL,
			"creates no Job, held by maxReplicaCount: 20 waiting in s0-redis-a, 1 Job runs, at most 1" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 1, 'A' } }, 3, 0, NULL, NULL, NULL,
			"creates no Job: 3 waiting in s0-redis-a, 3 Jobs run, at most 10" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 0, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: 3 waiting in s0-redis-a (without a target, which asks for no Job), no Job "
			"runs, at most 10" },
		/* strategies */
		{ "accurate", NULL, NULL, UNSET, UNSET, 10, { { 0, 5, 1, 'A' } }, 4, 3, NULL, NULL, NULL,
			"creates 2 Jobs: 5 waiting in s0-redis-a, 4 Jobs run, accurate: 3 Jobs are pending, at most "
			"10" },
		{ "eager", NULL, NULL, UNSET, UNSET, 10, { { 0, 6, 1, 'A' } }, 3, 1, NULL, NULL, NULL,
			"creates 6 Jobs: 6 waiting in s0-redis-a, 3 Jobs run, eager: 1 Job is pending, at most 10" },
		{ "custom", "0.5", NULL, 1, UNSET, 100, { { 0, 10, 1, 'A' } }, 4, 0, NULL, NULL, NULL,
			"creates 7 Jobs: 10 waiting in s0-redis-a, 4 Jobs run, custom: less 1 and less 2 for Jobs that "
			"run, at most 100" },
		/* several triggers */
		{ NULL, NULL, "sum", UNSET, UNSET, 20, { { 0, 10, 1, 'A' }, { 1, 2, 5, 'A' }, { 2, 0, 5, 'i' } }, 0, 0,
			NULL, NULL, NULL,
			"creates 11 Jobs: sum of 2 triggers 12 for 11 Jobs (s0-redis-a 10, s1-redis-b 2 of 5), no Job "
			"runs, at most 20" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 10, 1, 'A' }, { 1, 2, 5, 'i' } }, 0, 0, NULL, NULL, NULL,
			"creates 10 Jobs: 10 waiting in s0-redis-a, no Job runs, at most 10" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 6, 2, 'A' }, { 0, 9, 4, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates 2 Jobs: 6 waiting in s0-redis-a (3 for each Job), no Job runs, at most 10" },
		{ NULL, NULL, "avg", UNSET, UNSET, 10, { { 0, 0, 0, 'E' }, { 1, 2, 1, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates 1 Job: avg of 2 triggers 1 for 1 Job (s1-redis-b 2), no Job runs, at most 10; "
			"failing: s0-redis-a (connection refused)" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 2, 1, 'A' }, { 1, 2, 1, 'A' }, { 1, 0, 0, 'E' } }, 0, 0,
			NULL, NULL, NULL,
			"creates 2 Jobs: 2 waiting in s0-redis-a, no Job runs, at most 10; failing: s2-redis-c "
			"(connection refused)" },
		/* nothing to do, or nothing known */
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 0, 5, 'i' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: no trigger is active (s0-redis-a 0 of 5), no Job runs" },
		{ NULL, NULL, NULL, UNSET, 2, 10, { { 0, 0, 1, 'i' } }, 2, 0, NULL, NULL, NULL,
			"creates no Job: no trigger is active (s0-redis-a 0), 2 Jobs run (2 for minReplicaCount)" },
		{ NULL, NULL, NULL, UNSET, 3, 10, { { 0, 0, 1, 'i' } }, 1, 0, NULL, NULL, NULL,
			"creates 2 Jobs: 1 Job runs (1 for minReplicaCount), of at least 3" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 0, 0, 'E' }, { 1, 0, 1, 'i' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: no trigger is active (s1-redis-b 0); failing: s0-redis-a (connection "
			"refused)" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 0, 0, 'E' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: no trigger is active; failing: s0-redis-a (connection refused)" },
		{ NULL, NULL, "min", UNSET, UNSET, 10, { { 0, 0, 0, 'E' }, { 1, 3, 1, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: without all triggers their min is not known (s1-redis-b 3); failing: "
			"s0-redis-a (connection refused)" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0 } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: no trigger could be asked" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 1, 'A' } }, 0, 0, &down, NULL, NULL,
			"creates no Job: which Jobs run is not known (connection refused)" },
		{ "eager", NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 1, 'A' } }, 0, 0, NULL, &down, NULL,
			"creates no Job: 3 waiting in s0-redis-a, but which Jobs are pending is not known (connection "
			"refused)" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 1, 'A' } }, 0, 0, NULL, NULL, "exceeded quota",
			"creates 3 Jobs: 3 waiting in s0-redis-a, no Job runs, at most 10; the last Job could not be "
			"created: exceeded quota" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob_spec spec;
		struct jobs_trigger triggers[4];
		struct jobs_facts facts;
		struct jobs_decision d = tell(&cases[i], &spec, triggers, &facts);
		char text[1024];

		assert_ptr_equal(jobs_explain(&facts, &d, text, sizeof(text)), text);
		assert_string_equal(text, cases[i].text);
	}
}

static void test_explain_paused(void **state)
{
	struct scaledjob_spec spec = spec_of(NULL, UNSET, UNSET);
	struct jobs_facts facts = { .spec = &spec, .paused = true };
	struct jobs_decision d = jobs_decide(&facts);
	char text[128];

	(void)state;
	assert_string_equal(jobs_explain(&facts, &d, text, sizeof(text)),
		"paused by annotation autoscaling.keda.sh/paused");
}

/* More triggers than a sentence can name, and a sentence without room. */
static void test_explain_many(void **state)
{
	struct scaledjob_spec spec = spec_of(NULL, UNSET, 10);
	struct jobs_trigger triggers[9];
	struct jobs_facts facts = { .spec = &spec, .triggers = triggers, .trigger_count = 9 };
	struct jobs_decision d;
	char text[512], exact[512];

	(void)state;
	for (int i = 0; i < 9; i++)
		triggers[i] = (struct jobs_trigger){ .index = i, .metric_name = "\xc3\xa9", .queue = i, .target = 1 };
	d = jobs_decide(&facts);
	jobs_explain(&facts, &d, exact, sizeof(exact));
	assert_string_equal(exact,
		"creates no Job: no trigger is active (\xc3\xa9 0, \xc3\xa9 1, \xc3\xa9 2, \xc3\xa9 3, \xc3\xa9 4 and "
		"4 more), no Job runs");
	for (size_t size = 1; size <= strlen(exact); size++) {
		memset(text, 'x', sizeof(text));
		jobs_explain(&facts, &d, text, size);
		assert_true(strlen(text) == size - 1 || strlen(text) == size - 2);
		assert_memory_equal(text, exact, strlen(text));
		assert_true(strlen(text) == size - 1 || (unsigned char)exact[strlen(text)] == 0xc3);
	}
	jobs_explain(&facts, &d, NULL, 0);
}

/* Another sentence has another mark, and all else has the same. */
static void test_mark(void **state)
{
	static const struct err other = { .kind = ERR_TEMPORARY, .msg = "timed out" };
	struct scaledjob_spec specs[5];
	struct jobs_trigger triggers[4][2];
	struct jobs_facts all[18];
	uint64_t marks[18];
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < 5; i++)
		specs[i] = spec_of(i == 1 ? "eager" : NULL, i == 2 ? 1 : UNSET, i == 3 ? 11 : 10);
	specs[4].calculation = (char *)(uintptr_t) "sum";
	for (size_t i = 0; i < 4; i++)
		for (int t = 0; t < 2; t++)
			triggers[i][t] = (struct jobs_trigger){ .index = t,
				.metric_name = "s0-redis-a",
				.queue = 5 + (i == 1),
				.target = 1 + (i == 2),
				.active = true,
				.err = i == 3 ? &down : NULL };
	for (; count < 18; count++)
		all[count] = (struct jobs_facts){ .spec = &specs[0],
			.now_unix_ms = T,
			.triggers = triggers[0],
			.trigger_count = 2,
			.running = 2 };
	for (size_t i = 1; i < 5; i++)
		all[i].spec = &specs[i];
	for (size_t i = 1; i < 4; i++)
		all[4 + i].triggers = triggers[i];
	all[8].trigger_count = 1;
	all[9].running = 3;
	all[10] = all[1];
	all[10].pending = 1;
	all[11].jobs_err = &down;
	all[12].jobs_err = &other;
	all[13] = all[1];
	all[13].pods_err = &down;
	all[14].create_trouble = "quota";
	all[15].create_trouble = "another quota";
	all[16].paused = true;
	all[17].trigger_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct jobs_decision d = jobs_decide(&all[i]);

		marks[i] = jobs_mark(&all[i], &d);
		all[i].now_unix_ms += 5000;
		d = jobs_decide(&all[i]);
		assert_true(jobs_mark(&all[i], &d) == marks[i]);
		for (size_t k = 0; k < i; k++)
			if (marks[i] == marks[k])
				fail_msg("%zu and %zu", i, k);
	}
}

/* What stays the same failure while its words change, and what does not. */
static void test_failure_mark(void **state)
{
	static const struct err late = { .kind = ERR_TEMPORARY, .msg = "timed out after 17 ms" },
				password = { .kind = ERR_DENIED, .msg = "WRONGPASS" };
	struct scaledjob_spec spec = spec_of(NULL, UNSET, 10);
	struct jobs_trigger trigger = { .metric_name = "s0-redis-a", .err = &down },
			    other = { .metric_name = "s1-redis-b", .err = &down },
			    active = { .metric_name = "s0-redis-a", .queue = 1, .target = 1, .active = true };
	struct jobs_facts facts = { .spec = &spec, .triggers = &trigger, .trigger_count = 1 };
	uint64_t first = jobs_failure_mark(&facts), second;

	(void)state;
	trigger.err = &late;
	assert_true(jobs_failure_mark(&facts) == first);
	trigger.err = &password;
	assert_true(jobs_failure_mark(&facts) != first);
	facts.triggers = &other;
	assert_true(jobs_failure_mark(&facts) != first);
	facts.jobs_err = &down;
	assert_true(jobs_failure_mark(&facts) != first);
	facts.jobs_err = NULL;
	facts.triggers = &active;
	facts.create_trouble =
		"jobs.batch \"print-x7k2p\" is forbidden: exceeded quota: few, used: count/jobs.batch=10";
	first = jobs_failure_mark(&facts);
	facts.create_trouble = "jobs.batch \"print-b0b1c\" is forbidden: exceeded quota: few, used: count/jobs.batch=9";
	assert_true(jobs_failure_mark(&facts) == first);
	facts.create_trouble = "jobs.batch is forbidden: User cannot create resource";
	second = jobs_failure_mark(&facts);
	assert_true(second != first && second != 0);
}

static void test_rule_names(void **state)
{
	(void)state;
	assert_string_equal(jobs_rule_name(JOBS_RULE_AT_MAX), "at-max");
	for (int a = JOBS_RULE_PAUSED; a <= JOBS_RULE_INACTIVE; a++)
		for (int b = JOBS_RULE_PAUSED; b < a; b++)
			assert_string_not_equal(jobs_rule_name((enum jobs_rule)a), jobs_rule_name((enum jobs_rule)b));
	assert_string_equal(jobs_rule_name((enum jobs_rule)99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_custom),
		cmocka_unit_test(test_accurate),
		cmocka_unit_test(test_eager),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_calculations),
		cmocka_unit_test(test_sums_stay_finite),
		cmocka_unit_test(test_scenes),
		cmocka_unit_test(test_first_trigger),
		cmocka_unit_test(test_last_active),
		cmocka_unit_test(test_paused),
		cmocka_unit_test(test_needs_pods),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_explain_paused),
		cmocka_unit_test(test_explain_many),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_failure_mark),
		cmocka_unit_test(test_rule_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
