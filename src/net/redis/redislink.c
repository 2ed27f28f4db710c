/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redislink.h"

#include <event2/buffer.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "net/redis/redisreply.h"

#define FEED_BYTES 16384

/* ---- Greeting ---- */

static void send_greeting(struct redislink *l, int argc, const char **argv)
{
	char *wire;
	int len = redisFormatCommandArgv(&wire, argc, argv, NULL);

	if (len < 0)
		abort();                                    /* out of memory */
	stream_write_secret(&l->stream, wire, (size_t)len); /* redisFreeCommand is free */
	l->greetings[l->greetings_count++] = argv[0];
}

static void greet_all(struct redislink *l)
{
	const struct redisendpoint *e = l->endpoint;
	char database[16];

	l->greetings_count = 0;
	snprintf(database, sizeof(database), "%d", e->database);
	if (e->username)
		send_greeting(l, 3, (const char *[]){ "AUTH", e->username, e->password ? e->password : "" });
	else if (e->password)
		send_greeting(l, 2, (const char *[]){ "AUTH", e->password });
	if (l->queries && e->database != 0)
		send_greeting(l, 2, (const char *[]){ "SELECT", database });
	if (l->queries && e->master_only)
		send_greeting(l, 1, (const char *[]){ "ROLE" });
	l->greetings_left = l->greetings_count;
}

/*
 * A replica would reply as well, with old data. A user who may not send ROLE gets an error, and
 * relies on the sentinels.
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
 * A server without a password accepts AUTH with a user name (KEDA's client sends HELLO AUTH
 * default), but rejects AUTH with a password alone. That means: no password is needed.
 */
static bool wants_no_password(const struct redisendpoint *e, const char *name, const char *text)
{
	return strcmp(name, "AUTH") == 0 && !e->username &&
		text_begins(text, "ERR AUTH <password> called without any password configured");
}

/*
 * Whether the reply to a greeting command makes the connection useless: it refuses our credentials
 * (ERR_DENIED), rejects all clients, or is a replica (ERR_TEMPORARY).
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
	 * Servers that do not know a command, and some proxies, repeat it, perhaps truncated
	 * ("unknown command 'AUTH', with args beginning with: ..."). Text with the password is not
	 * shown at all, other text only up to the first quotation mark.
	 */
	if (e->password && *e->password && strstr(text, e->password))
		err_set(err, kind, "%s failed; the server's reply repeats the password, so it is not shown", name);
	else
		err_set(err, kind, "%s failed: %.*s", name, len < 200 ? (int)len : 200, text);
	return true;
}

void redislink_unexpected(const struct redis_reply *reply, struct err *err)
{
	/* "ERR max number of clients reached" */
	err_set(err, ERR_TEMPORARY, "%.200s",
		reply->type == REDIS_ERROR ? reply->text : "the server sent an unexpected reply");
}

/* ---- Events of the stream ---- */

static int take_greeting(struct redislink *l, struct redis_reply *reply, struct err *err)
{
	const char *name = l->greetings[l->greetings_count - l->greetings_left--];
	bool useless = is_useless(l->endpoint, name, reply, err);

	redis_reply_free(reply);
	return useless ? -1 : 1;
}

/* Takes the replies that the reader has, then feeds it more bytes. */
static int take_replies(void *arg, struct evbuffer *input, size_t *used, struct err *err)
{
	struct redislink *l = arg;
	struct redis_reply *reply;
	struct evbuffer_iovec part;
	int state = l->fed ? redisreply_next(l->reader, &reply, err) : 0;

	if (state > 0) {
		l->stream.recognised = true;
		if (l->greetings_left > 0)
			return take_greeting(l, reply, err);
		l->handler->replied(l->arg, reply);
		return 1;
	}
	l->fed = false;
	l->stream.kept = redisreply_bytes(l->reader);
	if (state < 0 || evbuffer_peek(input, -1, NULL, &part, 1) == 0)
		return state;
	l->fed = true;
	*used = part.iov_len < FEED_BYTES ? part.iov_len : FEED_BYTES;
	return redisreply_feed(l->reader, part.iov_base, *used, err) ? -1 : 1;
}

static void on_opened(void *arg)
{
	struct redislink *l = arg;

	l->state = REDISLINK_OPEN;
	l->reader = redisreply_new();
	l->fed = false;
	greet_all(l);
	l->handler->opened(l->arg);
}

static void on_lost(void *arg, const struct err *why, bool ended)
{
	struct redislink *l = arg;

	(void)ended;
	l->handler->failed(l->arg, why);
}

static const char *hint_of(const void *arg)
{
	const struct redislink *l = arg;

	if (l->stream.recognised)
		return "";
	if (!l->endpoint->tls)
		return " (is TLS needed? set enableTLS)";
	/* in TLS 1.3 the alert about a missing certificate may be lost */
	return l->endpoint->base.tls.cert_pem ? "" : " (does it ask for a client certificate? give cert and key)";
}

/* ---- Owners ---- */

void redislink_init(struct redislink *l, struct loop *loop, const struct redisendpoint *e, bool queries,
	const struct redislink_handler *handler, void *arg)
{
	static const struct stream_events events = { on_opened, take_replies, on_lost, hint_of };

	*l = (struct redislink){ .endpoint = e, .handler = handler, .arg = arg, .queries = queries };
	stream_init(&l->stream, loop, &events, l);
}

void redislink_open(struct redislink *l)
{
	const struct redisendpoint *e = l->endpoint;

	l->state = REDISLINK_OPENING;
	stream_open(&l->stream,
		&(struct stream_server){
			.host = e->host,
			.port = e->port,
			.endpoint = &e->base,
			.tls_name = !e->tls ? NULL
				: e->port   ? e->host
					    : "localhost",
			.limit_ms = STREAM_CONNECT_MS,
		});
}

void redislink_close(struct redislink *l)
{
	stream_close(&l->stream);
	redisreply_free(l->reader);
	l->reader = NULL;
	l->greetings_left = 0;
	l->state = REDISLINK_CLOSED;
}

void redislink_done(struct redislink *l)
{
	redislink_close(l);
	stream_done(&l->stream);
}

void redislink_send(struct redislink *l, char *wire, size_t len)
{
	stream_write(&l->stream, wire, len);
	redisFreeCommand(wire);
}
