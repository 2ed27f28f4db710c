/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an object's triggers are asked, of either kind: at each poll all at once, every answer or
 * its deadline awaited; what they say is the kind's to judge (scaleloop.c, jobloop.c). Polls fall
 * into slots of 50 ms, so that objects on one server leave in one write; the phase of each object
 * is random, so that a thousand of them do not tick together.
 */
#include <stdlib.h>

#include "base/fingerprint.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/objects/object.h"

#define SLOT_MS 50
/*
 * A poll wants the present; two triggers of one slot with the same question still share one answer.
 */
#define POLL_MAX_AGE_MS SLOT_MS

/* How long a status waits for a tick that is about to come, which usually has more to say. */
#define TICK_MS 300

static int64_t slot_after(int64_t at_ms)
{
	return (at_ms + SLOT_MS - 1) / SLOT_MS * SLOT_MS;
}

static void arm(struct object *o, int64_t at_ms)
{
	int64_t now_ms = loop_now_ms(o->control->cache->loop);

	loop_timer_set(&o->loop.timer, at_ms > now_ms ? at_ms - now_ms : 0);
}

void polling_arm_sooner(struct object *o, int64_t wait_ms)
{
	int64_t now_ms = loop_now_ms(o->control->cache->loop);

	if (wait_ms < o->loop.due_ms - now_ms)
		arm(o, now_ms + wait_ms);
}

/* ---- The end of a poll ---- */

static void look_when_allowed(struct object *o);

static void on_survey(void *arg, const struct survey_result *result)
{
	struct object *o = arg;

	o->loop.survey = NULL;
	o->kind->decide(o, result);
	if (o->loop.again) {
		o->loop.again = false;
		arm(o, loop_now_ms(o->control->cache->loop) + SLOT_MS);
	}
	if (o->loop.woken)
		look_when_allowed(o);
}

/* ---- What failed in it ---- */

static void say_failed(struct object *o, const struct survey_result *r, const char *what, const struct err *err)
{
	const struct meta *meta = r->of.meta;

	counters_add(o->control->errors[r->of.kind], (const char *const[]){ meta->namespace_, meta->name }, 1);
	announce(o, meta, "Warning", r->composite ? "KEDAMetricSourceFailed" : "KEDAScalerFailed", "%s: %s", what,
		err->msg);
}

/* "trigger 0 (redis)"; the caller owns it. */
static char *trigger_label(const struct survey_result *r, size_t i)
{
	int index = r->scalers[i]->index;

	return mem_printf("trigger %d (%s)", index, r->of.triggers[index].type);
}

/* A formula that fails because of a trigger says nothing that the trigger has not said. */
void polling_say_failures(struct object *o, const struct survey_result *r)
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

/* A fallback stands in for a source that cannot be read; that is none that can be. */
static const struct err *source_trouble(const struct scale_trigger *t)
{
	return t->err ? t->err : t->source_err;
}

void polling_log_failing(struct object *o, const struct survey_result *r, bool failing)
{
	for (size_t i = 0; i < r->count; i++)
		failing = failing || source_trouble(&r->triggers[i]);
	if (failing == o->loop.was_failing)
		return;
	o->loop.was_failing = failing;
	if (!failing) {
		log_info(o->subject, "all triggers can be read again");
		return;
	}
	for (size_t i = 0; i < r->count; i++) {
		const struct err *err = source_trouble(&r->triggers[i]);
		MEM_AUTO char *label = err ? trigger_label(r, i) : NULL;

		if (label)
			log_warn(o->subject, "%s: %s", label, err->msg);
	}
	if (r->composite && r->composite->failing)
		log_warn(o->subject, VERDICT_COMPOSITE_NAME ": %s", r->composite->err.msg);
}

/* ---- The start of a poll ---- */

bool polling_busy(const struct object *o)
{
	return o->loop.survey || o->loop.preparing;
}

/*
 * A source that fails may do so often: its failures between two polls must not add up to a fallback
 * before its time.
 */
static void ask(struct object *o)
{
	struct cache *cache = o->control->cache;
	int64_t now_ms = loop_now_ms(cache->loop);
	struct survey_terms terms = {
		.max_age_ms = POLL_MAX_AGE_MS,
		.deadline_ms = now_ms + o->control->query_deadline_ms,
		.timed = o->loop.timed,
		.uncounted = !o->loop.timed,
	};

	/*
	 * Whatever began after the wake-up will do, however long that is ago; what began before
	 * will not, however young it is.
	 */
	if (o->loop.woken) {
		terms.max_age_ms = INT64_MAX;
		terms.after = o->loop.woken_after;
	}
	o->loop.woken = false;
	loop_timer_cancel(&o->loop.wake);
	o->loop.survey = survey_start(cache, o->key, &terms, on_survey, o);
}

void polling_prepared(struct object *o)
{
	o->loop.preparing = false;
	ask(o);
}

static void poll(struct object *o)
{
	o->loop.timed = o->loop.owed;
	o->loop.owed = false;
	o->loop.looked_at_ms = loop_now_ms(o->control->cache->loop);
	o->loop.preparing = o->kind->prepare && o->kind->prepare(o);
	if (!o->loop.preparing)
		ask(o);
}

/* What is being asked is given up. */
static void abandon(struct object *o)
{
	o->loop.owed |= polling_busy(o) && o->loop.timed;
	if (o->loop.preparing)
		o->kind->unprepare(o);
	o->loop.preparing = false;
	survey_cancel(o->loop.survey);
	o->loop.survey = NULL;
}

static void note_lateness(struct object *o, int64_t late_ms)
{
	struct scaled of;

	if ((o->loop.late_known && o->loop.late_ms == late_ms) || !object_find(o, &of))
		return;
	o->loop.late_ms = late_ms;
	o->loop.late_known = true;
	counters_set(o->control->loop_latency,
		(const char *const[]){ of.meta->namespace_, scaled_kind_word(of.kind), of.meta->name },
		(double)late_ms / 1000);
}

static void on_timer(void *arg)
{
	struct object *o = arg;
	int64_t now_ms = loop_now_ms(o->control->cache->loop);
	int64_t interval_ms = (int64_t)o->loop.interval_s * 1000;

	if (now_ms >= o->loop.due_ms) {
		note_lateness(o, now_ms - o->loop.due_ms);
		o->loop.owed = true;
		/* Start to start; after a stall the missed ones are not made up for. */
		o->loop.due_ms += interval_ms;
		if (o->loop.due_ms <= now_ms)
			o->loop.due_ms = slot_after(now_ms + interval_ms);
	}
	arm(o, o->loop.due_ms);
	if (polling_busy(o))
		o->loop.again = true;
	else
		poll(o);
}

void polling_look(struct object *o)
{
	if (!o->loop.running)
		return;
	/* What is being asked may be asked no more; what still is, is joined or in memory. */
	abandon(o);
	o->loop.push_settled_until_ms = 0;
	loop_timer_set(&o->loop.timer, 0);
}

/* ---- Woken by a source ---- */

/*
 * From look to look, whatever led to the last one: the first wake-up is followed at once, those
 * within the interval together at its end.
 */
static void look_when_allowed(struct object *o)
{
	int64_t wait_ms = o->loop.looked_at_ms + o->control->wake_interval_ms - loop_now_ms(o->control->cache->loop);

	/* Never from within: all who are told in this turn have one mark then, and one query. */
	if (!loop_timer_pending(&o->loop.wake))
		loop_timer_set(&o->loop.wake, wait_ms > 0 ? wait_ms : 0);
}

static void on_wake_allowed(void *arg)
{
	struct object *o = arg;

	if (!polling_busy(o))
		poll(o);
}

void polling_wake(struct object *o)
{
	if (!o->loop.running)
		return;
	o->loop.woken = true;
	o->loop.woken_after = readings_mark(o->control->cache->readings);
	/* What is asked for at the moment was asked before: its end leads to another look. */
	if (!polling_busy(o))
		look_when_allowed(o);
}

/* ---- Life ---- */

/*
 * A new leader that finds the object active counts the cooldown from now: when it was active last,
 * nobody wrote down (design 6). One that only stopped for a while knows better than what is stored.
 */
static int64_t last_active_at_start(const struct object *o, const struct scaledobject_status *stored)
{
	const struct condition *active = conditions_get(&stored->conditions, "Active");

	if (active && active->status == CONDITION_TRUE)
		return timestamp_now_ms();
	return o->loop.last_active_unix_ms > stored->last_active_unix_ms ? o->loop.last_active_unix_ms
									 : stored->last_active_unix_ms;
}

void polling_start(struct object *o, const struct scaled *of)
{
	int64_t now_ms = loop_now_ms(o->control->cache->loop);
	int64_t interval_ms = (int64_t)of->polling_interval_s * 1000;

	if (o->loop.running && o->loop.interval_s == of->polling_interval_s)
		return;
	if (!o->loop.running) {
		loop_timer_init(&o->loop.timer, o->control->cache->loop, on_timer, o);
		loop_timer_init(&o->loop.wake, o->control->cache->loop, on_wake_allowed, o);
		pushes_hold(o->control->cache->pushes, o->key);
		o->loop.last_active_unix_ms = last_active_at_start(o, of->status);
	}
	o->loop.running = true;
	o->loop.interval_s = of->polling_interval_s;
	o->loop.late_known = false;
	o->loop.owed = true;
	/*
	 * The first look at once, the second somewhere within the interval: from there on the phase
	 * is random.
	 */
	o->loop.due_ms = slot_after(
		now_ms + interval_ms / 2 + (int64_t)(fingerprint_random_unit() * (double)interval_ms / 2));
	loop_timer_set(&o->loop.timer, 0);
}

void polling_stop(struct object *o)
{
	if (!o->loop.running)
		return;
	abandon(o);
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

void polling_follow(struct object *o, const struct scaled *of, bool became_ready, bool was_paused, bool news)
{
	bool first = !o->loop.running;

	if (first && (became_ready || was_paused))
		announce_started(o, of);
	polling_start(o, of);
	if (became_ready || first || news) {
		o->loop.owed = true;
		polling_look(o);
		status_write_within(o, TICK_MS);
	} else {
		status_write(o);
	}
}

void polling_end(struct object *o, const struct meta *meta)
{
	if (o->loop.running)
		announce(o, meta, "Normal", "KEDAScalersStopped", "Stopped scalers watch");
	polling_stop(o);
}
