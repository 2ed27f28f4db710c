/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_METRICSAPI_H
#define SCALERS_METRICSAPI_METRICSAPI_H

/*
 * Trigger type `metrics-api` (doc/keda.md 8.10): a number in an HTTP answer, from one URL or from
 * each pod behind a Service.
 *
 * With several pods an error never lowers the value: sum, average and max fail when one pod fails
 * (KEDA uses the other pods), because that pod may be the one with the load. Only min uses the
 * others, as it can then only be too high.
 */

#include "scalers/scaler.h"

extern const struct scaler_type metricsapi_scaler_type;

#endif
