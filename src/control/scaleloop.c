/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scale loop of one object: at each poll it asks all triggers at once, waits for every answer or its deadline, lets decide/scale decide, and acts. Polls fall into slots of 50 ms, so that
 * objects on one server leave in one write; the phase of each object is random, so that a thousand of them do not tick together.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/object.h"

#define SLOT_MS 50
/* A poll wants the present; two triggers of one slot with the same question still share one answer. */
#define POLL_MAX_AGE_MS SLOT_MS

/* One trigger of the poll under way. */
struct poll_slot {
	struct object *object;
	struct question *question; /* counted */
	struct readings_wait *wait;
	double value;
	struct err *err; /* owned; NULL: value is good */
};

static void poll(struct object *o);

static int64_t slot_after(int64_t at_ms)
{
	return (at_ms + SLOT_MS - 1) / SLOT_MS * SLOT_MS;
}

static void arm(struct object *o, int64_t at_ms)
{
	int64_t now_ms = loop_now_ms(o->control->cache->loop);

	loop_timer_set(&o->loop.timer, at_ms > now_ms ? at_ms - now_ms : 0);
}

static void slots_free(struct object *o)
{
	for (size_t i = 0; i < o->loop.slot_count; i++) {
		readings_cancel(o->loop.slots[i].wait);
		question_unref(o->loop.slots[i].question);
		free(o->loop.slots[i].err);
	}
	free(o->loop.slots);
	o->loop.slots = NULL;
	o->loop.slot_count = 0;
	o->loop.awaited = 0;
	o->loop.polling = false;
}

/* --- the end of a poll: decide and act ---------------------------------------------------------------------------------------- */

static void count_errors(struct object *o, const struct scaledobject *so, const struct scale_trigger *triggers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!triggers[i].err)
			continue;
		counters_add(o->control->scale_errors, (const char *const[]){ so->meta.namespace_, so->meta.name }, 1);
		announce(o, so, "Warning", "KEDAScalerFailed", "trigger %zu (%s): %s", i, so->spec.triggers[i].type, triggers[i].err->msg);
	}
}

/* One log line when readings start to fail and one when they are good again, not one per poll. */
static void log_failing(struct object *o, const struct scale_trigger *triggers, size_t count, const struct scale_decision *d)
{
	if (d->failing == o->loop.was_failing)
		return;
	o->loop.was_failing = d->failing;
	if (!d->failing) {
		log_info(o->subject, "all triggers can be read again");
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (triggers[i].err)
			log_warn(o->subject, "trigger %zu: %s", i, triggers[i].err->msg);
}

static const struct hpa *hpa_of(const struct object *o, const struct scaledobject *so)
{
	char name[254], key[STORE_KEY_MAX];

	return store_hpa(o->control->cache->store, store_key(so->meta.namespace_, scaledobject_hpa_name(so, name, sizeof(name)), key));
}

static void conclude(struct object *o, const struct scaledobject *so, const struct scale_trigger *triggers, size_t count)
{
	struct cache *cache = o->control->cache;
	const struct workload *w;
	enum target_state target;
	struct scale_facts facts = {
		.spec = &so->spec,
		.created_unix_ms = so->meta.created_unix_ms,
		.now_unix_ms = timestamp_now_ms(),
		.triggers = triggers,
		.trigger_count = count,
		.last_active_unix_ms = o->loop.last_active_unix_ms,
	};
	struct scale_decision d;

	target = targets_get(cache->targets, o->key, &w);
	if (target == TARGET_UNREAD)
		return; /* another target was named a moment ago */
	facts.replicas_known = target == TARGET_PRESENT;
	facts.replicas = facts.replicas_known ? w->replicas : 0;
	d = scale_decide(&facts);
	o->loop.last_active_unix_ms = d.last_active_unix_ms;
	if (log_enabled(LOG_LEVEL_DEBUG)) {
		char text[512];

		log_debug(o->subject, "%s", scale_explain(&facts, &d, text, sizeof(text)));
	}
	count_errors(o, so, triggers, count);
	log_failing(o, triggers, count, &d);
	if (d.act)
		act_scale(o, so, &facts, &d, scaleloop_look);
	conditions_after_tick(so, &facts, &d, hpa_of(o, so), facts.now_unix_ms, status_wanted(o, so));
	status_write(o, so);
	/* The end of a cooldown is not left to the next poll. */
	if (d.until_unix_ms > facts.now_unix_ms && d.until_unix_ms - facts.now_unix_ms < o->loop.due_ms - loop_now_ms(cache->loop))
		arm(o, loop_now_ms(cache->loop) + d.until_unix_ms - facts.now_unix_ms + 1);
}

/* Whether the answers are to what would be asked now. */
static bool same_questions(const struct object *o, const struct built *built)
{
	if (built->count != o->loop.slot_count)
		return false;
	for (size_t i = 0; i < built->count; i++)
		if (strcmp(built->list[i].question->key, o->loop.slots[i].question->key) != 0)
			return false;
	return true;
}

static void finish(struct object *o)
{
	struct cache *cache = o->control->cache;
	const struct scaledobject *so = store_scaledobject(cache->store, o->key);
	size_t count = o->loop.slot_count;
	struct scale_trigger *triggers = mem_array(count + 1, sizeof(*triggers));
	struct built built;
	bool usable = so && scalers_get(cache->scalers, o->key, &built, NULL) == 0 && same_questions(o, &built);

	/* When the object changed under the poll, its answers are to questions nobody asks any more: look anew. */
	for (size_t i = 0; usable && i < count; i++) {
		triggers[i].metric_name = built.list[i].metric_name;
		triggers[i].err = o->loop.slots[i].err;
		if (!triggers[i].err)
			triggers[i].reading = scaler_judge(&built.list[i], o->loop.slots[i].value);
	}
	if (usable)
		conclude(o, so, triggers, count);
	free(triggers);
	slots_free(o);
	if (o->loop.again || !usable) {
		o->loop.again = false;
		arm(o, loop_now_ms(cache->loop) + SLOT_MS);
	}
}

static void on_reading(void *arg, const struct answer *answer, const struct err *err)
{
	struct poll_slot *slot = arg;
	struct object *o = slot->object;

	slot->wait = NULL;
	if (err) {
		slot->err = mem_alloc(sizeof(*err));
		*slot->err = *err;
	} else {
		slot->value = answer->value;
	}
	if (--o->loop.awaited == 0)
		finish(o);
}

/* --- the start of a poll ------------------------------------------------------------------------------------------------------ */

static void poll(struct object *o)
{
	struct cache *cache = o->control->cache;
	int64_t deadline_ms = loop_now_ms(cache->loop) + o->control->config.query_deadline_ms;
	struct built built;
	struct err err = { 0 };

	if (scalers_get(cache->scalers, o->key, &built, &err)) {
		queue_mark(o); /* it says in Ready what is wrong, or waits */
		return;
	}
	log_debug(o->subject, "polling %zu triggers", built.count);
	o->loop.polling = true;
	o->loop.slot_count = built.count;
	o->loop.awaited = built.count;
	o->loop.slots = mem_array(built.count, sizeof(*o->loop.slots));
	for (size_t i = 0; i < built.count; i++) {
		o->loop.slots[i].object = o;
		o->loop.slots[i].question = question_ref(built.list[i].question);
		o->loop.slots[i].wait = readings_ask(cache->readings, built.list[i].question, POLL_MAX_AGE_MS, deadline_ms, on_reading, &o->loop.slots[i]);
	}
}

static void note_lateness(struct object *o, int64_t late_ms)
{
	const struct scaledobject *so = store_scaledobject(o->control->cache->store, o->key);

	if (so)
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
	if (o->loop.polling)
		o->loop.again = true;
	else
		poll(o);
}

void scaleloop_look(struct object *o)
{
	if (!o->loop.running)
		return;
	if (o->loop.polling)
		o->loop.again = true;
	else
		loop_timer_set(&o->loop.timer, 0);
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
		o->loop.last_active_unix_ms = last_active_at_start(o, so);
	}
	o->loop.running = true;
	o->loop.interval_s = interval_s;
	/* The first look at once, the second somewhere within the interval: from there on the phase is random. */
	o->loop.due_ms = slot_after(now_ms + interval_ms / 2 + (int64_t)(fingerprint_random_unit() * (double)interval_ms / 2));
	loop_timer_set(&o->loop.timer, 0);
}

void scaleloop_stop(struct object *o)
{
	if (!o->loop.running)
		return;
	slots_free(o);
	loop_timer_done(&o->loop.timer);
	o->loop.running = false;
	o->loop.again = false;
	o->loop.was_failing = false;
}
