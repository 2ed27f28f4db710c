/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGSTRING_H
#define NET_PG_PGSTRING_H

/*
 * A PostgreSQL connection string taken apart: "host=db port=5432 user=me" or
 * "postgres://me:secret@db:5432/shop?sslmode=require". Pure. libpq's own reader is not asked, as it
 * refuses keywords that KEDA's driver takes, and as its messages repeat pieces of what they could
 * not read: here they say where, never what.
 */

#include <stdbool.h>

#include "base/err.h"
#include "base/strmap.h"

#define PGSTRING_MAX 16384

/*
 * Keyword -> value into an empty map (wipe it: strmap_done_secret); a later one wins, "database" is
 * "dbname". ERR_INVALID; what was read before is in the map all the same.
 */
int pgstring_parse(const char *text, struct strmap *out, struct err *err);

#endif
