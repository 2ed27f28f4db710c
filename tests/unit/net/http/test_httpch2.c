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
static void only_what_may_be_http2_is_looked_after(void **state)
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
		cmocka_unit_test_setup_teardown(only_what_may_be_http2_is_looked_after, world_setup, world_teardown),
	};

	world_without_proxies();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
