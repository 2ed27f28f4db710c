/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_KINDS_H
#define CACHE_OBJECTS_KINDS_H

/*
 * Which resource a kind is, found by discovery (GET /apis/<group>/<version>, or /api/<version> for
 * the core group; one per group and version, kept): plural name, namespaced, has /scale. Deployment
 * and StatefulSet of apps/v1 are known without asking. A kind that is not there, or a server that
 * does not answer, is looked for again with back-off while somebody wants it: a CRD may be
 * installed later than the object that names it. What is known is looked at again every few
 * minutes, and at once when somebody doubts it.
 *
 * Nobody says that he does not want a kind any more: after each look the listeners ask again for
 * what they want, and a group and version that nobody asked for since is forgotten.
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
 * Groups with their versions that are asked for although they are not there, in shares by namespace
 * (base/shares): whoever names what does not exist keeps nobody's from being found.
 */
#define KINDS_MAX 300
#define KINDS_FEW 4

/*
 * After each look; `changed`: something became known, is gone, or it is known now why it cannot be
 * looked at. Listeners must ask again for every kind that they want.
 */
typedef void (*kinds_fn)(void *arg, bool changed);

struct kinds *kinds_new(struct kube *kube);
void kinds_free(struct kinds *k);
void kinds_listen(struct kinds *k, kinds_fn fn, void *arg); /* one listener */

/*
 * Starts looking when it is not known, for this namespace (NULL: an object that has none). group
 * and version are names (DNS), as validate_for_reconcile has them. *out (may be NULL) is set for
 * KIND_PRESENT. KIND_MISSING: *err (may be NULL) is ERR_MISSING, "no kind Rollout in
 * argoproj.io/v1alpha1: is its CRD installed?". KIND_UNREAD: ERR_TEMPORARY with the reason when
 * something is wrong (`*wrong`), else the first answer is awaited.
 */
enum kind_state kinds_get(struct kinds *k, const char *namespace_, const char *group, const char *version,
	const char *kind, struct kind *out, bool *wrong, struct err *err);

/*
 * Somebody met "not found" where this group and version should be: looked at again, now and a few
 * times more.
 */
void kinds_doubt(struct kinds *k, const char *group, const char *version);

#endif
