/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_OBJECT_H
#define CACHE_OBJECTS_OBJECT_H

/*
 * The record of one ScaledObject or ScaledJob, with what each module keeps about it, so that no
 * look-up by name is needed. cache/objects/store creates it and reports its changes (cache/cache
 * distributes them). When the object no longer exists the record is `gone`: modules release their
 * data, and the last reference frees it. An object recreated under the same name gets a new record.
 * Each module's data is private: others neither read it nor set the pointer.
 */

#include <stdbool.h>
#include <stddef.h>

#include "crd/scaled.h"

struct hold;

/* Its holds (cache/auth/holders). */
struct holdings {
	struct hold *holds;
	size_t count;
	unsigned round;
	uint64_t told; /* number of the last holders_tell_begin that reached it */
};

struct object {
	char *key;        /* of cache/objects/store: "shop/web", "scaledjobs/shop/drain" */
	const char *path; /* "shop/web", of either kind; inside key */
	char *uid;
	enum scaled_kind kind;
	bool gone;
	struct scaled of; /* as stored now; empty if gone */
	unsigned references;
	/* written by cache/objects/store, read by decide/jobs/jobspec; NULL for a ScaledObject */
	struct jobtemplate *served;

	struct target *target; /* cache/objects/targets: what it scales */
	struct object *next_of_target;
	struct holdings holdings;      /* cache/auth, cache/readings/descriptions: inputs of its parameters */
	struct built_scalers *scalers; /* cache/readings/scalers */
	struct pushed *pushed;         /* cache/readings/pushes: while it is held */
	struct polled *polled;         /* cache/readings/lastpoll */
	struct failing *failing;       /* cache/health */
	struct journal_entry *journal; /* cache/journal */
	struct work *work;             /* control/objects: while leading */
};

/*
 * The caller gets one reference. Only cache/objects/store creates stored ones. prefix: the part of
 * its key before "namespace/name".
 */
struct object *object_new(const struct scaled *of, const char *prefix);

struct object *object_ref(struct object *o);
void object_unref(struct object *o); /* NULL is fine */

/*
 * What has changed, as bits. A new resourceVersion without a relevant change is not reported, nor
 * is a status that we wrote (store_learn_*).
 */
enum object_change {
	OBJECT_SPEC = 1 << 0, /* its spec; also when it was added */
	OBJECT_ANNOTATIONS = 1 << 1,
	OBJECT_META = 1 << 2, /* its labels, finalizers, deletionTimestamp */
	OBJECT_STATUS = 1 << 3,
	OBJECT_GONE = 1 << 4, /* it no longer exists */
	/* its HPA except the status; also when more is known about HPAs and rivals */
	OBJECT_HPA = 1 << 5,
	/* its HPA's condition ScalingActive, desired replicas and time of the last scaling */
	OBJECT_HPA_STATUS = 1 << 6,
	OBJECT_TARGET = 1 << 7, /* its target was added, changed or deleted, or more is known about its kind */
	OBJECT_NEEDS = 1 << 8,  /* something that it holds has changed or become available */
};
#define OBJECT_STORED (OBJECT_SPEC | OBJECT_ANNOTATIONS | OBJECT_META | OBJECT_STATUS | OBJECT_GONE)

/* The callback only queues work for the end of the turn, or for the next request. */
typedef void (*object_fn)(void *arg, struct object *o, unsigned changes);

#endif
