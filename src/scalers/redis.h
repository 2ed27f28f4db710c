/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_H
#define SCALERS_REDIS_H

/* Trigger type `redis`: the length of a list, set, sorted set or hash (keda-scalers.md A.1). */

#include "scalers/scaler.h"

extern const struct scaler_type redis_scaler_type;

#endif
