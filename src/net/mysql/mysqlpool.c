/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mysql/mysqlpool.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/dial.h"
#include "net/mysql/mysqlio.h"
#include "net/mysql/mysqlsession.h"

#define CONNECT_MS 5000 /* name, TCP, TLS, login */
#define IDLE_MS 60000
#define WAITING_MAX 10000
#define CONNECTIONS 2
#define SECOND_AFTER_MS 50  /* a query that takes longer lets the queue have another connection */
#define LIMIT_LEAST_MS 1000 /* a query that the server may work at for less would fail on a busy one */

/* A query: in its server's queue, then on a connection, then among those to be told. */
struct mysqlpool_call {
	struct mysqlpool *pool;
	struct server *server;  /* while it waits or is asked */
	struct conn *conn;      /* while it is asked */
	struct mysqlpool_call *prev, *next;
	mysqlpool_fn fn;
	void *arg;
	char *query;
	int64_t deadline_ms, limit_ms;
	struct mysqlvalue value;
	struct err *err; /* NULL: value is the answer */
};

enum state { CLOSED, DIALING, LOGGING_IN, OPEN, ASKING };

struct conn {
	struct server *server;
	enum state state;
	struct dial *dial;
	struct mysqlio *io;
	struct mysqlsession session;
	struct mysqlpool_call *call; /* ASKING; NULL when it was cancelled */
	char *query;                 /* ASKING: outlives the call */
	int64_t limit_ms;            /* that the session carries */
	int64_t since_ms;            /* of the state */
	int64_t deadline_ms;         /* DIALING to LOGGING_IN, and ASKING */
	bool served;                 /* an answer came by this connection */
	/* What the operation left. */
	int failed;
	bool usable;
	struct mysqlvalue value;
	struct err err;
};

/* What all calls of one endpoint share. */
struct server {
	struct mysqlpool *pool;
	struct mysqlendpoint *endpoint; /* one count */
	UT_hash_handle hh;              /* by the endpoint's key */
	struct conn conns[CONNECTIONS];
	struct mysqlpool_call *queue;   /* oldest first */
	size_t waiting;
	unsigned failures;
	int64_t retry_ms;               /* no connection earlier; loop clock */
	int64_t used_ms;
	struct err last_err;
	struct loop_timer timer;        /* the earliest of: deadlines, the second connection, idleness */
};

struct mysqlpool {
	struct loop *loop;
	struct server *servers;        /* hash */
	struct mysqlpool_call *told;   /* at the end of this turn */
	struct loop_task tell;
	unsigned depth; /* callbacks on the stack */
	bool freed;     /* as soon as depth is 0 */
};

static void dispatch(struct server *s);

static int64_t now_ms(const struct server *s)
{
	return loop_now_ms(s->pool->loop);
}

/* --- calls ------------------------------------------------------------------------------------------------------------------- */

static void call_free(struct mysqlpool_call *call)
{
	mem_free_ptr(&call->err);
	mem_free_ptr(&call->query);
	mem_free_ptr(&call);
}

static void tell_later(struct mysqlpool_call *call, const struct mysqlvalue *value, const struct err *err)
{
	struct mysqlpool *p = call->pool;

	if (value)
		call->value = *value;
	else
		err_keep(&call->err, err);
	call->server = NULL;
	call->conn = NULL;
	DL_APPEND(p->told, call);
	loop_task_queue(p->loop, &p->tell);
}

static void leave_queue(struct mysqlpool_call *call)
{
	DL_DELETE(call->server->queue, call);
	call->server->waiting--;
}

static void pool_really_free(struct mysqlpool *p);

static void on_tell(void *arg)
{
	struct mysqlpool *p = arg;

	p->depth++;
	while (p->told && !p->freed) {
		struct mysqlpool_call *call = p->told;

		DL_DELETE(p->told, call);
		call->fn(call->arg, call->err ? NULL : &call->value, call->err);
		call_free(call);
	}
	if (--p->depth == 0 && p->freed)
		pool_really_free(p);
}

/* --- connections --------------------------------------------------------------------------------------------------------------- */

static void enter(struct conn *c, enum state state)
{
	c->state = state;
	c->since_ms = now_ms(c->server);
}

/* Whatever is under way; who waited for it is the caller's affair. */
static void conn_close(struct conn *c)
{
	dial_cancel(c->dial);
	c->dial = NULL;
	if (c->io)
		mysqlio_break(c->io);
	mysqlsession_close(&c->session);
	mysqlio_free(c->io);
	c->io = NULL;
	mem_free_ptr(&c->query);
	c->served = false;
	enter(c, CLOSED);
}

static void named(const struct server *s, struct err *out, const struct err *why)
{
	err_set(out, why->kind, "mysql at %s: %s", s->endpoint->base.name, why->msg);
}

/* No connection before the back-off is over. */
static void wait_before_next(struct server *s, const struct err *why)
{
	named(s, &s->last_err, why);
	s->retry_ms = now_ms(s) + loop_backoff_ms(s->failures++, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS);
}

/* Those who waited are told why; those who come now wait. */
static void back_off(struct server *s, const struct err *why)
{
	struct mysqlpool_call *call, *next;

	wait_before_next(s, why);
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (s->conns[i].state == OPEN || s->conns[i].state == ASKING)
			return; /* it serves them */
	DL_FOREACH_SAFE(s->queue, call, next) {
		leave_queue(call);
		tell_later(call, NULL, &s->last_err);
	}
}

static void fail_opening(struct conn *c, const struct err *why)
{
	struct err err = *why;

	conn_close(c);
	back_off(c->server, &err);
}

static void on_lost(void *arg)
{
	struct conn *c = arg;

	/* Nobody waited: an idle connection that the server ended is no failure. */
	conn_close(c);
	dispatch(c->server);
}

static void rest(struct conn *c)
{
	enter(c, OPEN);
	c->server->used_ms = now_ms(c->server);
	mysqlio_watch(c->io, on_lost, c);
}

static void operation_open(void *arg)
{
	struct conn *c = arg;

	c->failed = mysqlsession_open(&c->session, c->limit_ms, &c->err);
}

static void on_opened(void *arg)
{
	struct conn *c = arg;

	if (c->failed)
		fail_opening(c, &c->err);
	else
		rest(c);
	dispatch(c->server);
}

static void on_dialed(void *arg, int fd, const struct err *dial_err)
{
	struct conn *c = arg;
	struct err err;

	c->dial = NULL;
	if (fd < 0) {
		err_set(&err, dial_err->kind, "connecting: %s", dial_err->msg);
		fail_opening(c, &err);
		dispatch(c->server);
		return;
	}
	c->io = mysqlio_new(c->server->pool->loop);
	mysqlio_set_socket(c->io, fd);
	c->session = (struct mysqlsession){ .endpoint = c->server->endpoint, .io = c->io };
	enter(c, LOGGING_IN);
	mysqlio_run(c->io, MYSQLSESSION_ANSWER_MAX, operation_open, on_opened, c);
}

static void conn_open(struct conn *c, int64_t limit_ms)
{
	const struct mysqlendpoint *e = c->server->endpoint;

	enter(c, DIALING);
	c->limit_ms = limit_ms;
	c->deadline_ms = c->since_ms + CONNECT_MS;
	c->dial = dial_start(c->server->pool->loop, e->host, e->port, CONNECT_MS, on_dialed, c);
}

static void operation_ask(void *arg)
{
	struct conn *c = arg;

	c->failed = mysqlsession_ask(&c->session, c->query, &c->value, &c->usable, &c->err);
}

static void on_asked(void *arg)
{
	struct conn *c = arg;
	struct server *s = c->server;
	struct mysqlpool_call *call = c->call;
	struct err err;

	c->call = NULL;
	if (call && c->failed) {
		named(s, &err, &c->err);
		tell_later(call, NULL, &err);
	} else if (call) {
		tell_later(call, &c->value, NULL);
	}
	if (!c->failed || c->usable) {
		c->served = true;
		s->failures = 0;
	} else if (!c->served) { /* lets us in and answers nothing: not dialled for each query that waits */
		wait_before_next(s, &c->err);
	}
	if (c->usable)
		rest(c);
	else
		conn_close(c);
	dispatch(s);
}

static void conn_ask(struct conn *c, struct mysqlpool_call *call)
{
	leave_queue(call);
	call->conn = c;
	c->call = call;
	c->deadline_ms = call->deadline_ms;
	mem_free_ptr(&c->query);
	c->query = mem_dup(call->query);
	enter(c, ASKING);
	mysqlio_run(c->io, MYSQLSESSION_ANSWER_MAX, operation_ask, on_asked, c);
}

/* --- deadlines --------------------------------------------------------------------------------------------------------------------- */

static void expire_conn(struct conn *c)
{
	struct server *s = c->server;
	struct mysqlpool_call *call = c->call;
	bool asking = c->state == ASKING;
	struct err err, full;

	err_set(&err, ERR_TEMPORARY, "%s", asking ? "no answer in time" : c->state == DIALING ? "connecting: timed out" : "logging in: timed out (is it a MySQL or MariaDB server?)");
	c->call = NULL;
	if (!asking) {
		fail_opening(c, &err);
		return;
	}
	conn_close(c);
	if (call) {
		named(s, &full, &err);
		tell_later(call, NULL, &full);
	}
}

/* What a call that is still in the queue has waited for. */
static const char *waited_for(const struct server *s)
{
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (s->conns[i].state == ASKING)
			return "no answer in time: other queries take too long";
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (s->conns[i].state == LOGGING_IN)
			return "logging in: timed out";
	return "connecting: timed out";
}

static bool all_closed(const struct server *s)
{
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (s->conns[i].state != CLOSED)
			return false;
	return true;
}

static void expire_queue(struct server *s, int64_t now)
{
	bool rests = all_closed(s) && s->failures > 0;
	struct mysqlpool_call *call, *next;
	struct err err, full;

	DL_FOREACH_SAFE(s->queue, call, next) {
		if (call->deadline_ms > now)
			continue;
		err_set(&err, ERR_TEMPORARY, "%s", waited_for(s));
		named(s, &full, &err);
		leave_queue(call);
		tell_later(call, NULL, rests ? &s->last_err : &full);
	}
}

static bool has_deadline(const struct conn *c)
{
	return c->state == DIALING || c->state == LOGGING_IN || c->state == ASKING;
}

static void sooner(int64_t *due_ms, int64_t candidate_ms)
{
	if (candidate_ms < *due_ms)
		*due_ms = candidate_ms;
}

/* The next moment at which something is to be looked at. */
static void set_timer(struct server *s)
{
	int64_t due_ms = s->used_ms + IDLE_MS;
	const struct mysqlpool_call *call;

	if (due_ms <= now_ms(s)) /* somebody is still at work */
		due_ms = now_ms(s) + IDLE_MS;

	for (size_t i = 0; i < CONNECTIONS; i++) {
		const struct conn *c = &s->conns[i];

		if (has_deadline(c))
			sooner(&due_ms, c->deadline_ms);
		if (s->queue && c->state == ASKING && now_ms(s) < c->since_ms + SECOND_AFTER_MS)
			sooner(&due_ms, c->since_ms + SECOND_AFTER_MS);
	}
	DL_FOREACH(s->queue, call)
		sooner(&due_ms, call->deadline_ms);
	if (s->queue && now_ms(s) < s->retry_ms)
		sooner(&due_ms, s->retry_ms);
	loop_timer_set(&s->timer, due_ms > now_ms(s) ? due_ms - now_ms(s) : 0);
}

static void server_free(struct server *s);

/* Idle ones are closed; a server of which nothing is left is forgotten. True when it is. */
static bool close_idle(struct server *s)
{
	bool idle = !s->queue && now_ms(s) - s->used_ms >= IDLE_MS;

	for (size_t i = 0; idle && i < CONNECTIONS; i++)
		if (s->conns[i].state == OPEN)
			conn_close(&s->conns[i]);
	if (!idle || !all_closed(s))
		return false;
	server_free(s);
	return true;
}

static void on_timer(void *arg)
{
	struct server *s = arg;
	int64_t now = now_ms(s);

	for (size_t i = 0; i < CONNECTIONS; i++)
		if (has_deadline(&s->conns[i]) && s->conns[i].deadline_ms <= now)
			expire_conn(&s->conns[i]);
	expire_queue(s, now);
	if (!close_idle(s))
		dispatch(s);
}

/* --- who asks next ---------------------------------------------------------------------------------------------------------------- */

/* A connection to be opened for the queue; NULL: none, or not yet. */
static struct conn *may_open(struct server *s)
{
	struct conn *closed = NULL;

	for (size_t i = 0; i < CONNECTIONS; i++) {
		struct conn *c = &s->conns[i];

		if (c->state == DIALING || c->state == LOGGING_IN)
			return NULL;
		if (c->state == ASKING && now_ms(s) < c->since_ms + SECOND_AFTER_MS)
			return NULL;
		if (c->state == CLOSED && !closed)
			closed = c;
	}
	return now_ms(s) >= s->retry_ms ? closed : NULL;
}

/* Gives the queue to whoever is free. */
static void dispatch(struct server *s)
{
	struct conn *c;

	for (size_t i = 0; i < CONNECTIONS && s->queue; i++)
		if (s->conns[i].state == OPEN)
			conn_ask(&s->conns[i], s->queue);
	if (s->queue && (c = may_open(s)) != NULL)
		conn_open(c, s->queue->limit_ms);
	set_timer(s);
}

/* --- for everybody ----------------------------------------------------------------------------------------------------------------- */

static struct server *server_new(struct mysqlpool *p, struct mysqlendpoint *e)
{
	struct server *s = mem_zalloc(sizeof(*s));

	s->pool = p;
	s->endpoint = mysqlendpoint_ref(e);
	s->used_ms = loop_now_ms(p->loop);
	for (size_t i = 0; i < CONNECTIONS; i++)
		s->conns[i].server = s;
	loop_timer_init(&s->timer, p->loop, on_timer, s);
	HASH_ADD_KEYPTR(hh, p->servers, s->endpoint->base.key, strlen(s->endpoint->base.key), s);
	return s;
}

static void server_free(struct server *s)
{
	struct mysqlpool_call *call, *next;

	for (size_t i = 0; i < CONNECTIONS; i++) {
		conn_close(&s->conns[i]);
		if (s->conns[i].call)
			call_free(s->conns[i].call);
	}
	DL_FOREACH_SAFE(s->queue, call, next)
		call_free(call);
	loop_timer_done(&s->timer);
	HASH_DEL(s->pool->servers, s);
	mysqlendpoint_unref(s->endpoint);
	mem_free_ptr(&s);
}

struct mysqlpool *mysqlpool_new(struct loop *loop)
{
	struct mysqlpool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	loop_task_init(&p->tell, on_tell, p);
	return p;
}

static void pool_really_free(struct mysqlpool *p)
{
	struct server *s, *next;
	struct mysqlpool_call *call, *after;

	HASH_ITER(hh, p->servers, s, next)
		server_free(s);
	DL_FOREACH_SAFE(p->told, call, after)
		call_free(call);
	loop_task_cancel(p->loop, &p->tell);
	mem_free_ptr(&p);
}

void mysqlpool_free(struct mysqlpool *p)
{
	if (!p)
		return;
	p->freed = true;
	if (p->depth == 0)
		pool_really_free(p);
}

size_t mysqlpool_connections(const struct mysqlpool *p)
{
	size_t count = 0;

	for (const struct server *s = p->servers; s; s = s->hh.next)
		for (size_t i = 0; i < CONNECTIONS; i++)
			count += s->conns[i].state != CLOSED;
	return count;
}

/* Whether the call may join the queue; 0 or -1 with the reason. */
static int admit(const struct server *s, const struct mysqlpool_call *call, struct err *err)
{
	const char *address = s->endpoint->base.name;

	if (s->waiting >= WAITING_MAX)
		return err_set(err, ERR_TEMPORARY, "mysql at %s: too many queries wait (%zu)", address, s->waiting);
	if (strlen(call->query) > MYSQLSESSION_QUERY_MAX)
		return err_set(err, ERR_INVALID, "mysql at %s: the query has more than %zu bytes", address, MYSQLSESSION_QUERY_MAX);
	return 0;
}

struct mysqlpool_call *mysqlpool_ask(struct mysqlpool *p, struct mysqlendpoint *e, const char *query, int64_t deadline_ms, mysqlpool_fn fn, void *arg)
{
	struct mysqlpool_call *call = mem_zalloc(sizeof(*call));
	int64_t left_ms = deadline_ms - loop_now_ms(p->loop);
	struct server *s;
	struct err err;

	call->pool = p;
	call->fn = fn;
	call->arg = arg;
	call->query = mem_dup(query);
	call->deadline_ms = deadline_ms;
	call->limit_ms = left_ms * 9 / 10 > LIMIT_LEAST_MS ? left_ms * 9 / 10 : LIMIT_LEAST_MS; /* the server's own word comes before we cut the line */
	HASH_FIND_STR(p->servers, e->base.key, s);
	if (!s)
		s = server_new(p, e);
	s->used_ms = loop_now_ms(p->loop);
	if (admit(s, call, &err)) {
		tell_later(call, NULL, &err);
		set_timer(s);
		return call;
	}
	call->server = s;
	DL_APPEND(s->queue, call);
	s->waiting++;
	dispatch(s);
	return call;
}

void mysqlpool_cancel(struct mysqlpool_call *call)
{
	if (!call)
		return;
	if (call->conn)
		call->conn->call = NULL; /* its answer is read, and dropped */
	else if (call->server)
		leave_queue(call);
	else
		DL_DELETE(call->pool->told, call);
	call_free(call);
}
