/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletion. A finalizer of ours stands only while `restoreToOriginalReplicaCount` asks for something to be done afterwards; KEDA's own are released at once, so that nothing waits for an operator
 * that may be gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/object.h"

#define OUR_FINALIZER "kscaled.io/restore"
#define KEDA_FINALIZER "finalizer.keda.sh"

/* So often a restore is tried before the object is let go without it. */
#define RESTORE_TRIES 5

static char *object_path(const struct scaledobject *so)
{
	return mem_printf("/apis/keda.sh/v1alpha1/namespaces/%s/scaledobjects/%s?fieldManager=kscaled", so->meta.namespace_, so->meta.name);
}

static void on_stored(struct object *o, const json_t *object)
{
	if (object && json_object_get(object, "spec")) /* the last finalizer gone: a Status may come instead */
		store_learn_scaledobject(o->control->cache->store, object);
}

static bool gone_is_fine(struct object *o, const struct err *err)
{
	(void)o;
	return err->kind == ERR_MISSING;
}

/* The whole list under test of the old one: a JSON patch fails, and is tried anew, when somebody changed it meanwhile. */
static void write_finalizers(struct object *o, const struct scaledobject *so, bool ours, const char *doing)
{
	struct buf body = BUF_INIT(1 << 20);
	MEM_AUTO char *path = object_path(so);
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .path = path, .priority = KUBE_NORMAL };
	bool first = true;

	buf_puts(&body, "{\"metadata\":{\"resourceVersion\":");
	buf_put_json(&body, so->meta.resource_version);
	buf_puts(&body, ",\"finalizers\":[");
	for (size_t i = 0; i < so->meta.finalizer_count; i++) {
		const char *name = so->meta.finalizers[i];

		if (strcmp(name, KEDA_FINALIZER) == 0 || strcmp(name, OUR_FINALIZER) == 0)
			continue;
		if (!first)
			buf_putc(&body, ',');
		buf_put_json(&body, name);
		first = false;
	}
	if (ours)
		buf_puts(&body, first ? "\"" OUR_FINALIZER "\"" : ",\"" OUR_FINALIZER "\"");
	buf_puts(&body, "]}}");
	request.body = buf_text(&body);
	reconcile_write(o, &request, doing, on_stored, gone_is_fine);
	buf_done(&body);
}

bool finalise_keep(struct object *o, const struct scaledobject *so)
{
	bool keda = meta_has_finalizer(&so->meta, KEDA_FINALIZER);
	bool ours = meta_has_finalizer(&so->meta, OUR_FINALIZER);

	if (!keda && ours == so->spec.restore_to_original)
		return false;
	write_finalizers(o, so, so->spec.restore_to_original, "writing the object's finalizers");
	return true;
}

/* --- deleted ------------------------------------------------------------------------------------------------------------------ */

/* The HPA goes first, or it would undo what is restored. */
static bool remove_hpa(struct object *o, const struct scaledobject *so)
{
	char key[STORE_KEY_MAX], name[254];
	const struct hpa *hpa = store_hpa(o->control->cache->store, store_key(so->meta.namespace_, scaledobject_hpa_name(so, name, sizeof(name)), key));
	const struct owner_ref *owner = hpa ? meta_controller(&hpa->meta) : NULL;
	MEM_AUTO char *path = NULL;

	if (!owner || strcmp(owner->uid, so->meta.uid) != 0 || hpa->meta.deleted_unix_ms)
		return false;
	path = mem_printf("/apis/autoscaling/v2/namespaces/%s/horizontalpodautoscalers/%s", so->meta.namespace_, name);
	struct kube_request request = { .verb = KUBE_DELETE, .path = path, .priority = KUBE_NORMAL };

	store_forget_hpa(o->control->cache->store, key);
	reconcile_write(o, &request, "deleting the HPA of a deleted object", NULL, gone_is_fine);
	return true;
}

static void on_restored(struct object *o, const json_t *scale)
{
	(void)scale;
	o->reconcile.restored = true;
	log_info(o->subject, "was deleted; its target has its original replicas again");
}

static bool on_restore_failure(struct object *o, const struct err *err)
{
	if (err->kind == ERR_MISSING) {
		o->reconcile.restored = true; /* no target: nothing to restore */
		reconcile_mark(o);
		return true;
	}
	if (++o->reconcile.restore_failures >= RESTORE_TRIES) {
		log_error(o->subject, "was deleted; its target's original replicas could not be restored: %s", err->msg);
		o->reconcile.restored = true;
		reconcile_mark(o);
		return true;
	}
	return false;
}

static bool restore(struct object *o, const struct scaledobject *so)
{
	const struct scaledobject_status *s = &so->status;
	MEM_AUTO char *path = NULL;
	char body[64];
	struct kube_request request = { .verb = KUBE_MERGE_PATCH, .body = body, .priority = KUBE_NORMAL };

	if (o->reconcile.restored || !so->spec.restore_to_original || s->original_replicas == INT32_UNSET || !s->gvkr_resource)
		return false;
	path = mem_printf("/apis/%s/%s/namespaces/%s/%s/%s/scale", s->gvkr_group, s->gvkr_version, so->meta.namespace_, s->gvkr_resource, so->spec.target_name);
	request.path = path;
	snprintf(body, sizeof(body), "{\"spec\":{\"replicas\":%d}}", s->original_replicas);
	reconcile_write(o, &request, "restoring the target's original replicas", on_restored, on_restore_failure);
	return true;
}

void finalise_run(struct object *o, const struct scaledobject *so)
{
	bool ours = meta_has_finalizer(&so->meta, OUR_FINALIZER);

	scaleloop_stop(o);
	act_stop(o);
	status_stop(o);
	announce_gone(o);
	if (!ours && !meta_has_finalizer(&so->meta, KEDA_FINALIZER))
		return; /* others' finalizers: not ours to wait for */
	if (reconcile_must_wait(o))
		return;
	if (ours && (remove_hpa(o, so) || restore(o, so)))
		return;
	write_finalizers(o, so, false, "releasing the deleted object");
}
