/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_TARGETS_PARTS_H
#define CACHE_OBJECTS_TARGETS_PARTS_H

/*
 * What the three files of cache/objects/targets say to each other; nobody else includes it.
 *
 *   targets.c         owners and what they want
 *   targets_object.c  one target: what is known of it, who is told, the reads of it and of its
 *                     /scale
 *   targets_watch.c   one kind in a place: the watch, and what is done while there may be none
 */

#include "base/hash.h"
#include "cache/objects/targets.h"
#include "kube/informer.h"
#include "kube/refetch.h"

#define TARGETS_SCALE_PERIOD_MS 15000 /* between two reads of /scale of a kind that may not be watched */

struct target;

/* One kind in one namespace (or everywhere): a watch while at least one object of it is wanted. */
struct target_place {
	struct targets *owner;
	char *key; /* "apps/v1/deployments" or "apps/v1/deployments in shop" */
	char *group, *version, *resource, *path;
	char *grant;       /* what to do when the kind may not be scaled */
	bool default_role; /* Deployments and StatefulSets: whoever installs kscaled lets it watch them */
	bool native;       /* Kubernetes' own: absent replicas are 1, absent readyReplicas 0 */
	struct informer informer;
	bool denied;      /* may not be watched: /scale of its targets is read instead */
	unsigned denials; /* in a row */
	struct loop_timer watch_again;
	size_t wanted;
	UT_hash_handle hh;
};

/*
 * One wanted object. Its owners are the ScaledObjects that scale it (two may, until one is
 * refused).
 */
struct target {
	struct target_place *place;
	char *key;        /* "apps/v1/deployments/shop/web" */
	const char *name; /* inside it */
	char *namespace_; /* the place may be all namespaces */
	enum target_state state;
	struct workload *workload;
	struct workload *unsure; /* what the watch brought last while its replicas are asked of /scale; NULL */
	struct refetch *scale;   /* NULL: nothing is asked of /scale */
	unsigned list;           /* the list it was last seen in */
	uint64_t shape;          /* fingerprint of what scaling looks at */
	struct refetch *read;    /* of a target named after its kind's list, until it is answered; NULL */
	char *trouble;           /* why it cannot be read; NULL */
	struct object *owners;   /* by their next_of_target */
	UT_hash_handle hh;
};

struct targets {
	struct kube *kube;
	struct kinds *kinds; /* hears of kinds that are gone */
	char **namespaces;
	size_t namespace_count;
	bool open; /* lists may begin */
	struct loop_timer open_late;
	struct target_place *places;
	struct target *targets;
	object_fn fn;
	void *arg;
};

/* targets_object.c */
struct target *targets_object_find(struct targets *t, const char *key);
/* path of a collection; namespace_ NULL: everywhere; the caller owns it */
char *targets_object_collection(const char *group, const char *version, const char *resource, const char *namespace_);
/* its owners; who is told only takes note, and never calls back into this module from there */
void targets_object_tell(struct target *target);
void targets_object_missing(struct target *target);
/*
 * What a list, a watch or a read brought. authoritative: a list, which says what is even where it
 * seems older.
 */
void targets_object_take(struct target *target, const json_t *object, bool authoritative);
void targets_object_read(struct target *target); /* by itself, once; tried again after failures */
void targets_object_read_stop(struct target *target);
void targets_object_poll(struct target *target); /* its /scale, now and then */
void targets_object_scale_stop(struct target *target);

/* targets_watch.c */
struct target_place *targets_watch_get(struct targets *t, const struct target_ref *ref);
void targets_watch_free(struct target_place *place);
void targets_watch_start(void *place);

#endif
