/* SPDX-License-Identifier: Apache-2.0 */
#include "net/amqp/amqp.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/amqp/amqplink.h"
#include "net/dial.h"

#define IDLE_MS     60000
#define WAITING_MAX 20000
#define WINDOW_MAX  32 /* questions under way on one channel */

/*
 * A question: in the queue until a channel has room for it, then on that channel until it is
 * answered, then in the pool's list of those to be told.
 */
struct amqp_call {
	struct amqp_pool *pool;
	struct amqp_conn *conn;       /* NULL once it is to be told */
	struct amqp_channel *channel; /* NULL while it waits */
	struct amqp_call *prev, *next;
	char *queue;
	int64_t deadline_ms;
	amqp_fn fn; /* NULL: cancelled or told, only its place on the channel is left */
	void *arg;
	uint32_t messages;
	struct err *err; /* NULL: messages are the answer */
};

struct amqp_channel {
	bool ready;
	struct amqp_call *sent; /* oldest first */
	unsigned under_way;
	unsigned window; /* how many may be */
};

struct amqp_conn {
	struct amqp_pool *pool;
	struct amqpendpoint *endpoint; /* one count */
	UT_hash_handle hh;             /* by the endpoint's key */
	struct amqplink link;
	struct amqp_channel channels[AMQPLINK_CHANNELS];
	struct amqp_call *queue;  /* oldest first */
	size_t waiting;           /* in the queue and on the channels */
	int64_t next_deadline_ms; /* at or before the earliest deadline; 0 for none */
	int64_t used_ms;
	unsigned failures;
	int64_t retry_ms; /* no connection before; loop clock */
	struct err *last_err;
	struct loop_timer timer;   /* deadlines of questions, idle time */
	struct loop_timer backoff; /* pending: dials when it fires */
};

struct amqp_pool {
	struct loop *loop;
	struct amqp_conn *conns; /* hash */
	struct amqp_call *told;  /* at the end of this turn */
	struct loop_task tell;
	bool telling; /* callbacks are on the stack */
	bool freed;   /* as soon as they are not */
};

static void dispatch(struct amqp_conn *c);

/* ---- Calls ---- */

static void call_free(struct amqp_call *call)
{
	free(call->queue);
	err_keep(&call->err, NULL);
	free(call);
}

static void calls_free(struct amqp_call **list)
{
	struct amqp_call *call, *next;

	DL_FOREACH_SAFE (*list, call, next) {
		DL_DELETE(*list, call);
		call_free(call);
	}
}

static void leave_place(struct amqp_call *call)
{
	if (call->channel) {
		DL_DELETE(call->channel->sent, call);
		call->channel->under_way--;
	} else {
		DL_DELETE(call->conn->queue, call);
	}
	call->channel = NULL;
}

static void leave_conn(struct amqp_call *call)
{
	leave_place(call);
	call->conn->waiting--;
	call->conn = NULL;
}

/* why: NULL for an answer. The call is in no list any more. */
static void tell_later(struct amqp_call *call, const struct err *why)
{
	struct amqp_pool *p = call->pool;

	if (!call->fn) {
		call_free(call);
		return;
	}
	err_keep(&call->err, why);
	DL_APPEND(p->told, call);
	loop_task_queue(p->loop, &p->tell);
}

static void on_tell(void *arg)
{
	struct amqp_pool *p = arg;

	p->telling = true;
	while (p->told && !p->freed) {
		struct amqp_call *call = p->told;

		DL_DELETE(p->told, call);
		call->fn(call->arg, call->messages, call->err);
		call_free(call);
	}
	p->telling = false;
	if (p->freed)
		amqp_pool_free(p);
}

/* ---- Losing ---- */

static int64_t now_of(const struct amqp_conn *c)
{
	return loop_now_ms(c->pool->loop);
}

static void set_error(const struct amqp_conn *c, struct err *err, enum err_kind kind, const char *words)
{
	err_set(err, kind, "rabbitmq at %s: %s", c->endpoint->base.name, words);
}

static void fail_all(struct amqp_conn *c, struct amqp_call **list)
{
	struct amqp_call *call, *next;

	DL_FOREACH_SAFE (*list, call, next) {
		leave_conn(call);
		tell_later(call, c->last_err);
	}
}

static void forget_channels(struct amqp_conn *c)
{
	amqplink_close(&c->link);
	for (size_t i = 0; i < AMQPLINK_CHANNELS; i++)
		c->channels[i].ready = false;
}

/*
 * Closes the connection and fails its questions; the next one is opened for a question, not before
 * the back-off is over.
 */
static void conn_fail(struct amqp_conn *c, const struct err *why)
{
	struct err err;

	set_error(c, &err, why->kind, why->msg);
	err_keep(&c->last_err, &err);
	forget_channels(c);
	c->used_ms = now_of(c);
	c->retry_ms = c->used_ms + loop_backoff_ms(c->failures++, DIAL_AGAIN_FIRST_MS, DIAL_AGAIN_MAX_MS);
	for (size_t i = 0; i < AMQPLINK_CHANNELS; i++)
		fail_all(c, &c->channels[i].sent);
	fail_all(c, &c->queue);
	c->next_deadline_ms = 0;
	loop_timer_set(&c->timer, IDLE_MS);
}

/* ---- Deadlines ---- */

static void watch_deadline(struct amqp_conn *c, int64_t deadline_ms)
{
	if (c->next_deadline_ms && c->next_deadline_ms <= deadline_ms)
		return;
	c->next_deadline_ms = deadline_ms;
	loop_timer_set(&c->timer, deadline_ms - now_of(c));
}

/* One that is on a channel leaves an empty place there, which keeps the order of the answers. */
static void expire(struct amqp_call *call)
{
	struct amqp_conn *c = call->conn;
	const char *step = amqplink_step(&c->link);
	struct amqp_call *place;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "rabbitmq at %s: %s%s", c->endpoint->base.name, step ? step : "no answer in time",
		step ? ": timed out" : "");
	if (loop_timer_pending(&c->backoff) && c->last_err)
		err = *c->last_err;
	if (call->channel) {
		place = mem_zalloc(sizeof(*place));
		*place = (struct amqp_call){ .pool = call->pool,
			.conn = c,
			.channel = call->channel,
			.queue = mem_dup(call->queue),
			.deadline_ms = call->deadline_ms };
		DL_REPLACE_ELEM(call->channel->sent, call, place);
		call->conn = NULL;
		call->channel = NULL;
	} else {
		leave_conn(call);
	}
	tell_later(call, &err);
}

/* The oldest question of a channel is overdue, or that of the queue while no channel opens. */
static bool hangs(const struct amqp_conn *c, int64_t now_ms)
{
	bool opens = c->link.state != AMQPLINK_OPEN;

	for (size_t i = 0; i < AMQPLINK_CHANNELS; i++) {
		if (c->channels[i].sent && c->channels[i].sent->deadline_ms <= now_ms)
			return true;
		opens = opens || c->channels[i].ready;
	}
	return !opens && c->queue && c->queue->deadline_ms <= now_ms;
}

static void expire_overdue(struct amqp_conn *c, struct amqp_call *list, int64_t now_ms)
{
	struct amqp_call *call, *next;

	DL_FOREACH_SAFE (list, call, next) {
		if (call->deadline_ms > now_ms)
			watch_deadline(c, call->deadline_ms);
		else if (call->fn)
			expire(call);
	}
}

static void conn_free(struct amqp_conn *c);

/* Expires questions; the next check is at the earliest deadline that is left. */
static void on_timer(void *arg)
{
	struct amqp_conn *c = arg;
	int64_t now_ms = now_of(c);
	struct err err;

	c->next_deadline_ms = 0;
	if (c->waiting == 0) {
		if (now_ms - c->used_ms >= IDLE_MS)
			conn_free(c);
		else
			loop_timer_set(&c->timer, c->used_ms + IDLE_MS - now_ms);
		return;
	}
	if (hangs(c, now_ms)) {
		err_set(&err, ERR_TEMPORARY, "the server did not answer in time");
		conn_fail(c, &err);
		return;
	}
	expire_overdue(c, c->queue, now_ms);
	for (size_t i = 0; i < AMQPLINK_CHANNELS; i++)
		expire_overdue(c, c->channels[i].sent, now_ms);
	if (c->waiting == 0)
		loop_timer_set(&c->timer, IDLE_MS);
}

/* ---- Sending ---- */

/* The one with the most room; NULL: none has any. */
static struct amqp_channel *find_room(struct amqp_conn *c)
{
	struct amqp_channel *best = NULL;

	for (size_t i = 0; i < AMQPLINK_CHANNELS; i++) {
		struct amqp_channel *channel = &c->channels[i];

		if (channel->ready && channel->under_way < channel->window &&
			(!best || best->window - best->under_way < channel->window - channel->under_way))
			best = channel;
	}
	return best;
}

static void dispatch(struct amqp_conn *c)
{
	struct amqp_channel *channel;
	struct amqp_call *call;

	while ((call = c->queue) != NULL && (channel = find_room(c)) != NULL) {
		DL_DELETE(c->queue, call);
		DL_APPEND(channel->sent, call);
		channel->under_way++;
		call->channel = channel;
		amqplink_declare(&c->link, (size_t)(channel - c->channels), call->queue);
	}
}

/* ---- What the link says ---- */

static void on_ready(void *arg, size_t channel)
{
	struct amqp_conn *c = arg;

	c->channels[channel].ready = true;
	if (c->channels[channel].window == 0)
		c->channels[channel].window = WINDOW_MAX;
	dispatch(c);
}

/* The oldest question of the channel is over. */
static void finish(struct amqp_conn *c, struct amqp_call *call, const struct err *why)
{
	leave_conn(call);
	c->failures = 0;
	c->used_ms = now_of(c);
	tell_later(call, why);
}

static void on_declared(void *arg, size_t number, const char *queue, uint32_t messages)
{
	struct amqp_conn *c = arg;
	struct amqp_channel *channel = &c->channels[number];
	struct amqp_call *call = channel->sent;
	struct err err;

	if (!call || strcmp(call->queue, queue) != 0) {
		err_set(&err, ERR_TEMPORARY, "the server answered what nobody asked");
		conn_fail(c, &err);
		return;
	}
	call->messages = messages;
	if (channel->window < WINDOW_MAX)
		channel->window *= 2;
	finish(c, call, NULL);
	dispatch(c);
}

/* RabbitMQ calls a queue not found also when its node is down, or the queue stopped. */
static bool is_not_there(const struct err *why)
{
	return why->kind == ERR_MISSING && (!strstr(why->msg, " - ") || strstr(why->msg, " - no queue "));
}

static void explain_refusal(const struct amqp_conn *c, const struct amqp_call *call, const struct err *why,
	struct err *err)
{
	const char *vhost = c->endpoint->vhost;

	if (is_not_there(why))
		err_set(err, ERR_MISSING, "rabbitmq at %s: there is no queue \"%s\" in vhost \"%s\"",
			c->endpoint->base.name, call->queue, vhost);
	else
		err_set(err, why->kind == ERR_MISSING ? ERR_TEMPORARY : why->kind,
			"rabbitmq at %s: queue \"%s\" in vhost \"%s\": %s", c->endpoint->base.name, call->queue, vhost,
			why->msg);
}

/* Before all that was asked later. One that was cancelled meanwhile has no place to keep. */
static void ask_again(struct amqp_call *call)
{
	struct amqp_conn *c = call->conn;

	leave_place(call);
	if (call->fn) {
		DL_PREPEND(c->queue, call);
		return;
	}
	c->waiting--;
	call_free(call);
}

/* What was asked behind the refused one was dropped, and is asked again. */
static void on_refused(void *arg, size_t number, const struct err *why)
{
	struct amqp_conn *c = arg;
	struct amqp_channel *channel = &c->channels[number];
	struct amqp_call *call = channel->sent;
	struct err err;

	channel->ready = false;
	channel->window = 1;
	if (!call) {
		conn_fail(c, why);
		return;
	}
	explain_refusal(c, call, why, &err);
	finish(c, call, &err);
	while (channel->sent)
		ask_again(channel->sent->prev); /* the youngest first */
	dispatch(c);
}

static void on_failed(void *arg, const struct err *why, bool idle)
{
	struct amqp_conn *c = arg;

	if (idle && c->waiting == 0)
		forget_channels(c); /* an idle connection that the server closed is no failure */
	else
		conn_fail(c, why);
}

static void on_backoff_over(void *arg)
{
	struct amqp_conn *c = arg;

	if (c->queue)
		amqplink_open(&c->link);
}

/* ---- Connections ---- */

static struct amqp_conn *conn_new(struct amqp_pool *p, struct amqpendpoint *e)
{
	static const struct amqplink_handler handler = { on_ready, on_declared, on_refused, on_failed };
	struct amqp_conn *c = mem_zalloc(sizeof(*c));

	c->pool = p;
	c->endpoint = amqpendpoint_ref(e);
	loop_timer_init(&c->timer, p->loop, on_timer, c);
	loop_timer_init(&c->backoff, p->loop, on_backoff_over, c);
	amqplink_init(&c->link, p->loop, c->endpoint, &handler, c);
	HASH_ADD_KEYPTR(hh, p->conns, c->endpoint->base.key, strlen(c->endpoint->base.key), c);
	return c;
}

static void conn_free(struct amqp_conn *c)
{
	amqplink_done(&c->link);
	for (size_t i = 0; i < AMQPLINK_CHANNELS; i++)
		calls_free(&c->channels[i].sent);
	calls_free(&c->queue);
	loop_timer_done(&c->timer);
	loop_timer_done(&c->backoff);
	HASH_DEL(c->pool->conns, c);
	amqpendpoint_unref(c->endpoint);
	err_keep(&c->last_err, NULL);
	free(c);
}

/* ---- For everybody ---- */

struct amqp_pool *amqp_pool_new(struct loop *loop)
{
	struct amqp_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	loop_task_init(&p->tell, on_tell, p);
	return p;
}

void amqp_pool_free(struct amqp_pool *p)
{
	struct amqp_conn *c, *next;

	if (!p)
		return;
	p->freed = true;
	if (p->telling)
		return;
	HASH_ITER (hh, p->conns, c, next)
		conn_free(c);
	calls_free(&p->told);
	loop_task_cancel(p->loop, &p->tell);
	free(p);
}

size_t amqp_pool_connections(const struct amqp_pool *p)
{
	size_t count = 0;

	for (const struct amqp_conn *c = p->conns; c; c = c->hh.next)
		count += c->link.state != AMQPLINK_CLOSED;
	return count;
}

static void open_when_allowed(struct amqp_conn *c)
{
	if (c->link.state != AMQPLINK_CLOSED || loop_timer_pending(&c->backoff))
		return;
	if (c->retry_ms > c->used_ms)
		loop_timer_set(&c->backoff, c->retry_ms - c->used_ms);
	else
		amqplink_open(&c->link);
}

struct amqp_call *amqp_ask(struct amqp_pool *p, struct amqpendpoint *e, const char *queue, int64_t deadline_ms,
	amqp_fn fn, void *arg)
{
	struct amqp_call *call = mem_zalloc(sizeof(*call));
	struct amqp_conn *c;
	struct err err;

	HASH_FIND_STR(p->conns, e->base.key, c);
	if (!c)
		c = conn_new(p, e);
	endpoint_share(&c->endpoint->base, &e->base);
	*call = (struct amqp_call){ .pool = p,
		.queue = mem_dup(queue),
		.deadline_ms = deadline_ms,
		.fn = fn,
		.arg = arg };
	if (c->waiting >= WAITING_MAX) {
		set_error(c, &err, ERR_TEMPORARY, "too many questions wait");
		tell_later(call, &err);
		return call;
	}
	call->conn = c;
	c->waiting++;
	c->used_ms = now_of(c);
	DL_APPEND(c->queue, call);
	watch_deadline(c, deadline_ms);
	if (c->link.state == AMQPLINK_OPEN)
		dispatch(c);
	else
		open_when_allowed(c);
	return call;
}

void amqp_cancel(struct amqp_call *call)
{
	if (!call)
		return;
	if (call->channel) {
		call->fn = NULL; /* its place on the channel stays until the answer comes */
		return;
	}
	if (call->conn)
		leave_conn(call);
	else
		DL_DELETE(call->pool->told, call);
	call_free(call);
}
