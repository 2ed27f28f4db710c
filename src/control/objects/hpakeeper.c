/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maintains the HPA of an object: creates a missing one, replaces a differing spec, deletes the old
 * one after a rename. Never changes an HPA of others.
 */
#include "control/objects/hpakeeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/objects/queue.h"
#include "control/objects/recorder.h"
#include "control/objects/work.h"
#include "control/objects/write.h"
#include "decide/hpaspec.h"
#include "decide/mark.h"

#define ENSURE "failed to ensure HPA is correctly created for ScaledObject: "

/* How often in a row an HPA may be missing when read but exist when created. */
#define VANISHED_MAX 3

/*
 * Delay between two replacements of the HPA, from the third in a row on, which is logged: two
 * writers must not run a race.
 */
#define FIGHT          3
#define AGAIN_FIRST_MS 1000
#define AGAIN_MAX_MS   300000
/* After this long without one, counting begins anew. */
#define QUIET_MS (2 * AGAIN_MAX_MS)

static char *hpa_path(const char *namespace_, const char *name)
{
	return mem_printf("/apis/autoscaling/v2/namespaces/%s/horizontalpodautoscalers%s%s", namespace_,
		name ? "/" : "", name ? name : "");
}

static const char *desired_name(const json_t *desired)
{
	return json_metadata_text(desired, "name");
}

static char *key_of(const struct work *work, const char *name, char out[STORE_KEY_MAX])
{
	MEM_AUTO char *namespace_ = work_namespace(work);

	return store_key(namespace_, name, out);
}

static void forget_hpa(struct work *work, const char *name)
{
	char key[STORE_KEY_MAX];

	store_forget_hpa(work->control->cache->store, key_of(work, name, key));
}

static const struct hpa *live_of(const struct work *work, const json_t *desired)
{
	char key[STORE_KEY_MAX];

	return store_hpa(work->control->cache->store, key_of(work, desired_name(desired), key));
}

/* Each further replacement waits longer. */
static void note_stored(struct work *work, const char *name)
{
	struct hpa_part *p = &work->hpakeeper.hpa;
	int64_t now_ms = loop_now_ms(work->control->cache->loop);

	if (now_ms > p->again_ms + QUIET_MS)
		p->writes = 0;
	p->again_ms = now_ms;
	if (++p->writes >= FIGHT)
		p->again_ms += loop_backoff_ms(p->writes - FIGHT, AGAIN_FIRST_MS, AGAIN_MAX_MS);
	if (p->writes == FIGHT)
		log_warn(work->subject, "others keep changing the HPA %s; each correction waits longer", name);
}

static void on_stored(struct work *work, const json_t *object)
{
	struct hpakeeper_part *r = &work->hpakeeper;
	const struct hpa *live;

	if (r->hpa.over_others)
		note_stored(work, desired_name(r->desired));
	store_learn_hpa(work->control->cache->store, object);
	live = live_of(work, r->desired);
	r->hpa.came = live ? hpaspec_print(r->desired, live) : 0;
	r->hpa.stale = false;
	json_decref(r->desired);
	r->desired = NULL;
}

/* ---- Replacing ---- */

/* Its controller, for people: "Deployment web" or "nobody"; into out. */
static const char *owner_of(const json_t *live, char out[320])
{
	const json_t *owner = meta_controller_in(live);

	snprintf(out, 320, owner ? "%s %s" : "nobody", json_str_or_empty(owner, "kind"),
		json_str_or_empty(owner, "name"));
	return out;
}

static void refuse_foreign(struct err *err, const char *name, const json_t *live)
{
	char owner[320];

	err_set(err, ERR_INVALID,
		"the HPA %s exists already and belongs to %s, not to this ScaledObject: delete it, or choose another "
		"name in spec.advanced.horizontalPodAutoscalerConfig.name, "
		"or let it be taken over with that name written there and the annotation " ANNOTATION_TRANSFER_HPA
		": \"true\"",
		name, owner_of(live, owner));
}

/* ---- Giving it up ---- */

static void on_given_away(struct work *work, const json_t *object)
{
	forget_hpa(work, json_metadata_text(object, "name"));
}

/*
 * Another manager has applied it as its own, and will not expect it to go with the ScaledObject:
 * for example, a chart that contained one now contains the other. The next look finds a foreign
 * HPA.
 */
static void give_away(struct work *work, const char *namespace_, const json_t *live)
{
	const char *name = json_metadata_text(live, "name");
	json_t *given = hpaspec_given_away(live);
	MEM_AUTO char *path = hpa_path(namespace_, name);
	MEM_AUTO char *body = json_text(given);
	struct kube_request request = { .verb = KUBE_UPDATE, .path = path, .body = body, .priority = KUBE_NORMAL };

	json_decref(given);
	log_warn(work->subject, "HPA %s was applied by %s, and is left to it", name, hpaspec_applied_by(live));
	recorder_event(work, "Warning", "HPAConflict",
		"HPA %s was applied by %s, and is left to it: it stays when this ScaledObject is deleted", name,
		hpaspec_applied_by(live));
	write_start(work, &request, ENSURE "leaving the HPA to others", on_given_away, NULL);
}

static void put_merged(struct work *work, const struct scaledobject *so, const json_t *live)
{
	char doing[320];
	const char *name = json_metadata_text(live, "name");
	json_t *merged = NULL;
	enum hpaspec_claim claim = hpaspec_claim(so, live);
	struct err err = { 0 };

	if (claim == HPASPEC_GIVEN_AWAY) {
		give_away(work, so->meta.namespace_, live);
		return;
	}
	if (claim == HPASPEC_FOREIGN)
		refuse_foreign(&err, name, live);
	else
		merged = hpaspec_merge(work->hpakeeper.desired, live, &err);
	if (!merged)
		err_wrap(&err, "failed to ensure HPA is correctly created for ScaledObject");
	write_keep_error(work, merged ? NULL : &err);
	if (!merged)
		return;
	MEM_AUTO char *path = hpa_path(so->meta.namespace_, name);
	MEM_AUTO char *body = json_text(merged);
	struct kube_request request = { .verb = KUBE_UPDATE, .path = path, .body = body, .priority = KUBE_NORMAL };

	json_decref(merged);
	snprintf(doing, sizeof(doing), ENSURE "updating HPA %s", name);
	write_start(work, &request, doing, on_stored, NULL);
}

static void on_live(struct work *work, const json_t *live)
{
	char name[254];
	const struct scaledobject *so = work->object->of.so;

	if (!so || so->meta.deleted_unix_ms || !work->hpakeeper.desired)
		return;
	/* If the spec names another HPA meanwhile, this error is not about that one. */
	if (strcmp(desired_name(work->hpakeeper.desired), scaledobject_hpa_name(so, name, sizeof(name))) == 0)
		put_merged(work, so, live);
}

static bool on_live_failure(struct work *work, const struct err *err)
{
	if (err->kind != ERR_MISSING || !write_try_at_once(work, VANISHED_MAX))
		return false;
	/* It was deleted meanwhile: the next reconcile creates it. */
	forget_hpa(work, desired_name(work->hpakeeper.desired));
	queue_mark(work);
	return true;
}

/*
 * Reads the live object first, to keep labels and annotations of others. whole: including owner and
 * managers.
 */
static void replace(struct work *work, const struct scaledobject *so, const json_t *desired, bool whole)
{
	MEM_AUTO char *path = hpa_path(so->meta.namespace_, desired_name(desired));
	struct kube_request request = { .verb = KUBE_GET,
		.path = path,
		.priority = KUBE_NORMAL,
		.answer = whole ? KUBE_ANSWER_WHOLE : KUBE_ANSWER_STRIPPED };

	write_start(work, &request, ENSURE "reading the HPA", on_live, on_live_failure);
}

/* ---- Creating ---- */

/* It exists, but without our label: it is KEDA's, or someone else's. */
static bool on_create_failure(struct work *work, const struct err *err)
{
	const struct scaledobject *so = work->object->of.so;

	if (err->kind != ERR_CONFLICT || !so || !work->hpakeeper.desired)
		return false;
	replace(work, so, work->hpakeeper.desired, true);
	return true;
}

static void create(struct work *work, const struct scaledobject *so, const json_t *desired)
{
	char doing[320];
	MEM_AUTO char *path = hpa_path(so->meta.namespace_, NULL);
	MEM_AUTO char *body = json_text(desired);
	struct kube_request request = { .verb = KUBE_CREATE, .path = path, .body = body, .priority = KUBE_NORMAL };

	snprintf(doing, sizeof(doing), ENSURE "creating HPA %s", desired_name(desired));
	write_start(work, &request, doing, on_stored, on_create_failure);
}

/* ---- Removing ---- */

static void on_removed(struct work *work, const json_t *object)
{
	(void)object;
	forget_hpa(work, work->hpakeeper.removing);
}

static bool on_remove_failure(struct work *work, const struct err *err)
{
	if (err->kind != ERR_MISSING)
		return false;
	forget_hpa(work, work->hpakeeper.removing);
	queue_mark(work);
	return true;
}

/* Not one that another manager has applied as its own. */
static void on_looked(struct work *work, const json_t *live)
{
	const struct meta *so = work->object->of.meta;
	MEM_AUTO char *path = hpa_path(so->namespace_, work->hpakeeper.removing);
	MEM_AUTO char *body =
		mem_printf("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"%s\"}}",
			work->hpakeeper.removing_uid);
	struct kube_request request = { .verb = KUBE_DELETE, .path = path, .body = body, .priority = KUBE_NORMAL };

	if (hpaspec_applied_by(live))
		give_away(work, so->namespace_, live);
	else
		write_start(work, &request, work->hpakeeper.removing_step, on_removed, on_remove_failure);
}

static void delete (struct work *work, const struct meta *hpa, const char *doing)
{
	struct hpakeeper_part *r = &work->hpakeeper;
	MEM_AUTO char *path = hpa_path(hpa->namespace_, hpa->name);
	struct kube_request request = { .verb = KUBE_GET,
		.path = path,
		.priority = KUBE_NORMAL,
		.answer = KUBE_ANSWER_WHOLE };

	hpakeeper_stop(work);
	r->removing = mem_dup(hpa->name);
	r->removing_uid = mem_dup(hpa->uid);
	r->removing_step = mem_dup(doing);
	write_start(work, &request, doing, on_looked, on_remove_failure);
}

void hpakeeper_stop(struct work *work)
{
	json_decref(work->hpakeeper.desired);
	work->hpakeeper.desired = NULL;
	mem_free_ptr(&work->hpakeeper.removing);
	mem_free_ptr(&work->hpakeeper.removing_uid);
	mem_free_ptr(&work->hpakeeper.removing_step);
}

bool hpakeeper_remove(struct work *work, const struct scaledobject *so, const char *doing)
{
	const struct hpa *hpa = store_hpa_of(work->control->cache->store, so, "");

	if (!hpa)
		return false;
	delete (work, &hpa->meta, doing);
	return true;
}

/* After a rename. */
static bool remove_old(struct work *work, const struct scaledobject *so, const char *name)
{
	const struct hpa *old = store_hpa_of(work->control->cache->store, so, name);
	char doing[320];

	if (!old)
		return false;
	snprintf(doing, sizeof(doing), ENSURE "deleting the old HPA %s", old->meta.name);
	delete (work, &old->meta, doing);
	return true;
}

/* ---- The reconcile ---- */

/*
 * A new wish does not inherit the write history of the last one. True if it is new: then the HPA
 * differs because of it, not because of others.
 */
static bool note_wanted(struct hpa_part *p, const json_t *desired)
{
	uint64_t wanted = json_digest(desired);
	bool another = p->wanted && p->wanted != wanted;

	if (p->wanted != wanted)
		*p = (struct hpa_part){ .wanted = wanted, .keys = p->keys, .stale = p->stale };
	return another;
}

static uint64_t mark_keys(uint64_t mark, json_t *map)
{
	const char *key;
	json_t *value;

	json_object_foreach(map, key, value) mark = mark_text(mark, key);
	return mark_word(mark, 1);
}

/*
 * A label or annotation that the ScaledObject no longer has may still be on the HPA; the HPA alone
 * does not show that, but managedFields do, so it is written once more.
 */
static void note_keys(struct hpa_part *p, const json_t *desired)
{
	const json_t *metadata = json_object_get(desired, "metadata");
	uint64_t keys = mark_keys(mark_keys(0, json_object_get(metadata, "labels")),
		json_object_get(metadata, "annotations"));

	p->stale = p->stale || (p->keys && p->keys != keys);
	p->keys = keys;
}

/* True before the next replacement is allowed; the timer leads to a reconcile. */
static bool too_early(struct work *work)
{
	const struct hpa_part *p = &work->hpakeeper.hpa;
	int64_t now_ms = loop_now_ms(work->control->cache->loop);

	if (now_ms >= p->again_ms)
		return false;
	write_again(work, p->again_ms - now_ms);
	return true;
}

bool hpakeeper_run(struct work *work, const struct scaledobject *so, json_t *desired)
{
	struct hpakeeper_part *r = &work->hpakeeper;
	const char *name = desired_name(desired);
	const struct hpa *live = live_of(work, desired);
	bool whole;

	if (remove_old(work, so, name))
		return true;
	note_keys(&r->hpa, desired);
	if (live && !r->hpa.stale && hpaspec_matches(desired, live))
		return false;
	whole = !note_wanted(&r->hpa, desired) || r->hpa.stale;
	/*
	 * An admission plugin may change each write: then it is not repeated until somebody changes
	 * the HPA.
	 */
	if (live && !r->hpa.stale && r->hpa.came && r->hpa.came == hpaspec_print(desired, live)) {
		log_debug(work->subject, "HPA %s was written and came back different; left as it is", name);
		return false;
	}
	if (live && too_early(work))
		return false;
	json_decref(r->desired);
	r->desired = json_incref(desired);
	r->hpa.over_others = live != NULL;
	if (live)
		replace(work, so, desired, whole);
	else
		create(work, so, desired);
	return true;
}
