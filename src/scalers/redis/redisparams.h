/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISPARAMS_H
#define SCALERS_REDIS_REDISPARAMS_H

/* Where a Redis trigger's server is and how one is let in: the parameters that all six types share (keda-scalers.md A.1). */

#include "scalers/params.h"
#include "scalers/redis/redisserver.h"

/* The mode is in the type's name: "redis-cluster-streams". */
int redisparams_read(const struct scaler_params *params, struct redisserver *out, struct err *err);

/* A whole-number target that must be above 0: KEDA lets others through, and the API server then refuses the HPA. *value keeps its default when absent; of a formula source it may be 0. */
int redisparams_target(const struct scaler_params *params, const struct param *p, int64_t *value, struct err *err);

#endif
