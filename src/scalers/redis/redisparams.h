/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISPARAMS_H
#define SCALERS_REDIS_REDISPARAMS_H

/* The connection parameters that all six Redis types share (doc/keda.md 8.1). */

#include "scalers/params.h"
#include "scalers/redis/redisserver.h"

/* For the tables of the six types; the second for those with sentinels. */
extern const struct param_table redisparams_table, redisparams_sentinel_table;

/*
 * Fills server and notify of *out, which is zeroed. 0; -1 and ERR_INVALID; 1: some values are
 * unknown. Without 0 there is no server. The mode is in the type's name: "redis-cluster-streams".
 */
int redisparams_read(const struct scaler_params *params, struct redisserver_question *out, struct err *err);

#endif
