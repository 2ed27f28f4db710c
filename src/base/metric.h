/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_METRIC_H
#define BASE_METRIC_H

/*
 * Values that scalers and decisions share.
 *
 * A *question* is sent to a source, which gives an *answer* (a raw number). A trigger applies its
 * thresholds to the answer, which gives a *reading*: the value for the HPA, and whether the trigger
 * is active. Triggers share questions, but not readings.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/quantity.h"

enum metric_target_type { METRIC_AVERAGE_VALUE, METRIC_VALUE, METRIC_UTILIZATION };

enum metric_kind {
	METRIC_EXTERNAL, /* served by kscaled */
	/* cpu or memory of all containers, which the HPA controller reads itself */
	METRIC_RESOURCE,
	METRIC_CONTAINER_RESOURCE, /* of one container */
};

/* What one trigger adds to the HPA. A value, except its strings, which its scaler owns. */
struct metric_spec {
	enum metric_kind kind;
	const char *name;      /* "s0-redis-mylist"; "cpu" or "memory" of resources */
	const char *container; /* METRIC_CONTAINER_RESOURCE; else NULL */
	enum metric_target_type target_type;
	struct quantity target;
};

/* What determines whether a trigger is active. */
enum activity {
	ACTIVITY_BY_THRESHOLD,
	ACTIVITY_BY_LOAD, /* the threshold, compared with the answer's load instead of its value */
	ACTIVITY_ACTIVE,
	ACTIVITY_INACTIVE /* these two: the source, whatever the value, like external scalers */
};

/* What a source answers. */
struct answer {
	double value;
	double load; /* ACTIVITY_BY_LOAD: the whole load, where the value is a rate or bounded */
	enum activity activity;
	/* the source asks not to be queried again for this long; 0: it does not */
	int64_t rest_ms;
	/* a constant for people, such as "the list may be truncated"; NULL: none */
	const char *remark;
	int64_t asked_at_ms;    /* loop clock */
	int64_t answered_at_ms; /* loop clock */
};

/* What a trigger makes of an answer. */
struct reading {
	double value;
	bool active;
};

static inline const char *metric_target_type_name(enum metric_target_type type)
{
	switch (type) {
	case METRIC_AVERAGE_VALUE: return "AverageValue";
	case METRIC_VALUE: return "Value";
	case METRIC_UTILIZATION: return "Utilization";
	}
	return "AverageValue";
}

#endif
