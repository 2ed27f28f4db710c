/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redis.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_struct.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <hiredis/hiredis.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/dial.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redislink.h"
#include "net/redis/redisreply.h"

#define CONNECT_MS 5000 /* name, TCP, TLS */
#define IDLE_MS 60000
#define WAITING_MAX 20000
#define WAITING_BYTES_MAX ((size_t)16 << 20)
#define FEED_BYTES 16384

/* A command on its way: unsent (the connection is being made, or will be), then a slot in the pipeline until its reply has come. */
struct redis_call {
	struct conn *conn; /* NULL once it failed: then it hangs on the pool */
	struct redis_pool *pool;
	struct redis_call *prev, *next;
	redis_fn fn; /* NULL: cancelled or told, only its slot is left */
	void *arg;
	int64_t deadline_ms;
	char *wire; /* while unsent */
	size_t wire_len;
	struct err *err; /* once it failed */
};

enum state { CLOSED, RESTING, DIALING, SHAKING_HANDS, OPEN }; /* RESTING: dials when the back-off is over */

struct conn {
	struct redis_pool *pool;
	struct redis_endpoint *endpoint; /* one count */
	UT_hash_handle hh;               /* by the endpoint's key */
	enum state state;
	struct dial *dial;
	struct bufferevent *bev;
	SSL_CTX *tls;  /* made at the first connection */
	SSL *ssl;      /* owned by bev */
	struct redisreply *reader;
	const char *greetings[REDISLINK_GREETINGS_MAX]; /* answers to come */
	size_t greetings_left, greetings_count;
	bool heard; /* at least one reply on this connection */
	struct redis_call *unsent, *sent; /* oldest first */
	size_t waiting, waiting_bytes;
	int64_t next_deadline_ms; /* not later than the earliest of the calls; 0 for none */
	int64_t used_ms;
	unsigned failures;
	int64_t retry_ms; /* no earlier; loop clock */
	struct err last_err;
	struct loop_timer timer;         /* deadlines of commands, idleness */
	struct loop_timer connect_timer; /* the end of the rest; the handshake's deadline */
};

struct redis_pool {
	struct loop *loop;
	struct conn *conns;          /* hash */
	struct redis_call *failed;   /* to be told at the end of this turn */
	struct loop_task tell_failed;
	unsigned depth; /* callbacks on the stack */
	bool freed;     /* as soon as depth is 0 */
};

static void conn_fail(struct conn *c, const struct err *why);
static void conn_free(struct conn *c);

/* --- calls ------------------------------------------------------------------------------------------------------------- */

static void call_free(struct redis_call *call)
{
	mem_free_ptr(&call->wire);
	mem_free_ptr(&call->err);
	mem_free_ptr(&call);
}

static void leave_conn(struct redis_call *call)
{
	struct conn *c = call->conn;

	if (call->wire)
		DL_DELETE(c->unsent, call);
	else
		DL_DELETE(c->sent, call);
	c->waiting--;
	c->waiting_bytes -= call->wire_len;
	call->conn = NULL;
}

static void fail_later(struct redis_call *call, const struct err *why)
{
	call->err = mem_alloc(sizeof(*call->err));
	*call->err = *why;
	DL_APPEND(call->pool->failed, call);
	loop_task_queue(call->pool->loop, &call->pool->tell_failed);
}

/* A slot that nobody waits for keeps the pipeline's order. */
static void leave_empty_slot(struct redis_call *call)
{
	struct conn *c = call->conn;
	struct redis_call *slot = mem_zalloc(sizeof(*slot));

	slot->conn = c;
	slot->pool = call->pool;
	slot->deadline_ms = call->deadline_ms;
	slot->wire_len = call->wire_len;
	DL_REPLACE_ELEM(c->sent, call, slot);
	call->conn = NULL;
}

static void pool_really_free(struct redis_pool *p);

static void enter_callbacks(struct redis_pool *p)
{
	p->depth++;
}

/* May free p. */
static void leave_callbacks(struct redis_pool *p)
{
	if (--p->depth == 0 && p->freed)
		pool_really_free(p);
}

static void on_tell_failed(void *arg)
{
	struct redis_pool *p = arg;

	enter_callbacks(p);
	while (p->failed && !p->freed) {
		struct redis_call *call = p->failed;

		DL_DELETE(p->failed, call);
		call->fn(call->arg, NULL, call->err);
		call_free(call);
	}
	leave_callbacks(p);
}

/* --- deadlines --------------------------------------------------------------------------------------------------------- */

static void watch_deadline(struct conn *c, int64_t deadline_ms)
{
	if (c->next_deadline_ms && c->next_deadline_ms <= deadline_ms)
		return;
	c->next_deadline_ms = deadline_ms;
	loop_timer_set(&c->timer, deadline_ms - loop_now_ms(c->pool->loop));
}

static void expire(struct redis_call *call)
{
	const struct conn *c = call->conn;
	const char *what = !call->wire ? "no answer in time" : c->state == SHAKING_HANDS ? REDISLINK_SHAKING_TIMED_OUT : "connecting: timed out";
	struct err err;

	err_set(&err, ERR_TEMPORARY, "redis at %s: %s", c->endpoint->base.name, what);
	if (c->state == RESTING)
		err = c->last_err;
	if (call->wire)
		leave_conn(call);
	else
		leave_empty_slot(call);
	fail_later(call, &err);
}

/* Looks at all commands; the next look is due when the earliest that is left ends. */
static void on_deadline(void *arg)
{
	struct conn *c = arg;
	int64_t now_ms = loop_now_ms(c->pool->loop);
	struct redis_call *call, *next;
	struct err err;

	c->next_deadline_ms = 0;
	if (c->waiting == 0) {
		if (now_ms - c->used_ms >= IDLE_MS)
			conn_free(c);
		else
			loop_timer_set(&c->timer, c->used_ms + IDLE_MS - now_ms);
		return;
	}
	if (c->sent && c->sent->deadline_ms <= now_ms) {
		err_set(&err, ERR_TEMPORARY, "the server did not answer in time");
		conn_fail(c, &err);
		return;
	}
	DL_FOREACH_SAFE(c->unsent, call, next) {
		if (call->deadline_ms <= now_ms)
			expire(call);
		else
			watch_deadline(c, call->deadline_ms);
	}
	DL_FOREACH_SAFE(c->sent, call, next) {
		if (call->deadline_ms > now_ms)
			watch_deadline(c, call->deadline_ms);
		else if (call->fn)
			expire(call);
	}
	if (c->waiting == 0)
		loop_timer_set(&c->timer, IDLE_MS);
}

/* --- sending ----------------------------------------------------------------------------------------------------------- */

static void send_call(struct redis_call *call)
{
	struct conn *c = call->conn;

	evbuffer_add(bufferevent_get_output(c->bev), call->wire, call->wire_len);
	redisFreeCommand(call->wire);
	call->wire = NULL;
	DL_APPEND(c->sent, call);
	/* Written at the end of this round of callbacks, with what others add until then, instead of asking epoll first: that saves a wait and two system calls. */
	if (!c->ssl)
		event_active(&c->bev->ev_write, EV_WRITE, 1);
}

/* --- receiving --------------------------------------------------------------------------------------------------------- */

static void take_greeting(struct conn *c, const struct redis_reply *reply)
{
	const char *name = c->greetings[c->greetings_count - c->greetings_left--];
	struct err err;

	if (redislink_useless(c->endpoint, name, reply, &err))
		conn_fail(c, &err);
}

static void take_reply(struct conn *c, const struct redis_reply *reply)
{
	struct redis_call *call = c->sent;
	struct err err;

	c->heard = true;
	if (c->greetings_left) {
		take_greeting(c, reply);
		return;
	}
	if (!call) {
		err_set(&err, ERR_TEMPORARY, "the server sent a reply that nobody asked for");
		if (reply->type == REDIS_ERROR) /* turned away: "ERR max number of clients reached" */
			err_set(&err, ERR_TEMPORARY, "%.200s", reply->text);
		conn_fail(c, &err);
		return;
	}
	c->failures = 0;
	leave_conn(call);
	c->used_ms = loop_now_ms(c->pool->loop);
	if (call->fn)
		call->fn(call->arg, reply, NULL);
	call_free(call);
}

/* Whoever never got a reply on a plain connection, but garbage or the end, may be talking to a TLS port; in TLS, to a server that wants to know its clients. */
static void conn_fail_on_wire(struct conn *c, const struct err *why)
{
	bool suspicious = c->state == OPEN && !c->heard;
	const char *hint = "";
	struct err err;

	if (suspicious && !c->endpoint->tls)
		hint = " (is TLS needed? set enableTLS)";
	else if (suspicious && !c->endpoint->base.tls.cert_pem) /* in TLS 1.3 the server's word may be lost with the connection */
		hint = " (does it ask for a client certificate? give cert and key)";
	err_set(&err, why->kind, "%s%s", why->msg, hint);
	conn_fail(c, &err);
}

/* False when the connection, or the pool, is done for. */
static bool take_replies(struct conn *c)
{
	struct redis_pool *p = c->pool;
	struct redisreply *reader = c->reader;
	struct redis_reply *reply;
	struct err err;
	int state;

	while ((state = redisreply_next(reader, &reply, &err)) > 0) {
		take_reply(c, reply);
		redis_reply_free(reply);
		if (p->freed || c->reader != reader)
			return false;
	}
	if (state == 0)
		return true;
	conn_fail_on_wire(c, &err);
	return false;
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;
	struct redis_pool *p = c->pool;
	struct evbuffer *input = bufferevent_get_input(bev);
	struct evbuffer_iovec part;
	struct err err;

	loop_enter(p->loop);
	enter_callbacks(p);
	while (evbuffer_peek(input, -1, NULL, &part, 1) > 0 && part.iov_len > 0) {
		size_t len = part.iov_len < FEED_BYTES ? part.iov_len : FEED_BYTES;

		if (redisreply_feed(c->reader, part.iov_base, len, &err) < 0) {
			conn_fail(c, &err);
			break;
		}
		evbuffer_drain(input, len);
		if (!take_replies(c))
			break;
	}
	leave_callbacks(p);
}

/* --- connecting and losing ---------------------------------------------------------------------------------------------- */

static void conn_close(struct conn *c)
{
	dial_cancel(c->dial);
	c->dial = NULL;
	if (c->bev)
		bufferevent_free(c->bev);
	c->bev = NULL;
	c->ssl = NULL;
	redisreply_free(c->reader);
	c->reader = NULL;
	c->greetings_left = 0;
	loop_timer_cancel(&c->connect_timer);
	c->state = CLOSED;
}

static void fail_calls(struct conn *c, struct redis_call **list)
{
	struct redis_call *call, *next;

	DL_FOREACH_SAFE(*list, call, next) {
		leave_conn(call);
		if (call->fn)
			fail_later(call, &c->last_err);
		else
			call_free(call);
	}
}

/* Ends the connection and everything on it; the next one is made when somebody asks, not before the back-off is over. */
static void conn_fail(struct conn *c, const struct err *why)
{
	err_set(&c->last_err, why->kind, "redis at %s: %s", c->endpoint->base.name, why->msg);
	conn_close(c);
	c->retry_ms = loop_now_ms(c->pool->loop) + loop_backoff_ms(c->failures++, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS);
	c->used_ms = loop_now_ms(c->pool->loop);
	fail_calls(c, &c->sent);
	fail_calls(c, &c->unsent);
	c->next_deadline_ms = 0;
	loop_timer_set(&c->timer, IDLE_MS);
}

static void on_open(struct conn *c)
{
	struct redis_call *call, *next;

	loop_timer_cancel(&c->connect_timer);
	c->state = OPEN;
	c->heard = false;
	c->reader = redisreply_new();
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	c->greetings_left = c->greetings_count = redislink_greet(c->bev, c->endpoint, true, c->greetings);
	DL_FOREACH_SAFE(c->unsent, call, next) {
		DL_DELETE(c->unsent, call);
		send_call(call);
	}
}

static void on_lost(struct conn *c, short what, int error)
{
	struct err err;

	redislink_ended(c->bev, c->ssl, c->state == SHAKING_HANDS, what, error, &err);
	if (c->state == OPEN && c->heard && !c->sent)
		conn_close(c); /* nobody waited: an idle connection that the server ended is no failure */
	else
		conn_fail_on_wire(c, &err);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct conn *c = arg;
	int error = EVUTIL_SOCKET_ERROR();

	(void)bev;
	loop_enter(c->pool->loop);
	if (what & BEV_EVENT_CONNECTED)
		on_open(c);
	else
		on_lost(c, what, error);
}

static void conn_dial(struct conn *c);

static void on_connect_timer(void *arg)
{
	struct conn *c = arg;
	struct err err;

	if (c->state == RESTING) {
		c->state = CLOSED;
		if (c->unsent)
			conn_dial(c);
		return;
	}
	err_set(&err, ERR_TEMPORARY, REDISLINK_SHAKING_TIMED_OUT);
	conn_fail(c, &err);
}

static void on_dialed(void *arg, int fd, const struct err *dial_err)
{
	struct conn *c = arg;
	struct err err;

	c->dial = NULL;
	if (fd < 0) {
		err_set(&err, dial_err->kind, "connecting: %s", dial_err->msg);
		conn_fail(c, &err);
		return;
	}
	c->bev = redislink_new(c->pool->loop, c->endpoint, fd, &c->tls, &c->ssl, &err);
	if (!c->bev) {
		conn_fail(c, &err);
		return;
	}
	bufferevent_setcb(c->bev, on_read, NULL, on_event, c);
	if (!c->endpoint->tls) {
		on_open(c);
		return;
	}
	c->state = SHAKING_HANDS;
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	loop_timer_set(&c->connect_timer, CONNECT_MS);
}

static void conn_dial(struct conn *c)
{
	c->state = DIALING;
	c->dial = dial_start(c->pool->loop, c->endpoint->host, c->endpoint->port, CONNECT_MS, on_dialed, c);
}

static void conn_dial_when_allowed(struct conn *c)
{
	int64_t left_ms = c->retry_ms - loop_now_ms(c->pool->loop);

	if (left_ms <= 0) {
		conn_dial(c);
		return;
	}
	c->state = RESTING;
	loop_timer_set(&c->connect_timer, left_ms);
}

static struct conn *conn_new(struct redis_pool *p, struct redis_endpoint *e)
{
	struct conn *c = mem_zalloc(sizeof(*c));

	c->pool = p;
	c->endpoint = redis_endpoint_ref(e);
	loop_timer_init(&c->timer, p->loop, on_deadline, c);
	loop_timer_init(&c->connect_timer, p->loop, on_connect_timer, c);
	HASH_ADD_KEYPTR(hh, p->conns, c->endpoint->base.key, strlen(c->endpoint->base.key), c);
	return c;
}

static void free_calls(struct redis_call **list)
{
	struct redis_call *call, *next;

	DL_FOREACH_SAFE(*list, call, next) {
		DL_DELETE(*list, call);
		call_free(call);
	}
}

static void conn_free(struct conn *c)
{
	conn_close(c);
	free_calls(&c->unsent);
	free_calls(&c->sent);
	loop_timer_done(&c->timer);
	loop_timer_done(&c->connect_timer);
	HASH_DEL(c->pool->conns, c);
	SSL_CTX_free(c->tls);
	redis_endpoint_unref(c->endpoint);
	mem_free_ptr(&c);
}

/* --- for everybody ------------------------------------------------------------------------------------------------------- */

struct redis_pool *redis_pool_new(struct loop *loop)
{
	struct redis_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	loop_task_init(&p->tell_failed, on_tell_failed, p);
	return p;
}

static void pool_really_free(struct redis_pool *p)
{
	struct conn *c, *next;

	HASH_ITER(hh, p->conns, c, next)
		conn_free(c);
	free_calls(&p->failed);
	loop_task_cancel(p->loop, &p->tell_failed);
	mem_free_ptr(&p);
}

void redis_pool_free(struct redis_pool *p)
{
	if (!p)
		return;
	p->freed = true;
	if (p->depth == 0)
		pool_really_free(p);
}

size_t redis_pool_connections(const struct redis_pool *p)
{
	size_t count = 0;

	for (const struct conn *c = p->conns; c; c = c->hh.next)
		count += c->state != CLOSED && c->state != RESTING;
	return count;
}

/* Formats the command and decides whether it may go; 0 or -1 with the reason. */
static int admit(struct conn *c, struct redis_call *call, int argc, const char *const *argv, const size_t *argv_len, struct err *err)
{
	const char *address = c->endpoint->base.name;
	int len;

	if (c->waiting >= WAITING_MAX || c->waiting_bytes >= WAITING_BYTES_MAX)
		return err_set(err, ERR_TEMPORARY, "redis at %s: too many commands wait (%zu)", address, c->waiting);
	len = argc > 0 ? redisFormatCommandArgv(&call->wire, argc, (const char **)(uintptr_t)argv, argv_len) : -1;
	if (len < 0)
		return err_set(err, ERR_BUG, "redis at %s: an empty command", address);
	call->wire_len = (size_t)len;
	return 0;
}

static void enqueue(struct conn *c, struct redis_call *call)
{
	call->conn = c;
	c->waiting++;
	c->waiting_bytes += call->wire_len;
	c->used_ms = loop_now_ms(c->pool->loop);
	if (c->state == OPEN)
		send_call(call);
	else
		DL_APPEND(c->unsent, call);
	watch_deadline(c, call->deadline_ms);
	if (c->state == CLOSED)
		conn_dial_when_allowed(c);
}

struct redis_call *redis_command(struct redis_pool *p, struct redis_endpoint *e, int argc, const char *const *argv, const size_t *argv_len, int64_t deadline_ms, redis_fn fn, void *arg)
{
	struct redis_call *call = mem_zalloc(sizeof(*call));
	struct conn *c;
	struct err err;

	call->pool = p;
	call->fn = fn;
	call->arg = arg;
	call->deadline_ms = deadline_ms;
	HASH_FIND_STR(p->conns, e->base.key, c);
	if (!c)
		c = conn_new(p, e);
	if (admit(c, call, argc, argv, argv_len, &err) == 0)
		enqueue(c, call);
	else
		fail_later(call, &err);
	return call;
}

bool redis_rests(const struct redis_pool *p, const struct redis_endpoint *e)
{
	const struct conn *c;

	HASH_FIND_STR(p->conns, e->base.key, c);
	return c && (c->state == RESTING || (c->state == CLOSED && loop_now_ms(p->loop) < c->retry_ms));
}

void redis_cancel(struct redis_call *call)
{
	if (!call)
		return;
	if (call->conn && !call->wire) {
		call->fn = NULL; /* its slot in the pipeline stays until the reply has come */
		return;
	}
	if (call->conn)
		leave_conn(call);
	else
		DL_DELETE(call->pool->failed, call);
	call_free(call);
}
