/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_CONDITIONS_H
#define DECIDE_CONDITIONS_H

/*
 * The status a ScaledObject should have, from what reconcile and the scale loop found out: KEDA's
 * condition types, reasons and messages in one place. Pure: takes the status as stored, gives the
 * status as wanted; the difference is what is written (crd/scaledobject.h
 * scaledobject_status_patch).
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
	const struct err *err; /* NULL: all is set up. Its message already has KEDA's step text in front */
	const char *group, *version, *kind, *resource; /* of the target; NULL while unknown */
	/* the target's, for originalReplicaCount (kept once set); INT32_UNSET while unknown */
	int32_t replicas;
	const char *hpa_name;              /* NULL while there is none */
	const struct metric_spec *metrics; /* of all kinds, in trigger order; NULL on error keeps the stored names */
	size_t metric_count;
	const struct hpa *hpa; /* the one that status.hpaName names, as seen last; NULL: unknown */
	/*
	 * what the annotations say, for Paused and pausedReplicaCount; NULL: they cannot be read,
	 * Paused stays
	 */
	const struct annotations *annotations;
};

/*
 * *status (a copy of the stored one) becomes the wanted one. First sight sets all of Ready, Active
 * and Fallback (Unknown) and Paused (False); without a valid fallback, Fallback is False
 * `NoFallbackFound` and there is no health. Paused is True `ScaledObjectPaused` for each of the
 * pausing annotations, also beside an error; pausedReplicaCount stands only while paused at a
 * number. Ready True `ScaledObjectReady` ("ScaledObject is paused" while it wholly is) or False
 * `ScaledObjectCheckFailed` with the error's text (Active Unknown `UnknownState`); a Ready that the
 * loop lowered (TriggerError...) is left to the loop while reconcile finds nothing wrong and the
 * loop runs. Beside an error HPAActive is what the HPA says, as no tick may come to tell it.
 */
void conditions_after_reconcile(const struct scaledobject *so, const struct reconcile_outcome *o, int64_t now_unix_ms,
	struct scaledobject_status *status);

/*
 * The same after a tick: Ready, Active, triggersActivity, lastActiveTime (only on the edge active
 * -> inactive, and when first active, design 6), HPAActive from the HPA (NULL: left alone), and
 * what conditions_after_count says. Nothing when the decision was that the object is paused.
 */
void conditions_after_tick(const struct scaledobject *so, const struct scale_facts *facts,
	const struct scale_decision *d, const struct hpa *hpa, int64_t now_unix_ms, struct scaledobject_status *status);

/*
 * The part of the counts of failures alone, for those that pass the threshold between two ticks:
 * Fallback (True `FallbackExists` while a trigger falls back, with its name and error) and health.
 * triggers: metric_name, failures, fallback_trouble and source_err are looked at; cause_is_news as
 * in scale_facts. Health is written on edges only (design 6): Happy <-> Failing, and when the count
 * passes failureThreshold, numberOfFailures as of that moment. Only with a valid fallback.
 */
void conditions_after_count(const struct scaledobject *so, const struct verdict_trigger *triggers, size_t count,
	bool cause_is_news, int64_t now_unix_ms, struct scaledobject_status *status);

#endif
