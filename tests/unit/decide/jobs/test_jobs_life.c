/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants for any triggers, Jobs and Pods of a ScaledJob: thousands of random facts, including
 * extreme numbers, and lives in which Jobs are created, start and end. Where kscaled does the same
 * as KEDA, the outcome is compared with KEDA's formulas (doc/keda.md 4.2, 4.3), written down here
 * once more.
 */
#include "decide/jobs/jobs.h"

#include <float.h>
#include <math.h>

#include "../../crd/given.h"

#define T            1700000000000
#define TRIGGERS_MAX 4
#define ROUNDS       40000
#define LIVES        2000
#define TICKS        60

static const struct err down = { .kind = ERR_TEMPORARY, .msg = "down" };
static const char *const names[TRIGGERS_MAX] = { "s0-redis-a", "s1-redis-b", "s2-redis-c", "s3-redis-d" };

static uint64_t seed;

static uint64_t random_below(uint64_t limit) /* xorshift: the same numbers in every run */
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

static bool one_in(uint64_t n)
{
	return random_below(n) == 0;
}

static char *choose(const char *const *texts, size_t count)
{
	return (char *)(uintptr_t)texts[random_below(count)];
}

/* ---- Random facts ---- */

static int32_t random_count(uint64_t usual, bool extreme)
{
	static const int32_t extremes[] = { INT32_MAX, INT32_MAX - 1, INT32_MIN, INT32_MIN + 1, -1, 0 };

	return extreme && one_in(3) ? extremes[random_below(6)] : (int32_t)random_below(usual);
}

static double random_amount(bool extreme)
{
	static const double extremes[] = { DBL_MAX, -DBL_MAX, DBL_MIN, DBL_TRUE_MIN, 0, -1, 1e18, 9.3e18 };

	if (extreme && one_in(3))
		return extremes[random_below(8)];
	return one_in(4) ? (double)random_below(3000) / 100 : (double)random_below(30);
}

struct given {
	struct scaledjob_spec spec;
	struct jobs_trigger triggers[TRIGGERS_MAX];
	struct jobs_facts facts;
};

static void make_spec(struct scaledjob_spec *spec, bool extreme)
{
	static const char *const strategies[] = { NULL, "default", "custom", "accurate", "eager" },
				 *const percentages[] = { NULL, "0", "0.5", "1", "0.3", "-0.5", "1e308", "-1e308",
					 "x" };
	static const char *const calculations[] = { NULL, "max", "min", "avg", "sum" };

	*spec = (struct scaledjob_spec){ .strategy = choose(strategies, 5),
		.running_job_percentage = choose(percentages, 9),
		.calculation = choose(calculations, 5) };
	spec->min_jobs = one_in(2) ? INT32_UNSET : random_count(8, extreme);
	spec->max_jobs = one_in(4) ? INT32_UNSET : random_count(25, extreme);
	spec->queue_length_deduction = one_in(2) ? INT32_UNSET : random_count(6, extreme);
}

/* Also several metrics of one trigger, and targets that are all the same. */
static void make_triggers(struct given *g, bool extreme)
{
	double common = one_in(2) ? 1 + (double)random_below(4) : 0;
	int index = 0;

	g->facts.trigger_count = (size_t)random_below(TRIGGERS_MAX + 1);
	for (size_t i = 0; i < g->facts.trigger_count; i++) {
		index += one_in(5) ? 0 : 1;
		g->triggers[i] = (struct jobs_trigger){ .index = index,
			.metric_name = names[i],
			.queue = random_amount(extreme),
			.target = common > 0 ? common : random_amount(extreme),
			.active = !one_in(4),
			.err = one_in(8) ? &down : NULL };
	}
}

static void make(struct given *g)
{
	bool extreme = one_in(4);

	make_spec(&g->spec, extreme);
	g->facts = (struct jobs_facts){ .spec = &g->spec,
		.now_unix_ms = T,
		.triggers = g->triggers,
		.running = random_count(30, extreme),
		.pending = random_count(30, extreme),
		.last_active_unix_ms = (int64_t)random_below(2 * T) };
	make_triggers(g, extreme);
	g->facts.jobs_err = one_in(20) ? &down : NULL;
	g->facts.pods_err = one_in(20) ? &down : NULL;
	g->facts.paused = one_in(20);
	g->facts.create_trouble = one_in(20) ? "quota" : NULL;
}

static void fail_with(const struct given *g, const char *what, const struct jobs_decision *a,
	const struct jobs_decision *b)
{
	char text[1024];

	fail_msg("%s: %s -> %d, %d: %s", what, jobs_rule_name(a->rule), (int)a->create, (int)b->create,
		jobs_explain(&g->facts, b, text, sizeof(text)));
}

static int64_t at_least_0(int64_t n)
{
	return n > 0 ? n : 0;
}

/* ---- Invariants of one decision ---- */

static void check_bounds(const struct given *g, const struct jobs_decision *d)
{
	int64_t running = at_least_0(g->facts.running), min = scaledjob_min(&g->spec), max = scaledjob_max(&g->spec);
	bool unknown = g->facts.paused || g->facts.jobs_err != NULL;

	if (d->create < 0)
		fail_with(g, "fewer than none", d, d);
	if (d->create > 0 && running + d->create > min + max)
		fail_with(g, "more than max", d, d);
	if (!unknown && running + d->create < min)
		fail_with(g, "fewer than min", d, d);
	if (!unknown && running < min && running + d->create != min)
		fail_with(g, "not the minimum", d, d);
	if (unknown && d->create > 0)
		fail_with(g, "unknown, or paused", d, d);
	if (g->facts.pods_err != NULL && jobs_needs_pods(&g->spec) && d->create > at_least_0(min - running))
		fail_with(g, "unknown Pods", d, d);
}

static void check_rule(const struct given *g, const struct jobs_decision *d)
{
	bool creates = d->rule == JOBS_RULE_CREATE || d->rule == JOBS_RULE_BELOW_MIN || d->rule == JOBS_RULE_AT_MAX;

	if (d->create > 0 && !creates)
		fail_with(g, "this rule creates none", d, d);
	if (d->create == 0 && creates && d->rule != JOBS_RULE_AT_MAX)
		fail_with(g, "this rule creates some", d, d);
	if (d->last_active_unix_ms > T && d->rule != JOBS_RULE_PAUSED)
		fail_with(g, "active in the future", d, d);
	assert_true(d->trigger >= -1 && d->trigger < (int)g->facts.trigger_count);
}

static void test_bounds(void **state)
{
	struct given g;
	char text[1024], failure[ERR_MSG_MAX];

	(void)state;
	seed = UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < ROUNDS; i++) {
		struct jobs_decision d;

		make(&g);
		d = jobs_decide(&g.facts);
		check_bounds(&g, &d);
		check_rule(&g, &d);
		jobs_explain(&g.facts, &d, text, sizeof(text));
		jobs_failure(&g.facts, failure, sizeof(failure));
	}
}

/* ---- Invariants between two ---- */

/* A longer queue; of max and sum also one that makes its trigger active. */
static void test_monotone(void **state)
{
	struct given g;
	int more = 0;

	(void)state;
	seed = UINT64_C(0xd1b54a32d192ed03);
	for (int i = 0; i < ROUNDS; i++) {
		struct jobs_decision before, after;
		struct jobs_trigger *t;

		make(&g);
		if (g.facts.trigger_count == 0)
			continue;
		t = &g.triggers[random_below(g.facts.trigger_count)];
		before = jobs_decide(&g.facts);
		t->queue += one_in(2) ? (double)random_below(20) : fabs(random_amount(true));
		if (g.spec.calculation == NULL || strcmp(g.spec.calculation, "max") == 0 ||
			strcmp(g.spec.calculation, "sum") == 0)
			t->active = true;
		after = jobs_decide(&g.facts);
		more += after.create > before.create;
		if (after.create < before.create)
			fail_with(&g, "a longer queue", &before, &after);
	}
	assert_true(more > ROUNDS / 40); /* it was no idle question */
}

static void test_failing_creates_no_more(void **state)
{
	struct given g;
	int fewer = 0;

	(void)state;
	seed = UINT64_C(0x94d049bb133111eb);
	for (int i = 0; i < ROUNDS; i++) {
		struct jobs_decision before, after;

		make(&g);
		if (g.facts.trigger_count == 0)
			continue;
		before = jobs_decide(&g.facts);
		g.triggers[random_below(g.facts.trigger_count)].err = &down;
		after = jobs_decide(&g.facts);
		fewer += after.create < before.create;
		if (after.create > before.create)
			fail_with(&g, "a failing source", &before, &after);
	}
	assert_true(fewer > ROUNDS / 40);
}

static void test_unknown_creates_no_more(void **state)
{
	struct given g;

	(void)state;
	seed = UINT64_C(0xbf58476d1ce4e5b9);
	for (int i = 0; i < ROUNDS; i++) {
		struct jobs_decision before, after;

		make(&g);
		before = jobs_decide(&g.facts);
		if (one_in(2))
			g.facts.jobs_err = &down;
		else
			g.facts.pods_err = &down;
		after = jobs_decide(&g.facts);
		if (after.create > before.create)
			fail_with(&g, "not known", &before, &after);
	}
}

/* ---- KEDA's own ---- */

struct metrics {
	double queue, max_value;
};

/* doc/keda.md 4.2: of active triggers with something in their queues, and one target for all. */
static struct metrics keda_metrics(const struct given *g)
{
	const char *calculation = g->spec.calculation != NULL ? g->spec.calculation : "max";
	struct metrics m = { 0, 0 };
	size_t count = 0;

	for (size_t i = 0; i < g->facts.trigger_count; i++) {
		const struct jobs_trigger *t = &g->triggers[i];
		double max_value = fmin(t->queue / t->target, scaledjob_max(&g->spec));

		if (!t->active)
			continue;
		count++;
		if (strcmp(calculation, "sum") == 0 || strcmp(calculation, "avg") == 0)
			m = (struct metrics){ m.queue + t->queue, m.max_value + max_value };
		else if (strcmp(calculation, "min") == 0 ? m.queue == 0 || t->queue < m.queue : t->queue > m.queue)
			m = (struct metrics){ t->queue, max_value };
	}
	if (strcmp(calculation, "avg") == 0 && count > 0)
		m = (struct metrics){ m.queue / (double)count, m.max_value / (double)count };
	return m;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t keda_creates(const struct given *g)
{
	struct metrics m = keda_metrics(g);
	int64_t max = scaledjob_max(&g->spec), min = scaledjob_min(&g->spec), running = g->facts.running - min,
		pending = g->facts.pending;
	int64_t max_scale = (int64_t)ceil(fmin(m.max_value, (double)max)), scale_to = (int64_t)ceil(m.queue), effective;
	const char *strategy = g->spec.strategy != NULL ? g->spec.strategy : "default";

	if (running < 0)
		return -running;
	if (strcmp(strategy, "custom") == 0 && strcmp(g->spec.running_job_percentage, "x") != 0) {
		effective = least(max_scale - g->spec.queue_length_deduction -
				(int64_t)((double)running * atof(g->spec.running_job_percentage)),
			max);
	} else if (strcmp(strategy, "accurate") == 0) {
		effective = max_scale + running - pending > max ? max - running : max_scale - pending;
	} else if (strcmp(strategy, "eager") == 0) {
		effective = least(max - running - pending, max_scale);
		scale_to = max;
	} else {
		effective = max_scale - running;
	}
	return at_least_0(least(scale_to, effective));
}

/* Facts in which kscaled means to do as KEDA; only custom may go beyond max there. */
static void test_same_as_keda(void **state)
{
	static const char *const strategies[] = { NULL, "default", "custom", "accurate", "eager", "other" },
				 *const percentages[] = { "0", "0.5", "1", "0.3", "-0.5", "x" };
	int created = 0;

	(void)state;
	seed = UINT64_C(0x2545f4914f6cdd1d);
	for (int i = 0; i < ROUNDS; i++) {
		struct given g;
		struct jobs_decision d;
		double target = one_in(5) ? 0.5 : 1 + (double)random_below(4);
		int64_t room, wanted;

		make_spec(&g.spec, false);
		g.spec.strategy = choose(strategies, 6);
		g.spec.running_job_percentage = choose(percentages, 6);
		g.spec.max_jobs = one_in(4) ? INT32_UNSET : 1 + (int32_t)random_below(25);
		g.spec.queue_length_deduction = (int32_t)random_below(6) - 1;
		g.facts = (struct jobs_facts){ .spec = &g.spec,
			.now_unix_ms = T,
			.triggers = g.triggers,
			.trigger_count = 1 + (size_t)random_below(TRIGGERS_MAX),
			.running = (int32_t)random_below(30) };
		g.facts.pending = (int32_t)random_below((uint64_t)g.facts.running + 1);
		for (size_t k = 0; k < g.facts.trigger_count; k++)
			g.triggers[k] = (struct jobs_trigger){ .index = (int)k,
				.metric_name = names[k],
				.queue = (double)(1 + random_below(4000)) / 100,
				.target = target,
				.active = !one_in(4) };
		d = jobs_decide(&g.facts);
		wanted = d.trigger < 0 ? at_least_0(scaledjob_min(&g.spec) - g.facts.running) : keda_creates(&g);
		room = at_least_0((int64_t)scaledjob_max(&g.spec) + scaledjob_min(&g.spec) - g.facts.running);
		if (wanted > room && g.spec.strategy != NULL && strcmp(g.spec.strategy, "custom") == 0)
			wanted = room;
		created += wanted > 0;
		if (d.create != wanted) {
			fprintf(stderr, "KEDA: %lld\n", (long long)wanted);
			fail_with(&g, "not as KEDA", &d, &d);
		}
	}
	assert_true(created > ROUNDS / 10);
}

/* ---- Lives ---- */

/*
 * A queue from which each Job takes one piece of work when it starts (for accurate), or when it
 * ends (default): in the end all work is done, by exactly as many Jobs, even with a source that
 * fails now and then.
 */
static void live(const char *strategy, bool takes_at_start)
{
	struct scaledjob_spec spec = { .strategy = (char *)(uintptr_t)strategy,
		.min_jobs = INT32_UNSET,
		.max_jobs = 1 + (int32_t)random_below(12),
		.queue_length_deduction = INT32_UNSET };
	int64_t queue = 0, put = 0, created = 0;
	int32_t pending = 0, started = 0;

	for (int tick = 0; tick < 100 * TICKS && (tick < TICKS || queue > 0 || pending + started > 0); tick++) {
		struct jobs_trigger trigger = { .metric_name = names[0],
			.target = 1,
			.active = queue > 0,
			.queue = (double)queue,
			.err = one_in(10) ? &down : NULL };
		struct jobs_facts facts = { .spec = &spec,
			.now_unix_ms = T,
			.triggers = &trigger,
			.trigger_count = 1,
			.running = pending + started,
			.pending = pending };
		struct jobs_decision d = jobs_decide(&facts);
		int32_t starting, ending;

		assert_true(pending + started + d.create <= spec.max_jobs);
		pending += d.create;
		created += d.create;
		starting = (int32_t)random_below((uint64_t)pending + 1);
		pending -= starting;
		started += starting;
		queue -= takes_at_start ? starting : 0;
		ending = (int32_t)random_below((uint64_t)started + 1);
		started -= ending;
		queue -= takes_at_start ? 0 : ending;
		if (tick < TICKS && one_in(3)) {
			int64_t came = (int64_t)random_below(15);

			queue += came;
			put += came;
		}
		assert_true(queue >= 0);
	}
	assert_int_equal(queue, 0);
	assert_int_equal(created, put);
}

static void test_lives(void **state)
{
	(void)state;
	seed = UINT64_C(0xda942042e4dd58b5);
	for (int i = 0; i < LIVES; i++) {
		live("default", false);
		live("accurate", true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_monotone),
		cmocka_unit_test(test_failing_creates_no_more),
		cmocka_unit_test(test_unknown_creates_no_more),
		cmocka_unit_test(test_same_as_keda),
		cmocka_unit_test(test_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
