/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PG_PARTS_H
#define NET_PG_PG_PARTS_H

/* The pool (pg_pool.c), shared by pg.c (queries) and pglisten.c (subscriptions). */

#include "net/pg/pg.h"
#include "net/pg/pgconn.h"
#include "net/pool.h"

struct pg_listenserver;

struct pg_pool {
	struct loop *loop;
	int64_t statement_timeout_ms;
	struct webtoken_store *tokens; /* borrowed; NULL in tests */
	struct salter *salter;         /* the same */
	struct pool *queries;
	struct pg_listenserver *listening; /* hash by the endpoint's key */
};

extern const struct pool_protocol pg_protocol; /* for queries */

void pg_listen_free_all(struct pg_pool *p);

#endif
