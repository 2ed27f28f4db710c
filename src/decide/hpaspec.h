/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_HPASPEC_H
#define DECIDE_HPASPEC_H

/*
 * The HPA that belongs to a ScaledObject, exactly as keda-core.md 2.4 has it, with design 7's own
 * label; app.kubernetes.io/managed-by is kscaled, kubectl's last-applied annotation is not copied
 * (crd/meta.h), and the composite metric of scalingModifiers replaces External metrics only (KEDA
 * drops ContainerResource ones, too). Pure.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/metric.h"
#include "crd/hpa.h"
#include "crd/scaledobject.h"

#define HPASPEC_MANAGED_LABEL "kscaled.io/managed" /* value "true": it is of our making; no exclusion removes it */

#define HPASPEC_NAME_LABEL "scaledobject.keda.sh/name" /* which ScaledObject it was made for */

/*
 * The object to create: metadata (name, namespace, labels, annotations, controller owner reference)
 * and spec. metrics in trigger order. ERR_INVALID for a name used twice (`metricName X defined
 * multiple times in ScaledObject Y`), no metrics, a metricType that a metric of its kind cannot
 * have, a target that is not positive, annotations that cannot be read (paused-scale-in and -out
 * disable a direction). version: app.kubernetes.io/version. The caller owns it.
 */
json_t *hpaspec_make(const struct scaledobject *so, const struct metric_spec *metrics, size_t count,
	const char *version, struct err *err);

/*
 * True when the live HPA already is what `desired` says: same spec, its labels and annotations
 * contained, controlled by the owner, and nothing of ours left to remove: keys of
 * autoscaling.keda.sh, scaledobject.keda.sh and kscaled.io, which come from nowhere but the
 * ScaledObject. (Other keys that were copied and then taken off the ScaledObject stay, as with
 * KEDA.)
 */
bool hpaspec_matches(const json_t *desired, const struct hpa *live);

/*
 * The object to PUT so that `live_object` (read anew, all of it) becomes what desired says: spec
 * replaced whole; labels and annotations merged (foreign ones stay; last-applied annotations are
 * foreign) but for what is ours and no longer wanted; the controller owner reference ours, in the
 * place of an earlier ScaledObject's of the same name; resourceVersion kept; without status and
 * managedFields. NULL and ERR_CONFLICT naming the foreign controller when the live HPA is
 * controlled by another object, unless the desired annotations have transfer-hpa-ownership: then
 * that reference goes. A live HPA without a controller is adopted. Whether the HPA may be touched
 * at all is for hpaspec_claim to say, before. The caller owns the result.
 */
json_t *hpaspec_merge(const json_t *desired, const json_t *live_object, struct err *err);

/* Whose an existing HPA is that has the name we want. */
enum hpaspec_claim {
	/*
	 * controlled by a ScaledObject of this name (also an earlier one, and KEDA's), or made by
	 * us and its owner was taken off
	 */
	HPASPEC_OURS,
	/*
	 * nobody's or another's, and the object says that it may be taken: transfer-hpa-ownership,
	 * and the name is written in horizontalPodAutoscalerConfig.name
	 */
	HPASPEC_TAKEABLE,
	HPASPEC_FOREIGN,
};
enum hpaspec_claim hpaspec_claim(const struct scaledobject *so, const json_t *live_object);

/* Whether kscaled made it, as its label says. */
bool hpaspec_is_managed(const struct hpa *hpa);

/*
 * Whether it is this very object's: controlled by it, or made for it and its owner was taken off.
 */
bool hpaspec_is_of(const struct hpa *hpa, const struct scaledobject *so);

#endif
