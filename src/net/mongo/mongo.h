/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGO_H
#define NET_MONGO_MONGO_H

/*
 * Counts of documents in MongoDB, through net/pool: a connection is opened by a lookup of the hosts
 * if they are known by a name (net/mongo/mongolookup), a search for the member that is to be asked
 * (net/mongo/mongoset), its greeting and a login (net/mongo/mongologin); then each question is one
 * message and one answer. A question past its deadline fails, and its connection is closed; the
 * server ends the count by itself a little before.
 *
 * A connection stays with its server. When that is not the primary any more, it says so or ends the
 * connection; the question is asked once more, of who is then found.
 *
 * The protocol is spoken by hand, as the driver in C waits, or has threads that do; documents, and
 * filters as JSON, are libbson's.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/mongo/mongoendpoint.h"
#include "net/mongo/mongofilter.h"
#include "net/pool.h"

struct mongo_call;
struct salter;

struct mongo_count { /* what is counted */
	char *database, *collection;
	struct mongofilter filter;
	const char *read_concern; /* a constant; NULL: the server's default */
};

/*
 * count, or err, borrowed for the call. Called exactly once, never before mongo_ask has returned,
 * never after mongo_cancel.
 */
typedef void (*mongo_fn)(void *arg, double count, const struct err *err);

/* salter: for logins; borrowed. Freed by pool_free. */
struct pool *mongo_new(struct loop *loop, struct salter *salter);

/* count: borrowed until the callback or mongo_cancel. deadline_ms: loop clock. */
struct mongo_call *mongo_ask(struct pool *p, struct mongoendpoint *e, const struct mongo_count *count,
	int64_t deadline_ms, mongo_fn fn, void *arg);
void mongo_cancel(struct mongo_call *call); /* no callback any more; NULL is fine */

#endif
