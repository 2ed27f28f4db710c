/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_STORE_H
#define CACHE_OBJECTS_STORE_H

/*
 * The cached objects: ScaledObjects, ScaledJobs, HPAs, TriggerAuthentications and
 * ClusterTriggerAuthentications, each kind in an indexer (cache/objects/indexer). A change of one
 * of the first two is reported as its record (cache/objects/object) and change bits, without
 * content. A kind that cannot be watched (no CRD, no permission) does not stop the rest: its users
 * get the reason. Owns the decoded objects; returned pointers are valid until the end of the turn.
 *
 * All HPAs are watched, by one watch without a selector, so that none is missed when its labels or
 * owner change. HPAs that kscaled manages or a ScaledObject owns are kept whole; of others only
 * name and target (some 600 bytes each with indexes), for admission and the reconciler, which then
 * need no request. Ten thousand foreign HPAs that the HPA controller updates every 15 s are 2 MB/s
 * to parse, some 3 % of a core; their changes are not reported.
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
struct index_entry;

/*
 * The key of an object: "default/web" for a ScaledObject, "scaledjobs/default/web" for a ScaledJob.
 * Unique, as a namespace has no slash. Only these functions interpret keys.
 */
#define STORE_KEY_MAX (11 + 253 + 1 + 253 + 1)
char *store_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX]);
char *store_job_key(const char *namespace_, const char *name, char out[STORE_KEY_MAX]);
/* Derived from the key alone, also for deleted objects. */
enum scaled_kind store_key_kind(const char *key);

struct store *store_new(struct kube *kube, struct counters *counters);
void store_free(struct store *s);
void store_clear(struct store *s); /* drops all ScaledObjects and ScaledJobs, with events */

/* Starts the watches: one per namespace, or (count 0) one for all. */
void store_start(struct store *s, const char *const *namespaces, size_t count);
bool store_synced(const struct store *s); /* every watch of ScaledObjects and HPAs has completed a list */
/* the error of a failing watch of these; NULL: none */
const char *store_trouble(const struct store *s);

/* The record of either kind; NULL when unknown. Any text is accepted. */
struct object *store_object(const struct store *s, const char *key);
struct object *store_find(const struct store *s, enum scaled_kind kind, const char *namespace_, const char *name);
/* Calls fn for all ScaledObjects, then all ScaledJobs. fn must not change them. */
void store_each_object(const struct store *s, void (*fn)(void *arg, struct object *o), void *arg);
size_t store_count(const struct store *s, enum scaled_kind kind);

/*
 * Whether all objects of this kind in this namespace are listed. If not, *trouble is the reason
 * (the CRD may be missing), or NULL. For ScaledObjects a change is reported as OBJECT_HPA of each.
 */
bool store_knows(const struct store *s, enum scaled_kind kind, const char *namespace_, const char **trouble);
bool store_synced_scaledjobs(const struct store *s, const char **trouble); /* the same for all watched namespaces */
/*
 * What a ScaledObject claims (target, HPA name), as marks of cache/objects/index, and iteration
 * over those with a claim, including itself. Marks may collide: decide/validate compares the
 * objects.
 */
struct store_claims {
	uint64_t target, hpa;
};
struct store_claims store_claims_of(const struct scaledobject *so);
/* as index_next */
struct object *store_next_claim(const struct store *s, uint64_t claim, const struct index_entry **at);
const struct hpa *store_hpa(const struct store *s, const char *key); /* NULL: unknown, or foreign */
const struct hpa *store_hpa_named(const struct store *s,
	const struct scaledobject *so); /* by the HPA name in its spec */
/* The next foreign HPA that may scale this target (store_claims_of); NULL at the end. */
const struct hpa *store_next_rival_hpa(const struct store *s, uint64_t claim, const struct index_entry **at);
/* Whether the namespace is watched (option watch-namespace). */
bool store_watches(const struct store *s, const char *namespace_);
/*
 * Whether the HPAs of this namespace are listed, so that an unknown one does not exist. If not,
 * *trouble is the reason, or NULL. A change is reported as OBJECT_HPA.
 */
bool store_knows_hpas(const struct store *s, const char *namespace_, const char **trouble);
/*
 * An HPA of this ScaledObject (hpaspec_is_of) that is not named `except` and is not being deleted;
 * NULL: none.
 */
const struct hpa *store_hpa_of(const struct store *s, const struct scaledobject *so, const char *except);
/* cluster: a ClusterTriggerAuthentication, whatever the namespace. NULL when unknown. */
const struct triggerauth *store_triggerauth(const struct store *s, bool cluster, const char *namespace_,
	const char *name);
const struct triggerauth *store_triggerauth_at(const struct store *s, const char *key); /* "shop/redis", "/redis" */
/* Like store_knows_hpas. A change is reported by on_triggerauth with key NULL. */
bool store_knows_triggerauths(const struct store *s, bool cluster, const char *namespace_, const char **trouble);
void store_each_triggerauth(const struct store *s, void (*fn)(void *arg, const struct triggerauth *t), void *arg);

/*
 * Takes the object in the answer to a write, before the watch delivers it, so that the next
 * decision does not use an older state. Older versions from the watch are detected by
 * resourceVersion and skipped.
 */
bool store_has(const struct store *s, const struct objecttext *text); /* whether exactly this version is known */
void store_learn(struct store *s, enum scaled_kind kind, const json_t *object);
void store_learn_hpa(struct store *s, const json_t *object);
void store_forget_hpa(struct store *s, const char *key); /* a write returned "not found" */
void store_learn_triggerauth(struct store *s, bool cluster, const json_t *object);

/* The events of the store; each may be NULL. */
struct store_events {
	object_fn on_object; /* an HPA's change is reported for the object that owns it */
	/*
	 * "shop/redis"; "/redis" is a ClusterTriggerAuthentication; NULL: more or fewer are known,
	 * so users look again
	 */
	void (*on_triggerauth)(void *arg, const char *key);
	void (*on_synced)(void *arg); /* ScaledObjects and HPAs, once */
};
/* one listener; for the store's life */
void store_listen(struct store *s, const struct store_events *events, void *arg);

#endif
