/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_DATADOG_DATADOG_H
#define SCALERS_DATADOG_DATADOG_H

/*
 * Trigger type `datadog`: the newest points of a Datadog query, or a DatadogMetric of the Cluster
 * Agent (doc/keda.md 8.8). Uses scalers/http/httpsource; scalers/datadog/datadogreply reads the
 * answers.
 */

#include "scalers/scaler.h"

extern const struct scaler_type datadog_scaler_type;

#endif
