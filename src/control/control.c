/* SPDX-License-Identifier: Apache-2.0 */
#include "control/control.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "control/object.h"

static struct object *object_find(struct control *c, const char *key)
{
	struct object *o;

	HASH_FIND_STR(c->objects, key, o);
	return o;
}

static void on_reconcile_again(void *arg)
{
	queue_mark(arg);
}

static struct object *object_get(struct control *c, const char *key)
{
	struct object *o = object_find(c, key);

	if (o)
		return o;
	o = mem_zalloc(sizeof(*o));
	o->control = c;
	o->subject = mem_printf("scaledobject %s", key);
	o->key = o->subject + strlen(o->subject) - strlen(key);
	loop_timer_init(&o->reconcile.again, c->cache->loop, on_reconcile_again, o);
	HASH_ADD_KEYPTR(hh, c->objects, o->key, strlen(o->key), o);
	return o;
}

static void object_stop(struct object *o)
{
	scaleloop_stop(o);
	act_stop(o);
	status_stop(o);
	reconcile_stop(o);
}

/* How late its polls were: one who does not poll has nothing to say about it. What failed is kept until the object is gone. */
static void drop_counters(struct object *o)
{
	MEM_AUTO char *namespace_ = mem_dupn(o->key, strcspn(o->key, "/"));
	const char *name = o->key + strlen(namespace_) + 1;

	counters_remove(o->control->loop_latency, (const char *const[]){ namespace_, "scaledobject", name });
	if (!store_scaledobject(o->control->cache->store, o->key))
		counters_remove(o->control->scale_errors, (const char *const[]){ namespace_, name });
}

static void object_free(struct object *o)
{
	object_stop(o);
	drop_counters(o);
	rivals_note(o, NULL);
	queue_remove(o);
	loop_timer_done(&o->reconcile.again);
	pause_forget(o);
	HASH_DELETE(hh, o->control->objects, o);
	err_keep(&o->reconcile.write_err, NULL);
	free(o->reconcile.said_error);
	free(o->uid);
	free(o->subject);
	free(o);
}

/* --- what changed outside ----------------------------------------------------------------------------------------------------- */

static void on_change(struct control *c, const char *key)
{
	const struct scaledobject *so = store_scaledobject(c->cache->store, key);
	struct object *o = so ? object_get(c, key) : object_find(c, key);

	if (!o)
		return;
	rivals_note(o, so);
	queue_mark(o);
}

static void on_store_change(void *arg, enum store_change change, const char *key)
{
	struct control *c = arg;

	if (c->leading && (change == STORE_SCALEDOBJECT || change == STORE_HPA))
		on_change(c, key);
}

/* A credential is another, or what was waited for is there. */
static void on_scalers_change(void *arg, const char *key)
{
	struct control *c = arg;

	if (c->leading)
		on_change(c, key);
}

static void on_target_change(void *arg, const char *key)
{
	struct control *c = arg;

	if (c->leading)
		on_change(c, key);
}

/*
 * A metric request was one failure too many for a source, or the first success again: the status and the Events need not wait for the next poll. What a poll under way counts it concludes from by itself.
 */
static void on_health(void *arg, const char *key)
{
	struct object *o = object_find(arg, key);

	if (o && !o->loop.survey)
		scaleloop_look(o);
}

/* A source says "look now". */
static void on_wake(void *arg, const char *key)
{
	struct object *o = object_find(arg, key);

	if (o)
		scaleloop_wake(o);
}

/* --- the turn's end: reconcile what is dirty ---------------------------------------------------------------------------------- */

static void object_turn(struct object *o)
{
	struct control *c = o->control;
	const struct scaledobject *so = store_scaledobject(c->cache->store, o->key);

	if (!so) {
		log_info(o->subject, "is gone; stopped scaling it");
		announce_gone(o);
		object_free(o);
		return;
	}
	/* Deleted and made anew under the same name: nothing we remember is about this one. */
	if (o->uid && strcmp(o->uid, so->meta.uid) != 0) {
		char *key = mem_dup(o->key);

		object_free(o);
		o = object_get(c, key);
		free(key);
		rivals_note(o, so);
	}
	if (!o->uid)
		o->uid = mem_dup(so->meta.uid);
	reconcile_run(o);
}

/* Objects per turn, so that a start with thousands of them leaves the loop free for others in between. */
#define RECONCILES_PER_TURN 64

/* By then the writes of a flood are answered, and what the watches bring because of them. */
#define SETTLE_AFTER_MS 8000

static void on_settle(void *arg)
{
	(void)arg;
	mem_settle();
}

static void on_turn_end(void *arg)
{
	struct control *c = arg;

	for (int i = 0; i < RECONCILES_PER_TURN && c->dirty && c->leading; i++) {
		struct object *o = c->dirty;

		queue_remove(o);
		object_turn(o);
	}
	/* Not as work put off: that would still be this turn. */
	loop_task_cancel(c->cache->loop, &c->turn);
	counters_set(c->queued, NULL, (double)c->dirty_count);
	if (c->dirty && c->leading) {
		loop_timer_set(&c->next_turn, 0);
		loop_timer_set(&c->settle, SETTLE_AFTER_MS);
	}
}

/* --- leading ------------------------------------------------------------------------------------------------------------------ */

static void take_up(void *arg, const char *key, const struct scaledobject *so)
{
	struct object *o = object_get(arg, key);

	rivals_note(o, so);
	queue_mark(o);
}

static void drop_all(struct control *c)
{
	struct object *o, *next;

	HASH_ITER(hh, c->objects, o, next)
		object_free(o);
}

void control_set_leading(struct control *c, bool leading)
{
	if (c->leading == leading)
		return;
	c->leading = leading;
	health_forget(c->cache->health); /* meanwhile another one counted, or does from now on */
	if (leading)
		store_each_scaledobject(c->cache->store, take_up, c);
	else
		drop_all(c);
}

struct control *control_new(struct cache *cache, struct kube *kube, struct events *events, const struct control_config *config)
{
	static const char *const object_labels[] = { "namespace", "scaledObject", NULL };
	static const char *const result_labels[] = { "result", NULL };
	static const char *const no_labels[] = { NULL };
	static const char *const latency_labels[] = { "namespace", "type", "resource", NULL };
	struct control *c = mem_zalloc(sizeof(*c));

	c->cache = cache;
	c->kube = kube;
	c->events = events;
	c->config = *config;
	loop_task_init(&c->turn, on_turn_end, c);
	loop_timer_init(&c->next_turn, cache->loop, on_turn_end, c);
	loop_timer_init(&c->settle, cache->loop, on_settle, c);
	c->scale_errors = counters_declare(cache->counters, COUNTERS_COUNTER, "keda_scaled_object_errors_total", "Failed readings of the triggers of a ScaledObject.", object_labels);
	c->scalings = counters_declare(cache->counters, COUNTERS_COUNTER, "kscaled_scale_writes_total", "Writes of /scale, by result.", result_labels);
	c->loop_latency = counters_declare(cache->counters, COUNTERS_GAUGE, "keda_internal_scale_loop_latency_seconds", "How late the last poll of an object began.", latency_labels);
	c->queued = counters_declare(cache->counters, COUNTERS_GAUGE, "kscaled_reconciles_queued", "ScaledObjects that wait to be looked at, at the end of the last turn that looked at some.", no_labels);
	store_listen(cache->store, on_store_change, c);
	targets_listen(cache->targets, on_target_change, c);
	scalers_listen(cache->scalers, on_scalers_change, c);
	health_listen(cache->health, on_health, c);
	pushes_listen(cache->pushes, on_wake, c);
	targetref_listen(cache->targetref, on_target_change, c);
	return c;
}

void control_free(struct control *c)
{
	if (!c)
		return;
	c->leading = false;
	health_listen(c->cache->health, NULL, NULL);
	pushes_listen(c->cache->pushes, NULL, NULL);
	drop_all(c);
	loop_task_cancel(c->cache->loop, &c->turn);
	loop_timer_done(&c->next_turn);
	loop_timer_done(&c->settle);
	free(c);
}
