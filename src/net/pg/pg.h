/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PG_H
#define NET_PG_PG_H

/*
 * PostgreSQL queries through net/pool: each is sent alone, in the simple protocol and without a
 * prepared statement, so that poolers in transaction mode work. libpq does the protocol, TLS and
 * SCRAM (net/pg/pgconn).
 *
 * A query past its deadline ends its connection (PQcancel would block). So that the server stops
 * the query, too, each connection sets a statement_timeout a little shorter than the deadline, in
 * its startup packet: set in a query, a pooler could leave it on a connection of other clients.
 * Poolers that reject this are detected and asked without it; with these only the role's own
 * statement_timeout helps. A statement_timeout in the connection string takes precedence. A query
 * whose connection turns out to be lost is sent once more, unless part of its result had arrived.
 *
 * An endpoint with an identity logs in with the current token (net/web/webtoken) as the password.
 * Open connections stay open when the token is renewed. A token that a server refuses is not used
 * again.
 *
 * A result is never stored as a whole: rows are read one by one, the first column of the first row
 * is reported, and a result above a limit of bytes ends the connection.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/pool.h"

struct pg_pool;
struct pgendpoint; /* net/pg/pgendpoint.h */
struct salter;
struct webtoken_store;

/*
 * ask_ms: the longest time for a query, from which the statement_timeout is derived. Removes
 * libpq's environment variables (PGHOST and the like) from this process, so that they have no
 * effect. tokens: for logins by an identity, salter: by SCRAM; borrowed for the pool's life; may be
 * NULL in tests.
 */
struct pg_pool *pg_pool_new(struct loop *loop, int64_t ask_ms, struct webtoken_store *tokens, struct salter *salter);
/* Ends all queries without callbacks. Never from inside a callback. */
void pg_pool_free(struct pg_pool *p);

/* The result of a query. Texts are borrowed for the callback. */
struct pg_answer {
	/* first column of the first row; NULL: no row, or SQL NULL; "": also if too long */
	const char *text;
	unsigned type; /* its type's OID */
	int columns;
	uint64_t rows;
	unsigned results; /* statements that returned rows or completed */
};
typedef void (*pg_fn)(void *arg, const struct pg_answer *answer, const struct err *err);

/* Sends one query, which fails at deadline_ms (loop clock). */
struct pool_call *pg_query(struct pg_pool *p, struct pgendpoint *e, const char *sql, int64_t deadline_ms, pg_fn fn,
	void *arg);

/* ---- net/pg/pglisten: notifications ---- */

/*
 * One further connection per server LISTENs on all channels with listeners. After each start we
 * send it a notification through another connection; if that does not arrive, a pooler in between
 * drops notifications. The connection is checked regularly and reopened with back-off.
 */
#define PG_CHANNEL_MAX 63

enum pg_listen_state { PG_LISTEN_STARTING, PG_LISTEN_ON, PG_LISTEN_OFF, PG_LISTEN_FAILING };
struct pg_listen_report {
	enum pg_listen_state state;
	const char *why; /* borrowed until the end of the turn; "" */
	bool heard;      /* a notification has come on this channel */
};
struct pg_listener;
typedef void (*pg_listen_fn)(void *arg);

/*
 * channel: exactly as in pg_notify('<channel>', ...). fn: called once per turn in which a
 * notification came, and after each (re)start of the connection.
 */
struct pg_listener *pg_listen(struct pg_pool *p, struct pgendpoint *e, const char *channel, pg_listen_fn fn, void *arg);
void pg_unlisten(struct pg_listener *l); /* NULL is fine */
struct pg_listen_report pg_listen_report(const struct pg_listener *l);

#endif
