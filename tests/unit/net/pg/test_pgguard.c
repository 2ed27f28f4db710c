/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Filtering of a server's messages for libpq, and the errors of queries.
 * tests/live/test_postgresql.py has the real server, tests/live/test_tenants_postgresql.py hostile
 * ones.
 */

#include "../fixture.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/pg/pg.h"
#include "net/pg/pgendpoint.h"
#include "net/pg/pgguard.h"

#define AUTH(code) "R\0\0\0\10\0\0\0" code
#define GSS_MORE   "R\0\0\0\14\0\0\0\10abcd"
#define SASL       "R\0\0\0\27\0\0\0\12SCRAM-SHA-256\0\0"
#define SASL_FINAL "R\0\0\0\14\0\0\0\14v=ab"
#define READY      "Z\0\0\0\5I"
#define IN_BLOCK   "Z\0\0\0\5T"
#define WELCOME    AUTH("\0") READY
#define FATAL      "E\0\0\0\25SFATAL\0Mgo away\0\0"
#define SETTING    "S\0\0\0\10a\0b\0"
#define NOTICE     "N\0\0\0\11Mab\0\0"
#define NOTIFIED   "A\0\0\0\14\0\0\0\1jo\0\0"
#define ROW        "D\0\0\0\13\0\1\0\0\0\0017"
#define DONE       "C\0\0\0\15SELECT 1\0"
#define RESET      "C\0\0\0\20DISCARD ALL\0" READY

/* ---- What libpq may see ---- */

enum state { LOGIN, OURS, SCRAM_ONLY, IDLE, LISTENING, ASKED, ASKED_AGAIN };

struct stream {
	enum state state;
	const char *says;
	size_t len;
	const char *sees;
	size_t sees_len;
	const char *refused; /* a part of the reason; NULL */
};
#define STREAM(state, says, sees, refused)                                                                             \
	{                                                                                                              \
		state, says, sizeof(says) - 1, sees, sizeof(sees) - 1, refused                                         \
	}
#define SCRAM_READ(text, size)     STREAM(LOGIN, "R\0\0\0" size "\0\0\0\13" text, "R\0\0\0" size "\0\0\0\13" text, NULL)
#define SCRAM(text, size, refused) STREAM(LOGIN, "R\0\0\0" size "\0\0\0\13" text, "", refused)

static const struct stream streams[] = {
	STREAM(LOGIN, AUTH("\7"), "", "asks for a login by GSSAPI, which kscaled never makes"),
	STREAM(LOGIN, GSS_MORE, "", "GSSAPI"),
	STREAM(LOGIN, AUTH("\11"), "", "SSPI"),
	STREAM(LOGIN, SASL GSS_MORE, SASL, "GSSAPI"),
	STREAM(LOGIN, AUTH("\3") AUTH("\7"), AUTH("\3"), "GSSAPI"),
	STREAM(LOGIN, FATAL AUTH("\11"), FATAL, "SSPI"),
	STREAM(LOGIN, "N\0\0\0\4" AUTH("\7"), "N\0\0\0\4", "GSSAPI"),
	STREAM(LOGIN, "R\0\0\0\3" AUTH("\7"), "R\0\0\0\3", NULL), /* libpq closes the connection */
	STREAM(LOGIN, WELCOME, WELCOME, NULL),
	STREAM(LOGIN, AUTH("\5"), AUTH("\5"), NULL),
	STREAM(LOGIN, "R\0\0\0\52\0\0\0\12SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0",
		"R\0\0\0\52\0\0\0\12SCRAM-SHA-256-none\0SCRAM-SHA-256\0\0", NULL),
	STREAM(LOGIN, "R\0\0\20\1\0\0\0\12", "", "far too much"),
	STREAM(LOGIN, "E\177\377\377\377", "", "far too much"),
	STREAM(LOGIN, "E\0\1\0\0", "", "far too much"),
	STREAM(SCRAM_ONLY, AUTH("\0"), "", "channel_binding"),
	STREAM(SCRAM_ONLY, AUTH("\3"), "", "channel_binding"),
	STREAM(SCRAM_ONLY, SASL SASL_FINAL WELCOME, SASL SASL_FINAL WELCOME, NULL),
	STREAM(SCRAM_ONLY, SASL AUTH("\0"), SASL, "channel_binding"),
	STREAM(IDLE, SETTING, "", NULL),
	STREAM(IDLE, NOTICE NOTIFIED FATAL, NOTICE NOTIFIED FATAL, NULL),
	STREAM(IDLE, "N\0\1\0\0", "", "too much unrequested data"),
	STREAM(IDLE, "N\100\0\0\0", "", "too much unrequested data"),
	STREAM(IDLE, "S\100\0\0\0", "", "too much unrequested data"),
	STREAM(IDLE, "A\0\0\100\0", "", "too much unrequested data"),
	STREAM(IDLE, "E\0\0\100\0", "", "too much unrequested data"),
	STREAM(IDLE, ROW, "", "sends an unexpected answer"),
	STREAM(IDLE, READY, "", "sends an unexpected answer"),
	STREAM(LISTENING, NOTIFIED NOTIFIED SETTING, NOTIFIED NOTIFIED, NULL),
	STREAM(LISTENING, "N\100\0\0\0", "", "more notifications than are read"),
	STREAM(LISTENING, "A\0\0\100\0", "", "more notifications than are read"),
	STREAM(LISTENING, DONE, "", "sends an unexpected answer"),
	STREAM(ASKED, ROW DONE READY RESET, ROW DONE READY, NULL),
	STREAM(ASKED, ROW SETTING DONE READY SETTING NOTICE RESET, ROW DONE READY, NULL),
	STREAM(ASKED, "N\0\0\77\377", "N\0\0\77\377", NULL), /* libpq stores a notice until it is complete */
	STREAM(ASKED, "N\0\0\100\0", "", NULL),
	STREAM(ASKED, FATAL READY RESET, FATAL READY, NULL),
	STREAM(ASKED, ROW DONE READY RESET ROW, ROW DONE READY, "sends an unexpected answer"),
	STREAM(ASKED, ROW DONE READY FATAL READY, ROW DONE READY, "could not be reset"),
	STREAM(ASKED, ROW DONE IN_BLOCK FATAL IN_BLOCK, ROW DONE IN_BLOCK, "could not be reset"),
	STREAM(ASKED, ROW DONE READY "C\0\0\0\20DISCARD ALL\0" IN_BLOCK, ROW DONE READY, "could not be reset"),
	STREAM(ASKED, "D\0\20\0\0", "", "longer than 1 MiB"),
	STREAM(ASKED, "D\77\377\377\377", "", "longer than 1 MiB"),
	STREAM(ASKED, "D\377\377\377\0" ROW, "D\377\377\377\0", NULL), /* libpq closes the connection */
	STREAM(ASKED_AGAIN, RESET ROW DONE READY RESET, ROW DONE READY, NULL),
	STREAM(ASKED_AGAIN, FATAL READY ROW DONE READY, "", "could not be reset"),
	SCRAM_READ("r=ab,s=QSXCR+Q6,i=4096", "\36"),
	SCRAM_READ("r=ab,s=QSXCR+Q6,i=16384", "\37"),
	SCRAM("r=ab,s=QSXCR+Q6,i=16385", "\37", "asks for 16385 SCRAM iterations, but kscaled computes at most 16384"),
	STREAM(OURS, "R\0\0\0\40\0\0\0\13r=ab,s=QSXCR+Q6,i=100000", "", NULL),
	STREAM(OURS, "R\0\0\0\40\0\0\0\13r=ab,s=QSXCR+Q6,i=100001", "",
		"asks for 100001 SCRAM iterations, but kscaled computes at most 100000"),
	STREAM(OURS, SASL SASL_FINAL WELCOME, WELCOME, NULL),
	SCRAM("r=ab,s=QSXCR+Q6,i=2147483647", "\44", "asks for 2147483647 SCRAM iterations"),
	SCRAM("r=ab,s=QSXCR+Q6,i=99999999999999999999999", "\57", "asks for more than 4294967295 SCRAM iterations"),
	SCRAM("r=ab,s=QSXCR+Q6,i= 2147483647", "\45", "without an iteration count"),
	SCRAM("r=ab,s=QSXCR+Q6,i=+2147483647", "\45", "without an iteration count"),
	SCRAM("r=ab,s=QSXCR+Q6,j=1,i=2147483647", "\50", "invalid SCRAM message"),
	SCRAM("r=ab,i=1,s=Q,i=2147483647", "\41", "invalid SCRAM message"),
	SCRAM("r=ab", "\14", "invalid SCRAM message"),
};

static struct pgguard guard_in(enum state state)
{
	struct pgguard g = { .listens = state == LISTENING,
		.channel = state == SCRAM_ONLY,
		.logs_in = state == OURS,
		.ours = state == OURS };
	unsigned char end[] = READY;
	size_t kept;

	if (state > SCRAM_ONLY)
		pgguard_opened(&g);
	if (state >= ASKED)
		pgguard_asked(&g);
	if (state == ASKED_AGAIN) { /* during the reset after the first one */
		pgguard_take(&g, end, sizeof(end) - 1, &kept);
		pgguard_asked(&g);
	}
	return g;
}

static void messages_are_filtered(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(streams); i++) {
		const struct stream *s = &streams[i];

		for (size_t piece = 1; piece <= s->len; piece++) {
			struct pgguard g = guard_in(s->state);
			unsigned char waiting[256], seen[256];
			size_t have = 0, seen_len = 0, kept, used;

			for (size_t at = 0; at < s->len; at++) {
				waiting[have++] = (unsigned char)s->says[at];
				if (have < piece && at + 1 < s->len)
					continue;
				do {
					used = pgguard_take(&g, waiting, have, &kept);
					memcpy(seen + seen_len, waiting, kept);
					seen_len += kept;
					memmove(waiting, waiting + used, have - used);
					have -= used;
				} while (used && have);
			}
			if (s->refused ? !strstr(g.err.msg, s->refused) : g.err.kind != ERR_NONE)
				fail_msg("%zu, in pieces of %zu: %s", i, piece, g.err.msg);
			if (seen_len != s->sees_len)
				fail_msg("%zu, in pieces of %zu: %zu bytes", i, piece, seen_len);
			assert_memory_equal(seen, s->sees, seen_len);
		}
	}
}

static void take(struct pgguard *g, const char *says, size_t len)
{
	unsigned char bytes[256];
	size_t kept;

	memcpy(bytes, says, len);
	pgguard_take(g, bytes, len, &kept);
}

static void errors_take_precedence(void **state)
{
	struct pgguard g = guard_in(LOGIN);

	(void)state;
	take(&g, AUTH("\3"), 9);
	assert_false(g.complained);
	take(&g, FATAL AUTH("\7"), sizeof(FATAL) - 1 + 9);
	assert_true(g.complained);
	assert_int_equal(g.err.kind, ERR_DENIED);
}

/* libpq stores all settings, and searches them linearly at each new one. */
static void settings_are_limited(void **state)
{
	struct pgguard g = guard_in(LOGIN);
	size_t seen = 0, kept;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		unsigned char bytes[] = SETTING;

		pgguard_take(&g, bytes, sizeof(bytes) - 1, &kept);
		seen += kept;
	}
	assert_in_range(seen, PGGUARD_SETTINGS_MAX / 2, PGGUARD_SETTINGS_MAX);
	assert_int_equal(g.err.kind, ERR_NONE);
	for (int i = 0; i < 5000; i++)
		take(&g, SETTING, sizeof(SETTING) - 1);
	assert_non_null(strstr(g.err.msg, "far too much"));
}

static size_t taken_until_refused(struct pgguard *g, const char *says, size_t len)
{
	size_t count = 0;

	for (; g->err.kind == ERR_NONE && count < (1u << 25); count += len)
		take(g, says, len);
	return count;
}

static void floods_are_refused(void **state)
{
	struct pgguard idle = guard_in(IDLE), listening = guard_in(LISTENING), asked = guard_in(ASKED);

	(void)state;
	assert_in_range(taken_until_refused(&idle, SETTING, sizeof(SETTING) - 1), 1, PGGUARD_IDLE_MAX + 256);
	assert_in_range(taken_until_refused(&listening, NOTIFIED, sizeof(NOTIFIED) - 1), PGGUARD_LISTEN_MAX,
		PGGUARD_LISTEN_MAX + 256);
	assert_in_range(taken_until_refused(&asked, ROW, sizeof(ROW) - 1), PGGUARD_ANSWER_MAX,
		PGGUARD_ANSWER_MAX + 256);
	assert_int_equal(asked.err.kind, ERR_INVALID);
}

/* libpq's buffer never shrinks. */
static void a_long_answer_makes_the_connection_unusable(void **state)
{
	struct pgguard little = guard_in(ASKED), much = guard_in(ASKED), open = guard_in(ASKED);

	(void)state;
	take(&little, ROW DONE READY, sizeof(ROW DONE READY) - 1);
	assert_false(little.worn);
	for (int i = 0; i < 10000; i++)
		take(&much, ROW, sizeof(ROW) - 1);
	take(&much, DONE READY, sizeof(DONE READY) - 1);
	assert_true(much.worn);
	take(&open, DONE IN_BLOCK, sizeof(DONE IN_BLOCK) - 1);
	assert_true(open.worn);
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
	w->pool = pg_pool_new(w->f->loop, 5000, NULL, NULL);
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

/* Waits until the client has sent something; false once it has closed. */
static bool heard(int fd, bool *ended)
{
	char bytes[4096];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	*ended = n == 0 || (n < 0 && errno != EAGAIN);
	return n >= 0;
}

/* Serves one connection with a server's bytes, in pieces; returns the error. */
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
	endpoint_unref(e);
	return r.err;
}

static void answers_to_the_tls_request(void **state)
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

static void data_before_the_tls_request(void **state)
{
	struct err err = told(*state, "disable", true, AUTH("\7"), 9, 9);

	assert_non_null(strstr(err.msg, "asks for a login by GSSAPI"));
}

static void the_servers_own_error_takes_precedence(void **state)
{
	struct err err = told(*state, "disable", false, FATAL AUTH("\7"), sizeof(FATAL) - 1 + 9, 64);

	assert_non_null(strstr(err.msg, "go away"));
	assert_null(strstr(err.msg, "GSSAPI"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_filtered),
		cmocka_unit_test(errors_take_precedence),
		cmocka_unit_test(settings_are_limited),
		cmocka_unit_test(floods_are_refused),
		cmocka_unit_test(a_long_answer_makes_the_connection_unusable),
		cmocka_unit_test_setup_teardown(answers_to_the_tls_request, setup, teardown),
		cmocka_unit_test_setup_teardown(data_before_the_tls_request, setup, teardown),
		cmocka_unit_test_setup_teardown(the_servers_own_error_takes_precedence, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
