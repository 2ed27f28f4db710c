/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISSTREAMS_H
#define SCALERS_REDIS_REDISSTREAMS_H

/*
 * Trigger types `redis-streams`, `redis-cluster-streams` and `redis-sentinel-streams` (doc/keda.md
 * 8.2): the length of a stream, or a consumer group's pending entries or lag.
 *
 * The lag is the one that Redis 7 reports. When Redis reports nil (entries after the group's
 * position were deleted, or the position was set manually), KEDA uses -1 and scales to zero;
 * kscaled counts the entries after the position, and above 1,000 uses the length of the stream,
 * which the lag never exceeds.
 */

#include "scalers/scaler.h"

extern const struct scaler_type redisstreams_scaler_type;
extern const struct scaler_type redisstreams_cluster_scaler_type;
extern const struct scaler_type redisstreams_sentinel_scaler_type;

#endif
