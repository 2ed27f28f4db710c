/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_POOL_H
#define NET_POOL_H

/*
 * Connections of protocols in which a connection serves one query at a time, shared by all users of
 * an endpoint: one connection, and a second one while the oldest query has waited 50 ms behind
 * another. Queries wait in a bounded queue, oldest first.
 *
 * A connection is opened when first needed, closed after 60 idle seconds, and reopened after
 * failures with back-off and jitter; queries that come meanwhile wait for it (net/dial.h). A query
 * past its deadline fails, and its connection is closed, as these protocols have no other way to
 * cancel it. Callbacks come at the end of the turn.
 *
 * An endpoint's users may be several namespaces': a query finds its session as the connection found
 * it. The protocol resets the session after each query, or says that it is not usable any more.
 *
 * The protocol (net/pg/pg, net/mysql/mysqlpool) passes a table of functions. Redis does not use
 * this: its commands are pipelined on one connection, so none waits in a queue, and a cancelled one
 * keeps its position until the reply has come. It shares only the back-off of net/dial.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/endpoint.h"
#include "net/loop.h"

struct pool;
struct pool_server; /* all connections and queries of one endpoint */
struct pool_slot;   /* one connection, or none */

/*
 * A query: the first member of the protocol's call, which the protocol allocates zeroed and the
 * pool frees.
 */
struct pool_call {
	struct pool *pool;
	struct pool_server *server; /* while it is queued or under way */
	struct pool_slot *slot;     /* while it is under way */
	struct pool_call *prev, *next;
	char *query; /* owned; valid while the connection uses it */
	int64_t asked_ms, deadline_ms;
	bool cancelled; /* under way, but its caller does not wait any more */
	bool retried;
	struct err *err; /* owned; set by the protocol when the answer is wrong; in tell(): why there is none; NULL */
};

struct pool_protocol {
	const char *name; /* "mysql": prefix of messages */
	size_t waiting_max;
	size_t query_max;    /* bytes; 0: any */
	const char *overdue; /* message: the query under way did not end in time */
	const char *crowded; /* message: a query that waited behind it */
	/*
	 * Starts a connection, for the query `first`. pool_opened or pool_lost follows, not before
	 * this returns.
	 */
	void *(*open)(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first);
	/*
	 * Message for a query that is overdue while this connection is being opened (NULL: none
	 * is).
	 */
	const char *(*opening)(const void *connection);
	/*
	 * Sends the query on an idle connection. pool_finished or pool_lost follows, not before
	 * this returns. -1: the connection is broken.
	 */
	int (*send)(void *connection, struct pool_call *call, struct err *err);
	void (*close)(void *connection); /* in any state; also frees it */
	/*
	 * Whether a query whose connection was lost may be sent once more; if so, drops the part of
	 * the answer that had come. NULL: never.
	 */
	bool (*again)(struct pool_call *call);
	void (*tell)(struct pool_call *call); /* calls the callback */
	void (*done)(struct pool_call *call); /* frees the protocol's own fields; NULL: there are none */
};

struct pool *pool_new(struct loop *loop, const struct pool_protocol *protocol, void *arg);
void pool_free(struct pool *p); /* NULL is fine; queries end without callbacks; may be called from inside one */
size_t pool_connections(const struct pool *p); /* how many are open or being opened */

/* deadline_ms: loop clock. Takes the call, copies the query. */
void pool_ask(struct pool *p, struct endpoint *e, const char *query, int64_t deadline_ms, struct pool_call *call);
void pool_cancel(struct pool_call *call); /* no callback any more; NULL is fine */

/* ---- For the protocol, from the loop; the last two may close the connection ---- */

void pool_opened(struct pool_slot *slot);
/*
 * The answer is complete, or call->err says what is wrong with it. usable: the connection can serve
 * another query.
 */
void pool_finished(struct pool_slot *slot, bool usable);
void pool_lost(struct pool_slot *slot, const struct err *why);  /* in any state */
struct pool_call *pool_slot_call(const struct pool_slot *slot); /* the query under way; NULL */
void *pool_slot_connection(const struct pool_slot *slot);
struct loop *pool_slot_loop(const struct pool_slot *slot);
void *pool_slot_arg(const struct pool_slot *slot); /* pool_new's */
bool *pool_slot_note(struct pool_slot *slot);      /* a flag for the protocol, one per endpoint; at first false */

#endif
