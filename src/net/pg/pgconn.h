/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGCONN_H
#define NET_PG_PGCONN_H

/*
 * One PostgreSQL connection by libpq, without blocking: names are resolved by net/dns and passed as
 * addresses, each address has its share of the time (where an identity's token is the password,
 * that is fetched first); then one statement at a time in the simple
 * protocol, row by row, and notifications. Used by net/pg for queries and by net/pg/pglisten. It
 * never reconnects by itself.
 *
 * libpq connects; from then on net/pg/pgpump is between it and the server, speaks TLS, and judges
 * all that libpq is sent.
 */

#include <libpq-fe.h>
#include <stdbool.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/pg/pgendpoint.h"

struct webtoken_store;

#define PGCONN_CONNECT_MS 5000 /* for names, addresses, TLS and authentication; unless connect_timeout is given */

struct pgconn;

/*
 * Called from the loop, never from inside pgconn_start or pgconn_send; each may free the
 * connection.
 */
struct pgconn_handler {
	void (*opened)(void *arg);
	/* A row, the end of a statement, or its error; borrowed. */
	void (*result)(void *arg, const PGresult *result);
	void (*finished)(void *arg);                      /* the statement has ended, another may be sent */
	void (*notified)(void *arg, const char *channel); /* may be NULL */
	void (*lost)(void *arg, const struct err *why);   /* it could not be opened, or is closed now: free it */
};

struct pgconn_config {
	int64_t statement_timeout_ms; /* 0: none */
	/*
	 * Borrowed: whether a pooler rejects statement_timeout. Set when that is found out, and
	 * respected.
	 */
	bool *refuses_options;
	struct webtoken_store *tokens; /* for endpoints with an identity; borrowed */
	struct salter *salter;         /* for logins by SCRAM; borrowed; NULL: libpq has them */
	/*
	 * for which it counts; borrowed until pgconn_start returns; NULL: the endpoint's
	 * (net/endpoint.h)
	 */
	const char *namespace_;
	bool listens; /* for notifications: the session is not reset after a statement */
};

struct pgconn *pgconn_start(struct loop *loop, struct pgendpoint *e, const struct pgconn_config *config,
	const struct pgconn_handler *handler, void *arg);
void pgconn_free(struct pgconn *c); /* NULL is fine */
/* Others use it now. Where they have no room for it, it counts as before. */
void pgconn_count_for(struct pgconn *c, const char *namespace_);
/* What it is at, for a query that is overdue before it is open. */
const char *pgconn_step(const struct pgconn *c);
/* On an open connection without a statement under way. -1: it is broken; free it. */
int pgconn_send(struct pgconn *c, const char *sql, struct err *err);
/*
 * False: it must be closed after this statement, whose session, or whose memory here, is left in a
 * state of its own.
 */
bool pgconn_is_reusable(const struct pgconn *c);
/* The message of an error result, cleaned, with a kind by its SQLSTATE. */
void pgconn_explain(const struct pgconn *c, const PGresult *result, struct err *err);

#endif
