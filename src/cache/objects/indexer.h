/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_INDEXER_H
#define CACHE_OBJECTS_INDEXER_H

/*
 * The objects of one kind, kept by watches: one in each watched namespace, or one for all.
 * cache/objects/store has an indexer per kind and knows what the kinds mean; an indexer knows
 * nothing of them but that a decoded object begins with its struct meta. Owns the decoded objects;
 * a pointer handed out is good until the loop turns.
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
	const char *resource;       /* "scaledobjects": in paths and in the log */
	const char *group_path;     /* "/apis/keda.sh/v1alpha1" */
	const char *label_selector; /* "key=value"; NULL: all */
	const char *key_prefix;     /* before "namespace/name" in its keys, so that those of two kinds never meet; NULL:
				       nothing */
	const char *label;          /* its key: what does not carry it is not seen by the watch; NULL */
	const char *grant;          /* in its trouble when we may not: "grant list and watch on jobs.batch"; NULL */
	bool cluster_wide;          /* has no namespaces: one watch */
	bool optional;              /* kscaled works without it: a failing watch is a warning */
	/*
	 * on_changed is told also when the same version was read once more: for who keeps pointers
	 * to the objects
	 */
	bool every_read;
	void *(*decode)(const json_t *object, struct err *err); /* begins with struct meta */
	void (*free)(void *object);
};

struct indexer_events {
	/*
	 * It came (before NULL), went (now NULL: it is not found any more) or has another version.
	 * Both are borrowed for the call. *beside is the listener's: what he keeps with the object,
	 * NULL at first, let go of by him when the object goes.
	 */
	void (*on_changed)(void *arg, const void *before, const void *now, void **beside);
	/*
	 * Whether the objects of a place are known, or why not, is different from before.
	 * namespace_ NULL: everywhere.
	 */
	void (*on_known)(void *arg, const char *namespace_);
	void (*on_synced)(void *arg); /* a list was read to its end */
};

struct indexer *indexer_new(struct kube *kube, const struct indexer_kind *kind,
	struct counters_family *objects /* gauge by kind; NULL */, const struct indexer_events *events, void *arg);
/*
 * also from inside its events: none comes any more, so whoever keeps something beside the objects
 * clears first; they go at the end of the turn
 */
void indexer_free(struct indexer *s);
void indexer_clear(struct indexer *s); /* all that are there are gone, which is told */

/* Starts the watches: in each of the namespaces, or (count 0) everywhere. */
void indexer_start(struct indexer *s, const char *const *namespaces, size_t count);

bool indexer_synced(const struct indexer *s);         /* every watch has had a full list */
const char *indexer_trouble(const struct indexer *s); /* why a watch fails at the moment; NULL when all is well */
/*
 * Whether the objects of this namespace were listed, so that one that is not here is not there. If
 * not, *trouble says why they cannot be, or is NULL.
 */
bool indexer_knows(const struct indexer *s, const char *namespace_, const char **trouble);

const void *indexer_get(struct indexer *s, const char *key); /* NULL when unknown */
void *indexer_beside(struct indexer *s, const char *key);    /* on_changed's *beside; NULL when unknown, too */
size_t indexer_count(const struct indexer *s);
void indexer_each(const struct indexer *s, void (*fn)(void *arg, const void *object, void *beside), void *arg);

bool indexer_has(struct indexer *s, const struct objecttext *text); /* this very version of an object */
void indexer_learn(struct indexer *s, const json_t *object);        /* the answer to a write; NULL: nothing was said */
void indexer_forget(struct indexer *s, const char *key);            /* a write met "not found" */

#endif
