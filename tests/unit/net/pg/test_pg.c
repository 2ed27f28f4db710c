/* SPDX-License-Identifier: Apache-2.0 */

/*
 * PostgreSQL connections against a scripted server; tests/live/test_postgresql.py has the real one.
 */

#include "../fixture.h"

#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/shares.h"
#include "net/network.h"
#include "net/pg/pg.h"
#include "net/pg/pgendpoint.h"

#define ASK_MS  1000
#define READY   "Z\0\0\0\5I"
#define WELCOME "R\0\0\0\10\0\0\0\0" READY
#define COLUMN  "T\0\0\0\32\0\1n\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\0"
#define ROW_7                                                                                                          \
	"D\0\0\0\13\0\1\0\0\0\1"                                                                                       \
	"7"
#define DONE           "C\0\0\0\15SELECT 1\0"
#define RESET          "C\0\0\0\20DISCARD ALL\0" READY
#define ANSWER         COLUMN ROW_7 DONE READY RESET
#define SEND(fd, text) send_bytes((fd), (text), sizeof(text) - 1)

struct world {
	struct fixture *f;
	struct pg_pool *pool;
	int listener;
	uint16_t port;
	struct pgendpoint *endpoint;
};

static struct pgendpoint *endpoint_of(const struct world *w, const char *more)
{
	MEM_AUTO char *text =
		mem_printf("host=127.0.0.1 port=%u user=me password=open-sesame dbname=shop sslmode=disable %s",
			w->port, more);
	struct err err = { 0 };
	struct pgendpoint *e = pgendpoint_new(&(struct pgendpoint_config){ .connection = text }, &err);

	assert_non_null(e);
	return e;
}

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	setenv("PGOPTIONS", "-c nonsense", 1);
	setenv("PGSSLMODE", "nonsense", 1);
	w->f = f;
	w->pool = pg_pool_new(w->f->loop, ASK_MS, NULL, NULL);
	w->listener = fixture_listen(&w->port);
	w->endpoint = endpoint_of(w, "");
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	pg_pool_free(w->pool);
	endpoint_unref(w->endpoint);
	close(w->listener);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

static size_t connections(const struct world *w)
{
	return fixture_descriptors(w->f) / 3;
}

/* ---- The server's side ---- */

struct peer {
	int fd;
	char got[8192];
	size_t len;
};

static void send_bytes(int fd, const void *bytes, size_t len)
{
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

static bool has_bytes(struct peer *p, const char *text)
{
	ssize_t n = recv(p->fd, p->got + p->len, sizeof(p->got) - p->len, MSG_DONTWAIT);

	if (n > 0)
		p->len += (size_t)n;
	return memmem(p->got, p->len, text, strlen(text)) != NULL;
}

static bool has_ended(struct peer *p)
{
	char byte[4096];
	ssize_t n = recv(p->fd, byte, sizeof(byte), MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN);
}

static bool try_accept(struct world *w, struct peer *p)
{
	p->len = 0;
	p->fd = accept4(w->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return p->fd >= 0;
}

static void accept_peer(struct world *w, struct peer *p)
{
	UNTIL(w->f, try_accept(w, p));
	UNTIL(w->f, has_bytes(p, "client_encoding"));
}

static void let_in(struct world *w, struct peer *p)
{
	accept_peer(w, p);
	SEND(p->fd, WELCOME);
}

static void wait_query(struct world *w, struct peer *p, const char *sql)
{
	UNTIL(w->f, has_bytes(p, sql));
	p->len = 0;
}

static void send_error(struct peer *p, const char *state, const char *text)
{
	char body[512];
	int len = snprintf(body, sizeof(body), "SFATAL%cC%s%cM%s%c", 0, state, 0, text, 0) + 1;
	unsigned char head[5] = { 'E', 0, 0, (unsigned char)((len + 4) >> 8), (unsigned char)(len + 4) };

	send_bytes(p->fd, head, 5);
	send_bytes(p->fd, body, (size_t)len);
}

/* ---- Who asks ---- */

struct result {
	struct pool_call *call;
	int calls;
	char text[64];
	bool is_null;
	uint64_t rows;
	int columns;
	struct err err;
};

static void on_answer(void *arg, const struct pg_answer *answer, const struct err *err)
{
	struct result *r = arg;

	r->calls++;
	r->err.kind = ERR_NONE;
	if (err) {
		r->err = *err;
		return;
	}
	snprintf(r->text, sizeof(r->text), "%s", answer->text ? answer->text : "");
	r->is_null = !answer->text;
	r->rows = answer->rows;
	r->columns = answer->columns;
}

static void ask(struct world *w, struct result *r, const char *sql, int64_t patience_ms)
{
	memset(r, 0, sizeof(*r));
	r->call = pg_query(w->pool, w->endpoint, sql, loop_now_ms(w->f->loop) + patience_ms, on_answer, r);
	assert_int_equal(r->calls, 0);
}

static void queries_are_sent_one_by_one(void **state)
{
	struct world *w = *state;
	struct result a, b;
	struct peer p;
	int64_t asked_ms = loop_now_ms(w->f->loop), sent_ms;

	ask(w, &a, "SELECT 1", ASK_MS);
	ask(w, &b, "SELECT 2", ASK_MS);
	accept_peer(w, &p);
	assert_true(has_bytes(&p, "statement_timeout=900"));
	assert_true(memmem(p.got, p.len, "kscaled", 7) != NULL);
	assert_null(memmem(p.got, p.len, "nonsense", 8));
	assert_null(memmem(p.got, p.len, "open-sesame", 11));
	SEND(p.fd, WELCOME);
	wait_query(w, &p, "SELECT 1");
	fixture_linger(w->f, 20);
	assert_false(has_bytes(&p, "SELECT 2"));
	SEND(p.fd, ANSWER);
	UNTIL(w->f, a.calls == 1);
	assert_string_equal(a.text, "7");
	assert_int_equal(a.rows, 1);
	assert_int_equal(a.columns, 1);
	wait_query(w, &p, "SELECT 2");
	sent_ms = loop_now_ms(w->f->loop);
	SEND(p.fd, COLUMN "D\0\0\0\12\0\1\377\377\377\377" DONE READY RESET);
	UNTIL(w->f, b.calls == 1);
	assert_true(b.is_null);
	/* On a busy machine a second connection after so long is correct (GROW_MS in pg.c). */
	if (sent_ms - asked_ms < 50)
		assert_int_equal(connections(w), 1);
	assert_null(getenv("PGOPTIONS"));
	close(p.fd);
}

static void a_slow_query_opens_a_second_connection(void **state)
{
	struct world *w = *state;
	struct result a, b;
	struct peer p, q;

	ask(w, &a, "SELECT slow", ASK_MS);
	ask(w, &b, "SELECT quick", ASK_MS);
	let_in(w, &p);
	wait_query(w, &p, "SELECT slow");
	let_in(w, &q);
	wait_query(w, &q, "SELECT quick");
	SEND(q.fd, ANSWER);
	UNTIL(w->f, b.calls == 1);
	assert_int_equal(a.calls, 0);
	assert_int_equal(connections(w), 2);
	UNTIL(w->f, a.calls == 1);
	assert_int_equal(a.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(a.err.msg, "did not end in time"));
	UNTIL(w->f, has_ended(&p));
	close(p.fd);
	close(q.fd);
}

static void a_pooler_that_refuses_options(void **state)
{
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", ASK_MS);
	accept_peer(w, &p);
	send_error(&p, "08P01", "unsupported startup parameter: options");
	close(p.fd);
	accept_peer(w, &p);
	assert_false(has_bytes(&p, "statement_timeout"));
	SEND(p.fd, WELCOME);
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, ANSWER);
	UNTIL(w->f, a.calls == 1);
	assert_string_equal(a.text, "7");
	close(p.fd);
}

static void refused_and_backing_off(void **state)
{
	struct world *w = *state;
	struct result a, b;
	struct peer p;

	ask(w, &a, "SELECT 1", ASK_MS);
	accept_peer(w, &p);
	send_error(&p, "08P01", "password authentication failed for \"open-sesame\"");
	close(p.fd);
	UNTIL(w->f, a.calls == 1);
	assert_int_equal(a.err.kind, ERR_DENIED);
	assert_non_null(strstr(a.err.msg, "password authentication failed"));
	assert_null(strstr(a.err.msg, "open-sesame"));
	ask(w, &b, "SELECT 1", 20); /* during the back-off: the last error */
	UNTIL(w->f, b.calls == 1);
	assert_string_equal(a.err.msg, b.err.msg);
	assert_int_equal(b.err.kind, ERR_DENIED);
	assert_false(try_accept(w, &p));
	ask(w, &b, "SELECT 1", ASK_MS); /* waits for the next connection and gets its result */
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, ANSWER);
	UNTIL(w->f, b.calls == 1);
	assert_string_equal(b.text, "7");
	close(p.fd);
}

/* libpq itself reconnects without application_name to a server that does not know a setting. */
static void an_unknown_setting(void **state)
{
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", 10000);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, ANSWER);
	UNTIL(w->f, a.calls == 1);
	close(p.fd);
	UNTIL(w->f, connections(w) == 0);
	ask(w, &a, "SELECT 1", 10000);
	accept_peer(w, &p);
	SEND(p.fd, "R\0\0\0\10\0\0\0\0");
	send_error(&p, "42704", "unrecognized configuration parameter \"application_name\"");
	close(p.fd);
	accept_peer(w, &p);
	assert_null(memmem(p.got, p.len, "application_name", 16));
	SEND(p.fd, WELCOME);
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, ANSWER);
	UNTIL(w->f, a.calls == 1);
	assert_string_equal(a.text, "7");
	close(p.fd);
}

/* Only a valid SQLSTATE is shown. */
static void password_as_sqlstate(void **state)
{
	static const char *const states[] = { "21P01open-sesame", "open-sesame", "21p01" };
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", ASK_MS);
	let_in(w, &p);
	for (size_t i = 0; i < MEM_COUNT(states); i++) {
		if (i > 0)
			ask(w, &a, "SELECT 1", ASK_MS);
		wait_query(w, &p, "SELECT 1");
		send_error(&p, states[i], "no such table");
		SEND(p.fd, READY RESET);
		UNTIL(w->f, a.calls == 1);
		assert_non_null(strstr(a.err.msg, "/shop: no such table"));
		assert_null(strstr(a.err.msg, "SQLSTATE"));
		assert_int_equal(a.err.kind, ERR_TEMPORARY);
	}
	close(p.fd);
}

/* Accepts logins and closes at the query: must not cause a connection per waiting query. */
static void a_server_that_closes_at_every_query(void **state)
{
	static struct result asked[100];
	struct world *w = *state;
	struct peer p;
	int64_t begin_ms = loop_now_ms(w->f->loop);
	int dials = 0;

	for (size_t i = 0; i < 100; i++)
		ask(w, &asked[i], "SELECT 1", 1000);
	while (loop_now_ms(w->f->loop) - begin_ms < 1200) {
		if (try_accept(w, &p)) {
			dials++;
			SEND(p.fd, WELCOME);
			for (int i = 0; i < 40 && !has_bytes(&p, "SELECT 1"); i++)
				fixture_linger(w->f, 5);
			close(p.fd);
		}
		fixture_linger(w->f, 5);
	}
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(asked[i].calls, 1);
		assert_true(asked[i].err.kind != ERR_NONE);
	}
	assert_in_range(dials, 2, 8);
}

/* Truncating would change the number. */
static void a_value_too_long_for_a_number(void **state)
{
	static const char head[] = COLUMN "D\0\0\1\233\0\1\0\0\1\221"; /* 411 bytes with a value of 401 */
	struct world *w = *state;
	char digits[401];
	struct result a;
	struct peer p;

	memset(digits, '1', sizeof(digits));
	ask(w, &a, "SELECT 1", ASK_MS);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, head);
	send_bytes(p.fd, digits, sizeof(digits));
	SEND(p.fd, DONE READY);
	UNTIL(w->f, a.calls == 1);
	assert_int_equal(a.err.kind, ERR_NONE);
	assert_false(a.is_null);
	assert_string_equal(a.text, "");
	close(p.fd);
}

static void a_giant_row(void **state)
{
	static const char head[] = COLUMN "D\77\377\377\377\0\1\77\377\377\360";
	struct world *w = *state;
	char block[16384];
	struct result a;
	struct peer p;
	size_t sent = 0;

	memset(block, '1', sizeof(block));
	ask(w, &a, "SELECT 1", 10000);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, head);
	while (!a.calls && sent < (64u << 20)) {
		ssize_t n = send(p.fd, block, sizeof(block), MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			sent += (size_t)n;
		loop_turn(w->f->loop);
	}
	assert_int_equal(a.calls, 1);
	assert_non_null(strstr(a.err.msg, "1 MiB"));
	assert_true(sent < (16u << 20));
	UNTIL(w->f, has_ended(&p));
	close(p.fd);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	*(bool *)arg = true;
}

/* libpq closes its socket meanwhile: the next socket with this number must be watched correctly. */
static void check_next_socket(struct world *w)
{
	int pair[2];
	bool heard = false;
	struct event *event;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	for (size_t i = 0; i < 2; i++) {
		heard = false;
		event = event_new(loop_base(w->f->loop), pair[i], EV_READ, on_readable, &heard);
		assert_int_equal(event_add(event, NULL), 0);
		assert_int_equal(write(pair[1 - i], "x", 1), 1);
		UNTIL(w->f, heard);
		event_free(event);
	}
	close(pair[0]);
	close(pair[1]);
}

static void a_malformed_answer(void **state)
{
	static const char endless[] = COLUMN "D\377\377\377\0\0\1";
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", 10000);
	for (int i = 0; i < 2; i++) { /* the query is sent again */
		let_in(w, &p);
		wait_query(w, &p, "SELECT 1");
		SEND(p.fd, endless);
		UNTIL(w->f, has_ended(&p));
		check_next_socket(w);
		close(p.fd);
	}
	UNTIL(w->f, a.calls == 1);
	assert_non_null(strstr(a.err.msg, "lost synchronization with server"));
	assert_int_equal(connections(w), 0);
}

static void malformed_messages_between_answers(void **state)
{
	static const char backwards[] = "Z\0\0\0\1";
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", ASK_MS);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, ANSWER);
	UNTIL(w->f, a.calls == 1);
	SEND(p.fd, backwards);
	UNTIL(w->f, has_ended(&p));
	check_next_socket(w);
	close(p.fd);
	UNTIL(w->f, connections(w) == 0);
}

/* libpq alone would read without end, in one call. */
static void flood_before_the_greeting(void **state)
{
	struct world *w = *state;
	char block[16384];
	struct result a;
	struct peer p;
	size_t sent = 0;

	memset(block, 'x', sizeof(block));
	ask(w, &a, "SELECT 1", 10000);
	accept_peer(w, &p);
	SEND(p.fd, "E\177\377\377\377");
	while (!a.calls && sent < (64u << 20)) {
		ssize_t n = send(p.fd, block, sizeof(block), MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0)
			sent += (size_t)n;
		loop_turn(w->f->loop);
	}
	assert_int_equal(a.calls, 1);
	/* libpq 16 and later do not wait for an error message of such a length */
	assert_true(strstr(a.err.msg, "far too much") || strstr(a.err.msg, "received invalid"));
	assert_true(sent < (16u << 20));
	close(p.fd);
}

/* ---- Its sockets' numbers ---- */

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* Counts descriptors in one epoll set whose numbers now belong to other files or none. */
static int forgotten_of(const char *number)
{
	MEM_AUTO char *path = mem_printf("/proc/self/fdinfo/%s", number);
	FILE *file = fopen(path, "r");
	char line[256];
	int count = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		unsigned long inode;
		struct stat st;
		int fd;

		if (sscanf(line, "tfd: %d events: %*s data: %*s pos:%*s ino:%lx", &fd, &inode) == 2)
			count += fstat(fd, &st) < 0 || st.st_ino != inode;
	}
	fclose(file);
	return count;
}

/* epoll would report each of them for ever. */
static int forgotten_watches(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int epolls = 0, count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char target[64] = "";

		if (readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1) > 0 &&
			strstr(target, "[eventpoll]")) {
			epolls++;
			count += forgotten_of(entry->d_name);
		}
	}
	closedir(dir);
	assert_true(epolls > 0);
	return count;
}

/* A server that sends nothing must not be polled in a loop: libpq has one end of a socket pair. */
static void a_silent_server_costs_no_work(void **state)
{
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", ASK_MS);
	accept_peer(w, &p);
	fixture_linger(w->f, 20);
	assert_int_equal(forgotten_watches(), 0);
	SEND(p.fd, WELCOME);
	wait_query(w, &p, "SELECT 1");
	fixture_linger(w->f, 20);
	assert_int_equal(forgotten_watches(), 0);
	SEND(p.fd, ANSWER);
	UNTIL(w->f, a.calls == 1);
	close(p.fd);
}

/* The pump stays in place between libpq and the server. */
static void an_answer_in_two_pieces(void **state)
{
	struct world *w = *state;
	struct result a;
	struct peer p;
	int before;

	ask(w, &a, "SELECT 1", ASK_MS);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	fixture_linger(w->f, 20);
	before = descriptors();
	SEND(p.fd, COLUMN);
	fixture_linger(w->f, 20);
	SEND(p.fd, ROW_7);
	fixture_linger(w->f, 20);
	assert_int_equal(forgotten_watches(), 0);
	SEND(p.fd, DONE READY RESET);
	UNTIL(w->f, a.calls == 1);
	assert_string_equal(a.text, "7");
	fixture_linger(w->f, 20);
	assert_int_equal(descriptors(), before);
	ask(w, &a, "SELECT 2", ASK_MS);
	wait_query(w, &p, "SELECT 2");
	SEND(p.fd, ANSWER);
	UNTIL(w->f, a.calls == 1);
	assert_string_equal(a.text, "7");
	assert_int_equal(connections(w), 1);
	close(p.fd);
}

/* The session is reset before the next statement, without a wait. */
static void the_session_is_reset_after_each_statement(void **state)
{
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", ASK_MS);
	let_in(w, &p);
	UNTIL(w->f, has_bytes(&p, "DISCARD ALL"));
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, COLUMN ROW_7 DONE READY);
	UNTIL(w->f, a.calls == 1);
	ask(w, &a, "SELECT 2", ASK_MS);
	UNTIL(w->f, has_bytes(&p, "DISCARD ALL"));
	SEND(p.fd, RESET COLUMN "D\0\0\0\13\0\1\0\0\0\0018" DONE READY);
	UNTIL(w->f, a.calls == 1);
	assert_string_equal(a.text, "8");
	SEND(p.fd, RESET);
	fixture_linger(w->f, 20);
	assert_int_equal(connections(w), 1);
	close(p.fd);
}

static void a_session_that_cannot_be_reset_is_closed(void **state)
{
	static const char in_block[] = COLUMN ROW_7 DONE "Z\0\0\0\5T";
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "BEGIN; SELECT 1", ASK_MS);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, in_block);
	UNTIL(w->f, a.calls == 1);
	assert_string_equal(a.text, "7");
	UNTIL(w->f, has_ended(&p));
	close(p.fd);
	ask(w, &a, "SELECT 2", ASK_MS);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 2");
	SEND(p.fd, COLUMN ROW_7 DONE READY);
	UNTIL(w->f, a.calls == 1);
	send_error(&p, "42601", "syntax error at or near \"DISCARD\"");
	SEND(p.fd, READY);
	UNTIL(w->f, has_ended(&p));
	assert_int_equal(connections(w), 0);
	close(p.fd);
}

/* The data is dropped; above a limit the connection is closed. */
static void flood_between_statements(void **state)
{
	static const char *const shapes[] = { "N\100\0\0\0", "S\0\0\0\10a\0b\0" };
	static const size_t lens[] = { 5, 9 };
	struct world *w = *state;
	struct result a;
	struct peer p;

	for (size_t i = 0; i < MEM_COUNT(shapes); i++) {
		int turns = 0;

		ask(w, &a, "SELECT 1", ASK_MS);
		let_in(w, &p);
		wait_query(w, &p, "SELECT 1");
		SEND(p.fd, ANSWER);
		UNTIL(w->f, a.calls == 1);
		while (!has_ended(&p) && turns++ < 200000) {
			send(p.fd, shapes[i], lens[i], MSG_NOSIGNAL | MSG_DONTWAIT);
			loop_turn(w->f->loop);
		}
		assert_in_range(turns, 0, 20000);
		assert_int_equal(connections(w), 0);
		close(p.fd);
	}
}

/* Answers in small pieces are complete, also repeatedly on the same connection. */
static void answers_in_small_pieces(void **state)
{
	static const char answer[] = ANSWER;
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", 10000);
	let_in(w, &p);
	for (int round = 0; round < 2; round++) {
		wait_query(w, &p, "SELECT 1");
		for (size_t i = 0; i < sizeof(answer) - 1; i++) {
			send_bytes(p.fd, answer + i, 1);
			fixture_linger(w->f, 1);
		}
		UNTIL(w->f, a.calls == 1);
		assert_string_equal(a.text, "7");
		ask(w, &a, "SELECT 1", 10000);
	}
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, COLUMN ROW_7);
	shutdown(p.fd, SHUT_RDWR); /* an incomplete answer is no answer */
	UNTIL(w->f, a.calls == 1);
	assert_int_equal(a.err.kind, ERR_TEMPORARY);
	close(p.fd);
}

static void cancelled(void **state)
{
	struct world *w = *state;
	struct result running, queued, later;
	struct peer p;

	ask(w, &running, "SELECT 1", ASK_MS);
	ask(w, &queued, "SELECT 2", ASK_MS);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	pool_cancel(running.call);
	pool_cancel(queued.call);
	ask(w, &later, "SELECT 3", ASK_MS);
	SEND(p.fd, ANSWER);
	wait_query(w, &p, "SELECT 3");
	SEND(p.fd, ANSWER);
	UNTIL(w->f, later.calls == 1);
	assert_int_equal(running.calls + queued.calls, 0);
	ask(w, &running, "SELECT 4", ASK_MS);
	ask(w, &queued, "SELECT 5", ASK_MS); /* freed with the pool */
	close(p.fd);
}

/* The end of an idle connection is not reported. */
static void an_idle_connection_ends(void **state)
{
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", ASK_MS);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	SEND(p.fd, ANSWER);
	UNTIL(w->f, a.calls == 1);
	send_error(&p, "08P01", "terminating connection due to administrator command");
	close(p.fd);
	UNTIL(w->f, connections(w) == 0);
	ask(w, &a, "SELECT 2", ASK_MS);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 2");
	SEND(p.fd, ANSWER);
	UNTIL(w->f, a.calls == 1);
	assert_int_equal(a.err.kind, ERR_NONE);
	close(p.fd);
}

/* A connection that had already ended is no failure; the second time it is one. */
static void the_connection_ends_during_a_query(void **state)
{
	struct world *w = *state;
	struct result a;
	struct peer p;

	ask(w, &a, "SELECT 1", 10000);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	send_error(&p, "57P01", "terminating connection due to administrator command");
	close(p.fd);
	let_in(w, &p);
	wait_query(w, &p, "SELECT 1");
	assert_int_equal(a.calls, 0);
	send_error(&p, "57P01", "terminating connection due to administrator command");
	close(p.fd);
	UNTIL(w->f, a.calls == 1);
	assert_int_equal(a.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(a.err.msg, "administrator command"));
}

/* ---- Listening ---- */

static void on_look(void *arg)
{
	++*(int *)arg;
}

static void send_notification(struct peer *p, const char *channel)
{
	char body[128] = { 0 };
	size_t len = 4 + strlen(channel) + 2;
	unsigned char head[5] = { 'A', 0, 0, 0, (unsigned char)(len + 4) };

	memcpy(body + 4, channel, strlen(channel));
	send_bytes(p->fd, head, 5);
	send_bytes(p->fd, body, len);
}

static void notifications(void **state)
{
	struct world *w = *state;
	int jobs = 0, others = 0;
	struct pg_listener *a = pg_listen(w->pool, w->endpoint, "new \"jobs\"", on_look, &jobs),
			   *b = pg_listen(w->pool, w->endpoint, "others", on_look, &others), *c;
	struct peer p, q;
	char echo[64], *found;

	assert_int_equal(pg_listen_report(a).state, PG_LISTEN_STARTING);
	let_in(w, &p);
	UNTIL(w->f, has_bytes(&p, "LISTEN \"others\""));
	assert_true(has_bytes(&p, "LISTEN \"new \"\"jobs\"\"\""));
	found = memmem(p.got, p.len, "kscaled_", 8);
	assert_non_null(found);
	snprintf(echo, sizeof(echo), "%.24s", found);
	p.len = 0;
	SEND(p.fd,
		"C\0\0\0\13LISTEN\0"
		"C\0\0\0\13LISTEN\0"
		"C\0\0\0\13LISTEN\0" READY);
	let_in(w, &q); /* the notification takes another connection */
	UNTIL(w->f, has_bytes(&q, echo));
	assert_int_equal(pg_listen_report(a).state, PG_LISTEN_STARTING);
	assert_int_equal(jobs, 0);
	send_notification(&p, echo);
	UNTIL(w->f, jobs == 1 && others == 1); /* once, as notifications may have been missed */
	assert_int_equal(pg_listen_report(a).state, PG_LISTEN_ON);
	assert_false(pg_listen_report(a).heard);
	for (int i = 0; i < 50; i++)
		send_notification(&p, "new \"jobs\"");
	UNTIL(w->f, jobs > 1);
	assert_true(jobs < 20);
	assert_int_equal(others, 1);
	assert_true(pg_listen_report(a).heard);
	/* One listener joins, one leaves. */
	c = pg_listen(w->pool, w->endpoint, "third", on_look, &others);
	pg_unlisten(b);
	UNTIL(w->f, has_bytes(&p, "UNLISTEN \"others\""));
	assert_true(has_bytes(&p, "LISTEN \"third\""));
	/* The loss is reported; then it is retried. */
	close(p.fd);
	UNTIL(w->f, pg_listen_report(a).state == PG_LISTEN_FAILING);
	assert_non_null(strstr(pg_listen_report(a).why, "127.0.0.1"));
	let_in(w, &p);
	UNTIL(w->f, has_bytes(&p, "LISTEN \"third\""));
	pg_unlisten(a);
	pg_unlisten(c);
	close(p.fd);
	close(q.fd);
}

static void listening_is_refused(void **state)
{
	struct world *w = *state;
	int looks = 0;
	struct pg_listener *l = pg_listen(w->pool, w->endpoint, "jobs", on_look, &looks);
	struct peer p;

	let_in(w, &p);
	UNTIL(w->f, has_bytes(&p, "LISTEN"));
	send_error(&p, "25006", "cannot execute LISTEN during recovery");
	SEND(p.fd, READY);
	UNTIL(w->f, pg_listen_report(l).state == PG_LISTEN_OFF);
	assert_non_null(strstr(pg_listen_report(l).why, "cannot execute LISTEN"));
	assert_int_equal(looks, 0);
	pg_unlisten(l);
	close(p.fd);
}

/* Too many refused logins would lock the account. */
static void a_refused_listener_backs_off(void **state)
{
	struct world *w = *state;
	int looks = 0;
	struct pg_listener *l = pg_listen(w->pool, w->endpoint, "jobs", on_look, &looks);
	struct peer p;

	accept_peer(w, &p);
	send_error(&p, "28P01", "password authentication failed for user \"me\"");
	close(p.fd);
	UNTIL(w->f, pg_listen_report(l).state == PG_LISTEN_FAILING);
	fixture_linger(w->f, 1000);
	assert_false(try_accept(w, &p));
	pg_unlisten(l);
}

static struct pgendpoint *endpoint_in(const struct world *w, const char *namespace_)
{
	MEM_AUTO char *text = mem_printf("host=127.0.0.1 port=%u user=me dbname=shop sslmode=disable", w->port);
	struct err err;
	struct pgendpoint *e =
		pgendpoint_new(&(struct pgendpoint_config){ .connection = text, .namespace_ = namespace_ }, &err);

	assert_non_null(e);
	return e;
}

/*
 * Whether the namespace holds a connection's three descriptors: four more of sixteen are then too
 * many.
 */
static bool has_descriptors(struct world *w, const char *namespace_)
{
	struct shares_hold more = { 0 };
	bool taken = shares_take(&network_of(w->f->loop)->descriptors, &more, namespace_, 4);

	shares_give(&more, 4);
	return !taken;
}

/* The first listener leaves, and later ones remain. */
static void listening_is_charged_to_the_listeners(void **state)
{
	struct world *w = *state;
	struct pgendpoint *first = endpoint_in(w, "first"), *second = endpoint_in(w, "second");
	struct pg_listener *a, *b;
	struct peer p, q;
	int looks = 0;
	char echo[64];

	network_of(w->f->loop)->descriptors = (struct shares){ .total = 16, .few = 4 };
	a = pg_listen(w->pool, first, "jobs", on_look, &looks);
	let_in(w, &p);
	UNTIL(w->f, has_bytes(&p, "LISTEN \"jobs\""));
	snprintf(echo, sizeof(echo), "%.24s", (char *)memmem(p.got, p.len, "kscaled_", 8));
	assert_true(has_descriptors(w, "first"));
	SEND(p.fd, "C\0\0\0\13LISTEN\0" READY);
	p.len = 0;
	let_in(w, &q);
	UNTIL(w->f, has_bytes(&q, echo));
	SEND(q.fd, ANSWER);
	send_notification(&p, echo);
	UNTIL(w->f, pg_listen_report(a).state == PG_LISTEN_ON);
	close(q.fd);
	UNTIL(w->f, connections(w) == 1);
	b = pg_listen(w->pool, second, "jobs", on_look, &looks);
	UNTIL(w->f, !has_descriptors(w, "first"));
	assert_false(has_descriptors(w, "second"));
	assert_true(has_descriptors(w, "")); /* several */
	close(p.fd);
	let_in(w, &p); /* the next connection is charged to them, too */
	UNTIL(w->f, has_bytes(&p, "LISTEN \"jobs\""));
	assert_true(has_descriptors(w, ""));
	assert_false(has_descriptors(w, "first"));
	snprintf(echo, sizeof(echo), "%.24s", (char *)memmem(p.got, p.len, "kscaled_", 8));
	SEND(p.fd, "C\0\0\0\13LISTEN\0" READY);
	let_in(w, &q);
	UNTIL(w->f, has_bytes(&q, echo));
	SEND(q.fd, ANSWER);
	send_notification(&p, echo);
	UNTIL(w->f, pg_listen_report(b).state == PG_LISTEN_ON);
	close(q.fd);
	UNTIL(w->f, connections(w) == 1);
	pg_unlisten(a);
	UNTIL(w->f, has_descriptors(w, "second"));
	assert_false(has_descriptors(w, "first"));
	pg_unlisten(b);
	close(p.fd);
	endpoint_unref(first);
	endpoint_unref(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(queries_are_sent_one_by_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_slow_query_opens_a_second_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pooler_that_refuses_options, setup, teardown),
		cmocka_unit_test_setup_teardown(refused_and_backing_off, setup, teardown),
		cmocka_unit_test_setup_teardown(an_unknown_setting, setup, teardown),
		cmocka_unit_test_setup_teardown(password_as_sqlstate, setup, teardown),
		cmocka_unit_test_setup_teardown(a_server_that_closes_at_every_query, setup, teardown),
		cmocka_unit_test_setup_teardown(a_value_too_long_for_a_number, setup, teardown),
		cmocka_unit_test_setup_teardown(a_giant_row, setup, teardown),
		cmocka_unit_test_setup_teardown(a_malformed_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed_messages_between_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(flood_before_the_greeting, setup, teardown),
		cmocka_unit_test_setup_teardown(a_silent_server_costs_no_work, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_in_two_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(the_session_is_reset_after_each_statement, setup, teardown),
		cmocka_unit_test_setup_teardown(a_session_that_cannot_be_reset_is_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(flood_between_statements, setup, teardown),
		cmocka_unit_test_setup_teardown(answers_in_small_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelled, setup, teardown),
		cmocka_unit_test_setup_teardown(an_idle_connection_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(the_connection_ends_during_a_query, setup, teardown),
		cmocka_unit_test_setup_teardown(notifications, setup, teardown),
		cmocka_unit_test_setup_teardown(listening_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_refused_listener_backs_off, setup, teardown),
		cmocka_unit_test_setup_teardown(listening_is_charged_to_the_listeners, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
