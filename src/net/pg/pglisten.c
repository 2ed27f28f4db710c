/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/dial.h"
#include "net/pg/pg_parts.h"

#define ECHO_MS        5000  /* the longest time for our own notification to come back */
#define PING_MS        30000 /* between two empty statements, which check that the server is alive */
#define PING_ANSWER_MS 5000
#define HOPELESS_MS    300000 /* before the next attempt where notifications do not arrive */
#define STATEMENT_MAX  (1 << 20)

/*
 * The state of a server's connection. In LISTENING and PINGING a statement is running. The timer is
 * the time-out of the current step; in RESTING and OPEN, the time until the next attempt or ping.
 */
enum step {
	RESTING, /* no connection: back-off */
	OPENING,
	LISTENING, /* LISTEN is running */
	ECHOING,   /* our own notification is awaited */
	OPEN,
	PINGING,
};

struct pg_channel {
	UT_hash_handle hh;
	char *name;
	bool listened;    /* LISTEN was sent on this connection */
	bool heard, rung; /* a notification came: ever; in this turn */
	struct pg_listener *listeners;
};

struct pg_listener {
	struct pg_listenserver *server;
	struct pgendpoint *endpoint; /* one count */
	struct pg_channel *channel;
	pg_listen_fn fn;
	void *arg;
	struct pg_listener *prev, *next;
};

struct pg_listenserver {
	struct pg_pool *pool;
	struct pgendpoint *endpoint; /* one count; of one of the listeners */
	char *key;
	UT_hash_handle hh;
	struct pg_channel *channels; /* hash by name */
	struct pgconn *conn;
	enum step step;
	enum pg_listen_state state; /* for reports */
	char *why;
	char echo[32]; /* a channel that only this connection knows */
	struct pool_call *echo_call;
	bool refuses_options;
	bool dirty; /* channels were added or removed since the last LISTEN */
	unsigned failures;
	struct err *refused; /* the error of LISTEN; NULL */
	struct loop_timer timer;
	struct loop_task ring;
};

static void go(struct pg_listenserver *s);

/* ---- Callbacks ---- */

/*
 * One callback per turn, however many notifications came. A callback may remove its own listener,
 * no other.
 */
static void on_ring(void *arg)
{
	struct pg_listenserver *s = arg;
	struct pg_channel *c, *next_channel;
	struct pg_listener *l, *next;

	if (s->state != PG_LISTEN_ON)
		return; /* the listeners are called afterwards */
	HASH_ITER (hh, s->channels, c, next_channel) {
		if (!c->rung)
			continue;
		c->rung = false;
		DL_FOREACH_SAFE (c->listeners, l, next)
			l->fn(l->arg);
	}
}

static void ring(struct pg_listenserver *s, struct pg_channel *c)
{
	c->rung = true;
	loop_task_queue(s->pool->loop, &s->ring);
}

static void say(struct pg_listenserver *s, enum pg_listen_state state, const char *why)
{
	if (s->state != state)
		log_debug("postgresql", "listening at %s: %s", s->endpoint->base.name, *why ? why : "on");
	s->state = state;
	free(s->why);
	s->why = mem_dup(why);
}

/* ---- Ending a connection ---- */

static void hang_up(struct pg_listenserver *s, int64_t rest_ms)
{
	pool_cancel(s->echo_call);
	s->echo_call = NULL;
	pgconn_free(s->conn);
	s->conn = NULL;
	for (struct pg_channel *c = s->channels; c; c = c->hh.next)
		c->listened = false;
	s->step = RESTING;
	loop_timer_set(&s->timer, rest_ms);
}

static void end(struct pg_listenserver *s, enum pg_listen_state state, enum err_kind kind, const char *why)
{
	MEM_AUTO char *text = mem_printf("postgresql at %s: %s", s->endpoint->base.name, why);

	say(s, state, text);
	hang_up(s, state == PG_LISTEN_OFF ? HOPELESS_MS : dial_subscribe_ms(s->failures++, kind));
}

static void fail(struct pg_listenserver *s, const struct err *why)
{
	end(s, PG_LISTEN_FAILING, why->kind, why->msg);
}

/* ---- The namespace ---- */

/* The listeners' namespace; "": several. Takes over the endpoint of one of them. */
static const char *namespace_of(struct pg_listenserver *s)
{
	const char *found = NULL;

	for (const struct pg_channel *c = s->channels; c; c = c->hh.next) {
		for (const struct pg_listener *l = c->listeners; l; l = l->next) {
			if (!found && l->endpoint != s->endpoint) {
				endpoint_unref(s->endpoint);
				s->endpoint = endpoint_ref(l->endpoint);
			}
			if (!found)
				found = l->endpoint->base.namespace_;
			else if (strcmp(found, l->endpoint->base.namespace_) != 0)
				return "";
		}
	}
	return found ? found : "";
}

/* ---- Listening ---- */

static void put_command(struct buf *sql, const char *command, const char *channel)
{
	buf_printf(sql, "%s \"", command);
	for (; *channel; channel++) {
		if (*channel == '"')
			buf_putc(sql, '"');
		buf_putc(sql, *channel);
	}
	buf_puts(sql, "\";");
}

static void channel_free(struct pg_listenserver *s, struct pg_channel *c)
{
	HASH_DEL(s->channels, c);
	free(c->name);
	free(c);
}

/* The statements that make the connection listen to exactly the wanted channels; "": none. */
static char *listen_statement(struct pg_listenserver *s)
{
	struct buf sql = BUF_INIT(STATEMENT_MAX);
	struct pg_channel *c, *next;

	HASH_ITER (hh, s->channels, c, next) {
		if (!c->listeners) {
			if (c->listened)
				put_command(&sql, "UNLISTEN", c->name);
			channel_free(s, c);
		} else if (!c->listened) {
			put_command(&sql, "LISTEN", c->name);
			c->listened = !buf_failed(&sql);
			c->rung = true; /* earlier notifications were missed */
		}
	}
	return buf_take(&sql);
}

static void send(struct pg_listenserver *s, const char *sql, enum step step, int64_t patience_ms)
{
	struct err err;

	if (pgconn_send(s->conn, sql, &err)) {
		fail(s, &err);
		return;
	}
	s->step = step;
	loop_timer_set(&s->timer, patience_ms);
}

static void on_opened(void *arg)
{
	struct pg_listenserver *s = arg;
	struct buf sql = BUF_INIT(STATEMENT_MAX + 256);
	MEM_AUTO char *channels = listen_statement(s);

	snprintf(s->echo, sizeof(s->echo), "kscaled_%016llx", (unsigned long long)fingerprint_random());
	put_command(&sql, "LISTEN", s->echo);
	buf_puts(&sql, channels);
	s->dirty = false;
	send(s, buf_text(&sql), LISTENING, ECHO_MS);
	buf_done(&sql);
}

static void on_result(void *arg, const PGresult *r)
{
	struct pg_listenserver *s = arg;
	struct err err;

	if (PQresultStatus(r) != PGRES_FATAL_ERROR && PQresultStatus(r) != PGRES_BAD_RESPONSE)
		return;
	pgconn_explain(s->conn, r, &err);
	err_keep(&s->refused, &err);
}

static void on_echo_sent(void *arg, const struct pg_answer *answer, const struct err *err)
{
	struct pg_listenserver *s = arg;

	(void)answer;
	s->echo_call = NULL;
	if (s->step != ECHOING)
		return;
	if (err)
		fail(s, err);
	else
		loop_timer_set(&s->timer, ECHO_MS);
}

/*
 * LISTEN belongs to a session, which a pooler in transaction mode silently ends after each
 * transaction. To detect that, sends a notification through a connection for queries.
 */
static void send_echo(struct pg_listenserver *s)
{
	MEM_AUTO char *sql = mem_printf("SELECT pg_catalog.pg_notify('%s', '')", s->echo);

	s->step = ECHOING;
	loop_timer_cancel(&s->timer);
	s->echo_call = pg_query(s->pool, s->endpoint, sql, loop_now_ms(s->pool->loop) + ECHO_MS, on_echo_sent, s);
}

static void on_echo(struct pg_listenserver *s)
{
	bool first = s->state != PG_LISTEN_ON;

	if (s->step != ECHOING)
		return;
	s->failures = 0;
	s->step = OPEN;
	say(s, PG_LISTEN_ON, "");
	loop_timer_set(&s->timer, PING_MS);
	for (struct pg_channel *c = first ? s->channels : NULL; c; c = c->hh.next)
		ring(s, c); /* notifications in between were missed */
	go(s);
}

static void on_finished(void *arg)
{
	struct pg_listenserver *s = arg;
	bool opening = s->step == LISTENING && s->state != PG_LISTEN_ON;

	if (s->refused) {
		MEM_AUTO char *why = mem_printf("LISTEN is refused: %s", s->refused->msg);
		enum err_kind kind = s->refused->kind;

		err_keep(&s->refused, NULL);
		end(s, kind == ERR_TEMPORARY ? PG_LISTEN_FAILING : PG_LISTEN_OFF, kind, why);
		return;
	}
	s->step = OPEN;
	loop_timer_set(&s->timer, PING_MS);
	if (opening) {
		send_echo(s);
		return;
	}
	loop_task_queue(s->pool->loop, &s->ring);
	go(s);
}

static void on_notified(void *arg, const char *name)
{
	struct pg_listenserver *s = arg;
	struct pg_channel *c;

	if (strcmp(name, s->echo) == 0) {
		on_echo(s);
		return;
	}
	HASH_FIND_STR(s->channels, name, c);
	if (!c)
		return;
	c->heard = true;
	ring(s, c);
}

static void on_lost(void *arg, const struct err *why)
{
	struct pg_listenserver *s = arg;

	fail(s, why);
}

static const struct pgconn_handler on_conn = { .opened = on_opened,
	.result = on_result,
	.finished = on_finished,
	.notified = on_notified,
	.lost = on_lost };

/* ---- The timer ---- */

static void server_free(struct pg_listenserver *s)
{
	struct pg_channel *c, *next;

	hang_up(s, 0);
	HASH_ITER (hh, s->channels, c, next)
		channel_free(s, c);
	loop_timer_done(&s->timer);
	loop_task_cancel(s->pool->loop, &s->ring);
	HASH_DEL(s->pool->listening, s);
	endpoint_unref(s->endpoint);
	free(s->key);
	free(s->why);
	free(s->refused);
	free(s);
}

/* Sends the LISTEN and UNLISTEN statements that are due, on an open connection. */
static void go(struct pg_listenserver *s)
{
	MEM_AUTO char *sql = NULL;

	if (s->step != OPEN || !s->dirty)
		return;
	s->dirty = false;
	pgconn_count_for(s->conn, namespace_of(s));
	sql = listen_statement(s);
	if (*sql)
		send(s, sql, LISTENING, PING_ANSWER_MS);
}

static void on_timer(void *arg)
{
	struct pg_listenserver *s = arg;
	struct pgconn_config config = { .refuses_options = &s->refuses_options,
		.tokens = s->pool->tokens,
		.salter = s->pool->salter,
		.listens = true };
	const struct pg_channel *wanted = s->channels;

	while (wanted && !wanted->listeners)
		wanted = wanted->hh.next;
	if (!wanted) {
		server_free(s);
		return;
	}
	switch (s->step) {
	case RESTING:
		s->step = OPENING;
		config.namespace_ = namespace_of(s);
		s->conn = pgconn_start(s->pool->loop, s->endpoint, &config, &on_conn, s);
		break;
	case OPEN:
		loop_timer_set(&s->timer, PING_MS);
		if (s->dirty)
			go(s);
		else
			send(s, "", PINGING, PING_ANSWER_MS);
		break;
	case ECHOING:
		end(s, PG_LISTEN_OFF, ERR_INVALID,
			"notifications do not arrive: LISTEN needs a session of its own, which a pooler in "
			"transaction or statement mode does not give. Let this trigger's connection "
			"string lead to the server itself, or to a pool in session mode; until then the poll does the "
			"work");
		break;
	case OPENING: /* pgconn has its own time-out */ break;
	case LISTENING:
	case PINGING: end(s, PG_LISTEN_FAILING, ERR_TEMPORARY, "the server does not answer"); break;
	}
}

/* ---- Public functions ---- */

static struct pg_listenserver *server_for(struct pg_pool *p, struct pgendpoint *e)
{
	struct pg_listenserver *s;

	HASH_FIND_STR(p->listening, e->base.key, s);
	if (s)
		return s;
	s = mem_zalloc(sizeof(*s));
	s->pool = p;
	s->endpoint = endpoint_ref(e);
	s->state = PG_LISTEN_STARTING;
	s->why = mem_dup("");
	loop_timer_init(&s->timer, p->loop, on_timer, s);
	loop_timer_set(&s->timer, 0);
	loop_task_init(&s->ring, on_ring, s);
	s->key = mem_dup(e->base.key);
	HASH_ADD_KEYPTR(hh, p->listening, s->key, strlen(s->key), s);
	return s;
}

struct pg_listener *pg_listen(struct pg_pool *p, struct pgendpoint *e, const char *channel, pg_listen_fn fn, void *arg)
{
	struct pg_listenserver *s = server_for(p, e);
	struct pg_listener *l = mem_zalloc(sizeof(*l));

	HASH_FIND_STR(s->channels, channel, l->channel);
	if (!l->channel) {
		l->channel = mem_zalloc(sizeof(*l->channel));
		l->channel->name = mem_dup(channel);
		HASH_ADD_KEYPTR(hh, s->channels, l->channel->name, strlen(l->channel->name), l->channel);
	}
	l->server = s;
	l->endpoint = endpoint_ref(e);
	l->fn = fn;
	l->arg = arg;
	DL_APPEND(l->channel->listeners, l);
	s->dirty = true;
	if (s->step == OPEN)
		loop_timer_set(&s->timer, 0); /* with all others of this turn */
	return l;
}

void pg_unlisten(struct pg_listener *l)
{
	if (!l)
		return;
	DL_DELETE(l->channel->listeners, l);
	l->server->dirty = true;
	if (l->server->step == OPEN)
		loop_timer_set(&l->server->timer, 0);
	endpoint_unref(l->endpoint);
	free(l);
}

struct pg_listen_report pg_listen_report(const struct pg_listener *l)
{
	return (struct pg_listen_report){ .state = l->server->state,
		.why = l->server->why,
		.heard = l->channel->heard };
}

void pg_listen_free_all(struct pg_pool *p)
{
	struct pg_listenserver *s, *next;

	HASH_ITER (hh, p->listening, s, next)
		server_free(s);
}
