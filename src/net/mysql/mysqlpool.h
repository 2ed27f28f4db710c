/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLPOOL_H
#define NET_MYSQL_MYSQLPOOL_H

/*
 * MySQL and MariaDB queries through net/pool: net/dial resolves names and connects, the connector
 * runs in coroutines (net/mysql/mysqlio). A query past its deadline fails and its connection is
 * closed; the server ends the query by the limit that the session has.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/mysql/mysqlendpoint.h"
#include "net/mysql/mysqlvalue.h"
#include "net/pool.h"

/*
 * value or err, borrowed for the call. Called exactly once, never before mysqlpool_ask has
 * returned, never after pool_cancel.
 */
typedef void (*mysqlpool_fn)(void *arg, const struct mysqlvalue *value, const struct err *err);

struct pool *mysqlpool_new(struct loop *loop); /* freed by pool_free */

/* query is copied. deadline_ms: loop clock. */
struct pool_call *mysqlpool_ask(struct pool *p, struct mysqlendpoint *e, const char *query, int64_t deadline_ms,
	mysqlpool_fn fn, void *arg);

#endif
