/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/version.h"
#include "kube/watch.h"

#define LISTENERS_MAX 2
#define OPEN_LATE_MS 1000
#define READ_FAILURES_TOLD 3 /* in a row; what passes by itself is no news */

struct target;

/* One kind in one namespace (or everywhere): a watch while at least one object of it is wanted. */
struct place {
	struct targets *owner;
	char *key;              /* "apps/v1/deployments" or "apps/v1/deployments in shop" */
	char *path;
	struct watch *watch;
	unsigned list;
	bool listing, synced;
	char *trouble;
	size_t wanted;
	UT_hash_handle hh;
};

/* One wanted object. Its owners are the ScaledObjects that scale it (two may, until one is refused). */
struct target {
	struct place *place;
	char *key;              /* "apps/v1/deployments/shop/web" */
	char *group, *version, *resource, *namespace_, *name;
	enum target_state state;
	struct workload *workload;
	unsigned list;          /* the list it was last seen in */
	uint64_t shape;         /* fingerprint of what scaling looks at */
	struct kube_call *read; /* the GET for a target named after its kind's list */
	struct loop_timer read_again;
	unsigned read_failures;
	char *trouble;          /* why it cannot be read; NULL */
	struct want *owners;
	UT_hash_handle hh;
};

struct want {
	char *owner_key;
	struct target *target;
	struct want *next;      /* among the target's owners */
	UT_hash_handle hh;
};

struct targets {
	struct kube *kube;
	char **namespaces;
	size_t namespace_count;
	bool open;              /* lists may begin */
	struct loop_timer open_late;
	struct place *places;
	struct target *targets;
	struct want *wants;
	struct { targets_fn fn; void *arg; } listeners[LISTENERS_MAX];
	size_t listener_count;
};

/* --- telling ------------------------------------------------------------------------------------------------------------------ */

/* Listeners only take note; they never call back into this module from here. */
static void tell(struct target *target)
{
	struct targets *t = target->place->owner;

	for (struct want *w = target->owners; w; w = w->next)
		for (size_t i = 0; i < t->listener_count; i++)
			t->listeners[i].fn(t->listeners[i].arg, w->owner_key);
}

static void set_missing(struct target *target)
{
	bool changed = target->state != TARGET_MISSING;

	workload_free(target->workload);
	target->workload = NULL;
	target->state = TARGET_MISSING;
	if (changed)
		tell(target);
}

static void shape_env(struct buf *b, const struct workload_container *c)
{
	buf_printf(b, "%s\n", c->name);
	for (size_t i = 0; i < c->env_count; i++)
		buf_printf(b, "%s=%d %s %s %s\n", c->env[i].name, (int)c->env[i].source, c->env[i].value ? c->env[i].value : "",
			   c->env[i].ref_name ? c->env[i].ref_name : "", c->env[i].ref_key ? c->env[i].ref_key : "");
	for (size_t i = 0; i < c->env_from_count; i++)
		buf_printf(b, "from %d %s %s\n", c->env_from[i].secret, c->env_from[i].name, c->env_from[i].prefix ? c->env_from[i].prefix : "");
}

/* What scaling looks at, so that a Deployment's ever-moving status is no change. */
static uint64_t shape_of(const struct workload *w)
{
	struct buf b = BUF_INIT(4 << 20);
	uint64_t shape;

	buf_printf(&b, "%s %d\n", w->uid, w->replicas);
	for (size_t i = 0; i < w->container_count; i++)
		shape_env(&b, &w->containers[i]);
	shape = fingerprint_fast(buf_text(&b), b.len);
	buf_done_secret(&b);
	return shape;
}

/* Takes w. */
static void set_present(struct target *target, struct workload *w)
{
	uint64_t shape = shape_of(w);
	bool changed = target->state != TARGET_PRESENT || target->shape != shape;

	workload_free(target->workload);
	target->workload = w;
	target->shape = shape;
	target->state = TARGET_PRESENT;
	if (changed)
		tell(target);
}

static void set_trouble(struct target *target, char *trouble)
{
	free(target->trouble);
	target->trouble = trouble;
}

/* The watch is newer than a read that started before it. */
static void read_stop(struct target *target)
{
	kube_cancel(target->read);
	target->read = NULL;
	loop_timer_cancel(&target->read_again);
	set_trouble(target, NULL);
}

static bool read_pending(const struct target *target)
{
	return target->read || loop_timer_pending(&target->read_again);
}

/* --- the watch of one kind ---------------------------------------------------------------------------------------------------- */

static struct target *target_find(struct targets *t, const char *key)
{
	struct target *target;

	HASH_FIND_STR(t->targets, key, target);
	return target;
}

/* The wanted object that this JSON is about, or NULL: everything else is dropped right here. */
static struct target *target_of(struct place *place, const json_t *object)
{
	const json_t *meta = json_object_get(object, "metadata");
	const char *namespace_ = json_string_value(json_object_get(meta, "namespace"));
	const char *name = json_string_value(json_object_get(meta, "name"));
	MEM_AUTO char *key = NULL;
	size_t kind_len = strcspn(place->key, " ");

	if (!name)
		return NULL;
	key = mem_printf("%.*s/%s/%s", (int)kind_len, place->key, namespace_ ? namespace_ : "", name);
	return target_find(place->owner, key);
}

static void on_list(void *arg)
{
	struct place *place = arg;

	place->list++;
	place->listing = true;
}

static void take(struct target *target, const json_t *object, bool authoritative)
{
	struct err err = { 0 };
	struct workload *w = workload_decode(object, &err);

	if (!w) {
		log_error(target->key, "cannot be read and is left alone: %s", err.msg);
		return;
	}
	if (!authoritative && target->workload && version_compare(w->resource_version, target->workload->resource_version) <= 0) {
		workload_free(w);
		return;
	}
	set_present(target, w);
}

static void on_object(void *arg, const json_t *object)
{
	struct place *place = arg;
	struct target *target = target_of(place, object);

	if (!target)
		return;
	read_stop(target);
	target->list = place->list;
	take(target, object, place->listing);
}

static void on_deleted(void *arg, const json_t *object)
{
	struct target *target = target_of(arg, object);
	const char *version = json_str_or_empty(json_object_get(object, "metadata"), "resourceVersion");

	/* A read may have brought the one that was made anew meanwhile. */
	if (!target || (target->workload && version_compare(version, target->workload->resource_version) < 0))
		return;
	read_stop(target);
	set_missing(target);
}

static void on_synced(void *arg)
{
	struct place *place = arg;
	struct target *target, *next;

	place->listing = false;
	place->synced = true;
	HASH_ITER(hh, place->owner->targets, target, next)
		if (target->place == place && target->list != place->list && !read_pending(target))
			set_missing(target);
	mem_settle();
}

/* Who waits for the list hears why it does not come. */
static void tell_unread(struct place *place)
{
	struct target *target, *next;

	HASH_ITER(hh, place->owner->targets, target, next)
		if (target->place == place && target->state == TARGET_UNREAD)
			tell(target);
}

static void on_trouble(void *arg, const struct err *err)
{
	struct place *place = arg;

	free(place->trouble);
	place->trouble = err ? mem_printf("watching %s: %s", place->key, err->msg) : NULL;
	if (err)
		log_warn(place->key, "cannot be watched at the moment: %s", err->msg);
	else
		log_info(place->key, "the watch works");
	tell_unread(place);
}

static char *collection_path(const char *group, const char *version, const char *resource, const char *namespace_)
{
	MEM_AUTO char *root = *group ? mem_printf("/apis/%s/%s", group, version) : mem_printf("/api/%s", version);

	return namespace_ ? mem_printf("%s/namespaces/%s/%s", root, namespace_, resource) : mem_printf("%s/%s", root, resource);
}

static void place_watch(struct place *place)
{
	static const struct watch_events events = { on_list, on_object, on_deleted, on_synced, on_trouble };
	struct watch_config config = { .path = place->path, .subject = place->key };

	place->watch = watch_start(place->owner->kube, &config, &events, place);
}

static struct place *place_get(struct targets *t, const struct target_ref *ref)
{
	const char *namespace_ = t->namespace_count > 0 ? ref->namespace_ : NULL;
	MEM_AUTO char *key = mem_printf("%s/%s/%s%s%s", ref->group, ref->version, ref->resource, namespace_ ? " in " : "", namespace_ ? namespace_ : "");
	struct place *place;

	HASH_FIND_STR(t->places, key, place);
	if (place)
		return place;
	place = mem_zalloc(sizeof(*place));
	place->owner = t;
	place->key = mem_dup(key);
	place->path = collection_path(ref->group, ref->version, ref->resource, namespace_);
	HASH_ADD_KEYPTR(hh, t->places, place->key, strlen(place->key), place);
	if (t->open)
		place_watch(place);
	return place;
}

static void place_free(struct place *place)
{
	HASH_DELETE(hh, place->owner->places, place);
	watch_stop(place->watch);
	free(place->trouble);
	free(place->path);
	free(place->key);
	free(place);
}

/* --- a target that was named after its kind's list --------------------------------------------------------------------------- */

/* Tried again for ever; its owners hear why when it does not pass by itself. */
static void read_failed(struct target *target, const struct err *err)
{
	log_warn(target->key, "cannot be read: %s", err->msg);
	loop_timer_set(&target->read_again, loop_backoff_ms(target->read_failures++, 200, 30000));
	if (err->kind == ERR_TEMPORARY && target->read_failures < READ_FAILURES_TOLD)
		return;
	set_trouble(target, mem_printf("reading %s: %s", target->key, err->msg));
	if (target->state == TARGET_UNREAD)
		tell(target);
}

static void on_read(void *arg, const json_t *object, const struct err *err)
{
	struct target *target = arg;
	struct err empty = { 0 };

	target->read = NULL;
	if (!err && !object) {
		err_set(&empty, ERR_TEMPORARY, "the answer is empty");
		err = &empty;
	}
	if (err && err->kind != ERR_MISSING) {
		read_failed(target, err);
		return;
	}
	target->read_failures = 0;
	set_trouble(target, NULL);
	/* The list under way may have passed it already. */
	target->list = target->place->list;
	if (err)
		set_missing(target);
	else
		take(target, object, false);
}

static void read_one(void *arg)
{
	struct target *target = arg;
	MEM_AUTO char *collection = collection_path(target->group, target->version, target->resource, target->namespace_);
	MEM_AUTO char *path = mem_printf("%s/%s", collection, target->name);
	struct kube_request request = { .verb = KUBE_GET, .path = path, .priority = KUBE_NORMAL };

	target->read = kube_call(target->place->owner->kube, &request, on_read, target);
}

/* --- wanting ------------------------------------------------------------------------------------------------------------------ */

static struct target *target_get(struct targets *t, const struct target_ref *ref)
{
	MEM_AUTO char *key = mem_printf("%s/%s/%s/%s/%s", ref->group, ref->version, ref->resource, ref->namespace_, ref->name);
	struct target *target = target_find(t, key);

	if (target)
		return target;
	target = mem_zalloc(sizeof(*target));
	target->place = place_get(t, ref);
	target->place->wanted++;
	target->key = mem_dup(key);
	target->group = mem_dup(ref->group);
	target->version = mem_dup(ref->version);
	target->resource = mem_dup(ref->resource);
	target->namespace_ = mem_dup(ref->namespace_);
	target->name = mem_dup(ref->name);
	HASH_ADD_KEYPTR(hh, t->targets, target->key, strlen(target->key), target);
	loop_timer_init(&target->read_again, kube_loop(t->kube), read_one, target);
	/* The first list may be half read; only one that has not begun is sure to bring this object. */
	if (target->place->synced || target->place->listing)
		read_one(target);
	return target;
}

static void target_free(struct target *target)
{
	struct place *place = target->place;

	HASH_DELETE(hh, place->owner->targets, target);
	read_stop(target);
	loop_timer_done(&target->read_again);
	workload_free(target->workload);
	free(target->trouble);
	free(target->key);
	free(target->group);
	free(target->version);
	free(target->resource);
	free(target->namespace_);
	free(target->name);
	free(target);
	if (--place->wanted == 0)
		place_free(place);
}

static struct want *want_find(const struct targets *t, const char *owner_key)
{
	struct want *w;

	HASH_FIND_STR(t->wants, owner_key, w);
	return w;
}

static void want_free(struct targets *t, struct want *w)
{
	struct want **link = &w->target->owners;

	while (*link != w)
		link = &(*link)->next;
	*link = w->next;
	HASH_DELETE(hh, t->wants, w);
	if (!w->target->owners)
		target_free(w->target);
	free(w->owner_key);
	free(w);
}

void targets_want(struct targets *t, const char *owner_key, const struct target_ref *ref)
{
	struct want *old = want_find(t, owner_key);
	struct target *target = target_get(t, ref);
	struct want *w;

	if (old && old->target == target)
		return;
	w = mem_zalloc(sizeof(*w));
	w->owner_key = mem_dup(owner_key);
	w->target = target;
	w->next = target->owners;
	target->owners = w;
	if (old)
		want_free(t, old);
	HASH_ADD_KEYPTR(hh, t->wants, w->owner_key, strlen(w->owner_key), w);
}

void targets_release(struct targets *t, const char *owner_key)
{
	struct want *w = want_find(t, owner_key);

	if (w)
		want_free(t, w);
}

enum target_state targets_get(const struct targets *t, const char *owner_key, const struct workload **out)
{
	const struct want *w = want_find(t, owner_key);

	*out = w ? w->target->workload : NULL;
	return w ? w->target->state : TARGET_UNREAD;
}

const char *targets_trouble(const struct targets *t, const char *owner_key)
{
	const struct want *w = want_find(t, owner_key);

	if (!w)
		return NULL;
	return w->target->trouble ? w->target->trouble : w->target->place->trouble;
}

void targets_learn_scale(struct targets *t, const char *owner_key, const json_t *scale)
{
	struct want *w = want_find(t, owner_key);
	struct workload *workload = w ? w->target->workload : NULL;
	const char *version = json_string_value(json_object_get(json_object_get(scale, "metadata"), "resourceVersion"));
	const json_t *replicas = json_object_get(json_object_get(scale, "spec"), "replicas");

	if (!workload || !version || version_compare(version, workload->resource_version) <= 0)
		return;
	/* A Scale leaves out replicas when they are 0. */
	workload->replicas = (int32_t)json_integer_value(replicas);
	free(workload->resource_version);
	workload->resource_version = mem_dup(version);
	w->target->shape = shape_of(workload);
}

void targets_open(struct targets *t)
{
	struct place *place, *next;

	loop_timer_cancel(&t->open_late);
	if (t->open)
		return;
	t->open = true;
	HASH_ITER(hh, t->places, place, next)
		place_watch(place);
}

static void on_open_late(void *arg)
{
	targets_open(arg);
}

struct targets *targets_new(struct kube *kube)
{
	struct targets *t = mem_zalloc(sizeof(*t));

	t->kube = kube;
	loop_timer_init(&t->open_late, kube_loop(kube), on_open_late, t);
	return t;
}

void targets_start(struct targets *t, const char *const *namespaces, size_t count)
{
	t->namespaces = mem_array(count + 1, sizeof(*t->namespaces));
	for (size_t i = 0; i < count; i++)
		t->namespaces[i] = mem_dup(namespaces[i]);
	t->namespace_count = count;
	loop_timer_set(&t->open_late, OPEN_LATE_MS);
}

void targets_free(struct targets *t)
{
	struct want *w, *next;

	if (!t)
		return;
	HASH_ITER(hh, t->wants, w, next)
		want_free(t, w);
	loop_timer_done(&t->open_late);
	for (size_t i = 0; i < t->namespace_count; i++)
		free(t->namespaces[i]);
	free(t->namespaces);
	free(t);
}

void targets_listen(struct targets *t, targets_fn fn, void *arg)
{
	if (t->listener_count < LISTENERS_MAX) {
		t->listeners[t->listener_count].fn = fn;
		t->listeners[t->listener_count++].arg = arg;
	}
}
