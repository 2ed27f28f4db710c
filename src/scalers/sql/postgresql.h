/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SQL_POSTGRESQL_H
#define SCALERS_SQL_POSTGRESQL_H

/*
 * The trigger postgresql: the number that a query gives (keda-scalers.md A.3). Connections are
 * net/pg's; notifyChannel lets the database say when to look.
 */

#include "scalers/scaler.h"

extern const struct scaler_type postgresql_scaler_type;

#endif
