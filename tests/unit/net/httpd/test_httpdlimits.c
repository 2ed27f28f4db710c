/* SPDX-License-Identifier: Apache-2.0 */

/* What a stranger may send, and for how long: net/httpd/httpd ends it and lives on. */

#include "httpdserver.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include "../../fakes/fakepki.h"
#include "base/mem.h"
#include "base/timestamp.h"

/* ---- Limits ---- */

static void too_many_are_closed_at_accept(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client clients[8];
	int ended = 0;

	config.max_connections = 3;
	server_start(s, &config, true);
	for (size_t i = 0; i < 8; i++)
		client_open(&clients[i], httpd_port(s->h));
	/* Closed although they never spoke TLS. */
	UNTIL(s->f,
		(ended = client_ended(&clients[0]) + client_ended(&clients[1]) + client_ended(&clients[2]) +
				client_ended(&clients[3]) + client_ended(&clients[4]) + client_ended(&clients[5]) +
				client_ended(&clients[6]) + client_ended(&clients[7])) == 5);
	assert_int_equal(httpd_connections(s->h), 3);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(clients[i].got.len, 0);
		client_close(&clients[i]);
	}
	UNTIL(s->f, httpd_connections(s->h) == 0);
	server_open_client(s, &clients[0]);
	client_close(&clients[0]);
}

static void an_idle_connection_makes_room(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client busy, idle, late;

	config.max_connections = 2;
	server_start(s, &config, false);
	server_open_client(s, &busy);
	server_open_client(s, &idle);
	client_send(&busy, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held && httpd_connections(s->h) == 2);
	fixture_linger(s->f, 1100);
	server_open_client(s, &late);
	client_send(&late, "GET /late HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_has(&late, "path=/late "));
	UNTIL(s->f, client_ended(&idle));
	assert_false(client_ended(&busy));
	assert_int_equal(httpd_connections(s->h), 2);
	httpd_reply(s->held, 200, NULL, "fine", 4);
	UNTIL(s->f, client_has(&busy, "fine"));
	client_close(&busy);
	client_close(&idle);
	client_close(&late);
}

/* Sends one byte each few milliseconds until the server has had enough. */
static void drip(struct server *s, struct client *c, const char *text)
{
	for (size_t i = 0; !client_ended(c); i++) {
		char one[2] = { text[i % strlen(text)], '\0' };

		client_send(c, one);
		fixture_linger(s->f, 5);
		assert_true(i < 5000);
	}
}

static void slow_drips_end(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client head, body, hello;

	config.request_ms = config.handshake_ms = 100;
	server_start(s, &config, false);
	server_open_client(s, &head);
	drip(s, &head, "GET /abcdefghijklmnopqrstuvwxyz");
	server_open_client(s, &body);
	client_send(&body, "POST /p HTTP/1.1\r\nContent-Length: 100000\r\n\r\n");
	drip(s, &body, "x");
	server_stop(s);
	server_start(s, &config, true);
	client_open(&hello, httpd_port(s->h));
	client_send(&hello, "\x16\x03\x01\x02"); /* a TLS record begins ... */
	drip(s, &hello, "\x01");
	assert_int_equal(httpd_connections(s->h), 0);
	assert_int_equal(s->requests, 0);
	client_close(&head);
	client_close(&body);
	client_close(&hello);
}

static void silence_ends(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client plain, tls, kept;

	config.idle_ms = config.handshake_ms = 60;
	server_start(s, &config, false);
	server_open_client(s, &plain);
	server_open_client(s, &kept);
	client_send(&kept, "GET /1 HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_ended(&plain) && client_ended(&kept));
	assert_true(client_has(&kept, "path=/1 "));
	server_stop(s);
	server_start(s, &config, true);
	client_open(&tls, httpd_port(s->h));
	UNTIL(s->f, client_ended(&tls));
	client_close(&tls);
	server_open_client(s, &tls); /* shakes hands, then sends nothing */
	UNTIL(s->f, client_ended(&tls));
	client_close(&plain);
	client_close(&kept);
	client_close(&tls);
}

static void a_client_that_never_reads_is_dropped(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client c;

	config.request_ms = 150;
	server_start(s, &config, false);
	server_open_client(s, &c);
	for (int i = 0; i < 40; i++)
		client_send(&c, "GET /big HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->requests > 0 && httpd_connections(s->h) == 0);
	client_close(&c);
}

static void held_requests_have_no_deadline_here(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client c;

	config.request_ms = config.idle_ms = config.handshake_ms = 20;
	server_start(s, &config, false);
	server_open_client(s, &c);
	client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held);
	fixture_linger(s->f, 200);
	assert_int_equal(s->gone, 0);
	httpd_reply(s->held, 200, NULL, "still here", 10);
	UNTIL(s->f, client_has(&c, "still here"));
	client_close(&c);
}

static char *repeat(const char *before, char c, size_t count, const char *after)
{
	size_t head = strlen(before);
	char *text = mem_zalloc(head + count + strlen(after) + 1);

	memcpy(text, before, head);
	memset(text + head, c, count);
	memcpy(text + head + count, after, strlen(after));
	return text;
}

/* Each is ended by the server, with a 4xx where evhttp has one, and reaches no handler. */
static void oversize_and_malformed_requests_are_refused(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct {
		char *text;
		const char *status;
	} rows[] = {
		{ repeat("GET /", 'a', 5000, " HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 " },
		{ repeat("GET / HTTP/1.1\r\nX: ", 'a', 5000, "\r\n\r\n"), "HTTP/1.1 400 " },
		{ repeat("GET / HTTP/1.1\r\nX", ':', 5000, ""), "HTTP/1.1 400 " },
		{ repeat("", 'a', 5000, ""), "HTTP/1.1 400 " },
		{ repeat("POST / HTTP/1.1\r\nContent-Length: 10001\r\n\r\n", 'a', 100, ""), "HTTP/1.1 413 " },
		{ repeat("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 'a', 10, ""),
			"HTTP/1.1 4" },
		{ repeat("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2711\r\n", 'a', 10001, "\r\n0\r\n\r\n"),
			"HTTP/1.1 413 " },
		/* a chunk's size that never ends */
		{ repeat("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", '0', 100000, ""), "" },
		{ mem_dup("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "HTTP/1.1 4" },
		{ mem_dup("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\nx"), "HTTP/1.1 400 " },
		{ mem_dup("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx"), "HTTP/1.1 400 " },
		{ mem_dup("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
			"HTTP/1.1 400 " },
		{ mem_dup("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nBad Name: x\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nContent-Length : 5\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nno colon\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1 HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET /a\rb HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET /a\tb HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nX: a\rb\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nX: a\r\n \x7f\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nX: abcdefghij\x01klmnopqrstuvw\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nX: abcdefghijklmnopqrstuvw\x7f\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/2.0\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/0.9\r\n\r\n"), "400 " },
		{ mem_dup("\r\n\r\n\r\n\r\n"), "" },
		{ mem_dup("BREW /pot HTTP/1.1\r\n\r\n"), "HTTP/1.1 501 " },
	};

	config.max_headers = 4096;
	config.max_body = 10000;
	config.request_ms = 300;
	server_start(s, &config, false);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct client c;

		server_open_client(s, &c);
		client_send(&c, rows[i].text);
		UNTIL(s->f, client_ended(&c));
		if (!client_has(&c, rows[i].status))
			fail_msg("row %zu: %s", i, buf_text(&c.got));
		client_close(&c);
		mem_free_ptr(&rows[i].text);
	}
	assert_int_equal(s->requests, 0);
	UNTIL(s->f, httpd_connections(s->h) == 0);
}

static void bodies_up_to_the_cap_are_taken(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	char *request = repeat("POST /echo HTTP/1.1\r\nContent-Length: 10000\r\n\r\n", 'b', 10000, "");

	config.max_headers = 4096;
	config.max_body = 10000;
	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		server_start(s, &config, tls);
		server_open_client(s, &c);
		for (int i = 0; i < 20; i++) { /* the total of one connection has no cap */
			client_forget(&c);
			client_send(&c, request);
			UNTIL(s->f, client_has(&c, "bbb") && c.got.len > 10000);
		}
		client_close(&c);
		server_stop(s);
	}
	mem_free_ptr(&request);
}

static void a_client_that_sends_too_much_ahead_is_cut_off(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	char *junk = repeat("", 'x', 60000, "");
	struct client c;

	config.max_headers = 4096;
	config.max_body = 1000;
	server_start(s, &config, false);
	server_open_client(s, &c);
	client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held);
	for (int i = 0; i < 100 && !s->gone; i++) {
		client_send(&c, junk);
		fixture_linger(s->f, 3);
	}
	assert_int_equal(s->gone, 1);
	client_close(&c);
	mem_free_ptr(&junk);
}

/* Of four that send most of 3 MiB each one must go; a small request beside them is heard. */
static void the_client_that_sent_most_gives_way(void **state)
{
	enum { CLIENTS = 4, BODY = 3 << 20, MOST = BODY - 50000 };
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	char *body = repeat("", 'x', MOST, "");
	size_t sent[CLIENTS] = { 0 }, cut = 0;
	struct client big[CLIENTS], small;

	server_start(s, &config, false);
	for (size_t i = 0; i < CLIENTS; i++) {
		server_open_client(s, &big[i]);
		client_send(&big[i], "POST /echo HTTP/1.1\r\nContent-Length: 3145728\r\n\r\n");
	}
	for (int turns = 0; turns < 20000 && cut == 0; turns++) {
		for (size_t i = 0; i < CLIENTS; i++) {
			ssize_t n = send(big[i].fd, body + sent[i], MOST - sent[i], MSG_NOSIGNAL);

			sent[i] += n > 0 ? (size_t)n : 0;
			cut += client_ended(&big[i]);
		}
		loop_turn(s->f->loop);
	}
	assert_int_equal(cut, 1);
	server_open_client(s, &small);
	client_send(&small, "GET / HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_has(&small, "HTTP/1.1 200"));
	assert_int_equal(s->requests, 1);
	client_close(&small);
	for (size_t i = 0; i < CLIENTS; i++)
		client_close(&big[i]);
	mem_free_ptr(&body);
}

static void unread_replies_have_a_limit(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client slow, other;

	server_start(s, &config, false);
	server_open_client(s, &slow);
	server_open_client(s, &other);
	client_send(&slow, "GET /huge HTTP/1.1\r\n\r\n"); /* more than sockets take */
	UNTIL(s->f, s->requests == 1);
	fixture_linger(s->f, 20);
	client_send(&other, "GET /big HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_has(&other, "try again later"));
	assert_true(client_has(&other, "HTTP/1.1 503 "));
	assert_true(client_has(&other, "Retry-After: 1\r\n"));
	client_forget(&other);
	client_send(&other, "GET / HTTP/1.1\r\n\r\n"); /* a short one */
	UNTIL(s->f, client_has(&other, "HTTP/1.1 200 "));
	client_close(&slow);
	UNTIL(s->f, httpd_connections(s->h) == 1);
	client_forget(&other);
	client_send(&other, "GET /big HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_has(&other, "HTTP/1.1 200 "));
	client_close(&other);
}

/* ---- TLS ---- */

static void a_tls_port_never_speaks_plain(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct err err;
	struct client c;

	server_start(s, &config, true);
	client_open(&c, httpd_port(s->h));
	client_send(&c, "GET / HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_ended(&c));
	assert_null(strstr(buf_text(&c.got), "HTTP/1.1 200"));
	client_close(&c);
	server_stop(s);
	/* Without a certificate too. */
	config.tls = tls_server_new(&err);
	config.address = "127.0.0.1";
	s->h = httpd_new(s->f->loop, &config, server_on_request, s, &err);
	client_open(&c, httpd_port(s->h));
	client_send(&c, "GET / HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_ended(&c));
	assert_int_equal(c.got.len, 0);
	assert_int_equal(s->requests, 0);
	assert_int_equal(httpd_connections(s->h), 0);
	client_close(&c);
	server_stop(s);
	tls_server_free(config.tls);
}

static void tls_garbage_is_survived(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	static const char *const garbage[] = { "\x16\x03\x01\xff\xff", "\x15\x03\x03\x01\x02\x02\x28", "\x80\x2e\x01",
		"SSH-2.0-x\r\n", "\x16\x03\x01\x01\x05\x01\x01\x01\x01\x03\x03" };
	struct client c;

	config.handshake_ms = 100;
	server_start(s, &config, true);
	for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
		client_open(&c, httpd_port(s->h));
		client_send(&c, garbage[i]);
		UNTIL(s->f, client_ended(&c));
		client_close(&c);
	}
	server_open_client(s, &c);
	client_send(&c, "GET /still HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_has(&c, "path=/still "));
	client_close(&c);
}

static void the_certificate_is_swapped_under_live_connections(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	static const char *const names[] = { "localhost", "swapped.example", NULL };
	struct x509_pair second;
	struct client before, after;
	struct err err;
	X509 *cert;

	server_start(s, &config, true);
	server_open_client(s, &before);
	client_send(&before, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held);
	fakepki_certificate(&s->f->ca, names, timestamp_now_ms(), 1000, &second);
	assert_int_equal(tls_server_set_certificate(s->tls, second.cert_pem, second.key_pem, &err), 0);
	server_open_client(s, &after);
	cert = SSL_get1_peer_certificate(after.ssl);
	assert_int_equal(X509_check_host(cert, "swapped.example", 0, 0, NULL), 1);
	X509_free(cert);
	httpd_reply(s->held, 200, NULL, "old is fine", 11);
	UNTIL(s->f, client_has(&before, "old is fine"));
	client_send(&before, "GET /more HTTP/1.1\r\n\r\n");
	client_send(&after, "GET /new HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_has(&before, "path=/more ") && client_has(&after, "path=/new "));
	client_close(&before);
	client_close(&after);
	x509_pair_done(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(too_many_are_closed_at_accept, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(an_idle_connection_makes_room, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(slow_drips_end, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(silence_ends, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_client_that_never_reads_is_dropped, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(held_requests_have_no_deadline_here, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(oversize_and_malformed_requests_are_refused, server_setup,
			server_teardown),
		cmocka_unit_test_setup_teardown(bodies_up_to_the_cap_are_taken, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_client_that_sends_too_much_ahead_is_cut_off, server_setup,
			server_teardown),
		cmocka_unit_test_setup_teardown(the_client_that_sent_most_gives_way, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(unread_replies_have_a_limit, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_tls_port_never_speaks_plain, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(tls_garbage_is_survived, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(the_certificate_is_swapped_under_live_connections, server_setup,
			server_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
