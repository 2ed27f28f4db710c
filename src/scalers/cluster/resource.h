/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_RESOURCE_H
#define SCALERS_CLUSTER_RESOURCE_H

/*
 * Trigger types `cpu` and `memory` (doc/keda.md 8.15): metrics that the HPA controller reads
 * itself. Such a scaler has no question; it only defines the metric in the HPA, under the
 * resource's own name.
 */

#include "scalers/scaler.h"

extern const struct scaler_type resource_cpu_scaler_type;
extern const struct scaler_type resource_memory_scaler_type;

#endif
