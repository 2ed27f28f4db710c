/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redislink.h"

#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <hiredis/hiredis.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/tls.h"

static struct bufferevent *new_tls(struct loop *loop, const struct redis_endpoint *e, int fd, SSL_CTX **tls, SSL **ssl, struct err *err)
{
	struct bufferevent *bev;

	if (!*tls)
		*tls = tls_client_context(&e->base.tls, err);
	*ssl = *tls ? tls_client_session(*tls, e->port ? e->host : "localhost", e->base.tls.insecure, err) : NULL;
	if (!*ssl)
		return NULL;
	bev = bufferevent_openssl_socket_new(loop_base(loop), fd, *ssl, BUFFEREVENT_SSL_CONNECTING, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (bev)
		bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

struct bufferevent *redislink_new(struct loop *loop, const struct redis_endpoint *e, int fd, SSL_CTX **tls, SSL **ssl, struct err *err)
{
	struct bufferevent *bev = e->tls ? new_tls(loop, e, fd, tls, ssl, err) : bufferevent_socket_new(loop_base(loop), fd, BEV_OPT_CLOSE_ON_FREE);

	if (!bev)
		close(fd);
	return bev;
}

static void wipe_wire(const void *bytes, size_t len, void *wire)
{
	(void)bytes;
	mem_wipe(wire, len);
	redisFreeCommand(wire);
}

/* Without a copy in libevent's buffers, so that the password can be wiped. */
static void send_greeting(struct bufferevent *bev, int argc, const char **argv)
{
	char *wire;
	int len = redisFormatCommandArgv(&wire, argc, argv, NULL);

	if (len < 0)
		abort(); /* out of memory */
	evbuffer_add_reference(bufferevent_get_output(bev), wire, (size_t)len, wipe_wire, wire);
}

size_t redislink_greet(struct bufferevent *bev, const struct redis_endpoint *e, bool queries, const char *names[REDISLINK_GREETINGS_MAX])
{
	char database[16];
	size_t count = 0;

	if (e->username)
		send_greeting(bev, 3, (const char *[]){ "AUTH", e->username, e->password ? e->password : "" });
	else if (e->password)
		send_greeting(bev, 2, (const char *[]){ "AUTH", e->password });
	if (e->username || e->password)
		names[count++] = "AUTH";
	if (queries && e->database != 0) {
		snprintf(database, sizeof(database), "%d", e->database);
		send_greeting(bev, 2, (const char *[]){ "SELECT", database });
		names[count++] = "SELECT";
	}
	if (queries && e->master_only) {
		send_greeting(bev, 1, (const char *[]){ "ROLE" });
		names[count++] = "ROLE";
	}
	return count;
}

static enum err_kind refusal_kind(const char *text)
{
	static const char *const passing[] = { "LOADING", "ERR max number of clients", "MASTERDOWN", "BUSY", "TRYAGAIN" };

	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		if (strncmp(text, passing[i], strlen(passing[i])) == 0)
			return ERR_TEMPORARY;
	}
	return ERR_DENIED;
}

/*
 * Servers that do not know a command, and some proxies, repeat what they were told ("unknown command 'AUTH', with args beginning with: ..."), perhaps cut short: nothing is shown of a text that has the password in it, nor from the
 * first quotation on.
 */
static void refused(struct err *err, const char *name, const char *text, const char *password)
{
	size_t len = strcspn(text, "'`\"");

	if (password && *password && strstr(text, password))
		err_set(err, refusal_kind(text), "%s failed; the server's reply repeats the password, so it is not shown", name);
	else
		err_set(err, refusal_kind(text), "%s failed: %.*s", name, len < 200 ? (int)len : 200, text);
}

/* A replica would answer, too, with what it last heard of. Who may not ask for the role is told none, and works with what the sentinels said. */
static bool no_master(const struct redis_reply *reply, struct err *err)
{
	const struct redis_reply *role = reply->type == REDIS_ARRAY && reply->count > 0 ? reply->elements[0] : NULL;
	const char *word = role && role->type == REDIS_STRING ? role->text : "unknown";

	if (reply->type == REDIS_ERROR || strcmp(word, "master") == 0)
		return false;
	err_set(err, ERR_TEMPORARY, "it should be the master, but its role is %.40s", word);
	return true;
}

/* A server without a password takes one that is said with the user's name (KEDA's client says HELLO AUTH default), and complains of one that is said alone: then everybody may do everything, and so may we. */
static bool wants_no_password(const struct redis_endpoint *e, const char *name, const char *text)
{
	static const char words[] = "ERR AUTH <password> called without any password configured";

	return strcmp(name, "AUTH") == 0 && !e->username && strncmp(text, words, sizeof(words) - 1) == 0;
}

bool redislink_useless(const struct redis_endpoint *e, const char *name, const struct redis_reply *reply, struct err *err)
{
	if (strcmp(name, "ROLE") == 0)
		return no_master(reply, err);
	if (reply->type != REDIS_ERROR || wants_no_password(e, name, reply->text))
		return false;
	refused(err, name, reply->text, e->password);
	return true;
}

void redislink_ended(struct bufferevent *bev, SSL *ssl, bool shaking_hands, short what, int error, struct err *err)
{
	char reason[256];

	unsigned long code = ssl ? bufferevent_get_openssl_error(bev) : 0;

	if (!shaking_hands && code >= 16) { /* in TLS 1.3 a server says after the handshake that it wants a certificate, or another one */
		tls_explain_code(ssl, code, reason, sizeof(reason));
		err_set(err, ERR_TEMPORARY, "TLS: %s", reason);
	} else if (shaking_hands) {
		/* libevent puts OpenSSL's result codes (below 16) into the same list as its errors. */
		tls_explain_code(ssl, code < 16 ? 0 : code, reason, sizeof(reason));
		err_set(err, ERR_TEMPORARY, "TLS handshake: %s%s", reason, strstr(reason, "wrong version") ? " (the server does not speak TLS here)" : "");
	} else if (what & BEV_EVENT_EOF || !error) {
		err_set(err, ERR_TEMPORARY, "the server closed the connection");
	} else {
		err_set(err, ERR_TEMPORARY, "%s", strerror(error));
	}
}
