/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletion. The object has our finalizer only while `restoreToOriginalReplicaCount` is set; KEDA's
 * is removed at once, so that no deletion waits for an operator that may be gone.
 */
#include "control/objects/finalise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "control/objects/act.h"
#include "control/objects/hpakeeper.h"
#include "control/objects/polling.h"
#include "control/objects/queue.h"
#include "control/objects/recorder.h"
#include "control/objects/rivals.h"
#include "control/objects/status.h"
#include "control/objects/work.h"
#include "control/objects/write.h"

#define OUR_FINALIZER  "kscaled.io/restore"
#define KEDA_FINALIZER "finalizer.keda.sh"

/* How long the watch may take to show what an answer said. */
#define GONE_WAIT_MS 2000

/* After this many failed attempts to restore, the object is released without it. */
#define RESTORE_TRIES 5

static void on_stored(struct work *work, const json_t *object)
{
	if (object && json_object_get(object, "spec")) /* with the last finalizer gone, a Status may come instead */
		store_learn(work->control->cache->store, work->object->kind, object);
}

/* The watch will show the deletion; if it does not, the object is reconciled again. */
static bool gone_is_fine(struct work *work, const struct err *err)
{
	if (err->kind != ERR_MISSING)
		return false;
	write_again(work, GONE_WAIT_MS);
	return true;
}

static void write_finalizers(struct work *work, const struct meta *meta, bool ours, const char *doing)
{
	static const char *const drop[] = { KEDA_FINALIZER, OUR_FINALIZER, NULL };
	MEM_AUTO char *path = mem_printf("/apis/keda.sh/v1alpha1/namespaces/%s/%s/%s?fieldManager=kscaled",
		meta->namespace_, scaled_kind_resource(work->object->kind), meta->name);
	MEM_AUTO char *body = meta_finalizers_patch(meta, drop, ours ? OUR_FINALIZER : NULL);
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .path = path, .body = body, .priority = KUBE_NORMAL };

	write_start(work, &request, doing, on_stored, gone_is_fine);
}

bool finalise_keep(struct work *work, const struct scaledobject *so)
{
	bool keda = meta_has_finalizer(&so->meta, KEDA_FINALIZER);
	bool ours = meta_has_finalizer(&so->meta, OUR_FINALIZER);

	if (!keda && ours == so->spec.restore_to_original)
		return false;
	write_finalizers(work, &so->meta, so->spec.restore_to_original, "writing the object's finalizers");
	return true;
}

bool finalise_release(struct work *work, const char *doing)
{
	const struct meta *meta = work->object->of.meta;

	if (!meta_has_finalizer(meta, KEDA_FINALIZER))
		return false;
	write_finalizers(work, meta, false, doing);
	return true;
}

/* ---- Deleted ---- */

static void on_restored(struct work *work, const json_t *scale)
{
	(void)scale;
	work->finalise.restored = true;
	log_info(work->subject, "was deleted; its target has its original replicas again");
}

static bool on_restore_failure(struct work *work, const struct err *err)
{
	bool no_target = err->kind == ERR_MISSING;

	if (!no_target && ++work->finalise.restore_failures < RESTORE_TRIES)
		return false;
	if (!no_target)
		log_error(work->subject, "was deleted; its target's original replicas could not be restored: %s",
			err->msg);
	work->finalise.restored = true;
	queue_mark(work);
	return true;
}

/*
 * Uses the target of the status, which is the one that we scaled: that needs no discovery, and a
 * target that was just named was never scaled.
 */
static bool restore(struct work *work, const struct scaledobject *so)
{
	const struct scaledobject_status *s = &so->status;
	char group[TARGETREF_TEXT], version[TARGETREF_TEXT], resource[TARGETREF_TEXT], body[64];
	MEM_AUTO char *path = NULL;
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .body = body, .priority = KUBE_NORMAL };

	if (work->finalise.restored || !so->spec.restore_to_original || s->original_replicas < 0 ||
		targetref_stored(so, group, version, resource))
		return false;
	/* Not a target that another ScaledObject scales now. */
	path = rivals_refuse(work, so, NULL)
		? NULL
		: act_scale_path_of(group, version, resource, so->meta.namespace_, so->spec.target_name);
	if (!path)
		return false;
	request.path = path;
	snprintf(body, sizeof(body), "{\"spec\":{\"replicas\":%d}}", s->original_replicas);
	write_start(work, &request, "restoring the target's original replicas", on_restored, on_restore_failure);
	return true;
}

/* The back-off of failures during the object's life does not delay its deletion. */
bool finalise_must_wait(struct work *work)
{
	if (!work->finalise.deleting)
		write_forgive(work);
	work->finalise.deleting = true;
	return write_must_wait(work);
}

void finalise_run(struct work *work, const struct scaledobject *so)
{
	bool ours = meta_has_finalizer(&so->meta, OUR_FINALIZER);
	const char *trouble;

	polling_stop(work);
	act_stop(work);
	status_stop(work);
	recorder_gone(work);
	if (!ours && !meta_has_finalizer(&so->meta, KEDA_FINALIZER))
		return; /* other finalizers are not ours */
	if (finalise_must_wait(work) ||
		(ours && !store_knows_hpas(work->control->cache->store, so->meta.namespace_, &trouble)))
		return;
	/* The HPA goes first, or it would undo the restore; also one of an earlier name. */
	if (ours && (hpakeeper_remove(work, so, "deleting the HPA of a deleted object") || restore(work, so)))
		return;
	write_finalizers(work, &so->meta, false, "releasing the deleted object");
}
