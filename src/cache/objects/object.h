/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_OBJECT_H
#define CACHE_OBJECTS_OBJECT_H

/*
 * One ScaledObject or ScaledJob that is in the cluster, and what each module keeps about it: one
 * record, so that nobody looks it up by name. cache/objects/store makes it when it first shows, and
 * tells of each change of it (cache/changes: the one place from where the modules hear). When it is
 * not found any more it is `gone`: the modules let go of what they keep, and it is freed when the
 * last one that holds it has. One that is made anew under the same name is another record.
 *
 * What a module keeps is its own: nobody else looks into it, or sets the pointer.
 */

#include <stdbool.h>
#include <stddef.h>

#include "crd/scaled.h"

struct hold;

/* What it needs of others: cache/auth/holders. */
struct holdings {
	struct hold *holds;
	size_t count;
	unsigned round;
};

struct object {
	char *key;        /* of cache/objects/store: "shop/web", "scaledjobs/shop/drain" */
	const char *path; /* "shop/web", of either kind; inside key */
	char *uid;
	enum scaled_kind kind;
	bool gone;
	struct scaled of; /* as it is stored now; nothing when it is gone */
	unsigned references;

	struct target *target; /* cache/objects/targets: what it scales */
	struct object *next_of_target;
	struct holdings holdings;      /* cache/auth, cache/readings/descriptions: what its parameters come from */
	struct built_scalers *scalers; /* cache/readings/scalers */
	struct pushed *pushed;         /* cache/readings/pushes: while somebody works with it */
	struct polled *polled;         /* cache/readings/lastpoll */
	struct failing *failing;       /* cache/health */
	struct journal_entry *journal; /* cache/journal */
	struct work *work;             /* control/objects: while we lead */
};

/*
 * One reference is the caller's. A stored one is made by cache/objects/store alone. prefix: what
 * its key has before "namespace/name".
 */
struct object *object_new(const struct scaled *of, const char *prefix);

struct object *object_ref(struct object *o);
void object_unref(struct object *o); /* NULL is fine */

/*
 * What is another than before: bits. A new resourceVersion under which nothing changed that anybody
 * here looks at is not told, nor is a status that we wrote ourselves (store_learn_*): who wrote it
 * knows.
 */
enum object_change {
	OBJECT_SPEC = 1 << 0, /* its spec; also: it came */
	OBJECT_ANNOTATIONS = 1 << 1,
	OBJECT_META = 1 << 2, /* its labels, finalizers, deletionTimestamp */
	OBJECT_STATUS = 1 << 3,
	OBJECT_GONE = 1 << 4, /* it is not found any more */
	/* its HPA: all but the status; also when more is known than before of what is beside it */
	OBJECT_HPA = 1 << 5,
	OBJECT_HPA_STATUS = 1 << 6, /* its HPA's condition ScalingActive, what that wants and when it last scaled */
	OBJECT_TARGET = 1 << 7,     /* its target came, changed or went, or more is known of its kind */
	OBJECT_NEEDS = 1 << 8,      /* something that it holds is different, or is there now */
};
#define OBJECT_STORED (OBJECT_SPEC | OBJECT_ANNOTATIONS | OBJECT_META | OBJECT_STATUS | OBJECT_GONE)

/* Who is told only takes note: it works at the end of the turn, or when it is asked. */
typedef void (*object_fn)(void *arg, struct object *o, unsigned changes);

#endif
