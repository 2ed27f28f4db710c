/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_VALIDATE_H
#define DECIDE_VALIDATE_H

/*
 * What a ScaledObject may say, judged by the object alone (other objects are looked at by cache/admit). One place for the reconciler, the webhook and `kscaled check`,
 * and so one wording. Pure.
 */

#include "base/err.h"
#include "crd/scaledobject.h"

/*
 * 0, or ERR_INVALID with the field, the value and what to do: a spec that did not decode (spec_err); spec.scaleTargetRef.name missing; replica bounds (min > max, idle >= min; keda-core.md 2.3 rows 4, 7, 8);
 * int32 ranges; names longer than 63; triggers missing, their names used twice, useCachedMetrics on cpu, memory and cron.
 */
int validate_scaledobject(const struct scaledobject *so, struct err *err);

/*
 * 0, or ERR_INVALID naming the first field or annotation that this version does not honour yet ("spec.fallback is not supported by this version of kscaled: ..."), so that
 * nothing is ever ignored in silence. Annotations: all of autoscaling.keda.sh, scaledobject.keda.sh/transfer-hpa-ownership, unless their value is a readable false. hpa-excluded-labels is honoured.
 */
int validate_supported(const struct scaledobject *so, struct err *err);

/* Both, one after the other, with the text of KEDA's reconcile step in front where it has one (keda-core.md 2.3): what Ready says. */
int validate_for_reconcile(const struct scaledobject *so, struct err *err);

#endif
