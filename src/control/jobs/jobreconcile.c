/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reconciles a ScaledJob, level-triggered like a ScaledObject (reconcile.c): each reconcile starts
 * the first thing that is missing, whose end leads to the next reconcile.
 *
 *   deleted ----------------> KEDA's finalizer is removed; everything stops. The garbage collector
 *   deletes the Jobs with their owner
 *   annotation unreadable --> Ready=False with the reason; the loop stops
 *   paused -----------------> the loop stops; Jobs that run are left alone, and none is deleted;
 *   Ready=True "ScaledJob is paused, skipping reconcile loop"
 *   spec wrong -------------> Ready=False with the reason; the loop stops
 *   KEDA's finalizer -------> removed: we need none
 *   Jobs are not listed ----> wait, or Ready=False with the reason. A new leader decides nothing
 *   before it has seen the Jobs of the previous one
 *   Jobs of an older spec --> deleted by spec.rollout (jobsweeper.c), together with the history
 *   scalers not built ------> Ready=False with the reason; the loop keeps minReplicaCount, or stops
 *   without one
 *   all there --------------> Ready=True; the loop starts, with a look at once
 */
#include "control/jobs/jobreconcile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "control/jobs/jobloop.h"
#include "control/jobs/jobmaker.h"
#include "control/jobs/jobsweeper.h"
#include "control/objects/finalise.h"
#include "control/objects/polling.h"
#include "control/objects/recorder.h"
#include "control/objects/status.h"
#include "control/objects/work.h"
#include "control/objects/write.h"
#include "decide/jobs/jobconditions.h"
#include "decide/jobs/jobs.h"
#include "decide/validate/validate.h"

#define JOBS_STEP    "Cannot get list of Jobs owned by this scaledJob"
#define SCALERS_STEP "Failed to ensure ScaledJob is correctly created"

/* The wanted state, as far as it is known. */
struct desired_job {
	bool waits; /* something is not read or deleted yet; the object is reconciled when it is */
	const struct annotations *annotations; /* only whether it is paused; NULL: unreadable */
	const char *words;                     /* of KEDA's Event about the error, if ours says more; NULL */
	const char **metrics;                  /* names; borrowed, the array is owned. NULL: not known */
	size_t metric_count;
};

/* ---- The outcome ---- */

/* Updates the wanted status, with Events for what changed. True when it became Ready. */
static bool conclude(struct work *work, const struct scaledjob *sj, const struct desired_job *desired,
	const struct err *err)
{
	struct job_outcome outcome = {
		.err = err,
		.paused_known = desired->annotations != NULL,
		.paused = desired->annotations && desired->annotations->paused,
		.metric_names = err ? NULL : desired->metrics,
		.metric_count = err ? 0 : desired->metric_count,
	};
	struct scaledobject_status *wanted = status_wanted(work, &sj->status);
	bool was_ready = work_says(work, "Ready"), was_paused = work_says(work, "Paused");

	jobconditions_after_reconcile(sj, &outcome, timestamp_now_ms(), wanted);
	return recorder_turn(work, was_ready, was_paused);
}

static void report_failure(struct work *work, const struct scaledjob *sj, const struct desired_job *desired,
	const struct err *err)
{
	conclude(work, sj, desired, err);
	status_write(work);
	recorder_check_failed(work, desired->words, err->msg);
}

static bool conclude_well(struct work *work, const struct scaledjob *sj, const struct desired_job *desired)
{
	write_forgive(work);
	recorder_check_passed(work);
	return conclude(work, sj, desired, NULL);
}

static void stop_loop(struct work *work)
{
	polling_end(work);
	jobmaker_hold(work);
}

/* An invalid spec stops the loop; an error that may pass by itself does not. */
static void failed(struct work *work, const struct scaledjob *sj, const struct desired_job *desired,
	const struct err *err)
{
	if (desired->waits)
		return;
	if (work_error_lasts(err))
		stop_loop(work);
	report_failure(work, sj, desired, err);
}

/* The Jobs of minReplicaCount need no trigger: the loop keeps them even if none can be built. */
static void failed_scalers(struct work *work, const struct scaledjob *sj, const struct desired_job *desired,
	const struct err *err)
{
	if (desired->waits || !scaledjob_min(&sj->spec)) {
		failed(work, sj, desired, err);
		return;
	}
	polling_keep(work, desired->annotations, !work_error_lasts(err));
	report_failure(work, sj, desired, err);
}

/* True while a write is under way or its failure backs off. */
static bool release(struct work *work, const struct scaledjob *sj, const struct desired_job *desired)
{
	if (!write_must_wait(work))
		return finalise_release(work, "writing the object's finalizers");
	if (write_is_news(work))
		report_failure(work, sj, desired, work->write.err);
	return true;
}

/* ---- The wanted state ---- */

static int desired_jobs(struct work *work, const struct scaledjob *sj, struct desired_job *desired, struct err *err)
{
	const char *trouble;

	if (!jobs_known(work->control->cache->jobs, sj->meta.namespace_, &trouble)) {
		desired->waits = !trouble;
		desired->words = JOBS_STEP;
		return err_set(err, ERR_TEMPORARY, JOBS_STEP ": %s", trouble ? trouble : "not read yet");
	}
	switch (jobsweeper_run(work, sj, err)) {
	case SWEEP_BUSY: desired->waits = true; return err_set(err, ERR_TEMPORARY, "Jobs are being deleted");
	case SWEEP_FAILED:
		if (work_error_lasts(err))
			err->kind = ERR_TEMPORARY; /* of a Job, not of the object */
		return -1;
	case SWEEP_DONE: break;
	}
	return 0;
}

static int desired_scalers(struct work *work, struct desired_job *desired, struct err *err)
{
	struct built built;

	if (scalers_get(work->control->cache->scalers, work->object, &built, err)) {
		desired->waits = err->kind == ERR_WAITING;
		desired->words = SCALERS_STEP;
		return err_wrap(err, SCALERS_STEP);
	}
	desired->metrics = mem_array(built.count + 1, sizeof(*desired->metrics));
	for (size_t i = 0; i < built.count; i++) {
		if (built.list[i].undescribed) {
			free(desired->metrics);
			desired->metrics = NULL;
			return 0;
		}
		if (built.list[i].kind == METRIC_EXTERNAL)
			desired->metrics[desired->metric_count++] = built.list[i].metric_name;
	}
	return 0;
}

static void reconcile_scaled(struct work *work, const struct scaledjob *sj, struct desired_job *desired)
{
	struct err err = { 0 };
	bool was_paused;

	if (validate_for_reconcile(scaled_of_job(sj), &desired->words, &err))
		failed(work, sj, desired, &err);
	else if (release(work, sj, desired))
		return;
	else if (desired_jobs(work, sj, desired, &err))
		failed(work, sj, desired, &err);
	else if (desired_scalers(work, desired, &err))
		failed_scalers(work, sj, desired, &err);
	else {
		was_paused = status_wanted(work, &sj->status) && work_says(work, "Paused");
		polling_follow(work, desired->annotations, conclude_well(work, sj, desired), was_paused);
	}
}

/* A paused object need not be valid. */
static void reconcile_paused(struct work *work, const struct scaledjob *sj, const struct desired_job *desired)
{
	stop_loop(work);
	jobsweeper_stop(work);
	if (release(work, sj, desired))
		return;
	conclude_well(work, sj, desired);
	jobloop_paused(work, sj);
	status_write(work);
}

/* ---- The reconcile ---- */

static void reconcile_living(struct work *work, const struct scaledjob *sj)
{
	struct reconcile_part *r = &work->reconcile;
	struct desired_job desired = { .waits = false };
	struct annotations annotations = { 0 };
	struct err err = { 0 };
	bool same;

	if (annotations_read_paused(&sj->meta.annotations, &annotations.paused, &err)) {
		failed(work, sj, &desired, &err);
		return;
	}
	desired.annotations = &annotations;
	same = r->seen.paused == annotations.paused && r->seen_generation == sj->meta.generation;
	r->seen.paused = annotations.paused;
	r->seen_generation = sj->meta.generation;
	/*
	 * A changed object does not wait for an earlier back-off, and earlier decisions are
	 * dropped.
	 */
	if (!same) {
		write_forgive(work);
		jobsweeper_forgive(work);
		jobmaker_drop(work);
	}
	if (annotations.paused)
		reconcile_paused(work, sj, &desired);
	else
		reconcile_scaled(work, sj, &desired);
	free(desired.metrics);
}

static void reconcile_deleted(struct work *work)
{
	polling_stop(work);
	jobloop_stop(work);
	jobmaker_stop(work);
	jobsweeper_stop(work);
	status_stop(work);
	recorder_gone(work);
	if (!finalise_must_wait(work))
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
