/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_PROMETHEUS_LOKI_H
#define SCALERS_PROMETHEUS_LOKI_H

/*
 * Trigger type `loki`: the number that an instant query of Loki returns. Its answers have
 * Prometheus' format (doc/keda.md 8.6).
 */

#include "scalers/scaler.h"

extern const struct scaler_type loki_scaler_type;

#endif
