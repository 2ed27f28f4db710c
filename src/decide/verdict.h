/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_VERDICT_H
#define DECIDE_VERDICT_H

/*
 * What the triggers of one object say once fallback and scalingModifiers had their say
 * (keda-core.md 3.3, 3.6, 3.7). The poll and the metric request both go through here, so that the
 * HPA and the loop never disagree. Pure.
 *
 * Fallback: a reading that failed more often in a row than failureThreshold is replaced by target x
 * R, R by the behavior; with metric type Value it is divided by the ready pods. Any decimal target
 * will do (design 6). It is active while R is more than 0, whatever the activation thresholds: what
 * the user wants kept is not scaled in. R is 0 only where fallback.replicas says so: a target that
 * is at 0 has no replicas to go by (currentReplicas...), so that its error stays an error and it
 * stays where it is. An answer that is NaN or infinite counts as an error.
 *
 * The composite: a trigger that falls back stands for the object as a whole, the formula is not
 * asked (behaviors but scalingModifiers, where the formula gets nil); a trigger that fails, and
 * does not fall back, makes it fail; a formula that gives nil is replaced by the fallback.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/metric.h"
#include "crd/scaledobject.h"
#include "decide/formula/formula.h"

#define VERDICT_COMPOSITE_NAME "composite-metric"

struct verdict_trigger {         /* one external trigger's outcome this tick; strings borrowed */
	const char *metric_name; /* "s0-redis-jobs" */
	struct reading reading;
	const struct err *err; /* NULL: reading is good */
	/* What a fallback in the place of a failed reading goes by, and what it comes to. */
	const char *trigger_name;     /* what a formula calls it; NULL */
	struct metric_spec metric;    /* its target; the name is metric_name */
	double activation;            /* a value above it is active; for the sentence */
	const struct err *source_err; /* what the source said, also while falling back; NULL */
	int32_t failures;             /* in a row, this one counted */
	bool falling_back;            /* reading is the fallback's, err is NULL */
	/*
	 * while falling_back: the replicas that it stands for; -1: the formula gets nil (behavior
	 * scalingModifiers)
	 */
	double fallback_replicas;
	const char *fallback_trouble; /* why it should fall back but cannot ("the target has no ready pods"); a
					 constant; NULL */
};

struct composite {    /* the one metric of scalingModifiers */
	bool failing; /* value is no good: err */
	double value;
	bool active;       /* above activationTarget */
	bool falling_back; /* value is a fallback's */
	struct err err;
};

struct verdict_facts {
	const struct scaledobject_spec *spec; /* NULL: a ScaledJob, which has neither fallback nor scalingModifiers */
	/*
	 * of the scalingModifiers, compiled with the names of these triggers in this order; NULL
	 * without one
	 */
	const struct formula *formula;
	/*
	 * external ones in order, with source_err, reading, failures, metric and names set; err,
	 * falling_back, fallback_..., and in their case reading, are filled in
	 */
	struct verdict_trigger *triggers;
	size_t count;
	bool replicas_known;
	int32_t replicas;       /* the target's spec.replicas */
	int32_t ready_replicas; /* -1: unknown */
};

/*
 * Whether the object has a composite metric (scalingModifiers with a formula or target); false
 * without a spec, as in verdict_facts.
 */
bool verdict_has_composite(const struct scaledobject_spec *spec);

/*
 * Fills in the triggers and, when the object has one, the composite (else it says nothing: all
 * false, 0, no error). composite->err is filled in while failing only.
 */
void verdict_make(const struct verdict_facts *facts, struct composite *composite);

/*
 * Whether fallback may be used at all: set, not negative, and with modifiers a readable target
 * (keda-core.md 3.6).
 */
bool verdict_fallback_valid(const struct scaledobject_spec *spec);

/*
 * Target of the composite (scalingModifiers.target and metricType); false when there is none or it
 * cannot be read.
 */
bool verdict_composite_metric(const struct scaledobject_spec *spec, struct metric_spec *out);

/* A decimal number as Go's ParseFloat reads it, but finite; false otherwise, and for NULL. */
bool verdict_read_number(const char *text, double *out);

/* scalingModifiers.activationTarget; 0 when absent. False when it is no number. */
bool verdict_activation_target(const struct scaledobject_spec *spec, double *out);

#endif
