/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGO_H
#define NET_MONGO_MONGO_H

/*
 * Counts documents in MongoDB, through net/pool. Opening a connection means: looking up the hosts
 * of an SRV name (net/mongo/mongolookup), searching for the member to ask (net/mongo/mongoset),
 * greeting it, and logging in (net/mongo/mongologin). Then each count is one message and one
 * answer. A count past its deadline fails, and its connection is closed; the server aborts the
 * count a little earlier by itself.
 *
 * A connection stays with its server. If that stops being the primary, it says so or closes the
 * connection; the count is then retried once, after a new search.
 *
 * The protocol is written by hand, as the C driver blocks or uses threads. Documents, and filters
 * as JSON, are libbson's.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/mongo/mongoendpoint.h"
#include "net/mongo/mongofilter.h"
#include "net/pool.h"

struct salter;

struct mongo_count { /* what to count */
	char *database, *collection;
	struct mongofilter filter;
	const char *read_concern; /* a constant; NULL: the server's default */
};

/*
 * err: NULL, or borrowed for the call. Called exactly once, never before mongo_ask has returned,
 * never after pool_cancel.
 */
typedef void (*mongo_fn)(void *arg, double count, const struct err *err);

/* salter: for logins; borrowed. Free the pool with pool_free. */
struct pool *mongo_new(struct loop *loop, struct salter *salter);

/* count: borrowed until the callback or pool_cancel. deadline_ms: loop clock. */
struct pool_call *mongo_ask(struct pool *p, struct mongoendpoint *e, const struct mongo_count *count,
	int64_t deadline_ms, mongo_fn fn, void *arg);

#endif
