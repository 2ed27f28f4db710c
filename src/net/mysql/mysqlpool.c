/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mysql/mysqlpool.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/descriptors.h"
#include "net/dial.h"
#include "net/mysql/mysqlio.h"
#include "net/mysql/mysqlsession.h"

#define CONNECT_MS     5000 /* name, TCP, TLS, login */
#define WAITING_MAX    10000
#define LIMIT_LEAST_MS 1000 /* the lowest limit: a shorter one would fail on a busy server */

struct mysqlpool_call {
	struct pool_call base;
	mysqlpool_fn fn;
	void *arg;
	struct mysqlvalue value;
};

struct mysql_conn {
	struct pool_slot *slot;
	struct mysqlendpoint *endpoint; /* borrowed */
	struct descriptors_hold hold;
	struct dial *dial;  /* while connecting */
	struct mysqlio *io; /* once connected */
	struct mysqlsession session;
	struct loop_timer timer; /* time-out of opening */
	int64_t limit_ms;        /* the limit that the session has */
	/* The operation in progress, and its result. */
	const char *query; /* the call's */
	int failed;
	bool usable, restored;
	struct mysqlvalue value;
	struct err err;
};

/* ---- Opening ---- */

static void on_lost(void *arg)
{
	struct mysql_conn *c = arg;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "the server closed the connection");
	pool_lost(c->slot, &err);
}

static int opening(const void *connection, struct err *err)
{
	const struct mysql_conn *c = connection;

	return err_set(err, ERR_TEMPORARY, "%s: timed out", c->io ? "logging in" : "connecting");
}

static void on_timeout(void *arg)
{
	struct mysql_conn *c = arg;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s",
		c->io ? "logging in: timed out (is it a MySQL or MariaDB server?)" : "connecting: timed out");
	pool_lost(c->slot, &err);
}

static void operation_open(void *arg)
{
	struct mysql_conn *c = arg;

	c->failed = mysqlsession_open(&c->session, c->limit_ms, &c->err);
}

static void on_opened(void *arg)
{
	struct mysql_conn *c = arg;

	if (c->failed) {
		pool_lost(c->slot, &c->err);
		return;
	}
	loop_timer_cancel(&c->timer);
	descriptors_give(&c->hold, 1);
	mysqlio_watch(c->io, on_lost, c);
	pool_opened(c->slot, 0);
}

static void on_dialed(void *arg, int fd, const struct err *dial_err)
{
	struct mysql_conn *c = arg;
	struct err err;

	c->dial = NULL;
	if (fd < 0) {
		/* The reason would tell whether the socket's file exists on this host. */
		err_set(&err, dial_err->kind, "connecting: %s",
			c->endpoint->port ? dial_err->msg : "the Unix socket cannot be connected to");
		pool_lost(c->slot, &err);
		return;
	}
	c->io = mysqlio_new(pool_slot_loop(c->slot), c->hold.namespace_, fd);
	c->session = (struct mysqlsession){ .endpoint = c->endpoint, .io = c->io };
	mysqlio_run(c->io, MYSQLSESSION_ANSWER_MAX, operation_open, on_opened, c);
}

static void *open_connection(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first)
{
	struct mysql_conn *c = mem_zalloc(sizeof(*c));
	/* The server's limit ends the query before our deadline. */
	int64_t limit_ms = (first->deadline_ms - first->asked_ms) * 9 / 10;

	c->slot = slot;
	c->endpoint = (struct mysqlendpoint *)e;
	c->hold.namespace_ = endpoint_namespace(e);
	c->hold.wants = 1U + !!e->tls.ca_pem + !!e->tls.cert_pem + !!e->tls.key_pem; /* files while connecting */
	c->limit_ms = limit_ms > LIMIT_LEAST_MS ? limit_ms : LIMIT_LEAST_MS;
	loop_timer_init(&c->timer, pool_slot_loop(slot), on_timeout, c);
	loop_timer_set(&c->timer, CONNECT_MS);
	c->dial = dial_start(pool_slot_loop(slot), c->endpoint->host, c->endpoint->port, CONNECT_MS, &c->hold,
		on_dialed, c);
	return c;
}

static void close_connection(void *connection)
{
	struct mysql_conn *c = connection;

	dial_cancel(c->dial);
	if (c->io)
		mysqlio_break(c->io);
	mysqlsession_close(&c->session);
	mysqlio_free(c->io);
	loop_timer_done(&c->timer);
	descriptors_give(&c->hold, 0);
	free(c);
}

/* ---- Asking ---- */

static void operation_ask(void *arg)
{
	struct mysql_conn *c = arg;

	c->failed = mysqlsession_ask(&c->session, c->query, &c->value, &c->usable, &c->err);
	c->restored = c->usable && mysqlsession_restore(&c->session);
}

static void on_asked(void *arg)
{
	struct mysql_conn *c = arg;
	struct mysqlpool_call *call = (struct mysqlpool_call *)pool_slot_call(c->slot, 0);

	if (c->failed && !c->usable) {
		pool_lost(c->slot, &c->err);
		return;
	}
	if (c->failed)
		err_keep(&call->base.err, &c->err);
	call->value = c->value;
	if (c->restored)
		mysqlio_watch(c->io, on_lost, c);
	pool_finished(&call->base, c->restored);
}

static int send_query(void *connection, struct pool_call *call, struct err *err)
{
	struct mysql_conn *c = connection;

	(void)err;
	c->query = call->query;
	mysqlio_run(c->io, MYSQLSESSION_ANSWER_MAX, operation_ask, on_asked, c);
	return 0;
}

static void tell(struct pool_call *base)
{
	struct mysqlpool_call *call = (struct mysqlpool_call *)base;

	call->fn(call->arg, base->err ? NULL : &call->value, base->err);
}

static const struct pool_protocol protocol = {
	.name = "mysql",
	.calls = "queries",
	.call_size = sizeof(struct mysqlpool_call),
	.window = 1,
	.waiting_max = WAITING_MAX,
	.query_max = MYSQLSESSION_QUERY_MAX,
	.overdue = "no answer in time",
	.crowded = "no answer in time: other queries take too long",
	.open = open_connection,
	.opening = opening,
	.send = send_query,
	.close = close_connection,
	.tell = tell,
};

/* ---- Public functions ---- */

struct pool *mysqlpool_new(struct loop *loop)
{
	return pool_new(loop, &protocol, NULL);
}

struct pool_call *mysqlpool_ask(struct pool *p, struct mysqlendpoint *e, const char *query, int64_t deadline_ms,
	mysqlpool_fn fn, void *arg)
{
	struct mysqlpool_call *call = mem_zalloc(sizeof(*call));

	call->fn = fn;
	call->arg = arg;
	pool_ask(p, &e->base, mem_dup(query), strlen(query), deadline_ms, &call->base);
	return &call->base;
}
