/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_EXTERNAL_EXTERNALMESSAGES_H
#define SCALERS_EXTERNAL_EXTERNALMESSAGES_H

/*
 * Packs and unpacks the messages of external scalers (externalscaler.proto). Unpacking checks the
 * content and has a memory cap, as a small message may expand to many objects. Unknown fields are
 * ignored. Pure; for scalers/external.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strmap.h"
#include "scalers/scaler.h"

#define EXTERNALMESSAGES_METRICS_MAX 64
#define EXTERNALMESSAGES_NAME_MAX    253

/*
 * Packs a ScaledObjectRef (metric NULL) or a GetMetricsRequest for one metric. *out must be empty
 * and large enough; the caller wipes it.
 */
void externalmessages_put(struct buf *out, const char *namespace_, const char *name, const struct strmap *metadata,
	const char *metric);

/* Each returns 0, or -1 with ERR_INVALID. */
int externalmessages_get_active(const void *bytes, size_t len, bool *out, struct err *err);
/*
 * Reads a GetMetricSpecResponse into an empty description; the target is targetSizeFloat when above
 * 0, else targetSize (A.9). Refused: no metric, too many, names that an HPA cannot use, duplicate
 * names (case-insensitive, as metric requests are), and targets not above 0.
 */
int externalmessages_get_description(const void *bytes, size_t len, struct description *out, struct err *err);
/*
 * Reads a GetMetricsResponse: metricValueFloat when above 0, else metricValue; the names are
 * ignored (A.9). Several values are added, as the HPA does with KEDA's answer. No value, NaN and
 * infinity are errors, never 0.
 */
int externalmessages_get_value(const void *bytes, size_t len, double *out, struct err *err);

#endif
