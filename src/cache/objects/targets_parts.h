/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_TARGETS_PARTS_H
#define CACHE_OBJECTS_TARGETS_PARTS_H

/*
 * Shared by the three files of cache/objects/targets; no other file includes it.
 *
 *   targets.c         owners and the targets that they want
 *   targets_object.c  one target: its state, notifications, reads of it and of its /scale
 *   targets_watch.c   one kind in a place: the watch, and the substitute while it is denied
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
	char *grant;       /* what to grant if the kind may not be scaled */
	bool default_role; /* Deployments and StatefulSets: covered by the default role */
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
 * refused); none if only its Pod template is wanted.
 */
struct target {
	struct target_place *place;
	char *key;        /* "apps/v1/deployments/shop/web" */
	const char *name; /* inside it */
	char *namespace_; /* the place may be all namespaces */
	enum target_state state;
	struct workload *workload;
	struct workload *unsure; /* the watch's last state while its replicas are read from /scale; NULL */
	struct refetch *scale;   /* NULL: /scale is not read */
	unsigned list;           /* number of the list it was last in */
	uint64_t shape;          /* hash of the fields that scaling uses */
	struct refetch *read;    /* for a target named after its kind's list, until answered; NULL */
	char *trouble;           /* reading error; NULL */
	struct object *owners;   /* by their next_of_target */
	/*
	 * the Deployment whose Pod template it uses (struct workload, template_deployment); NULL.
	 * That one knows its borrowers, and lives as long as it has one
	 */
	struct target *pods, *borrowers, *next_borrower;
	UT_hash_handle hh;
};

struct targets {
	struct kube *kube;
	struct kinds *kinds; /* notified about missing kinds */
	char **namespaces;
	size_t namespace_count;
	bool open; /* lists may begin */
	struct loop_timer open_late;
	struct target_place *places;
	struct target *targets;
	void (*on_present)(struct target *target); /* set by targets.c: its workload was taken */
	object_fn fn;
	void *arg;
};

/* targets_object.c */
/*
 * A hash of the fields of a target that scaling uses, so that frequent status updates of a
 * Deployment do not count as changes.
 */
uint64_t targets_object_shape(const struct workload *w);
struct target *targets_object_find(struct targets *t, const char *key);
/* path of a collection; namespace_ NULL: everywhere; the caller owns it */
char *targets_object_collection(const char *group, const char *version, const char *resource, const char *namespace_);
/* notifies its owners; they only queue work and do not call back into this module */
void targets_object_tell(struct target *target);
void targets_object_missing(struct target *target);
/*
 * Takes an object from a list, a watch or a GET. authoritative: from a list, valid even if it seems
 * older.
 */
void targets_object_take(struct target *target, const json_t *object, bool authoritative);
void targets_object_read(struct target *target); /* by GET, once; retried after failures */
void targets_object_read_stop(struct target *target);
void targets_object_poll(struct target *target); /* reads its /scale periodically */
void targets_object_scale_stop(struct target *target);

/* targets_watch.c */
struct target_place *targets_watch_get(struct targets *t, const struct target_ref *ref);
void targets_watch_free(struct target_place *place);
void targets_watch_start(void *place);

#endif
