/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "net/httpc.h"
#include "net/httpd.h"
#include "net/httpurl.h"

/* Our own server, which answers with what it saw, or by the path: "/hold" never, "/404" and "/503" with these, "/big" with a megabyte. */
struct world {
	struct fixture *f;
	struct tls_server *tls;
	struct httpd *plain, *secure;
	struct httpc *c;
	char plain_url[64], secure_url[64];
	struct httpd_request *held;
	int held_count, gone;
	char last_peer[64];
	char last_client[64]; /* common name of the last client certificate */
};

static void on_gone(void *arg)
{
	struct world *w = arg;

	w->gone++;
}

static void answer_big(struct httpd_request *r)
{
	char *big = mem_zalloc(1 << 20);

	memset(big, 'x', 1 << 20);
	httpd_reply(r, 200, "text/plain", big, 1 << 20);
	mem_free_ptr(&big);
}

static void answer_seen(struct httpd_request *r)
{
	const char *authorization = httpd_header(r, "Authorization"), *type = httpd_header(r, "Content-Type"), *host = httpd_header(r, "Host");
	struct buf out = BUF_INIT((size_t)1 << 20);
	size_t len;
	const char *body = httpd_body(r, &len);

	buf_printf(&out, "%s %s auth=%s type=%s host=%s body=%.*s expect=%s accept-encoding=%s", httpd_method(r), httpd_uri(r), authorization ? authorization : "-", type ? type : "-",
		host ? host : "-", (int)len, body, httpd_header(r, "Expect") ? "yes" : "no", httpd_header(r, "Accept-Encoding") ? "yes" : "no");
	httpd_reply(r, 200, "application/json", out.data, out.len);
	buf_done(&out);
}

static void on_request(void *arg, struct httpd_request *r)
{
	struct world *w = arg;
	X509 *cert = httpd_tls(r) ? SSL_get1_peer_certificate(httpd_tls(r)) : NULL;

	snprintf(w->last_peer, sizeof(w->last_peer), "%s", httpd_peer(r));
	w->last_client[0] = '\0';
	if (cert)
		x509_common_name(cert, w->last_client, sizeof(w->last_client));
	X509_free(cert);
	if (strcmp(httpd_path(r), "/hold") == 0) {
		w->held = r;
		w->held_count++;
		httpd_on_gone(r, on_gone, w);
	} else if (strcmp(httpd_path(r), "/404") == 0) {
		httpd_reply(r, 404, "text/plain", "not here", 8);
	} else if (strcmp(httpd_path(r), "/503") == 0) {
		httpd_add_header(r, "Retry-After", "7");
		httpd_reply(r, 503, "text/plain", "busy", 4);
	} else if (strcmp(httpd_path(r), "/big") == 0) {
		answer_big(r);
	} else {
		answer_seen(r);
	}
}

static int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct httpc_config config = { 0 };
	struct httpd_config server;
	struct err err = { .kind = ERR_NONE };
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	fixture_pairs(w->f);
	httpd_config_defaults(&server);
	server.address = "127.0.0.1";
	w->plain = httpd_new(w->f->loop, &server, on_request, w, &err);
	server.tls = w->tls = tls_server_new(&err);
	tls_server_set_certificate(w->tls, w->f->serving.cert_pem, w->f->serving.key_pem, &err);
	w->secure = httpd_new(w->f->loop, &server, on_request, w, &err);
	w->c = httpc_new(w->f->loop, &config, &err);
	if (!w->plain || !w->secure || !w->c)
		return -1;
	snprintf(w->plain_url, sizeof(w->plain_url), "http://127.0.0.1:%u", httpd_port(w->plain));
	snprintf(w->secure_url, sizeof(w->secure_url), "https://127.0.0.1:%u", httpd_port(w->secure));
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	httpc_free(w->c);
	httpd_free(w->plain);
	httpd_free(w->secure);
	tls_server_free(w->tls);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

/* --- what came of a request --------------------------------------------------------------------------------------------- */

struct result {
	struct world *w;
	struct httpc_call *call;
	int done, statuses, pieces;
	int status; /* on_status' */
	struct httpc_response response; /* its texts are copied below */
	char body[4096], content_type[64];
	size_t streamed;
	struct err err;
	/* What the callbacks are to do. */
	bool refuse, cancel_on_data, cancel_on_status, free_on_data, free_on_done, start_on_data, start_on_done;
	struct result *other; /* cancelled, or started, from inside */
};

static struct httpc_call *start(struct result *r, const char *path, bool stream);

static void on_status(void *arg, int status)
{
	struct result *r = arg;

	assert_int_equal(r->pieces, 0);
	r->statuses++;
	r->status = status;
	if (r->cancel_on_status)
		httpc_cancel(r->call);
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	struct result *r = arg;

	assert_int_equal(r->statuses, 1);
	r->pieces++;
	if (r->streamed + len < sizeof(r->body))
		memcpy(r->body + r->streamed, bytes, len);
	r->streamed += len;
	if (r->cancel_on_data)
		httpc_cancel(r->call);
	if (r->free_on_data) {
		httpc_free(r->w->c);
		r->w->c = NULL;
	}
	if (r->start_on_data && r->pieces == 1)
		start(r->other, "/from-inside", false);
	return !r->refuse;
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct result *r = arg;

	assert_int_equal(response == NULL, err != NULL);
	r->done++;
	r->call = NULL;
	if (err) {
		r->err = *err;
	} else {
		r->response = *response;
		assert_int_equal(response->body[response->len], '\0');
		if (!r->streamed)
			snprintf(r->body, sizeof(r->body), "%s", response->body);
		snprintf(r->content_type, sizeof(r->content_type), "%s", response->content_type);
	}
	if (r->start_on_done)
		start(r->other, "/from-done", false);
	else if (r->other && r->other->call)
		httpc_cancel(r->other->call);
	if (r->free_on_done) {
		httpc_free(r->w->c);
		r->w->c = NULL;
	}
}

static const struct httpc_events whole = { .on_status = on_status, .on_done = on_done }, streaming = { .on_status = on_status, .on_data = on_data, .on_done = on_done };

static struct httpc_call *start_request(struct result *r, const char *base, const char *path, struct httpc_request request, bool stream)
{
	char url[256];

	snprintf(url, sizeof(url), "%s%s", base, path);
	request.url = url;
	if (!request.method)
		request.method = "GET";
	r->call = httpc_start(r->w->c, &request, stream ? &streaming : &whole, r);
	assert_non_null(r->call);
	assert_int_equal(r->done, 0); /* never before start returns */
	return r->call;
}

static struct httpc_call *start(struct result *r, const char *path, bool stream)
{
	struct httpc_request request = { .deadline_ms = PATIENCE_MS };

	return start_request(r, r->w->plain_url, path, request, stream);
}

#define RESULT(name, world) struct result *name = mem_zalloc(sizeof(struct result)); name->w = (world)

/* --- requests and answers ----------------------------------------------------------------------------------------------- */

static void requests_carry_what_they_are_given(void **state)
{
	struct world *w = *state;
	static const char *const json[] = { "Content-Type: application/json", NULL };
	const struct {
		struct httpc_request request;
		const char *seen;
	} rows[] = {
		{ { .method = "GET" }, "GET /x?y=z auth=- type=- host=127.0.0.1" },
		{ { .method = "GET", .bearer = "t0ken" }, "auth=Bearer t0ken" },
		{ { .method = "POST", .body = "{}", .body_len = 2, .headers = json }, "POST /x?y=z auth=- type=application/json" },
		{ { .method = "POST", .body = "{}", .body_len = 2, .headers = json }, "body={} expect=no accept-encoding=no" },
		{ { .method = "POST", .headers = json }, "body= " },
		{ { .method = "PATCH", .body = "p", .body_len = 1, .headers = json }, "PATCH /x?y=z" },
		{ { .method = "PUT", .body = "p", .body_len = 1, .headers = json }, "PUT /x?y=z" },
		{ { .method = "DELETE" }, "DELETE /x?y=z" },
		{ { .method = "DELETE", .body = "why", .body_len = 3, .headers = json }, "body=why" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		RESULT(r, w);
		start_request(r, w->plain_url, "/x?y=z", rows[i].request, false);
		UNTIL(w->f, r->done);
		assert_int_equal(r->err.kind, ERR_NONE);
		assert_int_equal(r->response.status, 200);
		assert_int_equal(r->status, 200);
		assert_string_equal(r->content_type, "application/json");
		assert_true(r->response.took_ms >= 0);
		if (!strstr(r->body, rows[i].seen))
			fail_msg("row %zu: %s", i, r->body);
		mem_free_ptr(&r);
	}
}

static void http_errors_are_answers(void **state)
{
	struct world *w = *state;

	for (int stream = 0; stream < 2; stream++) { /* what is no 2xx is collected in either case */
		RESULT(missing, w);
		RESULT(busy, w);
		start(missing, "/404", stream);
		start(busy, "/503", stream);
		UNTIL(w->f, missing->done && busy->done);
		assert_int_equal(missing->response.status, 404);
		assert_string_equal(missing->body, "not here");
		assert_int_equal(missing->response.retry_after_ms, 0);
		assert_int_equal(busy->response.status, 503);
		assert_int_equal(busy->response.retry_after_ms, 7000);
		assert_int_equal(missing->pieces + busy->pieces, 0);
		mem_free_ptr(&missing);
		mem_free_ptr(&busy);
	}
}

static void head_has_no_body(void **state)
{
	struct world *w = *state;
	RESULT(r, w);

	start_request(r, w->plain_url, "/big", (struct httpc_request){ .method = "HEAD" }, false);
	UNTIL(w->f, r->done);
	assert_int_equal(r->response.status, 200);
	assert_int_equal(r->response.len, 0);
	mem_free_ptr(&r);
}

static void connections_are_kept_and_dropped_when_told(void **state)
{
	struct world *w = *state;
	char first[64];
	RESULT(a, w);
	RESULT(b, w);
	RESULT(c, w);
	RESULT(held, w);

	start(a, "/1", false);
	UNTIL(w->f, a->done);
	strcpy(first, w->last_peer);
	start(b, "/2", false);
	UNTIL(w->f, b->done);
	assert_string_equal(w->last_peer, first);
	start(held, "/hold", false);
	UNTIL(w->f, w->held);
	httpc_drop_connections(w->c);
	start(c, "/3", false);
	UNTIL(w->f, c->done);
	assert_string_not_equal(w->last_peer, first);
	httpd_reply(w->held, 200, NULL, "went on", 7);
	UNTIL(w->f, held->done);
	assert_string_equal(held->body, "went on");
	UNTIL(w->f, httpd_connections(w->plain) == 1); /* the old one is closed with its last transfer */
	mem_free_ptr(&a);
	mem_free_ptr(&b);
	mem_free_ptr(&c);
	mem_free_ptr(&held);
}

static void many_at_once(void **state)
{
	struct world *w = *state;
	struct result *results = mem_array(300, sizeof(*results));
	int done = 0;

	for (size_t i = 0; i < 300; i++) {
		results[i].w = w;
		start_request(&results[i], i % 3 ? w->plain_url : w->secure_url, "/n", (struct httpc_request){ .server = &(struct httpc_server){ .insecure = true } }, i % 2);
		if (i % 50 == 49)
			UNTIL(w->f, results[i].done);
	}
	while (done < 300) {
		loop_turn(w->f->loop);
		done = 0;
		for (size_t i = 0; i < 300; i++)
			done += results[i].done;
	}
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(results[i].response.status, 200);
	mem_free_ptr(&results);
}

static void at_most_so_many_connections(void **state)
{
	struct world *w = *state;
	struct httpc_config config = { .max_connections_per_host = 2 };
	struct result *results = mem_array(20, sizeof(*results));
	struct err err;
	int done = 0, most = 0;

	httpc_free(w->c);
	w->c = httpc_new(w->f->loop, &config, &err);
	for (size_t i = 0; i < 20; i++) {
		results[i].w = w;
		start(&results[i], "/n", false);
	}
	while (done < 20) {
		loop_turn(w->f->loop);
		most = httpd_connections(w->plain) > most ? httpd_connections(w->plain) : most;
		done = 0;
		for (size_t i = 0; i < 20; i++)
			done += results[i].done;
	}
	assert_int_equal(most, 2);
	mem_free_ptr(&results);
}

static void a_proxy_is_used_when_given(void **state)
{
	struct world *w = *state;
	struct httpc_server server = { .proxy_url = w->plain_url };
	RESULT(r, w);

	start_request(r, "http://elsewhere.test", "/p", (struct httpc_request){ .server = &server }, false);
	UNTIL(w->f, r->done);
	assert_non_null(strstr(r->body, "GET http://elsewhere.test/p "));
	mem_free_ptr(&r);
}

static void bad_arguments_come_through_on_done(void **state)
{
	struct world *w = *state;
	static const char *const two_lines[] = { "X: a\r\nY: b", NULL }, *const no_colon[] = { "X", NULL };
	const struct {
		const char *url;
		struct httpc_request request;
	} rows[] = {
		{ "", { .method = "GET" } },
		{ "ftp://127.0.0.1/", { .method = "GET" } },
		{ "file:///etc/passwd", { .method = "GET" } },
		{ "http://127.0.0.1/\r\nX: y", { .method = "GET" } },
		{ "http://127.0.0.1:99999/", { .method = "GET" } },
		{ "http://[::1/", { .method = "GET" } },
		{ "http://127.0.0.1/", { .method = "GET / HTTP/1.1\r\nX: y" } },
		{ "http://127.0.0.1/", { .method = "get" } },
		{ "http://127.0.0.1/", { .method = "GET", .bearer = "t\r\nX: y" } },
		{ "http://127.0.0.1/", { .method = "GET", .headers = two_lines } },
		{ "http://127.0.0.1/", { .method = "GET", .headers = no_colon } },
		{ "https://127.0.0.1/", { .method = "GET", .server = &(struct httpc_server){ .tls_server_name = "a b/c" } } },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		RESULT(r, w);
		start_request(r, rows[i].url, "", rows[i].request, false);
		UNTIL(w->f, r->done);
		if (r->err.kind != ERR_INVALID)
			fail_msg("row %zu: %d %s", i, r->err.kind, r->err.msg);
		assert_null(strchr(r->err.msg, '\n'));
		mem_free_ptr(&r);
	}
	RESULT(cancelled, w);
	start_request(cancelled, "", "", (struct httpc_request){ .method = "GET" }, false);
	httpc_cancel(cancelled->call);
	fixture_linger(w->f, 10);
	assert_int_equal(cancelled->done, 0);
	mem_free_ptr(&cancelled);
}

/* --- TLS --------------------------------------------------------------------------------------------------------------- */

static void servers_are_verified(void **state)
{
	struct world *w = *state;
	struct x509_pair stranger;
	struct err err;

	assert_int_equal(x509_make_ca("stranger", timestamp_now_ms(), 1000, &stranger, &err), 0);
	const struct {
		struct httpc_server server;
		const char *why; /* NULL: works */
	} rows[] = {
		{ { .ca_pem = w->f->ca.cert_pem }, NULL },
		{ { .ca_pem = stranger.cert_pem }, "certificate" },
		{ { .ca_pem = NULL }, "certificate" },
		{ { .insecure = true }, NULL },
		{ { .ca_pem = w->f->ca.cert_pem, .tls_server_name = "localhost" }, NULL },
		{ { .ca_pem = w->f->ca.cert_pem, .tls_server_name = "other.example" }, "other.example" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		RESULT(r, w);
		start_request(r, w->secure_url, "/s", (struct httpc_request){ .server = &rows[i].server }, false);
		UNTIL(w->f, r->done);
		if (rows[i].why) {
			assert_int_equal(r->err.kind, ERR_TEMPORARY);
			if (!strstr(r->err.msg, rows[i].why))
				fail_msg("row %zu: %s", i, r->err.msg);
		} else {
			assert_int_equal(r->response.status, 200);
			assert_non_null(strstr(r->body, "host=127.0.0.1:")); /* whatever name is verified */
		}
		mem_free_ptr(&r);
	}
	x509_pair_done(&stranger);
}

static void client_certificates_are_sent(void **state)
{
	struct world *w = *state;
	static const char *const names[] = { "system-user", NULL };
	struct x509_pair client;
	struct err err;

	assert_int_equal(x509_make_serving(&w->f->ca, names, timestamp_now_ms(), 1000, &client, &err), 0);
	struct httpc_server server = { .ca_pem = w->f->ca.cert_pem, .cert_pem = client.cert_pem, .key_pem = client.key_pem };
	RESULT(r, w);
	start_request(r, w->secure_url, "/s", (struct httpc_request){ .server = &server }, false);
	UNTIL(w->f, r->done);
	assert_int_equal(r->response.status, 200);
	assert_string_equal(w->last_client, "system-user");
	mem_free_ptr(&r);
	/* Other credentials never ride on that connection. */
	RESULT(other, w);
	start_request(other, w->secure_url, "/s", (struct httpc_request){ .server = &(struct httpc_server){ .ca_pem = w->f->ca.cert_pem } }, false);
	UNTIL(w->f, other->done);
	assert_string_equal(w->last_client, "");
	mem_free_ptr(&other);
	x509_pair_done(&client);
}

/* --- failures ---------------------------------------------------------------------------------------------------------- */

static void failures_say_where_and_why_always_the_same(void **state)
{
	struct world *w = *state;
	char url[64], expected[128];
	uint16_t port = fixture_dead_port();
	RESULT(r, w);

	snprintf(url, sizeof(url), "http://user:secret@127.0.0.1:%u", port);
	snprintf(expected, sizeof(expected), "http://127.0.0.1:%u: Connection refused", port);
	start_request(r, url, "/path?key=secret", (struct httpc_request){ .deadline_ms = PATIENCE_MS }, false);
	UNTIL(w->f, r->done);
	assert_int_equal(r->err.kind, ERR_TEMPORARY);
	assert_string_equal(r->err.msg, expected);
	mem_free_ptr(&r);
}

static void the_deadline_ends_a_request(void **state)
{
	struct world *w = *state;

	for (int secure = 0; secure < 2; secure++) {
		RESULT(r, w);
		int64_t started = loop_now_ms(w->f->loop);
		w->gone = 0;
		w->held = NULL;
		start_request(r, secure ? w->secure_url : w->plain_url, "/hold", (struct httpc_request){ .deadline_ms = 300, .server = &(struct httpc_server){ .insecure = true } }, false);
		UNTIL(w->f, r->done);
		assert_true(loop_now_ms(w->f->loop) - started >= 300);
		assert_int_equal(r->err.kind, ERR_TEMPORARY);
		assert_non_null(strstr(r->err.msg, "no complete answer within 300 ms"));
		UNTIL(w->f, w->gone == 1); /* and the server is told */
		mem_free_ptr(&r);
	}
}

static void the_handshake_has_its_own_deadline(void **state)
{
	struct world *w = *state;
	uint16_t port;
	int listener = fixture_listen(&port);
	char url[64];
	RESULT(r, w);

	snprintf(url, sizeof(url), "https://127.0.0.1:%u", port); /* the kernel accepts, nobody shakes hands */
	start_request(r, url, "/", (struct httpc_request){ .connect_ms = 100, .deadline_ms = PATIENCE_MS }, false);
	UNTIL(w->f, r->done);
	assert_non_null(strstr(r->err.msg, "no connection within 100 ms"));
	close(listener);
	mem_free_ptr(&r);
}

static void too_large_answers_are_cut_off(void **state)
{
	struct world *w = *state;
	RESULT(r, w);
	RESULT(fits, w);

	start_request(r, w->plain_url, "/big", (struct httpc_request){ .max_body = (1 << 20) - 1 }, false);
	start_request(fits, w->plain_url, "/big", (struct httpc_request){ .max_body = 1 << 20 }, false);
	UNTIL(w->f, r->done && fits->done);
	assert_int_equal(r->err.kind, ERR_INVALID);
	assert_non_null(strstr(r->err.msg, "larger than 1048575 bytes"));
	assert_int_equal(fits->response.status, 200);
	assert_int_equal(fits->response.len, 1 << 20);
	mem_free_ptr(&r);
	mem_free_ptr(&fits);
}

/* --- pieces, from a server that says what the test wants ------------------------------------------------------------------ */

struct script {
	int listener;
	struct client peer;
	char url[64];
};

static void script_start(struct world *w, struct script *s, struct result *r, struct httpc_request request, bool stream)
{
	uint16_t port;

	s->listener = fixture_listen(&port);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u", port);
	start_request(r, s->url, "/", request, stream);
	UNTIL(w->f, client_accept(&s->peer, s->listener));
	UNTIL(w->f, client_has(&s->peer, "\r\n\r\n"));
}

static void script_end(struct script *s)
{
	client_close(&s->peer);
	close(s->listener);
}

static void pieces_come_as_they_come(void **state)
{
	struct world *w = *state;
	struct script s;
	RESULT(r, w);

	script_start(w, &s, r, (struct httpc_request){ 0 }, true);
	client_send(&s.peer, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	UNTIL(w->f, r->statuses);
	assert_int_equal(r->status, 200);
	assert_int_equal(r->pieces, 0);
	client_send(&s.peer, "5\r\nhello\r\n");
	UNTIL(w->f, r->streamed == 5);
	client_send(&s.peer, "6\r\n world\r\n");
	UNTIL(w->f, r->streamed == 11);
	assert_int_equal(r->done, 0);
	client_send(&s.peer, "0\r\n\r\n");
	UNTIL(w->f, r->done);
	assert_int_equal(r->statuses, 1);
	assert_int_equal(r->response.status, 200);
	assert_int_equal(r->response.len, 0);
	assert_string_equal(r->body, "hello world");
	script_end(&s);
	mem_free_ptr(&r);
}

static void silence_ends_a_stream_and_bytes_keep_it(void **state)
{
	struct world *w = *state;
	struct script s;
	RESULT(r, w);

	script_start(w, &s, r, (struct httpc_request){ .silence_ms = 400 }, true);
	client_send(&s.peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 8; i++) {
		client_send(&s.peer, "1\r\nx\r\n");
		UNTIL(w->f, r->streamed == (size_t)i + 1);
		fixture_linger(w->f, 100);
	}
	assert_int_equal(r->done, 0); /* twice the silence has passed */
	UNTIL(w->f, r->done);
	assert_int_equal(r->err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(r->err.msg, "nothing came for 400 ms"));
	UNTIL(w->f, client_ended(&s.peer));
	script_end(&s);
	mem_free_ptr(&r);
}

static void a_cut_stream_is_temporary(void **state)
{
	struct world *w = *state;
	struct script s;
	RESULT(r, w);

	script_start(w, &s, r, (struct httpc_request){ 0 }, true);
	client_send(&s.peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe");
	UNTIL(w->f, r->streamed == 2);
	client_close(&s.peer);
	UNTIL(w->f, r->done);
	assert_int_equal(r->err.kind, ERR_TEMPORARY);
	script_end(&s);
	mem_free_ptr(&r);
}

static void garbage_is_temporary(void **state)
{
	static const char *const garbage[] = { "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 abc\r\n\r\n", "\x15\x03\x01", "", "HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\n" };
	struct world *w = *state;

	for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
		struct script s;
		RESULT(r, w);

		script_start(w, &s, r, (struct httpc_request){ .deadline_ms = PATIENCE_MS }, false);
		client_send(&s.peer, garbage[i]);
		client_close(&s.peer);
		UNTIL(w->f, r->done);
		assert_int_equal(r->err.kind, ERR_TEMPORARY);
		script_end(&s);
		mem_free_ptr(&r);
	}
}

/* --- from inside callbacks ----------------------------------------------------------------------------------------------- */

static void a_receiver_may_refuse(void **state)
{
	struct world *w = *state;
	RESULT(r, w);

	r->refuse = true;
	start(r, "/big", true);
	UNTIL(w->f, r->done);
	assert_int_equal(r->pieces, 1);
	assert_int_equal(r->err.kind, ERR_INVALID);
	mem_free_ptr(&r);
}

static void cancel_from_inside(void **state)
{
	struct world *w = *state;
	RESULT(by_status, w);
	RESULT(by_data, w);
	RESULT(by_done, w);
	RESULT(other, w);

	by_status->cancel_on_status = by_data->cancel_on_data = true;
	by_done->other = other;
	start(by_status, "/big", true);
	start(by_data, "/big", true);
	start(other, "/hold", false);
	UNTIL(w->f, w->held && by_status->statuses && by_data->pieces);
	start(by_done, "/x", false);
	UNTIL(w->f, by_done->done);
	UNTIL(w->f, w->gone == 1); /* other's connection ended */
	fixture_linger(w->f, 30);
	assert_int_equal(by_status->pieces, 0);
	assert_int_equal(by_data->pieces, 1);
	assert_int_equal(by_status->done, 0);
	assert_int_equal(by_data->done, 0);
	assert_int_equal(other->done, 0);
	mem_free_ptr(&by_status);
	mem_free_ptr(&by_data);
	mem_free_ptr(&by_done);
	mem_free_ptr(&other);
}

static void start_from_inside(void **state)
{
	struct world *w = *state;
	RESULT(r, w);
	RESULT(other, w);

	r->start_on_data = true;
	r->other = other;
	start(r, "/big", true);
	UNTIL(w->f, r->done && other->done);
	assert_non_null(strstr(other->body, "/from-inside"));
	memset(other, 0, sizeof(*other));
	other->w = w;
	r->done = r->pieces = r->statuses = 0;
	r->start_on_data = false;
	r->start_on_done = true;
	start(r, "/x", false);
	UNTIL(w->f, r->done && other->done);
	assert_non_null(strstr(other->body, "/from-done"));
	mem_free_ptr(&r);
	mem_free_ptr(&other);
}

static void cancel_at_any_time(void **state)
{
	struct world *w = *state;
	RESULT(r, w);

	httpc_cancel(NULL);
	for (int turns = 0; turns < 30; turns++) {
		memset(r, 0, sizeof(*r));
		r->w = w;
		start_request(r, turns % 2 ? w->secure_url : w->plain_url, "/big", (struct httpc_request){ .server = &(struct httpc_server){ .insecure = true } }, turns % 3 == 0);
		for (int i = 0; i < turns && !r->done; i++)
			loop_turn(w->f->loop);
		httpc_cancel(r->call);
	}
	/* While a name is looked up: taking the request away must not wait for the resolver's thread. */
	r->done = 0;
	start_request(r, "http://localhost:1", "/", (struct httpc_request){ 0 }, false);
	loop_turn(w->f->loop);
	if (!r->done)
		httpc_cancel(r->call);
	r->done = 0;
	fixture_linger(w->f, 30);
	assert_int_equal(r->done, 0);
	mem_free_ptr(&r);
}

static void free_at_any_time(void **state)
{
	struct world *w = *state;
	struct httpc_config config = { 0 };
	struct err err;

	for (int how = 0; how < 3; how++) {
		RESULT(r, w);
		RESULT(other, w);

		r->free_on_data = how == 0;
		r->free_on_done = how == 1;
		w->held = NULL;
		start(other, "/hold", false);
		UNTIL(w->f, w->held);
		start(r, "/big", how == 0);
		if (how == 2) {
			httpc_free(w->c);
			w->c = NULL;
		}
		UNTIL(w->f, !w->c);
		fixture_linger(w->f, 20);
		assert_int_equal(other->done, 0);
		assert_int_equal(r->done, how == 1);
		w->c = httpc_new(w->f->loop, &config, &err);
		mem_free_ptr(&r);
		mem_free_ptr(&other);
	}
	httpc_free(NULL);
}

/* --- URLs -------------------------------------------------------------------------------------------------------------- */

static void origins_hold_no_secrets(void **state)
{
	static const struct {
		const char *url, *origin;
	} rows[] = {
		{ "https://10.0.0.7:6443/api?x=y", "https://10.0.0.7:6443" },
		{ "http://u:p@host/a", "http://host:80" },
		{ "https://[::1]:6443", "https://[::1]:6443" },
		{ "HTTPS://Host", "https://Host:443" },
		{ "://", "URL" },
		{ "", "URL" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char out[128];

		assert_string_equal(httpurl_origin(rows[i].url, out, sizeof(out)), rows[i].origin);
	}
}

static void urls_are_renamed(void **state)
{
	char *renamed, *route, *host;
	struct err err;

	(void)state;
	assert_int_equal(httpurl_rename("https://[::1]:6443/a?b", "kubernetes.default", &renamed, &route, &host, &err), 0);
	assert_string_equal(renamed, "https://kubernetes.default:6443/a?b");
	assert_string_equal(route, "kubernetes.default:6443:[::1]:6443");
	assert_string_equal(host, "Host: [::1]:6443");
	mem_free_ptr(&renamed);
	mem_free_ptr(&route);
	mem_free_ptr(&host);
	assert_int_equal(httpurl_rename("nonsense", "name", &renamed, &route, &host, &err), -1);
	assert_int_equal(httpurl_rename("https://h/", "a b", &renamed, &route, &host, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_carry_what_they_are_given, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(http_errors_are_answers, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(head_has_no_body, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(connections_are_kept_and_dropped_when_told, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(many_at_once, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(at_most_so_many_connections, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_proxy_is_used_when_given, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(bad_arguments_come_through_on_done, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(servers_are_verified, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(client_certificates_are_sent, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(failures_say_where_and_why_always_the_same, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(the_deadline_ends_a_request, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(the_handshake_has_its_own_deadline, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(too_large_answers_are_cut_off, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(pieces_come_as_they_come, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(silence_ends_a_stream_and_bytes_keep_it, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_cut_stream_is_temporary, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(garbage_is_temporary, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_receiver_may_refuse, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(cancel_from_inside, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(start_from_inside, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(cancel_at_any_time, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(free_at_any_time, world_setup, world_teardown),
		cmocka_unit_test(origins_hold_no_secrets),
		cmocka_unit_test(urls_are_renamed),
	};

	/* Proxies of the environment would swallow loopback too. */
	unsetenv("http_proxy");
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
