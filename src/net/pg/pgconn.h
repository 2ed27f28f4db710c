/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGCONN_H
#define NET_PG_PGCONN_H

/*
 * One connection to PostgreSQL, by libpq without blocking: names are looked up by net/dns and
 * handed over as addresses, each address has its share of the time, then one statement at a time in
 * the simple protocol, row by row; and notifications. net/pg has the queries' ones, net/pg/pglisten
 * the one that listens. It never connects again by itself.
 *
 * libpq keeps a whole row before it shows it, and one row may be a gigabyte: an answer that did not
 * come with the first read goes through net/pg/pgpump, which counts.
 */

#include <libpq-fe.h>
#include <stdbool.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/pg/pgendpoint.h"

#define PGCONN_CONNECT_MS 5000 /* names, addresses, TLS, authentication; unless connect_timeout says another */
#define PGCONN_ANSWER_MAX ((size_t)1 << 20) /* bytes of one answer */

struct pgconn;

/* From the loop, never from inside pgconn_start or pgconn_send; each may free the connection. */
struct pgconn_handler {
	void (*opened)(void *arg);
	/* a row, the end of a statement, or its error; borrowed */
	void (*result)(void *arg, const PGresult *result);
	void (*finished)(void *arg);                      /* the statement is over, the next may be sent */
	void (*notified)(void *arg, const char *channel); /* may be NULL */
	void (*lost)(void *arg, const struct err *why);   /* could not be opened, or is closed now: free it */
};

struct pgconn_config {
	int64_t statement_timeout_ms; /* 0: not asked for */
	/*
	 * borrowed: a pooler that takes no statement_timeout; set here when it turns out, and
	 * heeded
	 */
	bool *refuses_options;
};

struct pgconn *pgconn_start(struct loop *loop, struct pgendpoint *e, const struct pgconn_config *config,
	const struct pgconn_handler *handler, void *arg);
void pgconn_free(struct pgconn *c); /* NULL is fine */
/* On an open connection without a statement under way. -1: it is broken, free it. */
int pgconn_send(struct pgconn *c, const char *sql, struct err *err);
/* What an error result says, cleaned, with a kind that its SQLSTATE tells. */
void pgconn_explain(const struct pgconn *c, const PGresult *result, struct err *err);

#endif
