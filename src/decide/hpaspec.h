/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_HPASPEC_H
#define DECIDE_HPASPEC_H

/*
 * The HPA of a ScaledObject as KEDA makes it (doc/keda.md 2.2), with these differences: a label of
 * our own; app.kubernetes.io/managed-by is kscaled; kubectl's last-applied annotation is not copied
 * (crd/meta.h); the composite metric of scalingModifiers replaces External metrics only (KEDA also
 * drops ContainerResource ones). Pure.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/metric.h"
#include "crd/hpa.h"
#include "crd/scaledobject.h"

#define HPASPEC_MANAGED_LABEL "kscaled.io/managed" /* "true": made by kscaled; no exclusion removes it */

#define HPASPEC_NAME_LABEL "scaledobject.keda.sh/name" /* the ScaledObject that it was made for */

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
 * Whether nothing needs to be written: the live HPA has the desired spec, labels, annotations and
 * controller, and no other key of autoscaling.keda.sh, scaledobject.keda.sh or kscaled.io, which
 * can only come from the ScaledObject. Whether another key came from it is only in managedFields,
 * which hpaspec_merge reads.
 */
bool hpaspec_matches(const json_t *desired, const struct hpa *live);
/*
 * A hash of what hpaspec_matches compares: unchanged until someone changes that, whatever else
 * changes in the HPA.
 */
uint64_t hpaspec_print(const json_t *desired, const struct hpa *live);

/*
 * The object to PUT so that `live_object`, just read in full, becomes the desired one: the desired
 * spec; labels and annotations merged, where foreign keys stay and our own unwanted ones go,
 * including those that the ScaledObject had and we, or KEDA, wrote (managedFields); our controller
 * reference, replacing one to an earlier ScaledObject of the same name; the live resourceVersion;
 * no status, no managedFields. An HPA without a controller is adopted. NULL and ERR_CONFLICT,
 * naming the controller, if another object controls it, unless the desired annotations have
 * transfer-hpa-ownership: then its reference is removed. hpaspec_claim decides beforehand whether
 * the HPA may be changed at all. The caller owns the result.
 */
json_t *hpaspec_merge(const json_t *desired, const json_t *live_object, struct err *err);

/* Whether an existing HPA with the wanted name may be used. */
enum hpaspec_claim {
	/*
	 * controlled by a ScaledObject of this name (even an earlier one, or KEDA's), or made by
	 * kscaled for it and without a controller
	 */
	HPASPEC_OURS,
	/*
	 * any other, and the ScaledObject may take it over: transfer-hpa-ownership is true and
	 * horizontalPodAutoscalerConfig.name has its name
	 */
	HPASPEC_TAKEABLE,
	HPASPEC_FOREIGN,
	/*
	 * ours, but another manager has applied it as its own since, such as a Helm chart that
	 * contained the ScaledObject before: hpaspec_applied_by. The ScaledObject may take it over
	 * as above
	 */
	HPASPEC_GIVEN_AWAY,
};
enum hpaspec_claim hpaspec_claim(const struct scaledobject *so, const json_t *live_object);

/*
 * The field manager (server-side apply, kubectl apply, Helm, Argo CD) that has applied the HPA's
 * spec since our last write, from managedFields, borrowed; NULL: none. An edit does not count, and
 * is undone.
 */
const char *hpaspec_applied_by(const json_t *live_object);
/* The object to PUT to leave it to that manager: without our references and labels. */
json_t *hpaspec_given_away(const json_t *live_object);

/* Whether kscaled made it, according to its label. */
bool hpaspec_is_managed(const struct hpa *hpa);

/* Whether it belongs to this object: controlled by it (by uid), or made for it and uncontrolled. */
bool hpaspec_is_of(const struct hpa *hpa, const struct scaledobject *so);

#endif
