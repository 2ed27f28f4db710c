/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLPOOL_H
#define NET_MYSQL_MYSQLPOOL_H

/*
 * Queries to MySQL and MariaDB servers through net/pool: names are looked up by net/dial, the
 * connector works in co-routines (net/mysql/mysqlio). A query past its deadline fails and its
 * connection is cut; the server itself ends the query by the limit that the session carries.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/mysql/mysqlendpoint.h"
#include "net/mysql/mysqlvalue.h"
#include "net/pool.h"

struct mysqlpool_call;

/*
 * value, or err; borrowed for the call. Exactly once, never before mysqlpool_ask has returned,
 * never after cancel.
 */
typedef void (*mysqlpool_fn)(void *arg, const struct mysqlvalue *value, const struct err *err);

struct pool *mysqlpool_new(struct loop *loop); /* pool_free ends it */

/* query is copied. deadline_ms: loop clock. */
struct mysqlpool_call *mysqlpool_ask(struct pool *p, struct mysqlendpoint *e, const char *query, int64_t deadline_ms,
	mysqlpool_fn fn, void *arg);
void mysqlpool_cancel(struct mysqlpool_call *call); /* no callback any more; NULL is fine */

#endif
