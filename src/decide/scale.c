/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/scale.h"

#include <stddef.h>

#include "base/mem.h"
#include "decide/annotations.h"
#include "decide/verdict.h"

#define MS_PER_S 1000

static int64_t add_seconds(int64_t unix_ms, int32_t seconds)
{
	int64_t sum;

	if (seconds < 0)
		seconds = 0;
	if (__builtin_add_overflow(unix_ms, (int64_t)seconds * MS_PER_S, &sum))
		return INT64_MAX;
	return sum;
}

static int32_t floor_of(const struct scaledobject_spec *spec)
{
	int32_t min = scaledobject_min(spec);

	return min > 0 ? min : 0;
}

static void say_ready(struct scale_decision *d, enum condition_status status, const char *reason, const char *message)
{
	d->ready = status;
	d->ready_reason = reason;
	d->ready_message = message;
}

static void say_active(struct scale_decision *d, enum condition_status status, const char *reason, const char *message)
{
	d->active_status = status;
	d->active_reason = reason;
	d->active_message = message;
}

static const struct annotations no_annotations = { .paused_replicas = INT32_UNSET };

static const struct annotations *annotations_of(const struct scale_facts *facts)
{
	return facts->annotations ? facts->annotations : &no_annotations;
}

/* Without any trigger nothing is known, which must not count as inactive. */
static bool knows_nothing(const struct scale_facts *facts)
{
	return facts->trigger_count == 0 && facts->resource_count == 0;
}

/* cpu and memory triggers alone are always active (doc/keda.md 3.1, step 6). */
static bool by_resources(const struct scale_facts *facts, bool failing)
{
	return facts->trigger_count == 0 && facts->resource_count > 0 && !failing;
}

/* The result of all triggers; the rules compare it with the replicas. */
static struct scale_decision observe(const struct scale_facts *facts)
{
	struct scale_decision d = { .replicas = facts->replicas > 0 ? facts->replicas : 0,
		.trigger = -1,
		.forced = annotations_of(facts)->force_active };
	const struct composite *composite = facts->composite;
	int first_active = -1, first_failing = -1;

	for (size_t i = 0; i < facts->trigger_count; i++) {
		const struct verdict_trigger *t = &facts->triggers[i];

		if (t->err) {
			if (first_failing < 0)
				first_failing = (int)i;
		} else if (t->reading.active && first_active < 0 && !composite) {
			first_active = (int)i;
		}
	}
	d.failing = first_failing >= 0 || knows_nothing(facts) || (composite && composite->failing);
	d.active = first_active >= 0 || (composite && composite->active && !composite->failing) ||
		by_resources(facts, d.failing) || d.forced;
	d.trigger = first_active >= 0 ? first_active : first_failing;
	/* A time in the future, from another replica's clock, would extend the cooldown. */
	d.last_active_unix_ms = facts->last_active_unix_ms < facts->now_unix_ms ? facts->last_active_unix_ms
										: facts->now_unix_ms;
	if (d.active)
		d.last_active_unix_ms = facts->now_unix_ms;
	return d;
}

struct scale_failure scale_failure(const struct scale_facts *facts)
{
	for (size_t i = 0; i < facts->trigger_count; i++)
		if (facts->triggers[i].err)
			return (struct scale_failure){ facts->triggers[i].metric_name, facts->triggers[i].err };
	if (facts->composite && facts->composite->failing)
		return (struct scale_failure){ VERDICT_COMPOSITE_NAME, &facts->composite->err };
	return (struct scale_failure){ NULL, NULL };
}

struct scale_failure scale_fallback(const struct scale_facts *facts)
{
	for (size_t i = 0; i < facts->trigger_count; i++)
		if (facts->triggers[i].falling_back && facts->triggers[i].source_err)
			return (struct scale_failure){ facts->triggers[i].metric_name, facts->triggers[i].source_err };
	return (struct scale_failure){ NULL, NULL };
}

static void judge_ready(const struct scale_facts *facts, struct scale_decision *d)
{
	if (knows_nothing(facts))
		return;
	if (!facts->replicas_known)
		say_ready(d, CONDITION_FALSE, "ErrorGettingCurrentReplicas",
			"Error getting current replicas count for ScaleTarget");
	else if (d->failing && d->active)
		say_ready(d, CONDITION_UNKNOWN, "PartialTriggerError",
			"Some triggers defined in ScaledObject are not working correctly");
	else if (d->failing)
		say_ready(d, CONDITION_FALSE, "TriggerError",
			"Triggers defined in ScaledObject are not working correctly");
	else
		say_ready(d, CONDITION_TRUE, "ScaledObjectReady",
			"ScaledObject is defined correctly and is ready for scaling");
}

static void act(struct scale_decision *d, enum scale_rule rule, int32_t replicas)
{
	d->rule = rule;
	d->act = true;
	d->replicas = replicas;
}

static void raise_to(const struct scale_facts *facts, struct scale_decision *d, enum scale_rule rule, int32_t replicas)
{
	if (annotations_of(facts)->scale_out_paused)
		d->rule = SCALE_RULE_SCALE_OUT_PAUSED;
	else
		act(d, rule, replicas);
}

/* Whether only fallbacks are active. */
static bool only_fallback(const struct scale_facts *facts, const struct scale_decision *d)
{
	if (d->forced)
		return false;
	if (facts->composite)
		return facts->composite->falling_back;
	for (size_t i = 0; i < facts->trigger_count; i++) {
		const struct verdict_trigger *t = &facts->triggers[i];

		if (!t->err && t->reading.active && !t->falling_back)
			return false;
	}
	return facts->trigger_count > 0;
}

static enum scale_rule rule_while_running(const struct scale_facts *facts, const struct scale_decision *d)
{
	if (d->failing)
		return SCALE_RULE_ACTIVE_PARTIAL;
	return only_fallback(facts, d) ? SCALE_RULE_FALLBACK : SCALE_RULE_ACTIVE;
}

static void decide_active(const struct scale_facts *facts, struct scale_decision *d)
{
	int32_t min = floor_of(facts->spec);
	bool idling = facts->spec->idle_replicas != INT32_UNSET && d->replicas < min;

	say_active(d, CONDITION_TRUE, "ScalerActive",
		d->forced ? "Scaling is performed because activation is being forced by annotation"
			  : "Scaling is performed because triggers are active");
	if (idling || d->replicas == 0)
		raise_to(facts, d, SCALE_RULE_ACTIVATE, min > 0 ? min : 1);
	else
		d->rule = rule_while_running(facts, d);
}

/* KEDA scales in only after the end has passed, so the first moment that may act is 1 ms later. */
static void decide_scale_in(const struct scale_facts *facts, struct scale_decision *d, int32_t rest)
{
	const struct scaledobject_spec *spec = facts->spec;
	bool never = d->last_active_unix_ms == 0;
	int32_t initial_s = spec->initial_cooldown_s == INT32_UNSET ? 0 : spec->initial_cooldown_s;
	int64_t end = never ? add_seconds(facts->created_unix_ms, initial_s)
			    : add_seconds(d->last_active_unix_ms, scaledobject_cooldown_s(spec));

	if (annotations_of(facts)->scale_in_paused) {
		d->rule = SCALE_RULE_SCALE_IN_PAUSED; /* without a cooldown in Active, as in KEDA */
		return;
	}
	if (end < facts->now_unix_ms) {
		act(d, SCALE_RULE_DEACTIVATE, rest);
		return;
	}
	d->rule = never ? SCALE_RULE_INITIAL_COOLDOWN : SCALE_RULE_COOLDOWN;
	d->until_unix_ms = end < INT64_MAX ? end + 1 : end;
	say_active(d, CONDITION_FALSE, "ScalerCooldown", "Scaler cooling down because triggers are not active");
}

/* An idle count is below the minimum. */
static bool has_min(const struct scaledobject_spec *spec)
{
	return spec->idle_replicas == INT32_UNSET && floor_of(spec) > 0;
}

/* The minimum holds whatever the triggers say, and also without readings. */
static bool keep_min(const struct scale_facts *facts, struct scale_decision *d)
{
	int32_t min = floor_of(facts->spec);

	if (!has_min(facts->spec) || d->replicas >= min)
		return false;
	raise_to(facts, d, SCALE_RULE_BELOW_MIN, min);
	return true;
}

static void decide_inactive(const struct scale_facts *facts, struct scale_decision *d)
{
	const struct scaledobject_spec *spec = facts->spec;
	int32_t min = floor_of(spec);
	bool has_idle = spec->idle_replicas != INT32_UNSET;
	int32_t rest = has_idle && spec->idle_replicas > 0 ? spec->idle_replicas : 0;

	say_active(d, CONDITION_FALSE, "ScalerNotActive", "Scaling is not performed because triggers are not active");
	if (keep_min(facts, d))
		return;
	if (d->failing)
		d->rule = SCALE_RULE_ERROR_HOLD;
	else if ((has_idle || min == 0) && d->replicas > rest)
		decide_scale_in(facts, d, rest);
	else
		d->rule = SCALE_RULE_INACTIVE;
}

/*
 * While paused, reconcile sets the conditions; the last activity stays, so that a cooldown
 * continues afterwards.
 */
static struct scale_decision decide_paused(const struct scale_facts *facts)
{
	struct scale_decision d = { .rule = SCALE_RULE_PAUSED,
		.replicas = facts->replicas > 0 ? facts->replicas : 0,
		.trigger = -1,
		.last_active_unix_ms = facts->last_active_unix_ms };
	int32_t kept = annotations_of(facts)->paused_replicas;

	if (kept >= 0 && facts->replicas_known && kept != facts->replicas)
		act(&d, SCALE_RULE_PAUSED, kept);
	return d;
}

bool scale_needs_no_trigger(const struct scaledobject_spec *spec, const struct annotations *annotations)
{
	return has_min(spec) || (annotations && annotations->force_active);
}

struct scale_decision scale_decide(const struct scale_facts *facts)
{
	struct scale_decision d;

	if (annotations_of(facts)->paused)
		return decide_paused(facts);
	d = observe(facts);
	judge_ready(facts, &d);
	if (!facts->replicas_known)
		d.rule = SCALE_RULE_REPLICAS_UNKNOWN;
	else if (knows_nothing(facts) && !d.forced)
		d.rule = keep_min(facts, &d) ? d.rule : SCALE_RULE_ERROR_HOLD;
	else if (d.active)
		decide_active(facts, &d);
	else
		decide_inactive(facts, &d);
	return d;
}

const char *scale_rule_name(enum scale_rule rule)
{
	static const char *const names[] = {
		[SCALE_RULE_REPLICAS_UNKNOWN] = "replicas-unknown",
		[SCALE_RULE_ACTIVATE] = "activate",
		[SCALE_RULE_ACTIVE] = "active",
		[SCALE_RULE_FALLBACK] = "fallback",
		[SCALE_RULE_ACTIVE_PARTIAL] = "active-partial",
		[SCALE_RULE_ERROR_HOLD] = "error-hold",
		[SCALE_RULE_COOLDOWN] = "cooldown",
		[SCALE_RULE_INITIAL_COOLDOWN] = "initial-cooldown",
		[SCALE_RULE_DEACTIVATE] = "deactivate",
		[SCALE_RULE_BELOW_MIN] = "below-min",
		[SCALE_RULE_INACTIVE] = "inactive",
		[SCALE_RULE_PAUSED] = "paused",
		[SCALE_RULE_SCALE_IN_PAUSED] = "scale-in-paused",
		[SCALE_RULE_SCALE_OUT_PAUSED] = "scale-out-paused",
	};

	return (size_t)rule < MEM_COUNT(names) ? names[rule] : "unknown";
}
