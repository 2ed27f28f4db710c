/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level-triggered: each reconcile compares the spec with the cluster and starts the first write
 * that is missing; its answer, or any change of the object, its target or its HPA, leads to the
 * next reconcile. When nothing is missing, the status says so and the scale loop runs.
 *
 *   deleted ----------------> finalise
 *   annotation unreadable --> Ready=False with the reason; the loop stops, the HPA is left
 *   paused -----------------> the loop stops, the HPA is deleted, the target kept at its paused
 *   replicas; Ready=True "ScaledObject is paused". Only the claim on the target is checked: a
 *   paused object need not be valid
 *   not all are listed -----> wait: it is not known which object was first
 *   spec wrong, no target --> Ready=False with the reason; the loop stops
 *   triggers not built -----> Ready=False with the reason; the loop goes on for what needs no
 *   trigger (the minimum), otherwise it stops; the HPA is left as it is, and none is made
 *   another was first ------> the same, and it has no HPA
 *   finalizer missing ------> write it
 *   HPA missing, different -> create it, replace its spec
 *   all there --------------> Ready=True; the loop starts
 */
#include "control/objects/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/objects/act.h"
#include "control/objects/finalise.h"
#include "control/objects/hpakeeper.h"
#include "control/objects/pause.h"
#include "control/objects/polling.h"
#include "control/objects/recorder.h"
#include "control/objects/rivals.h"
#include "control/objects/status.h"
#include "control/objects/work.h"
#include "control/objects/write.h"
#include "decide/conditions.h"
#include "decide/hpaspec.h"
#include "decide/validate/validate.h"
#include "decide/verdict.h"

#define SPEC_STEP   "failed to ensure HPA is correctly created for ScaledObject"
#define TARGET_STEP "ScaledObject doesn't have correct scaleTargetRef specification"
/* KEDA's Events say these words and no more (doc/keda.md 2.3). */
#define NOT_FOUND      "Target resource doesn't exist"
#define NO_SUBRESOURCE "Target resource doesn't expose /scale subresource"

/* The wanted state, as far as it is known. */
struct desired {
	char group[254], version[254], resource[254], hpa_name[254];
	struct reconcile_outcome outcome; /* as far as it is known; HPA and metrics count only without an error */
	bool waits;                       /* something is not read yet; the object is reconciled when it is */
	bool refused;                     /* another ScaledObject has the target or the HPA */
	bool unbuilt;                     /* all is well except the triggers, which cannot be built */
	const char *words;                /* of KEDA's Event about the error, if it has a fixed text; NULL */
	struct metric_spec *metrics;      /* borrowed names */
	size_t metric_count;
	bool undescribed; /* the metrics of a trigger are not known */
	json_t *desired;  /* owned; NULL: no metric is known, so the HPA is left as it is */
};

/* ---- The wanted state ---- */

/* trouble: why it cannot be read; NULL: it will be, and that leads to another look. */
static int unread(struct desired *desired, const char *step, const char *trouble, struct err *err)
{
	desired->waits = !trouble;
	return err_set(err, ERR_TEMPORARY, "%s%s", step, trouble ? trouble : "not read yet");
}

static int desired_target(struct work *work, const struct scaledobject *so, struct desired *desired, struct err *err)
{
	const struct workload *w;
	struct targetref *refs = work->control->cache->targetref;

	if (targetref_find(refs, so, desired->group, desired->version, desired->resource, &desired->waits, err)) {
		desired->words = targetref_unscalable(refs, so) ? NO_SUBRESOURCE : NULL;
		return err_wrap(err, TARGET_STEP);
	}
	desired->outcome.group = desired->group;
	desired->outcome.version = desired->version;
	desired->outcome.resource = desired->resource;
	desired->outcome.kind = scaledobject_target_kind(&so->spec);
	switch (targets_get(work->object, &w)) {
	case TARGET_UNREAD: return unread(desired, TARGET_STEP ": ", targets_trouble(work->object), err);
	case TARGET_MISSING:
		desired->words = NOT_FOUND;
		err_set(err, ERR_MISSING, NOT_FOUND ": %s %s/%s", desired->outcome.kind, so->meta.namespace_,
			so->spec.target_name);
		return err_wrap(err, TARGET_STEP);
	case TARGET_PRESENT: desired->outcome.replicas = w->replicas;
	}
	return 0;
}

/*
 * The metrics of the HPA. A trigger whose source has not named its metrics yet is left out, unless
 * there is a value anyway: the composite's, or that of spec.fallback.
 */
static void desired_metrics(const struct scaledobject *so, const struct built *built, struct desired *desired)
{
	bool speaks = verdict_has_composite(&so->spec) || verdict_fallback_valid(&so->spec);

	desired->metrics = mem_array(built->count + 1, sizeof(*desired->metrics));
	for (size_t i = 0; i < built->count; i++) {
		if (built->list[i].undescribed && !speaks)
			desired->undescribed = true;
		else
			desired->metrics[desired->metric_count++] = scaler_metric_spec(&built->list[i]);
	}
}

static int desired_hpa(struct work *work, const struct scaledobject *so, struct desired *desired, struct err *err)
{
	struct built built;
	const char *trouble;

	if (!store_knows_hpas(work->control->cache->store, so->meta.namespace_, &trouble))
		return unread(desired, SPEC_STEP ": ", trouble, err);
	if (scalers_get(work->control->cache->scalers, work->object, &built, err)) {
		desired->waits = err->kind == ERR_WAITING;
		desired->unbuilt = true;
		return err_wrap(err, SPEC_STEP);
	}
	desired_metrics(so, &built, desired);
	if (desired->undescribed && desired->metric_count == 0)
		return 0; /* no HPA is created, and an existing one stays as it is; the loop reports why */
	desired->desired = hpaspec_make(so, desired->metrics, desired->metric_count, work->control->version, err);
	if (!desired->desired)
		return err_wrap(err, SPEC_STEP);
	desired->outcome.hpa_name = scaledobject_hpa_name(so, desired->hpa_name, sizeof(desired->hpa_name));
	desired->outcome.metrics = desired->metrics;
	desired->outcome.metric_count = desired->metric_count;
	return 0;
}

/*
 * Before all objects are listed it is not known which was first: the HPA of a later one would be
 * created, and scale against the other for a moment.
 */
static int desired_alone(struct work *work, const struct scaledobject *so, struct desired *desired, struct err *err)
{
	const struct store *store = work->control->cache->store;
	const char *trouble;

	if (!store_knows(store, SCALED_OBJECT, so->meta.namespace_, &trouble))
		return unread(desired, trouble ? "" : "the ScaledObjects are ", trouble, err);
	desired->refused = rivals_refuse(work, so, err);
	return desired->refused ? -1 : 0;
}

static int desired_make(struct work *work, const struct scaledobject *so, struct desired *desired, struct err *err)
{
	/* Errors of the spec itself come before those of what it refers to. */
	if (validate_for_reconcile(scaled_of_object(so), NULL, err) || desired_alone(work, so, desired, err) ||
		desired_target(work, so, desired, err) || desired_hpa(work, so, desired, err))
		return -1;
	return 0;
}

/* ---- The outcome ---- */

/* The HPA of the status, which goes on working when the object is wrong. */
static const struct hpa *hpa_of(const struct work *work, const struct scaledobject *so,
	const struct scaledobject_status *status)
{
	char key[STORE_KEY_MAX];

	return status->hpa_name
		? store_hpa(work->control->cache->store, store_key(so->meta.namespace_, status->hpa_name, key))
		: NULL;
}

/* Updates the wanted status, with Events for what changed. True when it became Ready. */
static bool conclude(struct work *work, const struct scaledobject *so, const struct desired *desired,
	const struct err *err)
{
	struct reconcile_outcome outcome = desired->outcome;
	struct scaledobject_status *wanted = status_wanted(work, &so->status);
	bool was_ready = work_says(work, "Ready"), was_paused = work_says(work, "Paused"),
	     was_falling_back = work_says(work, "Fallback"), became_ready;

	outcome.err = err;
	outcome.no_hpa = desired->refused || (!err && outcome.annotations && outcome.annotations->paused);
	if (err) {
		outcome.hpa_name = NULL;
		outcome.metrics = NULL;
		outcome.metric_count = 0;
	}
	outcome.hpa = hpa_of(work, so, wanted);
	conditions_after_reconcile(so, &outcome, timestamp_now_ms(), wanted);
	became_ready = recorder_turn(work, was_ready, was_paused);
	recorder_fallback(work, was_falling_back);
	return became_ready;
}

static void report_failure(struct work *work, const struct scaledobject *so, const struct desired *desired,
	const struct err *err)
{
	conclude(work, so, desired, err);
	status_write(work);
	recorder_check_failed(work, desired->words, err->msg);
}

static bool conclude_well(struct work *work, const struct scaledobject *so, const struct desired *desired)
{
	write_forgive(work);
	recorder_check_passed(work);
	return conclude(work, so, desired, NULL);
}

static void report_success(struct work *work, const struct scaledobject *so, const struct desired *desired)
{
	bool was_paused = status_wanted(work, &so->status) && work_says(work, "Paused");
	bool became_ready = conclude_well(work, so, desired);
	struct err err = { 0 };

	/*
	 * Two HPAs on one target overrule each other. Ours stays: it was first, or the webhook
	 * would have refused the object.
	 */
	recorder_rival(work, admit_among_hpas(work->control->cache->store, so, &err) < 0 ? err.msg : NULL);
	health_keep(work->object, desired->metrics, desired->metric_count);
	polling_follow(work, desired->outcome.annotations, became_ready, was_paused);
}

/* An invalid spec stops the loop; an error that may pass by itself does not. */
static void failed(struct work *work, const struct scaledobject *so, const struct desired *desired,
	const struct err *err)
{
	if (desired->waits)
		return;
	if (work_error_lasts(err))
		polling_end(work);
	/* Two HPAs on one target would scale against each other. */
	if (desired->refused && !write_must_wait(work) &&
		hpakeeper_remove(work, so, "deleting the HPA of a refused ScaledObject"))
		return;
	report_failure(work, so, desired, err);
}

/* Does what needs no trigger; the rest is as for any object. */
static void failed_triggers(struct work *work, const struct scaledobject *so, const struct desired *desired,
	const struct err *err)
{
	if (desired->waits || !scale_needs_no_trigger(&so->spec, desired->outcome.annotations)) {
		failed(work, so, desired, err);
		return;
	}
	if (!write_must_wait(work) && finalise_keep(work, so))
		return;
	polling_keep(work, desired->outcome.annotations, !work_error_lasts(err));
	report_failure(work, so, desired, err);
}

static void write_failed(struct work *work, const struct scaledobject *so, const struct desired *desired)
{
	if (write_is_news(work))
		report_failure(work, so, desired, work->write.err);
}

static void reconcile_scaled(struct work *work, const struct scaledobject *so, struct desired *desired)
{
	struct err err = { 0 };

	if (desired_make(work, so, desired, &err))
		(desired->unbuilt ? failed_triggers : failed)(work, so, desired, &err);
	else if (write_must_wait(work))
		write_failed(work, so, desired);
	else if (!finalise_keep(work, so) && !(desired->desired && hpakeeper_run(work, so, desired->desired)))
		report_success(work, so, desired);
}

/* ---- Paused ---- */

/*
 * A pause needs the target only to keep it at a number of replicas, and not if another object was
 * first or two would scale it.
 */
static void reconcile_paused(struct work *work, const struct scaledobject *so, struct desired *desired)
{
	struct err target_err = { 0 }, err = { 0 };
	bool targeted;

	polling_end(work);
	act_stop(work);
	targeted = !validate_for_reconcile(scaled_of_object(so), NULL, &target_err) &&
		!desired_alone(work, so, desired, &target_err) && !desired_target(work, so, desired, &target_err);
	desired->words = NULL; /* later errors have other words */
	if (desired->waits)
		return;
	if (write_must_wait(work)) {
		write_failed(work, so, desired);
		return;
	}
	if (finalise_keep(work, so))
		return;
	switch (pause_run(work, so, desired->outcome.annotations, targeted ? NULL : &target_err, &err)) {
	case PAUSE_BUSY: break;
	case PAUSE_FAILED: report_failure(work, so, desired, &err); break;
	case PAUSE_DONE: conclude_well(work, so, desired); status_write(work);
	}
}

/* ---- The reconcile ---- */

/* When the object has changed, the back-off of an earlier failure ends. */
static void note_asked(struct work *work, const struct scaledobject *so, const struct annotations *says)
{
	struct reconcile_part *r = &work->reconcile;
	bool turned = r->seen.paused != says->paused,
	     changed = r->seen_generation != so->meta.generation || !annotations_same(&r->seen, says);

	r->seen_generation = so->meta.generation;
	r->seen = *says;
	if (turned)
		pause_forget(work);
	/* The back-off of a pause survives other changes. */
	if (!turned && (!changed || says->paused))
		return;
	write_forgive(work);
}

static void reconcile_living(struct work *work, const struct scaledobject *so)
{
	struct desired desired = { .outcome.replicas = INT32_UNSET };
	struct annotations annotations;
	struct err err = { 0 };

	if (annotations_read(so, &annotations, &err)) {
		failed(work, so, &desired, &err);
		return;
	}
	desired.outcome.annotations = &annotations;
	note_asked(work, so, &annotations);
	if (annotations.paused)
		reconcile_paused(work, so, &desired);
	else
		reconcile_scaled(work, so, &desired);
	json_decref(desired.desired);
	free(desired.metrics);
}

void reconcile_run(struct work *work)
{
	const struct scaledobject *so = work->object->of.so;

	if (so->meta.deleted_unix_ms)
		finalise_run(work, so);
	else
		reconcile_living(work, so);
}
