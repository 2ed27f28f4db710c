/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redis.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/dial.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redislink.h"
#include "net/redis/redisreply.h"

#define IDLE_MS           60000
#define WAITING_MAX       20000
#define WAITING_BYTES_MAX ((size_t)16 << 20)

/*
 * A command: unsent while there is no connection, then a slot in the pipeline until its reply
 * comes.
 */
struct redis_call {
	struct redis_conn *conn; /* NULL once it has failed: then it is in the pool's list */
	struct redis_pool *pool;
	struct redis_call *prev, *next;
	redis_fn fn; /* NULL: cancelled or told, only its slot is left */
	void *arg;
	int64_t deadline_ms;
	char *wire; /* while unsent */
	size_t wire_len;
	struct err *err; /* set once it has failed */
};

struct redis_conn {
	struct redis_pool *pool;
	struct redisendpoint *endpoint; /* one count */
	UT_hash_handle hh;              /* by the endpoint's key */
	struct redislink link;
	struct redis_call *unsent, *sent; /* oldest first */
	size_t waiting, waiting_bytes;
	int64_t next_deadline_ms; /* at or before the earliest deadline; 0 for none */
	int64_t used_ms;
	unsigned failures;
	int64_t retry_ms; /* no connection before; loop clock */
	struct err last_err;
	struct loop_timer timer;   /* deadlines of commands, idle time */
	struct loop_timer backoff; /* pending: dials when it fires */
};

struct redis_pool {
	struct loop *loop;
	struct redis_conn *conns;  /* hash */
	struct redis_call *failed; /* to be told at the end of this turn */
	struct loop_task tell_failed;
	struct redislink_guard guard;
};

static void conn_fail(struct redis_conn *c, const struct err *why);
static void conn_free(struct redis_conn *c);

/* ---- Calls ---- */

static void call_free(struct redis_call *call)
{
	free(call->wire);
	free(call->err);
	free(call);
}

static void leave_conn(struct redis_call *call)
{
	struct redis_conn *c = call->conn;

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
	err_keep(&call->err, why);
	DL_APPEND(call->pool->failed, call);
	loop_task_queue(call->pool->loop, &call->pool->tell_failed);
}

static void on_tell_failed(void *arg)
{
	struct redis_pool *p = arg;

	redislink_enter(&p->guard);
	while (p->failed && !p->guard.freed) {
		struct redis_call *call = p->failed;

		DL_DELETE(p->failed, call);
		call->fn(call->arg, NULL, call->err);
		call_free(call);
	}
	redislink_leave(&p->guard);
}

/* ---- Deadlines ---- */

static void watch_deadline(struct redis_conn *c, int64_t deadline_ms)
{
	if (c->next_deadline_ms && c->next_deadline_ms <= deadline_ms)
		return;
	c->next_deadline_ms = deadline_ms;
	loop_timer_set(&c->timer, deadline_ms - loop_now_ms(c->pool->loop));
}

static void expire(struct redis_call *call)
{
	struct redis_conn *c = call->conn;
	struct redis_call *slot;
	struct err err;

	if (loop_timer_pending(&c->backoff)) {
		err = c->last_err;
	} else {
		stream_timed_out(&c->link.stream, &err);
		err_wrap(&err, "redis at %s", c->endpoint->base.name);
	}
	if (call->wire) {
		leave_conn(call);
	} else { /* an empty slot keeps the order of the pipeline */
		slot = mem_zalloc(sizeof(*slot));
		*slot = (struct redis_call){ .conn = c, .pool = call->pool, .deadline_ms = call->deadline_ms };
		slot->wire_len = call->wire_len;
		DL_REPLACE_ELEM(c->sent, call, slot);
		call->conn = NULL;
	}
	fail_later(call, &err);
}

/* Expires commands; the next check is at the earliest deadline that is left. */
static void on_deadline(void *arg)
{
	struct redis_conn *c = arg;
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
	DL_FOREACH_SAFE (c->unsent, call, next) {
		if (call->deadline_ms <= now_ms)
			expire(call);
		else
			watch_deadline(c, call->deadline_ms);
	}
	DL_FOREACH_SAFE (c->sent, call, next) {
		if (call->deadline_ms > now_ms)
			watch_deadline(c, call->deadline_ms);
		else if (call->fn)
			expire(call);
	}
	if (c->waiting == 0)
		loop_timer_set(&c->timer, IDLE_MS);
}

/* ---- Sending ---- */

static void send_call(struct redis_call *call)
{
	struct redis_conn *c = call->conn;

	redislink_send(&c->link, call->wire, call->wire_len);
	call->wire = NULL;
	DL_APPEND(c->sent, call);
}

/* ---- Receiving ---- */

static void on_reply(void *arg, const struct redis_reply *reply)
{
	struct redis_conn *c = arg;
	struct redis_call *call = c->sent;
	struct err err;

	if (!call) {
		redislink_unasked(reply, &err);
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

/* ---- Connecting and losing ---- */

static void fail_calls(struct redis_conn *c, struct redis_call **list)
{
	struct redis_call *call, *next;

	DL_FOREACH_SAFE (*list, call, next) {
		leave_conn(call);
		if (call->fn)
			fail_later(call, &c->last_err);
		else
			call_free(call);
	}
}

/*
 * Closes the connection and fails its commands; the next one is opened for a command, not before
 * the back-off is over.
 */
static void conn_fail(struct redis_conn *c, const struct err *why)
{
	err_set(&c->last_err, why->kind, "redis at %s: %s", c->endpoint->base.name, why->msg);
	redislink_close(&c->link);
	c->retry_ms = loop_now_ms(c->pool->loop) +
		loop_backoff_ms(c->failures++, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS);
	c->used_ms = loop_now_ms(c->pool->loop);
	fail_calls(c, &c->sent);
	fail_calls(c, &c->unsent);
	c->next_deadline_ms = 0;
	loop_timer_set(&c->timer, IDLE_MS);
}

static void on_opened(void *arg)
{
	struct redis_conn *c = arg;
	struct redis_call *call, *next;

	DL_FOREACH_SAFE (c->unsent, call, next) {
		DL_DELETE(c->unsent, call);
		send_call(call);
	}
}

static void on_failed(void *arg, const struct err *why, bool idle)
{
	struct redis_conn *c = arg;

	if (idle && !c->sent)
		redislink_close(&c->link); /* an idle connection that the server closed is no failure */
	else
		conn_fail(c, why);
}

static void on_backoff_over(void *arg)
{
	struct redis_conn *c = arg;

	if (c->unsent)
		redislink_open(&c->link);
}

static struct redis_conn *conn_new(struct redis_pool *p, struct redisendpoint *e)
{
	static const struct redislink_handler handler = { on_opened, on_reply, on_failed };
	struct redis_conn *c = mem_zalloc(sizeof(*c));

	c->pool = p;
	c->endpoint = redisendpoint_ref(e);
	loop_timer_init(&c->timer, p->loop, on_deadline, c);
	loop_timer_init(&c->backoff, p->loop, on_backoff_over, c);
	redislink_init(&c->link, p->loop, c->endpoint, true, &p->guard, &handler, c);
	HASH_ADD_KEYPTR(hh, p->conns, c->endpoint->base.key, strlen(c->endpoint->base.key), c);
	return c;
}

static void free_calls(struct redis_call **list)
{
	struct redis_call *call, *next;

	DL_FOREACH_SAFE (*list, call, next) {
		DL_DELETE(*list, call);
		call_free(call);
	}
}

static void conn_free(struct redis_conn *c)
{
	redislink_done(&c->link);
	free_calls(&c->unsent);
	free_calls(&c->sent);
	loop_timer_done(&c->timer);
	loop_timer_done(&c->backoff);
	HASH_DEL(c->pool->conns, c);
	redisendpoint_unref(c->endpoint);
	free(c);
}

/* ---- For everybody ---- */

static void on_left(void *arg)
{
	struct redis_pool *p = arg;
	struct redis_conn *c, *next;

	if (!p->guard.freed)
		return;
	HASH_ITER (hh, p->conns, c, next)
		conn_free(c);
	free_calls(&p->failed);
	loop_task_cancel(p->loop, &p->tell_failed);
	free(p);
}

struct redis_pool *redis_pool_new(struct loop *loop)
{
	struct redis_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	p->guard = (struct redislink_guard){ .left = on_left, .pool = p };
	loop_task_init(&p->tell_failed, on_tell_failed, p);
	return p;
}

void redis_pool_free(struct redis_pool *p)
{
	if (p)
		redislink_free_pool(&p->guard);
}

size_t redis_pool_connections(const struct redis_pool *p)
{
	size_t count = 0;

	for (const struct redis_conn *c = p->conns; c; c = c->hh.next)
		count += c->link.state != REDISLINK_CLOSED;
	return count;
}

/* Formats the command and checks the limits; 0 or -1 with err. */
static int admit(struct redis_conn *c, struct redis_call *call, int argc, const char *const *argv,
	const size_t *argv_len, struct err *err)
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

struct redis_call *redis_command(struct redis_pool *p, struct redisendpoint *e, int argc, const char *const *argv,
	const size_t *argv_len, int64_t deadline_ms, redis_fn fn, void *arg)
{
	struct redis_call *call = mem_zalloc(sizeof(*call));
	struct redis_conn *c;
	struct err err;

	call->pool = p;
	call->fn = fn;
	call->arg = arg;
	call->deadline_ms = deadline_ms;
	HASH_FIND_STR(p->conns, e->base.key, c);
	if (!c)
		c = conn_new(p, e);
	endpoint_share(&c->endpoint->base, &e->base);
	if (admit(c, call, argc, argv, argv_len, &err)) {
		fail_later(call, &err);
		return call;
	}
	call->conn = c;
	c->waiting++;
	c->waiting_bytes += call->wire_len;
	c->used_ms = loop_now_ms(p->loop);
	if (c->link.state == REDISLINK_OPEN)
		send_call(call);
	else
		DL_APPEND(c->unsent, call);
	watch_deadline(c, deadline_ms);
	if (c->link.state != REDISLINK_CLOSED || loop_timer_pending(&c->backoff))
		return call;
	if (c->retry_ms > c->used_ms)
		loop_timer_set(&c->backoff, c->retry_ms - c->used_ms);
	else
		redislink_open(&c->link);
	return call;
}

bool redis_rests(const struct redis_pool *p, const struct redisendpoint *e)
{
	const struct redis_conn *c;

	HASH_FIND_STR(p->conns, e->base.key, c);
	return c && c->link.state == REDISLINK_CLOSED &&
		(loop_timer_pending(&c->backoff) || loop_now_ms(p->loop) < c->retry_ms);
}

void redis_cancel(struct redis_call *call)
{
	if (!call)
		return;
	if (call->conn && !call->wire) {
		call->fn = NULL; /* its slot in the pipeline stays until the reply comes */
		return;
	}
	if (call->conn)
		leave_conn(call);
	else
		DL_DELETE(call->pool->failed, call);
	call_free(call);
}
