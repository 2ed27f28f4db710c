/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redislink.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/dial.h"
#include "net/network.h"
#include "net/redis/redisreply.h"
#include "net/tls/tls.h"
#include "net/tlsstream.h"

#define FEED_BYTES 16384

void redislink_enter(struct redislink_guard *g)
{
	g->depth++;
}

void redislink_leave(struct redislink_guard *g)
{
	if (--g->depth == 0)
		g->left(g->pool);
}

void redislink_free_pool(struct redislink_guard *g)
{
	g->freed = true;
	if (g->depth == 0)
		g->left(g->pool);
}

/* ---- Greeting ---- */

static void wipe_wire(const void *bytes, size_t len, void *wire)
{
	(void)bytes;
	mem_wipe(wire, len);
	redisFreeCommand(wire);
}

/* Without a copy in libevent's buffers, so that the password can be wiped. */
static void greet(struct redislink *l, int argc, const char **argv)
{
	char *wire;
	int len = redisFormatCommandArgv(&wire, argc, argv, NULL);

	if (len < 0)
		abort(); /* out of memory */
	evbuffer_add_reference(bufferevent_get_output(l->bev), wire, (size_t)len, wipe_wire, wire);
	l->greetings[l->greetings_count++] = argv[0];
}

static void greet_all(struct redislink *l)
{
	const struct redisendpoint *e = l->endpoint;
	char database[16];

	l->greetings_count = 0;
	snprintf(database, sizeof(database), "%d", e->database);
	if (e->username)
		greet(l, 3, (const char *[]){ "AUTH", e->username, e->password ? e->password : "" });
	else if (e->password)
		greet(l, 2, (const char *[]){ "AUTH", e->password });
	if (l->queries && e->database != 0)
		greet(l, 2, (const char *[]){ "SELECT", database });
	if (l->queries && e->master_only)
		greet(l, 1, (const char *[]){ "ROLE" });
	l->greetings_left = l->greetings_count;
}

/*
 * A replica would reply, too, with old data. A user who may not ask for the role gets no answer
 * about it, and relies on the sentinels.
 */
static bool no_master(const struct redis_reply *reply, struct err *err)
{
	const struct redis_reply *role = reply->type == REDIS_ARRAY && reply->count > 0 ? reply->elements[0] : NULL;
	const char *word = role && role->type == REDIS_STRING ? role->text : "unknown";

	if (reply->type == REDIS_ERROR || strcmp(word, "master") == 0)
		return false;
	err_set(err, ERR_TEMPORARY, "it should be the master, but its role is %.40s", word);
	return true;
}

/*
 * A server without a password accepts one that comes with a user name (KEDA's client sends HELLO
 * AUTH default), but rejects one alone: then no password is needed.
 */
static bool wants_no_password(const struct redisendpoint *e, const char *name, const char *text)
{
	return strcmp(name, "AUTH") == 0 && !e->username &&
		text_begins(text, "ERR AUTH <password> called without any password configured");
}

/*
 * Whether the reply to a greeting makes the connection useless: our credentials are refused
 * (ERR_DENIED), or the server rejects all clients or is a replica (ERR_TEMPORARY).
 */
static bool is_useless(const struct redisendpoint *e, const char *name, const struct redis_reply *reply,
	struct err *err)
{
	static const char *const passing[] = { "LOADING", "ERR max number of clients", "MASTERDOWN", "BUSY", "TRYAGAIN",
		NULL };
	const char *text = reply->text;
	enum err_kind kind;
	size_t len;

	if (strcmp(name, "ROLE") == 0)
		return no_master(reply, err);
	if (reply->type != REDIS_ERROR || wants_no_password(e, name, text))
		return false;
	len = strcspn(text, "'`\"");
	kind = text_begins_with_one_of(text, passing) ? ERR_TEMPORARY : ERR_DENIED;
	/*
	 * Servers that do not know a command, and some proxies, repeat what they got, perhaps cut
	 * short ("unknown command 'AUTH', with args beginning with: ..."): a text that holds the
	 * password is not shown at all, any other only up to the first quotation mark.
	 */
	if (e->password && *e->password && strstr(text, e->password))
		err_set(err, kind, "%s failed; the server's reply repeats the password, so it is not shown", name);
	else
		err_set(err, kind, "%s failed: %.*s", name, len < 200 ? (int)len : 200, text);
	return true;
}

void redislink_unasked(const struct redis_reply *reply, struct err *err)
{
	/* "ERR max number of clients reached" */
	err_set(err, ERR_TEMPORARY, "%.200s",
		reply->type == REDIS_ERROR ? reply->text : "the server sent a reply that nobody asked for");
}

/* ---- Reading ---- */

/*
 * No reply but garbage or the end on a plain connection may mean a TLS port; in TLS, that the
 * server requires a client certificate.
 */
static void fail_on_wire(struct redislink *l, const struct err *why, bool ended)
{
	bool open = l->state == REDISLINK_OPEN;
	const char *hint = "";
	struct err err;

	if (open && !l->heard && !l->endpoint->tls)
		hint = " (is TLS needed? set enableTLS)";
	else if (open && !l->heard && !l->endpoint->base.tls.cert_pem) /* in TLS 1.3 its alert may be lost */
		hint = " (does it ask for a client certificate? give cert and key)";
	err_set(&err, why->kind, "%s%s", why->msg, hint);
	l->handler->failed(l->arg, &err, ended && open && l->heard);
}

/* False when the connection is closed or the pool freed. */
static bool take_replies(struct redislink *l)
{
	struct redisreply *reader = l->reader;
	struct redis_reply *reply;
	struct err err;
	int state;

	while ((state = redisreply_next(reader, &reply, &err)) > 0) {
		l->heard = true;
		if (l->greetings_left == 0)
			l->handler->replied(l->arg, reply);
		else if (is_useless(l->endpoint, l->greetings[l->greetings_count - l->greetings_left--], reply, &err))
			l->handler->failed(l->arg, &err, false);
		redis_reply_free(reply);
		if (l->guard->freed || l->reader != reader)
			return false;
	}
	if (state == 0)
		return true;
	fail_on_wire(l, &err, false);
	return false;
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct redislink *l = arg;
	struct redislink_guard *guard = l->guard;
	struct evbuffer *input = bufferevent_get_input(bev);
	struct evbuffer_iovec part;
	struct err err;

	loop_enter(l->loop);
	redislink_enter(guard);
	l->heard_ms = loop_now_ms(l->loop);
	while (evbuffer_peek(input, -1, NULL, &part, 1) > 0 && part.iov_len > 0) {
		size_t len = part.iov_len < FEED_BYTES ? part.iov_len : FEED_BYTES;

		if (redisreply_feed(l->reader, part.iov_base, len, &err) < 0) {
			l->handler->failed(l->arg, &err, false);
			break;
		}
		evbuffer_drain(input, len);
		if (!take_replies(l))
			break;
		if (answers_hold(&network_of(l->loop)->answers, &l->bytes, redisreply_bytes(l->reader), &err)) {
			l->handler->failed(l->arg, &err, false);
			break;
		}
	}
	redislink_leave(guard);
}

/* ---- Opening and losing ---- */

static void on_open(struct redislink *l)
{
	loop_timer_cancel(&l->shaking);
	l->state = REDISLINK_OPEN;
	l->heard = false;
	l->heard_ms = loop_now_ms(l->loop);
	l->reader = redisreply_new();
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	greet_all(l);
	l->handler->opened(l->arg);
}

/* Turns an event other than BEV_EVENT_CONNECTED into an error. */
static void explain_end(const struct redislink *l, short what, int error, struct err *err)
{
	char reason[256];
	unsigned long code = l->ssl ? bufferevent_get_openssl_error(l->bev) : 0;
	bool shaking_hands = l->state == REDISLINK_SHAKING_HANDS;

	/* In TLS 1.3 a server requires a certificate, or rejects it, after the handshake. */
	if (!shaking_hands && code >= 16) {
		tls_explain(l->ssl, code, reason, sizeof(reason));
		err_set(err, ERR_TEMPORARY, "TLS: %s", reason);
	} else if (shaking_hands) {
		/*
		 * libevent puts OpenSSL's result codes (below 16) into the same list as its errors.
		 */
		tls_explain(l->ssl, code < 16 ? 0 : code, reason, sizeof(reason));
		err_set(err, ERR_TEMPORARY, "TLS handshake: %s%s", reason,
			strstr(reason, "wrong version") ? " (the server does not speak TLS here)" : "");
	} else if (what & BEV_EVENT_EOF || !error) {
		err_set(err, ERR_TEMPORARY, "the server closed the connection");
	} else {
		err_set(err, ERR_TEMPORARY, "%s", strerror(error));
	}
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct redislink *l = arg;
	int error = EVUTIL_SOCKET_ERROR();
	struct err err;

	(void)bev;
	loop_enter(l->loop);
	if (what & BEV_EVENT_CONNECTED) {
		on_open(l);
		return;
	}
	explain_end(l, what, error, &err);
	fail_on_wire(l, &err, true);
}

static void on_shaking_timeout(void *arg)
{
	struct redislink *l = arg;
	struct err err;

	err_set(&err, ERR_TEMPORARY, REDISLINK_SHAKING_TIMED_OUT);
	l->handler->failed(l->arg, &err, false);
}

static void on_dialed(void *arg, int fd, const struct err *dial_err)
{
	struct redislink *l = arg;
	const struct redisendpoint *e = l->endpoint;
	struct err err;

	l->dial = NULL;
	if (fd < 0)
		err_set(&err, dial_err->kind, "connecting: %s", dial_err->msg);
	else
		l->bev = l->endpoint->tls ? tlsstream_new(l->loop, fd, &l->tls, &e->base.tls,
						    e->port ? e->host : "localhost", &l->ssl, &err)
					  : bufferevent_socket_new(loop_base(l->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	if (!l->bev) {
		if (fd >= 0)
			close(fd);
		l->handler->failed(l->arg, &err, false);
		return;
	}
	bufferevent_setcb(l->bev, on_read, NULL, on_event, l);
	if (!l->endpoint->tls) {
		on_open(l);
		return;
	}
	l->state = REDISLINK_SHAKING_HANDS;
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	loop_timer_set(&l->shaking, REDISLINK_CONNECT_MS);
}

void redislink_init(struct redislink *l, struct loop *loop, const struct redisendpoint *e, bool queries,
	struct redislink_guard *guard, const struct redislink_handler *handler, void *arg)
{
	*l = (struct redislink){
		.loop = loop,
		.endpoint = e,
		.guard = guard,
		.handler = handler,
		.arg = arg,
		.queries = queries,
	};
	loop_timer_init(&l->shaking, loop, on_shaking_timeout, l);
}

void redislink_open(struct redislink *l)
{
	l->state = REDISLINK_DIALING;
	l->bytes.namespace_ = l->hold.namespace_ = endpoint_namespace(&l->endpoint->base);
	l->dial = dial_start(l->loop, l->endpoint->host, l->endpoint->port, REDISLINK_CONNECT_MS, &l->hold, on_dialed,
		l);
}

void redislink_close(struct redislink *l)
{
	dial_cancel(l->dial);
	l->dial = NULL;
	if (l->bev)
		bufferevent_free(l->bev);
	l->bev = NULL;
	l->ssl = NULL;
	descriptors_give(&l->hold, 0);
	answers_release(&l->bytes);
	redisreply_free(l->reader);
	l->reader = NULL;
	l->greetings_left = 0;
	loop_timer_cancel(&l->shaking);
	l->state = REDISLINK_CLOSED;
}

void redislink_done(struct redislink *l)
{
	redislink_close(l);
	loop_timer_done(&l->shaking);
	SSL_CTX_free(l->tls);
	l->tls = NULL;
}
