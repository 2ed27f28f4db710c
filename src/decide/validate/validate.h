/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_VALIDATE_VALIDATE_H
#define DECIDE_VALIDATE_VALIDATE_H

/*
 * What an object may say: by itself alone, and beside what lies outside it (gathered by
 * cache/admit). One place for the reconciler, the webhook and `kscaled check`, and so one wording.
 * Pure.
 *
 * Each rule gives 0, or -1 with ERR_INVALID: the field, the value and what to do. *reason (reason
 * may be NULL) is the word for programs, a literal: the label of
 * keda_webhook_scaled_object_validation_errors_total, KEDA's where it has one (keda-core.md 7.7);
 * NULL when all is well.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "crd/hpa.h"
#include "crd/scaled.h"
#include "crd/triggerauth.h"

/*
 * A ScaledObject or ScaledJob alone, for the webhook: that its spec was decoded (spec_err), its
 * numbers, triggers, names and annotations (keda-core.md 2.3, 4.1), scaleTargetRef, fallback and
 * scalingModifiers, or jobTargetRef and its template. Not the parameters of triggers, which the
 * scalers judge, nor what KEDA's webhook admits although its reconciler refuses it: metricType and
 * resource triggers of a ScaledJob (keda-core.md 7.7). Unknown words of a ScaledJob's strategies
 * mean KEDA's defaults, with a warning.
 */
int validate_admission(struct scaled of, const char **reason, struct err *err);

/*
 * All rules, for Ready: the first fault, after the text of KEDA's reconcile step if it has one
 * (keda-core.md 2.3, 4.1).
 */
int validate_for_reconcile(struct scaled of, struct err *err);

/*
 * All rules, for `kscaled check`: on_fault for each that is broken, with its first fault; of a spec
 * that was not decoded only that.
 */
void validate_every(struct scaled of, void (*on_fault)(void *arg, const struct err *err), void *arg);

/* ---- A ScaledJob ---- */

/*
 * A type of trigger, cpu or memory, that the HPA controller reads by itself; no ScaledJob can use
 * it.
 */
bool validate_is_resource_type(const char *type);

/*
 * What its Jobs will be refused for, as far as it can be told without the API server: on_fault for
 * each. `kscaled check` complains of them; the webhook, as KEDA's, lets them in and warns:
 * something on the way may still put right what it does not know of.
 */
void validate_jobs_of(const struct scaledjob *sj, void (*on_fault)(void *arg, const struct err *err), void *arg);

#define VALIDATE_JOB_WARNINGS_MAX 16

/*
 * What is allowed and has no effect, or not the one that is wished for: texts, literals; how many.
 * Of metricType, too, which is a fault for the two above.
 */
size_t validate_job_warnings(const struct scaledjob *sj, const char *out[VALIDATE_JOB_WARNINGS_MAX]);

/* ---- Beside what is outside of it ---- */

/* Another ScaledObject of the same namespace: not the same target, not the same HPA. */
int validate_beside(const struct scaledobject *so, const struct scaledobject *other, const char **reason,
	struct err *err);

/* What is outside, as far as it is known; NULL: not known, and so not judged. Borrowed. */
struct validate_facts {
	/* of the namespace; those that kscaled manages need not be among them */
	const struct hpa *const *hpas;
	size_t hpa_count;
	const json_t *target;       /* the Deployment or StatefulSet */
	bool target_missing;        /* it does not exist */
	const json_t *limit_ranges; /* a list's items */
};

/*
 * Whether the target (and, as what it lacks may have a default, the LimitRanges) must be looked at:
 * there is a trigger cpu or memory, and the target is a Deployment or StatefulSet of apps/v1.
 */
bool validate_needs_target(const struct scaledobject *so);

/*
 * Nobody else's HPA scales the target; triggers cpu and memory have something to measure by, and do
 * not alone lead to zero. On a dry run the target may be one that does not exist yet: needs_target
 * then does not hold.
 */
int validate_surroundings(const struct scaledobject *so, const struct validate_facts *facts, const char **reason,
	struct err *err);

/* ---- Authentications ---- */

/*
 * A TriggerAuthentication or ClusterTriggerAuthentication alone: a spec that did not decode,
 * podIdentity, oauth2.
 */
int validate_triggerauth(const struct triggerauth *t, const char **reason, struct err *err);

/*
 * What depends on how kscaled was started: a namespaced one that has kscaled log in to Vault as
 * itself. A static text, NULL when there is nothing to say.
 */
const char *validate_triggerauth_warning(const struct triggerauth *t);

/* ---- What is allowed, but not what it seems ---- */

#define VALIDATE_WARNINGS_MAX 4

/*
 * What is allowed and has no effect (keda-core.md 7.7), or not the one that is wished for (8, 17):
 * texts, literals; how many.
 */
size_t validate_warnings(const struct scaledobject *so, const char *out[VALIDATE_WARNINGS_MAX]);

#endif
