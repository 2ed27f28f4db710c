/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/indexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/informer.h"
#include "kube/version.h"

/* The watch of one namespace (or of all). */
struct source {
	struct indexer *owner;
	char *namespace_; /* NULL: everywhere */
	struct informer informer;
	bool known;     /* its objects, from a first list */
	uint64_t print; /* of the last event's text; 0: it has none */
};

struct item { /* one allocation: of some kinds there are tens of thousands */
	void *object;
	void *beside; /* the listener's */
	struct source *source;
	uint64_t print; /* hash of its text without the version; 0: unknown */
	unsigned list;  /* number of the list it was last in */
	bool learned;   /* from the answer to a write, not delivered by the watch yet */
	UT_hash_handle hh;
	char key[];
};

struct indexer {
	struct kube *kube;
	const struct indexer_kind *kind;
	const struct indexer_events *events;
	void *arg;
	struct item *items;
	struct item *last; /* last result: a poll looks up the same object many times */
	struct source *sources;
	size_t source_count;
	struct counters_family *objects, *unreadable; /* NULL: not counted */
};

/* ---- Items ---- */

static const struct meta *meta_of(const void *object)
{
	return object;
}

static char *key_of(const struct indexer *s, const struct meta *meta, char out[INDEXER_KEY_MAX])
{
	snprintf(out, INDEXER_KEY_MAX, "%s%s/%s", s->kind->key_prefix ? s->kind->key_prefix : "", meta->namespace_,
		meta->name);
	return out;
}

static struct item *item_find(struct indexer *s, const char *key)
{
	struct item *item;

	if (s->last && strcmp(s->last->key, key) == 0)
		return s->last;
	HASH_FIND_STR(s->items, key, item);
	if (item)
		s->last = item;
	return item;
}

static void count_items(struct indexer *s)
{
	if (s->objects)
		counters_set(s->objects, (const char *const[]){ s->kind->kind }, HASH_COUNT(s->items));
}

static struct item *item_add(struct indexer *s, const char *key)
{
	size_t len = strlen(key);
	struct item *item = mem_zalloc(sizeof(*item) + len + 1);

	memcpy(item->key, key, len);
	HASH_ADD(hh, s->items, key, len, item);
	count_items(s);
	return item;
}

/* The caller then owns the object. */
static void *item_remove(struct indexer *s, struct item *item)
{
	void *object = item->object;

	HASH_DELETE(hh, s->items, item);
	if (s->last == item)
		s->last = NULL;
	count_items(s);
	free(item);
	return object;
}

static void notify_changed(struct indexer *s, const void *before, const void *now, void **beside)
{
	if (s->events->on_changed)
		s->events->on_changed(s->arg, before, now, beside);
}

static void notify_known(const struct source *source)
{
	const struct indexer *s = source->owner;

	if (s->events->on_known)
		s->events->on_known(s->arg, source->namespace_);
}

/* Removes it before the listener is called. */
static void drop_item(struct indexer *s, struct item *item)
{
	void *beside = item->beside, *object = item_remove(s, item);

	notify_changed(s, object, NULL, &beside);
	s->kind->free(object);
}

void indexer_clear(struct indexer *s)
{
	struct item *item, *next;

	HASH_ITER (hh, s->items, item, next)
		drop_item(s, item);
}

/* ---- Taking in ---- */

/* Takes the new content. */
static void replace(struct indexer *s, struct item *item, void *object)
{
	void *before = item->object;

	item->object = object;
	if (!before || s->kind->every_read ||
		strcmp(meta_of(before)->resource_version, meta_of(object)->resource_version) != 0)
		notify_changed(s, before, object, &item->beside);
	if (before)
		s->kind->free(before);
}

/* The last readable content stays in use. */
static void tell_unreadable(struct indexer *s, const json_t *json, const struct err *err)
{
	const json_t *meta = json_object_get(json, "metadata");

	log_error(s->kind->resource, "%s %s/%s cannot be read, so nothing is done about it: %s", s->kind->kind,
		json_str_or_empty(meta, "namespace"), json_str_or_empty(meta, "name"), err->msg);
	if (s->unreadable)
		counters_add(s->unreadable, (const char *const[]){ s->kind->kind }, 1);
}

/*
 * authoritative: from a list, which overrides earlier versions (a restored etcd counts backwards).
 * print: hash of the text of json; 0: unknown.
 */
static struct item *take_object(struct indexer *s, const json_t *json, bool authoritative, uint64_t print)
{
	struct err err = { 0 };
	void *object = s->kind->decode(json, &err);
	char key[INDEXER_KEY_MAX];
	struct item *item;

	if (!object) {
		tell_unreadable(s, json, &err);
		return NULL;
	}
	item = item_find(s, key_of(s, meta_of(object), key));
	if (item && !authoritative &&
		version_compare(meta_of(object)->resource_version, meta_of(item->object)->resource_version) < 0) {
		s->kind->free(object);
		return item;
	}
	if (!item)
		item = item_add(s, key);
	item->print = print;
	replace(s, item, object);
	return item;
}

/* The watch has delivered the stored version. */
static void mark_seen(struct source *source, struct item *item)
{
	item->source = source;
	item->list = source->informer.list;
	item->learned = false;
}

static void on_object(void *arg, const json_t *object)
{
	struct source *source = arg;
	bool listing = source->informer.listing;
	struct item *item = take_object(source->owner, object, listing, listing ? 0 : source->print);

	if (item)
		mark_seen(source, item);
}

static struct item *item_of_text(struct indexer *s, const struct objecttext *text)
{
	char key[INDEXER_KEY_MAX];
	struct item *item;

	snprintf(key, sizeof(key), "%s%.*s/%.*s", s->kind->key_prefix ? s->kind->key_prefix : "",
		(int)text->namespace_.len, text->namespace_.at, (int)text->name.len, text->name.at);
	item = item_find(s, key);
	return item && objecttext_says(&text->uid, meta_of(item->object)->uid) ? item : NULL;
}

/*
 * Whether it is stored already: the event of a write whose answer was taken, or a newer version
 * without a relevant change.
 */
static bool on_text(void *arg, const struct objecttext *text)
{
	struct source *source = arg;
	struct item *item = text->print ? item_of_text(source->owner, text) : NULL;

	source->print = text->print;
	if (!item)
		return false;
	if (!objecttext_says(&text->version, meta_of(item->object)->resource_version) &&
		(item->print != text->print || !meta_renew(item->object, text->version.at, text->version.len)))
		return false;
	item->print = text->print;
	mark_seen(source, item);
	return true;
}

static void on_deleted(void *arg, const json_t *object)
{
	struct source *source = arg;
	struct meta meta = { 0 };
	char key[INDEXER_KEY_MAX];
	struct item *item;

	/* Deletion must work whatever else the object contains. */
	if (meta_decode_slim(object, &meta, NULL) == 0) {
		item = item_find(source->owner, key_of(source->owner, &meta, key));
		/* A late "deleted" of a recreated object does not concern the new one. */
		if (item && strcmp(meta_of(item->object)->uid, meta.uid) == 0)
			drop_item(source->owner, item);
	}
	meta_done(&meta);
}

/* Whether it was written after the list; the watch will deliver it. */
static bool is_ahead(const struct item *item, const char *list_version)
{
	return item->learned && version_compare(meta_of(item->object)->resource_version, list_version) > 0;
}

static void on_synced(void *arg)
{
	struct source *source = arg;
	struct indexer *s = source->owner;
	const char *version = informer_version(&source->informer);
	struct item *item, *next;

	HASH_ITER (hh, s->items, item, next)
		if (item->source == source && item->list != source->informer.list && !is_ahead(item, version))
			drop_item(s, item);
	if (!source->known)
		notify_known(source);
	source->known = true;
	if (s->events->on_synced)
		s->events->on_synced(s->arg);
}

static void on_trouble(void *arg, const struct err *err)
{
	struct source *source = arg;
	const struct indexer *s = source->owner;

	if (err && err->kind == ERR_MISSING && !s->kind->optional)
		log_error(s->kind->resource,
			"cannot be watched: %s (are the CRDs installed? "
			"`kscaled manifests | kubectl apply -f -`)",
			err->msg);
	else
		informer_log(&source->informer, err);
	if (err && !source->known)
		notify_known(source);
}

/* ---- Interface ---- */

struct indexer *indexer_new(struct kube *kube, const struct indexer_kind *kind, struct counters *counters,
	const struct indexer_events *events, void *arg)
{
	static const char *const labels[] = { "kind", NULL };
	struct indexer *s = mem_zalloc(sizeof(*s));

	s->kube = kube;
	s->kind = kind;
	if (counters) {
		s->objects = counters_declare(counters, COUNTERS_GAUGE, "kscaled_objects", "Objects known, by kind.",
			labels);
		s->unreadable = counters_declare(counters, COUNTERS_COUNTER, "kscaled_objects_unreadable_total",
			"Versions of objects that could not be read, by kind.", labels);
	}
	s->events = events;
	s->arg = arg;
	return s;
}

static void indexer_dispose(void *arg)
{
	struct indexer *s = arg;
	struct item *item, *next;

	for (size_t i = 0; i < s->source_count; i++)
		free(s->sources[i].namespace_);
	HASH_ITER (hh, s->items, item, next)
		s->kind->free(item_remove(s, item));
	free(s->sources);
	free(s);
}

/* Watches stop at once; the rest may be in use by a callback. */
void indexer_free(struct indexer *s)
{
	static const struct indexer_events deaf = { NULL, NULL, NULL };

	if (!s)
		return;
	for (size_t i = 0; i < s->source_count; i++)
		informer_stop(&s->sources[i].informer);
	if (s->objects)
		counters_set(s->objects, (const char *const[]){ s->kind->kind }, 0);
	s->objects = NULL;
	s->events = &deaf;
	loop_free_later(kube_loop(s->kube), s, indexer_dispose);
}

static void source_start(struct indexer *s, struct source *source, const char *namespace_)
{
	static const struct informer_events events = {
		.on_text = on_text,
		.on_object = on_object,
		.on_deleted = on_deleted,
		.on_synced = on_synced,
		.on_trouble = on_trouble,
	};
	MEM_AUTO char *path = namespace_
		? mem_printf("%s/namespaces/%s/%s", s->kind->group_path, namespace_, s->kind->resource)
		: mem_printf("%s/%s", s->kind->group_path, s->kind->resource);
	struct informer_config config = {
		.path = path,
		.label_selector = s->kind->label_selector,
		.subject = s->kind->resource,
		.grant = s->kind->grant,
		.quiet = true,
	};

	source->owner = s;
	source->namespace_ = mem_dup(namespace_);
	informer_start(&source->informer, s->kube, &config, &events, source);
}

void indexer_start(struct indexer *s, const char *const *namespaces, size_t count)
{
	bool one = count == 0 || s->kind->cluster_wide;

	s->source_count = one ? 1 : count;
	s->sources = mem_array(s->source_count, sizeof(*s->sources));
	for (size_t i = 0; i < s->source_count; i++)
		source_start(s, &s->sources[i], one ? NULL : namespaces[i]);
}

bool indexer_synced(const struct indexer *s)
{
	for (size_t i = 0; i < s->source_count; i++)
		if (!s->sources[i].known)
			return false;
	return s->source_count > 0;
}

const char *indexer_trouble(const struct indexer *s)
{
	for (size_t i = 0; i < s->source_count; i++)
		if (s->sources[i].informer.trouble)
			return informer_trouble(&s->sources[i].informer);
	return NULL;
}

static struct source *source_of(const struct indexer *s, const char *namespace_)
{
	for (size_t i = 0; i < s->source_count; i++)
		if (!s->sources[i].namespace_ || strcmp(s->sources[i].namespace_, namespace_) == 0)
			return &s->sources[i];
	return NULL;
}

bool indexer_knows(const struct indexer *s, const char *namespace_, const char **trouble)
{
	const struct source *source = source_of(s, namespace_);

	*trouble = source ? informer_trouble(&source->informer) : NULL;
	return source && source->informer.synced;
}

bool indexer_watches(const struct indexer *s, const char *namespace_)
{
	return s->source_count == 0 || source_of(s, namespace_);
}

const void *indexer_get(struct indexer *s, const char *key)
{
	const struct item *item = item_find(s, key);

	return item ? item->object : NULL;
}

void *indexer_beside(struct indexer *s, const char *key)
{
	const struct item *item = item_find(s, key);

	return item ? item->beside : NULL;
}

size_t indexer_count(const struct indexer *s)
{
	return HASH_COUNT(s->items);
}

void indexer_each(const struct indexer *s, void (*fn)(void *arg, const void *object, void *beside), void *arg)
{
	struct item *item, *next;

	HASH_ITER (hh, s->items, item, next)
		fn(arg, item->object, item->beside);
}

/* ---- Answers to writes ---- */

/* Our watch does not see an object whose label an admission plugin removed. */
static bool is_watched(const struct source *source, const struct meta *meta)
{
	const char *label = source ? source->owner->kind->label : NULL;

	return source && (!label || strmap_get(&meta->labels, label));
}

/*
 * An unknown object, with the watch further on: it was deleted before the answer to its write
 * arrived.
 */
static bool is_gone(const struct source *source, const struct meta *meta)
{
	const char *seen = source ? informer_version(&source->informer) : "";
	char key[INDEXER_KEY_MAX];

	return *seen && is_watched(source, meta) && !item_find(source->owner, key_of(source->owner, meta, key)) &&
		version_compare(meta->resource_version, seen) <= 0;
}

bool indexer_has(struct indexer *s, const struct objecttext *text)
{
	const struct item *item = text->name.at && text->namespace_.at ? item_of_text(s, text) : NULL;

	return item && objecttext_says(&text->version, meta_of(item->object)->resource_version);
}

/* A written object belongs to the source that watches its namespace. */
void indexer_learn(struct indexer *s, const json_t *object)
{
	struct meta meta = { 0 };
	struct source *source;
	struct item *item;

	if (!object || meta_decode(object, &meta, NULL))
		return; /* an empty answer: the watch delivers it */
	source = source_of(s, meta.namespace_);
	item = is_gone(source, &meta) ? NULL : take_object(s, object, false, 0);
	meta_done(&meta);
	if (item && source) {
		item->source = source;
		item->learned = true;
	}
}

void indexer_forget(struct indexer *s, const char *key)
{
	struct item *item = item_find(s, key);

	if (item)
		drop_item(s, item);
}
