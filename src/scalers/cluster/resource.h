/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_RESOURCE_H
#define SCALERS_CLUSTER_RESOURCE_H

/*
 * Trigger types `cpu` and `memory` (keda-scalers.md A.5): metrics that the HPA controller reads by
 * itself. Such a scaler has no question, and nobody asks it; it only says what stands in the HPA,
 * under the name of the resource and not under one of ours.
 */

#include "scalers/scaler.h"

extern const struct scaler_type resource_cpu_scaler_type;
extern const struct scaler_type resource_memory_scaler_type;

#endif
