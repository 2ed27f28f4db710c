/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/version.h"
#include "decide/hpaspec.h"
#include "kube/watch.h"

#define LISTENERS_MAX 4

enum kind { KIND_SCALEDOBJECT, KIND_HPA, KINDS };

/* One kind in one namespace (or everywhere). */
struct source {
	struct store *owner;
	enum kind kind;
	char *namespace_;   /* NULL: everywhere */
	struct watch *watch;
	unsigned list;      /* number of the list that is being read, or was last */
	bool listing;
	bool synced;
	char *trouble;      /* NULL */
	char *seen;         /* version of the newest object that it brought; NULL */
};

/* One object; which of the two is set follows from the kind. */
struct item {
	char *key;
	enum kind kind;
	struct scaledobject *so;
	struct hpa *hpa;
	struct source *source;
	unsigned list;      /* the list it was last seen in */
	UT_hash_handle hh;
};

struct store {
	struct kube *kube;
	struct item *items[KINDS];
	struct source *sources;
	size_t source_count;
	struct { store_listener fn; void *arg; } listeners[LISTENERS_MAX];
	size_t listener_count;
	bool told_synced;
	struct counters_family *objects;
};

static const struct {
	const char *kind, *subject, *group_path, *resource, *label_selector;
} kinds[KINDS] = {
	[KIND_SCALEDOBJECT] = { "ScaledObject", "scaledobjects", "/apis/keda.sh/v1alpha1", "scaledobjects", NULL },
	[KIND_HPA] = { "HorizontalPodAutoscaler", "horizontalpodautoscalers", "/apis/autoscaling/v2", "horizontalpodautoscalers", HPASPEC_MANAGED_LABEL "=true" },
};

char *store_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX])
{
	snprintf(out, STORE_KEY_MAX, "%s/%s", namespace_, name);
	return out;
}

/* --- items -------------------------------------------------------------------------------------------------------------------- */

static const struct meta *item_meta(const struct item *item)
{
	return item->so ? &item->so->meta : &item->hpa->meta;
}

static void item_clear(struct item *item)
{
	scaledobject_free(item->so);
	hpa_free(item->hpa);
	item->so = NULL;
	item->hpa = NULL;
}

static struct item *item_find(const struct store *s, enum kind kind, const char *key)
{
	struct item *item;

	HASH_FIND_STR(s->items[kind], key, item);
	return item;
}

static void count_items(struct store *s, enum kind kind)
{
	if (s->objects)
		counters_set(s->objects, (const char *const[]){ kinds[kind].kind }, HASH_COUNT(s->items[kind]));
}

static struct item *item_add(struct store *s, enum kind kind, const char *key)
{
	struct item *item = mem_zalloc(sizeof(*item));

	item->key = mem_dup(key);
	item->kind = kind;
	HASH_ADD_KEYPTR(hh, s->items[kind], item->key, strlen(item->key), item);
	count_items(s, kind);
	return item;
}

static void item_remove(struct store *s, struct item *item)
{
	HASH_DELETE(hh, s->items[item->kind], item);
	count_items(s, item->kind);
	item_clear(item);
	free(item->key);
	free(item);
}

/* An HPA's change concerns the ScaledObject that controls it. */
static bool owner_key(const struct item *item, char out[STORE_KEY_MAX])
{
	const struct owner_ref *owner;

	if (item->kind == KIND_SCALEDOBJECT) {
		snprintf(out, STORE_KEY_MAX, "%s", item->key);
		return true;
	}
	owner = meta_controller(&item->hpa->meta);
	if (!owner || strcmp(owner->kind, "ScaledObject") != 0)
		return false;
	store_key(item->hpa->meta.namespace_, owner->name, out);
	return true;
}

static void tell(struct store *s, enum store_change change, const char *key)
{
	for (size_t i = 0; i < s->listener_count; i++)
		s->listeners[i].fn(s->listeners[i].arg, change, key);
}

static void tell_owner(struct store *s, enum kind kind, const char *key)
{
	tell(s, kind == KIND_SCALEDOBJECT ? STORE_SCALEDOBJECT : STORE_HPA, key);
}

/* --- taking in ---------------------------------------------------------------------------------------------------------------- */

/* Decodes into a new item content; false when not even the metadata can be read. */
static bool decode(enum kind kind, const json_t *object, struct scaledobject **so, struct hpa **hpa)
{
	struct err err = { 0 };

	*so = NULL;
	*hpa = NULL;
	if (kind == KIND_SCALEDOBJECT)
		*so = scaledobject_decode(object, &err);
	else
		*hpa = hpa_decode(object, &err);
	if (*so || *hpa)
		return true;
	log_error(kinds[kind].subject, "an object that cannot be read is left alone: %s", err.msg);
	return false;
}

/* Takes the new content. Whoever controlled an HPA until now is concerned as well as whoever does from now on. */
static void replace(struct store *s, struct item *item, struct scaledobject *so, struct hpa *hpa)
{
	const struct meta *meta = so ? &so->meta : &hpa->meta;
	bool is_new = !item->so && !item->hpa;
	bool changed = is_new || strcmp(item_meta(item)->resource_version, meta->resource_version) != 0;
	char before[STORE_KEY_MAX] = "", now[STORE_KEY_MAX] = "";

	if (!is_new && !owner_key(item, before))
		before[0] = '\0';
	item_clear(item);
	item->so = so;
	item->hpa = hpa;
	if (!changed)
		return;
	if (owner_key(item, now))
		tell_owner(s, item->kind, now);
	if (before[0] && strcmp(before, now) != 0)
		tell_owner(s, item->kind, before);
}

/* `authoritative`: from a list, which is true whatever we knew (an etcd that was restored counts backwards). */
static struct item *take(struct store *s, enum kind kind, const json_t *object, bool authoritative)
{
	struct scaledobject *so;
	struct hpa *hpa;
	const struct meta *meta;
	char key[STORE_KEY_MAX];
	struct item *item;

	if (!decode(kind, object, &so, &hpa))
		return NULL;
	meta = so ? &so->meta : &hpa->meta;
	item = item_find(s, kind, store_key(meta->namespace_, meta->name, key));
	if (item && !authoritative && version_compare(meta->resource_version, item_meta(item)->resource_version) < 0) {
		scaledobject_free(so);
		hpa_free(hpa);
		return item;
	}
	if (!item)
		item = item_add(s, kind, key);
	replace(s, item, so, hpa);
	return item;
}

/* A list begins anew, maybe in an etcd that counts from elsewhere; an event is newer than what came before it. */
static void note_seen(struct source *source, const char *version)
{
	free(source->seen);
	source->seen = mem_dup(version);
}

static void on_list(void *arg)
{
	struct source *source = arg;

	source->list++;
	source->listing = true;
	note_seen(source, NULL);
}

static void on_object(void *arg, const json_t *object)
{
	struct source *source = arg;
	struct item *item = take(source->owner, source->kind, object, source->listing);

	if (!item)
		return;
	item->source = source;
	item->list = source->list;
	if (!source->listing)
		note_seen(source, item_meta(item)->resource_version);
}

/* The item is gone before the listeners look. */
static void drop(struct store *s, struct item *item)
{
	char key[STORE_KEY_MAX];
	bool owned = owner_key(item, key);
	enum kind kind = item->kind;

	item_remove(s, item);
	if (owned)
		tell_owner(s, kind, key);
}

static void on_deleted(void *arg, const json_t *object)
{
	struct source *source = arg;
	struct meta meta = { 0 };
	char key[STORE_KEY_MAX];
	struct item *item;

	if (meta_decode(object, &meta, NULL) == 0) {
		item = item_find(source->owner, source->kind, store_key(meta.namespace_, meta.name, key));
		note_seen(source, meta.resource_version);
		/* A late "deleted" of an object that was made anew meanwhile says nothing about the new one. */
		if (item && strcmp(item_meta(item)->uid, meta.uid) == 0)
			drop(source->owner, item);
	}
	meta_done(&meta);
}

static bool source_covers(const struct source *source, const char *namespace_)
{
	return !source->namespace_ || strcmp(source->namespace_, namespace_) == 0;
}

static struct source *source_of(const struct store *s, enum kind kind, const char *namespace_)
{
	for (size_t i = 0; i < s->source_count; i++)
		if (s->sources[i].kind == kind && source_covers(&s->sources[i], namespace_))
			return &s->sources[i];
	return NULL;
}

/* Objects whose HPAs could not be looked up hear of it when that changes. */
static void tell_waiting(const struct source *source)
{
	struct store *s = source->owner;
	struct item *item, *next;

	HASH_ITER(hh, s->items[KIND_SCALEDOBJECT], item, next)
		if (source_covers(source, item->so->meta.namespace_))
			tell(s, STORE_HPA, item->key);
}

static void on_synced(void *arg)
{
	struct source *source = arg;
	struct store *s = source->owner;
	struct item *item, *next;
	bool first = !source->synced;

	source->listing = false;
	source->synced = true;
	HASH_ITER(hh, s->items[source->kind], item, next)
		if (item->source == source && item->list != source->list)
			drop(s, item);
	if (first && source->kind == KIND_HPA)
		tell_waiting(source);
	mem_settle();
	if (!s->told_synced && store_synced(s)) {
		s->told_synced = true;
		tell(s, STORE_SYNCED, NULL);
	}
}

static void on_trouble(void *arg, const struct err *err)
{
	struct source *source = arg;
	const char *subject = kinds[source->kind].subject;

	free(source->trouble);
	source->trouble = NULL;
	if (!err) {
		log_info(subject, "the watch works");
		return;
	}
	source->trouble = mem_printf("watching %s: %s", subject, err->msg);
	if (err->kind == ERR_MISSING)
		log_error(subject, "cannot be watched: %s (are the CRDs installed? `kscaled manifests | kubectl apply -f -`)", err->msg);
	else
		log_warn(subject, "cannot be watched at the moment: %s", err->msg);
	if (!source->synced && source->kind == KIND_HPA)
		tell_waiting(source);
}

/* --- the house around it ------------------------------------------------------------------------------------------------------ */

struct store *store_new(struct kube *kube, struct counters *counters)
{
	static const char *const labels[] = { "kind", NULL };
	struct store *s = mem_zalloc(sizeof(*s));

	s->kube = kube;
	if (counters)
		s->objects = counters_declare(counters, COUNTERS_GAUGE, "kscaled_objects", "Objects known, by kind.", labels);
	return s;
}

void store_free(struct store *s)
{
	struct item *item, *next;

	if (!s)
		return;
	for (size_t i = 0; i < s->source_count; i++) {
		watch_stop(s->sources[i].watch);
		free(s->sources[i].trouble);
		free(s->sources[i].seen);
		free(s->sources[i].namespace_);
	}
	for (int kind = 0; kind < KINDS; kind++)
		HASH_ITER(hh, s->items[kind], item, next)
			item_remove(s, item);
	free(s->sources);
	free(s);
}

static void source_start(struct store *s, struct source *source, enum kind kind, const char *namespace_)
{
	static const struct watch_events events = { on_list, on_object, on_deleted, on_synced, on_trouble };
	MEM_AUTO char *path = namespace_ ? mem_printf("%s/namespaces/%s/%s", kinds[kind].group_path, namespace_, kinds[kind].resource)
					 : mem_printf("%s/%s", kinds[kind].group_path, kinds[kind].resource);
	struct watch_config config = { .path = path, .label_selector = kinds[kind].label_selector, .subject = kinds[kind].subject };

	source->owner = s;
	source->kind = kind;
	source->namespace_ = mem_dup(namespace_);
	source->watch = watch_start(s->kube, &config, &events, source);
}

void store_start(struct store *s, const char *const *namespaces, size_t count)
{
	size_t places = count > 0 ? count : 1;

	s->sources = mem_array(places * KINDS, sizeof(*s->sources));
	for (size_t i = 0; i < places; i++)
		for (int kind = 0; kind < KINDS; kind++)
			source_start(s, &s->sources[s->source_count++], (enum kind)kind, count > 0 ? namespaces[i] : NULL);
}

bool store_synced(const struct store *s)
{
	for (size_t i = 0; i < s->source_count; i++)
		if (!s->sources[i].synced)
			return false;
	return s->source_count > 0;
}

const char *store_trouble(const struct store *s)
{
	for (size_t i = 0; i < s->source_count; i++)
		if (s->sources[i].trouble)
			return s->sources[i].trouble;
	return NULL;
}

const struct scaledobject *store_scaledobject(const struct store *s, const char *key)
{
	const struct item *item = item_find(s, KIND_SCALEDOBJECT, key);

	return item ? item->so : NULL;
}

const struct hpa *store_hpa(const struct store *s, const char *key)
{
	const struct item *item = item_find(s, KIND_HPA, key);

	return item ? item->hpa : NULL;
}

bool store_knows_hpas(const struct store *s, const char *namespace_, const char **trouble)
{
	const struct source *source = source_of(s, KIND_HPA, namespace_);

	*trouble = source ? source->trouble : NULL;
	return source && source->synced;
}

size_t store_scaledobject_count(const struct store *s)
{
	return HASH_COUNT(s->items[KIND_SCALEDOBJECT]);
}

void store_each_scaledobject(const struct store *s, void (*fn)(void *arg, const char *key, const struct scaledobject *so), void *arg)
{
	struct item *item, *next;

	HASH_ITER(hh, s->items[KIND_SCALEDOBJECT], item, next)
		fn(arg, item->key, item->so);
}

/* What an admission plugin took our label from is not seen by our watch. */
static bool is_watched(const struct source *source, const struct meta *meta)
{
	return source && (source->kind != KIND_HPA || strmap_get(&meta->labels, HPASPEC_MANAGED_LABEL));
}

/* An object that we do not know although the watch has come further: it was deleted before the answer to its write came. */
static bool is_gone(const struct store *s, const struct source *source, const struct meta *meta)
{
	char key[STORE_KEY_MAX];

	return is_watched(source, meta) && source->seen && !item_find(s, source->kind, store_key(meta->namespace_, meta->name, key)) &&
	       version_compare(meta->resource_version, source->seen) <= 0;
}

/* A written object belongs to the source that watches its namespace; it counts as seen in the list under way, which may have passed it already. */
static void learn(struct store *s, enum kind kind, const json_t *object)
{
	struct meta meta = { 0 };
	struct source *source;
	struct item *item;

	if (!object || meta_decode(object, &meta, NULL))
		return; /* an empty answer: the watch will tell */
	source = source_of(s, kind, meta.namespace_);
	item = is_gone(s, source, &meta) ? NULL : take(s, kind, object, false);
	meta_done(&meta);
	if (item && source) {
		item->source = source;
		item->list = source->list;
	}
}

void store_learn_scaledobject(struct store *s, const json_t *object)
{
	learn(s, KIND_SCALEDOBJECT, object);
}

void store_learn_hpa(struct store *s, const json_t *object)
{
	learn(s, KIND_HPA, object);
}

void store_forget_hpa(struct store *s, const char *key)
{
	struct item *item = item_find(s, KIND_HPA, key);

	if (item)
		drop(s, item);
}

void store_listen(struct store *s, store_listener fn, void *arg)
{
	if (s->listener_count < LISTENERS_MAX) {
		s->listeners[s->listener_count].fn = fn;
		s->listeners[s->listener_count++].arg = arg;
	}
}
