/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobs.h"

#include <float.h>
#include <math.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "decide/jobs/jobs_parts.h"
#include "decide/verdict.h"

/* More Jobs than possible; sums of a few such numbers are exact, also as doubles. */
#define COUNT_MAX INT64_C(1000000000000000)

/* ---- The spec ---- */

const char *const jobs_strategies[] = {
	[JOBS_STRATEGY_DEFAULT] = "default",
	[JOBS_STRATEGY_CUSTOM] = "custom",
	[JOBS_STRATEGY_ACCURATE] = "accurate",
	[JOBS_STRATEGY_EAGER] = "eager",
	NULL,
};

const char *const jobs_calculations[] = {
	[JOBS_CALCULATION_MAX] = "max",
	[JOBS_CALCULATION_MIN] = "min",
	[JOBS_CALCULATION_AVG] = "avg",
	[JOBS_CALCULATION_SUM] = "sum",
	NULL,
};

/* The index of a word in a NULL-terminated list; 0, the default, for any other text. */
static unsigned index_of(const char *word, const char *const *words)
{
	for (unsigned i = 0; words[i]; i++)
		if (text_equal(word, words[i]))
			return i;
	return 0;
}

enum jobs_strategy jobs_strategy(const struct scaledjob_spec *spec)
{
	enum jobs_strategy strategy = (enum jobs_strategy)index_of(spec->strategy, jobs_strategies);
	double percentage;

	return strategy == JOBS_STRATEGY_CUSTOM && !verdict_read_number(spec->running_job_percentage, &percentage)
		? JOBS_STRATEGY_DEFAULT
		: strategy;
}

enum jobs_calculation jobs_calculation(const struct scaledjob_spec *spec)
{
	return (enum jobs_calculation)index_of(spec->calculation, jobs_calculations);
}

bool jobs_needs_pods(const struct scaledjob_spec *spec)
{
	enum jobs_strategy strategy = jobs_strategy(spec);

	return strategy == JOBS_STRATEGY_ACCURATE || strategy == JOBS_STRATEGY_EAGER;
}

int32_t jobs_deduction(const struct scaledjob_spec *spec)
{
	return spec->queue_length_deduction != INT32_UNSET ? spec->queue_length_deduction : 0;
}

/* ---- Numbers that cannot overflow ---- */

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* NaN, which should have been an error, counts as 0. */
static double not_negative(double number)
{
	return number > 0 ? number : 0;
}

/* Towards zero. */
static int64_t whole(double number)
{
	if (isnan(number))
		return 0;
	return (int64_t)fmax(-(double)COUNT_MAX, fmin(number, (double)COUNT_MAX));
}

/* ---- Jobs at work ---- */

int64_t jobs_at_work(const struct jobs_facts *facts)
{
	return greater(facts->running, 0);
}

int64_t jobs_beyond_min(const struct jobs_facts *facts)
{
	return greater(jobs_at_work(facts) - scaledjob_min(facts->spec), 0);
}

int64_t jobs_pending(const struct jobs_facts *facts)
{
	return jobs_needs_pods(facts->spec) ? smaller(greater(facts->pending, 0), jobs_at_work(facts)) : 0;
}

int64_t jobs_running_share(const struct jobs_facts *facts)
{
	double percentage;

	if (jobs_strategy(facts->spec) != JOBS_STRATEGY_CUSTOM ||
		!verdict_read_number(facts->spec->running_job_percentage, &percentage))
		return 0;
	return whole((double)jobs_beyond_min(facts) * percentage);
}

/* ---- The triggers' demand ---- */

bool jobs_next_share(const struct jobs_facts *facts, struct jobs_share *share)
{
	size_t start = share->next, i = start;
	const struct jobs_trigger *t = facts->triggers;
	bool failing = false;
	double targets = 0;

	if (start == facts->trigger_count)
		return false;
	for (; i < facts->trigger_count && t[i].index == t[start].index; i++) {
		failing = failing || t[i].err;
		targets += not_negative(t[i].target);
	}
	*share = (struct jobs_share){
		.first = &t[start],
		.next = i,
		.failing = failing,
		.active = t[start].active && !failing,
		.queue = not_negative(t[start].queue),
		.target = targets / (double)(i - start),
	};
	return true;
}

/* The demand of all active triggers. */
struct demand {
	double queue;
	double jobs;   /* Jobs needed for it; at most max, per trigger and in total */
	double wanted; /* the same without max */
};

/*
 * The maximum or minimum (fmax, fmin) of queue and of Jobs. KEDA takes both from the trigger with
 * the longest (shortest) queue: with different targets, a longer queue may then lower the number of
 * Jobs.
 */
static struct demand pick(double (*of_two)(double a, double b), struct demand a, struct demand b)
{
	return (struct demand){ of_two(a.queue, b.queue), of_two(a.jobs, b.jobs), of_two(a.wanted, b.wanted) };
}

static struct demand sum(struct demand a, struct demand b)
{
	return (struct demand){ fmin(a.queue + b.queue, DBL_MAX), a.jobs + b.jobs, fmin(a.wanted + b.wanted, DBL_MAX) };
}

static struct demand join(enum jobs_calculation calculation, struct demand a, struct demand b)
{
	switch (calculation) {
	case JOBS_CALCULATION_MIN: return pick(fmin, a, b);
	case JOBS_CALCULATION_AVG:
	case JOBS_CALCULATION_SUM: return sum(a, b);
	case JOBS_CALCULATION_MAX: break;
	}
	return pick(fmax, a, b);
}

/*
 * multipleScalersCalculation. A failing trigger may only lower the result: max and sum leave it
 * out, avg counts it with an empty queue, and min is unknown, so 0.
 */
static struct demand demand_of_all(const struct jobs_facts *facts)
{
	enum jobs_calculation calculation = jobs_calculation(facts->spec);
	double max = scaledjob_max(facts->spec), count = 1;
	struct jobs_share share = { 0 };
	struct demand all = { 0 };
	size_t active = 0, failing = 0;

	while (jobs_next_share(facts, &share)) {
		failing += share.failing;
		if (share.active) {
			double wanted = share.target > 0 ? not_negative(share.queue / share.target) : 0;
			struct demand one = { .queue = share.queue, .jobs = fmin(wanted, max), .wanted = wanted };

			all = active++ > 0 ? join(calculation, all, one) : one;
		}
	}
	if (calculation == JOBS_CALCULATION_MIN && failing > 0)
		return (struct demand){ 0 };
	if (calculation == JOBS_CALCULATION_AVG && active > 0)
		count = (double)(active + failing);
	return (struct demand){ all.queue / count, all.jobs / count, all.wanted / count };
}

/* ---- The conditions ---- */

const struct jobs_words jobs_ready_refused = { CONDITION_FALSE, "KEDAJobCreateFailed", "Failed to create Jobs" };

static const struct jobs_words ready_no_jobs = { CONDITION_FALSE, "ErrorGettingJobs",
	"Error getting the Jobs of the ScaledJob" },
			       ready_no_pods = { CONDITION_FALSE, "ErrorGettingPods",
				       "Error getting the Pods of the Jobs, which scalingStrategy.strategy needs" },
			       ready_some_fail = { CONDITION_UNKNOWN, "PartialTriggerError",
				       "Some triggers defined in ScaledJob are not working correctly" },
			       ready_all_fail = { CONDITION_FALSE, "TriggerError",
				       "Triggers defined in ScaledJob are not working correctly" },
			       ready_good = { CONDITION_TRUE, "ScaledJobReady",
				       "ScaledJob is defined correctly and is ready for scaling" },
			       scaler_active = { CONDITION_TRUE, "ScalerActive",
				       "Scaling is performed because triggers are active" },
			       scaler_inactive = { CONDITION_FALSE, "ScalerNotActive",
				       "Scaling is not performed because triggers are not active" };

static bool is_trouble(const struct err *err)
{
	return err && err->kind != ERR_WAITING;
}

static const struct jobs_trigger *first_failing(const struct jobs_facts *facts)
{
	for (size_t i = 0; i < facts->trigger_count; i++)
		if (facts->triggers[i].err)
			return &facts->triggers[i];
	return NULL;
}

static bool pods_trouble(const struct jobs_facts *facts)
{
	return jobs_needs_pods(facts->spec) && is_trouble(facts->pods_err);
}

static struct jobs_cause error_of(const struct jobs_words *ready, const char *metric_name, const struct err *err)
{
	return (struct jobs_cause){ ready, metric_name, err->msg, err->kind };
}

/* A failure that blocks all Jobs comes first. */
static struct jobs_cause first_cause(const struct jobs_facts *facts, bool is_active)
{
	const struct jobs_trigger *failing = first_failing(facts);

	if (is_trouble(facts->jobs_err))
		return error_of(&ready_no_jobs, NULL, facts->jobs_err);
	if (pods_trouble(facts))
		return error_of(&ready_no_pods, NULL, facts->pods_err);
	if (facts->create_trouble && is_active)
		return (struct jobs_cause){ .ready = &jobs_ready_refused,
			.text = facts->create_trouble,
			.kind = ERR_NONE };
	if (failing)
		return error_of(is_active ? &ready_some_fail : &ready_all_fail, failing->metric_name, failing->err);
	return (struct jobs_cause){ .ready = facts->trigger_count > 0 ? &ready_good : NULL };
}

/* ---- The decision ---- */

static struct jobs_decision observe(const struct jobs_facts *facts)
{
	struct jobs_decision d = { .trigger = -1 };
	const struct jobs_trigger *failing = first_failing(facts);
	struct jobs_share share = { 0 };

	while (!share.active && jobs_next_share(facts, &share))
		;
	d.active = share.active || scaledjob_min(facts->spec) > 0;
	if (share.active || failing)
		d.trigger = (int)((share.active ? share.first : failing) - facts->triggers);
	d.failing = failing || facts->trigger_count == 0 || is_trouble(facts->jobs_err) || pods_trouble(facts);
	/* A stamp from the future (another replica's clock) counts as now. */
	d.last_active_unix_ms = d.active || facts->last_active_unix_ms > facts->now_unix_ms
		? facts->now_unix_ms
		: facts->last_active_unix_ms;
	return d;
}

bool jobs_is_answered(const struct jobs_facts *facts)
{
	return facts->answered && jobs_strategy(facts->spec) != JOBS_STRATEGY_DEFAULT;
}

/*
 * How many Jobs the strategy asks for, given `needed` Jobs for the work and at most `max` beyond
 * the minimum (doc/keda.md 4.3).
 */
static int64_t asked_jobs(const struct jobs_facts *facts, int64_t needed, int64_t max)
{
	int64_t running = jobs_beyond_min(facts), pending = jobs_pending(facts), room = max - running, asked = 0;

	switch (jobs_strategy(facts->spec)) {
	case JOBS_STRATEGY_DEFAULT: asked = needed - running; break;
	case JOBS_STRATEGY_CUSTOM: asked = needed - jobs_deduction(facts->spec) - jobs_running_share(facts); break;
	/* equals KEDA's two branches: it takes the first if needed - pending exceeds the room */
	case JOBS_STRATEGY_ACCURATE: asked = needed - pending; break;
	case JOBS_STRATEGY_EAGER: asked = smaller(needed, room - pending); break;
	}
	return greater(smaller(asked, room), 0);
}

static void decide_active(const struct jobs_facts *facts, const struct demand *all, struct jobs_decision *d)
{
	int64_t most = jobs_strategy(facts->spec) == JOBS_STRATEGY_EAGER ? COUNT_MAX : whole(ceil(all->queue)),
		unlimited = smaller(asked_jobs(facts, whole(ceil(all->wanted)), COUNT_MAX), most);

	if (jobs_is_answered(facts)) {
		d->rule = JOBS_RULE_ENOUGH;
		return;
	}
	d->create = (int32_t)smaller(asked_jobs(facts, d->max_scale, scaledjob_max(facts->spec)), most);
	if (d->create < unlimited)
		d->rule = JOBS_RULE_AT_MAX;
	else
		d->rule = d->create > 0 ? JOBS_RULE_CREATE : JOBS_RULE_ENOUGH;
}

static void decide_beyond_min(const struct jobs_facts *facts, struct jobs_decision *d)
{
	bool failing = first_failing(facts) || facts->trigger_count == 0;
	struct demand all = demand_of_all(facts);

	d->queue = all.queue;
	d->max_scale = whole(ceil(fmin(all.jobs, (double)scaledjob_max(facts->spec))));
	if (d->trigger < 0 || facts->triggers[d->trigger].err)
		d->rule = failing ? JOBS_RULE_ERROR_HOLD : JOBS_RULE_INACTIVE;
	else if (failing && jobs_calculation(facts->spec) == JOBS_CALCULATION_MIN)
		d->rule = JOBS_RULE_ERROR_HOLD;
	else if (jobs_needs_pods(facts->spec) && facts->pods_err)
		d->rule = JOBS_RULE_PODS_UNKNOWN;
	else
		decide_active(facts, &all, d);
}

struct jobs_decision jobs_decide(const struct jobs_facts *facts)
{
	struct jobs_decision d;

	if (facts->paused)
		return (struct jobs_decision){ .rule = JOBS_RULE_PAUSED,
			.trigger = -1,
			.last_active_unix_ms = facts->last_active_unix_ms };
	d = observe(facts);
	d.ready_words = first_cause(facts, d.active).ready;
	if (facts->jobs_err) {
		d.rule = JOBS_RULE_JOBS_UNKNOWN;
		return d;
	}
	d.active_words = d.active ? &scaler_active : &scaler_inactive;
	if (jobs_at_work(facts) < scaledjob_min(facts->spec)) {
		d.rule = JOBS_RULE_BELOW_MIN;
		d.create = (int32_t)(scaledjob_min(facts->spec) - jobs_at_work(facts));
	} else {
		decide_beyond_min(facts, &d);
	}
	return d;
}

struct jobs_cause jobs_first_cause(const struct jobs_facts *facts)
{
	return first_cause(facts, observe(facts).active);
}

const char *jobs_rule_name(enum jobs_rule rule)
{
	static const char *const names[] = {
		[JOBS_RULE_PAUSED] = "paused",
		[JOBS_RULE_JOBS_UNKNOWN] = "jobs-unknown",
		[JOBS_RULE_BELOW_MIN] = "below-min",
		[JOBS_RULE_PODS_UNKNOWN] = "pods-unknown",
		[JOBS_RULE_CREATE] = "create",
		[JOBS_RULE_AT_MAX] = "at-max",
		[JOBS_RULE_ENOUGH] = "enough",
		[JOBS_RULE_ERROR_HOLD] = "error-hold",
		[JOBS_RULE_INACTIVE] = "inactive",
	};

	return (size_t)rule < MEM_COUNT(names) ? names[rule] : "unknown";
}

/* ---- Pods ---- */

static bool condition_is_true(const json_t *list, const char *type)
{
	const json_t *condition;
	size_t i;

	json_array_foreach(list, i, condition)
	{
		if (json_str_is(condition, "type", type))
			return json_str_is(condition, "status", "True");
	}
	return false;
}

bool jobs_pod_started(const json_t *pod, const char *const *conditions, size_t condition_count)
{
	const json_t *status = json_object_get(pod, "status");

	if (condition_count == 0)
		return json_str_is(status, "phase", "Running") || json_str_is(status, "phase", "Succeeded");
	for (size_t i = 0; i < condition_count; i++)
		if (!condition_is_true(json_object_get(status, "conditions"), conditions[i]))
			return false;
	return true;
}
