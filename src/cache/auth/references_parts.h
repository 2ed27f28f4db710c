/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_REFERENCES_PARTS_H
#define CACHE_AUTH_REFERENCES_PARTS_H

/*
 * Shared by the three files of cache/auth/references only.
 *
 *   references.c         the wanted keys, and the answers
 *   references_watch.c   scopes (a kind in a namespace), and the watches of their objects
 *   references_object.c  one object: its values, notifications, the GET for a key requested late
 */

#include "base/hash.h"
#include "cache/auth/holders.h"
#include "cache/auth/references.h"
#include "kube/informer.h"
#include "kube/refetch.h"
#include "net/loop.h"

#define REFERENCES_OBJECT_FMT     "%s %s/%s"
#define REFERENCES_OBJECT_ARGS(o) keydata_kind_name((o)->scope->kind), (o)->scope->namespace_, (o)->name

/* A watch of one object by name, or of a scope. */
struct reference_watch {
	struct reference_scope *scope;
	struct referenced *only; /* NULL: of the scope */
	struct informer informer;
	char *subject; /* "Secret shop/redis", "Secrets of namespace shop" */
	bool down;     /* counted in references.down */
};

/* One kind in one namespace, while an object in it is referenced. */
struct reference_scope {
	struct references *r;
	char *key; /* "Secret/shop" */
	enum keydata_kind kind;
	const char *namespace_;        /* inside key */
	struct reference_watch *whole; /* NULL: by name */
	struct loop_timer timer;       /* ends the scope's watch, or tries it again */
	struct referenced *objects;
	size_t count;
	UT_hash_handle hh;
};

struct referenced {
	struct reference_scope *scope;
	char *key;                  /* "Secret/shop/redis" */
	const char *name;           /* inside key */
	enum reference_state state; /* UNREAD, MISSING or FOUND */
	char *version;              /* of the newest state received; NULL before */
	/* the watch that delivered it; NULL: a GET, or a watch that has ended */
	const struct reference_watch *source;
	struct strmap data;         /* values of the wanted keys */
	struct strmap unreadable;   /* their keys -> reasons */
	struct wanted_key **wanted; /* sorted by key */
	size_t wanted_count;
	bool incomplete;                /* FOUND, but without a key requested later */
	struct reference_watch *own;    /* by name; NULL: the scope's watch covers it */
	unsigned seen;                  /* number of the scope's list that last had it */
	struct refetch *read;           /* a GET in progress; NULL */
	struct err *trouble;            /* why it cannot be read; NULL */
	struct referenced *prev, *next; /* in its scope */
	UT_hash_handle hh;
};

/* One held key of one object. */
struct wanted_key {
	struct held held; /* without a key of its own */
	struct referenced *object;
	char *key;    /* "": all of them */
	bool known;   /* its value, or that it has none, is known */
	bool changed; /* during references_object_take: notify its holders */
};

struct references {
	struct kube *kube;
	struct holders holders; /* of struct wanted_key */
	struct referenced *objects;
	struct reference_scope *scopes;
	size_t watches;
	size_t down; /* watches that fail, other than by denial */
};

/* ---- references_object.c ---- */

/* NULL */
struct referenced *references_object_find(const struct references *r, enum keydata_kind kind, const char *namespace_,
	const char *name);
char *references_object_collection(const struct reference_scope *scope); /* its URL path; the caller owns it */

/* The index of the wanted key, or where to insert it. */
size_t references_object_key_at(const struct referenced *o, const char *key, bool *found);
bool references_object_wants(void *referenced, const char *key);
bool references_object_wants_all(const struct referenced *o);

void references_object_take(struct referenced *o, const struct reference_watch *from /* NULL: a read */,
	const json_t *json);
void references_object_gone(struct referenced *o, const struct reference_watch *from /* NULL: a read */);
void references_object_read(struct referenced *o); /* by a GET, until it succeeds */
void references_object_read_stop(struct referenced *o);
void references_object_forget(struct referenced *o); /* frees its values */
void references_object_notify_waiting(struct referenced *o);

/* ---- references_watch.c ---- */

struct reference_scope *references_watch_scope(struct references *r, enum keydata_kind kind, const char *namespace_);
void references_watch_add(struct referenced *o);    /* adds it to its scope and has it watched */
void references_watch_remove(struct referenced *o); /* removes it from its scope, which is freed with the last one */

#endif
