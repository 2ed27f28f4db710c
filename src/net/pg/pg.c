/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pg.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/pg/pg_parts.h"

#define WAITING_MAX 5000
#define VALUE_MAX   400 /* bytes; a double without exponent has 310 */

struct pg_call {
	struct pool_call base;
	pg_fn fn;
	void *arg;
	char *text; /* the answer so far */
	struct pg_answer answer;
};

/* ---- Connections ---- */

static void on_opened(void *slot)
{
	pool_opened(slot, 0);
}

static void on_result(void *arg, const PGresult *r)
{
	struct pg_call *call = (struct pg_call *)pool_slot_call(arg, 0);
	struct err err;

	switch (PQresultStatus(r)) {
	case PGRES_SINGLE_TUPLE:
		call->answer.columns = PQnfields(r);
		if (++call->answer.rows > 1 || call->answer.columns < 1)
			break;
		call->answer.type = PQftype(r, 0);
		if (!PQgetisnull(r, 0, 0)) /* truncating would change the number */
			call->text = mem_dup(PQgetlength(r, 0, 0) <= VALUE_MAX ? PQgetvalue(r, 0, 0) : "");
		break;
	case PGRES_TUPLES_OK:
		call->answer.columns = PQnfields(r);
		call->answer.results++;
		break;
	case PGRES_COMMAND_OK:
	case PGRES_EMPTY_QUERY: call->answer.results++; break;
	default:
		pgconn_explain(pool_slot_connection(arg), r, &err);
		err_keep(&call->base.err, &err);
		break;
	}
}

static void on_finished(void *slot)
{
	pool_finished(pool_slot_call(slot, 0), pgconn_is_reusable(pool_slot_connection(slot)));
}

static void on_lost(void *slot, const struct err *why)
{
	pool_lost(slot, why);
}

static void *open_connection(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first)
{
	static const struct pgconn_handler handler = {
		.opened = on_opened,
		.result = on_result,
		.finished = on_finished,
		.lost = on_lost,
	};
	const struct pg_pool *p = pool_slot_arg(slot);
	struct pgconn_config config = {
		.statement_timeout_ms = p->statement_timeout_ms,
		.refuses_options = pool_slot_note(slot),
		.tokens = p->tokens,
		.salter = p->salter,
	};

	(void)first;
	return pgconn_start(p->loop, (struct pgendpoint *)e, &config, &handler, slot);
}

static int opening(const void *connection, struct err *err)
{
	return err_set(err, ERR_TEMPORARY, "%s", pgconn_step(connection));
}

static int send_query(void *connection, struct pool_call *call, struct err *err)
{
	return pgconn_send(connection, call->query, err);
}

static void close_connection(void *connection)
{
	pgconn_free(connection);
}

/* KEDA retries after each failure; we do unless part of the result has arrived. */
static bool again(struct pool_call *base)
{
	struct pg_call *call = (struct pg_call *)base;

	call->answer.results = 0;
	return call->answer.rows == 0;
}

static void tell(struct pool_call *base)
{
	struct pg_call *call = (struct pg_call *)base;

	call->answer.text = call->text;
	call->fn(call->arg, base->err ? NULL : &call->answer, base->err);
}

static void done(struct pool_call *base)
{
	free(((struct pg_call *)base)->text);
}

const struct pool_protocol pg_protocol = {
	.name = "postgresql",
	.calls = "queries",
	.call_size = sizeof(struct pg_call),
	.window = 1,
	.waiting_max = WAITING_MAX,
	.overdue = "the query did not end in time (slow, or waiting for a lock)",
	.crowded = "no answer in time: it waited for other queries, which are slow",
	.open = open_connection,
	.opening = opening,
	.send = send_query,
	.close = close_connection,
	.again = again,
	.tell = tell,
	.done = done,
};

/* ---- Public functions ---- */

struct pool_call *pg_query(struct pg_pool *p, struct pgendpoint *e, const char *sql, int64_t deadline_ms, pg_fn fn,
	void *arg)
{
	struct pg_call *call = mem_zalloc(sizeof(*call));

	call->fn = fn;
	call->arg = arg;
	pool_ask(p->queries, &e->base, mem_dup(sql), strlen(sql), deadline_ms, &call->base);
	return &call->base;
}
