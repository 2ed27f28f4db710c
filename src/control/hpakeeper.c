/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the one HPA of an object: made when missing, its spec replaced when it differs, the old one removed after a rename, somebody else's never touched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/object.h"
#include "decide/hpaspec.h"

/* So often in a row an HPA may be gone when it is read, and there when it is created. */
#define VANISHED_MAX 3

static char *hpa_path(const char *namespace_, const char *name)
{
	return mem_printf("/apis/autoscaling/v2/namespaces/%s/horizontalpodautoscalers%s%s", namespace_, name ? "/" : "", name ? name : "");
}

static const char *desired_name(const json_t *desired)
{
	return json_str_or_empty(json_object_get(desired, "metadata"), "name");
}

static void forget(struct object *o, const char *name)
{
	MEM_AUTO char *namespace_ = mem_dupn(o->key, strcspn(o->key, "/"));
	MEM_AUTO char *key = mem_printf("%s/%s", namespace_, name);

	store_forget_hpa(o->control->cache->store, key);
}

static void on_stored(struct object *o, const json_t *object)
{
	store_learn_hpa(o->control->cache->store, object);
	o->reconcile.futile_hpa = o->reconcile.wanted_hpa;
	json_decref(o->reconcile.desired);
	o->reconcile.desired = NULL;
}

/* --- replacing ---------------------------------------------------------------------------------------------------------------- */

/* Ours: controlled by a ScaledObject of this name. Its uid may be that of a predecessor, whose HPA waits for the garbage collector. Or made by us for it, and its owner was taken off. */
static bool belongs_to(const json_t *live, const struct scaledobject *so)
{
	const json_t *meta = json_object_get(live, "metadata"), *labels = json_object_get(meta, "labels"), *owner;
	size_t i;

	json_array_foreach(json_object_get(meta, "ownerReferences"), i, owner)
		if (json_is_true(json_object_get(owner, "controller")))
			return strcmp(json_str_or_empty(owner, "kind"), "ScaledObject") == 0 && strcmp(json_str_or_empty(owner, "name"), so->meta.name) == 0;
	return strcmp(json_str_or_empty(labels, HPASPEC_MANAGED_LABEL), "true") == 0 && strcmp(json_str_or_empty(labels, "scaledobject.keda.sh/name"), so->meta.name) == 0;
}

static void put_merged(struct object *o, const struct scaledobject *so, const json_t *live)
{
	char doing[320];
	const char *name = json_str_or_empty(json_object_get(live, "metadata"), "name");
	struct reconcile_part *r = &o->reconcile;
	json_t *merged = NULL;

	err_clear(&r->write_err);
	if (!belongs_to(live, so))
		err_set(&r->write_err, ERR_INVALID, "the HPA %s exists already and does not belong to this ScaledObject: delete it, or choose another name in spec.advanced.horizontalPodAutoscalerConfig.name", name);
	else
		merged = hpaspec_merge(o->reconcile.desired, live, &r->write_err);
	if (!merged) {
		err_wrap(&r->write_err, "failed to ensure HPA is correctly created for ScaledObject");
		r->retry_at_ms = loop_now_ms(o->control->cache->loop) + loop_backoff_ms(r->failures++, 1000, 30000);
		return;
	}
	MEM_AUTO char *path = hpa_path(so->meta.namespace_, name);
	MEM_AUTO char *body = json_text(merged);
	struct kube_request request = { .verb = KUBE_UPDATE, .path = path, .body = body, .priority = KUBE_NORMAL };

	json_decref(merged);
	snprintf(doing, sizeof(doing), "failed to ensure HPA is correctly created for ScaledObject: updating HPA %s", name);
	write_start(o, &request, doing, on_stored, NULL);
}

static void on_live(struct object *o, const json_t *live)
{
	const struct scaledobject *so = store_scaledobject(o->control->cache->store, o->key);

	if (so && !so->meta.deleted_unix_ms && o->reconcile.desired)
		put_merged(o, so, live);
}

static bool on_live_failure(struct object *o, const struct err *err)
{
	if (err->kind != ERR_MISSING || o->reconcile.failures >= VANISHED_MAX)
		return false;
	/* Deleted under us: the next look makes it. */
	o->reconcile.failures++;
	forget(o, desired_name(o->reconcile.desired));
	queue_mark(o);
	return true;
}

/* All of the live object is read first: labels and annotations of others stay. */
static void replace(struct object *o, const struct scaledobject *so, const json_t *desired)
{
	MEM_AUTO char *path = hpa_path(so->meta.namespace_, desired_name(desired));
	struct kube_request request = { .verb = KUBE_GET, .path = path, .priority = KUBE_NORMAL };

	write_start(o, &request, "failed to ensure HPA is correctly created for ScaledObject: reading the HPA", on_live, on_live_failure);
}

/* --- creating ----------------------------------------------------------------------------------------------------------------- */

/* It exists, but without our label: KEDA's, or somebody else's. */
static bool on_create_failure(struct object *o, const struct err *err)
{
	const struct scaledobject *so = store_scaledobject(o->control->cache->store, o->key);

	if (err->kind != ERR_CONFLICT || !so || !o->reconcile.desired)
		return false;
	replace(o, so, o->reconcile.desired);
	return true;
}

static void create(struct object *o, const struct scaledobject *so, const json_t *desired)
{
	char doing[320];
	MEM_AUTO char *path = hpa_path(so->meta.namespace_, NULL);
	MEM_AUTO char *body = json_text(desired);
	struct kube_request request = { .verb = KUBE_CREATE, .path = path, .body = body, .priority = KUBE_NORMAL };

	snprintf(doing, sizeof(doing), "failed to ensure HPA is correctly created for ScaledObject: creating HPA %s", desired_name(desired));
	write_start(o, &request, doing, on_stored, on_create_failure);
}

/* --- removing ----------------------------------------------------------------------------------------------------------------- */

static void on_removed(struct object *o, const json_t *object)
{
	(void)object;
	forget(o, o->reconcile.removing);
}

static bool on_remove_failure(struct object *o, const struct err *err)
{
	if (err->kind != ERR_MISSING)
		return false;
	forget(o, o->reconcile.removing);
	queue_mark(o);
	return true;
}

bool hpakeeper_remove(struct object *o, const struct scaledobject *so, const char *name, const char *doing)
{
	char key[STORE_KEY_MAX];
	const struct hpa *hpa = store_hpa(o->control->cache->store, store_key(so->meta.namespace_, name, key));
	const struct owner_ref *owner = hpa ? meta_controller(&hpa->meta) : NULL;
	MEM_AUTO char *path = NULL;
	MEM_AUTO char *body = NULL;

	if (!owner || strcmp(owner->uid, so->meta.uid) != 0 || hpa->meta.deleted_unix_ms)
		return false;
	path = hpa_path(so->meta.namespace_, name);
	body = mem_printf("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"%s\"}}", hpa->meta.uid);
	struct kube_request request = { .verb = KUBE_DELETE, .path = path, .body = body, .priority = KUBE_NORMAL };

	free(o->reconcile.removing);
	o->reconcile.removing = mem_dup(name);
	write_start(o, &request, doing, on_removed, on_remove_failure);
	return true;
}

/* After a rename. */
static bool remove_old(struct object *o, const struct scaledobject *so, const char *name)
{
	char doing[320];

	if (!so->status.hpa_name || !*so->status.hpa_name || strcmp(so->status.hpa_name, name) == 0)
		return false;
	snprintf(doing, sizeof(doing), "failed to ensure HPA is correctly created for ScaledObject: deleting the old HPA %s", so->status.hpa_name);
	return hpakeeper_remove(o, so, so->status.hpa_name, doing);
}

/* --- the look ----------------------------------------------------------------------------------------------------------------- */

static uint64_t fingerprint(const json_t *desired)
{
	MEM_AUTO char *text = json_text(desired);

	return fingerprint_fast(text, strlen(text));
}

bool hpakeeper_run(struct object *o, const struct scaledobject *so, json_t *desired)
{
	struct reconcile_part *r = &o->reconcile;
	const char *name = desired_name(desired);
	char key[STORE_KEY_MAX];
	const struct hpa *live = store_hpa(o->control->cache->store, store_key(so->meta.namespace_, name, key));

	if (remove_old(o, so, name))
		return true;
	if (live && hpaspec_matches(desired, live)) {
		r->futile_hpa = 0;
		return false;
	}
	json_decref(r->desired);
	r->desired = json_incref(desired);
	r->wanted_hpa = fingerprint(desired);
	if (!live) {
		create(o, so, desired);
		return true;
	}
	/* An admission plugin may keep changing what we write: once is enough, or we would write for ever. */
	if (r->wanted_hpa == r->futile_hpa) {
		log_debug(o->subject, "HPA %s was written and came back different; left as it is", name);
		return false;
	}
	replace(o, so, desired);
	return true;
}
