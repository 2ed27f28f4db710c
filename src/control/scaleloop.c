/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scale loop of one object: at each poll it asks all triggers at once, waits for every answer or its deadline, lets decide/scale decide, and acts. Polls fall into slots of 50 ms, so that
 * objects on one server leave in one write; the phase of each object is random, so that a thousand of them do not tick together.
 */
#include <string.h>

#include "base/fingerprint.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/object.h"

#define SLOT_MS 50
/* A poll wants the present; two triggers of one slot with the same question still share one answer. */
#define POLL_MAX_AGE_MS SLOT_MS

static int64_t slot_after(int64_t at_ms)
{
	return (at_ms + SLOT_MS - 1) / SLOT_MS * SLOT_MS;
}

static void arm(struct object *o, int64_t at_ms)
{
	int64_t now_ms = loop_now_ms(o->control->cache->loop);

	loop_timer_set(&o->loop.timer, at_ms > now_ms ? at_ms - now_ms : 0);
}

/* --- the end of a poll: decide and act ---------------------------------------------------------------------------------------- */

static void say_failed(struct object *o, const struct survey_result *r, const char *what, const struct err *err)
{
	const struct scaledobject *so = r->so;

	counters_add(o->control->scale_errors, (const char *const[]){ so->meta.namespace_, so->meta.name }, 1);
	announce(o, so, "Warning", r->composite ? "KEDAMetricSourceFailed" : "KEDAScalerFailed", "%s: %s", what, err->msg);
}

/* "trigger 0 (redis)"; the caller owns it. */
static char *trigger_label(const struct survey_result *r, size_t i)
{
	int index = r->scalers[i]->index;

	return mem_printf("trigger %d (%s)", index, r->so->spec.triggers[index].type);
}

/* A formula that fails because of a trigger says nothing that the trigger has not said. */
static void say_failures(struct object *o, const struct survey_result *r)
{
	bool any = false;

	for (size_t i = 0; i < r->count; i++) {
		MEM_AUTO char *label = r->triggers[i].err ? trigger_label(r, i) : NULL;

		any |= label != NULL;
		if (label)
			say_failed(o, r, label, r->triggers[i].err);
	}
	if (r->composite && r->composite->failing && !any)
		say_failed(o, r, VERDICT_COMPOSITE_NAME, &r->composite->err);
}

/* One log line when readings start to fail and one when they are good again, not one per poll. */
static void log_failing(struct object *o, const struct survey_result *r, const struct scale_decision *d)
{
	if (d->failing == o->loop.was_failing)
		return;
	o->loop.was_failing = d->failing;
	if (!d->failing) {
		log_info(o->subject, "all triggers can be read again");
		return;
	}
	for (size_t i = 0; i < r->count; i++) {
		MEM_AUTO char *label = r->triggers[i].err ? trigger_label(r, i) : NULL;

		if (label)
			log_warn(o->subject, "%s: %s", label, r->triggers[i].err->msg);
	}
	if (r->composite && r->composite->failing)
		log_warn(o->subject, VERDICT_COMPOSITE_NAME ": %s", r->composite->err.msg);
}

static const struct hpa *hpa_of(const struct object *o, const struct scaledobject *so)
{
	char name[254], key[STORE_KEY_MAX];

	return store_hpa(o->control->cache->store, store_key(so->meta.namespace_, scaledobject_hpa_name(so, name, sizeof(name)), key));
}

static void say_status(struct object *o, const struct scale_facts *facts, const struct scale_decision *d, const struct scaledobject *so)
{
	struct scaledobject_status *wanted = status_wanted(o, so);
	bool was_falling_back = status_says(o, "Fallback");

	conditions_after_tick(so, facts, d, hpa_of(o, so), facts->now_unix_ms, wanted);
	announce_fallback(o, so, was_falling_back);
	status_write(o, so);
}

/* The end of a cooldown is not left to the next poll. */
static void arm_for_cooldown(struct object *o, const struct scale_facts *facts, const struct scale_decision *d)
{
	int64_t now_ms = loop_now_ms(o->control->cache->loop), wait_ms = d->until_unix_ms - facts->now_unix_ms;

	if (d->until_unix_ms > facts->now_unix_ms && wait_ms < o->loop.due_ms - now_ms)
		arm(o, now_ms + wait_ms + 1);
}

/* Told when it is another than at the last poll, or for another reason. */
static void note_decision(struct object *o, const struct scale_facts *facts, const struct scale_decision *d)
{
	struct journal *journal = o->control->cache->journal;
	uint64_t mark = scale_mark(facts, d);
	char text[512];

	if (journal_stands(journal, o->key, mark, facts->now_unix_ms))
		return;
	scale_explain(facts, d, text, sizeof(text));
	log_debug(o->subject, "%s", text);
	journal_decided(journal, o->key, mark, facts, d, text);
}

/* What fails first and how, as one number; 0: nothing does. */
static uint64_t cause_of(const struct scale_facts *facts)
{
	struct scale_failure cause = scale_failure(facts);

	return cause.err ? fingerprint_fast(cause.metric_name, strlen(cause.metric_name)) + cause.err->kind : 0;
}

static void decide(struct object *o, const struct survey_result *r, const struct directives *directives)
{
	struct scale_facts facts = {
		.spec = &r->so->spec,
		.created_unix_ms = r->so->meta.created_unix_ms,
		.now_unix_ms = timestamp_now_ms(),
		.directives = directives,
		.triggers = r->triggers,
		.trigger_count = r->count,
		.resource_count = r->resource_count,
		.composite = r->composite,
		.replicas_known = r->replicas_known,
		.replicas = r->replicas,
		.last_active_unix_ms = o->loop.last_active_unix_ms,
	};
	struct scale_decision d = scale_decide(&facts);
	uint64_t cause = cause_of(&facts);

	facts.cause_is_news = cause != o->loop.cause;
	o->loop.cause = cause;
	o->loop.last_active_unix_ms = d.last_active_unix_ms;
	note_decision(o, &facts, &d);
	say_failures(o, r);
	log_failing(o, r, &d);
	if (d.act)
		act_scale(o, r->so, &facts, &d, scaleloop_look);
	say_status(o, &facts, &d, r->so);
	announce_push(o, r->so);
	arm_for_cooldown(o, &facts, &d);
}

static void look_when_allowed(struct object *o);

static void on_survey(void *arg, const struct survey_result *result)
{
	struct object *o = arg;
	const struct workload *w;
	struct directives directives;

	o->loop.survey = NULL;
	/* What is wrong with the object reconcile says, in Ready; or it waits, as for another target that was named a moment ago. A pause is its work, too, and a target that is another's, which it
	 * may not have looked at yet. */
	if (result->err || directives_read(result->so, &directives, NULL) || directives.paused || rivals_refuse(o, result->so, NULL))
		queue_mark(o);
	else if (targets_get(o->control->cache->targets, o->key, &w) != TARGET_UNREAD)
		decide(o, result, &directives);
	if (o->loop.again) {
		o->loop.again = false;
		arm(o, loop_now_ms(o->control->cache->loop) + SLOT_MS);
	}
	if (o->loop.woken)
		look_when_allowed(o);
}

/* --- the start of a poll ------------------------------------------------------------------------------------------------------ */

/* between: no poll is due, a source asked for this look. A source that fails may do so often: its failures must not add up to a fallback before its time. */
static void poll(struct object *o, bool between)
{
	struct cache *cache = o->control->cache;
	int64_t now_ms = loop_now_ms(cache->loop);
	struct survey_terms terms = { .max_age_ms = POLL_MAX_AGE_MS, .deadline_ms = now_ms + o->control->config.query_deadline_ms, .uncounted = between };

	/* Whatever began after the wake-up will do, however long that is ago; what began before will not, however young it is. */
	if (o->loop.woken) {
		terms.max_age_ms = INT64_MAX;
		terms.after = o->loop.woken_after;
	}
	o->loop.woken = false;
	loop_timer_cancel(&o->loop.wake);
	o->loop.looked_at_ms = now_ms;
	o->loop.survey = survey_start(cache, o->key, &terms, on_survey, o);
}

static void note_lateness(struct object *o, int64_t late_ms)
{
	const struct scaledobject *so = o->loop.late_known && o->loop.late_ms == late_ms ? NULL : store_scaledobject(o->control->cache->store, o->key);

	if (!so)
		return;
	o->loop.late_ms = late_ms;
	o->loop.late_known = true;
	counters_set(o->control->loop_latency, (const char *const[]){ so->meta.namespace_, "scaledobject", so->meta.name }, (double)late_ms / 1000);
}

static void on_timer(void *arg)
{
	struct object *o = arg;
	int64_t now_ms = loop_now_ms(o->control->cache->loop);
	int64_t interval_ms = (int64_t)o->loop.interval_s * 1000;

	if (now_ms >= o->loop.due_ms) {
		note_lateness(o, now_ms - o->loop.due_ms);
		/* Start to start; after a stall the missed ones are not made up for. */
		o->loop.due_ms += interval_ms;
		if (o->loop.due_ms <= now_ms)
			o->loop.due_ms = slot_after(now_ms + interval_ms);
	}
	arm(o, o->loop.due_ms);
	if (o->loop.survey)
		o->loop.again = true;
	else
		poll(o, false);
}

void scaleloop_look(struct object *o)
{
	if (!o->loop.running)
		return;
	/* What is being asked may be asked no more; what still is, is joined or in memory. */
	survey_cancel(o->loop.survey);
	o->loop.survey = NULL;
	o->loop.push_settled_until_ms = 0;
	loop_timer_set(&o->loop.timer, 0);
}

/* --- woken by a source -------------------------------------------------------------------------------------------------------- */

/* From look to look, whatever led to the last one: the first wake-up is followed at once, those within the interval together at its end. */
static void look_when_allowed(struct object *o)
{
	int64_t wait_ms = o->loop.looked_at_ms + o->control->config.wake_interval_ms - loop_now_ms(o->control->cache->loop);

	/* Never from within: all who are told in this turn have one mark then, and one query. */
	if (!loop_timer_pending(&o->loop.wake))
		loop_timer_set(&o->loop.wake, wait_ms > 0 ? wait_ms : 0);
}

static void on_wake_allowed(void *arg)
{
	struct object *o = arg;

	if (!o->loop.survey)
		poll(o, true);
}

void scaleloop_wake(struct object *o)
{
	if (!o->loop.running)
		return;
	o->loop.woken = true;
	o->loop.woken_after = readings_mark(o->control->cache->readings);
	/* What is asked for at the moment was asked before: its end leads to another look. */
	if (!o->loop.survey)
		look_when_allowed(o);
}

/* --- life --------------------------------------------------------------------------------------------------------------------- */

/*
 * A new leader that finds the object active counts the cooldown from now: when it was active last, nobody wrote down (design 6). One that only stopped for a while knows better than what is stored.
 */
static int64_t last_active_at_start(const struct object *o, const struct scaledobject *so)
{
	const struct condition *active = conditions_get(&so->status.conditions, "Active");

	if (active && active->status == CONDITION_TRUE)
		return timestamp_now_ms();
	return o->loop.last_active_unix_ms > so->status.last_active_unix_ms ? o->loop.last_active_unix_ms : so->status.last_active_unix_ms;
}

void scaleloop_start(struct object *o, const struct scaledobject *so)
{
	int64_t now_ms = loop_now_ms(o->control->cache->loop);
	int32_t interval_s = scaledobject_polling_interval_s(&so->spec);
	int64_t interval_ms = (int64_t)interval_s * 1000;

	if (o->loop.running && o->loop.interval_s == interval_s)
		return;
	if (!o->loop.running) {
		loop_timer_init(&o->loop.timer, o->control->cache->loop, on_timer, o);
		loop_timer_init(&o->loop.wake, o->control->cache->loop, on_wake_allowed, o);
		pushes_hold(o->control->cache->pushes, o->key);
		o->loop.last_active_unix_ms = last_active_at_start(o, so);
	}
	o->loop.running = true;
	o->loop.interval_s = interval_s;
	o->loop.late_known = false;
	/* The first look at once, the second somewhere within the interval: from there on the phase is random. */
	o->loop.due_ms = slot_after(now_ms + interval_ms / 2 + (int64_t)(fingerprint_random_unit() * (double)interval_ms / 2));
	loop_timer_set(&o->loop.timer, 0);
}

void scaleloop_stop(struct object *o)
{
	if (!o->loop.running)
		return;
	survey_cancel(o->loop.survey);
	o->loop.survey = NULL;
	loop_timer_done(&o->loop.timer);
	loop_timer_done(&o->loop.wake);
	pushes_release(o->control->cache->pushes, o->key);
	free(o->loop.said_push);
	o->loop.said_push = NULL;
	o->loop.push_settled_until_ms = 0;
	o->loop.woken = false;
	o->loop.running = false;
	o->loop.again = false;
	o->loop.was_failing = false;
}
