/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_METRICSAPI_H
#define SCALERS_METRICSAPI_METRICSAPI_H

/*
 * Trigger type metrics-api: a number somewhere in an answer over HTTP (keda-scalers.md A.8).
 * metricsapi.c reads the parameters and finds the number; metricsapi_ask.c asks, one URL or each
 * pod behind a Service.
 *
 * Of the pods of a Service an error is never a lower value: sum, average and max fail when one pod
 * does (KEDA goes on with the rest), as the one that fails may be the one with the load. Only min
 * is that of the others: it can but be too high.
 */

#include "scalers/scaler.h"

extern const struct scaler_type metricsapi_scaler_type;

#endif
