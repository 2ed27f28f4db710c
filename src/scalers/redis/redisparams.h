/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISPARAMS_H
#define SCALERS_REDIS_REDISPARAMS_H

/* The connection parameters that all six Redis types share (doc/keda.md 8.1). */

#include "scalers/params.h"
#include "scalers/redis/redisserver.h"

/*
 * For the tables of the six types: where and as whom, how it is watched, and for those with
 * sentinels. The fields of the second are in their data.
 */
extern const struct param_table redisparams_table, redisparams_notify_table, redisparams_sentinel_table;

/*
 * For build: reads the connection and fills in the server of *out, and source and key of the build.
 * The mode is in the type's name: "redis-cluster-streams". 0, or -1 with ERR_INVALID.
 */
int redisparams_build(struct scaler_build *b, struct redisserver_question *out, struct err *err);

#endif
