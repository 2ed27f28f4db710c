/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Streams of one HTTP/2 connection, as watches are: what the server writes for several of them at
 * once, and then falls silent, all comes.
 */

#include "httpcworld.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include "../../fakes/h2server.h"

#define STREAMS    4
#define FRAMES_MAX 24
#define FRAME_MAX  16384
#define ROUNDS     60

struct talk {
	struct h2server *server;
	uint32_t streams[STREAMS]; /* their numbers */
	bool ended[STREAMS];
	size_t open;
	struct result *results[STREAMS];
	size_t sent[STREAMS];
	char url[64];
	unsigned seed;
};

/* Headers, and nothing else for the moment. */
static bool on_request(void *arg, unsigned request, uint32_t stream, const struct buf *message, struct buf *out)
{
	struct talk *t = arg;

	(void)message;
	t->streams[request % STREAMS] = stream;
	t->open++;
	h2server_headers(out, stream);
	return true;
}

static unsigned pick(struct talk *t, unsigned below)
{
	t->seed = t->seed * 1103515245 + 12345;
	return (t->seed >> 16) % below;
}

static void talk_begin(struct talk *t, struct world *w)
{
	struct httpc_request request = { .method = "POST", .body = "12345", .body_len = 5, .http2 = true };

	t->server = h2server_start(w->f->loop, on_request, t);
	snprintf(t->url, sizeof(t->url), "http://127.0.0.1:%u", h2server_port(t->server));
	for (size_t i = 0; i < STREAMS; i++) {
		t->results[i] = mem_zalloc(sizeof(*t->results[i]));
		t->results[i]->w = w;
		start_request(t->results[i], t->url, "/", request, true);
		UNTIL(w->f, t->open == i + 1 && t->results[i]->statuses == 1);
	}
	assert_int_equal(h2server_connections(t->server), 1);
}

/*
 * Some frames for each, as they happen to come, in one write. The last round ends one of them in
 * the midst.
 */
static void talk_round(struct talk *t, struct world *w, bool ends)
{
	static char bytes[FRAME_MAX];
	struct buf out = BUF_INIT(FRAMES_MAX * (FRAME_MAX + 64));
	unsigned frames = 1 + pick(t, FRAMES_MAX), end_at = ends ? pick(t, frames) : frames;

	for (unsigned i = 0; i < frames; i++) {
		size_t at = pick(t, STREAMS), len = 1 + pick(t, pick(t, 2) ? FRAME_MAX : 200);

		if (t->ended[at])
			continue;
		t->ended[at] = i == end_at;
		h2server_frame(&out, H2_DATA, t->ended[at] ? H2_END_STREAM : 0, t->streams[at], bytes, len);
		t->sent[at] += len;
	}
	h2server_send(t->server, &out);
	buf_done(&out);
	for (size_t i = 0; i < STREAMS; i++)
		UNTIL(w->f, t->results[i]->streamed == t->sent[i] && t->results[i]->done == t->ended[i]);
}

static void all_that_is_written_at_once_comes(void **state)
{
	struct world *w = *state;

	for (unsigned seed = 1; seed <= 8; seed++) {
		struct talk t = { .seed = seed };

		talk_begin(&t, w);
		for (int round = 0; round < ROUNDS; round++)
			talk_round(&t, w, round % 20 == 19);
		for (size_t i = 0; i < STREAMS; i++) {
			if (!t.ended[i])
				httpc_cancel(t.results[i]->call);
			mem_free_ptr(&t.results[i]);
		}
		h2server_end(t.server);
		fixture_linger(w->f, 1);
	}
}

/* ---- Connections that are dead ---- */

/* Like the kernel of a hanging server: everything is acknowledged, nothing answered. */
struct mute {
	struct h2server *server;
	bool mute, opens; /* opens: headers alone */
	uint32_t stream;  /* of the last request */
	char url[64];
};

static bool on_request_to_mute(void *arg, unsigned request, uint32_t stream, const struct buf *message, struct buf *out)
{
	struct mute *m = arg;

	(void)request, (void)message;
	m->stream = stream;
	if (m->opens)
		h2server_headers(out, stream);
	else if (!m->mute)
		h2server_answer(out, stream, "", 0);
	return true;
}

static void mute_begin(struct mute *m, struct world *w, struct httpc_config config)
{
	httpc_free(w->c);
	w->c = httpc_new(w->f->loop, &config, NULL);
	*m = (struct mute){ .server = h2server_start(w->f->loop, on_request_to_mute, m) };
	snprintf(m->url, sizeof(m->url), "http://127.0.0.1:%u", h2server_port(m->server));
}

static void ask(struct mute *m, struct result *r, int64_t deadline_ms, bool stream)
{
	struct httpc_request request = { .method = "POST",
		.body = "12345",
		.body_len = 5,
		.http2 = true,
		.deadline_ms = deadline_ms };
	unsigned before = h2server_requests(m->server);

	start_request(r, m->url, "/", request, stream);
	UNTIL(r->w->f, h2server_requests(m->server) == before + 1);
}

/* One answer, after which there is a connection. */
static void warm_up(struct mute *m, struct world *w)
{
	RESULT(first, w);

	ask(m, first, PATIENCE_MS, false);
	UNTIL(w->f, first->done);
	assert_int_equal(first->status, 200);
	assert_int_equal(h2server_connections(m->server), 1);
	mem_free_ptr(&first);
}

static void a_dead_connection_is_left(void **state)
{
	struct world *w = *state;
	struct mute m;
	RESULT(push, w);
	RESULT(late, w);
	RESULT(slow, w);
	RESULT(next, w);

	mute_begin(&m, w, (struct httpc_config){ .one_server = true });
	warm_up(&m, w);
	m.opens = true;
	ask(&m, push, 0, true);
	UNTIL(w->f, push->statuses == 1);
	m.opens = false;
	m.mute = true;
	ask(&m, slow, PATIENCE_MS, false);
	ask(&m, late, 300, false);
	UNTIL(w->f, late->done && push->done);
	assert_int_equal(late->err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(push->err.msg, "the connection is dead"));
	assert_false(slow->done); /* has a time of its own */
	m.mute = false;
	ask(&m, next, PATIENCE_MS, false);
	UNTIL(w->f, next->done);
	assert_int_equal(next->status, 200);
	assert_int_equal(h2server_connections(m.server), 2);
	httpc_cancel(slow->call);
	mem_free_ptr(&push);
	mem_free_ptr(&late);
	mem_free_ptr(&slow);
	mem_free_ptr(&next);
	h2server_end(m.server);
}

/* One call is slow: others are answered meanwhile. */
static void a_connection_on_which_something_comes_is_kept(void **state)
{
	struct world *w = *state;
	struct mute m;
	struct buf piece = BUF_INIT(64);
	RESULT(push, w);
	RESULT(late, w);
	RESULT(next, w);

	mute_begin(&m, w, (struct httpc_config){ .one_server = true });
	m.opens = true;
	ask(&m, push, 0, true);
	h2server_frame(&piece, H2_DATA, 0, m.stream, "x", 1);
	m.opens = false;
	m.mute = true;
	ask(&m, late, 1000, false);
	while (!late->done) {
		h2server_send(m.server, &piece);
		fixture_linger(w->f, 10);
	}
	m.mute = false;
	ask(&m, next, PATIENCE_MS, false);
	UNTIL(w->f, next->done);
	assert_false(push->done);
	assert_int_equal(h2server_connections(m.server), 1);
	httpc_cancel(push->call);
	buf_done(&piece);
	mem_free_ptr(&push);
	mem_free_ptr(&late);
	mem_free_ptr(&next);
	h2server_end(m.server);
}

/* Streams that share the connection are not disturbed, and the last one closes it. */
static void a_dead_connection_among_others_ends_with_its_last_call(void **state)
{
	struct world *w = *state;
	struct mute m;
	RESULT(late, w);
	RESULT(last, w);
	RESULT(next, w);

	mute_begin(&m, w, (struct httpc_config){ 0 });
	warm_up(&m, w);
	m.mute = true;
	ask(&m, late, 0, false);
	ask(&m, last, 600, false);
	fixture_linger(w->f, 300);
	httpc_cancel_late(late->call);
	assert_false(last->done);
	UNTIL(w->f, last->done);
	m.mute = false;
	ask(&m, next, PATIENCE_MS, false);
	UNTIL(w->f, next->done);
	assert_int_equal(next->status, 200);
	assert_int_equal(h2server_connections(m.server), 2);
	mem_free_ptr(&late);
	mem_free_ptr(&last);
	mem_free_ptr(&next);
	h2server_end(m.server);
}

/* ---- What is made to read ---- */

static int made_to_read;

/* libcurl's, counted: transfers are made to read by it, and by nothing else. */
CURLcode curl_easy_pause(CURL *easy, int what)
{
	union {
		void *symbol;
		CURLcode (*pause)(CURL *easy, int what);
	} real = { .symbol = dlsym(RTLD_NEXT, "curl_easy_pause") };

	assert_non_null(real.symbol);
	made_to_read++;
	return real.pause(easy, what);
}

/* How often, while one answer is waited for and another comes. */
static int made_to_read_by(struct world *w, const char *base)
{
	struct httpc_request request = { .server = &(struct httpc_server){ .insecure = true } };
	int count;
	RESULT(held, w);
	RESULT(other, w);

	w->held = NULL;
	start_request(held, base, "/hold", request, false);
	UNTIL(w->f, w->held);
	fixture_linger(w->f, 60);
	made_to_read = 0;
	start_request(other, base, "/", request, false);
	UNTIL(w->f, other->done);
	fixture_linger(w->f, 60);
	count = made_to_read;
	httpd_reply(w->held, 200, NULL, "", 0);
	UNTIL(w->f, held->done);
	mem_free_ptr(&held);
	mem_free_ptr(&other);
	return count;
}

/* By HTTP/1.1 libcurl forgets nothing. Over TLS it is for the server to choose. */
static void only_possible_http2_transfers_are_resumed(void **state)
{
	struct world *w = *state;

	assert_int_equal(made_to_read_by(w, w->plain_url), 0);
	assert_true(made_to_read_by(w, w->secure_url) > 0);
	assert_int_equal(made_to_read_by(w, w->plain_url), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_that_is_written_at_once_comes, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_dead_connection_is_left, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_connection_on_which_something_comes_is_kept, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(a_dead_connection_among_others_ends_with_its_last_call, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(only_possible_http2_transfers_are_resumed, world_setup, world_teardown),
	};

	world_without_proxies();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
