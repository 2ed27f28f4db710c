/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_ANNOTATIONS_H
#define DECIDE_ANNOTATIONS_H

/*
 * The annotations of a ScaledObject or ScaledJob that change what kscaled does (doc/keda.md 1.5).
 * Booleans are read like Go's ParseBool; any other value is an error that names the annotation and
 * the value. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "crd/scaledobject.h"

#define ANNOTATION_PAUSED          "autoscaling.keda.sh/paused"
#define ANNOTATION_PAUSED_REPLICAS "autoscaling.keda.sh/paused-replicas"
#define ANNOTATION_PAUSED_IN       "autoscaling.keda.sh/paused-scale-in"
#define ANNOTATION_PAUSED_OUT      "autoscaling.keda.sh/paused-scale-out"
#define ANNOTATION_FORCE           "autoscaling.keda.sh/force-activation"
#define ANNOTATION_TRANSFER_HPA    "scaledobject.keda.sh/transfer-hpa-ownership"

struct annotations {
	bool paused; /* nothing is scaled, there is no HPA: paused is true, or absent with paused-replicas */
	int32_t paused_replicas; /* kept while paused; INT32_UNSET: the present ones */
	bool scale_in_paused;    /* the HPA and the loop never lower */
	bool scale_out_paused;   /* the HPA and the loop never raise */
	bool force_active;       /* the object counts as active, whatever its triggers say */
	bool transfer_hpa;       /* the HPA named by horizontalPodAutoscalerConfig.name may be taken over */
};

/*
 * ERR_INVALID: `metadata.annotations[autoscaling.keda.sh/paused]: "yes" is neither true nor false`;
 * paused-replicas must be a whole number from 0 to 2147483647.
 */
int annotations_read(const struct scaledobject *so, struct annotations *out, struct err *err);

/*
 * For a ScaledJob, where only autoscaling.keda.sh/paused has an effect (doc/keda.md 4.1). *paused
 * is false after an error: ERR_INVALID as above.
 */
int annotations_read_paused(const struct strmap *annotations, bool *paused, struct err *err);

bool annotations_same(const struct annotations *a, const struct annotations *b);

/* Reads one annotation's text like Go's ParseBool; false if it is not a boolean. */
bool annotations_read_bool(const char *text, bool *out);

#endif
