/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_ADMIT_H
#define CACHE_ADMIT_H

/*
 * Validates objects for admission: gathers the facts outside the object and passes them to
 * decide/validate. Other ScaledObjects and foreign HPAs are in memory, so a review costs no
 * request. Only triggers cpu and memory need two requests, for the target's resource requests and
 * the LimitRanges; these run at the lowest priority (KUBE_ASIDE) and for a few reviews at a time,
 * because anyone may post reviews. A verdict reveals nothing outside the object's namespace.
 * (ScaledJobs and authentications need no outside facts.) The webhook and the reconciler both use
 * this module, so that they give the same messages; `kscaled check` does so with the documents it
 * is given. Objects applied a moment ago may be unknown; the reconciler then reports the conflict
 * later.
 *
 * The scalers check trigger parameters if none comes from an authentication or an environment.
 * Their errors are warnings, not refusals: KEDA's webhook accepts every trigger (doc/keda.md 7.2),
 * and a later version may know an unknown type. The same holds for errors of a referenced
 * authentication (cache/auth, auth_alone). Works on every replica, leading or not; writes nothing.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/auth/auth.h"
#include "cache/objects/store.h"
#include "crd/scaledobject.h"
#include "kube/client.h"

struct admit;
struct admit_wait;

struct admit_request {
	const char *kind;     /* "ScaledObject", "ScaledJob", "TriggerAuthentication", "ClusterTriggerAuthentication" */
	const json_t *object; /* as it would be stored; borrowed for the call */
	const json_t *old_object; /* NULL on creation */
	bool dry_run;
	/*
	 * loop clock; facts that are late, or refused because of too many reviews, are left out,
	 * with a warning
	 */
	int64_t deadline_ms;
};

struct admit_verdict { /* borrowed until the callback returns */
	bool allowed;
	/* label of keda_webhook_scaled_object_validation_errors_total: "incorrect-replicas"; "" */
	const char *reason;
	const char *message; /* for the user; "" when allowed */
	const char *const *warnings;
	size_t warning_count;
};

typedef void (*admit_fn)(void *arg, const struct admit_verdict *verdict);

/* Borrows all. rules: as for auth_alone. */
struct admit *admit_new(struct store *store, struct kube *kube, const struct auth_lookup *rules);
void admit_free(struct admit *a); /* all reviews must have ended */

/*
 * An update that only removes finalizers, and any update of an object being deleted, is allowed
 * without checks: validation must never block a deletion.
 */
/* fn is never called before this returns */
struct admit_wait *admit_ask(struct admit *a, const struct admit_request *request, admit_fn fn, void *arg);
void admit_cancel(struct admit_wait *w);

/*
 * For the reconciler, from memory: 0, or ERR_INVALID with the webhook's message if another
 * ScaledObject of the namespace with precedence (older, then the one with an existing HPA, then by
 * name) has the same target or HPA name.
 */
int admit_among_others(const struct store *store, const struct scaledobject *so, struct err *err);
/* The same for an HPA of another owner that scales the target. */
int admit_among_hpas(const struct store *store, const struct scaledobject *so, struct err *err);

#endif
