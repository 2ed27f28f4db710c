/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PG_H
#define NET_PG_PG_H

/*
 * Queries to PostgreSQL through net/pool: each goes out alone, in the simple protocol and without a
 * named statement, so that poolers in transaction mode work. libpq does the protocol, TLS and SCRAM
 * (net/pg/pgconn).
 *
 * A query past its deadline ends its connection (PQcancel would block). So that the server does not
 * work on for nobody, each connection asks for a statement_timeout a little shorter than the
 * deadline, in its startup packet: not in the query, which a pooler would leave behind on a
 * connection of others. Poolers that refuse that are noticed and asked without; there the role's
 * own statement_timeout must do it. Who sets a statement_timeout in the connection string is left
 * alone. A query whose connection turns out to be lost goes once more, unless something of its
 * answer had come.
 *
 * An answer is never kept whole: one row is read after the other, the first one's first column is
 * what is told, and above a cap of bytes the connection is ended.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"

struct pg_pool;
struct pgendpoint; /* net/pg/pgendpoint.h */
struct pg_call;

/*
 * ask_ms: how long a query may take at most; the statement_timeout comes from it. Forgets libpq's
 * environment variables: what PGHOST and the like of this process say counts nowhere.
 */
struct pg_pool *pg_pool_new(struct loop *loop, int64_t ask_ms);
/* queries under way end without callbacks; never from inside one */
void pg_pool_free(struct pg_pool *p);
size_t pg_pool_connections(const struct pg_pool *p); /* open or being opened, those that listen included */

/* What a query brought. Texts are borrowed for the callback. */
struct pg_answer {
	/* first column of the first row; NULL: no row, or it is NULL; "": also what is too long */
	const char *text;
	unsigned type; /* its type's OID */
	int columns;
	uint64_t rows;
	unsigned results; /* how many statements gave rows or said that they are done */
};
typedef void (*pg_fn)(void *arg, const struct pg_answer *answer, const struct err *err);

/* Sends one query before deadline_ms (loop clock). */
struct pg_call *pg_query(struct pg_pool *p, struct pgendpoint *e, const char *sql, int64_t deadline_ms, pg_fn fn,
	void *arg);
void pg_cancel(struct pg_call *call); /* no callback any more; NULL is fine */

/* ---- net/pg/pglisten: being told ---- */

/*
 * One more connection per server LISTENs on all channels that somebody wants to hear. After each
 * start it sends itself a word through another connection: what does not come back shows a pooler
 * in between that drops notifications. It is made again with back-off, and asked now and then
 * whether it still lives.
 */
#define PG_CHANNEL_MAX 63

enum pg_listen_state { PG_LISTEN_STARTING, PG_LISTEN_ON, PG_LISTEN_OFF, PG_LISTEN_FAILING };
struct pg_listen_report {
	enum pg_listen_state state;
	const char *why; /* borrowed until the loop turns; "" */
	bool heard;      /* this channel, at least once */
};
struct pg_listener;
typedef void (*pg_listen_fn)(void *arg);

/*
 * channel: exactly as pg_notify('<channel>', ...) has it. fn: once per turn in which something came
 * on it, and after each (new) start of the connection.
 */
struct pg_listener *pg_listen(struct pg_pool *p, struct pgendpoint *e, const char *channel, pg_listen_fn fn, void *arg);
void pg_unlisten(struct pg_listener *l); /* NULL is fine */
struct pg_listen_report pg_listen_report(const struct pg_listener *l);

#endif
