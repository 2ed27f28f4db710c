/* SPDX-License-Identifier: Apache-2.0 */

/* Malformed bytes of servers. test_mysqlpool has a real server. */

#include "../fixture.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/mysql/mysqlpool.h"

struct world {
	struct fixture *f;
	struct pool *pool;
	int listener;
	uint16_t port;
};

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));

	if (fixture_setup((void **)&w->f))
		return -1;
	w->pool = mysqlpool_new(w->f->loop);
	w->listener = fixture_listen(&w->port);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	pool_free(w->pool);
	close(w->listener);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

struct outcome {
	bool told;
	struct err err;
};

static void on_outcome(void *arg, const struct mysqlvalue *value, const struct err *err)
{
	struct outcome *o = arg;

	assert_null(value);
	o->told = true;
	o->err = *err;
}

static void ask_with(struct world *w, enum mysqlendpoint_tls tls, struct outcome *o)
{
	struct mysqlendpoint_config config = { .host = "127.0.0.1",
		.port = w->port,
		.user = "me",
		.password = "s3cret",
		.database = "shop",
		.tls = tls,
		.native_passwords = true };
	struct mysqlendpoint *e = mysqlendpoint_new(&config, NULL);

	*o = (struct outcome){ .told = false };
	assert_non_null(mysqlpool_ask(w->pool, e, "SELECT 1", loop_now_ms(w->f->loop) + 10000, on_outcome, o));
	endpoint_unref(e);
}

static void ask(struct world *w, struct outcome *o)
{
	ask_with(w, MYSQLENDPOINT_TLS_OFF, o);
}

static void says(struct client *server, const char *bytes, size_t len)
{
	assert_int_equal(send(server->fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* Sends the bytes in two pieces, the first of size `first`, and closes. */
static void greeted_with(struct world *w, const char *bytes, size_t len, size_t first, struct outcome *o)
{
	struct client server;

	ask(w, o);
	UNTIL(w->f, client_accept(&server, w->listener));
	assert_int_equal(send(server.fd, bytes, first, MSG_NOSIGNAL), (ssize_t)first);
	fixture_linger(w->f, 10);
	send(server.fd, bytes + first, len - first, MSG_NOSIGNAL);
	shutdown(server.fd, SHUT_WR);
	UNTIL(w->f, o->told);
	client_close(&server);
}

/* The connector would dereference a null pointer, the version of a greeting. */
static void a_progress_report_is_no_greeting(void **state)
{
	static const char bytes[] = "\x0c\0\0\0\xff\xff\xff\1\1\1\0\0\0\1\1x";
	struct world *w = *state;
	struct outcome o;

	for (size_t first = 0; first < 8; first += 5) {
		greeted_with(w, bytes, sizeof(bytes) - 1, first, &o);
		assert_int_equal(o.err.kind, ERR_TEMPORARY);
		assert_non_null(strstr(o.err.msg, "the server sends no greeting"));
	}
}

static void the_servers_reason_is_shown(void **state)
{
	static const char bytes[] = "\x17\0\0\0\xff\x10\4Too many connections";
	struct world *w = *state;
	struct outcome o;

	greeted_with(w, bytes, sizeof(bytes) - 1, 5, &o);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(o.err.msg, "Too many connections (error 1040)"));
}

/*
 * Accepts the login and the settings, refuses the query for the identity; then an answer that
 * announces columns, has one, and their end.
 */
#define LETS_IN_ALONE                                                                                                  \
	"\x4a\0\0\0\x0a"                                                                                               \
	"8.0.30\0\5\0\0\0abcdefgh\0\xff\xf7\x2d\2\0\x7f\x80\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0"                     \
	"mysql_native_password\0\7\0\0\2\0\0\0\2\0\0\0\7\0\0\1\0\0\0\2\0\0\0"
#define REFUSED "\x0d\0\0\1\xff\x28\4#42000none"
#define LETS_IN LETS_IN_ALONE REFUSED
#define COLUMN  "\x17\0\0\2\3def\0\0\0\1n\0\x0c\x3f\0\x14\0\0\0\x08\0\0\0\0\0"
#define END     "\5\0\0\3\xfe\0\0\2\0"

/*
 * The connector would allocate half a terabyte, and leak the columns if that fails. One column more
 * is, with a 32-bit long, the connector's sign for a file request.
 */
static void too_many_columns_are_refused(void **state)
{
	static const char most[] = LETS_IN "\x09\0\0\1\xfe\xfe\xff\xff\xff\0\0\0\0" COLUMN END;
	static const char many[] = LETS_IN "\3\0\0\1\xfc\1\x10" COLUMN END;
	struct world *w = *state;
	struct outcome o;

	greeted_with(w, most, sizeof(most) - 1, 0, &o);
	assert_int_equal(o.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(o.err.msg, "asking: the answer announces more than 4096 columns (error 2027)"));
	greeted_with(w, many, sizeof(many) - 1, 0, &o);
	assert_non_null(strstr(o.err.msg, "the answer announces more than 4096 columns"));
}

/*
 * An allowed number of columns, which are missing: the connector notices, without an error number.
 * The rest of the answer must not be read by the next query.
 */
static void missing_columns_end_the_connection(void **state)
{
	static const char bytes[] = LETS_IN "\3\0\0\1\xfc\0\x10" COLUMN END;
	struct world *w = *state;
	struct client first, second;
	struct outcome o;

	ask(w, &o);
	UNTIL(w->f, client_accept(&first, w->listener));
	assert_int_equal(send(first.fd, bytes, sizeof(bytes) - 1, MSG_NOSIGNAL), (ssize_t)sizeof(bytes) - 1);
	UNTIL(w->f, o.told);
	assert_non_null(strstr(o.err.msg, "asking: "));
	assert_null(strstr(o.err.msg, "columns"));
	ask(w, &o);
	UNTIL(w->f, client_accept(&second, w->listener) || o.told);
	assert_false(o.told);
	client_close(&second);
	client_close(&first);
	UNTIL(w->f, o.told);
}

/*
 * The identity is stored per session, so its length is limited: longer ones prevent a reset, and
 * the session is closed.
 */
static void a_long_identity_prevents_a_reset(void **state)
{
	static const char head[] = LETS_IN_ALONE "\1\0\0\1\2" COLUMN COLUMN END "\x8d\x13\0\5\xfc\x88\x13",
			  short_head[] = LETS_IN_ALONE "\1\0\0\1\2" COLUMN COLUMN END "\4\0\0\5\1x",
			  tail[] = "\1"
				   "1" END REFUSED;
	struct world *w = *state;

	for (size_t i = 0; i < 2; i++) {
		MEM_AUTO char *identity = mem_zalloc(5001);
		struct client server;
		struct outcome o;

		memset(identity, 'x', 5000);
		ask(w, &o);
		UNTIL(w->f, client_accept(&server, w->listener));
		says(&server, i ? head : short_head, i ? sizeof(head) - 1 : sizeof(short_head) - 1);
		if (i)
			says(&server, identity, 5000);
		says(&server, tail, sizeof(tail) - 1);
		shutdown(server.fd, SHUT_WR);
		UNTIL(w->f, o.told);
		assert_non_null(strstr(o.err.msg, "none (error 1064)"));
		UNTIL(w->f, client_ended(&server));
		/* COM_RESET_CONNECTION */
		assert_int_equal(memmem(server.got.data, server.got.len, "\1\0\0\0\x1f", 5) != NULL, i == 0);
		client_close(&server);
	}
}

/* ---- Logging in ---- */

#define ASKS_FOR_SHA2                                                                                                  \
	"\x4a\0\0\0\x0a"                                                                                               \
	"8.0.30\0\5\0\0\0abcdefgh\0\xff\xf7\x2d\2\0\x7f\x80\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0"                     \
	"mysql_native_password\0\x2c\0\0\2\xfe"                                                                        \
	"caching_sha2_password\0abcdefghijklmnopqrst\0\2\0\0\4\1\4"

/* Without TLS, even if preferred, the password is only sent encrypted with the server's key. */
static void the_password_is_never_sent_in_plain_text(void **state)
{
	static const char bytes[] = ASKS_FOR_SHA2;
	struct world *w = *state;

	for (size_t i = 0; i < 2; i++) {
		struct client server;
		struct outcome o;

		ask_with(w, i ? MYSQLENDPOINT_TLS_PREFERRED : MYSQLENDPOINT_TLS_OFF, &o);
		UNTIL(w->f, client_accept(&server, w->listener));
		says(&server, bytes, sizeof(bytes) - 1);
		UNTIL(w->f, (client_has(&server, "caching_sha2_password"), server.got.len > 200 || o.told));
		fixture_linger(w->f, 50);
		client_has(&server, "");
		assert_null(memmem(server.got.data, server.got.len, "s3cret", 6));
		assert_memory_equal(server.got.data + server.got.len - 5, "\1\0\0\5\2", 5);
		client_close(&server);
		UNTIL(w->f, o.told);
	}
}

/* An encrypted key is refused without a prompt. */
static void an_encrypted_key_is_refused(void **state)
{
	static const char bytes[] = ASKS_FOR_SHA2
		"\x9d\0\0\6\1-----BEGIN PUBLIC KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
		"AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAAAAAAAAAAAAAAAAAAAA==\n-----END PUBLIC KEY-----\n";
	struct world *w = *state;
	struct outcome o;
	int terminal[2], kept = dup(0);
	char left;

	assert_int_equal(pipe(terminal), 0);
	assert_int_equal(write(terminal[1], "x\n", 2), 2);
	assert_int_equal(dup2(terminal[0], 0), 0);
	fcntl(0, F_SETFL, O_NONBLOCK);
	greeted_with(w, bytes, sizeof(bytes) - 1, 5, &o);
	assert_int_equal(read(0, &left, 1), 1);
	assert_int_equal(left, 'x');
	dup2(kept, 0);
	close(kept);
	close(terminal[0]);
	close(terminal[1]);
}

/* ---- TLS ---- */

#define GREETS_WITH_TLS                                                                                                \
	"\x4a\0\0\0\x0a"                                                                                               \
	"8.0.30\0\5\0\0\0abcdefgh\0\xff\xff\x2d\2\0\x7f\x80\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0"                     \
	"mysql_native_password\0"
#define TLS_REQUEST_BYTES 36

struct tls_world {
	struct client server;
	struct tls_server *certified;
	struct outcome o;
};

/* Runs until the handshake is complete. */
static void shake(struct world *w, struct tls_world *t)
{
	static const char greeting[] = GREETS_WITH_TLS;
	char request[TLS_REQUEST_BYTES];
	struct err err;

	fixture_pairs(w->f);
	t->certified = tls_server_new(&err);
	assert_int_equal(tls_server_set_certificate(t->certified, w->f->serving.cert_pem, w->f->serving.key_pem, &err),
		0);
	ask_with(w, MYSQLENDPOINT_TLS_UNVERIFIED, &t->o);
	UNTIL(w->f, client_accept(&t->server, w->listener));
	says(&t->server, greeting, sizeof(greeting) - 1);
	UNTIL(w->f, recv(t->server.fd, request, sizeof(request), MSG_DONTWAIT) == TLS_REQUEST_BYTES);
	t->server.ssl = tls_server_session(t->certified);
	SSL_set_fd(t->server.ssl, t->server.fd);
	UNTIL(w->f, SSL_accept(t->server.ssl) == 1);
}

static void leave(struct tls_world *t)
{
	client_close(&t->server);
	tls_server_free(t->certified);
}

static void groups_of_the_servers_choice_are_not_offered(void **state)
{
	struct world *w = *state;
	struct tls_world t = { 0 };
	const STACK_OF(SSL_CIPHER) * ciphers;
	int groups[64], count;

	shake(w, &t);
	ciphers = SSL_get_client_ciphers(t.server.ssl);
	assert_true(sk_SSL_CIPHER_num(ciphers) > 3);
	for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); i++)
		assert_int_not_equal(SSL_CIPHER_get_kx_nid(sk_SSL_CIPHER_value(ciphers, i)), NID_kx_dhe);
	count = (int)SSL_get1_groups(t.server.ssl, NULL);
	assert_in_range(count, 1, 64);
	SSL_get1_groups(t.server.ssl, groups);
	for (int i = 0; i < count; i++)
		assert_false(groups[i] >= NID_ffdhe2048 && groups[i] <= NID_ffdhe8192);
	leave(&t);
	UNTIL(w->f, t.o.told);
}

/* As long as the connector reads them; it reads only a few per turn of the loop. */
static void endless_tickets(void **state)
{
	struct world *w = *state;
	struct tls_world t = { 0 };
	unsigned sent = 0;

	shake(w, &t);
	while (!t.o.told) {
		for (int i = 0; i < 50 && SSL_new_session_ticket(t.server.ssl) == 1; i++)
			sent += SSL_do_handshake(t.server.ssl) == 1;
		loop_turn(w->f->loop);
	}
	assert_in_range(sent, 100, 2000);
	assert_int_equal(t.o.err.kind, ERR_TEMPORARY);
	if (!strstr(t.o.err.msg, "logging in: the server sends too many TLS messages"))
		fail_msg("%s", t.o.err.msg);
	leave(&t);
}

/* An endless message with one byte per record must not block the loop. */
static void endless_single_bytes(void **state)
{
	struct world *w = *state;
	struct tls_world t = { 0 };
	uint64_t before;

	shake(w, &t);
	before = loop_turns(w->f->loop);
	SSL_write(t.server.ssl, "\0\0\1\3", 4);
	while (!t.o.told) {
		for (int i = 0; i < 32 && SSL_write(t.server.ssl, "x", 1) == 1; i++) {
			/* until the socket buffer is full */
		}
		loop_turn(w->f->loop);
	}
	if (!strstr(t.o.err.msg, "logging in: the answer has more than"))
		fail_msg("%s", t.o.err.msg);
	assert_in_range(loop_turns(w->f->loop) - before, 4096 / 16, UINT64_MAX);
	leave(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_progress_report_is_no_greeting, setup, teardown),
		cmocka_unit_test_setup_teardown(the_servers_reason_is_shown, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_columns_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_columns_end_the_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(a_long_identity_prevents_a_reset, setup, teardown),
		cmocka_unit_test_setup_teardown(the_password_is_never_sent_in_plain_text, setup, teardown),
		cmocka_unit_test_setup_teardown(an_encrypted_key_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(groups_of_the_servers_choice_are_not_offered, setup, teardown),
		cmocka_unit_test_setup_teardown(endless_tickets, setup, teardown),
		cmocka_unit_test_setup_teardown(endless_single_bytes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
