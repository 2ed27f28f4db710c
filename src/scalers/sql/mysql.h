/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SQL_MYSQL_H
#define SCALERS_SQL_MYSQL_H

/*
 * Trigger type `mysql`: the first column of the first row of a query, on MySQL or MariaDB (KEDA's
 * pkg/scalers/mysql_scaler.go).
 */

#include "scalers/scaler.h"

extern const struct scaler_type mysql_scaler_type;

#endif
