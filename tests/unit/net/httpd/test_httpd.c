/* SPDX-License-Identifier: Apache-2.0 */
#include "httpdserver.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Requests and replies ---- */

static void what_the_handler_sees(struct server *s)
{
	static const struct {
		const char *request, *seen[4];
	} rows[] = {
		{ "GET /a/b?q=1 HTTP/1.1\r\nHost: h\r\nX-Test: one\r\nX-Test: two\r\n\r\n",
			{ "method=GET uri=/a/b?q=1 path=/a/b raw=/a/b query=1 header=one body=0",
				"X-Test=one;X-Test=two;", "X-Reply: yes", "Content-Type: text/plain" } },
		{ "GET /a%2Fb/%41?q=a+b%26 HTTP/1.1\r\n\r\n", { "path=/a/b/A raw=/a%2Fb/%41 query=a b&" } },
		{ "GET /~\xc3\xa4 HTTP/1.1\r\nX-Test: abcdefgh\tijklmno \xc3\xa4 ~ pq\r\n\r\n",
			{ "path=/~\xc3\xa4 ", "header=abcdefgh\tijklmno \xc3\xa4 ~ pq body=0" } },
		{ "GET /a%00b HTTP/1.1\r\n\r\n", { "path= raw=/a%00b" } },
		{ "GET /a%FFb HTTP/1.1\r\n\r\n", { "path= raw=/a%FFb" } },
		{ "GET //x/y?q HTTP/1.1\r\n\r\n", { "path=//x/y raw=//x/y query= " } },
		{ "POST /p HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", { "method=POST", "body=5" } },
		{ "POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
			{ "body=5" } },
		{ "PUT /p HTTP/1.1\r\nContent-Length: 0\r\n\r\n", { "method=PUT", "body=0" } },
		{ "DELETE /p HTTP/1.1\r\n\r\n", { "method=DELETE" } },
		{ "PATCH /p HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", { "method=PATCH" } },
		{ "OPTIONS * HTTP/1.1\r\n\r\n", { "method=OPTIONS uri=* path= " } },
		{ "TRACE /p HTTP/1.1\r\n\r\n", { "method=TRACE" } },
		{ "CONNECT h:443 HTTP/1.1\r\n\r\n", { "method=CONNECT", "Content-Length: " } },
		/* to evhttp a proxy request: it closes afterwards */
		{ "GET http://h/z?q=%zz HTTP/1.1\r\nHost: h\r\n\r\n", { "path=/z raw=/z query=(bad)" } },
	};
	struct client c;

	server_open_client(s, &c);
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
	struct httpd_config config = server_defaults();

	server_start(*state, &config, false);
	what_the_handler_sees(*state);
}

static void requests_over_a_unix_socket(void **state)
{
	char folder[] = "/tmp/httpd-XXXXXX";
	char path[sizeof(folder) + 2];
	struct httpd_config config = server_defaults();
	struct server *s = *state;
	struct client c;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	config.path = path;
	server_start(s, &config, false);
	assert_int_equal(httpd_port(s->h), 0);
	client_open_unix(&c, path);
	client_send(&c, "GET /a HTTP/1.1\r\n\r\n");
	UNTIL(s->f, client_has(&c, "query=(none)"));
	assert_true(client_has(&c, "peer=unix"));
	client_close(&c);
	UNTIL(s->f, httpd_connections(s->h) == 0);
	server_stop(s);
	assert_int_equal(rmdir(folder), 0); /* the socket's file is gone */
}

static void requests_over_tls(void **state)
{
	struct httpd_config config = server_defaults();

	server_start(*state, &config, true);
	what_the_handler_sees(*state);
}

static void head_gets_the_length_and_no_body(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client c;

	server_start(s, &config, false);
	server_open_client(s, &c);
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
	struct httpd_config config = server_defaults();
	struct client c;

	for (int tls = 0; tls < 2; tls++) {
		server_start(s, &config, tls);
		server_open_client(s, &c);
		client_send(&c,
			"GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\nContent-Length: 2\r\n\r\nxxGET /3 "
			"HTTP/1.1\r\n\r\n");
		UNTIL(s->f, client_has(&c, "path=/3 "));
		assert_true(strstr(buf_text(&c.got), "path=/1 ") < strstr(buf_text(&c.got), "path=/2 "));
		assert_true(strstr(buf_text(&c.got), "path=/2 ") < strstr(buf_text(&c.got), "path=/3 "));
		client_close(&c);
		server_stop(s);
	}
}

#define MANY 200

static void send_many(struct client *c)
{
	char text[MANY * 24] = "";

	for (int i = 0; i < MANY; i++)
		strcat(text, "GET /1 HTTP/1.1\r\n\r\n");
	client_send(c, text);
}

static void one_of_many_is_answered_in_a_turn(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client c;

	for (int tls = 0; tls < 2; tls++) {
		server_start(s, &config, tls);
		server_open_client(s, &c);
		s->requests = 0;
		send_many(&c);
		while (s->requests < MANY) {
			int before = s->requests;

			loop_turn(s->f->loop);
			assert_in_range(s->requests, before, before + 1);
		}
		client_close(&c);
		server_stop(s);
	}
}

struct opener {
	struct server *s;
	struct client *other;
};

/* The first request of many has another client come, in the turn in which it is answered. */
static void open_the_other(void *arg, struct httpd_request *r)
{
	struct opener *o = arg;

	if (o->s->requests == 0) {
		client_open(o->other, httpd_port(o->s->h));
		client_send(o->other, "GET /other HTTP/1.1\r\n\r\n");
	}
	assert_non_null(strstr(httpd_peer(r), "127.0.0.1:"));
	server_on_request(o->s, r);
}

static void a_client_among_many_is_served(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	struct client c, other;
	struct opener opener = { .s = s, .other = &other };
	struct err err;

	config.address = "127.0.0.1";
	s->h = httpd_new(s->f->loop, &config, open_the_other, &opener, &err);
	assert_non_null(s->h);
	client_open(&c, httpd_port(s->h));
	send_many(&c);
	UNTIL(s->f, s->requests > 0 && client_has(&other, "path=/other "));
	UNTIL(s->f, s->requests == MANY + 1);
	client_close(&c);
	client_close(&other);
}

static void http10_and_close_end_the_connection(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();
	static const char *const requests[] = { "GET /1 HTTP/1.0\r\n\r\n",
		"GET /1 HTTP/1.1\r\nConnection: close\r\n\r\n" };

	for (int tls = 0; tls < 2; tls++) {
		server_start(s, &config, tls);
		for (size_t i = 0; i < 2; i++) {
			struct client c;

			server_open_client(s, &c);
			client_send(&c, requests[i]);
			UNTIL(s->f, client_ended(&c));
			assert_true(client_has(&c, "path=/1 "));
			client_close(&c);
		}
		assert_int_equal(httpd_connections(s->h), 0);
		server_stop(s);
	}
}

static void big_answers_arrive_whole(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();

	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		server_start(s, &config, tls);
		server_open_client(s, &c);
		client_send(&c, "GET /big HTTP/1.1\r\n\r\n");
		UNTIL(s->f,
			client_has(&c, "\r\n\r\n") &&
				c.got.len >= (size_t)(strstr(buf_text(&c.got), "\r\n\r\n") - buf_text(&c.got)) + 4 +
						(1 << 20));
		client_close(&c);
		server_stop(s);
	}
}

/* ---- Held requests ---- */

static void a_held_request_is_answered_later(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();

	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		server_start(s, &config, tls);
		server_open_client(s, &c);
		client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
		UNTIL(s->f, s->held);
		assert_non_null(strstr(httpd_peer(s->held), "127.0.0.1:"));
		client_send(&c, "GET /next HTTP/1.1\r\n\r\n"); /* further requests wait */
		fixture_linger(s->f, 20);
		assert_int_equal(c.got.len, 0);
		httpd_reply(s->held, 503, "text/plain", "later", 5);
		s->held = NULL;
		UNTIL(s->f, client_has(&c, "path=/next "));
		assert_true(client_has(&c, "HTTP/1.1 503"));
		assert_true(client_has(&c, "\r\n\r\nlaterHTTP/1.1 200"));
		assert_int_equal(s->gone, 0);
		client_close(&c);
		server_stop(s);
	}
}

static void a_client_that_leaves_is_noticed(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();

	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		s->gone = 0;
		server_start(s, &config, tls);
		server_open_client(s, &c);
		client_send(&c, "GET /hold HTTP/1.1\r\n\r\n");
		UNTIL(s->f, s->held);
		client_close(&c);
		UNTIL(s->f, s->gone == 1);
		assert_int_equal(httpd_connections(s->h), 0);
		server_stop(s);
	}
}

static void held_requests_are_answered_when_the_server_goes(void **state)
{
	struct server *s = *state;
	struct httpd_config config = server_defaults();

	for (int tls = 0; tls < 2; tls++) {
		struct client held, idle, silent;

		s->gone = 0;
		server_start(s, &config, tls);
		server_open_client(s, &held);
		server_open_client(s, &idle);
		client_open(&silent, httpd_port(s->h)); /* sends nothing, not even TLS */
		client_send(&held, "GET /hold HTTP/1.1\r\n\r\n");
		UNTIL(s->f, s->held && httpd_connections(s->h) == 3);
		server_stop(s);
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
	struct httpd_config config = server_defaults();
	struct client c;

	server_start(s, &config, false);
	server_open_client(s, &c);
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

/* ---- Addresses ---- */

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
	struct httpd_config config = server_defaults();
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct client c;

	config.address = "";
	server_start(s, &config, false);
	server_open_client(s, &c);
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
	struct httpd_config config = server_defaults();
	struct err err = { .kind = ERR_NONE };

	config.address = "no-address";
	assert_null(httpd_new(s->f->loop, &config, server_on_request, s, &err));
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.msg, "\"no-address\""));
	config.address = "127.0.0.1";
	server_start(s, &config, false);
	config.port = httpd_port(s->h);
	assert_null(httpd_new(s->f->loop, &config, server_on_request, s, &err));
	assert_non_null(strstr(err.msg, "in use"));
	httpd_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_over_plain_http, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(requests_over_a_unix_socket, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(requests_over_tls, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(head_gets_the_length_and_no_body, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(pipelined_requests_are_answered_in_order, server_setup,
			server_teardown),
		cmocka_unit_test_setup_teardown(one_of_many_is_answered_in_a_turn, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_client_among_many_is_served, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(http10_and_close_end_the_connection, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(big_answers_arrive_whole, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_held_request_is_answered_later, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(a_client_that_leaves_is_noticed, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(held_requests_are_answered_when_the_server_goes, server_setup,
			server_teardown),
		cmocka_unit_test_setup_teardown(data_goes_with_its_connection, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(both_families_on_one_port, server_setup, server_teardown),
		cmocka_unit_test_setup_teardown(bad_addresses_are_named, server_setup, server_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
