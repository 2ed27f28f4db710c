/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_ADMIT_H
#define CACHE_ADMIT_H

/*
 * Whether an object may come in: gathers the facts that lie outside it and lets decide/validate
 * judge. Other ScaledObjects and foreign HPAs are known from memory, so a review costs no request;
 * only triggers cpu and memory lead to two, for the target's requests and the LimitRanges, behind
 * all that kscaled itself asks for (KUBE_ASIDE), and for a few reviews at a time: anybody may post
 * them. A verdict tells of nothing outside the object's namespace. (Of a ScaledJob and an
 * authentication nothing lies outside.) The webhook and the reconciler go through here, so that
 * they say the same with the same words; `kscaled check` does with the documents it was given. What
 * was applied a moment ago may not be known yet: the reconciler hears of it, and says so.
 *
 * Parameters of triggers are judged by their scalers when nothing in them comes from an
 * authentication or an environment, and what they say is a warning, not a refusal: KEDA's webhook
 * lets every trigger in (keda-core.md 7.7), and a type that this version does not know may be one
 * that a later one does. Works on every replica, leading or not; writes nothing.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
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
	int64_t deadline_ms; /* loop clock; facts that did not come in time, or too many ask for, are left out,
				and a warning says so */
};

struct admit_verdict { /* borrowed until the callback returns */
	bool allowed;
	const char *reason;  /* of a rejection, as keda_webhook_scaled_object_validation_errors_total has it:
				"incorrect-replicas"; "" */
	const char *message; /* for the user; "" when allowed */
	const char *const *warnings;
	size_t warning_count;
};

typedef void (*admit_fn)(void *arg, const struct admit_verdict *verdict);

struct admit *admit_new(struct store *store, struct kube *kube); /* borrows both */
void admit_free(struct admit *a);                                /* nobody waits any more */

/*
 * An update that only takes finalizers away, and any to an object that is being deleted, is allowed
 * unseen: nothing here may ever hinder a deletion.
 */
/* never calls back before it returns */
struct admit_wait *admit_ask(struct admit *a, const struct admit_request *request, admit_fn fn, void *arg);
void admit_cancel(struct admit_wait *w);

/*
 * For the reconciler, from memory alone: 0, or ERR_INVALID when another ScaledObject of the
 * namespace that was there first (older, then the one that has its HPA already, then by name) has
 * the same target or the same HPA name, in the webhook's words.
 */
int admit_among_others(const struct store *store, const struct scaledobject *so, struct err *err);
/* The same of an HPA of somebody else that scales the target. */
int admit_among_hpas(const struct store *store, const struct scaledobject *so, struct err *err);

#endif
