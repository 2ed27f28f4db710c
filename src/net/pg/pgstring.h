/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGSTRING_H
#define NET_PG_PGSTRING_H

/*
 * Parses a PostgreSQL connection string: "host=db port=5432 user=me" or
 * "postgres://me:secret@db:5432/shop?sslmode=require". Pure. libpq's parser is not used, as it
 * rejects keywords that KEDA's driver accepts, and quotes parts of the string in its messages; here
 * messages give the position only.
 */

#include <stdbool.h>

#include "base/err.h"
#include "base/strmap.h"

#define PGSTRING_MAX 16384

/*
 * Stores keyword and value pairs in an empty map (wipe it: strmap_done_secret); the last value
 * counts, "database" becomes "dbname". ERR_INVALID; the map then holds what was read before.
 */
int pgstring_parse(const char *text, struct strmap *out, struct err *err);

#endif
