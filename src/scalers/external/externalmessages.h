/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_EXTERNAL_EXTERNALMESSAGES_H
#define SCALERS_EXTERNAL_EXTERNALMESSAGES_H

/*
 * The messages of external scalers (externalscaler.proto): what we send, packed, and what a server
 * sends, read, judged and with a cap on the memory that reading takes, as a small message may stand
 * for many objects. Fields that nobody knows are passed over. Pure. For scalers/external.
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
 * A ScaledObjectRef (metric: NULL), or a GetMetricsRequest about one metric. *out is empty before
 * and large enough; the caller wipes it.
 */
void externalmessages_put(struct buf *out, const char *namespace_, const char *name, const struct strmap *metadata,
	const char *metric);

/* Each 0, or -1 with ERR_INVALID. */
int externalmessages_get_active(const void *bytes, size_t len, bool *out, struct err *err);
/*
 * GetMetricSpecResponse into an empty description: targetSizeFloat when it is more than 0, else
 * targetSize (A.9). Refused by the metric's name: none at all, too many, names that are none for an
 * HPA or there twice (without regard to case, as metrics are asked for), targets that are not above
 * 0.
 */
int externalmessages_get_description(const void *bytes, size_t len, struct description *out, struct err *err);
/*
 * GetMetricsResponse: metricValueFloat when it is more than 0, else metricValue; its names are not
 * looked at (A.9). Several values are added up, which is what the HPA makes of KEDA's answer. None
 * at all is an error, and so is what is no number: never 0.
 */
int externalmessages_get_value(const void *bytes, size_t len, double *out, struct err *err);

#endif
