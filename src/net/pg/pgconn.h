/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGCONN_H
#define NET_PG_PGCONN_H

/*
 * One PostgreSQL connection by libpq, without blocking. First fetches an identity's token, if that
 * is the password; resolves names by net/dns; tries the addresses, each with a share of the time;
 * then sends one statement at a time in the simple protocol, and receives rows and notifications.
 * Used by net/pg for queries and by net/pg/pglisten. Never reconnects by itself.
 *
 * libpq connects; from then on net/pg/pgpump is between it and the server: it does TLS and checks
 * all data for libpq.
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
	void (*finished)(void *arg);                      /* the statement has ended; the next may be sent */
	void (*notified)(void *arg, const char *channel); /* may be NULL */
	void (*lost)(void *arg, const struct err *why);   /* it could not be opened, or is closed now: free it */
};

struct pgconn_config {
	int64_t statement_timeout_ms; /* 0: none */
	/* borrowed: whether a pooler rejects statement_timeout; set when detected */
	bool *refuses_options;
	struct webtoken_store *tokens; /* for endpoints with an identity; borrowed */
	struct salter *salter;         /* for SCRAM logins; borrowed; NULL: libpq does them */
	/*
	 * to which it is charged; borrowed until pgconn_start returns; NULL: the endpoint's
	 * (net/endpoint.h)
	 */
	const char *namespace_;
	bool listens; /* for notifications: the session is not reset after a statement */
};

struct pgconn *pgconn_start(struct loop *loop, struct pgendpoint *e, const struct pgconn_config *config,
	const struct pgconn_handler *handler, void *arg);
void pgconn_free(struct pgconn *c); /* NULL is fine */
/* Charges it to another namespace from now on, unless that one has no room for it. */
void pgconn_count_for(struct pgconn *c, const char *namespace_);
/* The current step, as the error of a query that is overdue before the connection is open. */
const char *pgconn_step(const struct pgconn *c);
/* On an open connection without a running statement. -1: it is broken; free it. */
int pgconn_send(struct pgconn *c, const char *sql, struct err *err);
/*
 * False: it must be closed after this statement, as its session could not be reset or its buffers
 * have grown too large.
 */
bool pgconn_is_reusable(const struct pgconn *c);
/* The message of an error result, cleaned, with a kind by its SQLSTATE. */
void pgconn_explain(const struct pgconn *c, const PGresult *result, struct err *err);

#endif
