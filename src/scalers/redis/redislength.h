/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISLENGTH_H
#define SCALERS_REDIS_REDISLENGTH_H

/*
 * Trigger types `redis`, `redis-cluster` and `redis-sentinel`: the length of a list, set, sorted
 * set or hash (doc/keda.md 8.1).
 */

#include "scalers/scaler.h"

extern const struct scaler_type redis_scaler_type;
extern const struct scaler_type redis_cluster_scaler_type;
extern const struct scaler_type redis_sentinel_scaler_type;

#endif
