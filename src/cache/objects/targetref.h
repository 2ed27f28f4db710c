/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_TARGETREF_H
#define CACHE_OBJECTS_TARGETREF_H

/*
 * Resolves a ScaledObject's scaleTargetRef to a resource: reacts to objects and discovery, and
 * tells cache/objects/targets which target each object needs, on every replica, because a standby
 * answers metric requests, too. Stores nothing per object. Unlike KEDA (doc/keda.md 2.3) it also
 * looks up a Deployment of a group other than apps.
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
 * Called when the resource of an object's target becomes known, disappears, or cannot be
 * determined, in addition to targets_listen. One listener.
 */
void targetref_listen(struct targetref *t, object_fn fn, void *arg);

#define TARGETREF_TEXT 254

/*
 * Finds group, version and resource ("apps", "v1", "deployments") of an object's target, each of
 * TARGETREF_TEXT bytes. ERR_INVALID: cannot be scaled; ERR_MISSING: no such kind; ERR_TEMPORARY:
 * not known yet, and *waits (may be NULL) is true if there is no error but the answer is pending.
 * On failure *resource is "".
 */
int targetref_find(struct targetref *t, const struct scaledobject *so, char *group, char *version, char *resource,
	bool *waits, struct err *err);

/* Whether the error is that the kind has no scale subresource. */
bool targetref_unscalable(struct targetref *t, const struct scaledobject *so);

/*
 * The same from the object's status, if that matches the target in the spec: for a deletion, which
 * does not wait for discovery.
 */
int targetref_stored(const struct scaledobject *so, char *group, char *version, char *resource);

#endif
