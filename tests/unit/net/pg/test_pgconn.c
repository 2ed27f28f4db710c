/* SPDX-License-Identifier: Apache-2.0 */
/* One connection to scripted servers: hosts, errors, one statement at a time, and the end. */
#include "../fixture.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/network.h"
#include "net/pg/pgconn.h"

#define READY          "Z\0\0\0\5I"
#define WELCOME        "R\0\0\0\10\0\0\0\0" READY
#define DONE           "C\0\0\0\15SELECT 1\0"
#define RESET          "C\0\0\0\20DISCARD ALL\0" READY
#define SEND(fd, text) send_bytes((fd), (text), sizeof(text) - 1)

static struct {
	struct fixture *f;
	int listeners[2];
	uint16_t ports[2];
	struct pgendpoint *endpoint;
	struct pgconn *conn;
	bool refuses_options, frees;
	int opened, results, finished, lost;
	struct err why;       /* of lost */
	struct err explained; /* of the last result that is an error */
} w;

static void on_opened(void *arg)
{
	(void)arg;
	w.opened++;
	if (!w.frees)
		return;
	pgconn_free(w.conn);
	w.conn = NULL;
}

static void on_result(void *arg, const PGresult *result)
{
	(void)arg;
	w.results++;
	if (PQresultStatus(result) == PGRES_FATAL_ERROR)
		pgconn_explain(w.conn, result, &w.explained);
}

static void on_finished(void *arg)
{
	(void)arg;
	w.finished++;
}

static void on_lost(void *arg, const struct err *why)
{
	(void)arg;
	w.lost++;
	w.why = *why;
	pgconn_free(w.conn);
	w.conn = NULL;
}

static int setup(void **state)
{
	memset(&w, 0, sizeof(w));
	if (fixture_setup(state) < 0)
		return -1;
	w.f = *state;
	network_of(w.f->loop)->descriptors = (struct shares){ .total = 16, .few = 4 };
	for (size_t i = 0; i < 2; i++)
		w.listeners[i] = fixture_listen(&w.ports[i]);
	return 0;
}

static int teardown(void **state)
{
	pgconn_free(w.conn);
	endpoint_unref(w.endpoint);
	for (size_t i = 0; i < 2; i++)
		close(w.listeners[i]);
	return fixture_teardown(state);
}

static void start(const char *hosts, uint16_t first, uint16_t second, const char *more)
{
	static const struct pgconn_handler handler = { on_opened, on_result, on_finished, NULL, on_lost };
	MEM_AUTO char *text = second
		? mem_printf("host=%s port=%u,%u user=me password=open-sesame sslmode=disable %s", hosts, first, second,
			  more)
		: mem_printf("host=%s port=%u user=me password=open-sesame sslmode=disable %s", hosts, first, more);
	const struct pgconn_config config = { .statement_timeout_ms = 900, .refuses_options = &w.refuses_options };

	w.endpoint = pgendpoint_new(&(struct pgendpoint_config){ .connection = text }, NULL);
	assert_non_null(w.endpoint);
	w.conn = pgconn_start(w.f->loop, w.endpoint, &config, &handler, NULL);
}

/* ---- The server's side ---- */

struct peer {
	int fd;
	char got[4096];
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
	ssize_t n = recv(p->fd, p->got, sizeof(p->got), MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN);
}

static bool accepted(size_t listener, struct peer *p)
{
	p->len = 0;
	p->fd = accept4(w.listeners[listener], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	return p->fd >= 0;
}

/* Up to its startup packet. */
static void take(size_t listener, struct peer *p)
{
	UNTIL(w.f, accepted(listener, p));
	UNTIL(w.f, has_bytes(p, "client_encoding"));
}

static void open_to(struct peer *p)
{
	start("127.0.0.1", w.ports[0], 0, "");
	take(0, p);
	SEND(p->fd, WELCOME);
	UNTIL(w.f, w.opened);
}

static void say_error(const struct peer *p, const char *state, const char *text)
{
	char body[512];
	int len = snprintf(body, sizeof(body), "SFATAL%cC%s%cM%s%c", 0, state, 0, text, 0) + 1;
	unsigned char head[5] = { 'E', 0, 0, (unsigned char)((len + 4) >> 8), (unsigned char)(len + 4) };

	send_bytes(p->fd, head, 5);
	send_bytes(p->fd, body, (size_t)len);
}

/* ---- Hosts ---- */

static void the_next_host_after_a_refusal(void **state)
{
	struct peer p;

	(void)state;
	start("127.0.0.1,127.0.0.1", fixture_dead_port(), w.ports[1], "");
	take(1, &p);
	SEND(p.fd, WELCOME);
	UNTIL(w.f, w.opened);
	assert_int_equal(w.lost, 0);
	close(p.fd);
}

/* What a server said matters more than that another one, asked later, is not there. */
static void the_error_that_came_furthest(void **state)
{
	struct peer p;

	(void)state;
	start("127.0.0.1,127.0.0.1", w.ports[0], fixture_dead_port(), "");
	take(0, &p);
	say_error(&p, "28P01", "password authentication failed for user \"me\", who said open-sesame");
	close(p.fd);
	UNTIL(w.f, w.lost);
	assert_int_equal(w.why.kind, ERR_DENIED);
	assert_non_null(strstr(w.why.msg, "password authentication failed"));
	assert_null(strstr(w.why.msg, "open-sesame"));
	assert_int_equal(w.opened, 0);
}

/* A first round asks every host for a standby; a second takes any server. */
static void prefer_standby_takes_a_second_round(void **state)
{
	struct peer p;

	(void)state;
	start("127.0.0.1", w.ports[0], 0, "target_session_attrs=prefer-standby");
	take(0, &p);
	SEND(p.fd,
		"R\0\0\0\10\0\0\0\0"
		"S\0\0\0\30server_version\0"
		"15.0\0"
		"S\0\0\0\27in_hot_standby\0off\0" READY);
	UNTIL(w.f, has_ended(&p));
	close(p.fd);
	take(0, &p);
	SEND(p.fd, WELCOME);
	UNTIL(w.f, w.opened);
	close(p.fd);
}

static void forbidden_addresses_are_not_dialled(void **state)
{
	struct peer p;

	(void)state;
	network_of(w.f->loop)->rules = (struct sourcerules){ .judges = true };
	start("127.0.0.1", w.ports[0], 0, "");
	UNTIL(w.f, w.lost);
	assert_int_equal(w.why.kind, ERR_TEMPORARY);
	assert_non_null(strstr(w.why.msg, "127.0.0.1"));
	assert_false(accepted(0, &p));
}

/* ---- Statements ---- */

static void one_statement_at_a_time(void **state)
{
	struct peer p;
	struct err err;

	(void)state;
	start("127.0.0.1", w.ports[0], 0, "");
	assert_int_equal(pgconn_send(w.conn, "SELECT 1", &err), -1); /* not open */
	assert_int_equal(err.kind, ERR_BUG);
	take(0, &p);
	SEND(p.fd, WELCOME);
	UNTIL(w.f, w.opened);
	assert_int_equal(pgconn_send(w.conn, "SELECT 1", &err), 0);
	assert_int_equal(pgconn_send(w.conn, "SELECT 2", &err), -1);
	assert_int_equal(err.kind, ERR_BUG);
	UNTIL(w.f, has_bytes(&p, "SELECT 1"));
	SEND(p.fd, DONE READY RESET);
	UNTIL(w.f, w.finished == 1);
	assert_true(pgconn_is_reusable(w.conn));
	assert_int_equal(pgconn_send(w.conn, "SELECT 3", &err), 0);
	UNTIL(w.f, has_bytes(&p, "SELECT 3"));
	assert_false(has_bytes(&p, "SELECT 2"));
	close(p.fd);
}

static void a_copy_is_refused(void **state)
{
	static const char *const kinds[] = { "G\0\0\0\7\0\0\0", "H\0\0\0\7\0\0\0" };
	struct peer p;
	struct err err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		w.opened = w.lost = 0;
		open_to(&p);
		assert_int_equal(pgconn_send(w.conn, "COPY t TO STDOUT", &err), 0);
		UNTIL(w.f, has_bytes(&p, "COPY t"));
		send_bytes(p.fd, kinds[i], 8);
		UNTIL(w.f, w.lost);
		assert_int_equal(w.why.kind, ERR_INVALID);
		assert_string_equal(w.why.msg, "COPY is not a query");
		UNTIL(w.f, has_ended(&p));
		close(p.fd);
		endpoint_unref(w.endpoint);
		w.endpoint = NULL;
	}
}

/* With a kind by the SQLSTATE, and without what the server may not repeat. */
static void errors_are_explained(void **state)
{
	static const struct {
		const char *state, *text, *says;
		enum err_kind kind;
	} rows[] = {
		{ "42P01", "relation \"jobs\" does not exist", "relation \"jobs\" does not exist (SQLSTATE 42P01)",
			ERR_INVALID },
		{ "42501", "permission denied for open-sesame", "permission denied for *********** (SQLSTATE 42501)",
			ERR_DENIED },
		{ "57014", "canceling statement due to statement timeout",
			"canceling statement due to statement timeout (SQLSTATE 57014)", ERR_TEMPORARY },
		{ "open-sesame", "no", "no", ERR_TEMPORARY },
		{ "XX000", "", " (SQLSTATE XX000)", ERR_TEMPORARY },
	};
	struct peer p;
	struct err err;

	(void)state;
	open_to(&p);
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		w.finished = 0;
		assert_int_equal(pgconn_send(w.conn, "SELECT 1", &err), 0);
		UNTIL(w.f, has_bytes(&p, "SELECT 1"));
		p.len = 0;
		say_error(&p, rows[i].state, rows[i].text);
		SEND(p.fd, READY RESET);
		UNTIL(w.f, w.finished);
		if (w.explained.kind != rows[i].kind || strcmp(w.explained.msg, rows[i].says) != 0)
			fail_msg("%s: %d \"%s\"", rows[i].state, w.explained.kind, w.explained.msg);
	}
	close(p.fd);
}

/* ---- The end ---- */

/* At any moment, also from its own callback: no callback follows, nothing stays held. */
static void freed_while_connecting(void **state)
{
	struct peer p;

	(void)state;
	start("127.0.0.1", w.ports[0], 0, "");
	pgconn_free(w.conn); /* before its first turn */
	endpoint_unref(w.endpoint);
	start("127.0.0.1", w.ports[0], 0, "");
	take(0, &p);
	pgconn_free(w.conn); /* the server has not answered */
	endpoint_unref(w.endpoint);
	UNTIL(w.f, has_ended(&p));
	close(p.fd);
	w.frees = true;
	start("127.0.0.1", w.ports[0], 0, "");
	take(0, &p);
	SEND(p.fd, WELCOME);
	UNTIL(w.f, has_ended(&p));
	assert_int_equal(w.opened, 1);
	assert_int_equal(w.lost, 0);
	assert_int_equal(network_of(w.f->loop)->descriptors.taken, 0);
	close(p.fd);
}

/* The server ends it: what it said before is the reason, and the statement gets no end. */
static void the_server_ends_it(void **state)
{
	struct peer p;
	struct err err;

	(void)state;
	open_to(&p);
	assert_int_equal(pgconn_send(w.conn, "SELECT 1", &err), 0);
	UNTIL(w.f, has_bytes(&p, "SELECT 1"));
	close(p.fd);
	UNTIL(w.f, w.lost);
	assert_int_equal(w.why.kind, ERR_TEMPORARY);
	assert_int_equal(w.finished, 0);
	assert_int_equal(network_of(w.f->loop)->descriptors.taken, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_next_host_after_a_refusal),
		TEST(the_error_that_came_furthest),
		TEST(prefer_standby_takes_a_second_round),
		TEST(forbidden_addresses_are_not_dialled),
		TEST(one_statement_at_a_time),
		TEST(a_copy_is_refused),
		TEST(errors_are_explained),
		TEST(freed_while_connecting),
		TEST(the_server_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
