/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_PROMETHEUS_PROMETHEUS_H
#define SCALERS_PROMETHEUS_PROMETHEUS_H

/*
 * Trigger type `prometheus` (doc/keda.md 8.6): the single number that an instant query returns,
 * from Prometheus or a server with its API.
 */

#include "scalers/scaler.h"

extern const struct scaler_type prometheus_scaler_type;

#endif
