/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/auth/references.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/mem.h"
#include "cache/auth/references_parts.h"

#define ALL_KEYS ""

/* ---- Owners and their rounds ---- */

static struct owner *owner_find(const struct references *r, const char *key)
{
	struct owner *owner;

	HASH_FIND_STR(r->owners, key, owner);
	return owner;
}

static struct owner *owner_get(struct references *r, const char *key)
{
	struct owner *owner = owner_find(r, key);

	if (owner)
		return owner;
	owner = mem_zalloc(sizeof(*owner));
	owner->key = mem_dup(key);
	owner->told = r->changes;
	HASH_ADD_KEYPTR(hh, r->owners, owner->key, strlen(owner->key), owner);
	return owner;
}

static void ask_free(struct ask *ask)
{
	struct wanted *w = ask->wanted;

	LL_DELETE(ask->owner->asks, ask);
	ask->owner->count--;
	DL_DELETE2(w->asks, ask, prev_of, next_of);
	if (!w->asks)
		references_object_unwant(w);
	free(ask);
}

/* Releases what the owner did not ask for in this round. */
static void owner_sweep(struct references *r, struct owner *owner, bool all)
{
	struct ask *ask, *next;

	LL_FOREACH_SAFE (owner->asks, ask, next)
		if (all || ask->round != owner->round)
			ask_free(ask);
	if (owner->asks)
		return;
	HASH_DELETE(hh, r->owners, owner);
	free(owner->key);
	free(owner);
}

void references_begin(struct references *r, const char *owner_key)
{
	owner_get(r, owner_key)->round++;
}

void references_end(struct references *r, const char *owner_key)
{
	struct owner *owner = owner_find(r, owner_key);

	if (owner)
		owner_sweep(r, owner, false);
}

void references_release(struct references *r, const char *owner_key)
{
	struct owner *owner = owner_find(r, owner_key);

	if (owner)
		owner_sweep(r, owner, true);
}

/* ---- Asking ---- */

/*
 * RFC 1123, as the API server requires: other names are of nothing that can exist, and would not be
 * safe in a path or a selector.
 */
static bool is_name(const char *text, size_t max, const char *allowed)
{
	static const char alnum[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t len = strlen(text);

	return len > 0 && len <= max && strspn(text, allowed) == len && strchr(alnum, text[0]) &&
		strchr(alnum, text[len - 1]);
}

static bool is_possible(enum keydata_kind kind, const char *namespace_, const char *name, struct err *err)
{
	const char *kind_name = keydata_kind_name(kind);

	if (!is_name(namespace_, 63, "abcdefghijklmnopqrstuvwxyz0123456789-"))
		err_set(err, ERR_INVALID, "%s %s/%s: \"%s\" cannot be the name of a namespace", kind_name, namespace_,
			name, namespace_);
	else if (!is_name(name, 253, "abcdefghijklmnopqrstuvwxyz0123456789-."))
		err_set(err, ERR_INVALID, "%s %s/%s: \"%s\" cannot be the name of a %s", kind_name, namespace_, name,
			name, kind_name);
	else
		return true;
	return false;
}

static struct ask *ask_find(const struct owner *owner, const struct wanted *w)
{
	struct ask *ask;

	LL_FOREACH (owner->asks, ask)
		if (ask->wanted == w)
			return ask;
	return NULL;
}

static struct ask *ask_add(struct owner *owner, struct wanted *w)
{
	struct ask *ask = mem_zalloc(sizeof(*ask));

	ask->owner = owner;
	ask->wanted = w;
	LL_PREPEND(owner->asks, ask);
	owner->count++;
	DL_PREPEND2(w->asks, ask, prev_of, next_of);
	return ask;
}

/* NULL: *err says why that cannot be asked for. */
static struct wanted *ask_for(struct references *r, const char *owner_key, enum keydata_kind kind,
	const char *namespace_, const char *name, const char *key, struct err *err)
{
	struct owner *owner;
	struct wanted *w;
	struct ask *ask;

	if (!is_possible(kind, namespace_, name, err))
		return NULL;
	owner = owner_get(r, owner_key);
	w = references_object_want(r, kind, namespace_, name, key);
	ask = ask_find(owner, w);
	if (!ask && owner->count >= REFERENCES_PER_OWNER_MAX) {
		err_set(err, ERR_INVALID, "%s %s/%s: more than %d keys of Secrets and ConfigMaps are referred to",
			keydata_kind_name(kind), namespace_, name, REFERENCES_PER_OWNER_MAX);
		if (!w->asks)
			references_object_unwant(w);
		return NULL;
	}
	if (!ask)
		ask = ask_add(owner, w);
	ask->round = owner->round;
	return w;
}

/* ---- Answering ---- */

static enum reference_state answer_missing(const struct wanted *w, struct err *err)
{
	const struct referenced *o = w->object;
	const char *why = strmap_get(&o->unreadable, w->key);

	if (o->state == REFERENCE_FOUND && why)
		err_set(err, ERR_INVALID, REFERENCES_OBJECT_FMT ": key \"%s\" %s", REFERENCES_OBJECT_ARGS(o), w->key,
			why);
	else if (o->state == REFERENCE_FOUND)
		err_set(err, ERR_MISSING, REFERENCES_OBJECT_FMT " has no key \"%s\"", REFERENCES_OBJECT_ARGS(o),
			w->key);
	else if (*w->key)
		err_set(err, ERR_MISSING, REFERENCES_OBJECT_FMT " does not exist (its key \"%s\" is needed)",
			REFERENCES_OBJECT_ARGS(o), w->key);
	else
		err_set(err, ERR_MISSING, REFERENCES_OBJECT_FMT " does not exist", REFERENCES_OBJECT_ARGS(o));
	return REFERENCE_MISSING;
}

static enum reference_state answer_waiting(const struct wanted *w, struct err *err)
{
	const struct referenced *o = w->object;
	const struct view *view = o->own ? o->own : o->place->whole;
	const struct err *trouble = o->trouble ? o->trouble : view->informer.trouble;

	if (informer_is_denied(trouble) && (o->trouble || view->only)) {
		err_set(err, ERR_DENIED,
			REFERENCES_OBJECT_FMT
			" may not be read: grant get, list and watch on %s \"%s\" in namespace %s: %s",
			REFERENCES_OBJECT_ARGS(o), o->place->kind == KEYDATA_SECRET ? "secrets" : "configmaps", o->name,
			o->place->namespace_, trouble->msg);
		return REFERENCE_DENIED;
	}
	if (trouble)
		err_set(err, ERR_TEMPORARY, REFERENCES_OBJECT_FMT " is not read yet: %s", REFERENCES_OBJECT_ARGS(o),
			trouble->msg);
	else
		err_set(err, ERR_WAITING, REFERENCES_OBJECT_FMT " is not read yet", REFERENCES_OBJECT_ARGS(o));
	return REFERENCE_UNREAD;
}

static enum reference_state answer(const struct wanted *w, bool found, struct err *err)
{
	if (!w)
		return REFERENCE_MISSING;
	if (!w->known)
		return answer_waiting(w, err);
	return found ? REFERENCE_FOUND : answer_missing(w, err);
}

enum reference_state references_key(struct references *r, const char *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const char *key, const char **value, struct err *err)
{
	struct wanted *w;

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

enum reference_state references_all(struct references *r, const char *owner, enum keydata_kind kind,
	const char *namespace_, const char *name, const struct strmap **data, struct err *err)
{
	struct wanted *w = ask_for(r, owner, kind, namespace_, name, ALL_KEYS, err);

	*data = w && w->known && w->object->state == REFERENCE_FOUND ? &w->object->data : NULL;
	return answer(w, *data != NULL, err);
}

/* ---- In and out ---- */

struct references *references_new(struct kube *kube)
{
	struct references *r = mem_zalloc(sizeof(*r));

	r->kube = kube;
	return r;
}

void references_free(struct references *r)
{
	struct owner *owner, *next;

	if (!r)
		return;
	HASH_ITER (hh, r->owners, owner, next)
		owner_sweep(r, owner, true);
	free(r);
}

void references_listen(struct references *r, references_fn fn, void *arg)
{
	if (r->listener_count < REFERENCES_LISTENERS_MAX) {
		r->listeners[r->listener_count].fn = fn;
		r->listeners[r->listener_count++].arg = arg;
	}
}

struct references_stats references_stats(const struct references *r)
{
	return (struct references_stats){ .owners = HASH_COUNT(r->owners),
		.objects = HASH_COUNT(r->objects),
		.watches = r->watches };
}
