/* SPDX-License-Identifier: Apache-2.0 */
#include "httpcworld.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../fakes/fakepki.h"
#include "base/timestamp.h"
#include "net/tls/computing.h"
#include "net/tls/tlsroots.h"

/* ---- Requests and answers ---- */

static void requests_carry_their_arguments(void **state)
{
	struct world *w = *state;
	static const char *const json[] = { "Content-Type: application/json", NULL };
	const struct {
		struct httpc_request request;
		const char *seen;
	} rows[] = {
		{ { .method = "GET" }, "GET /x?y=z auth=- type=- host=127.0.0.1" },
		{ { .method = "GET", .bearer = "t0ken" }, "auth=Bearer t0ken" },
		{ { .method = "POST", .body = "{}", .body_len = 2, .headers = json },
			"POST /x?y=z auth=- type=application/json" },
		{ { .method = "POST", .body = "{}", .body_len = 2, .headers = json },
			"body={} expect=no accept-encoding=no" },
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

	for (int stream = 0; stream < 2; stream++) { /* other bodies than of a 2xx are collected in either case */
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

static void redirects_are_reported_and_not_followed(void **state)
{
	struct world *w = *state;
	RESULT(r, w);
	RESULT(plain, w);
	char expected[128];

	start(r, "/307", false);
	start(plain, "/404", false);
	UNTIL(w->f, r->done && plain->done);
	assert_int_equal(r->response.status, 307);
	assert_string_equal(r->body, "there");
	snprintf(expected, sizeof(expected), "%s/elsewhere?a=b", w->plain_url);
	assert_string_equal(r->location, expected);
	assert_string_equal(plain->location, "");
	mem_free_ptr(&r);
	mem_free_ptr(&plain);
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

static void connections_are_kept_and_dropped_on_request(void **state)
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
		start_request(&results[i], i % 3 ? w->plain_url : w->secure_url, "/n",
			(struct httpc_request){ .server = &(struct httpc_server){ .insecure = true } }, i % 2);
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

static void connections_are_limited(void **state)
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
		{ "https://127.0.0.1/",
			{ .method = "GET", .server = &(struct httpc_server){ .tls_server_name = "a b/c" } } },
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

/* ---- TLS ---- */

static void servers_are_verified(void **state)
{
	struct world *w = *state;
	struct x509_pair stranger;

	fakepki_authority("stranger", timestamp_now_ms(), 1000, &stranger);
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

static void serve(struct client *c, const struct x509_pair *pair)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	BIO *cert_bio = BIO_new_mem_buf(pair->cert_pem, -1), *key_bio = BIO_new_mem_buf(pair->key_pem, -1);
	X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);

	assert_int_equal(SSL_CTX_use_certificate(ctx, cert), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
	c->ctx = ctx;
	c->ssl = SSL_new(ctx);
	SSL_set_fd(c->ssl, c->fd);
	SSL_set_accept_state(c->ssl);
	X509_free(cert);
	EVP_PKEY_free(key);
	BIO_free(cert_bio);
	BIO_free(key_bio);
}

/* Where an object names the server, it must not choose a group of 10,000 bits. */
static void foreign_servers_are_not_offered_dhe(void **state)
{
	struct world *w = *state;
	struct httpc *foreign = httpc_new(w->f->loop, &(struct httpc_config){ .foreign = true }, NULL), *own = w->c;

	w->c = foreign;
	for (int system_too = 0; system_too < 2; system_too++) {
		struct httpc_server server = { .insecure = true, .system_too = system_too };
		uint16_t port;
		int listener = fixture_listen(&port);
		MEM_AUTO char *url = mem_printf("https://127.0.0.1:%d", port);
		struct client c;
		STACK_OF(SSL_CIPHER) * offered;

		RESULT(r, w);
		start_request(r, url, "/", (struct httpc_request){ .server = &server }, false);
		UNTIL(w->f, client_accept(&c, listener));
		serve(&c, &w->f->serving);
		UNTIL(w->f, client_shake(&c));
		offered = SSL_get_client_ciphers(c.ssl);
		assert_true(sk_SSL_CIPHER_num(offered) > 3);
		for (int i = 0; i < sk_SSL_CIPHER_num(offered); i++)
			assert_int_not_equal(SSL_CIPHER_get_kx_nid(sk_SSL_CIPHER_value(offered, i)), NID_kx_dhe);
		httpc_cancel(r->call);
		client_close(&c);
		close(listener);
		mem_free_ptr(&r);
	}
	w->c = own;
	httpc_free(foreign);
}

static int verified; /* chains, by the store that connections share */

static int on_verified(int ok, X509_STORE_CTX *ctx)
{
	(void)ctx;
	verified++;
	return ok;
}

static void ask_source(struct world *w, struct httpc *c, const struct httpc_server *server, const char *why)
{
	struct httpc *own = w->c;
	RESULT(r, w);

	w->c = c;
	start_request(r, w->secure_url, "/s", (struct httpc_request){ .server = server }, false);
	w->c = own;
	UNTIL(w->f, r->done);
	if (why ? !strstr(r->err.msg, why) : r->response.status != 200)
		fail_msg("%s", r->err.msg);
	mem_free_ptr(&r);
}

/* libcurl is given no text to read; and one trust's connections are not another's. */
static void connections_share_the_roots_of_a_source(void **state)
{
	struct world *w = *state;
	struct x509_pair stranger;
	struct tlsroots *roots, *others;
	struct err err;

	fakepki_authority("stranger", timestamp_now_ms(), 1000, &stranger);
	roots = tlsroots_get(w->f->ca.cert_pem);
	others = tlsroots_get(stranger.cert_pem);
	const struct httpc_server server = { .system_too = true, .roots = roots },
				  other = { .system_too = true, .roots = others }, none = { .system_too = true };
	struct httpc *c = httpc_new(w->f->loop, &(struct httpc_config){ .foreign = true }, NULL);

	X509_STORE_set_verify_cb(tlsroots_store(roots, &err), on_verified);
	for (int i = 0; i < 3; i++) {
		int before = verified;

		ask_source(w, c, &server, NULL);
		assert_true(verified > before);
		ask_source(w, c, &server, NULL);
		ask_source(w, c, &other, "certificate");
		ask_source(w, c, &none, "certificate");
		httpc_drop_connections(c);
	}
	httpc_free(c);
	tlsroots_unref(roots);
	tlsroots_unref(others);
	x509_pair_done(&stranger);
}

/* A tenant's authority vouches for his servers, not for the proxy of the environment. */
static void a_proxy_is_not_verified_by_a_sources_roots(void **state)
{
	struct world *w = *state;
	struct tlsroots *roots = tlsroots_get(w->f->ca.cert_pem);
	struct httpc_server server = { .system_too = true, .roots = roots, .proxy_url = w->secure_url };
	struct httpc *own = w->c, *c = httpc_new(w->f->loop, &(struct httpc_config){ .foreign = true }, NULL);
	RESULT(r, w);

	ask_source(w, c, &(struct httpc_server){ .system_too = true, .roots = roots }, NULL);
	w->c = c;
	start_request(r, "http://elsewhere.test", "/p", (struct httpc_request){ .server = &server }, false);
	w->c = own;
	UNTIL(w->f, r->done);
	if (!strstr(r->err.msg, "certificate"))
		fail_msg("%d %s %s", r->response.status, r->err.msg, r->body);
	mem_free_ptr(&r);
	httpc_free(c);
	tlsroots_unref(roots);
}

static void unaffordable_roots_are_reported(void **state)
{
	struct world *w = *state;
	struct httpc *c = httpc_new(w->f->loop, &(struct httpc_config){ .foreign = true }, NULL);
	struct tlsroots *roots;
	struct err err;

	computing_for("broke");
	roots = tlsroots_get(w->f->ca.cert_pem);
	while (computing_pay(1000000, &err) == 0)
		;
	ask_source(w, c, &(struct httpc_server){ .system_too = true, .roots = roots }, "are read a little later");
	computing_for("");
	httpc_free(c);
	tlsroots_unref(roots);
}

static void client_certificates_are_sent(void **state)
{
	struct world *w = *state;
	static const char *const names[] = { "system-user", NULL };
	struct x509_pair client;

	fakepki_certificate(&w->f->ca, names, timestamp_now_ms(), 1000, &client);
	struct httpc_server server = { .ca_pem = w->f->ca.cert_pem,
		.cert_pem = client.cert_pem,
		.key_pem = client.key_pem };
	RESULT(r, w);
	start_request(r, w->secure_url, "/s", (struct httpc_request){ .server = &server }, false);
	UNTIL(w->f, r->done);
	assert_int_equal(r->response.status, 200);
	assert_string_equal(w->last_client, "system-user");
	mem_free_ptr(&r);
	/* Other credentials never ride on that connection. */
	RESULT(other, w);
	start_request(other, w->secure_url, "/s",
		(struct httpc_request){ .server = &(struct httpc_server){ .ca_pem = w->f->ca.cert_pem } }, false);
	UNTIL(w->f, other->done);
	assert_string_equal(w->last_client, "");
	mem_free_ptr(&other);
	x509_pair_done(&client);
}

/* ---- Failures ---- */

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
		start_request(r, secure ? w->secure_url : w->plain_url, "/hold",
			(struct httpc_request){ .deadline_ms = 300,
				.server = &(struct httpc_server){ .insecure = true } },
			false);
		UNTIL(w->f, r->done);
		assert_true(loop_now_ms(w->f->loop) - started >= 300);
		assert_int_equal(r->err.kind, ERR_TEMPORARY);
		assert_non_null(strstr(r->err.msg, "no complete answer within 300 ms"));
		UNTIL(w->f, w->gone == 1); /* and the server notices */
		mem_free_ptr(&r);
	}
}

/*
 * A process that was stopped between a request and its sending does not send it after its deadline,
 * neither on an existing connection nor on a new one.
 */
static void late_writes_are_not_sent(void **state)
{
	struct world *w = *state;

	for (int secure = 0; secure < 2; secure++) {
		for (int warm = 0; warm < 2; warm++) {
			const char *base = secure ? w->secure_url : w->plain_url;
			struct httpc_server server = { .insecure = true };
			RESULT(r, w);
			RESULT(after, w);

			w->held_count = 0;
			start_request(r, base, "/hold", (struct httpc_request){ .deadline_ms = 30, .server = &server },
				false);
			usleep(40 * 1000);
			UNTIL(w->f, r->done);
			assert_int_equal(r->err.kind, ERR_TEMPORARY);
			assert_non_null(strstr(r->err.msg, "no complete answer within 30 ms"));
			start_request(after, base, "/after", (struct httpc_request){ .server = &server }, false);
			UNTIL(w->f, after->done);
			assert_int_equal(w->held_count, 0);
			mem_free_ptr(&after);
			mem_free_ptr(&r);
		}
		httpc_drop_connections(w->c);
	}
}

/*
 * In the place of the C library's, for libcurl: as if the process were stopped when the header is
 * out and the body is not.
 */
static int64_t stop_ms;

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
	ssize_t sent = syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);

	if (stop_ms && len >= 5 && memcmp(bytes, "POST ", 5) == 0) {
		usleep((useconds_t)stop_ms * 1000);
		stop_ms = 0;
	}
	return sent;
}

static void no_body_follows_a_late_header(void **state)
{
	struct world *w = *state;

	for (int late = 0; late < 2; late++) {
		RESULT(r, w);
		RESULT(after, w);

		stop_ms = late ? 60 : 0;
		start_request(r, w->plain_url, late ? "/hold" : "/x",
			(struct httpc_request){ .method = "POST",
				.body = "{\"a\":1}",
				.body_len = 7,
				.deadline_ms = late ? 50 : PATIENCE_MS,
				.in_time = true },
			false);
		UNTIL(w->f, r->done);
		assert_int_equal(stop_ms, 0);
		if (late) {
			assert_int_equal(r->err.kind, ERR_TEMPORARY);
			assert_non_null(strstr(r->err.msg, "no complete answer within 50 ms"));
		} else {
			assert_non_null(strstr(r->body, "body={\"a\":1} "));
		}
		start_request(after, w->plain_url, "/after", (struct httpc_request){ 0 }, false);
		UNTIL(w->f, after->done);
		assert_int_equal(w->held_count, 0);
		mem_free_ptr(&after);
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

	snprintf(url, sizeof(url), "https://127.0.0.1:%u", port); /* the kernel accepts, no one shakes hands */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_carry_their_arguments, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(http_errors_are_answers, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(redirects_are_reported_and_not_followed, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(head_has_no_body, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(connections_are_kept_and_dropped_on_request, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(many_at_once, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(connections_are_limited, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_proxy_is_used_when_given, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(bad_arguments_come_through_on_done, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(servers_are_verified, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(foreign_servers_are_not_offered_dhe, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(connections_share_the_roots_of_a_source, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_proxy_is_not_verified_by_a_sources_roots, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(unaffordable_roots_are_reported, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(client_certificates_are_sent, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(failures_say_where_and_why_always_the_same, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(the_deadline_ends_a_request, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(late_writes_are_not_sent, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(no_body_follows_a_late_header, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(the_handshake_has_its_own_deadline, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(too_large_answers_are_cut_off, world_setup, world_teardown),
	};

	world_without_proxies();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
