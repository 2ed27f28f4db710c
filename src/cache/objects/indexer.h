/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_INDEXER_H
#define CACHE_OBJECTS_INDEXER_H

/*
 * The objects of one kind, kept current by watches: one per watched namespace, or one for all.
 * cache/objects/store has an indexer per kind; an indexer knows nothing of the kind except that a
 * decoded object begins with a struct meta. Owns the decoded objects; returned pointers are valid
 * until the end of the turn.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/counters.h"
#include "base/err.h"
#include "crd/meta.h"
#include "kube/client.h"

struct indexer;

#define INDEXER_PREFIX_MAX 11 /* bytes of a key_prefix */
#define INDEXER_KEY_MAX    (INDEXER_PREFIX_MAX + 253 + 1 + 253 + 1)

struct indexer_kind {               /* outlives the indexer */
	const char *kind;           /* "ScaledObject" */
	const char *resource;       /* "scaledobjects": for paths and the log */
	const char *group_path;     /* "/apis/keda.sh/v1alpha1" */
	const char *label_selector; /* "key=value"; NULL: all */
	/*
	 * prefix of its keys before "namespace/name", to keep those of two kinds apart; NULL: none
	 */
	const char *key_prefix;
	const char *label; /* key of the label; objects without it are not watched; NULL */
	/* named in its error if access is denied: "grant list and watch on jobs.batch"; NULL */
	const char *grant;
	bool cluster_wide; /* not namespaced: one watch */
	bool optional;     /* kscaled works without it: a failing watch is only a warning */
	/*
	 * call on_changed also when the same version is read again, for users that keep pointers to
	 * the objects
	 */
	bool every_read;
	void *(*decode)(const json_t *object, struct err *err); /* begins with struct meta */
	void (*free)(void *object);
};

struct indexer_events {
	/*
	 * The object was added (before NULL), deleted (now NULL) or has another version. Both are
	 * borrowed for the call. *beside belongs to the listener: its data for the object, NULL at
	 * first, to be released when the object is deleted.
	 */
	void (*on_changed)(void *arg, const void *before, const void *now, void **beside);
	/*
	 * Whether the objects of a namespace are known, or why not, has changed. namespace_ NULL:
	 * all namespaces.
	 */
	void (*on_known)(void *arg, const char *namespace_);
	void (*on_synced)(void *arg); /* a list is complete */
};

struct indexer *indexer_new(struct kube *kube, const struct indexer_kind *kind, struct counters *counters /* NULL */,
	const struct indexer_events *events, void *arg);
/*
 * may be called from inside its events: none follows, so listeners with data beside objects call
 * indexer_clear first; memory is freed at the end of the turn
 */
void indexer_free(struct indexer *s);
void indexer_clear(struct indexer *s); /* drops all objects, with on_changed */

/* Starts the watches: one per namespace, or (count 0) one for all. */
void indexer_start(struct indexer *s, const char *const *namespaces, size_t count);

bool indexer_synced(const struct indexer *s);         /* every watch has completed a list */
const char *indexer_trouble(const struct indexer *s); /* the error of a failing watch; NULL: none */
/*
 * Whether the objects of this namespace are listed, so that an unknown one does not exist. If not,
 * *trouble is the reason, or NULL.
 */
bool indexer_knows(const struct indexer *s, const char *namespace_, const char **trouble);
/* False for a namespace that is not watched. */
bool indexer_watches(const struct indexer *s, const char *namespace_);

const void *indexer_get(struct indexer *s, const char *key); /* NULL when unknown */
void *indexer_beside(struct indexer *s, const char *key);    /* on_changed's *beside; NULL when unknown, too */
size_t indexer_count(const struct indexer *s);
void indexer_each(const struct indexer *s, void (*fn)(void *arg, const void *object, void *beside), void *arg);

bool indexer_has(struct indexer *s, const struct objecttext *text); /* whether exactly this version is known */
void indexer_learn(struct indexer *s, const json_t *object);        /* the answer to a write; NULL: no content */
void indexer_forget(struct indexer *s, const char *key);            /* a write returned "not found" */

#endif
