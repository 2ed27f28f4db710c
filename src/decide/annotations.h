/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_ANNOTATIONS_H
#define DECIDE_ANNOTATIONS_H

/*
 * What the annotations of a ScaledObject or ScaledJob tell kscaled to do (keda-core.md 1.5). Each
 * means what it says (design 6): booleans as Go's ParseBool reads them, anything else is an error
 * that names the annotation and its value, never a guess. Pure.
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
	bool paused; /* nothing is scaled, there is no HPA. paused: "true", or paused-replicas without a paused: "false"
			beside it */
	int32_t paused_replicas; /* while paused the target is kept at these; INT32_UNSET: left as it is */
	bool scale_in_paused;    /* the HPA and the loop never lower */
	bool scale_out_paused;   /* the HPA and the loop never raise */
	bool force_active;       /* the loop takes the object as active, whatever the triggers say */
	bool transfer_hpa;       /* the HPA named by horizontalPodAutoscalerConfig.name may be taken over */
};

/*
 * ERR_INVALID: `metadata.annotations[autoscaling.keda.sh/paused]: "yes" is neither true nor false`;
 * paused-replicas must be a whole number from 0 to 2147483647.
 */
int annotations_read(const struct scaledobject *so, struct annotations *out, struct err *err);

/*
 * Of a ScaledJob: autoscaling.keda.sh/paused alone counts (keda-core.md 4.1). *paused is set in any
 * case, to false where it cannot be read: ERR_INVALID as above.
 */
int annotations_read_paused(const struct strmap *annotations, bool *paused, struct err *err);

bool annotations_same(const struct annotations *a, const struct annotations *b);

/* One annotation's text as Go's ParseBool reads it; false when it is no boolean. */
bool annotations_read_bool(const char *text, bool *out);

#endif
