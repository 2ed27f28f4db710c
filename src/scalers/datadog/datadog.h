/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_DATADOG_DATADOG_H
#define SCALERS_DATADOG_DATADOG_H

/*
 * The trigger type datadog: the newest points of a query of Datadog, or a DatadogMetric of its
 * Cluster Agent (doc/keda.md 8.8). Over scalers/http/httpsource; what is answered means
 * scalers/datadog/datadogreply.
 */

#include "scalers/scaler.h"

extern const struct scaler_type datadog_scaler_type;

#endif
