/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobs.h"

#include <float.h>
#include <math.h>

#include "../../crd/given.h"
#include "jobs_letters.h"

/* ---- One trigger: doc/keda.md 4.3 worked out by hand ---- */

struct row {
	const char *strategy, *percentage;
	int32_t deduction, min, max;
	double queue, target;
	int32_t running, pending, create;
	enum jobs_rule rule;
};

static struct jobs_decision decide_answered(const struct row *row, bool answered)
{
	struct scaledjob_spec spec = lettered_spec(row->strategy, row->min, row->max);
	struct jobs_trigger trigger = { .metric_name = "s0-redis-jobs",
		.queue = row->queue,
		.target = row->target,
		.active = true };
	struct jobs_facts facts = { .spec = &spec,
		.now_unix_ms = T,
		.triggers = &trigger,
		.trigger_count = 1,
		.running = row->running,
		.pending = row->pending,
		.answered = answered };

	spec.queue_length_deduction = row->deduction;
	spec.running_job_percentage = (char *)(uintptr_t)row->percentage;
	return jobs_decide(&facts);
}

static struct jobs_decision decide_row(const struct row *row)
{
	return decide_answered(row, false);
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
		/* and then max stays 3 beyond it (doc/keda.md 4.2) */
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
		 * KEDA compares each creation with max and not the running Jobs: min(10 - 0 - 0,
		 * 10) = 10 more, 18 in all, and so on at each poll
		 */
		{ "custom", "0", 0, UNSET, 10, 10, 1, 8, 0, 2, JOBS_RULE_AT_MAX },
		{ "custom", "0", 0, UNSET, 10, 10, 1, 10, 0, 0, JOBS_RULE_AT_MAX },
		/* numbers as Go reads them */
		{ "custom", "5e-1", 1, UNSET, 100, 10, 1, 4, 0, 7, JOBS_RULE_CREATE },
		{ "custom", ".5", 1, UNSET, 100, 10, 1, 4, 0, 7, JOBS_RULE_CREATE },
		{ "custom", "+0.5", 1, UNSET, 100, 10, 1, 4, 0, 7, JOBS_RULE_CREATE },
		/* an invalid one makes it default: 10 - 4, the deduction does not count either */
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

/* Answers create Jobs only once; default subtracts those Jobs itself. */
static void test_answered(void **state)
{
	static const struct row rows[] = {
		{ "accurate", NULL, UNSET, UNSET, 10, 3, 1, 3, 0, 0, JOBS_RULE_ENOUGH },
		{ "eager", NULL, UNSET, UNSET, 10, 3, 1, 3, 0, 0, JOBS_RULE_ENOUGH },
		{ "custom", "0.5", UNSET, UNSET, 10, 3, 1, 3, 0, 0, JOBS_RULE_ENOUGH },
		{ "default", NULL, UNSET, UNSET, 10, 3, 1, 2, 0, 1, JOBS_RULE_CREATE },
		{ "accurate", NULL, UNSET, 4, 10, 3, 1, 3, 0, 1, JOBS_RULE_BELOW_MIN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct jobs_decision d = decide_answered(&rows[i], true);

		assert_int_equal(d.create, rows[i].create);
		assert_int_equal(d.rule, rows[i].rule);
	}
}

/* min(max - running - pending, needed), and the queue's length does not limit */
static void test_eager(void **state)
{
	static const struct row rows[] = {
		/*
		 * 3 long-running messages, then 3 more that no Job has taken yet: default has 3 + 3
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
	struct lettered of[LETTERED_MAX];
	double queue;
	int64_t max_scale;
	int32_t create;
	enum jobs_rule rule;
};

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
		struct scaledjob_spec spec = lettered_spec(NULL, UNSET, 10);
		struct jobs_trigger triggers[4];
		struct jobs_facts facts = { .spec = &spec,
			.now_unix_ms = T,
			.triggers = triggers,
			.trigger_count = lettered_triggers(g->of, triggers) };
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
		struct scaledjob_spec spec = lettered_spec("accurate", UNSET, INT32_MAX);
		struct jobs_facts facts = { .spec = &spec,
			.now_unix_ms = T,
			.triggers = triggers,
			.trigger_count = lettered_triggers(g.of, triggers),
			.running = 7 };
		struct jobs_decision d;

		spec.calculation = (char *)(uintptr_t)calculations[i];
		d = jobs_decide(&facts);
		assert_int_equal(d.create, INT32_MAX - 7);
		assert_int_equal(d.rule, JOBS_RULE_AT_MAX);
	}
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
		cmocka_unit_test(test_answered),
		cmocka_unit_test(test_eager),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_calculations),
		cmocka_unit_test(test_sums_stay_finite),
		cmocka_unit_test(test_rule_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
