/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/references_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "kube/version.h"

#define READ_FAILURES_TOLD 3 /* consecutive; fewer are not reported */

/* ---- Names and paths ---- */

struct referenced *references_object_find(const struct references *r, enum keydata_kind kind, const char *namespace_,
	const char *name)
{
	MEM_AUTO char *key = mem_printf("%s/%s/%s", keydata_kind_name(kind), namespace_, name);
	struct referenced *o;

	HASH_FIND_STR(r->objects, key, o);
	return o;
}

char *references_object_collection(const struct reference_scope *scope)
{
	return mem_printf("/api/v1/namespaces/%s/%s", scope->namespace_, keydata_plural(scope->kind));
}

/* ---- Notifying ---- */

void references_object_notify_waiting(struct referenced *o)
{
	struct holders *h = &o->scope->r->holders;

	holders_notify_begin(h);
	for (size_t i = 0; i < o->wanted_count; i++)
		if (!o->wanted[i]->known)
			holders_notify(&o->wanted[i]->held);
	holders_notify_end(h);
}

/* ---- Keys ---- */

size_t references_object_key_at(const struct referenced *o, const char *key, bool *found)
{
	size_t low = 0, high = o->wanted_count;

	*found = false;
	while (low < high && !*found) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(key, o->wanted[middle]->key);

		*found = order == 0;
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return *found ? high : low;
}

bool references_object_wants_all(const struct referenced *o)
{
	return o->wanted_count > 0 && !*o->wanted[0]->key;
}

bool references_object_wants(void *arg, const char *key)
{
	const struct referenced *o = arg;
	bool found;

	if (references_object_wants_all(o))
		return true;
	references_object_key_at(o, key, &found);
	return found;
}

/* ---- Receiving a state ---- */

/* Cancels a GET: its answer is no longer needed. */
void references_object_read_stop(struct referenced *o)
{
	refetch_free(o->read);
	o->read = NULL;
	err_keep(&o->trouble, NULL);
}

void references_object_forget(struct referenced *o)
{
	strmap_done_secret(&o->data);
	strmap_done(&o->unreadable);
}

/* The object's state is known: notifies the holders of keys marked `changed`. */
static void settle(struct referenced *o, enum reference_state state)
{
	struct holders *h = &o->scope->r->holders;

	o->state = state;
	o->incomplete = false;
	references_object_read_stop(o);
	for (size_t i = 0; i < o->wanted_count; i++)
		o->wanted[i]->known = true;
	holders_notify_begin(h);
	for (size_t i = 0; i < o->wanted_count; i++)
		if (o->wanted[i]->changed)
			holders_notify(&o->wanted[i]->held);
	holders_notify_end(h);
}

/* Keeps its version: an older list may still contain it. */
void references_object_gone(struct referenced *o, const struct reference_watch *from)
{
	for (size_t i = 0; i < o->wanted_count; i++)
		o->wanted[i]->changed = o->state != REFERENCE_MISSING;
	references_object_forget(o);
	o->source = from;
	settle(o, REFERENCE_MISSING);
}

static bool is_changed(const struct wanted_key *w, const struct strmap *data, const struct strmap *unreadable)
{
	const struct referenced *o = w->object;

	if (o->state != REFERENCE_FOUND || !w->known)
		return true;
	if (!*w->key)
		return !strmap_equal(&o->data, data) || !strmap_equal(&o->unreadable, unreadable);
	return !text_equal(strmap_get(&o->data, w->key), strmap_get(data, w->key)) ||
		!text_equal(strmap_get(&o->unreadable, w->key), strmap_get(unreadable, w->key));
}

/* Reports an error to its owners once; known values stay. */
static void set_trouble(struct referenced *o, const struct err *err, enum log_level level, const char *what)
{
	MEM_AUTO char *subject = mem_printf(REFERENCES_OBJECT_FMT, REFERENCES_OBJECT_ARGS(o));

	if (o->trouble && strcmp(o->trouble->msg, err->msg) == 0)
		return;
	log_line(level, subject, "%s: %s", what, err->msg);
	err_keep(&o->trouble, err);
	references_object_notify_waiting(o);
}

/*
 * An older state never replaces a newer one, from whichever watch or GET. Only a new list of the
 * same watch is authoritative even if older: a restored etcd counts backwards.
 */
static bool is_outdated(const struct referenced *o, const struct reference_watch *from, const char *version)
{
	int order = o->version ? version_compare(version, o->version) : 1;

	if (order < 0)
		return !from || !from->informer.listing || o->source != from;
	return order == 0 && o->state != REFERENCE_UNREAD && !o->incomplete;
}

void references_object_take(struct referenced *o, const struct reference_watch *from, const json_t *json)
{
	const char *version = json_str_or_empty(json_object_get(json, "metadata"), "resourceVersion");
	struct strmap data = { 0 }, unreadable = { 0 };
	struct err err = { 0 };

	if (is_outdated(o, from, version)) {
		/* This watch is its source from now on. */
		if (from && text_equal(version, o->version))
			o->source = from;
		return;
	}
	if (keydata_decode(o->scope->kind, json, references_object_wants, o, &data, &unreadable, &err) < 0) {
		strmap_done_secret(&data);
		strmap_done(&unreadable);
		set_trouble(o, &err, LOG_LEVEL_ERROR, "cannot be decoded and is ignored");
		return;
	}
	for (size_t i = 0; i < o->wanted_count; i++)
		o->wanted[i]->changed = is_changed(o->wanted[i], &data, &unreadable);
	references_object_forget(o);
	o->data = data;
	o->unreadable = unreadable;
	o->source = from;
	free(o->version);
	o->version = mem_dup(version);
	settle(o, REFERENCE_FOUND);
}

/* ---- Reading one object ---- */

static void on_read(void *arg, const json_t *json, const struct err *err, unsigned failures)
{
	struct referenced *o = arg;

	/* Retried forever; owners get the reason when the failure lasts. */
	if (failures > 0) {
		if (err->kind != ERR_TEMPORARY || failures >= READ_FAILURES_TOLD)
			set_trouble(o, err, LOG_LEVEL_WARN, "cannot be read");
		return;
	}
	/* A list in progress may have passed it already. */
	if (o->scope->whole)
		o->seen = o->scope->whole->informer.list;
	if (err)
		references_object_gone(o, NULL);
	else
		references_object_take(o, NULL, json);
	/* The answer is outdated or cannot be decoded. */
	if (o->incomplete || o->state == REFERENCE_UNREAD) {
		refetch_refuse(o->read);
		return;
	}
	refetch_free(o->read);
	o->read = NULL;
}

void references_object_read(struct referenced *o)
{
	MEM_AUTO char *collection = references_object_collection(o->scope);
	MEM_AUTO char *path = mem_printf("%s/%s", collection, o->name);

	if (o->read)
		return;
	o->read = refetch_new(o->scope->r->kube, path, on_read, o);
	refetch_now(o->read);
}
