/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pg.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/dial.h"
#include "net/pg/pg_parts.h"

#define SLOTS 2
#define GROW_MS 50            /* a query that has waited so long behind another gets the second connection */
#define GROW_AGAIN_MS 30000   /* that could not be had */
#define WAITING_MAX 5000
#define TEXT_KEPT 256         /* of the value: no number is longer */

/* A query on its way: in the server's queue, then in a slot. */
struct pg_call {
	struct pg_pool *pool;
	struct pg_server *server; /* NULL once it failed: then it hangs on the pool */
	struct pg_call *prev, *next;
	pg_fn fn; /* NULL: cancelled, its statement still runs */
	void *arg;
	char *sql;
	int64_t asked_ms, deadline_ms;
	bool running, retried;
	char *text; /* the answer so far */
	struct pg_answer answer;
	struct err *err; /* of the statement, or why it failed */
};

enum slot_state { SLOT_CLOSED, SLOT_OPENING, SLOT_IDLE, SLOT_BUSY };

struct slot {
	struct pg_server *server;
	struct pgconn *conn; /* NULL while closed */
	enum slot_state state;
	struct pg_call *call; /* SLOT_BUSY */
	bool served;          /* an answer came by this connection */
	int64_t used_ms;
};

struct pg_server {
	struct pg_pool *pool;
	struct pg_endpoint *endpoint; /* one count */
	UT_hash_handle hh;
	struct slot slots[SLOTS];
	struct pg_call *queue; /* oldest first */
	size_t waiting;        /* in the queue */
	bool refuses_options;
	unsigned failures;
	int64_t retry_ms, grow_ms; /* no earlier; loop clock */
	struct err *last_err;
	struct loop_timer timer;
	int64_t timer_ms; /* when it is due; 0: not set */
};

static void dispatch(struct pg_server *s);
static void look_again(struct pg_server *s, int64_t at_ms);

/* --- calls -------------------------------------------------------------------------------------------------------------------- */

static void call_free(struct pg_call *call)
{
	free(call->sql);
	free(call->text);
	free(call->err);
	free(call);
}

static void leave_queue(struct pg_call *call)
{
	DL_DELETE(call->server->queue, call);
	call->server->waiting--;
}

/* Told at the end of this turn. The call is in no queue and in no slot any more. */
static void fail_later(struct pg_call *call, const struct err *why)
{
	if (!call->fn) {
		call_free(call);
		return;
	}
	call->server = NULL;
	err_keep(&call->err, why);
	DL_APPEND(call->pool->failed, call);
	loop_task_queue(call->pool->loop, &call->pool->tell_failed);
}

static void on_tell_failed(void *arg)
{
	struct pg_pool *p = arg;
	struct pg_call *call;

	while ((call = p->failed) != NULL) {
		DL_DELETE(p->failed, call);
		call->fn(call->arg, NULL, call->err);
		call_free(call);
	}
}

static void fail_at(const struct pg_server *s, struct pg_call *call, const struct err *why)
{
	struct err err;

	err_set(&err, why->kind, "postgresql at %s: %s", s->endpoint->base.name, why->msg);
	fail_later(call, &err);
}

static void fail_queue(struct pg_server *s, const struct err *why)
{
	struct pg_call *call, *next;

	DL_FOREACH_SAFE(s->queue, call, next) {
		leave_queue(call);
		fail_at(s, call, why);
	}
}

/* --- slots -------------------------------------------------------------------------------------------------------------------- */

static void slot_close(struct slot *slot)
{
	pgconn_free(slot->conn);
	slot->conn = NULL;
	slot->state = SLOT_CLOSED;
	slot->call = NULL;
	slot->served = false;
}

static bool others_work(const struct slot *slot)
{
	for (size_t i = 0; i < SLOTS; i++) {
		const struct slot *other = &slot->server->slots[i];

		if (other != slot && (other->state == SLOT_IDLE || other->state == SLOT_BUSY))
			return true;
	}
	return false;
}

static void on_opened(void *arg)
{
	struct slot *slot = arg;

	slot->state = SLOT_IDLE;
	slot->used_ms = loop_now_ms(slot->server->pool->loop);
	dispatch(slot->server);
}

static void keep_value(struct pg_call *call, const PGresult *r)
{
	call->answer.rows++;
	call->answer.columns = PQnfields(r);
	if (call->answer.rows > 1 || call->answer.columns < 1)
		return;
	call->answer.type = PQftype(r, 0);
	if (!PQgetisnull(r, 0, 0))
		call->text = mem_dupn(PQgetvalue(r, 0, 0), strnlen(PQgetvalue(r, 0, 0), TEXT_KEPT));
}

static void on_result(void *arg, const PGresult *r)
{
	struct slot *slot = arg;
	struct pg_call *call = slot->call;
	struct err err;

	switch (PQresultStatus(r)) {
	case PGRES_SINGLE_TUPLE:
		keep_value(call, r);
		break;
	case PGRES_TUPLES_OK:
		call->answer.columns = PQnfields(r);
		call->answer.results++;
		break;
	case PGRES_COMMAND_OK:
	case PGRES_EMPTY_QUERY:
		call->answer.results++;
		break;
	default:
		pgconn_explain(slot->conn, r, &err);
		err_keep(&call->err, &err);
		break;
	}
}

static void tell(struct pg_server *s, struct pg_call *call)
{
	struct err err;

	call->answer.text = call->text;
	if (call->fn && call->err) {
		err_set(&err, call->err->kind, "postgresql at %s: %s", s->endpoint->base.name, call->err->msg);
		call->fn(call->arg, NULL, &err);
	} else if (call->fn) {
		call->fn(call->arg, &call->answer, NULL);
	}
	call_free(call);
}

static void on_finished(void *arg)
{
	struct slot *slot = arg;
	struct pg_server *s = slot->server;
	struct pg_call *call = slot->call;

	slot->call = NULL;
	slot->state = SLOT_IDLE;
	slot->served = true;
	slot->used_ms = loop_now_ms(s->pool->loop);
	s->failures = 0;
	dispatch(s);
	look_again(s, slot->used_ms + PG_IDLE_MS);
	tell(s, call);
}

/*
 * A connection that was ended by the other side is often noticed only when the next query is on it. Such a query goes once more, as with KEDA, which asks again after each failure; not when something of an answer
 * had come, or when the connection was ended for what the answer was.
 */
static bool try_again(struct pg_call *call, const struct err *why)
{
	struct pg_server *s = call->server;

	if (call->retried || !call->fn || call->answer.rows || why->kind != ERR_TEMPORARY || call->deadline_ms <= loop_now_ms(s->pool->loop))
		return false;
	err_keep(&call->err, NULL);
	call->answer.results = 0;
	call->retried = true;
	call->running = false;
	DL_PREPEND(s->queue, call);
	s->waiting++;
	return true;
}

/* No connection before the back-off is over. */
static void rest(struct pg_server *s, const struct err *why)
{
	err_keep(&s->last_err, why);
	s->retry_ms = loop_now_ms(s->pool->loop) + loop_backoff_ms(s->failures++, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS);
}

/* The statement under way goes with its connection. A server that lets us in and answers nothing is not dialled for each query that waits. */
static void on_lost(void *arg, const struct err *why)
{
	struct slot *slot = arg;
	struct pg_server *s = slot->server;
	struct pg_call *call = slot->call;
	int64_t now_ms = loop_now_ms(s->pool->loop);
	enum slot_state was = slot->state;
	bool served = slot->served;

	slot_close(slot);
	if (call && !try_again(call, why))
		fail_at(s, call, call->err ? call->err : why);
	if (was == SLOT_OPENING && others_work(slot)) {
		s->grow_ms = now_ms + GROW_AGAIN_MS;
	} else if (was == SLOT_OPENING) {
		rest(s, why);
		fail_queue(s, why);
	} else if (!served) {
		rest(s, why);
	}
	look_again(s, now_ms + PG_IDLE_MS);
	dispatch(s);
}

static const struct pgconn_handler on_slot = { .opened = on_opened, .result = on_result, .finished = on_finished, .lost = on_lost };

static void slot_open(struct slot *slot)
{
	struct pg_server *s = slot->server;
	struct pgconn_config config = { .statement_timeout_ms = s->pool->statement_timeout_ms, .refuses_options = &s->refuses_options };

	slot->state = SLOT_OPENING;
	slot->conn = pgconn_start(s->pool->loop, s->endpoint, &config, &on_slot, slot);
}

/* --- who goes when -------------------------------------------------------------------------------------------------------------- */

static void send_next(struct slot *slot)
{
	struct pg_server *s = slot->server;
	struct pg_call *call = s->queue;
	struct err err;

	leave_queue(call);
	if (pgconn_send(slot->conn, call->sql, &err)) {
		slot_close(slot);
		fail_at(s, call, &err);
		return;
	}
	call->running = true;
	slot->call = call;
	slot->state = SLOT_BUSY;
}

static struct slot *find_slot(struct pg_server *s, enum slot_state state)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (s->slots[i].state == state)
			return &s->slots[i];
	}
	return NULL;
}

/* A second connection only for what waits behind a slow query, so that a server sees no more of us than it must. */
static void grow(struct pg_server *s)
{
	int64_t now_ms = loop_now_ms(s->pool->loop), due_ms = s->queue->asked_ms + GROW_MS;
	struct slot *closed = find_slot(s, SLOT_CLOSED);

	if (!closed || find_slot(s, SLOT_OPENING))
		return;
	if (!find_slot(s, SLOT_BUSY))
		due_ms = s->retry_ms;
	else if (due_ms < s->grow_ms)
		due_ms = s->grow_ms;
	if (due_ms < s->retry_ms)
		due_ms = s->retry_ms;
	if (now_ms >= due_ms)
		slot_open(closed);
	else
		look_again(s, due_ms);
}

static void dispatch(struct pg_server *s)
{
	struct slot *idle;

	while (s->queue && (idle = find_slot(s, SLOT_IDLE)) != NULL)
		send_next(idle);
	if (s->queue)
		grow(s);
}

static void expire_queue(struct pg_server *s, int64_t now_ms)
{
	bool rests = !find_slot(s, SLOT_BUSY) && !find_slot(s, SLOT_OPENING) && s->last_err;
	struct pg_call *call, *next;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s", find_slot(s, SLOT_BUSY) ? "no answer in time: it waited behind other queries, which are slow" : "connecting: no answer in time");
	if (rests)
		err = *s->last_err;
	DL_FOREACH_SAFE(s->queue, call, next) {
		if (call->deadline_ms > now_ms)
			continue;
		leave_queue(call);
		fail_at(s, call, &err);
	}
}

static void expire_slots(struct pg_server *s, int64_t now_ms)
{
	struct err err;

	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &s->slots[i];
		struct pg_call *call = slot->call;

		if (call && call->deadline_ms <= now_ms) {
			slot_close(slot);
			err_set(&err, ERR_TEMPORARY, "the query did not end in time (slow, or waiting for a lock)");
			fail_at(s, call, &err);
		} else if (slot->state == SLOT_IDLE && now_ms - slot->used_ms >= PG_IDLE_MS) {
			slot_close(slot);
		}
	}
}

/* --- the timer: deadlines, growing, idleness ---------------------------------------------------------------------------------------- */

static void look_again(struct pg_server *s, int64_t at_ms)
{
	int64_t now_ms = loop_now_ms(s->pool->loop);

	if (s->timer_ms && s->timer_ms <= at_ms)
		return;
	s->timer_ms = at_ms;
	loop_timer_set(&s->timer, at_ms > now_ms ? at_ms - now_ms : 0);
}

static void server_free(struct pg_server *s)
{
	struct pg_call *call, *next;

	for (size_t i = 0; i < SLOTS; i++) {
		if (s->slots[i].call)
			call_free(s->slots[i].call);
		slot_close(&s->slots[i]);
	}
	DL_FOREACH_SAFE(s->queue, call, next)
		call_free(call);
	loop_timer_done(&s->timer);
	HASH_DEL(s->pool->servers, s);
	pg_endpoint_unref(s->endpoint);
	free(s->last_err);
	mem_free_ptr(&s);
}

static bool is_unused(const struct pg_server *s)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (s->slots[i].state != SLOT_CLOSED)
			return false;
	}
	return !s->queue && loop_now_ms(s->pool->loop) >= s->retry_ms;
}

static void on_timer(void *arg)
{
	struct pg_server *s = arg;
	int64_t now_ms = loop_now_ms(s->pool->loop);

	s->timer_ms = 0;
	expire_slots(s, now_ms);
	expire_queue(s, now_ms);
	if (is_unused(s)) {
		server_free(s);
		return;
	}
	dispatch(s);
	for (const struct pg_call *call = s->queue; call; call = call->next)
		look_again(s, call->deadline_ms);
	for (size_t i = 0; i < SLOTS; i++) {
		if (s->slots[i].call)
			look_again(s, s->slots[i].call->deadline_ms);
	}
	look_again(s, now_ms + PG_IDLE_MS);
}

/* --- for everybody ------------------------------------------------------------------------------------------------------------------ */

/* libpq reads them for whatever a connection string leaves open; here it is kscaled's own environment, and says nothing about anybody's database. */
static void forget_environment(void)
{
	static const char *const files[] = { "PGSYSCONFDIR", "PGSERVICEFILE", "PGREQUIRESSL", "PGLOCALEDIR" };
	PQconninfoOption *options = PQconndefaults();

	for (const PQconninfoOption *o = options; o && o->keyword; o++) {
		if (o->envvar)
			unsetenv(o->envvar);
	}
	PQconninfoFree(options);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unsetenv(files[i]);
}

struct pg_pool *pg_pool_new(struct loop *loop, int64_t ask_ms)
{
	struct pg_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->statement_timeout_ms = ask_ms - ask_ms / 10; /* the server's own word about it comes before our deadline */
	loop_task_init(&p->tell_failed, on_tell_failed, p);
	forget_environment();
	return p;
}

void pg_pool_free(struct pg_pool *p)
{
	struct pg_server *s, *next;
	struct pg_call *call, *next_call;

	if (!p)
		return;
	pg_listen_free_all(p);
	HASH_ITER(hh, p->servers, s, next)
		server_free(s);
	DL_FOREACH_SAFE(p->failed, call, next_call)
		call_free(call);
	loop_task_cancel(p->loop, &p->tell_failed);
	mem_free_ptr(&p);
}

size_t pg_pool_connections(const struct pg_pool *p)
{
	size_t count = pg_listen_connections(p);

	for (const struct pg_server *s = p->servers; s; s = s->hh.next) {
		for (size_t i = 0; i < SLOTS; i++)
			count += s->slots[i].state != SLOT_CLOSED;
	}
	return count;
}

static struct pg_server *server_for(struct pg_pool *p, struct pg_endpoint *e)
{
	struct pg_server *s;

	HASH_FIND_STR(p->servers, e->base.key, s);
	if (s)
		return s;
	s = mem_zalloc(sizeof(*s));
	s->pool = p;
	s->endpoint = pg_endpoint_ref(e);
	for (size_t i = 0; i < SLOTS; i++)
		s->slots[i].server = s;
	loop_timer_init(&s->timer, p->loop, on_timer, s);
	HASH_ADD_KEYPTR(hh, p->servers, s->endpoint->base.key, strlen(s->endpoint->base.key), s);
	return s;
}

/* 0 or -1 with the reason why it may not even wait. */
static int admit(const struct pg_server *s, struct err *err)
{
	return s->waiting < WAITING_MAX ? 0 : err_set(err, ERR_TEMPORARY, "too many queries wait (%zu)", s->waiting);
}

struct pg_call *pg_query(struct pg_pool *p, struct pg_endpoint *e, const char *sql, int64_t deadline_ms, pg_fn fn, void *arg)
{
	struct pg_server *s = server_for(p, e);
	struct pg_call *call = mem_zalloc(sizeof(*call));
	struct err err;

	call->pool = p;
	call->server = s;
	call->fn = fn;
	call->arg = arg;
	call->asked_ms = loop_now_ms(p->loop);
	call->deadline_ms = deadline_ms;
	if (admit(s, &err)) {
		look_again(s, call->asked_ms + PG_IDLE_MS);
		fail_at(s, call, &err);
		return call;
	}
	call->sql = mem_dup(sql);
	DL_APPEND(s->queue, call);
	s->waiting++;
	look_again(s, deadline_ms);
	dispatch(s);
	return call;
}

void pg_cancel(struct pg_call *call)
{
	if (!call)
		return;
	if (call->running && call->server) {
		call->fn = NULL; /* its slot is free when the statement is over, or overdue */
		return;
	}
	if (call->server)
		leave_queue(call);
	else
		DL_DELETE(call->pool->failed, call);
	call_free(call);
}
