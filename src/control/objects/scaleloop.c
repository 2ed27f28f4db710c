/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acts on the answers of a ScaledObject's triggers: decide/scale decides, the target is scaled,
 * status, journal and Events are written.
 */
#include "control/objects/scaleloop.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/objects/act.h"
#include "control/objects/polling.h"
#include "control/objects/queue.h"
#include "control/objects/recorder.h"
#include "control/objects/rivals.h"
#include "control/objects/status.h"
#include "control/objects/work.h"
#include "decide/conditions.h"
#include "decide/scale.h"
#include "decide/validate/validate.h"

static void say_status(struct work *work, const struct scale_facts *facts, const struct scale_decision *d,
	const struct scaledobject *so)
{
	struct scaledobject_status *wanted = status_wanted(work, &so->status);
	bool was_falling_back = work_says(work, "Fallback");

	conditions_after_tick(so, facts, d, store_hpa_named(work->control->cache->store, so), facts->now_unix_ms,
		wanted);
	recorder_fallback(work, was_falling_back);
	status_write(work);
}

void scaleloop_note(struct work *work, const struct scale_facts *facts, const struct scale_decision *d, uint64_t mark,
	const char *text)
{
	struct journal_facts seen = { .now_unix_ms = facts->now_unix_ms,
		.triggers = facts->triggers,
		.trigger_count = facts->trigger_count,
		.composite = facts->composite };
	struct journal_verdict verdict = {
		.rule = scale_rule_name(d->rule),
		.act = d->act,
		.replicas = d->replicas,
		.active = d->active,
		.forced = d->forced,
		.failing = d->failing,
		.until_unix_ms = d->until_unix_ms,
	};

	journal_decided(work->object, mark, &seen, &verdict, text);
}

/*
 * Writes the decision to the journal if it or its reason differs from the last one. why gets its
 * text, if that or a write needs it.
 */
static void note_decision(struct work *work, const struct scale_facts *facts, const struct scale_decision *d, char *why,
	size_t size)
{
	uint64_t mark = scale_mark(facts, d);
	bool stands = journal_stands(work->object, mark, facts->now_unix_ms);

	if (!stands || d->act)
		scale_explain(facts, d, why, size);
	if (stands)
		return;
	log_debug(work->subject, "%s", why);
	scaleloop_note(work, facts, d, mark, why);
}

/*
 * If the triggers cannot be built (for example, a Secret is missing), none was asked: only what
 * needs none is done, and reconcile reports the error.
 */
static void decide(struct work *work, const struct survey_result *r, const struct annotations *annotations)
{
	int64_t now_unix_ms = timestamp_now_ms();
	struct scale_facts facts = {
		.spec = &r->of.so->spec,
		.created_unix_ms = work_created_unix_ms(work, now_unix_ms),
		.now_unix_ms = now_unix_ms,
		.annotations = annotations,
		.triggers = r->triggers,
		.trigger_count = r->count,
		.unbuilt = r->err,
		.resource_count = r->resource_count,
		.composite = r->composite,
		.replicas_known = r->replicas_known,
		.replicas = r->replicas,
		.last_active_unix_ms = work->loop.last_active_unix_ms,
	};
	struct scale_decision d = scale_decide(&facts);
	struct readiness_look look;
	struct readiness_says ready;
	bool asked = !r->err;
	char why[512];

	if (asked) {
		look = scale_ready_look(&facts, &d);
		ready = polling_judge(work, &look);
		facts.ready_waits = ready.waits;
		facts.cause_is_news = ready.news;
	}
	polling_note_active(work, d.last_active_unix_ms);
	note_decision(work, &facts, &d, why, sizeof(why));
	if (asked)
		polling_tell(work, r);
	if (d.act)
		act_scale(work, r->of.so, &facts, &d, why);
	if (!asked)
		return;
	say_status(work, &facts, &d, r->of.so);
	recorder_push(work);
	/* The end of a cooldown does not wait for the next poll. */
	if (d.until_unix_ms > facts.now_unix_ms)
		polling_arm_sooner(work, d.until_unix_ms - facts.now_unix_ms + 1);
}

/*
 * While no trigger can be built. The error may be another: nothing is decided for an object that is
 * wrong itself.
 */
static void decide_unasked(struct work *work, const struct scaledobject *so, const struct annotations *annotations,
	const struct err *err)
{
	struct survey_result result = { .err = err, .of = work->object->of };
	const struct workload *w;

	if (!scale_needs_no_trigger(&so->spec, annotations) ||
		validate_for_reconcile(scaled_of_object(so), NULL, NULL) ||
		targets_get(work->object, &w) != TARGET_PRESENT)
		return;
	result.replicas_known = true;
	result.replicas = w->replicas;
	decide(work, &result, annotations);
}

void scaleloop_decide(struct work *work, const struct survey_result *result)
{
	const struct scaledobject *so = result->err ? work->object->of.so : result->of.so;
	const struct workload *w;
	struct annotations annotations;
	bool held = !so || so->meta.deleted_unix_ms || annotations_read(so, &annotations, NULL) || annotations.paused ||
		rivals_refuse(work, so, NULL);

	/*
	 * reconcile handles these: an object that is wrong or waits for something, a pause, and a
	 * target that another object claimed first.
	 */
	if (held || result->err)
		queue_mark(work);
	if (held)
		return;
	if (result->err)
		decide_unasked(work, so, &annotations, result->err);
	else if (targets_get(work->object, &w) != TARGET_UNREAD)
		decide(work, result, &annotations);
}
