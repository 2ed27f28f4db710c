/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SQL_POSTGRESQL_H
#define SCALERS_SQL_POSTGRESQL_H

/*
 * Trigger type `postgresql`: the number that a query returns (doc/keda.md 8.3). Uses connections
 * of net/pg; with notifyChannel a NOTIFY triggers a poll.
 */

#include "scalers/scaler.h"

extern const struct scaler_type postgresql_scaler_type;

#endif
