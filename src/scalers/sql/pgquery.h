/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SQL_PGQUERY_H
#define SCALERS_SQL_PGQUERY_H

/* Lexical checks of PostgreSQL queries. Pure. */

#include <stdbool.h>

/*
 * Whether sql has several statements: something other than white space and comments follows a
 * semicolon outside strings, quoted names, dollar quotes and comments. The simple query protocol
 * would execute them, but KEDA's driver refuses them.
 */
bool pgquery_is_several(const char *sql);

#endif
