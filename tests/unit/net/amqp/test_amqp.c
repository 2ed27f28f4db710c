/* SPDX-License-Identifier: Apache-2.0 */

/* AMQP connections against scripted servers; tests/live/test_rabbitmq.py uses a real one. */

#include "../fixture.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/amqp/amqp.h"
#include "net/amqp/amqpendpoint.h"
#include "net/amqp/amqpframe.h"
#include "net/listen.h"

#define CHANNELS 8

/* Overrides the C library's: all clocks are this much ahead. */
static time_t ahead_s;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, ts);

	ts->tv_sec += ahead_s;
	return rc;
}

struct world {
	struct fixture *f;
	struct pool *pool;
	int listener;
	uint16_t port;
	struct client peer; /* the last accepted; its frames are taken from its buffer one by one */
	size_t taken;
	struct amqpendpoint *endpoint;
};

static struct amqpendpoint *endpoint(struct world *w, const char *vhost, const char *user, const char *password)
{
	const struct amqpendpoint_config config = { .namespace_ = "shop",
		.host = "127.0.0.1",
		.port = w->port,
		.vhost = vhost,
		.user = user,
		.password = password };
	struct err err = { 0 };
	struct amqpendpoint *e = amqpendpoint_new(&config, &err);

	if (!e)
		fail_msg("%s", err.msg);
	return e;
}

static int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	w->pool = amqp_new(w->f->loop);
	w->listener = fixture_listen(&w->port);
	w->peer.fd = -1;
	w->endpoint = endpoint(w, "/", "me", "open-sesame");
	ahead_s = 0;
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	pool_free(w->pool);
	endpoint_unref(w->endpoint);
	client_close(&w->peer);
	close(w->listener);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

/* ---- The server ---- */

static void accept_peer(struct world *w)
{
	client_close(&w->peer);
	w->taken = 0;
	UNTIL(w->f, client_accept(&w->peer, w->listener));
}

static void say(struct world *w, const void *bytes, size_t len)
{
	assert_int_equal(send(w->peer.fd, bytes, len, MSG_NOSIGNAL), len);
}

static void say_method(struct world *w, unsigned channel, const char *payload, size_t len)
{
	unsigned char frame[1024] = { 1, (unsigned char)(channel >> 8), (unsigned char)channel, 0, 0,
		(unsigned char)(len >> 8), (unsigned char)len };

	memcpy(frame + 7, payload, len);
	frame[7 + len] = 0xce;
	say(w, frame, len + 8);
}
#define SAY(w, channel, payload) say_method(w, channel, payload, sizeof(payload) - 1)

static bool has_frame(struct world *w, struct amqpframe *out)
{
	struct err err;

	client_ended(&w->peer); /* reads */
	return amqpframe_next(buf_text(&w->peer.got) + w->taken, w->peer.got.len - w->taken, false, out, &err) == 1;
}

/* The client's next frame, without heartbeats. */
static struct amqpframe hear(struct world *w)
{
	struct amqpframe f;

	do {
		UNTIL(w->f, has_frame(w, &f));
		w->taken += f.whole;
	} while (f.type == 8);
	return f;
}

/* Its class and method. */
static unsigned hear_method(struct world *w, unsigned *channel)
{
	struct amqpframe f = hear(w);

	assert_true(f.len >= 4);
	*channel = f.channel;
	return (unsigned)(f.payload[0] << 8 | f.payload[1]) * 100 + (unsigned)(f.payload[2] << 8 | f.payload[3]);
}

static void expect(struct world *w, unsigned method, unsigned channel)
{
	unsigned heard;

	assert_int_equal(hear_method(w, &heard), method);
	assert_int_equal(heard, channel);
}

#define START                                                                                                          \
	"\0\x0a\0\x0a\0\x09\0\0\0\0\0\0\0\x05"                                                                         \
	"PLAIN"                                                                                                        \
	"\0\0\0\5en_US"
#define TUNE "\0\x0a\0\x1e\7\xff\0\2\0\0\0\x3c"

static void expect_hello(struct world *w)
{
	UNTIL(w->f, (client_ended(&w->peer), w->peer.got.len >= 8));
	assert_memory_equal(w->peer.got.data, "AMQP\0\0\x9\x1", 8);
	w->taken = 8;
}

static void log_in(struct world *w)
{
	accept_peer(w);
	expect_hello(w);
	SAY(w, 0, START);
	expect(w, 1011, 0);
	SAY(w, 0, TUNE);
	expect(w, 1031, 0);
	expect(w, 1040, 0);
	SAY(w, 0, "\0\x0a\0\x29\0");
	for (unsigned i = 1; i <= CHANNELS; i++)
		expect(w, 2010, i);
}

static void open_channel(struct world *w, unsigned channel)
{
	SAY(w, channel, "\0\x14\0\x0b\0\0\0\0");
}

/* The queue of the next declaration, and its channel. */
static unsigned hear_declare(struct world *w, char queue[256])
{
	struct amqpframe f = hear(w);

	assert_int_equal(f.payload[1] * 100 + f.payload[3], 5010);
	assert_int_equal(f.payload[7 + f.payload[6]], 1); /* passive */
	memcpy(queue, f.payload + 7, f.payload[6]);
	queue[f.payload[6]] = '\0';
	return f.channel;
}

static void answer(struct world *w, unsigned channel, const char *queue, unsigned messages)
{
	char payload[300] = "\0\x32\0\x0b";
	size_t len = strlen(queue);

	payload[4] = (char)len;
	memcpy(payload + 5, queue, len);
	payload[5 + len + 2] = (char)(messages >> 8);
	payload[5 + len + 3] = (char)messages;
	say_method(w, channel, payload, 5 + len + 8);
}

#define NOT_FOUND "\0\x14\0\x28\1\x94\x09NOT_FOUND\0\x32\0\x0a"

/* ---- Questions ---- */

struct result {
	struct world *w;
	struct pool_call *call;
	int calls;
	uint32_t messages;
	struct err err;
	bool free_pool;
};

static void on_messages(void *arg, uint32_t messages, const struct err *err)
{
	struct result *r = arg;

	r->calls++;
	r->call = NULL;
	r->messages = messages;
	if (err)
		r->err = *err;
	if (r->free_pool) {
		pool_free(r->w->pool);
		r->w->pool = NULL;
	}
}

static void ask_within(struct result *r, struct world *w, struct amqpendpoint *e, const char *queue, int64_t ms)
{
	r->w = w;
	r->call = amqp_ask(w->pool, e, queue, loop_now_ms(w->f->loop) + ms, on_messages, r);
	assert_int_equal(r->calls, 0); /* never before it returns */
}

static void ask(struct result *r, struct world *w, const char *queue)
{
	ask_within(r, w, w->endpoint, queue, PATIENCE_MS);
}

static void assert_failed(struct world *w, struct result *r, enum err_kind kind, const char *words)
{
	UNTIL(w->f, r->calls == 1);
	if (r->err.kind != kind || !strstr(r->err.msg, words) || !strstr(r->err.msg, "rabbitmq at 127.0.0.1:"))
		fail_msg("%s: %s", err_kind_name(r->err.kind), r->err.msg);
	assert_null(strstr(r->err.msg, "open-sesame"));
}

static void questions_are_pipelined_on_all_channels(void **state)
{
	struct world *w = *state;
	struct result results[16] = { 0 };
	char queue[256], name[8];

	for (int i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "q%d", i);
		ask(&results[i], w, name);
	}
	log_in(w);
	for (unsigned i = 1; i <= CHANNELS; i++)
		open_channel(w, i);
	/* All are sent before one is answered. */
	for (int i = 0; i < 16; i++) {
		unsigned channel = hear_declare(w, queue);

		answer(w, channel, queue, 100 + (unsigned)atoi(queue + 1));
	}
	for (int i = 0; i < 16; i++) {
		UNTIL(w->f, results[i].calls == 1);
		assert_int_equal(results[i].err.kind, ERR_NONE);
		assert_int_equal(results[i].messages, 100 + i);
	}
	assert_int_equal(pool_connections(w->pool), 1);
}

static void a_missing_queue_closes_only_its_channel(void **state)
{
	struct world *w = *state;
	struct result a = { 0 }, missing = { 0 }, b = { 0 }, cancelled = { 0 };
	char queue[256];

	ask(&a, w, "a");
	log_in(w);
	open_channel(w, 3);
	assert_int_equal(hear_declare(w, queue), 3);
	ask(&missing, w, "missing");
	ask(&b, w, "b");
	ask(&cancelled, w, "c");
	for (int i = 0; i < 3; i++)
		assert_int_equal(hear_declare(w, queue), 3);
	pool_cancel(cancelled.call);
	answer(w, 3, "a", 7);
	SAY(w, 3, NOT_FOUND);
	assert_failed(w, &missing, ERR_MISSING, "there is no queue \"missing\" in vhost \"/\"");
	expect(w, 2041, 3);
	expect(w, 2010, 3);
	open_channel(w, 3);
	/* The calls behind are requeued, except cancelled ones. */
	assert_int_equal(hear_declare(w, queue), 3);
	assert_string_equal(queue, "b");
	answer(w, 3, "b", 9);
	UNTIL(w->f, b.calls == 1);
	assert_int_equal(b.messages, 9);
	assert_int_equal(a.messages, 7);
	assert_int_equal(cancelled.calls, 0);
	assert_int_equal(pool_connections(w->pool), 1);
}

/* What the server answers if the queue exists but is down. */
static void a_queue_that_is_down_is_not_reported_missing(void **state)
{
	static const struct {
		const char *payload;
		size_t len;
		enum err_kind kind;
		const char *words;
	} rows[] = {
#define ROW(payload, kind, words) { payload "\0\x32\0\x0a", sizeof(payload "\0\x32\0\x0a") - 1, kind, words }
		ROW("\0\x14\0\x28\1\x94\x20"
		    "NOT_FOUND - no queue 'q' in vhos",
			ERR_MISSING, "there is no queue \"q\" in vhost \"/\""),
		ROW("\0\x14\0\x28\1\x94\x3d"
		    "NOT_FOUND - home node 'rabbit@b' of durable queue 'q' is down",
			ERR_TEMPORARY, "queue \"q\" in vhost \"/\": NOT_FOUND - home node 'rabbit@b' of durable"),
		ROW("\0\x14\0\x28\1\x95\x0fRESOURCE_LOCKED", ERR_TEMPORARY,
			"queue \"q\" in vhost \"/\": RESOURCE_LOCKED"),
#undef ROW
	};
	struct world *w = *state;
	char queue[256];

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct result r = { 0 };

		ask(&r, w, "q");
		if (i == 0)
			log_in(w);
		open_channel(w, 1);
		assert_int_equal(hear_declare(w, queue), 1);
		say_method(w, 1, rows[i].payload, rows[i].len);
		assert_failed(w, &r, rows[i].kind, rows[i].words);
		expect(w, 2041, 1);
		expect(w, 2010, 1);
	}
}

/* After a refusal: one at a time, then two, then four. */
static void a_refused_channel_restarts_with_a_small_window(void **state)
{
	struct world *w = *state;
	struct result results[5] = { 0 };
	static const char *const names[] = { "none", "q1", "q2", "q3", "q4" };
	struct amqpframe f;
	char queue[256];

	for (int i = 0; i < 5; i++)
		ask(&results[i], w, names[i]);
	log_in(w);
	open_channel(w, 1);
	for (int i = 0; i < 5; i++)
		hear_declare(w, queue);
	SAY(w, 1, NOT_FOUND);
	expect(w, 2041, 1);
	expect(w, 2010, 1);
	open_channel(w, 1);
	hear_declare(w, queue);
	assert_string_equal(queue, "q1");
	fixture_linger(w->f, 20);
	assert_false(has_frame(w, &f));
	answer(w, 1, "q1", 1);
	for (int i = 2; i < 4; i++)
		hear_declare(w, queue);
	assert_string_equal(queue, "q3");
	fixture_linger(w->f, 20);
	assert_false(has_frame(w, &f));
	answer(w, 1, "q2", 2);
	answer(w, 1, "q3", 3);
	hear_declare(w, queue);
	answer(w, 1, "q4", 4);
	UNTIL(w->f, results[4].calls == 1);
	assert_int_equal(results[4].messages, 4);
}

static void equal_endpoints_share_a_connection(void **state)
{
	struct world *w = *state;
	struct amqpendpoint *same = endpoint(w, "/", "me", "open-sesame"),
			    *vhost = endpoint(w, "shop", "me", "open-sesame"),
			    *password = endpoint(w, "/", "me", "other");

	assert_ptr_equal(same, w->endpoint);
	assert_string_not_equal(vhost->base.key, same->base.key);
	assert_string_not_equal(password->base.key, same->base.key);
	assert_null(strstr(same->base.key, "open-sesame"));
	endpoint_unref(same);
	endpoint_unref(vhost);
	endpoint_unref(password);
}

/* ---- Logins ---- */

static void a_wrong_password_is_reported(void **state)
{
	struct world *w = *state;
	struct result r = { 0 };

	ask(&r, w, "a");
	accept_peer(w);
	expect_hello(w);
	SAY(w, 0, START);
	expect(w, 1011, 0);
	assert_non_null(memmem(w->peer.got.data, w->peer.got.len, "\0me\0open-sesame", 15));
	assert_non_null(memmem(w->peer.got.data, w->peer.got.len, "kscaled-shop", 12));
	SAY(w, 0,
		"\0\x0a\0\x32\1\x93\x0e"
		"ACCESS_REFUSED"
		"\0\0\0\0");
	assert_failed(w, &r, ERR_DENIED, "the login was refused: ACCESS_REFUSED");
}

static void text_that_repeats_the_password_is_not_shown(void **state)
{
	struct world *w = *state;
	struct result r = { 0 };

	ask(&r, w, "a");
	accept_peer(w);
	SAY(w, 0, START);
	expect_hello(w);
	expect(w, 1011, 0);
	SAY(w, 0,
		"\0\x0a\0\x32\1\x93\x13"
		"not open-sesame, me"
		"\0\0\0\0");
	assert_failed(w, &r, ERR_DENIED, "its words are not shown");
}

static void greetings_are_checked(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *words;
	} rows[] = {
		{ "HTTP/1.1 400 Bad Request\r\n", 26, "the server speaks HTTP" },
		{ "AMQP\0\1\0\0", 8, "another version of AMQP" },
		{ "\x15\3\3\0\2\2\x28", 7, "write amqps://" },
		{ "", 0, "the server closed the connection (is TLS needed? write amqps://)" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct result r = { 0 };

		ask(&r, w, "a");
		accept_peer(w);
		expect_hello(w);
		say(w, rows[i].bytes, rows[i].len);
		client_close(&w->peer);
		assert_failed(w, &r, ERR_TEMPORARY, rows[i].words);
	}
}

static void a_missing_vhost(void **state)
{
	struct world *w = *state;
	struct result r = { 0 };

	ask(&r, w, "a");
	accept_peer(w);
	SAY(w, 0, START);
	SAY(w, 0, TUNE);
	expect_hello(w);
	for (unsigned i = 0; i < 3; i++)
		hear(w);
	SAY(w, 0, "\0\x0a\0\x32\2\x12\x0bNOT_ALLOWED\0\0\0\0");
	assert_failed(w, &r, ERR_DENIED, "vhost \"/\" cannot be used: NOT_ALLOWED");
}

static void a_login_without_an_answer_times_out(void **state)
{
	struct world *w = *state;
	struct result r = { 0 };

	ask_within(&r, w, w->endpoint, "a", 50);
	accept_peer(w);
	expect_hello(w);
	assert_failed(w, &r, ERR_TEMPORARY, "waiting for the server's greeting: timed out");
}

/* ---- Life ---- */

static void connect_once(struct world *w)
{
	struct result r = { 0 };
	char queue[256];

	ask(&r, w, "a");
	log_in(w);
	open_channel(w, 1);
	hear_declare(w, queue);
	answer(w, 1, "a", 1);
	UNTIL(w->f, r.calls == 1);
}

static void a_frozen_server_times_out_and_is_closed(void **state)
{
	struct world *w = *state;
	struct result r = { 0 }, next = { 0 };
	char queue[256];

	connect_once(w);
	ask_within(&r, w, w->endpoint, "a", 50);
	assert_failed(w, &r, ERR_TEMPORARY, "the server did not answer in time");
	UNTIL(w->f, client_ended(&w->peer));
	ask(&next, w, "a"); /* waits for the back-off, which is short */
	log_in(w);
	open_channel(w, 1);
	hear_declare(w, queue);
	answer(w, 1, "a", 5);
	UNTIL(w->f, next.calls == 1);
	assert_int_equal(next.messages, 5);
}

/* The same for channels that never open. */
static void a_channel_that_does_not_open_times_out(void **state)
{
	struct world *w = *state;
	struct result r = { 0 };

	ask_within(&r, w, w->endpoint, "a", 300);
	log_in(w);
	assert_failed(w, &r, ERR_TEMPORARY, "the server did not answer in time");
	assert_int_equal(pool_connections(w->pool), 0);
}

static void the_server_closes_an_idle_connection(void **state)
{
	struct world *w = *state;
	struct result r = { 0 };
	char queue[256];

	connect_once(w);
	SAY(w, 0,
		"\0\x0a\0\x32\1\x40\x11"
		"CONNECTION_FORCED"
		"\0\0\0\0");
	UNTIL(w->f, pool_connections(w->pool) == 0);
	ask(&r, w, "a"); /* at once, as that was no failure */
	assert_int_equal(pool_connections(w->pool), 1);
	log_in(w);
	open_channel(w, 1);
	hear_declare(w, queue);
	SAY(w, 0,
		"\0\x0a\0\x32\1\x40\x11"
		"CONNECTION_FORCED"
		"\0\0\0\0");
	assert_failed(w, &r, ERR_TEMPORARY, "the server or its administrator closed the connection: CONNECTION_FORCED");
}

static void an_idle_connection_is_closed_cleanly(void **state)
{
	struct world *w = *state;

	connect_once(w);
	ahead_s = 61;
	UNTIL(w->f, pool_connections(w->pool) == 0);
	expect(w, 1050, 0);
	UNTIL(w->f, client_ended(&w->peer));
}

static void heartbeats_are_sent_and_expected(void **state)
{
	struct world *w = *state;
	struct result r = { 0 };
	struct amqpframe f = { 0 };
	char queue[256];

	connect_once(w);
	ask_within(&r, w, w->endpoint, "b", 3600000);
	hear_declare(w, queue);
	ahead_s = 16;
	UNTIL(w->f, has_frame(w, &f));
	assert_int_equal(f.type, 8);
	ahead_s = 70; /* twice thirty seconds of silence */
	assert_failed(w, &r, ERR_TEMPORARY, "sends no heartbeats any more");
}

/* A few between two answers are accepted, an endless sequence is not. */
static void endless_heartbeats(void **state)
{
	struct world *w = *state;
	static unsigned char beats[1001][8];

	for (size_t i = 0; i < MEM_COUNT(beats); i++)
		memcpy(beats[i], "\10\0\0\0\0\0\0\xce", 8);
	connect_once(w);
	for (int i = 0; i < 3; i++) {
		struct result r = { 0 };
		char queue[256];

		say(w, beats, 1000 * sizeof(beats[0]));
		ask(&r, w, "jobs");
		hear_declare(w, queue);
		answer(w, 1, "jobs", 5);
		UNTIL(w->f, r.calls);
		assert_int_equal(r.err.kind, ERR_NONE);
	}
	say(w, beats, sizeof(beats));
	UNTIL(w->f, pool_connections(w->pool) == 0);
}

static void nonsense_is_an_error(void **state)
{
	static const struct {
		const char *payload;
		size_t len;
		unsigned channel;
		const char *words;
	} rows[] = {
		{ "\0\x32\0\x0b\1x\0\0\0\1\0\0\0\0", 14, 1, "sent an unexpected answer" },
		{ "\0\x32\0\x0b\1q\0\0\0\1\0\0\0\0", 14, 9, "an unexpected method (50.11)" },
		{ "\0\x3c\0\x3c", 4, 1, "an unexpected method (60.60)" },
		{ "\0\x32\0\x0b\xffq", 6, 1, "a truncated method (50.11)" },
		{ "\0\x0a\0\x1e\0\1\0\0\x20\0\0\0", 12, 0, "an unexpected method (10.30)" },
	};
	struct world *w = *state;
	char queue[256];

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct result r = { 0 };

		ask(&r, w, "q");
		log_in(w);
		open_channel(w, 1);
		hear_declare(w, queue);
		say_method(w, rows[i].channel, rows[i].payload, rows[i].len);
		assert_failed(w, &r, ERR_TEMPORARY, rows[i].words);
	}
}

static void a_pool_may_be_freed_in_a_callback(void **state)
{
	struct world *w = *state;
	struct result a = { .free_pool = true }, b = { 0 };

	ask(&a, w, "a");
	ask(&b, w, "b");
	accept_peer(w);
	client_close(&w->peer);
	UNTIL(w->f, a.calls == 1);
	assert_null(w->pool);
	assert_int_equal(b.calls, 0);
}

static void a_cancelled_question_is_not_answered(void **state)
{
	struct world *w = *state;
	struct result a = { 0 }, b = { 0 };
	char queue[256];

	ask(&a, w, "a");
	pool_cancel(a.call);
	ask(&b, w, "b");
	log_in(w);
	open_channel(w, 1);
	hear_declare(w, queue);
	assert_string_equal(queue, "b");
	answer(w, 1, "b", 3);
	UNTIL(w->f, b.calls == 1);
	assert_int_equal(a.calls, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(questions_are_pipelined_on_all_channels),
		TEST(a_missing_queue_closes_only_its_channel),
		TEST(a_queue_that_is_down_is_not_reported_missing),
		TEST(a_refused_channel_restarts_with_a_small_window),
		TEST(equal_endpoints_share_a_connection),
		TEST(a_wrong_password_is_reported),
		TEST(text_that_repeats_the_password_is_not_shown),
		TEST(greetings_are_checked),
		TEST(a_missing_vhost),
		TEST(a_login_without_an_answer_times_out),
		TEST(a_frozen_server_times_out_and_is_closed),
		TEST(a_channel_that_does_not_open_times_out),
		TEST(the_server_closes_an_idle_connection),
		TEST(an_idle_connection_is_closed_cleanly),
		TEST(heartbeats_are_sent_and_expected),
		TEST(endless_heartbeats),
		TEST(nonsense_is_an_error),
		TEST(a_pool_may_be_freed_in_a_callback),
		TEST(a_cancelled_question_is_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
