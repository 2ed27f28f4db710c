/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "net/httpd.h"

/*
 * A server whose handler answers by the path: "/hold" keeps the request until the test replies, "/echo" answers the body, "/big" a megabyte,
 * everything else what it saw of the request.
 */
struct server {
	struct fixture *f;
	struct tls_server *tls;
	struct httpd *h;
	int requests;
	struct httpd_request *held;
	int gone;
	int data_freed;
};

static void on_gone(void *arg)
{
	struct server *s = arg;

	s->gone++;
	s->held = NULL;
}

static void add_header_line(void *arg, const char *name, const char *value)
{
	buf_printf(arg, "%s=%s;", name, value);
}

static void describe(struct httpd_request *r, struct buf *out)
{
	size_t body_len;
	const char *query = httpd_query(r, "q"), *header = httpd_header(r, "x-test");

	buf_printf(out, "method=%s uri=%s path=%s raw=%s query=%s header=%s ", httpd_method(r), httpd_uri(r), httpd_path(r), httpd_raw_path(r), query ? query : "(none)", header ? header : "(none)");
	httpd_body(r, &body_len);
	buf_printf(out, "body=%zu tls=%d headers=", body_len, httpd_tls(r) != NULL);
	httpd_each_header(r, add_header_line, out);
	buf_puts(out, "\n");
}

static void on_request(void *arg, struct httpd_request *r)
{
	struct server *s = arg;
	struct buf out = BUF_INIT((size_t)4 << 20);
	size_t len;
	const char *body;

	s->requests++;
	assert_true(httpd_started_ms(r) > 0 && httpd_started_ms(r) <= loop_now_ms(s->f->loop));
	if (strcmp(httpd_path(r), "/hold") == 0) {
		s->held = r;
		httpd_on_gone(r, on_gone, s);
		return;
	}
	if (strcmp(httpd_path(r), "/echo") == 0) {
		body = httpd_body(r, &len);
		httpd_reply(r, 200, "text/plain", body, len);
		return;
	}
	if (strcmp(httpd_path(r), "/big") == 0) {
		char *big = mem_zalloc(1 << 20);

		memset(big, 'x', 1 << 20);
		httpd_reply(r, 200, "text/plain", big, 1 << 20);
		mem_free_ptr(&big);
		return;
	}
	describe(r, &out);
	httpd_add_header(r, "X-Reply", "yes");
	httpd_reply(r, 200, "text/plain", out.data, out.len);
	buf_done(&out);
}

static int server_setup(void **state)
{
	struct server *s = mem_zalloc(sizeof(*s));
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	s->f = f;
	*state = s;
	return 0;
}

static int server_teardown(void **state)
{
	struct server *s = *state;
	void *f = s->f;

	httpd_free(s->h);
	tls_server_free(s->tls);
	mem_free_ptr(&s);
	return fixture_teardown(&f);
}

static void server_start(struct server *s, const struct httpd_config *config, bool tls)
{
	struct httpd_config own = *config;
	struct err err = { .kind = ERR_NONE };

	if (tls) {
		fixture_pairs(s->f);
		s->tls = tls_server_new(&err);
		assert_int_equal(tls_server_set_certificate(s->tls, s->f->serving.cert_pem, s->f->serving.key_pem, &err), 0);
		own.tls = s->tls;
	}
	own.address = own.address ? own.address : "127.0.0.1";
	s->h = httpd_new(s->f->loop, &own, on_request, s, &err);
	if (!s->h)
		fail_msg("%s", err.msg);
}

static struct httpd_config defaults(void)
{
	struct httpd_config config;

	httpd_config_defaults(&config);
	return config;
}

static void open_client(struct server *s, struct client *c)
{
	struct tls_client_config trust = { .ca_pem = s->f->ca.cert_pem };

	if (!s->tls) {
		client_open(c, httpd_port(s->h));
		return;
	}
	client_open_tls(s->f, c, httpd_port(s->h), &trust);
	UNTIL(s->f, client_shake(c));
	assert_false(c->ended);
}

/* --- requests and replies ---------------------------------------------------------------------------------------------- */

static void what_the_handler_sees(struct server *s)
{
	static const struct {
		const char *request, *seen[4];
	} rows[] = {
		{ "GET /a/b?q=1 HTTP/1.1\r\nHost: h\r\nX-Test: one\r\nX-Test: two\r\n\r\n", { "method=GET uri=/a/b?q=1 path=/a/b raw=/a/b query=1 header=one body=0", "X-Test=one;X-Test=two;", "X-Reply: yes", "Content-Type: text/plain" } },
		{ "GET /a%2Fb/%41?q=a+b%26 HTTP/1.1\r\n\r\n", { "path=/a/b/A raw=/a%2Fb/%41 query=a b&" } },
		{ "GET /a%00b HTTP/1.1\r\n\r\n", { "path= raw=/a%00b" } },
		{ "GET /a%FFb HTTP/1.1\r\n\r\n", { "path= raw=/a%FFb" } },
		{ "GET //x/y?q HTTP/1.1\r\n\r\n", { "path=//x/y raw=//x/y query= " } },
		{ "POST /p HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", { "method=POST", "body=5" } },
		{ "POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", { "body=5" } },
		{ "PUT /p HTTP/1.1\r\nContent-Length: 0\r\n\r\n", { "method=PUT", "body=0" } },
		{ "DELETE /p HTTP/1.1\r\n\r\n", { "method=DELETE" } },
		{ "PATCH /p HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", { "method=PATCH" } },
		{ "OPTIONS * HTTP/1.1\r\n\r\n", { "method=OPTIONS uri=* path= " } },
		{ "TRACE /p HTTP/1.1\r\n\r\n", { "method=TRACE" } },
		{ "CONNECT h:443 HTTP/1.1\r\n\r\n", { "method=CONNECT", "Content-Length: " } },
		{ "GET http://h/z?q=%zz HTTP/1.1\r\nHost: h\r\n\r\n", { "path=/z raw=/z query=(none)" } }, /* to evhttp a proxy request: it closes afterwards */
	};
	struct client c;

	open_client(s, &c);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		client_forget(&c);
		client_send(&c, rows[i].request);
		UNTIL(s->f, client_has(&c, "headers="));
		for (size_t n = 0; n < 4 && rows[i].seen[n]; n++) {
			if (!client_has(&c, rows[i].seen[n]))
				fail_msg("row %zu: no \"%s\" in: %s", i, rows[i].seen[n], buf_text(&c.got));
		}
		assert_int_equal(s->requests, i + 1); /* all on one connection */
	}
	client_close(&c);
	UNTIL(s->f, httpd_connections(s->h) == 0);
}

static void requests_over_plain_http(void **state)
{
	struct httpd_config config = defaults();

	server_start(*state, &config, false);
	what_the_handler_sees(*state);
}

static void requests_over_tls(void **state)
{
	struct httpd_config config = defaults();

	server_start(*state, &config, true);
	what_the_handler_sees(*state);
}

static void head_gets_the_length_and_no_body(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct client c;

	server_start(s, &config, false);
	open_client(s, &c);
	client_send(&c, "HEAD /big HTTP/1.1\r\n\r\nGET /second HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_has(&c, "headers="));
	assert_true(client_has(&c, "Content-Length: 1048576\r\n"));
	assert_true(c.got.len < 4096);
	assert_true(client_has(&c, "\r\n\r\nHTTP/1.1 200"));
	client_close(&c);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct client c;

	for (int tls = 0; tls < 2; tls++) {
		server_start(s, &config, tls);
		open_client(s, &c);
		client_send(&c, "GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\nContent-Length: 2\r\n\r\nxxGET /3 HTTP/1.1\r\n\r\n");
		UNTIL(s->f, client_has(&c, "path=/3 "));
		assert_true(strstr(buf_text(&c.got), "path=/1 ") < strstr(buf_text(&c.got), "path=/2 "));
		assert_true(strstr(buf_text(&c.got), "path=/2 ") < strstr(buf_text(&c.got), "path=/3 "));
		client_close(&c);
		httpd_free(s->h);
		s->h = NULL;
	}
}

static void http10_and_close_end_the_connection(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	static const char *const requests[] = { "GET /1 HTTP/1.0\r\n\r\n", "GET /1 HTTP/1.1\r\nConnection: close\r\n\r\n" };

	for (int tls = 0; tls < 2; tls++) {
		server_start(s, &config, tls);
		for (size_t i = 0; i < 2; i++) {
			struct client c;

			open_client(s, &c);
			client_send(&c, requests[i]);
			UNTIL(s->f, client_ended(&c));
			assert_true(client_has(&c, "path=/1 "));
			client_close(&c);
		}
		assert_int_equal(httpd_connections(s->h), 0);
		httpd_free(s->h);
		s->h = NULL;
		tls_server_free(s->tls);
		s->tls = NULL;
	}
}

static void big_answers_arrive_whole(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();

	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		server_start(s, &config, tls);
		open_client(s, &c);
		client_send(&c, "GET /big HTTP/1.1\r\n\r\n");
		UNTIL(s->f, client_has(&c, "\r\n\r\n") && c.got.len >= (size_t)(strstr(buf_text(&c.got), "\r\n\r\n") - buf_text(&c.got)) + 4 + (1 << 20));
		client_close(&c);
		httpd_free(s->h);
		s->h = NULL;
	}
}

/* --- what is held ------------------------------------------------------------------------------------------------------ */

static void a_held_request_is_answered_later(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();

	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		server_start(s, &config, tls);
		open_client(s, &c);
		client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
		UNTIL(s->f, s->held);
		assert_non_null(strstr(httpd_peer(s->held), "127.0.0.1:"));
		client_send(&c, "GET /next HTTP/1.1\r\n\r\n"); /* what comes meanwhile waits */
		fixture_linger(s->f, 20);
		assert_int_equal(c.got.len, 0);
		httpd_reply(s->held, 503, "text/plain", "later", 5);
		s->held = NULL;
		UNTIL(s->f, client_has(&c, "path=/next "));
		assert_true(client_has(&c, "HTTP/1.1 503"));
		assert_true(client_has(&c, "\r\n\r\nlaterHTTP/1.1 200"));
		assert_int_equal(s->gone, 0);
		client_close(&c);
		httpd_free(s->h);
		s->h = NULL;
	}
}

static void a_client_that_leaves_is_noticed(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();

	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		s->gone = 0;
		server_start(s, &config, tls);
		open_client(s, &c);
		client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
		UNTIL(s->f, s->held);
		client_close(&c);
		UNTIL(s->f, s->gone == 1);
		assert_int_equal(httpd_connections(s->h), 0);
		httpd_free(s->h);
		s->h = NULL;
		tls_server_free(s->tls);
		s->tls = NULL;
	}
}

static void held_requests_are_answered_when_the_server_goes(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();

	for (int tls = 0; tls < 2; tls++) {
		struct client held, idle, silent;

		s->gone = 0;
		server_start(s, &config, tls);
		open_client(s, &held);
		open_client(s, &idle);
		client_open(&silent, httpd_port(s->h)); /* never says a word, not even TLS */
		client_send(&held, "GET /hold HTTP/1.1\r\n\r\n");
		UNTIL(s->f, s->held && httpd_connections(s->h) == 3);
		httpd_free(s->h);
		s->h = NULL;
		assert_int_equal(s->gone, 1);
		UNTIL(s->f, client_ended(&held) && client_ended(&idle) && client_ended(&silent));
		assert_true(client_has(&held, "HTTP/1.1 503 "));
		client_close(&held);
		client_close(&idle);
		client_close(&silent);
	}
}

static void on_freed(void *data)
{
	struct server *s = data;

	s->data_freed++;
}

static void data_goes_with_its_connection(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct client c;

	server_start(s, &config, false);
	open_client(s, &c);
	client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held);
	assert_null(httpd_connection_data(s->held));
	httpd_set_connection_data(s->held, s, on_freed);
	httpd_reply(s->held, 200, NULL, NULL, 0);
	s->held = NULL;
	client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held);
	assert_ptr_equal(httpd_connection_data(s->held), s);
	httpd_set_connection_data(s->held, s, on_freed); /* replaced */
	assert_int_equal(s->data_freed, 1);
	client_close(&c);
	UNTIL(s->f, s->data_freed == 2);
	assert_int_equal(s->gone, 1);
}

/* --- limits ------------------------------------------------------------------------------------------------------------ */

static void too_many_are_closed_at_accept(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct client clients[8];
	int ended = 0;

	config.max_connections = 3;
	server_start(s, &config, true);
	for (size_t i = 0; i < 8; i++)
		client_open(&clients[i], httpd_port(s->h));
	/* Closed although they never spoke TLS. */
	UNTIL(s->f, (ended = client_ended(&clients[0]) + client_ended(&clients[1]) + client_ended(&clients[2]) + client_ended(&clients[3]) + client_ended(&clients[4])
		+ client_ended(&clients[5]) + client_ended(&clients[6]) + client_ended(&clients[7])) == 5);
	assert_int_equal(httpd_connections(s->h), 3);
	for (size_t i = 0; i < 8; i++) {
		assert_int_equal(clients[i].got.len, 0);
		client_close(&clients[i]);
	}
	UNTIL(s->f, httpd_connections(s->h) == 0);
	open_client(s, &clients[0]);
	client_close(&clients[0]);
}

static void an_idle_connection_makes_room(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct client busy, idle, late;

	config.max_connections = 2;
	server_start(s, &config, false);
	open_client(s, &busy);
	open_client(s, &idle);
	client_send(&busy, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held && httpd_connections(s->h) == 2);
	fixture_linger(s->f, 1100);
	open_client(s, &late);
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
	struct httpd_config config = defaults();
	struct client head, body, hello;

	config.request_ms = config.handshake_ms = 100;
	server_start(s, &config, false);
	open_client(s, &head);
	drip(s, &head, "GET /abcdefghijklmnopqrstuvwxyz");
	open_client(s, &body);
	client_send(&body, "POST /p HTTP/1.1\r\nContent-Length: 100000\r\n\r\n");
	drip(s, &body, "x");
	httpd_free(s->h);
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
	struct httpd_config config = defaults();
	struct client plain, tls, kept;

	config.idle_ms = config.handshake_ms = 60;
	server_start(s, &config, false);
	open_client(s, &plain);
	open_client(s, &kept);
	client_send(&kept, "GET /1 HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_ended(&plain) && client_ended(&kept));
	assert_true(client_has(&kept, "path=/1 "));
	httpd_free(s->h);
	server_start(s, &config, true);
	client_open(&tls, httpd_port(s->h));
	UNTIL(s->f, client_ended(&tls));
	client_close(&tls);
	open_client(s, &tls); /* shakes hands, then says nothing */
	UNTIL(s->f, client_ended(&tls));
	client_close(&plain);
	client_close(&kept);
	client_close(&tls);
}

static void who_never_reads_is_dropped(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct client c;

	config.request_ms = 150;
	server_start(s, &config, false);
	open_client(s, &c);
	for (int i = 0; i < 40; i++)
		client_send(&c, "GET /big HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->requests > 0 && httpd_connections(s->h) == 0);
	client_close(&c);
}

static void held_requests_have_no_deadline_here(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct client c;

	config.request_ms = config.idle_ms = config.handshake_ms = 20;
	server_start(s, &config, false);
	open_client(s, &c);
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
	struct httpd_config config = defaults();
	struct { char *text; const char *status; } rows[] = {
		{ repeat("GET /", 'a', 5000, " HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 " },
		{ repeat("GET / HTTP/1.1\r\nX: ", 'a', 5000, "\r\n\r\n"), "HTTP/1.1 400 " },
		{ repeat("GET / HTTP/1.1\r\nX", ':', 5000, ""), "HTTP/1.1 400 " },
		{ repeat("", 'a', 5000, ""), "HTTP/1.1 400 " },
		{ repeat("POST / HTTP/1.1\r\nContent-Length: 10001\r\n\r\n", 'a', 100, ""), "HTTP/1.1 413 " },
		{ repeat("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 'a', 10, ""), "HTTP/1.1 4" },
		{ repeat("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2711\r\n", 'a', 10001, "\r\n0\r\n\r\n"), "HTTP/1.1 413 " },
		{ repeat("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", '0', 100000, ""), "" }, /* a chunk's size that never ends */
		{ mem_dup("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "HTTP/1.1 4" },
		{ mem_dup("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\nx"), "HTTP/1.1 400 " },
		{ mem_dup("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx"), "HTTP/1.1 400 " },
		{ mem_dup("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nBad Name: x\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nContent-Length : 5\r\n\r\n"), "HTTP/1.1 400 " },
		{ mem_dup("GET / HTTP/1.1\r\nno colon\r\n\r\n"), "HTTP/1.1 400 " },
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

		open_client(s, &c);
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
	struct httpd_config config = defaults();
	char *request = repeat("POST /echo HTTP/1.1\r\nContent-Length: 10000\r\n\r\n", 'b', 10000, "");

	config.max_headers = 4096;
	config.max_body = 10000;
	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		server_start(s, &config, tls);
		open_client(s, &c);
		for (int i = 0; i < 20; i++) { /* what one connection brings in all has no cap */
			client_forget(&c);
			client_send(&c, request);
			UNTIL(s->f, client_has(&c, "bbb") && c.got.len > 10000);
		}
		client_close(&c);
		httpd_free(s->h);
		s->h = NULL;
	}
	mem_free_ptr(&request);
}

static void who_sends_too_much_ahead_is_cut_off(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	char *junk = repeat("", 'x', 60000, "");
	struct client c;

	config.max_headers = 4096;
	config.max_body = 1000;
	server_start(s, &config, false);
	open_client(s, &c);
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

/* --- TLS --------------------------------------------------------------------------------------------------------------- */

static void a_tls_port_never_speaks_plain(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct err err;
	struct client c;

	server_start(s, &config, true);
	client_open(&c, httpd_port(s->h));
	client_send(&c, "GET / HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_ended(&c));
	assert_null(strstr(buf_text(&c.got), "HTTP/1.1 200"));
	client_close(&c);
	httpd_free(s->h);
	/* Without a certificate too. */
	config.tls = tls_server_new(&err);
	config.address = "127.0.0.1";
	s->h = httpd_new(s->f->loop, &config, on_request, s, &err);
	client_open(&c, httpd_port(s->h));
	client_send(&c, "GET / HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_ended(&c));
	assert_int_equal(c.got.len, 0);
	assert_int_equal(s->requests, 0);
	assert_int_equal(httpd_connections(s->h), 0);
	client_close(&c);
	httpd_free(s->h);
	s->h = NULL;
	tls_server_free(config.tls);
}

static void tls_garbage_is_survived(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	static const char *const garbage[] = { "\x16\x03\x01\xff\xff", "\x15\x03\x03\x01\x02\x02\x28", "\x80\x2e\x01", "SSH-2.0-x\r\n", "\x16\x03\x01\x01\x05\x01\x01\x01\x01\x03\x03" };
	struct client c;

	config.handshake_ms = 100;
	server_start(s, &config, true);
	for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
		client_open(&c, httpd_port(s->h));
		client_send(&c, garbage[i]);
		UNTIL(s->f, client_ended(&c));
		client_close(&c);
	}
	open_client(s, &c);
	client_send(&c, "GET /still HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_has(&c, "path=/still "));
	client_close(&c);
}

static void the_certificate_is_swapped_under_live_connections(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	static const char *const names[] = { "localhost", "swapped.example", NULL };
	struct x509_pair second;
	struct client before, after;
	struct err err;
	X509 *cert;

	server_start(s, &config, true);
	open_client(s, &before);
	client_send(&before, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held);
	assert_int_equal(x509_make_serving(&s->f->ca, names, timestamp_now_ms(), 1000, &second, &err), 0);
	assert_int_equal(tls_server_set_certificate(s->tls, second.cert_pem, second.key_pem, &err), 0);
	open_client(s, &after);
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

/* --- addresses --------------------------------------------------------------------------------------------------------- */

static bool can_use_v6(void)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool can = fd >= 0 && bind(fd, (const struct sockaddr *)&sin6, sizeof(sin6)) == 0;

	if (fd >= 0)
		close(fd);
	return can;
}

static void both_families_on_one_port(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct client c;

	config.address = "";
	server_start(s, &config, false);
	open_client(s, &c);
	client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held);
	assert_int_equal(strncmp(httpd_peer(s->held), "127.0.0.1:", 10), 0); /* not ::ffff:127.0.0.1 */
	httpd_reply(s->held, 200, NULL, NULL, 0);
	s->held = NULL;
	client_close(&c);
	if (!can_use_v6())
		return;
	c = (struct client){ .fd = socket(AF_INET6, SOCK_STREAM, 0) };
	buf_init(&c.got, 1 << 20);
	sin6.sin6_port = htons(httpd_port(s->h));
	assert_int_equal(connect(c.fd, (const struct sockaddr *)&sin6, sizeof(sin6)), 0);
	client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
	UNTIL(s->f, s->held);
	assert_int_equal(strncmp(httpd_peer(s->held), "[::1]:", 6), 0);
	client_close(&c);
	UNTIL(s->f, s->gone == 1);
}

static void bad_addresses_are_named(void **state)
{
	struct server *s = *state;
	struct httpd_config config = defaults();
	struct err err = { .kind = ERR_NONE };

	config.address = "no-address";
	assert_null(httpd_new(s->f->loop, &config, on_request, s, &err));
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.msg, "\"no-address\""));
	config.address = "127.0.0.1";
	server_start(s, &config, false);
	config.port = httpd_port(s->h);
	assert_null(httpd_new(s->f->loop, &config, on_request, s, &err));
	assert_non_null(strstr(err.msg, "in use"));
	httpd_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_over_plain_http, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(requests_over_tls, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(head_gets_the_length_and_no_body, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(pipelined_requests_are_answered_in_order, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(http10_and_close_end_the_connection, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(big_answers_arrive_whole, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_held_request_is_answered_later, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_client_that_leaves_is_noticed, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(held_requests_are_answered_when_the_server_goes, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(data_goes_with_its_connection, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(too_many_are_closed_at_accept, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(an_idle_connection_makes_room, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(slow_drips_end, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(silence_ends, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(who_never_reads_is_dropped, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(held_requests_have_no_deadline_here, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(oversize_and_malformed_requests_are_refused, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(bodies_up_to_the_cap_are_taken, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(who_sends_too_much_ahead_is_cut_off, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_tls_port_never_speaks_plain, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(tls_garbage_is_survived, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(the_certificate_is_swapped_under_live_connections, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(both_families_on_one_port, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(bad_addresses_are_named, server_setup, server_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
