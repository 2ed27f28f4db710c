/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_VERDICT_H
#define DECIDE_VERDICT_H

/*
 * The outcome of all triggers of one object, after fallback and scalingModifiers (doc/keda.md 3.1,
 * 3.3, 3.4). Used for the poll and for the metric request, so that the HPA and the scale loop never
 * disagree. Pure.
 *
 * Fallback: when a trigger failed more often in a row than failureThreshold, its reading becomes
 * target x R, with R from the behavior; with metric type Value this is divided by the number of
 * ready pods. Any decimal target is allowed. The fallback is active while R is more than 0,
 * whatever the activation thresholds. R is 0 only if fallback.replicas is: for a target at 0,
 * behaviors that use its current replicas do not apply, and the error stays, which holds the target
 * there. A reading that is NaN or infinite is an error.
 *
 * Composite: the value of the first trigger that falls back, without evaluating the formula (except
 * with behavior scalingModifiers, where the formula gets nil for it); an error, when a trigger
 * fails without falling back; else the formula's result, or the fallback when that is nil.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/metric.h"
#include "crd/scaledobject.h"
#include "decide/formula/formula.h"

#define VERDICT_COMPOSITE_NAME "composite-metric"

struct verdict_trigger {         /* an external trigger in this tick; strings borrowed */
	const char *metric_name; /* "s0-redis-jobs" */
	struct reading reading;
	const struct err *err; /* NULL: reading is good */
	/* The input and result of a fallback. */
	const char *trigger_name;     /* its variable in a formula; NULL */
	struct metric_spec metric;    /* its target; the name is metric_name */
	double activation;            /* activation threshold; for scale_explain */
	const struct err *source_err; /* the source's error, also while falling back; NULL */
	int32_t failures;             /* in a row, including this one */
	bool falling_back;            /* reading is the fallback's, err is NULL */
	/*
	 * while falling_back: its R; -1: the formula gets nil (behavior scalingModifiers)
	 */
	double fallback_replicas;
	const char *fallback_trouble; /* why a due fallback is impossible ("no pod of the target is ready"); a
					 constant; NULL */
};

struct composite {    /* the one metric of scalingModifiers */
	bool failing; /* by err; value is not set */
	double value;
	bool active;       /* above activationTarget */
	bool falling_back; /* value is a fallback's */
	struct err err;
};

struct verdict_facts {
	const struct scaledobject_spec *spec; /* NULL for a ScaledJob: no fallback, no scalingModifiers */
	/*
	 * of scalingModifiers, compiled with the names of these triggers in this order; NULL: none
	 */
	const struct formula *formula;
	/*
	 * external ones in order, with source_err, reading, failures, metric and names set;
	 * verdict_make sets err, falling_back, fallback_... and a fallback's reading
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
 * Completes the triggers and sets *composite, zeroed if the object has none; composite->err only
 * while failing.
 */
void verdict_make(const struct verdict_facts *facts, struct composite *composite);

/*
 * Whether fallback is configured, with valid numbers and, with scalingModifiers, a valid target
 * (doc/keda.md 3.3).
 */
bool verdict_fallback_valid(const struct scaledobject_spec *spec);

/*
 * Target of the composite (scalingModifiers.target and metricType); false if absent or unreadable.
 */
bool verdict_composite_metric(const struct scaledobject_spec *spec, struct metric_spec *out);

/* A decimal number as read by Go's ParseFloat, but finite; otherwise, and for NULL, false. */
bool verdict_read_number(const char *text, double *out);

/* scalingModifiers.activationTarget; 0 if absent. False if it is not a number. */
bool verdict_activation_target(const struct scaledobject_spec *spec, double *out);

#endif
