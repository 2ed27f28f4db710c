/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redissub.h"

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

#define TICK_MS    5000  /* between two checks of an open connection */
#define QUIET_MS   15000 /* a PING is sent after this silence */
#define ANSWER_MS  5000  /* a command must be answered within this time */
#define REFUSED_MS 60000 /* a refused channel is retried after this time */

/*
 * One channel of one connection. Freed when it has no listeners and no command about it is
 * unanswered.
 */
struct redis_channel {
	struct redissub_conn *conn;
	char *name;
	size_t len;
	struct redissub *listeners;
	size_t listening;    /* listeners that are not stopped */
	unsigned unanswered; /* commands about it without a reply */
	bool asked;          /* the last command was SUBSCRIBE */
	bool joined;         /* and it was confirmed */
	bool on;             /* was joined on this connection, perhaps muted since */
	char *refusal;       /* owned; the error that refused it; NULL */
	int64_t refused_at_ms;
	int64_t window_ms;       /* start of counting */
	unsigned received;       /* messages since window_ms */
	struct loop_timer muted; /* pending: unsubscribed because of a storm until it fires */
	UT_hash_handle hh;
};

struct redissub {
	struct redis_channel *channel;
	redissub_fn fn; /* NULL: stopped; freed once no callback is on the stack */
	void *arg;
	struct loop_task joined; /* tells a later listener that the channel is joined */
	struct redissub *prev, *next;
	struct redissub *next_stopped;
};

/* A command sent. Each has one reply, in order; messages may come in between. */
struct expected {
	struct redis_channel *channel; /* NULL: a PING */
	int64_t sent_ms;
	struct expected *prev, *next;
};

struct redissub_conn {
	struct redissub_pool *pool;
	struct redisendpoint *endpoint; /* one count */
	UT_hash_handle hh;              /* by the endpoint's server_key */
	struct redislink link;
	struct expected *expected;      /* oldest first */
	struct redis_channel *channels; /* hash by name */
	size_t listening;               /* over all channels */
	unsigned failures;
	struct err last_err;
	int64_t sent_ms;         /* on this connection */
	struct loop_timer timer; /* closed: reconnects or frees it; open: the next check */
};

struct redissub_pool {
	struct loop *loop;
	struct redissub_conn *conns;
	struct redissub *stopped; /* to be freed */
	bool telling;             /* callbacks are on the stack */
	bool freed;               /* to be freed once none is */
};

static void conn_fail(struct redissub_conn *c, const struct err *why);

/* ---- Listeners and channels ---- */

static void channel_free(struct redis_channel *ch)
{
	HASH_DEL(ch->conn->channels, ch);
	loop_timer_done(&ch->muted);
	free(ch->refusal);
	free(ch->name);
	free(ch);
}

static void channel_drop(struct redis_channel *ch)
{
	if (!ch->listeners && ch->unanswered == 0 && !ch->asked)
		channel_free(ch);
}

static void free_stopped(struct redissub *s)
{
	struct redis_channel *ch = s->channel;

	DL_DELETE(ch->listeners, s);
	free(s);
	channel_drop(ch);
}

/*
 * A listener added meanwhile is called, too. A stopped one stays in the list until no callback is
 * on the stack.
 */
static void call_listeners(struct redis_channel *ch, const char *message, size_t len)
{
	struct redissub *s;

	DL_FOREACH (ch->listeners, s) {
		if (s->fn)
			s->fn(s->arg, message, len);
		if (ch->conn->pool->freed)
			return;
	}
}

/* Called when no callback is on the stack any more. */
static void on_told(struct redissub_pool *p)
{
	p->telling = false;
	while (p->stopped) {
		struct redissub *s = p->stopped;

		p->stopped = s->next_stopped;
		free_stopped(s);
	}
	if (p->freed)
		redissub_pool_free(p);
}

static void on_joined_already(void *arg)
{
	struct redissub *s = arg;
	struct redissub_pool *p = s->channel->conn->pool;

	p->telling = true;
	if (s->fn && s->channel->joined)
		s->fn(s->arg, NULL, 0);
	on_told(p);
}

/* ---- Sending ---- */

static void send_command(struct redissub_conn *c, const char *verb, struct redis_channel *ch)
{
	const char *argv[] = { verb, ch ? ch->name : NULL };
	const size_t lens[] = { strlen(verb), ch ? ch->len : 0 };
	struct expected *e = mem_zalloc(sizeof(*e));
	char *wire;
	int len = redisFormatCommandArgv(&wire, ch ? 2 : 1, argv, lens);

	if (len < 0)
		abort(); /* out of memory */
	redislink_send(&c->link, wire, (size_t)len);
	e->channel = ch;
	if (ch)
		ch->unanswered++;
	e->sent_ms = c->sent_ms = loop_now_ms(c->pool->loop);
	DL_APPEND(c->expected, e);
}

/* Subscribes or unsubscribes, as the channel needs now. */
static void update_subscription(struct redis_channel *ch)
{
	bool wanted = ch->listening > 0 && !loop_timer_pending(&ch->muted);

	if (ch->conn->link.state != REDISLINK_OPEN || ch->asked == wanted)
		return;
	ch->asked = wanted;
	ch->joined = false;
	send_command(ch->conn, wanted ? "SUBSCRIBE" : "UNSUBSCRIBE", ch);
}

static void on_muted(void *arg)
{
	update_subscription(arg);
}

/* ---- Receiving ---- */

static void take_message(struct redissub_conn *c, const struct redis_reply *reply)
{
	const struct redis_reply *name = reply->elements[1], *message = reply->elements[2];
	int64_t now_ms = loop_now_ms(c->pool->loop);
	struct redis_channel *ch;
	struct err err;

	if (name->type != REDIS_STRING || message->type != REDIS_STRING)
		return;
	HASH_FIND(hh, c->channels, name->text, name->len, ch);
	if (!ch || (!ch->joined && ch->unanswered == 0)) {
		err_set(&err, ERR_TEMPORARY, "the server sent a message for a channel that is not subscribed to");
		conn_fail(c, &err);
		return;
	}
	if (!ch->joined)
		return; /* sent before the server left the channel */
	call_listeners(ch, message->text, message->len);
	if (c->pool->freed || c->link.state != REDISLINK_OPEN)
		return;
	if (now_ms - ch->window_ms >= REDISSUB_MUTE_MS) {
		ch->window_ms = now_ms;
		ch->received = 0;
	}
	/* The listeners read the state again when the channel is rejoined. */
	if (++ch->received > REDISSUB_STORM && ch->joined) {
		loop_timer_set(&ch->muted, REDISSUB_MUTE_MS);
		update_subscription(ch);
	}
}

/* Only the reply to the last command about a channel counts. */
static void take_answer(struct redissub_conn *c, struct redis_channel *ch, const struct redis_reply *reply)
{
	c->failures = 0;
	if (--ch->unanswered > 0)
		return;
	if (!ch->asked) {
		channel_drop(ch);
		return;
	}
	if (reply->type == REDIS_ERROR) {
		free(ch->refusal);
		ch->refusal = mem_printf("%.200s", reply->text);
		ch->refused_at_ms = loop_now_ms(c->pool->loop);
		ch->on = false;
		return;
	}
	mem_free_ptr(&ch->refusal);
	ch->joined = ch->on = true;
	call_listeners(ch, NULL, 0);
}

static void take_reply(struct redissub_conn *c, const struct redis_reply *reply)
{
	struct expected *e = c->expected;
	struct redis_channel *ch = e ? e->channel : NULL;
	struct err err;

	if (reply->type == REDIS_ARRAY && reply->count == 3 && reply->elements[0]->type == REDIS_STRING &&
		strcmp(reply->elements[0]->text, "message") == 0) {
		take_message(c, reply);
		return;
	}
	if (!e) {
		redislink_unexpected(reply, &err);
		conn_fail(c, &err);
		return;
	}
	DL_DELETE(c->expected, e);
	free(e);
	if (ch)
		take_answer(c, ch, reply);
}

static void on_reply(void *arg, struct redis_reply *reply)
{
	struct redissub_conn *c = arg;
	struct redissub_pool *p = c->pool;

	p->telling = true;
	take_reply(c, reply);
	redis_reply_free(reply);
	on_told(p);
}

/* ---- Connecting and losing ---- */

static void conn_close(struct redissub_conn *c)
{
	struct redis_channel *ch, *next;
	struct expected *e, *after;

	redislink_close(&c->link);
	DL_FOREACH_SAFE (c->expected, e, after) {
		if (e->channel)
			e->channel->unanswered--;
		free(e);
	}
	c->expected = NULL;
	HASH_ITER (hh, c->channels, ch, next) {
		ch->asked = ch->joined = ch->on = false;
		loop_timer_cancel(&ch->muted);
		mem_free_ptr(&ch->refusal);
	}
}

/*
 * A callback on the stack may hold a channel: unused channels are freed when the connection is used
 * again or freed.
 */
static void conn_fail(struct redissub_conn *c, const struct err *why)
{
	err_set(&c->last_err, why->kind, "redis at %s: %s", c->endpoint->base.name, why->msg);
	conn_close(c);
	loop_timer_set(&c->timer, dial_subscribe_ms(c->failures++, why->kind));
}

static void on_opened(void *arg)
{
	struct redissub_conn *c = arg;
	struct redis_channel *ch, *next;

	c->sent_ms = loop_now_ms(c->pool->loop);
	HASH_ITER (hh, c->channels, ch, next) {
		if (ch->listeners)
			update_subscription(ch);
		else
			channel_drop(ch);
	}
	loop_timer_set(&c->timer, TICK_MS);
}

static void on_failed(void *arg, const struct err *why)
{
	conn_fail(arg, why);
}

static void conn_free(struct redissub_conn *c)
{
	struct redis_channel *ch, *next;

	conn_close(c);
	HASH_ITER (hh, c->channels, ch, next) {
		struct redissub *s, *after;

		DL_FOREACH_SAFE (ch->listeners, s, after) {
			loop_task_cancel(c->pool->loop, &s->joined);
			free(s);
		}
		channel_free(ch);
	}
	redislink_done(&c->link);
	loop_timer_done(&c->timer);
	HASH_DEL(c->pool->conns, c);
	endpoint_unref(c->endpoint);
	free(c);
}

/* Retries refused channels: the right may have been granted meanwhile. */
static void ask_refused_again(struct redissub_conn *c, int64_t now_ms)
{
	for (struct redis_channel *ch = c->channels; ch; ch = ch->hh.next) {
		if (!ch->refusal || ch->unanswered > 0 || now_ms - ch->refused_at_ms < REFUSED_MS)
			continue;
		ch->asked = false;
		update_subscription(ch);
	}
}

/* Messages may delay an answer, but not forever. */
static bool is_overdue(const struct redissub_conn *c, int64_t now_ms, int64_t silent_ms)
{
	if (c->expected && now_ms - c->expected->sent_ms >= QUIET_MS)
		return true;
	return (c->expected || c->link.greetings_left > 0) && silent_ms >= ANSWER_MS &&
		now_ms - c->sent_ms >= ANSWER_MS;
}

static void on_timer(void *arg)
{
	struct redissub_conn *c = arg;
	int64_t now_ms = loop_now_ms(c->pool->loop), silent_ms = now_ms - c->link.stream.received_ms;
	struct err err;

	if (c->listening == 0) {
		conn_free(c);
		return;
	}
	if (c->link.state == REDISLINK_CLOSED)
		redislink_open(&c->link);
	if (c->link.state != REDISLINK_OPEN)
		return;
	if (is_overdue(c, now_ms, silent_ms)) {
		err_set(&err, ERR_TEMPORARY, "the server did not answer in time");
		conn_fail(c, &err);
		return;
	}
	if (silent_ms >= QUIET_MS && !c->expected)
		send_command(c, "PING", NULL);
	ask_refused_again(c, now_ms);
	loop_timer_set(&c->timer, TICK_MS);
}

/* ---- Users ---- */

static struct redissub_conn *conn_get(struct redissub_pool *p, struct redisendpoint *e)
{
	static const struct redislink_handler handler = { on_opened, on_reply, on_failed };
	struct redissub_conn *c;

	HASH_FIND_STR(p->conns, e->server_key, c);
	if (c) {
		endpoint_share(&c->endpoint->base, &e->base);
		return c;
	}
	c = mem_zalloc(sizeof(*c));
	c->pool = p;
	c->endpoint = endpoint_ref(e);
	redislink_init(&c->link, p->loop, c->endpoint, false, &handler, c);
	loop_timer_init(&c->timer, p->loop, on_timer, c);
	loop_timer_set(&c->timer, 0); /* dials once all listeners of this turn are added */
	HASH_ADD_KEYPTR(hh, p->conns, c->endpoint->server_key, strlen(c->endpoint->server_key), c);
	return c;
}

static struct redis_channel *channel_get(struct redissub_conn *c, const char *name, size_t len)
{
	struct redis_channel *ch;

	HASH_FIND(hh, c->channels, name, len, ch);
	if (ch)
		return ch;
	ch = mem_zalloc(sizeof(*ch));
	ch->conn = c;
	ch->name = mem_dupn(name, len);
	ch->len = len;
	loop_timer_init(&ch->muted, c->pool->loop, on_muted, ch);
	HASH_ADD_KEYPTR(hh, c->channels, ch->name, ch->len, ch);
	return ch;
}

struct redissub *redissub_start(struct redissub_pool *p, struct redisendpoint *e, const char *channel,
	size_t channel_len, redissub_fn fn, void *arg)
{
	struct redissub *s = mem_zalloc(sizeof(*s));

	s->channel = channel_get(conn_get(p, e), channel, channel_len);
	s->fn = fn;
	s->arg = arg;
	loop_task_init(&s->joined, on_joined_already, s);
	DL_APPEND(s->channel->listeners, s);
	s->channel->listening++;
	s->channel->conn->listening++;
	if (s->channel->joined)
		loop_task_queue(p->loop, &s->joined);
	update_subscription(s->channel);
	return s;
}

void redissub_stop(struct redissub *s)
{
	struct redissub_pool *p;
	struct redis_channel *ch;

	if (!s || !s->fn)
		return;
	ch = s->channel;
	p = ch->conn->pool;
	s->fn = NULL;
	ch->listening--;
	ch->conn->listening--;
	loop_task_cancel(p->loop, &s->joined);
	update_subscription(ch);
	if (p->telling) {
		s->next_stopped = p->stopped;
		p->stopped = s;
	} else {
		free_stopped(s);
	}
}

enum redissub_state redissub_state(const struct redissub *s, const char **why)
{
	const struct redis_channel *ch = s->channel;

	*why = "";
	if (ch->refusal) {
		*why = ch->refusal;
		return REDISSUB_REFUSED;
	}
	if (ch->on)
		return REDISSUB_ON;
	if (ch->conn->failures == 0)
		return REDISSUB_STARTING;
	*why = ch->conn->last_err.msg;
	return REDISSUB_FAILING;
}

struct redissub_pool *redissub_pool_new(struct loop *loop)
{
	struct redissub_pool *p = mem_zalloc(sizeof(*p));

	p->loop = loop;
	return p;
}

void redissub_pool_free(struct redissub_pool *p)
{
	struct redissub_conn *c, *next;

	if (!p)
		return;
	p->freed = true;
	if (p->telling)
		return;
	HASH_ITER (hh, p->conns, c, next)
		conn_free(c);
	free(p);
}
