/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fingerprints: whether a decision differs from the last one, without making its sentence, and
 * whether a failure does.
 */
#include "decide/annotations.h"
#include "decide/mark.h"
#include "decide/scale.h"
#include "decide/verdict.h"

#define MS_PER_DAY 86400000

static uint64_t mix_trigger(uint64_t mark, const struct verdict_trigger *t)
{
	unsigned flags = t->reading.active | (unsigned)t->falling_back << 1 | (unsigned)(t->err != NULL) << 2;

	mark = mark_text(mark, t->metric_name);
	mark = mark_number(mark, t->reading.value);
	mark = mark_number(mark, t->activation);
	mark = mark_word(mark, (uint64_t)t->metric.target.milli);
	mark = mark_pair(mark, t->failures, (int32_t)flags);
	mark = mark_number(mark, t->fallback_replicas);
	mark = mark_err(mark, t->err);
	mark = mark_err(mark, t->source_err);
	return mark_text(mark, t->fallback_trouble);
}

static uint64_t mix_composite(uint64_t mark, const struct scale_facts *facts)
{
	const struct composite *c = facts->composite;
	struct metric_spec metric = { 0 };
	double activation = 0;

	verdict_composite_metric(facts->spec, &metric);
	verdict_activation_target(facts->spec, &activation);
	mark = mark_word(mark,
		1u | (unsigned)c->failing << 1 | (unsigned)c->active << 2 | (unsigned)c->falling_back << 3);
	mark = mark_number(mark, c->value);
	mark = mark_number(mark, activation);
	mark = mark_word(mark, (uint64_t)metric.target.milli);
	return mark_err(mark, c->failing ? &c->err : NULL);
}

static uint64_t mix_decision(uint64_t mark, const struct scale_decision *d)
{
	unsigned flags = d->act | (unsigned)d->active << 1 | (unsigned)d->forced << 2 | (unsigned)d->failing << 3 |
		(unsigned)(d->last_active_unix_ms == 0) << 4;

	mark = mark_word(mark, (uint64_t)d->rule << 8 | flags);
	mark = mark_pair(mark, d->replicas, d->trigger);
	return mark_word(mark, (uint64_t)d->until_unix_ms);
}

uint64_t scale_mark(const struct scale_facts *facts, const struct scale_decision *d)
{
	uint64_t mark = mix_decision(0, d);

	mark = mark_pair(mark, facts->replicas, scaledobject_hpa_max(facts->spec));
	mark = mark_pair(mark, scaledobject_cooldown_s(facts->spec),
		facts->annotations ? facts->annotations->paused_replicas : INT32_UNSET);
	/* The sentence has the date of a time on another day. */
	mark = mark_word(mark, d->until_unix_ms ? (uint64_t)(facts->now_unix_ms / MS_PER_DAY) : 0);
	mark = mark_word(mark, (uint64_t)facts->resource_count << 32 | facts->trigger_count);
	mark = mark_err(mark, facts->unbuilt);
	if (facts->composite)
		mark = mix_composite(mark, facts);
	for (size_t i = 0; i < facts->trigger_count; i++)
		mark = mix_trigger(mark, &facts->triggers[i]);
	return mark;
}

static uint64_t mark_cause(struct scale_failure f)
{
	return f.err ? mark_words(mark_text(mark_word(0, f.err->kind), f.metric_name), f.err->msg) | 1 : 0;
}

/* In a row, of the trigger that fails most. */
static int32_t most_failures(const struct scale_facts *facts)
{
	int32_t most = 0;

	for (size_t i = 0; i < facts->trigger_count; i++)
		if (facts->triggers[i].err && facts->triggers[i].failures > most)
			most = facts->triggers[i].failures;
	return most;
}

/* An unreadable target is not a failure of a source. */
struct readiness_look scale_ready_look(const struct scale_facts *facts, const struct scale_decision *d)
{
	struct readiness_look look = { .threshold = -1, .falls_back = mark_cause(scale_fallback(facts)) };

	if (d->ready_reason && d->ready == CONDITION_TRUE)
		return look;
	look.failing = true;
	look.at_once = !facts->replicas_known;
	if (verdict_fallback_valid(facts->spec)) {
		look.threshold = facts->spec->fallback->failure_threshold;
		look.failures = most_failures(facts);
	}
	look.state = mark_text(0, d->ready_reason) | 1;
	look.cause = mark_cause(scale_failure(facts));
	return look;
}
