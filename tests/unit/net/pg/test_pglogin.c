/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Servers that ask for GSSAPI and SSPI: what libpq may see of what they say, and what who asked is
 * told. What happens under TLS is in tests/live/test_tenants_postgresql.py.
 */

#include "../fixture.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/pg/pg.h"
#include "net/pg/pgendpoint.h"
#include "net/pg/pglogin.h"

#define TEXT(literal) (const unsigned char *)(literal), sizeof(literal) - 1

#define SSL_REQUEST "\0\0\0\10\4\322\26\57"
#define STARTUP     "\0\0\0\15\0\3\0\0user\0"
#define AUTH(code)  "R\0\0\0\10\0\0\0" code
#define GSS_MORE    "R\0\0\0\14\0\0\0\10abcd"
#define SASL        "R\0\0\0\27\0\0\0\12SCRAM-SHA-256\0\0"
#define WELCOME     AUTH("\0") "Z\0\0\0\5I"
#define FATAL       "E\0\0\0\25SFATAL\0Mgo away\0\0"

/* ---- What libpq may see ---- */

struct stream {
	const char *client;
	size_t client_len;
	const char *server;
	size_t server_len;
	size_t seen;
	const char *asks;
};
#define STREAM(client, server, seen, asks)                                                                             \
	{                                                                                                              \
		client, sizeof(client) - 1, server, sizeof(server) - 1, seen, asks                                     \
	}

static const struct stream streams[] = {
	STREAM(STARTUP, AUTH("\7"), 8, "GSSAPI"),
	STREAM(STARTUP, GSS_MORE, 8, "GSSAPI"),
	STREAM(STARTUP, AUTH("\11"), 8, "SSPI"),
	STREAM(STARTUP, SASL GSS_MORE, sizeof(SASL) - 1 + 8, "GSSAPI"),
	STREAM(STARTUP, AUTH("\3") AUTH("\7"), 9 + 8, "GSSAPI"),
	STREAM(STARTUP, FATAL AUTH("\11"), sizeof(FATAL) - 1 + 8, "SSPI"),
	STREAM(STARTUP, "N\0\0\0\4" AUTH("\7"), 5 + 8, "GSSAPI"),
	STREAM(STARTUP, "R\0\0\0\3" AUTH("\7"), 5 + 8, "GSSAPI"),
	STREAM(STARTUP, "R\0\0\0\7abc" AUTH("\7"), 8 + 8, "GSSAPI"),
	STREAM(SSL_REQUEST, "N" AUTH("\7"), 1 + 8, "GSSAPI"),
	STREAM(SSL_REQUEST, FATAL AUTH("\7"), sizeof(FATAL) - 1 + 8, "GSSAPI"),
	STREAM(SSL_REQUEST, "S" AUTH("\7"), 10, NULL), /* no more to be read */
	STREAM("\26\3\1", AUTH("\7"), 9, NULL),
	STREAM(STARTUP, WELCOME AUTH("\7"), 9 + 6 + 9, NULL), /* libpq takes no login any more */
	STREAM(STARTUP, SASL, sizeof(SASL) - 1, NULL),
	STREAM(STARTUP, AUTH("\5"), 9, NULL),
	STREAM("", AUTH("\7"), 0, NULL), /* not before libpq has said whether there is TLS */
	STREAM("\0\0\0\10\4\322\26", AUTH("\7"), 0, NULL),
};

static void libpq_never_sees_the_question(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
		const struct stream *s = &streams[i];

		for (size_t piece = 1; piece <= s->server_len; piece++) {
			struct pglogin l = { .state = PGLOGIN_SILENT };
			size_t seen = 0, len, passed;

			for (size_t at = 0; at < s->client_len; at++)
				pglogin_client(&l, (const unsigned char *)s->client + at, 1);
			do {
				len = s->server_len - seen < piece ? s->server_len - seen : piece;
				passed = pglogin_server(&l, (const unsigned char *)s->server + seen, len);
				seen += passed;
			} while (seen < s->server_len && passed == len);
			assert_int_equal(seen, s->seen);
			if (s->asks)
				assert_string_equal(l.asks, s->asks);
			else
				assert_null(l.asks);
			assert_int_equal(pglogin_server(&l, (const unsigned char *)"x", 1), l.asks || !s->seen ? 0 : 1);
		}
	}
}

static void errors_come_first(void **state)
{
	struct pglogin l = { .state = PGLOGIN_SILENT };

	(void)state;
	pglogin_client(&l, TEXT(STARTUP));
	pglogin_server(&l, TEXT(AUTH("\3")));
	assert_false(l.complained);
	pglogin_server(&l, TEXT(FATAL AUTH("\7")));
	assert_true(l.complained);
	assert_non_null(l.asks);
}

static void what_libpq_says_under_tls(void **state)
{
	(void)state;
	assert_true(pglogin_is_refusal("GSSAPI continuation error: No credentials were supplied"));
	assert_true(pglogin_is_refusal("connection to server at \"x\" failed: authentication method requirement "
				       "\"!gss,!sspi\" failed: server requested SSPI authentication"));
	assert_false(pglogin_is_refusal("FATAL:  GSSAPI authentication failed for user \"me\""));
}

/* ---- What who asked is told ---- */

struct world {
	struct fixture *f;
	struct pg_pool *pool;
	int listener;
	uint16_t port;
};

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	w->pool = pg_pool_new(w->f->loop, 5000, NULL);
	w->listener = fixture_listen(&w->port);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	pg_pool_free(w->pool);
	close(w->listener);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

struct result {
	int calls;
	struct err err;
};

static void on_answer(void *arg, const struct pg_answer *answer, const struct err *err)
{
	struct result *r = arg;

	(void)answer;
	r->calls++;
	if (err)
		r->err = *err;
}

static bool accepted(struct world *w, int *fd)
{
	*fd = accept4(w->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return *fd >= 0;
}

/* Waits until the client has said something; false once it has closed. */
static bool heard(int fd, bool *ended)
{
	char bytes[4096];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	*ended = n == 0 || (n < 0 && errno != EAGAIN);
	return n >= 0;
}

/* Serves one connection, whose client is told what a server says, in pieces; gives the error. */
static struct err told(struct world *w, const char *sslmode, bool early, const char *says, size_t len, size_t piece)
{
	MEM_AUTO char *text = mem_printf("host=127.0.0.1 port=%u user=me password=open-sesame dbname=shop sslmode=%s",
		w->port, sslmode);
	struct err err = { 0 };
	struct pgendpoint *e = pgendpoint_new(&(struct pgendpoint_config){ .connection = text }, &err);
	struct result r = { .calls = 0 };
	bool ended = false;
	int fd;

	assert_non_null(e);
	pg_query(w->pool, e, "SELECT 1", loop_now_ms(w->f->loop) + 5000, on_answer, &r);
	UNTIL(w->f, accepted(w, &fd));
	if (!early)
		UNTIL(w->f, heard(fd, &ended));
	for (size_t at = 0; at < len; at += piece) {
		send(fd, says + at, len - at < piece ? len - at : piece, MSG_NOSIGNAL);
		loop_turn(w->f->loop);
	}
	UNTIL(w->f, r.calls == 1);
	UNTIL(w->f, heard(fd, &ended) && ended);
	close(fd);
	pgendpoint_unref(e);
	return r.err;
}

static void asked_for(void **state)
{
	static const struct {
		const char *sslmode;
		const char *says;
		size_t len;
		const char *method;
	} rows[] = {
		{ "disable", AUTH("\7"), 9, "GSSAPI" },
		{ "disable", GSS_MORE, sizeof(GSS_MORE) - 1, "GSSAPI" },
		{ "disable", AUTH("\11"), 9, "SSPI" },
		{ "disable", AUTH("\3") AUTH("\7"), 18, "GSSAPI" },
		{ "prefer", "N" AUTH("\7"), 10, "GSSAPI" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (size_t piece = 1; piece <= rows[i].len; piece += 4) {
			struct err err = told(w, rows[i].sslmode, false, rows[i].says, rows[i].len, piece);

			assert_int_equal(err.kind, ERR_DENIED);
			assert_non_null(strstr(err.msg, "asks for a login by "));
			assert_non_null(strstr(err.msg, rows[i].method));
			assert_non_null(strstr(err.msg, "never makes"));
			assert_non_null(strstr(err.msg, "127.0.0.1"));
		}
	}
}

static void asked_for_before_the_client_spoke(void **state)
{
	struct err err = told(*state, "disable", true, AUTH("\7"), 9, 9);

	assert_non_null(strstr(err.msg, "asks for a login by GSSAPI"));
}

static void the_servers_own_word_comes_first(void **state)
{
	struct err err = told(*state, "disable", false, FATAL AUTH("\7"), sizeof(FATAL) - 1 + 9, 64);

	assert_non_null(strstr(err.msg, "go away"));
	assert_null(strstr(err.msg, "GSSAPI"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libpq_never_sees_the_question),
		cmocka_unit_test(errors_come_first),
		cmocka_unit_test(what_libpq_says_under_tls),
		cmocka_unit_test_setup_teardown(asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(asked_for_before_the_client_spoke, setup, teardown),
		cmocka_unit_test_setup_teardown(the_servers_own_word_comes_first, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
