/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fingerprints: whether a decision of a ScaledJob differs from the last one, without making its
 * sentence, and whether a failure does, without comparing its words.
 */
#include "decide/jobs/jobs.h"
#include "decide/jobs/jobs_parts.h"
#include "decide/mark.h"

static uint64_t mark_trigger(uint64_t mark, const struct jobs_trigger *t)
{
	mark = mark_pair(mark, t->index, t->active);
	mark = mark_text(mark, t->metric_name);
	/* Without a valid reading the queue is undefined. */
	mark = mark_number(mark, !t->err ? t->queue : 0);
	mark = mark_number(mark, !t->err ? t->target : 0);
	return mark_err(mark, t->err);
}

static uint64_t mark_spec(uint64_t mark, const struct scaledjob_spec *spec)
{
	mark = mark_pair(mark, scaledjob_min(spec), scaledjob_max(spec));
	mark = mark_pair(mark, (int32_t)jobs_strategy(spec), (int32_t)jobs_calculation(spec));
	return mark_word(mark, (uint32_t)spec->queue_length_deduction);
}

uint64_t jobs_mark(const struct jobs_facts *facts, const struct jobs_decision *d)
{
	uint64_t mark = mark_word(0, (uint64_t)d->rule << 8 | (unsigned)d->active | (unsigned)d->failing << 1);

	mark = mark_pair(mark, d->create, d->trigger);
	mark = mark_spec(mark, facts->spec);
	mark = mark_pair(mark, facts->running, (int32_t)jobs_pending(facts));
	mark = mark_word(mark, (uint64_t)jobs_running_share(facts));
	mark = mark_word(mark, jobs_is_answered(facts));
	mark = mark_err(mark, facts->jobs_err);
	mark = mark_err(mark, facts->pods_err);
	mark = mark_text(mark, facts->create_trouble);
	for (size_t i = 0; i < facts->trigger_count; i++)
		mark = mark_trigger(mark, &facts->triggers[i]);
	return mark;
}

/* Of jobs_failure. */
static uint64_t failure_mark(const struct jobs_facts *facts)
{
	struct jobs_cause cause = jobs_first_cause(facts);
	uint64_t mark;

	if (!cause.text)
		return 0;
	mark = mark_words(mark_text(mark_word(0, (uint64_t)cause.kind), cause.name), cause.text);
	return mark | 1; /* never 0 */
}

struct readiness_look jobs_ready_look(const struct jobs_facts *facts, const struct jobs_decision *d)
{
	const struct jobs_words *words = d->ready_words;

	if (words && words->status == CONDITION_TRUE)
		return (struct readiness_look){ .threshold = -1 };
	/* The API server refuses Jobs for a reason that someone configured. */
	return (struct readiness_look){ .failing = true,
		.at_once = words == &jobs_ready_refused,
		.threshold = -1,
		.state = mark_text(0, words ? words->reason : NULL) | 1,
		.cause = failure_mark(facts) };
}
