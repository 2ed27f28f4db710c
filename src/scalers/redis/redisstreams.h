/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISSTREAMS_H
#define SCALERS_REDIS_REDISSTREAMS_H

/*
 * Trigger types `redis-streams`, `redis-cluster-streams` and `redis-sentinel-streams`: the length
 * of a stream, or what a consumer group has pending, or what it has not been given yet
 * (keda-scalers.md A.2).
 *
 * The lag is what Redis 7 says. Where it cannot say it (nil: entries were deleted behind the
 * group's position, or the position was set by hand), KEDA takes it for -1 and scales to zero; here
 * the entries behind the position are counted, and when there are more than 1,000 of them the
 * length of the stream is answered, which is never less than the lag.
 */

#include "scalers/scaler.h"

extern const struct scaler_type redisstreams_scaler_type;
extern const struct scaler_type redisstreams_cluster_scaler_type;
extern const struct scaler_type redisstreams_sentinel_scaler_type;

#endif
