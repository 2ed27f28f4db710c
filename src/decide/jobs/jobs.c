/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobs.h"

#include <float.h>
#include <math.h>

#include "base/mem.h"
#include "base/text.h"
#include "decide/jobs/jobs_parts.h"
#include "decide/verdict.h"

#define COUNT_MAX                                                                                                      \
	INT64_C(1000000000000000) /* more Jobs than there can be: sums of a few such numbers, and their doubles, are   \
				     exact */

/* ---- What the spec says ---- */

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

/* The index of a word in a list that ends with NULL; 0, the default, for any other text. */
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

/* ---- Numbers that cannot overflow ---- */

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* NaN, which should have come as an error, is nothing. */
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

/* ---- What runs ---- */

static int64_t running_of(const struct jobs_facts *facts)
{
	return greater(facts->running, 0);
}

int64_t jobs_beyond_min(const struct jobs_facts *facts)
{
	return greater(running_of(facts) - scaledjob_min(facts->spec), 0);
}

int64_t jobs_pending(const struct jobs_facts *facts)
{
	return jobs_needs_pods(facts->spec) ? smaller(greater(facts->pending, 0), running_of(facts)) : 0;
}

int64_t jobs_running_share(const struct jobs_facts *facts)
{
	double percentage;

	if (jobs_strategy(facts->spec) != JOBS_STRATEGY_CUSTOM ||
		!verdict_read_number(facts->spec->running_job_percentage, &percentage))
		return 0;
	return whole((double)jobs_beyond_min(facts) * percentage);
}

/* ---- What the triggers ask for ---- */

struct jobs_share jobs_share_at(const struct jobs_facts *facts, size_t position)
{
	const struct jobs_trigger *first = &facts->triggers[position];
	struct jobs_share share = { .first = first, .active = first->active, .queue = not_negative(first->queue) };
	double targets = 0;
	size_t i;

	for (i = position; i < facts->trigger_count && facts->triggers[i].index == first->index; i++) {
		share.failing = share.failing || facts->triggers[i].err;
		targets += not_negative(facts->triggers[i].target);
	}
	share.target = targets / (double)(i - position);
	share.next = i;
	if (share.failing)
		share.active = false;
	return share;
}

/* Of all active triggers together. */
struct demand {
	double queue;
	double jobs;   /* needed for it; at most max, for each trigger and in total */
	double wanted; /* the same without max */
};

static struct demand demand_of(const struct jobs_share *share, double max)
{
	double wanted = share->target > 0 ? not_negative(share->queue / share->target) : 0;

	return (struct demand){ .queue = share->queue, .jobs = fmin(wanted, max), .wanted = wanted };
}

/*
 * The maximum or minimum (fmax, fmin) of queue and Jobs each. KEDA takes both from the trigger with
 * the longest (shortest) queue: where targets differ, a longer queue may then lower the number of
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

static struct demand mean(struct demand all, size_t count)
{
	return (struct demand){ all.queue / (double)count, all.jobs / (double)count, all.wanted / (double)count };
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
	struct demand all = { 0 };
	size_t active = 0, failing = 0;

	for (size_t i = 0; i < facts->trigger_count;) {
		struct jobs_share share = jobs_share_at(facts, i);

		i = share.next;
		failing += share.failing;
		if (share.active) {
			struct demand one = demand_of(&share, (double)scaledjob_max(facts->spec));

			all = active++ > 0 ? join(calculation, all, one) : one;
		}
	}
	if (calculation == JOBS_CALCULATION_MIN && failing > 0)
		return (struct demand){ 0 };
	return calculation == JOBS_CALCULATION_AVG && active > 0 ? mean(all, active + failing) : all;
}

/* ---- Conditions ---- */

static void say_ready(struct jobs_decision *d, enum condition_status status, const char *reason, const char *message)
{
	d->ready = status;
	d->ready_reason = reason;
	d->ready_message = message;
}

static void say_active(struct jobs_decision *d, enum condition_status status, const char *reason, const char *message)
{
	d->active_status = status;
	d->active_reason = reason;
	d->active_message = message;
}

bool jobs_is_trouble(const struct err *err)
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
	return jobs_needs_pods(facts->spec) && jobs_is_trouble(facts->pods_err);
}

/* In the order of jobs_failure: what blocks all Jobs comes first. */
static void judge_ready(const struct jobs_facts *facts, struct jobs_decision *d)
{
	if (jobs_is_trouble(facts->jobs_err))
		say_ready(d, CONDITION_FALSE, "ErrorGettingJobs", "Error getting the Jobs of the ScaledJob");
	else if (pods_trouble(facts))
		say_ready(d, CONDITION_FALSE, "ErrorGettingPods",
			"Error getting the Pods of the Jobs, which scalingStrategy.strategy needs");
	else if (facts->create_trouble && d->active)
		say_ready(d, CONDITION_FALSE, "KEDAJobCreateFailed", "Failed to create Jobs");
	else if (facts->trigger_count == 0)
		return;
	else if (d->failing && d->active)
		say_ready(d, CONDITION_UNKNOWN, "PartialTriggerError",
			"Some triggers defined in ScaledJob are not working correctly");
	else if (d->failing)
		say_ready(d, CONDITION_FALSE, "TriggerError",
			"Triggers defined in ScaledJob are not working correctly");
	else
		say_ready(d, CONDITION_TRUE, "ScaledJobReady",
			"ScaledJob is defined correctly and is ready for scaling");
}

static void judge_active(const struct jobs_facts *facts, struct jobs_decision *d)
{
	if (facts->jobs_err)
		return;
	if (d->active)
		say_active(d, CONDITION_TRUE, "ScalerActive", "Scaling is performed because triggers are active");
	else
		say_active(d, CONDITION_FALSE, "ScalerNotActive",
			"Scaling is not performed because triggers are not active");
}

/* ---- The decision ---- */

/* A trigger that is active and known. */
static bool by_triggers(const struct jobs_facts *facts, const struct jobs_decision *d)
{
	return d->trigger >= 0 && !facts->triggers[d->trigger].err;
}

static struct jobs_decision observe(const struct jobs_facts *facts)
{
	struct jobs_decision d = { .trigger = -1 };
	const struct jobs_trigger *failing = first_failing(facts);

	for (size_t i = 0; i < facts->trigger_count && d.trigger < 0;) {
		struct jobs_share share = jobs_share_at(facts, i);

		if (share.active)
			d.trigger = (int)i;
		i = share.next;
	}
	d.active = d.trigger >= 0 || scaledjob_min(facts->spec) > 0;
	if (d.trigger < 0 && failing)
		d.trigger = (int)(failing - facts->triggers);
	d.failing = failing || facts->trigger_count == 0 || jobs_is_trouble(facts->jobs_err) || pods_trouble(facts);
	/* A stamp from the future (another replica's clock) counts as now. */
	d.last_active_unix_ms = d.active || facts->last_active_unix_ms > facts->now_unix_ms
		? facts->now_unix_ms
		: facts->last_active_unix_ms;
	return d;
}

/*
 * How many Jobs the strategy asks for, with `needed` of them for the work and at most `max` beyond
 * the minimum (keda-core.md 4.3).
 */
static int64_t ask(const struct jobs_facts *facts, int64_t needed, int64_t max)
{
	int64_t running = jobs_beyond_min(facts), pending = jobs_pending(facts), room = max - running, asked = 0;
	int32_t deduction = facts->spec->queue_length_deduction;

	switch (jobs_strategy(facts->spec)) {
	case JOBS_STRATEGY_DEFAULT: asked = needed - running; break;
	case JOBS_STRATEGY_CUSTOM:
		asked = needed - (deduction != INT32_UNSET ? deduction : 0) - jobs_running_share(facts);
		break;
	/*
	 * KEDA's two branches are this: the first is taken when needed - pending is more than the
	 * room
	 */
	case JOBS_STRATEGY_ACCURATE: asked = needed - pending; break;
	case JOBS_STRATEGY_EAGER: asked = smaller(needed, room - pending); break;
	}
	return greater(smaller(asked, room), 0);
}

static void decide_active(const struct jobs_facts *facts, const struct demand *all, struct jobs_decision *d)
{
	int64_t unlimited = ask(facts, whole(ceil(all->wanted)), COUNT_MAX);

	if (jobs_strategy(facts->spec) != JOBS_STRATEGY_EAGER)
		unlimited = smaller(unlimited, d->scale_to);
	d->effective_max = ask(facts, d->max_scale, scaledjob_max(facts->spec));
	d->create = (int32_t)smaller(d->scale_to, d->effective_max);
	if (d->create < unlimited)
		d->rule = JOBS_RULE_AT_MAX;
	else
		d->rule = d->create > 0 ? JOBS_RULE_CREATE : JOBS_RULE_ENOUGH;
}

static void measure(const struct jobs_facts *facts, const struct demand *all, struct jobs_decision *d)
{
	int32_t max = scaledjob_max(facts->spec);

	d->queue = all->queue;
	d->scale_to = jobs_strategy(facts->spec) == JOBS_STRATEGY_EAGER ? max : whole(ceil(all->queue));
	d->max_scale = whole(ceil(fmin(all->jobs, (double)max)));
}

static void decide_beyond_min(const struct jobs_facts *facts, struct jobs_decision *d)
{
	bool failing = first_failing(facts) || facts->trigger_count == 0;
	struct demand all = demand_of_all(facts);

	measure(facts, &all, d);
	if (!by_triggers(facts, d))
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
	judge_ready(facts, &d);
	judge_active(facts, &d);
	if (facts->jobs_err) {
		d.rule = JOBS_RULE_JOBS_UNKNOWN;
	} else if (running_of(facts) < scaledjob_min(facts->spec)) {
		d.rule = JOBS_RULE_BELOW_MIN;
		d.create = (int32_t)(scaledjob_min(facts->spec) - running_of(facts));
	} else {
		decide_beyond_min(facts, &d);
	}
	return d;
}

/* In the order of judge_ready. */
struct jobs_cause jobs_first_cause(const struct jobs_facts *facts)
{
	const struct jobs_trigger *failing = first_failing(facts);

	if (jobs_is_trouble(facts->jobs_err))
		return (struct jobs_cause){ .text = facts->jobs_err->msg, .kind = facts->jobs_err->kind };
	if (pods_trouble(facts))
		return (struct jobs_cause){ .text = facts->pods_err->msg, .kind = facts->pods_err->kind };
	if (facts->create_trouble && observe(facts).active)
		return (struct jobs_cause){ .text = facts->create_trouble, .kind = ERR_NONE };
	if (failing)
		return (struct jobs_cause){ .name = failing->metric_name,
			.text = failing->err->msg,
			.kind = failing->err->kind };
	return (struct jobs_cause){ .text = NULL };
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
