/* SPDX-License-Identifier: Apache-2.0 */
#include "control/objects/control.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "control/objects/object.h"

/* ---- What differs between the kinds ---- */

static void note_object(struct object *o, const struct scaled *of)
{
	rivals_note(o, of ? of->so : NULL);
}

static void stop_object(struct object *o)
{
	act_stop(o);
	pause_forget(o);
	reconcile_stop(o);
}

/*
 * A look that finds its target unread could do nothing; the end of reading leads back here. Paused
 * or deleted it needs none.
 */
static bool awaits_target(struct object *o, const struct scaled *of)
{
	struct directives says;

	return !of->meta->deleted_unix_ms && directives_read(of->so, &says, NULL) == 0 && !says.paused &&
		targets_reads(o->control->cache->targets, o->key);
}

static void note_job(struct object *o, const struct scaled *of)
{
	if (of)
		jobs_open(o->control->cache->jobs);
}

static void stop_job(struct object *o)
{
	jobloop_stop(o);
	jobmaker_stop(o);
	jobsweeper_stop(o);
}

static const struct object_kind object_kind = {
	.of = SCALED_OBJECT,
	.note = note_object,
	.awaits = awaits_target,
	.reconcile = reconcile_run,
	.decide = scaleloop_decide,
	.stop = stop_object,
	.learn = store_learn_scaledobject,
};

static const struct object_kind job_kind = {
	.of = SCALED_JOB,
	.note = note_job,
	.reconcile = jobreconcile_run,
	.prepare = jobloop_prepare,
	.unprepare = jobloop_unprepare,
	.decide = jobloop_decide,
	.stop = stop_job,
	.learn = store_learn_scaledjob,
};

static const struct object_kind *kind_of(const char *key)
{
	return store_key_kind(key) == SCALED_JOB ? &job_kind : &object_kind;
}

/* ---- An object's life ---- */

static void on_reconcile_again(void *arg)
{
	queue_mark(arg);
}

static struct object *object_get(struct control *c, const char *key)
{
	struct object *o = object_known(c, key);

	if (o)
		return o;
	o = mem_zalloc(sizeof(*o));
	o->control = c;
	o->kind = kind_of(key);
	if (o->kind->of == SCALED_JOB)
		o->job = mem_zalloc(sizeof(*o->job));
	o->key = mem_dup(key);
	o->name = store_key_path(o->key);
	o->subject = mem_printf("%s %s", scaled_kind_word(o->kind->of), o->name);
	loop_timer_init(&o->reconcile.again, c->cache->loop, on_reconcile_again, o);
	HASH_ADD_KEYPTR(hh, c->objects, o->key, strlen(o->key), o);
	return o;
}

static void object_stop(struct object *o)
{
	polling_stop(o);
	o->kind->stop(o);
	status_stop(o);
	write_stop(o);
}

/*
 * How late its polls were: one who does not poll has nothing to say about it. What failed is kept
 * until the object is gone.
 */
static void drop_counters(struct object *o)
{
	MEM_AUTO char *namespace_ = mem_dupn(o->name, strcspn(o->name, "/"));
	const char *name = o->name + strlen(namespace_) + 1;
	const char *const labels[] = { namespace_, name };
	struct control *c = o->control;
	struct scaled of;

	counters_remove(c->loop_latency, (const char *const[]){ namespace_, scaled_kind_word(o->kind->of), name });
	if (object_find(o, &of))
		return;
	counters_remove(c->errors[o->kind->of], labels);
	if (o->kind->of != SCALED_JOB)
		return;
	counters_remove(c->jobs_created, labels);
	counters_remove(c->job_failures, labels);
}

static void object_free(struct object *o)
{
	object_stop(o);
	drop_counters(o);
	o->kind->note(o, NULL);
	queue_remove(o);
	loop_timer_done(&o->reconcile.again);
	HASH_DELETE(hh, o->control->objects, o);
	err_keep(&o->reconcile.write_err, NULL);
	free(o->reconcile.said_error);
	free(o->reconcile.said_rival);
	free(o->uid);
	free(o->key);
	free(o->subject);
	free(o->job);
	free(o);
}

/* ---- What changed outside ---- */

static void on_change(struct control *c, const char *key)
{
	struct scaled of;
	bool known = store_scaled(c->cache->store, key, &of);
	struct object *o = known ? object_get(c, key) : object_known(c, key);

	if (!o)
		return;
	o->kind->note(o, known ? &of : NULL);
	if (o->uid || !known || !o->kind->awaits || !o->kind->awaits(o, &of))
		queue_mark(o);
}

/*
 * A status that others wrote is put right by status.c alone; what the HPA says goes into the next
 * tick, while there is one.
 */
static bool leads_to_look(const struct object *o, unsigned changes)
{
	const unsigned always = STORE_SPEC | STORE_ANNOTATIONS | STORE_META | STORE_GONE | STORE_HPA;

	return !o || (changes & always) || ((changes & STORE_STATUS) && !o->status.known) ||
		((changes & STORE_HPA_STATUS) && !o->loop.running);
}

static void on_store_change(void *arg, unsigned changes, const char *key)
{
	struct control *c = arg;
	struct object *o;

	if (!c->leading || !(changes & (STORE_OBJECT | STORE_HPA | STORE_HPA_STATUS)))
		return;
	o = object_known(c, key);
	if (leads_to_look(o, changes))
		on_change(c, key);
	else if (changes & STORE_STATUS)
		status_write(o);
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
 * A metric request was one failure too many for a source, or the first success again: the status
 * and the Events need not wait for the next poll. What a poll under way counts it concludes from by
 * itself.
 */
static void on_health(void *arg, const char *key)
{
	struct object *o = object_known(arg, key);

	if (o && !polling_busy(o))
		polling_look(o);
}

/* A Job came, changed or went; or (NULL) it is known now which there are. */
static void on_job(void *arg, const char *key)
{
	struct control *c = arg;
	struct object *o, *next;

	if (!c->leading)
		return;
	if (key) {
		o = object_known(c, key);
		if (o)
			jobloop_note(o);
		return;
	}
	HASH_ITER (hh, c->objects, o, next)
		if (o->kind->of == SCALED_JOB)
			queue_mark(o);
}

/* A source says "look now". */
static void on_wake(void *arg, const char *key)
{
	struct object *o = object_known(arg, key);

	if (o)
		polling_wake(o);
}

/* ---- The turn's end: reconcile what is dirty ---- */

static void object_turn(struct object *o)
{
	struct control *c = o->control;
	struct scaled of;

	if (!object_find(o, &of)) {
		log_info(o->subject, "is gone; stopped scaling it");
		announce_gone(o);
		object_free(o);
		return;
	}
	/* Deleted and made anew under the same name: nothing we remember is about this one. */
	if (o->uid && strcmp(o->uid, of.meta->uid) != 0) {
		char *key = mem_dup(o->key);

		object_free(o);
		o = object_get(c, key);
		free(key);
		o->kind->note(o, &of);
	}
	if (!o->uid)
		o->uid = mem_dup(of.meta->uid);
	if (o->reconcile.call)
		return; /* its answer leads back here */
	counters_add(c->reconciles, (const char *const[]){ scaled_kind_word(o->kind->of) }, 1);
	o->kind->reconcile(o);
}

/*
 * Objects per turn, so that a start with thousands of them leaves the loop free for others in
 * between.
 */
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

/* ---- Leading ---- */

static void take_up(void *arg, const char *key, const struct scaled *of)
{
	(void)of;
	on_change(arg, key);
}

static void drop_all(struct control *c)
{
	struct object *o, *next;

	HASH_ITER (hh, c->objects, o, next)
		object_free(o);
	/* What the next leader does nobody tells us; we list anew when it is our turn again. */
	jobs_close(c->cache->jobs);
}

void control_set_leading(struct control *c, bool leading)
{
	if (c->leading == leading)
		return;
	c->leading = leading;
	health_forget(c->cache->health); /* meanwhile another one counted, or does from now on */
	if (leading)
		store_each_scaled(c->cache->store, take_up, c);
	else
		drop_all(c);
}

struct control *control_new(struct cache *cache, struct kube *kube, struct events *events,
	const struct control_config *config)
{
	static const char *const object_labels[] = { "namespace", "scaledObject", NULL };
	static const char *const job_labels[] = { "namespace", "scaledJob", NULL };
	static const char *const result_labels[] = { "result", NULL };
	static const char *const type_labels[] = { "type", NULL };
	static const char *const no_labels[] = { NULL };
	static const char *const latency_labels[] = { "namespace", "type", "resource", NULL };
	struct control *c = mem_zalloc(sizeof(*c));

	c->cache = cache;
	c->kube = kube;
	c->events = events;
	c->query_deadline_ms = config->query_deadline_ms;
	c->wake_interval_ms = config->wake_interval_ms;
	c->version = config->version;
	loop_task_init(&c->turn, on_turn_end, c);
	loop_timer_init(&c->next_turn, cache->loop, on_turn_end, c);
	loop_timer_init(&c->settle, cache->loop, on_settle, c);
	c->errors[SCALED_OBJECT] = counters_declare(cache->counters, COUNTERS_COUNTER,
		"keda_scaled_object_errors_total", "Failed readings of the triggers of a ScaledObject.", object_labels);
	c->errors[SCALED_JOB] = counters_declare(cache->counters, COUNTERS_COUNTER, "keda_scaled_job_errors_total",
		"Failed readings of the triggers of a ScaledJob.", job_labels);
	c->jobs_created = counters_declare(cache->counters, COUNTERS_COUNTER, "kscaled_jobs_created_total",
		"Jobs created for a ScaledJob.", job_labels);
	c->job_failures = counters_declare(cache->counters, COUNTERS_COUNTER, "kscaled_job_create_failures_total",
		"Jobs of a ScaledJob that the API server refused.", job_labels);
	c->scalings = counters_declare(cache->counters, COUNTERS_COUNTER, "kscaled_scale_writes_total",
		"Writes of /scale, by result.", result_labels);
	c->loop_latency = counters_declare(cache->counters, COUNTERS_GAUGE, "keda_internal_scale_loop_latency_seconds",
		"How late the last poll of an object began.", latency_labels);
	c->reconciles = counters_declare(cache->counters, COUNTERS_COUNTER, "kscaled_reconciles_total",
		"Looks at what an object says and what is there.", type_labels);
	c->queued = counters_declare(cache->counters, COUNTERS_GAUGE, "kscaled_reconciles_queued",
		"Objects that wait to be looked at, at the end of the last turn that looked at some.", no_labels);
	store_listen(cache->store, on_store_change, c);
	targets_listen(cache->targets, on_target_change, c);
	scalers_listen(cache->scalers, on_scalers_change, c);
	health_listen(cache->health, on_health, c);
	pushes_listen(cache->pushes, on_wake, c);
	jobs_listen(cache->jobs, on_job, c);
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
	jobs_listen(c->cache->jobs, NULL, NULL);
	drop_all(c);
	loop_task_cancel(c->cache->loop, &c->turn);
	loop_timer_done(&c->next_turn);
	loop_timer_done(&c->settle);
	free(c);
}
