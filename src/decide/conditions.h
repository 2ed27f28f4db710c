/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_CONDITIONS_H
#define DECIDE_CONDITIONS_H

/*
 * The status of a ScaledObject after a reconcile or a tick of the scale loop: all of KEDA's
 * condition types, reasons and messages. Pure: changes a copy of the stored status; the caller
 * writes the difference (crd/scaledobject.h scaledobject_status_patch).
 */

#include <stdint.h>

#include "base/err.h"
#include "base/metric.h"
#include "crd/hpa.h"
#include "crd/scaledobject.h"
#include "decide/annotations.h"
#include "decide/scale.h"

/* The outcome of one reconcile. Strings borrowed. */
struct reconcile_outcome {
	const struct err *err; /* NULL: success. Its message begins with the text of KEDA's step */
	const char *group, *version, *kind, *resource; /* of the target; NULL while unknown */
	/* of the target; NULL while unknown */
	int32_t replicas;
	const char *hpa_name;              /* NULL while there is none */
	const struct metric_spec *metrics; /* of all kinds, in trigger order; NULL: the stored names stay */
	size_t metric_count;
	const struct hpa *hpa; /* the one named in status.hpaName; NULL: unknown */
	bool no_hpa;           /* we deleted it: the object is paused or refused */
	/* for Paused and pausedReplicaCount; NULL: unreadable, Paused stays */
	const struct annotations *annotations;
};

/*
 * Changes *status, a copy of the stored one, after a reconcile:
 *   - missing conditions are added: Ready, Active, Fallback (Unknown), Paused (False);
 *   - without a valid fallback, Fallback is False `NoFallbackFound` and health is empty;
 *   - Paused is True `ScaledObjectPaused` for each pausing annotation, also after an error;
 *     pausedReplicaCount is set only while paused with a number;
 *   - Ready is False `ScaledObjectCheckFailed` with the error's text, and Active Unknown
 *     `UnknownState`; after a success it is True `ScaledObjectReady` ("ScaledObject is paused"
 *     while paused), but a Ready that the scale loop made False (TriggerError...) is left to it;
 *   - after an error, HPAActive is set from the HPA, as no tick may follow; without an HPA it is
 *     removed;
 *   - while it is paused or refused, no fallback is active.
 */
void conditions_after_reconcile(const struct scaledobject *so, const struct reconcile_outcome *o, int64_t now_unix_ms,
	struct scaledobject_status *status);

/*
 * The same after a tick: Ready, Active, triggersActivity, lastActiveTime (only when the object
 * becomes active or inactive), HPAActive from the HPA (NULL: unchanged). Nothing if the object is
 * paused. While facts->ready_waits, Ready stays, and so does the activity of unreadable triggers.
 *
 * With a valid fallback, also what depends on the counts of failures: Fallback (True
 * `FallbackExists` while a trigger falls back, with its name and error) and health, which changes
 * on edges only: Happy <-> Failing, and when the count passes failureThreshold, with
 * numberOfFailures of that moment.
 */
void conditions_after_tick(const struct scaledobject *so, const struct scale_facts *facts,
	const struct scale_decision *d, const struct hpa *hpa, int64_t now_unix_ms, struct scaledobject_status *status);

#endif
