/* SPDX-License-Identifier: Apache-2.0 */

/* Answers in pieces, and what a callback of net/http/httpc may do. */

#include "httpcworld.h"

#include <unistd.h>

#include "base/buf.h"

/* ---- Pieces, from a server that the test controls ---- */

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

/* However they come: before the answer, in it, or behind its body. */
static void headers_have_a_bound(void **state)
{
	static const char *const begins[] = { "", "HTTP/1.1 200 OK\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" };
	struct world *w = *state;

	for (size_t i = 0; i < MEM_COUNT(begins); i++) {
		struct buf kilobyte = BUF_INIT(2048);
		struct script s;
		RESULT(r, w);

		while (kilobyte.len < 1024)
			buf_puts(&kilobyte, i == 0 ? "HTTP/1.1 103 Early Hints\r\n\r\n" : "X-Name: and its value\r\n");
		script_start(w, &s, r, (struct httpc_request){ .deadline_ms = PATIENCE_MS }, false);
		client_send(&s.peer, begins[i]);
		for (int sent = 0; sent < 400 && !r->done; sent++) {
			client_send(&s.peer, buf_text(&kilobyte));
			fixture_linger(w->f, 1);
		}
		assert_int_equal(r->done, 1);
		assert_int_not_equal(r->err.kind, ERR_NONE);
		script_end(&s);
		buf_done(&kilobyte);
		mem_free_ptr(&r);
	}
}

static void silence_ends_a_stream_and_bytes_keep_it(void **state)
{
	struct world *w = *state;
	struct script s;
	RESULT(r, w);

	script_start(w, &s, r, (struct httpc_request){ .silence_ms = 1200 }, true);
	client_send(&s.peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 8; i++) {
		client_send(&s.peer, "1\r\nx\r\n");
		UNTIL(w->f, r->streamed == (size_t)i + 1);
		fixture_linger(w->f, 200);
	}
	assert_int_equal(r->done, 0); /* more than the silence has passed */
	UNTIL(w->f, r->done);
	assert_int_equal(r->err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(r->err.msg, "nothing came for 1200 ms"));
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
	static const char *const garbage[] = { "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 abc\r\n\r\n", "\x15\x03\x01", "",
		"HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n" };
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

/* ---- From inside callbacks ---- */

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
		start_request(r, turns % 2 ? w->secure_url : w->plain_url, "/big",
			(struct httpc_request){ .server = &(struct httpc_server){ .insecure = true } }, turns % 3 == 0);
		for (int i = 0; i < turns && !r->done; i++)
			loop_turn(w->f->loop);
		httpc_cancel(r->call);
	}
	/*
	 * While a name is looked up: taking the request away must not wait for the resolver's
	 * thread.
	 */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pieces_come_as_they_come, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(headers_have_a_bound, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(silence_ends_a_stream_and_bytes_keep_it, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_cut_stream_is_temporary, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(garbage_is_temporary, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_receiver_may_refuse, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(cancel_from_inside, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(start_from_inside, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(cancel_at_any_time, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(free_at_any_time, world_setup, world_teardown),
	};

	world_without_proxies();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
