/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_KINDS_H
#define CACHE_OBJECTS_KINDS_H

/*
 * Maps kinds to resources by discovery (GET /apis/<group>/<version>, or /api/<version> for the core
 * group; one request per group and version, cached): plural name, namespaced, has /scale.
 * Deployment and StatefulSet of apps/v1 are built in. A missing kind and a failing server are
 * retried with back-off while the kind is in use, as a CRD may be installed after the object that
 * names it. Known kinds are refreshed every few minutes, and at once after kinds_doubt. Users do
 * not release kinds: after each refresh the listeners request what they need again, and a group and
 * version without requests is dropped.
 */

#include <stdbool.h>

#include "base/err.h"
#include "kube/client.h"

struct kinds;

enum kind_state { KIND_UNREAD, KIND_MISSING, KIND_PRESENT };

struct kind {
	char resource[254];
	bool namespaced, scalable;
};

/*
 * Cap on missing groups and versions that are retried, in shares by namespace (base/shares), so
 * that names that do not exist cannot block those that do.
 */
#define KINDS_MAX 300
#define KINDS_FEW 4

/*
 * Called after each refresh; `changed`: a kind became known or is gone, or the reason of a failure
 * is known. Listeners must request every kind they need again.
 */
typedef void (*kinds_fn)(void *arg, bool changed);

struct kinds *kinds_new(struct kube *kube);
void kinds_free(struct kinds *k);
void kinds_listen(struct kinds *k, kinds_fn fn, void *arg); /* one listener */

/*
 * Looks up a kind, and starts discovery if it is unknown, for this namespace (NULL: a cluster-wide
 * object). group and version are DNS names, checked by validate_for_reconcile. *out (may be NULL)
 * is set for KIND_PRESENT. KIND_MISSING: *err (may be NULL) is ERR_MISSING, "no kind Rollout in
 * argoproj.io/v1alpha1: is its CRD installed?". KIND_UNREAD: ERR_TEMPORARY, with the reason after a
 * failure (`*wrong`), otherwise because the first answer is pending.
 */
enum kind_state kinds_get(struct kinds *k, const char *namespace_, const char *group, const char *version,
	const char *kind, struct kind *out, bool *wrong, struct err *err);

/*
 * A request for this group and version returned "not found": refreshes them now and a few times
 * more.
 */
void kinds_doubt(struct kinds *k, const char *group, const char *version);

#endif
