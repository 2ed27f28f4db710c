/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_TARGETREF_H
#define CACHE_OBJECTS_TARGETREF_H

/*
 * From a ScaledObject's scaleTargetRef to the resource it names: hears of objects and of
 * discovery, and says to cache/objects/targets which target each object wants, on every replica,
 * because a standby answers metric requests too. Keeps nothing per object. Differs from KEDA
 * (keda-core.md 2.5, 8.28): a Deployment of another group than apps is looked up, too.
 */

#include <stdbool.h>

#include "base/err.h"
#include "cache/objects/kinds.h"
#include "cache/objects/store.h"
#include "cache/objects/targets.h"

struct targetref;

struct targetref *targetref_new(struct store *store, struct targets *targets, struct kinds *kinds);
void targetref_free(struct targetref *t);

void targetref_follow(struct targetref *t, struct object *o, unsigned changes);

/*
 * The resource of this owner's target became known, or is gone, or cannot be found out. Told beside
 * targets_listen, for those whose kind is looked up. One listener.
 */
void targetref_listen(struct targetref *t, object_fn fn, void *arg);

#define TARGETREF_TEXT 254

/*
 * group, version and resource ("apps", "v1", "deployments") of an object's target, each
 * TARGETREF_TEXT bytes. ERR_INVALID: it cannot be scaled; ERR_MISSING: there is no such kind;
 * ERR_TEMPORARY: not known yet, and *waits (may be NULL) is true when nothing is known to be wrong:
 * the answer is on its way. On a failure *resource is "".
 */
int targetref_find(struct targetref *t, const struct scaledobject *so, char *group, char *version, char *resource,
	bool *waits, struct err *err);

/* What *err said is that the kind is known and has no scale subresource. */
bool targetref_unscalable(struct targetref *t, const struct scaledobject *so);

/*
 * The same from the object's own status, when that is about the target the spec names: for a
 * deletion, which does not wait for discovery.
 */
int targetref_stored(const struct scaledobject *so, char *group, char *version, char *resource);

#endif
