/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_VALIDATE_VALIDATE_H
#define DECIDE_VALIDATE_VALIDATE_H

/*
 * The validation of objects: each alone, and against other objects (which cache/admit collects).
 * Shared by the reconciler, the webhook and `kscaled check`, so that all report the same text.
 * Pure.
 *
 * Each function returns 0, or -1 with ERR_INVALID: the field, the value and what to do. *reason
 * (reason may be NULL) is a literal for programs, the label of
 * keda_webhook_scaled_object_validation_errors_total, KEDA's if it has one (doc/keda.md 7.2); NULL
 * without an error.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "crd/hpa.h"
#include "crd/scaled.h"
#include "crd/triggerauth.h"

/*
 * Checks a ScaledObject or ScaledJob alone, for the webhook: that its spec was decoded (spec_err),
 * its numbers, triggers, names and annotations (doc/keda.md 2.1, 4.1), scaleTargetRef, fallback and
 * scalingModifiers, or jobTargetRef and its template. Not the parameters of triggers, which the
 * scalers check, nor what KEDA's webhook admits although its reconciler refuses it: metricType and
 * resource triggers of a ScaledJob (doc/keda.md 7.2). Unknown words in a ScaledJob's strategies
 * mean KEDA's defaults, with a warning.
 */
int validate_admission(struct scaled of, const char **reason, struct err *err);

/*
 * The same for an object that is stored already: without the rules that KEDA's reconciler does not
 * have, because KEDA may have stored it before its webhook had them.
 */
int validate_stored(struct scaled of, const char **reason, struct err *err);

/* Calls on_fault for each of those rules that is broken: a new object would be refused. */
void validate_only_new(struct scaled of, void (*on_fault)(void *arg, const struct err *err), void *arg);

/*
 * All rules, except those for new objects only, for Ready: the first fault, after the text of
 * KEDA's reconcile step if it has one (doc/keda.md 2.1, 4.1). *step (may be NULL): that text alone,
 * as in KEDA's Events about a ScaledJob; a literal, NULL without one.
 */
int validate_for_reconcile(struct scaled of, const char **step, struct err *err);

/*
 * The same, for `kscaled check`: on_fault for each broken rule, with its first fault; for a spec
 * that was not decoded only that.
 */
void validate_every(struct scaled of, void (*on_fault)(void *arg, const struct err *err), void *arg);

/* ---- A ScaledJob ---- */

/* cpu and memory triggers: the HPA controller reads them; a ScaledJob cannot use them. */
bool validate_is_resource_type(const char *type);

/*
 * on_fault for each reason known here why the API server will refuse its Jobs. `kscaled check`
 * reports them as errors; the webhook admits the object, as KEDA's does, and warns, since a
 * mutating webhook may still correct the Jobs.
 */
void validate_jobs_of(const struct scaledjob *sj, void (*on_fault)(void *arg, const struct err *err), void *arg);

#define VALIDATE_JOB_WARNINGS_MAX 16

/*
 * Warnings about fields without effect, or with an unexpected one, and about metricType and
 * resource triggers, which validate_admission lets pass. Literals into out; returns their number.
 */
size_t validate_job_warnings(const struct scaledjob *sj, const char *out[VALIDATE_JOB_WARNINGS_MAX]);

/* ---- Against other objects ---- */

/* Another ScaledObject of the namespace must not have the same target or the same HPA. */
int validate_beside(const struct scaledobject *so, const struct scaledobject *other, const char **reason,
	struct err *err);

/* Facts about other objects; NULL: unknown, and not checked. Borrowed. */
struct validate_facts {
	/* of the namespace; those that kscaled manages may be missing */
	const struct hpa *const *hpas;
	size_t hpa_count;
	const json_t *target;       /* the Deployment or StatefulSet */
	bool target_missing;        /* it does not exist */
	const json_t *limit_ranges; /* a list's items */
};

/*
 * Whether validate_surroundings needs the target, and the LimitRanges for their defaults: there is
 * a cpu or memory trigger, and the target is a Deployment or StatefulSet of apps/v1.
 */
bool validate_needs_target(const struct scaledobject *so);

/*
 * No foreign HPA scales the target; for cpu and memory triggers the containers have requests, and
 * such triggers alone do not scale to zero. Without target and target_missing, as on a dry run
 * where the target need not exist yet, only the HPAs are checked.
 */
int validate_surroundings(const struct scaledobject *so, const struct validate_facts *facts, const char **reason,
	struct err *err);

/*
 * Calls on_fault for each cpu or memory trigger whose containerName no container of the target has,
 * so that nothing is ever measured. Only warnings, because a mutating webhook may add containers to
 * the Pods. A target without a Pod template, or NULL, has no faults.
 */
void validate_containers(const struct scaledobject *so, const json_t *target,
	void (*on_fault)(void *arg, const struct err *err), void *arg);

/* ---- Authentications ---- */

/* A TriggerAuthentication or ClusterTriggerAuthentication alone: spec_err, podIdentity, oauth2. */
int validate_triggerauth(const struct triggerauth *t, const char **reason, struct err *err);

/* ---- Warnings ---- */

#define VALIDATE_WARNINGS_MAX 4

/*
 * Warnings about fields of a ScaledObject without effect (doc/keda.md 7.2), or with an unexpected
 * one (3.2): literals into out; returns their number.
 */
size_t validate_warnings(const struct scaledobject *so, const char *out[VALIDATE_WARNINGS_MAX]);

#endif
