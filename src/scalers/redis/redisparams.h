/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISPARAMS_H
#define SCALERS_REDIS_REDISPARAMS_H

/* The connection parameters that all six Redis types share (doc/keda.md 8.1). */

#include "scalers/params.h"
#include "scalers/redis/redisserver.h"

/*
 * For the tables of the six types: connection and login; `notify`, whose field is in the type's
 * data; and the sentinels' login.
 */
extern const struct param_table redisparams_table, redisparams_notify_table, redisparams_sentinel_table;

/*
 * For build: reads the connection parameters, and fills the server in *out and the build's source
 * and key. The type's name determines the mode: "redis-cluster-streams". 0, or -1 with ERR_INVALID.
 */
int redisparams_build(struct scaler_build *b, struct redisserver_question *out, struct err *err);

#endif
