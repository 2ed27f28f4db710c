/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SQL_MYSQL_H
#define SCALERS_SQL_MYSQL_H

/*
 * The first value of the first row that a query gives, on a MySQL or MariaDB server (KEDA's
 * pkg/scalers/mysql_scaler.go).
 */

#include "scalers/scaler.h"

extern const struct scaler_type mysql_scaler_type;

#endif
