/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the one HPA of an object: made when missing, its spec replaced when it differs, the old one
 * removed after a rename, somebody else's never touched.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/objects/object.h"
#include "decide/hpaspec.h"

/* So often in a row an HPA may be gone when it is read, and there when it is created. */
#define VANISHED_MAX 3

static char *hpa_path(const char *namespace_, const char *name)
{
	return mem_printf("/apis/autoscaling/v2/namespaces/%s/horizontalpodautoscalers%s%s", namespace_,
		name ? "/" : "", name ? name : "");
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

/* ---- Replacing ---- */

/* Whose it is, for people: "Deployment web" or "nobody"; into out. */
static const char *owner_of(const json_t *live, char out[320])
{
	const json_t *owner;
	size_t i;

	snprintf(out, 320, "nobody");
	json_array_foreach(json_object_get(json_object_get(live, "metadata"), "ownerReferences"), i,
		owner) if (json_is_true(json_object_get(owner, "controller")))
		snprintf(out, 320, "%s %s", json_str_or_empty(owner, "kind"), json_str_or_empty(owner, "name"));
	return out;
}

static void refuse(struct err *err, const char *name, const json_t *live)
{
	char owner[320];

	err_set(err, ERR_INVALID,
		"the HPA %s exists already and belongs to %s, not to this ScaledObject: delete it, or choose another "
		"name in spec.advanced.horizontalPodAutoscalerConfig.name, "
		"or let it be taken over with that name written there and the annotation " DIRECTIVES_TRANSFER_HPA
		": \"true\"",
		name, owner_of(live, owner));
}

static void put_merged(struct object *o, const struct scaledobject *so, const json_t *live)
{
	char doing[320];
	const char *name = json_str_or_empty(json_object_get(live, "metadata"), "name");
	struct reconcile_part *r = &o->reconcile;
	json_t *merged = NULL;
	struct err err = { 0 };

	if (hpaspec_claim(so, live) == HPASPEC_FOREIGN)
		refuse(&err, name, live);
	else
		merged = hpaspec_merge(o->reconcile.desired, live, &err);
	err_keep(&r->write_err, NULL);
	if (!merged) {
		err_wrap(&err, "failed to ensure HPA is correctly created for ScaledObject");
		err_keep(&r->write_err, &err);
		r->retry_at_ms = loop_now_ms(o->control->cache->loop) + loop_backoff_ms(r->failures++, 1000, 30000);
		return;
	}
	MEM_AUTO char *path = hpa_path(so->meta.namespace_, name);
	MEM_AUTO char *body = json_text(merged);
	struct kube_request request = { .verb = KUBE_UPDATE, .path = path, .body = body, .priority = KUBE_NORMAL };

	json_decref(merged);
	snprintf(doing, sizeof(doing), "failed to ensure HPA is correctly created for ScaledObject: updating HPA %s",
		name);
	write_start(o, &request, doing, on_stored, NULL);
}

static void on_live(struct object *o, const json_t *live)
{
	char name[254];
	const struct scaledobject *so = store_scaledobject(o->control->cache->store, o->key);

	if (!so || so->meta.deleted_unix_ms || !o->reconcile.desired)
		return;
	/*
	 * It was given another name while this one was read: what it says now was not said of this
	 * HPA.
	 */
	if (strcmp(desired_name(o->reconcile.desired), scaledobject_hpa_name(so, name, sizeof(name))) == 0)
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

	write_start(o, &request, "failed to ensure HPA is correctly created for ScaledObject: reading the HPA", on_live,
		on_live_failure);
}

/* ---- Creating ---- */

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

	snprintf(doing, sizeof(doing), "failed to ensure HPA is correctly created for ScaledObject: creating HPA %s",
		desired_name(desired));
	write_start(o, &request, doing, on_stored, on_create_failure);
}

/* ---- Removing ---- */

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

static void delete (struct object *o, const char *namespace_, const char *name, const char *uid, const char *doing)
{
	MEM_AUTO char *path = hpa_path(namespace_, name);
	MEM_AUTO char *body =
		mem_printf("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"%s\"}}",
			uid);
	struct kube_request request = { .verb = KUBE_DELETE, .path = path, .body = body, .priority = KUBE_NORMAL };

	free(o->reconcile.removing);
	o->reconcile.removing = mem_dup(name);
	write_start(o, &request, doing, on_removed, on_remove_failure);
}

bool hpakeeper_remove(struct object *o, const struct scaledobject *so, const char *doing)
{
	const struct hpa *hpa = store_hpa_of(o->control->cache->store, so, "");

	if (!hpa)
		return false;
	delete (o, so->meta.namespace_, hpa->meta.name, hpa->meta.uid, doing);
	return true;
}

/* After a rename. */
static bool remove_old(struct object *o, const struct scaledobject *so, const char *name)
{
	const struct hpa *old = store_hpa_of(o->control->cache->store, so, name);
	char doing[320];

	if (!old)
		return false;
	snprintf(doing, sizeof(doing),
		"failed to ensure HPA is correctly created for ScaledObject: deleting the old HPA %s", old->meta.name);
	delete (o, so->meta.namespace_, old->meta.name, old->meta.uid, doing);
	return true;
}

/* ---- The look ---- */

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
	/*
	 * An admission plugin may keep changing what we write: once is enough, or we would write
	 * for ever.
	 */
	if (r->wanted_hpa == r->futile_hpa) {
		log_debug(o->subject, "HPA %s was written and came back different; left as it is", name);
		return false;
	}
	replace(o, so, desired);
	return true;
}
