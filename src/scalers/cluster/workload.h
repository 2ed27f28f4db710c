/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_WORKLOAD_H
#define SCALERS_CLUSTER_WORKLOAD_H

/*
 * Trigger type `kubernetes-workload`: how many pods of the object's own namespace a label selector
 * finds, those that have ended left out, or on how many nodes they are (keda-scalers.md A.7). The
 * pods are watched (scalers/cluster/podcounts.h), so a change of the count wakes the loop.
 */

#include "scalers/scaler.h"

extern const struct scaler_type workload_scaler_type;

#endif
