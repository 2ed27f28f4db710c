/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MYSQL_MYSQLPOOL_H
#define NET_MYSQL_MYSQLPOOL_H

/*
 * Connections to MySQL and MariaDB servers, shared by everybody who asks the same server with the same credentials (net/mysql/mysqlendpoint): one per endpoint, and a second one while a query on the first takes
 * long. The protocol has no pipelining, so queries wait in a queue, whose length has a cap.
 *
 * A connection is made when first needed, by net/dial, so that names are looked up without blocking; it is closed after it was idle for 60 s, and made again with back-off and jitter after failures;
 * queries that come meanwhile wait for it (net/dial.h). A query past its deadline fails, and its connection is cut, as the protocol has no other way to take a question back; the server itself ends
 * the query by the limit that the session carries.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/mysql/mysqlendpoint.h"
#include "net/mysql/mysqlvalue.h"

struct mysqlpool;
struct mysqlpool_call;

/* value, or err; borrowed for the call. Exactly once, never before mysqlpool_ask has returned, never after cancel. */
typedef void (*mysqlpool_fn)(void *arg, const struct mysqlvalue *value, const struct err *err);

struct mysqlpool *mysqlpool_new(struct loop *loop);
void mysqlpool_free(struct mysqlpool *p); /* queries under way end without callbacks; safe from inside them */
size_t mysqlpool_connections(const struct mysqlpool *p); /* open or being opened */

/* query is copied. deadline_ms: loop clock. */
struct mysqlpool_call *mysqlpool_ask(struct mysqlpool *p, struct mysqlendpoint *e, const char *query, int64_t deadline_ms, mysqlpool_fn fn, void *arg);
void mysqlpool_cancel(struct mysqlpool_call *call); /* no callback any more; NULL is fine */

#endif
