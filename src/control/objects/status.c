/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only writer of an object's status. What reconcile and the loop want is kept in memory; only
 * the difference to the stored status is written, one patch at a time, and later changes go into
 * the next one. So an object that does not change costs no writes.
 */
#include "control/objects/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/objects/recorder.h"
#include "control/objects/work.h"

static void on_again(void *arg)
{
	status_write(arg);
}

struct scaledobject_status *status_wanted(struct work *work, const struct scaledobject_status *stored)
{
	if (!work->status.known) {
		scaledobject_status_copy(&work->status.wanted, stored);
		work->status.known = true;
		loop_timer_init(&work->status.again, work->control->cache->loop, on_again, work);
	}
	return &work->status.wanted;
}

/*
 * KEDA's own CRD prunes the conditions' times; then they are not compared, or each tick would write
 * them again.
 */
static void notice_pruning(struct work *work, const struct scaledobject_status *kept)
{
	const struct condition *stored = conditions_get(&kept->conditions, "Ready"),
			       *wanted = conditions_get(&work->status.wanted.conditions, "Ready");

	if (work->control->times_pruned || !stored || !wanted)
		return;
	/* Under our CRD, too, a condition that KEDA wrote has no time until it changes. */
	if ((wanted->since_unix_ms && !stored->since_unix_ms) ||
		(wanted->observed_generation && !stored->observed_generation)) {
		work->control->times_pruned = true;
		log_info(scaled_kind_resource(work->object->kind),
			"the installed CRD does not keep lastTransitionTime of conditions; `kscaled manifests` has one "
			"that does");
	}
}

/* An Event, once until a write succeeds: the status itself cannot report it. */
static void note_failure(struct work *work, const struct err *err)
{
	MEM_AUTO char *text = mem_printf("Its status could not be written: %s", err->msg);

	if (!work->status.said_failure)
		recorder_kind_event(work, "Warning", "UpdateFailed", text);
	work->status.said_failure = true;
	log_warn(work->subject, "writing its status: %s; trying again", err->msg);
}

static void on_patched(void *arg, const json_t *object, const struct err *err)
{
	struct work *work = arg;
	const struct scaled *of = &work->object->of;
	struct control *c = work->control;

	work->status.call = NULL;
	if ((err && err->kind == ERR_MISSING) || work->object->gone)
		return; /* deleted meanwhile: the watch will show it */
	if (err) {
		/*
		 * A conflict is a race with an edit of the object: the watch brings the newer one.
		 */
		if (err->kind != ERR_CONFLICT)
			note_failure(work, err);
		loop_timer_set(&work->status.again,
			loop_backoff_ms(work->status.failures++, err->kind == ERR_CONFLICT ? 50 : 500, 60000));
		return;
	}
	work->status.failures = 0;
	work->status.said_failure = false;
	store_learn(c->cache->store, work->object->kind, object);
	if (work->object->gone)
		return;
	work->kind->note(work);
	notice_pruning(work, of->status);
	work->status.futile = work->status.sent;
	status_write(work);
}

static bool is_known(void *arg, const struct objecttext *text)
{
	const struct work *work = arg;

	return store_has(work->control->cache->store, text);
}

void status_write(struct work *work)
{
	const struct scaled *of = &work->object->of;
	struct control *c = work->control;
	MEM_AUTO char *patch = NULL;
	MEM_AUTO char *body = NULL;
	MEM_AUTO char *path = NULL;
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .priority = KUBE_STATUS, .is_known = is_known };

	if (!work->status.known || work->status.call || work->object->gone)
		return;
	if (work->status.failures > 0 && loop_timer_pending(&work->status.again))
		return; /* backing off */
	loop_timer_cancel(&work->status.again);
	patch = scaledobject_status_patch(of->status, &work->status.wanted, !c->times_pruned);
	work->status.sent = patch ? fingerprint_fast(patch, strlen(patch)) : 0;
	if (!patch) {
		work->status.futile = 0;
		conditions_share(&work->status.wanted.conditions, &of->status->conditions);
	}
	/* The server accepted this patch but did not store it; it would again. */
	if (work->status.sent == work->status.futile)
		return;
	body = mem_printf("{\"metadata\":{\"resourceVersion\":\"%s\"},%s", of->meta->resource_version, patch + 1);
	path = mem_printf("/apis/keda.sh/v1alpha1/namespaces/%s/%s/%s/status?fieldManager=kscaled",
		of->meta->namespace_, scaled_kind_resource(of->kind), of->meta->name);
	request.path = path;
	request.body = body;
	work->status.call = kube_call(c->kube, &request, on_patched, work);
}

void status_write_within(struct work *work, int64_t delay_ms)
{
	if (work->status.known && !work->status.call && !loop_timer_pending(&work->status.again))
		loop_timer_set(&work->status.again, delay_ms);
}

void status_stop(struct work *work)
{
	kube_cancel(work->status.call);
	work->status.call = NULL;
	if (!work->status.known)
		return;
	loop_timer_done(&work->status.again);
	scaledobject_status_done(&work->status.wanted);
	memset(&work->status, 0, sizeof(work->status));
}
