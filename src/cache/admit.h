/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_ADMIT_H
#define CACHE_ADMIT_H

/*
 * Whether an object may come in: gathers the facts that lie outside it (other ScaledObjects, foreign HPAs, the target's requests, LimitRanges) and lets decide/validate judge; also each trigger's parameters, as far as they can be
 * judged without their secrets. The webhook and the reconciler go through here, so that they say the same with the same words; `kscaled check` does with the documents it was given.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/cache.h"
#include "crd/scaledobject.h"
#include "kube/client.h"

struct admit;
struct admit_wait;

struct admit_request {
	const char *kind;        /* "ScaledObject", "ScaledJob", "TriggerAuthentication", "ClusterTriggerAuthentication" */
	const json_t *object;    /* as it would be stored; borrowed for the call */
	const json_t *old_object;/* NULL on creation */
	bool dry_run;
	int64_t deadline_ms;     /* loop clock; facts that did not come in time are left out, and a warning says so */
};

struct admit_verdict { /* borrowed until the callback returns */
	bool allowed;
	const char *reason;      /* of a rejection, as keda_webhook_scaled_object_validation_errors_total has it: "incorrect-replicas"; "" */
	const char *message;     /* for the user; "" when allowed */
	const char *const *warnings; size_t warning_count;
};

typedef void (*admit_fn)(void *arg, const struct admit_verdict *verdict);

struct admit *admit_new(struct cache *cache, struct kube *kube);
void admit_free(struct admit *a);

struct admit_wait *admit_ask(struct admit *a, const struct admit_request *request, admit_fn fn, void *arg); /* never calls back before it returns */
void admit_cancel(struct admit_wait *w);

/*
 * For the reconciler, from memory alone: 0, or ERR_INVALID when another ScaledObject of the namespace that was there first (older, then by name) has the same target or the same HPA name, in the webhook's words.
 */
int admit_among_others(const struct store *store, const struct scaledobject *so, struct err *err);

#endif
