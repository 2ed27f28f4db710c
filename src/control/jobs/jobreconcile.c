/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ScaledJob, level-triggered as a ScaledObject is (reconcile.c): each look starts the first thing
 * that is missing, whose end leads to the next.
 *
 *   deleted ----------------> KEDA's finalizer is taken off; all stops. The Jobs go with their
 *   owner, by the garbage collector
 *   annotation unreadable --> Ready=False with the reason; the loop stops
 *   paused -----------------> the loop stops; Jobs that run are left alone, and none is deleted;
 *   Ready=True "ScaledJob is paused, skipping reconcile loop"
 *   spec wrong -------------> Ready=False with the reason; the loop stops
 *   KEDA's finalizer -------> taken off: we need none
 *   Jobs are not listed ----> wait, or Ready=False saying why they cannot be. A new leader decides
 *   nothing before it has seen what the one before it made
 *   Jobs of an older spec --> deleted, as spec.rollout says (jobsweeper.c); the history beside it
 *   scalers not built ------> Ready=False with the reason; the loop keeps minReplicaCount; without
 *   one it stops
 *   all there --------------> Ready=True; the loop starts, with a look at once
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "control/objects/work.h"
#include "decide/validate/validate.h"

#define JOBS_STEP    "Cannot get list of Jobs owned by this scaledJob"
#define SCALERS_STEP "Failed to ensure ScaledJob is correctly created"

/* What the object asks for, as far as it can be told now. */
struct job_wish {
	bool waits; /* something is not read or deleted yet: whoever does that leads back here */
	const struct annotations *annotations; /* no more than whether it is paused; NULL: it cannot be read */
	const char *words;                     /* of KEDA's Event about what is wrong, where we say more; NULL */
	const char **metrics;                  /* names; borrowed, the array is owned. NULL: not known */
	size_t metric_count;
};

/* ---- The outcome ---- */

/* The status as it is from now on, and what about it is news. True when it was not Ready before. */
static bool conclude(struct work *work, const struct scaledjob *sj, const struct job_wish *wish, const struct err *err)
{
	struct job_outcome outcome = {
		.err = err,
		.paused_known = wish->annotations != NULL,
		.paused = wish->annotations && wish->annotations->paused,
		.metric_names = err ? NULL : wish->metrics,
		.metric_count = err ? 0 : wish->metric_count,
	};
	struct scaledobject_status *wanted = status_wanted(work, &sj->status);
	bool was_ready = status_says(work, "Ready"), was_paused = status_says(work, "Paused");

	jobconditions_after_reconcile(sj, &outcome, timestamp_now_ms(), wanted);
	return recorder_turn(work, was_ready, was_paused);
}

static void report_failure(struct work *work, const struct scaledjob *sj, const struct job_wish *wish,
	const struct err *err)
{
	conclude(work, sj, wish, err);
	status_write(work);
	recorder_check_failed(work, wish->words, err->msg);
}

static bool conclude_well(struct work *work, const struct scaledjob *sj, const struct job_wish *wish)
{
	write_forgive(work);
	recorder_check_passed(work);
	return conclude(work, sj, wish, NULL);
}

static void stop_loop(struct work *work)
{
	polling_end(work);
	jobmaker_hold(work);
}

static void report_success(struct work *work, const struct scaledjob *sj, const struct job_wish *wish)
{
	bool was_paused = status_wanted(work, &sj->status) && status_says(work, "Paused");

	polling_follow(work, wish->annotations, conclude_well(work, sj, wish), was_paused);
}

/*
 * A spec that cannot be followed stops the loop: nothing is created by a rule nobody can read. What
 * may pass by itself leaves it running.
 */
static void failed(struct work *work, const struct scaledjob *sj, const struct job_wish *wish, const struct err *err)
{
	if (wish->waits)
		return;
	if (err->kind == ERR_INVALID || err->kind == ERR_MISSING)
		stop_loop(work);
	report_failure(work, sj, wish, err);
}

/*
 * The Jobs of minReplicaCount need no trigger: the loop keeps them, also of one whose triggers
 * could never be built.
 */
static void failed_scalers(struct work *work, const struct scaledjob *sj, const struct job_wish *wish,
	const struct err *err)
{
	if (wish->waits || !scaledjob_min(&sj->spec)) {
		failed(work, sj, wish, err);
		return;
	}
	polling_start(work);
	report_failure(work, sj, wish, err);
}

/* True while a write is under way or its failure backs off. */
static bool release(struct work *work, const struct scaledjob *sj, const struct job_wish *wish)
{
	if (!write_must_wait(work))
		return finalise_release(work, "writing the object's finalizers");
	if (write_is_news(work))
		report_failure(work, sj, wish, work->reconcile.write_err);
	return true;
}

/* ---- What the object asks for ---- */

static int wish_jobs(struct work *work, const struct scaledjob *sj, struct job_wish *wish, struct err *err)
{
	const char *trouble;

	if (!jobs_known(work->control->cache->jobs, sj->meta.namespace_, &trouble)) {
		wish->waits = !trouble;
		wish->words = JOBS_STEP;
		return err_set(err, ERR_TEMPORARY, JOBS_STEP ": %s", trouble ? trouble : "not read yet");
	}
	switch (jobsweeper_run(work, sj, err)) {
	case SWEEP_BUSY: wish->waits = true; return err_set(err, ERR_TEMPORARY, "Jobs are being deleted");
	case SWEEP_FAILED:
		if (err->kind == ERR_INVALID || err->kind == ERR_MISSING)
			err->kind = ERR_TEMPORARY; /* of a Job, not of the object */
		return -1;
	case SWEEP_DONE: break;
	}
	return 0;
}

static void wish_metrics(const struct built *built, struct job_wish *wish)
{
	wish->metrics = mem_array(built->count + 1, sizeof(*wish->metrics));
	for (size_t i = 0; i < built->count; i++) {
		if (built->list[i].undescribed) {
			free(wish->metrics);
			wish->metrics = NULL;
			return;
		}
		if (built->list[i].kind == METRIC_EXTERNAL)
			wish->metrics[wish->metric_count++] = built->list[i].metric_name;
	}
}

static int wish_scalers(struct work *work, struct job_wish *wish, struct err *err)
{
	struct built built;

	if (scalers_get(work->control->cache->scalers, work->object, &built, err)) {
		wish->waits = err->kind == ERR_WAITING;
		wish->words = SCALERS_STEP;
		return err_wrap(err, SCALERS_STEP);
	}
	wish_metrics(&built, wish);
	return 0;
}

static void reconcile_scaled(struct work *work, const struct scaledjob *sj, struct job_wish *wish)
{
	struct err err = { 0 };

	if (validate_scaledjob_for_reconcile(sj, &err))
		failed(work, sj, wish, &err);
	else if (release(work, sj, wish))
		return;
	else if (wish_jobs(work, sj, wish, &err))
		failed(work, sj, wish, &err);
	else if (wish_scalers(work, wish, &err))
		failed_scalers(work, sj, wish, &err);
	else
		report_success(work, sj, wish);
}

/* An object that is paused need not be right. */
static void reconcile_paused(struct work *work, const struct scaledjob *sj, const struct job_wish *wish)
{
	stop_loop(work);
	jobsweeper_stop(work);
	if (release(work, sj, wish))
		return;
	conclude_well(work, sj, wish);
	jobloop_paused(work, sj);
	status_write(work);
}

/* ---- The look ---- */

/*
 * Who mends his object does not wait for the back-off that its faults led to, nor for the end of
 * what was decided by what it said before.
 */
static void note_asked(struct work *work, const struct scaledjob *sj, bool paused)
{
	struct reconcile_part *r = &work->reconcile;
	bool same = r->paused == paused && r->seen_generation == sj->meta.generation;

	r->paused = paused;
	r->seen_generation = sj->meta.generation;
	if (same)
		return;
	write_forgive(work);
	work->job->sweep.retry_at_ms = 0;
	jobmaker_drop(work);
}

static void reconcile_living(struct work *work, const struct scaledjob *sj)
{
	struct job_wish wish = { .waits = false };
	struct annotations annotations = { 0 };
	struct err err = { 0 };

	if (annotations_read_paused(&sj->meta.annotations, &annotations.paused, &err)) {
		failed(work, sj, &wish, &err);
		return;
	}
	wish.annotations = &annotations;
	note_asked(work, sj, annotations.paused);
	if (annotations.paused)
		reconcile_paused(work, sj, &wish);
	else
		reconcile_scaled(work, sj, &wish);
	free(wish.metrics);
}

static void reconcile_deleted(struct work *work)
{
	polling_stop(work);
	jobloop_stop(work);
	jobmaker_stop(work);
	jobsweeper_stop(work);
	status_stop(work);
	recorder_gone(work);
	if (!write_must_wait(work))
		finalise_release(work, "releasing the deleted object");
}

void jobreconcile_run(struct work *work)
{
	const struct scaledjob *sj = work->object->of.sj;

	if (sj->meta.deleted_unix_ms)
		reconcile_deleted(work);
	else
		reconcile_living(work, sj);
}
