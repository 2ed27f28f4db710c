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
#include "crd/scaledjob.h"
#include "crd/scaledobject.h"
#include "crd/triggerauth.h"

/*
 * The object alone: a spec that did not decode (spec_err); scaleTargetRef; int32 ranges and replica
 * bounds (keda-core.md 2.3 rows 4, 7); triggers; names longer than 63; fallback and
 * scalingModifiers.
 */
int validate_scaledobject(const struct scaledobject *so, const char **reason, struct err *err);

/*
 * The same, all rules that it breaks, each with its first fault; one that did not decode has no
 * more than that. For `kscaled check`.
 */
void validate_every(const struct scaledobject *so, void (*on_fault)(void *arg, const struct err *err), void *arg);

/*
 * The same, with the text of KEDA's reconcile step in front where it has one (keda-core.md 2.3):
 * what Ready says.
 */
int validate_for_reconcile(const struct scaledobject *so, struct err *err);

/*
 * spec.triggers of a ScaledObject or ScaledJob (`kind` for the message): 0, or ERR_INVALID: none at
 * all, names used twice, useCachedMetrics on cpu, memory and cron (keda-core.md 2.3 row 8),
 * metricType, authenticationRef. Parameters are for the scalers to judge.
 */
int validate_triggers(const char *kind, const struct trigger *triggers, size_t count, struct err *err);

/* ---- A ScaledJob ---- */

/*
 * The object alone: a spec that did not decode; jobTargetRef and its template; triggers; a name
 * longer than 63; int32 ranges; the annotation that pauses it. Of the words that the schema lists
 * (strategies and the like) others are KEDA's defaults, and only warned of. For the webhook: a
 * metricType passes (keda-core.md 7.7), with a warning.
 */
int validate_scaledjob(const struct scaledjob *sj, const char **reason, struct err *err);

/*
 * As validate_every: all rules, also that no trigger has a metricType, which the reconciler
 * refuses.
 */
void validate_every_of_job(const struct scaledjob *sj, void (*on_fault)(void *arg, const struct err *err), void *arg);

/*
 * The same, the first fault, with the text of KEDA's reconcile step in front where it has one
 * (keda-core.md 4.1).
 */
int validate_scaledjob_for_reconcile(const struct scaledjob *sj, struct err *err);

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
