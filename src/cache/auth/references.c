/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/references.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cache/auth/references_parts.h"

#define ALL_KEYS ""

/* ---- Wanting ---- */

static struct referenced *object_get(struct references *r, enum keydata_kind kind, const char *namespace_,
	const char *name)
{
	struct referenced *o = references_object_find(r, kind, namespace_, name);

	if (o)
		return o;
	o = mem_zalloc(sizeof(*o));
	o->scope = references_watch_scope(r, kind, namespace_);
	o->key = mem_printf("%s/%s/%s", keydata_kind_name(kind), namespace_, name);
	o->name = strrchr(o->key, '/') + 1;
	HASH_ADD_KEYPTR(hh, r->objects, o->key, strlen(o->key), o);
	references_watch_add(o);
	return o;
}

static void object_free(struct referenced *o)
{
	struct references *r = o->scope->r;

	HASH_DELETE(hh, r->objects, o);
	references_object_read_stop(o);
	references_watch_remove(o);
	references_object_forget(o);
	free(o->wanted);
	free(o->version);
	free(o->key);
	free(o);
}

static struct wanted_key *want(struct references *r, enum keydata_kind kind, const char *namespace_, const char *name,
	const char *key)
{
	struct referenced *o = object_get(r, kind, namespace_, name);
	struct wanted_key *w;
	bool found;
	size_t at = references_object_key_at(o, key, &found);

	if (found)
		return o->wanted[at];
	w = mem_zalloc(sizeof(*w));
	w->object = o;
	w->key = mem_dup(key);
	holders_add(&r->holders, &w->held, NULL);
	o->wanted = mem_resize(o->wanted, o->wanted_count + 1, sizeof(*o->wanted));
	memmove(o->wanted + at + 1, o->wanted + at, (o->wanted_count - at) * sizeof(*o->wanted));
	o->wanted[at] = w;
	o->wanted_count++;
	/* Its value was not kept until now. */
	w->known = o->state == REFERENCE_MISSING ||
		(o->state == REFERENCE_FOUND && references_object_wants_all(o) && o->wanted[0]->known);
	if (!w->known && o->state != REFERENCE_UNREAD) {
		o->incomplete = true;
		references_object_read(o);
	}
	return w;
}

/* Drops values that are no longer wanted. */
static void trim(struct referenced *o)
{
	for (size_t i = o->data.count; i-- > 0;)
		if (!references_object_wants(o, o->data.pairs[i].key))
			strmap_remove_secret(&o->data, o->data.pairs[i].key);
	for (size_t i = o->unreadable.count; i-- > 0;)
		if (!references_object_wants(o, o->unreadable.pairs[i].key))
			strmap_remove(&o->unreadable, o->unreadable.pairs[i].key);
}

/* on_unheld of struct holders: the object is freed with its last key */
static void unwant(void *references, struct held *wanted)
{
	struct wanted_key *w = (struct wanted_key *)wanted;
	struct referenced *o = w->object;
	bool found;
	size_t at = references_object_key_at(o, w->key, &found);

	(void)references;
	o->wanted_count--;
	memmove(o->wanted + at, o->wanted + at + 1, (o->wanted_count - at) * sizeof(*o->wanted));
	if (o->wanted_count == 0) {
		object_free(o);
	} else if (!*w->key) {
		trim(o);
	} else if (!references_object_wants_all(o)) {
		strmap_remove_secret(&o->data, w->key);
		strmap_remove(&o->unreadable, w->key);
	}
	free(w->key);
	free(w);
}

/* ---- Asking ---- */

#define ALNUM "abcdefghijklmnopqrstuvwxyz0123456789"

/*
 * RFC 1123, as the API server requires: other names cannot exist and would be unsafe in a path or a
 * selector.
 */
static bool is_name(const char *text, size_t max, const char *allowed)
{
	size_t len = strlen(text);

	return len > 0 && len <= max && strspn(text, allowed) == len && strchr(ALNUM, text[0]) &&
		strchr(ALNUM, text[len - 1]);
}

static bool is_possible(enum keydata_kind kind, const char *namespace_, const char *name, struct err *err)
{
	const char *kind_name = keydata_kind_name(kind);
	bool in_namespace = is_name(namespace_, 63, ALNUM "-");

	if (in_namespace && is_name(name, 253, ALNUM "-."))
		return true;
	err_set(err, ERR_INVALID, "%s %s/%s: \"%s\" cannot be the name of a %s", kind_name, namespace_, name,
		in_namespace ? name : namespace_, in_namespace ? kind_name : "namespace");
	return false;
}

/* NULL: refused; *err says why. */
static struct wanted_key *ask_for(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const char *key, struct err *err)
{
	struct wanted_key *w;

	if (!is_possible(kind, namespace_, name, err))
		return NULL;
	w = want(r, kind, namespace_, name, key);
	if (owner->holdings.count < REFERENCES_PER_OWNER_MAX || holdings_has(owner, &w->held)) {
		holdings_take(owner, &w->held);
		return w;
	}
	err_set(err, ERR_INVALID, "%s %s/%s: more than %d keys of Secrets and ConfigMaps are referred to",
		keydata_kind_name(kind), namespace_, name, REFERENCES_PER_OWNER_MAX);
	if (!w->held.holds)
		holders_drop(&w->held);
	return NULL;
}

/* ---- Answering ---- */

static enum reference_state answer_missing(const struct wanted_key *w, struct err *err)
{
	const struct referenced *o = w->object;
	const char *why = strmap_get(&o->unreadable, w->key), *called = keydata_key_called(o->scope->kind);

	if (o->state == REFERENCE_FOUND && why)
		err_set(err, ERR_INVALID, REFERENCES_OBJECT_FMT ": %s \"%s\" %s", REFERENCES_OBJECT_ARGS(o), called,
			w->key, why);
	else if (o->state == REFERENCE_FOUND)
		err_set(err, ERR_MISSING, REFERENCES_OBJECT_FMT " has no %s \"%s\"", REFERENCES_OBJECT_ARGS(o), called,
			w->key);
	else if (*w->key)
		err_set(err, ERR_MISSING, REFERENCES_OBJECT_FMT " does not exist (its %s \"%s\" is needed)",
			REFERENCES_OBJECT_ARGS(o), called, w->key);
	else
		err_set(err, ERR_MISSING, REFERENCES_OBJECT_FMT " does not exist", REFERENCES_OBJECT_ARGS(o));
	return REFERENCE_MISSING;
}

static enum reference_state answer_waiting(const struct wanted_key *w, struct err *err)
{
	const struct referenced *o = w->object;
	const struct reference_watch *view = o->own ? o->own : o->scope->whole;
	const struct err *trouble = o->trouble ? o->trouble : view->informer.trouble;

	if (informer_is_denied(trouble) && (o->trouble || view->only)) {
		err_set(err, ERR_DENIED,
			REFERENCES_OBJECT_FMT
			" may not be read: grant get, list and watch on %s \"%s\" in namespace %s: %s",
			REFERENCES_OBJECT_ARGS(o), keydata_plural(o->scope->kind), o->name, o->scope->namespace_,
			trouble->msg);
		return REFERENCE_DENIED;
	}
	if (trouble)
		err_set(err, ERR_TEMPORARY, REFERENCES_OBJECT_FMT " is not read yet: %s", REFERENCES_OBJECT_ARGS(o),
			trouble->msg);
	else
		err_set(err, ERR_WAITING, REFERENCES_OBJECT_FMT " is not read yet", REFERENCES_OBJECT_ARGS(o));
	return REFERENCE_UNREAD;
}

static enum reference_state answer(const struct wanted_key *w, bool found, struct err *err)
{
	if (!w)
		return REFERENCE_MISSING;
	if (!w->known)
		return answer_waiting(w, err);
	return found ? REFERENCE_FOUND : answer_missing(w, err);
}

enum reference_state references_key(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const char *key, const char **value, struct err *err)
{
	struct wanted_key *w;

	*value = NULL;
	if (!*key) {
		err_set(err, ERR_INVALID, "%s %s/%s: no key is named", keydata_kind_name(kind), namespace_, name);
		return REFERENCE_MISSING;
	}
	w = ask_for(r, owner, kind, namespace_, name, key, err);
	if (w && w->known)
		*value = strmap_get(&w->object->data, key);
	return answer(w, *value != NULL, err);
}

enum reference_state references_all(struct references *r, struct object *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const struct strmap **data, struct err *err)
{
	struct wanted_key *w = ask_for(r, owner, kind, namespace_, name, ALL_KEYS, err);

	*data = w && w->known && w->object->state == REFERENCE_FOUND ? &w->object->data : NULL;
	return answer(w, *data != NULL, err);
}

/* ---- Life ---- */

struct references *references_new(struct kube *kube)
{
	struct references *r = mem_zalloc(sizeof(*r));

	r->kube = kube;
	holders_init(&r->holders, unwant, r);
	return r;
}

void references_free(struct references *r)
{
	if (!r)
		return;
	while (r->objects)
		holders_drop(&r->objects->wanted[0]->held);
	free(r);
}

void references_listen(struct references *r, object_fn fn, void *arg)
{
	holders_listen(&r->holders, fn, arg);
}

struct references_stats references_stats(const struct references *r)
{
	return (struct references_stats){ .objects = HASH_COUNT(r->objects), .watches = r->watches };
}
