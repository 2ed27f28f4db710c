/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CLUSTER_WORKLOAD_H
#define SCALERS_CLUSTER_WORKLOAD_H

/*
 * Trigger type `kubernetes-workload` (doc/keda.md 8.17): the number of running or pending pods in
 * the object's namespace that match a label selector, or the number of nodes they run on. The pods
 * are watched (scalers/cluster/podcounts.h), so a change of the count triggers a poll.
 */

#include "scalers/scaler.h"

extern const struct scaler_type workload_scaler_type;

#endif
