/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_STORE_H
#define CACHE_OBJECTS_STORE_H

/*
 * The objects we know: ScaledObjects, ScaledJobs, HPAs, TriggerAuthentications and
 * ClusterTriggerAuthentications, each kind in an indexer (cache/objects/indexer) that watches keep.
 * Each change of one of the first two is told by its record (cache/objects/object) and what
 * changed, never by content: who hears it looks. A kind that kscaled can do without (no CRD, no
 * right to watch it) stops nothing: whoever needs one of it is told why there is none. Owns the
 * decoded objects; a pointer handed out is good until the loop turns.
 *
 * All HPAs are watched, by one watch without a selector, so that one that is labelled, adopted or
 * let go never falls between two. Those that kscaled manages or a ScaledObject owns are kept whole;
 * of others only name and target, some 600 bytes each with their tables, for admission, the
 * reconciler, and no request of either. Ten thousand of others that the HPA controller writes every
 * 15 s are 2 MB/s to parse, some 3 % of a core; nobody hears of them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"
#include "base/err.h"
#include "cache/objects/object.h"
#include "crd/hpa.h"
#include "crd/triggerauth.h"
#include "kube/client.h"

struct store;

/*
 * The key of everything that is kept per object: "default/web" of a ScaledObject,
 * "scaledjobs/default/web" of a ScaledJob. No two are the same: a namespace has no slash. Nobody
 * but these functions looks into a key.
 */
#define STORE_KEY_MAX (11 + 253 + 1 + 253 + 1)
char *store_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX]);
char *store_job_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX]);
/* What a key says of its object by itself, also when that is gone. */
enum scaled_kind store_key_kind(const char *key);
const char *store_key_path(const char *key); /* "default/web", of either kind; borrowed from it */

struct store *store_new(struct kube *kube, struct counters *counters);
void store_free(struct store *s);
void store_clear(struct store *s); /* all ScaledObjects and ScaledJobs are gone, and that is told */

/* Starts the watches: in each of the namespaces, or (count 0) everywhere. */
void store_start(struct store *s, const char *const *namespaces, size_t count);
bool store_synced(const struct store *s); /* every watch of ScaledObjects and HPAs has had a full list */
/* why one of those fails at the moment; NULL when all is well */
const char *store_trouble(const struct store *s);

/* The record of either kind; NULL when unknown. The names may be anything. */
struct object *store_object(const struct store *s, const char *key);
struct object *store_find(const struct store *s, enum scaled_kind kind, const char *namespace_, const char *name);
/* First all ScaledObjects, then all ScaledJobs. fn changes none of them. */
void store_each_object(const struct store *s, void (*fn)(void *arg, struct object *o), void *arg);
size_t store_count(const struct store *s, enum scaled_kind kind);

/*
 * Whether all objects of this kind in this namespace were listed. If not, *trouble says why they
 * cannot be (there may be no such CRD), or is NULL. Of ScaledObjects told as OBJECT_HPA of each
 * when it changes.
 */
bool store_knows(const struct store *s, enum scaled_kind kind, const char *namespace_, const char **trouble);
bool store_synced_scaledjobs(const struct store *s, const char **trouble); /* the same of all that are watched */
/*
 * What a ScaledObject lays claim to, as marks of cache/objects/index, and those that lay claim to
 * one; it is among them itself. Two claims may meet by chance: decide/validate says whether the
 * objects do.
 */
struct store_claims {
	uint64_t target, hpa;
};
struct store_claims store_claims_of(const struct scaledobject *so);
struct object *store_next_claim(const struct store *s, uint64_t claim, size_t *at); /* as index_next */
const struct hpa *store_hpa(const struct store *s, const char *key); /* NULL: unknown, or somebody else's */
const struct hpa *store_hpa_named(const struct store *s,
	const struct scaledobject *so); /* by the name that it asks for */
/*
 * The next HPA that kscaled does not manage and that may scale this target (store_claims_of); NULL
 * at the end.
 */
const struct hpa *store_next_rival_hpa(const struct store *s, uint64_t claim, size_t *at);
/*
 * Whether the HPAs of this namespace were listed, so that one that is not known is not there. If
 * not, *trouble says why they cannot be, or is NULL. Told as OBJECT_HPA when it changes.
 */
bool store_knows_hpas(const struct store *s, const char *namespace_, const char **trouble);
/*
 * An HPA of this ScaledObject (hpaspec_is_of) that has not the name `except` and is not being
 * deleted; NULL: none.
 */
const struct hpa *store_hpa_of(const struct store *s, const struct scaledobject *so, const char *except);
/* cluster: a ClusterTriggerAuthentication, whatever the namespace. NULL when unknown. */
const struct triggerauth *store_triggerauth(const struct store *s, bool cluster, const char *namespace_,
	const char *name);
/* As store_knows_hpas. Told by on_triggerauth with key NULL when it changes. */
bool store_knows_triggerauths(const struct store *s, bool cluster, const char *namespace_, const char **trouble);
void store_each_triggerauth(const struct store *s, void (*fn)(void *arg, const struct triggerauth *t), void *arg);

/*
 * What an answered write told us, ahead of the watch: the object as the API server returned it, so
 * that the next decision does not work from an older one. Older versions that still come from the
 * watch are told apart by resourceVersion and skipped.
 */
bool store_has(const struct store *s, const struct objecttext *text); /* this very version of it */
void store_learn(struct store *s, enum scaled_kind kind, const json_t *object);
void store_learn_hpa(struct store *s, const json_t *object);
void store_forget_hpa(struct store *s, const char *key); /* a write met "not found" */
void store_learn_triggerauth(struct store *s, bool cluster, const json_t *object);

/* What is told, in the order of the events; NULL: nothing. */
struct store_events {
	object_fn on_object; /* an HPA's change is told of the object that it belongs to */
	/*
	 * "shop/redis"; "/redis" is a ClusterTriggerAuthentication; NULL: which are known is
	 * different from before, so whoever waits for one looks again
	 */
	void (*on_triggerauth)(void *arg, const char *key);
	void (*on_synced)(void *arg); /* ScaledObjects and HPAs, once */
};
void store_listen(struct store *s, const struct store_events *events, void *arg); /* one; for the store's life */

#endif
