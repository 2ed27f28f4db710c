/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SQL_PGQUERY_H
#define SCALERS_SQL_PGQUERY_H

/* What can be told of a PostgreSQL query by looking at it. Pure. */

#include <stdbool.h>

/*
 * True when something other than white space and comments stands behind a semicolon that is in no
 * string, no quoted name, no dollar quotation and no comment: several statements, which the simple
 * protocol would carry out, but KEDA's driver refuses.
 */
bool pgquery_is_several(const char *sql);

#endif
