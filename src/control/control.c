/* SPDX-License-Identifier: Apache-2.0 */
#include "control/control.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/log.h"
#include "base/mem.h"
#include "control/jobs/jobloop.h"
#include "control/jobs/jobmaker.h"
#include "control/jobs/jobparts.h"
#include "control/jobs/jobreconcile.h"
#include "control/jobs/jobsweeper.h"
#include "control/objects/act.h"
#include "control/objects/hpakeeper.h"
#include "control/objects/pause.h"
#include "control/objects/polling.h"
#include "control/objects/queue.h"
#include "control/objects/reconcile.h"
#include "control/objects/recorder.h"
#include "control/objects/rivals.h"
#include "control/objects/scaleloop.h"
#include "control/objects/status.h"
#include "control/objects/work.h"
#include "control/objects/write.h"

/* ---- The kinds ---- */

static void stop_object(struct work *work)
{
	act_stop(work);
	pause_forget(work);
	hpakeeper_stop(work);
}

/*
 * Without its target a reconcile could do nothing; the object is reconciled when it has been read.
 * A paused or deleted object does not need it.
 */
static bool awaits_target(struct work *work)
{
	const struct scaled *of = &work->object->of;
	struct annotations says;

	return !of->meta->deleted_unix_ms && annotations_read(of->so, &says, NULL) == 0 && !says.paused &&
		targets_reads(work->object);
}

static void note_job(struct work *work)
{
	if (!work->object->gone)
		jobs_open(work->control->cache->jobs);
}

static void stop_job(struct work *work)
{
	jobloop_stop(work);
	jobmaker_stop(work);
	jobsweeper_stop(work);
}

static const struct work_kind object_kind = {
	.note = rivals_note,
	.awaits = awaits_target,
	.reconcile = reconcile_run,
	.decide = scaleloop_decide,
	.stop = stop_object,
};

static const struct work_kind job_kind = {
	.note = note_job,
	.reconcile = jobreconcile_run,
	.prepare = jobloop_prepare,
	.unprepare = jobloop_unprepare,
	.decide = jobloop_decide,
	.stop = stop_job,
};

/* ---- Life of struct work ---- */

static struct work *work_get(struct control *c, struct object *o)
{
	struct work *work = o->work;

	if (work)
		return work;
	work = o->work = mem_zalloc(sizeof(*work));
	work->control = c;
	work->object = object_ref(o);
	work->kind = o->kind == SCALED_JOB ? &job_kind : &object_kind;
	if (o->kind == SCALED_JOB)
		work->job = mem_zalloc(sizeof(*work->job));
	work->subject = mem_printf("%s %s", scaled_kind_word(o->kind), o->path);
	write_init(work);
	DL_APPEND(c->all, work);
	return work;
}

static void work_stop(struct work *work)
{
	polling_stop(work);
	work->kind->stop(work);
	status_stop(work);
	write_stop(work);
}

/* The latency goes when polling ends; counters of failures stay until the object is deleted. */
static void drop_counters(struct work *work)
{
	MEM_AUTO char *namespace_ = work_namespace(work);
	const char *name = work_name(work);
	const char *const labels[] = { namespace_, name };
	struct control *c = work->control;

	counters_remove(c->loop_latency,
		(const char *const[]){ namespace_, scaled_kind_word(work->object->kind), name });
	if (!work->object->gone)
		return;
	counters_remove(c->errors[work->object->kind], labels);
	if (work->object->kind != SCALED_JOB)
		return;
	counters_remove(c->jobs_created, labels);
	counters_remove(c->job_failures, labels);
}

static void work_free(struct work *work)
{
	work_stop(work);
	drop_counters(work);
	queue_remove(work);
	write_done(work);
	DL_DELETE(work->control->all, work);
	recorder_done(work);
	free(work->subject);
	free(work->job);
	work->object->work = NULL;
	object_unref(work->object);
	free(work);
}

/* ---- Events ---- */

static void note_object(void *control, struct object *o)
{
	struct work *work = o->gone ? o->work : work_get(control, o);

	if (!work)
		return;
	work->kind->note(work);
	if (work->looked || o->gone || !work->kind->awaits || !work->kind->awaits(work))
		queue_mark(work);
}

/*
 * A status written by others is corrected by status.c alone; the HPA's status is used by the next
 * tick, if the loop runs.
 */
static bool leads_to_look(const struct work *work, unsigned changes)
{
	const unsigned always = OBJECT_SPEC | OBJECT_ANNOTATIONS | OBJECT_META | OBJECT_GONE | OBJECT_HPA |
		OBJECT_TARGET | OBJECT_NEEDS;

	return !work || (changes & always) || ((changes & OBJECT_STATUS) && !work->status.known) ||
		((changes & OBJECT_HPA_STATUS) && !work->loop.running);
}

static void on_object(void *arg, struct object *o, unsigned changes)
{
	struct control *c = arg;

	if (!c->leading)
		return;
	if (leads_to_look(o->work, changes))
		note_object(c, o);
	else if (changes & OBJECT_STATUS)
		status_write(o->work);
}

/*
 * A metric request met one failure too many of a source, or the first success after it: status and
 * Events do not wait for the next poll. A poll under way will see it anyway.
 */
static void on_health(void *arg, struct object *o)
{
	(void)arg;
	if (o->work && !polling_busy(o->work))
		polling_look(o->work);
}

/* key: the object of a Job that was created, changed or deleted; NULL: the Jobs were listed. */
static void on_job(void *arg, const char *key)
{
	struct control *c = arg;
	const struct object *o = key ? store_object(c->cache->store, key) : NULL;
	struct work *work;

	if (!c->leading)
		return;
	if (o && o->work)
		jobloop_note(o->work);
	if (key)
		return;
	DL_FOREACH (c->all, work)
		if (work->job)
			queue_mark(work);
}

/* A source asks for a look now. */
static void on_wake(void *arg, struct object *o)
{
	(void)arg;
	if (o->work)
		polling_wake(o->work);
}

/* ---- The end of the turn: dirty objects are reconciled ---- */

static void take_turn(struct work *work)
{
	struct control *c = work->control;

	if (work->object->gone) {
		log_info(work->subject, "is gone; stopped scaling it");
		recorder_gone(work);
		work_free(work);
		return;
	}
	work->looked = true;
	if (work->write.call)
		return; /* its answer marks the object again */
	counters_add(c->reconciles, (const char *const[]){ scaled_kind_word(work->object->kind) }, 1);
	work->kind->reconcile(work);
}

/*
 * Limits per turn, so that neither a start with thousands of objects nor objects with hundreds of
 * triggers block the loop: the object that exceeds one is the last of its turn.
 */
#define RECONCILES_PER_TURN 64
#define TRIGGERS_PER_TURN   256

/* By then the writes of a flood and their watch events are over. */
#define SETTLE_AFTER_MS 8000

static void on_settle(void *arg)
{
	(void)arg;
	mem_settle();
}

static void on_turn_end(void *arg)
{
	struct control *c = arg;
	size_t triggers = 0;
	struct work *work;

	for (int i = 0; i < RECONCILES_PER_TURN && triggers < TRIGGERS_PER_TURN && c->leading; i++) {
		work = queue_take(c);
		if (!work)
			break;
		triggers += work->object->of.trigger_count;
		take_turn(work);
	}
	/* The rest in another turn: a task would still run in this one. */
	loop_task_cancel(c->cache->loop, &c->turn);
	counters_set(c->queued, NULL, (double)c->dirty_count);
	if (c->dirty_count > 0 && c->leading) {
		loop_timer_set(&c->next_turn, 0);
		loop_timer_set(&c->settle, SETTLE_AFTER_MS);
	}
}

/* ---- Leading ---- */

static void drop_all(struct control *c)
{
	struct work *work, *next;

	DL_FOREACH_SAFE (c->all, work, next)
		work_free(work);
	/*
	 * The next leader's actions are not seen here, so the Jobs are listed again when we lead
	 * again.
	 */
	jobs_close(c->cache->jobs);
}

void control_set_leading(struct control *c, bool leading)
{
	if (c->leading == leading)
		return;
	c->leading = leading;
	health_forget(c->cache->health); /* another process counted before, or will from now on */
	if (leading)
		store_each_object(c->cache->store, note_object, c);
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
		"Delay of the last poll of an object.", latency_labels);
	c->reconciles = counters_declare(cache->counters, COUNTERS_COUNTER, "kscaled_reconciles_total",
		"Reconciliations of objects.", type_labels);
	c->queued = counters_declare(cache->counters, COUNTERS_GAUGE, "kscaled_reconciles_queued",
		"Objects waiting to be reconciled, after the last turn that reconciled any.", no_labels);
	cache_listen(cache, &(struct store_events){ .on_object = on_object }, c);
	health_listen(cache->health, on_health, c);
	pushes_listen(cache->pushes, on_wake, c);
	jobs_listen(cache->jobs, on_job, c);
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
