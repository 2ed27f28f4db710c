/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Redis connections against scripted servers; tests/unit/net/redis/test_redisserver.c uses a real
 * one.
 */

#include "../fixture.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/dial.h"
#include "net/listen.h"
#include "net/redis/redis.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisreply.h"

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
	struct client peer; /* the last accepted */
	char address[64];
	struct redisendpoint *endpoint;
};

static int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct err err = { .kind = ERR_NONE };
	uint16_t port;
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	w->pool = redis_new(w->f->loop);
	w->listener = fixture_listen(&port);
	w->peer.fd = -1;
	snprintf(w->address, sizeof(w->address), "127.0.0.1:%u", port);
	w->endpoint = redisendpoint_new(&(struct redisendpoint_config){ .address = w->address }, &err);
	*state = w;
	return w->endpoint ? 0 : -1;
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

static void accept_peer(struct world *w)
{
	client_close(&w->peer);
	UNTIL(w->f, client_accept(&w->peer, w->listener));
}

struct result {
	struct world *w;
	struct pool_call *call;
	int calls;
	enum redis_reply_type type;
	int64_t integer;
	char text[256];
	struct err err;
	/* What the callback does. */
	struct pool_call **cancel;
	struct result *start;
	bool free_pool;
};

static void ask(struct result *r, struct world *w, const char *key);

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *err)
{
	struct result *r = arg;

	assert_int_equal(reply == NULL, err != NULL);
	r->calls++;
	r->call = NULL;
	if (err) {
		r->err = *err;
	} else {
		r->type = reply->type;
		r->integer = reply->integer;
		snprintf(r->text, sizeof(r->text), "%s", reply->text ? reply->text : "");
	}
	if (r->cancel) {
		pool_cancel(*r->cancel);
		*r->cancel = NULL;
	}
	if (r->start)
		ask(r->start, r->w, "from-inside");
	if (r->free_pool) {
		pool_free(r->w->pool);
		r->w->pool = NULL;
	}
}

static void ask_until(struct result *r, struct world *w, struct redisendpoint *e, const char *key, int64_t deadline_ms)
{
	const char *const argv[] = { "LLEN", key };

	r->w = w;
	r->call = redis_command(w->pool, e, 2, argv, NULL, deadline_ms, on_reply, r);
	assert_non_null(r->call);
	assert_int_equal(r->calls, 0); /* never before it returns */
}

static void ask(struct result *r, struct world *w, const char *key)
{
	ask_until(r, w, w->endpoint, key, loop_now_ms(w->f->loop) + PATIENCE_MS);
}

static struct redisendpoint *endpoint(const struct redisendpoint_config *config)
{
	struct err err = { .kind = ERR_NONE };
	struct redisendpoint *e = redisendpoint_new(config, &err);

	if (!e)
		fail_msg("%s", err.msg);
	return e;
}

/* ---- Endpoints ---- */

static void addresses_are_checked(void **state)
{
	static const struct {
		struct redisendpoint_config config;
		const char *why; /* NULL: fine */
	} rows[] = {
		{ { .address = "redis.default.svc:6379" }, NULL }, { { .address = "127.0.0.1:1" }, NULL },
		{ { .address = "[::1]:65535" }, NULL }, { { .address = "/run/redis.sock" }, NULL },
		{ { .address = NULL }, "address: " }, { { .address = "" }, "address: " },
		{ { .address = "redis" }, "address \"redis\": must be host:port" },
		{ { .address = "redis:" }, "must be host:port" }, { { .address = ":6379" }, "must be host:port" },
		{ { .address = "redis:0" }, "must be host:port" },
		{ { .address = "redis:65536" }, "must be host:port" },
		{ { .address = "redis:6379x" }, "must be host:port" },
		{ { .address = "redis:+1" }, "must be host:port" },
		{ { .address = "re dis:6379" }, "must be host:port" },
		{ { .address = "redis\n:6379" }, "must be host:port" }, { { .address = "::1:6379" }, "brackets" },
		{ { .address = "[]:6379" }, "must be host:port" },
		{ { .address = "[[::1]]:6379" }, "must be host:port" },
		{ { .address = "redis:6379", .database = -1 }, "database: " },
		{ { .address = "redis:6379", .tls = true, .tls_config.ca_pem = "garbage" }, "TLS: CA: " },
		{ { .address = "redis:6379", .tls = true, .tls_config.cert_pem = "garbage" },
			"TLS: a client certificate" },
		{ { .address = "redis:6379", .tls_config.ca_pem = "garbage" }, NULL }, /* not read without TLS */
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err = { .kind = ERR_NONE };
		struct redisendpoint *e = redisendpoint_new(&rows[i].config, &err);

		assert_int_equal(e != NULL, rows[i].why == NULL);
		if (!e) {
			assert_int_equal(err.kind, ERR_INVALID);
			if (!strstr(err.msg, rows[i].why))
				fail_msg("row %zu: %s", i, err.msg);
		} else {
			assert_string_equal(e->base.name, rows[i].config.address);
		}
		endpoint_unref(e);
	}
	endpoint_unref(NULL);
}

static void keys_tell_endpoints_apart_and_hold_no_secrets(void **state)
{
	static const struct redisendpoint_config configs[] = {
		{ .address = "a:1" },
		{ .address = "a:2" },
		{ .address = "a:1", .database = 1 },
		{ .address = "a:1", .password = "hunter2" },
		{ .address = "a:1", .password = "hunter3" },
		{ .address = "a:1", .username = "hunter2" },
		{ .address = "a:1", .username = "u", .password = "hunter2" },
		{ .address = "a:1", .tls = true },
		{ .address = "a:1", .tls = true, .tls_config.insecure = true },
	};
	struct redisendpoint *all[sizeof configs / sizeof *configs], *same;

	(void)state;
	for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
		all[i] = endpoint(&configs[i]);
		assert_null(strstr(all[i]->base.key, "hunter"));
		for (size_t n = 0; n < i; n++)
			assert_string_not_equal(all[i]->base.key, all[n]->base.key);
	}
	same = endpoint(&(struct redisendpoint_config){ .address = "a:1", .username = "", .password = "" });
	assert_string_equal(same->base.key, all[0]->base.key);
	assert_ptr_equal(endpoint_ref(same), same);
	endpoint_unref(same);
	endpoint_unref(same);
	for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
		endpoint_unref(all[i]);
}

/* ---- Pipelines ---- */

static void commands_of_a_turn_share_a_connection_and_a_write(void **state)
{
	struct world *w = *state;
	struct result a = { 0 }, b = { 0 }, c = { 0 };
	struct redisendpoint *twin = endpoint(&(struct redisendpoint_config){ .address = w->address });

	assert_int_equal(pool_connections(w->pool), 0);
	ask(&a, w, "one");
	ask(&b, w, "two");
	/* another object, the same server and credentials */
	ask_until(&c, w, twin, "three", loop_now_ms(w->f->loop) + PATIENCE_MS);
	assert_int_equal(pool_connections(w->pool), 1);
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "three"));
	assert_string_equal(buf_text(&w->peer.got),
		"*2\r\n$4\r\nLLEN\r\n$3\r\none\r\n*2\r\n$4\r\nLLEN\r\n$3\r\ntwo\r\n*2\r\n$4\r\nLLEN\r\n$"
		"5\r\nthree\r\n");
	client_send(&w->peer, ":1\r\n-WRONGTYPE no list\r\n");
	UNTIL(w->f, b.calls);
	assert_int_equal(a.calls, 1);
	assert_int_equal(a.integer, 1);
	assert_int_equal(b.type, REDIS_ERROR);
	assert_string_equal(b.text, "WRONGTYPE no list");
	assert_int_equal(c.calls, 0);
	client_send(&w->peer, "$2\r\n4");
	fixture_linger(w->f, 10);
	assert_int_equal(c.calls, 0);
	client_send(&w->peer, "2\r\n");
	UNTIL(w->f, c.calls);
	assert_string_equal(c.text, "42");
	endpoint_unref(twin);
}

static void greetings_go_before_commands(void **state)
{
	struct world *w = *state;
	static const struct {
		struct redisendpoint_config config;
		const char *sent, *replies;
	} rows[] = {
		{ { .password = "pw" }, "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*2\r\n$4\r\nLLEN", "+OK\r\n:7\r\n" },
		{ { .password = "no" }, "*2\r\n$4\r\nAUTH\r\n$2\r\nno\r\n*2\r\n$4\r\nLLEN",
			"-ERR AUTH <password> called without any password configured for the default user. Are you "
			"sure?\r\n:7\r\n" },
		{ { .username = "u", .password = "pw" }, "*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$2\r\npw\r\n*2\r\n$4\r\nLLEN",
			"+OK\r\n:7\r\n" },
		{ { .database = 12 }, "*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n*2\r\n$4\r\nLLEN", "+OK\r\n:7\r\n" },
		{ { .password = "pw", .database = 3 },
			"*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*2\r\n$4\r\nLLEN",
			"+OK\r\n+OK\r\n:7\r\n" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct redisendpoint_config config = rows[i].config;
		struct result r = { 0 };
		struct redisendpoint *e;

		config.address = w->address;
		e = endpoint(&config);
		ask_until(&r, w, e, "k", loop_now_ms(w->f->loop) + PATIENCE_MS);
		accept_peer(w);
		UNTIL(w->f, client_has(&w->peer, "LLEN"));
		assert_int_equal(strncmp(buf_text(&w->peer.got), rows[i].sent, strlen(rows[i].sent)), 0);
		client_send(&w->peer, rows[i].replies);
		UNTIL(w->f, r.calls);
		assert_int_equal(r.integer, 7);
		endpoint_unref(e);
	}
}

static void refused_greetings_fail_everything(void **state)
{
	struct world *w = *state;
	static const struct {
		const char *replies, *why;
		enum err_kind kind;
	} rows[] = {
		{ "-WRONGPASS invalid username-password pair or user is disabled.\r\n-NOAUTH a\r\n-NOAUTH b\r\n",
			"AUTH failed: WRONGPASS invalid", ERR_DENIED },
		{ "-ERR Client sent AUTH, but no password is set\r\n", "AUTH failed: ERR Client sent AUTH",
			ERR_DENIED },
		{ "+OK\r\n-ERR DB index is out of range\r\n", "SELECT failed: ERR DB index is out of range",
			ERR_DENIED },
		{ "-ERR max number of clients reached\r\n", "AUTH failed: ERR max number of clients reached",
			ERR_TEMPORARY },
		{ "-LOADING Redis is loading the dataset in memory\r\n", "AUTH failed: LOADING", ERR_TEMPORARY },
		/* They repeat the command. */
		{ "-ERR unknown command 'AUTH', with args beginning with: 'hunter2' \r\n",
			"AUTH failed; the server's reply repeats the password, so it is not shown", ERR_DENIED },
		{ "-ERR unknown command `AUTH`, with args beginning with: `hunt\r\n",
			"AUTH failed: ERR unknown command ", ERR_DENIED },
		{ "-ERR what is AUTH hunter2\r\n",
			"AUTH failed; the server's reply repeats the password, so it is not shown", ERR_DENIED },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct result a = { 0 }, b = { 0 }, after = { 0 };
		char prefix[100];
		struct redisendpoint *e = endpoint(&(struct redisendpoint_config){ .address = w->address,
			.password = "hunter2",
			.database = (int)i + 1 });

		ask_until(&a, w, e, "k", loop_now_ms(w->f->loop) + PATIENCE_MS);
		ask_until(&b, w, e, "k", loop_now_ms(w->f->loop) + PATIENCE_MS);
		accept_peer(w);
		UNTIL(w->f, client_has(&w->peer, "LLEN"));
		client_send(&w->peer, rows[i].replies);
		UNTIL(w->f, a.calls && b.calls);
		snprintf(prefix, sizeof(prefix), "redis at %s: %s", w->address, rows[i].why);
		assert_int_equal(strncmp(a.err.msg, prefix, strlen(prefix)), 0);
		assert_int_equal(a.err.kind, rows[i].kind);
		assert_string_equal(b.err.msg, a.err.msg);
		assert_null(strstr(a.err.msg, "hunt"));
		/* not before the back-off is over: the last error is reported */
		ask_until(&after, w, e, "k", loop_now_ms(w->f->loop) + 30);
		UNTIL(w->f, after.calls);
		assert_string_equal(after.err.msg, a.err.msg);
		endpoint_unref(e);
	}
}

/* ---- Failures ---- */

/*
 * A command sent during the back-off gets the result of the next attempt: so the first poll after a
 * server is back succeeds.
 */
static void refused_connections_back_off_and_come_back(void **state)
{
	struct world *w = *state;
	char expected[128];
	struct result first = { 0 }, at_once = { 0 }, back = { 0 };
	uint16_t dead_port = fixture_dead_port();
	struct err err;

	endpoint_unref(w->endpoint);
	snprintf(w->address, sizeof(w->address), "127.0.0.1:%u", dead_port);
	snprintf(expected, sizeof(expected), "redis at %s: connecting: Connection refused", w->address);
	w->endpoint = endpoint(&(struct redisendpoint_config){ .address = w->address });
	first.start = &at_once; /* from inside the failure's callback: it waits */
	ask(&first, w, "k");
	UNTIL(w->f, first.calls);
	assert_int_equal(pool_connections(w->pool), 0);
	assert_true(pool_backs_off(w->pool, &w->endpoint->base));
	UNTIL(w->f, at_once.calls);
	assert_int_equal(first.err.kind, ERR_TEMPORARY);
	assert_string_equal(first.err.msg, expected);
	assert_string_equal(at_once.err.msg, expected);
	assert_int_equal(pool_connections(w->pool), 0);
	ask(&back, w, "k");
	close(w->listener);
	w->listener = listen_tcp("127.0.0.1", dead_port, &err);
	assert_true(w->listener >= 0);
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "LLEN"));
	client_send(&w->peer, ":7\r\n");
	UNTIL(w->f, back.calls);
	assert_int_equal(back.integer, 7);
	assert_false(pool_backs_off(w->pool, &w->endpoint->base));
}

/*
 * Many cycles against a dead server leak nothing, and it is dialled about once a second, however
 * many commands there are.
 */
static void a_dead_server_is_not_dialled_for_each_command(void **state)
{
	struct world *w = *state;
	struct result asked[1000] = { 0 };
	int64_t begin_ms;

	for (size_t i = 0; i < 5; i++) { /* up to the longest back-off */
		ask(&asked[i], w, "k");
		accept_peer(w);
		client_close(&w->peer);
		UNTIL(w->f, asked[i].calls);
	}
	begin_ms = loop_now_ms(w->f->loop);
	for (size_t i = 5; i < 1000; i++) {
		ask(&asked[i], w, "k");
		loop_turn(w->f->loop);
	}
	accept_peer(w);
	assert_true(loop_now_ms(w->f->loop) - begin_ms >= DIAL_AGAIN_MAX_MS * 7 / 10);
	client_close(&w->peer);
	for (size_t i = 5; i < 1000; i++)
		UNTIL(w->f, asked[i].calls);
	assert_int_equal(pool_connections(w->pool), 0);
}

static void a_lost_connection_is_reopened(void **state)
{
	struct world *w = *state;
	struct result a = { 0 }, b = { 0 }, c = { 0 };

	ask(&a, w, "k");
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "LLEN"));
	client_send(&w->peer, ":1\r\n");
	UNTIL(w->f, a.calls);
	/* Closed while idle: no failure, the next command connects at once. */
	client_close(&w->peer);
	UNTIL(w->f, pool_connections(w->pool) == 0);
	ask(&b, w, "k");
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "LLEN"));
	/* Closed while a command waits: that fails. */
	client_send(&w->peer, ":1\r\n");
	UNTIL(w->f, b.calls);
	ask(&c, w, "k");
	client_forget(&w->peer);
	UNTIL(w->f, client_has(&w->peer, "LLEN"));
	client_close(&w->peer);
	UNTIL(w->f, c.calls);
	assert_int_equal(b.integer, 1);
	assert_int_equal(c.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(c.err.msg, ": the server closed the connection"));
	assert_null(strstr(c.err.msg, "enableTLS"));
}

static void idle_connection_is_closed_after_a_minute(void **state)
{
	struct world *w = *state;
	struct result a = { 0 }, b = { 0 };
	int64_t due_ms;

	ask(&a, w, "k");
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "LLEN"));
	client_send(&w->peer, ":1\r\n");
	UNTIL(w->f, a.calls);
	ahead_s += 55;
	fixture_linger(w->f, 20);
	assert_int_equal(pool_connections(w->pool), 1);
	ask(&b, w, "k"); /* the minute restarts */
	client_forget(&w->peer);
	UNTIL(w->f, client_has(&w->peer, "LLEN"));
	client_send(&w->peer, ":2\r\n");
	UNTIL(w->f, b.calls);
	ahead_s += 55;
	fixture_linger(w->f, 20);
	assert_int_equal(pool_connections(w->pool), 1);
	ahead_s += 6;
	due_ms = loop_now_ms(w->f->loop);
	UNTIL(w->f, pool_connections(w->pool) == 0);
	assert_true(loop_now_ms(w->f->loop) - due_ms < 5000);
	UNTIL(w->f, client_ended(&w->peer));
}

/* Whatever arrives, all waiting commands fail with the reason, and nothing else breaks. */
static void garbage_fails_everything_with_a_reason(void **state)
{
	struct world *w = *state;
	static const struct {
		const char *bytes, *why;
	} rows[] = {
		{ "\x15\x03\x01\x00\x02\x02\x46",
			"malformed reply: Protocol error, got \"\\x15\" as reply type byte (is TLS needed? set "
			"enableTLS)" },
		{ "HTTP/1.1 400 Bad Request\r\n", "malformed reply: Protocol error, got \"H\"" },
		{ "*200000000\r\n", "an array of 200000000 elements is too long" },
		{ "", "the server closed the connection (is TLS needed? set enableTLS)" },
		{ ":1\r\n:2\r\n:3\r\n", NULL },                         /* one more than expected */
		{ "*2\r\n:1\r\n", "the server closed the connection" }, /* half an answer */
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct result a = { 0 }, b = { 0 };
		struct redisendpoint *e = endpoint(&(struct redisendpoint_config){ .address = w->address,
			.password = NULL,
			.username = NULL,
			.tls = false });

		pool_free(w->pool); /* without the previous row's back-off */
		w->pool = redis_new(w->f->loop);
		ask_until(&a, w, e, "k", loop_now_ms(w->f->loop) + PATIENCE_MS);
		ask_until(&b, w, e, "k", loop_now_ms(w->f->loop) + PATIENCE_MS);
		accept_peer(w);
		UNTIL(w->f, client_has(&w->peer, "LLEN"));
		client_send(&w->peer, rows[i].bytes);
		if (!rows[i].why) {
			UNTIL(w->f, a.calls && b.calls);
			assert_int_equal(b.integer, 2);
			UNTIL(w->f, pool_connections(w->pool) == 0);
		} else {
			shutdown(w->peer.fd, SHUT_WR);
			UNTIL(w->f, a.calls && b.calls);
			assert_int_equal(a.err.kind, ERR_TEMPORARY);
			assert_int_equal(strncmp(a.err.msg, "redis at 127.0.0.1:", 19), 0);
			if (!strstr(a.err.msg, rows[i].why))
				fail_msg("row %zu: %s", i, a.err.msg);
			assert_string_equal(a.err.msg, b.err.msg);
		}
		endpoint_unref(e);
	}
}

static void a_giant_reply_does_not_grow_memory(void **state)
{
	struct world *w = *state;
	struct result r = { 0 };
	char *junk = mem_zalloc(65537);

	memset(junk, 'x', 65536);
	ask(&r, w, "k");
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "LLEN"));
	client_send(&w->peer, "$1000000000\r\n");
	while (!r.calls) {
		client_send(&w->peer, junk);
		loop_turn(w->f->loop);
	}
	assert_non_null(strstr(r.err.msg, "the reply is longer than 4194304 bytes"));
	assert_int_equal(pool_connections(w->pool), 0);
	mem_free_ptr(&junk);
}

/* ---- Deadlines and cancelling ---- */

static void a_hung_server_fails_everything_at_the_heads_deadline(void **state)
{
	struct world *w = *state;
	struct result head = { 0 }, patient = { 0 };
	int64_t now_ms = loop_now_ms(w->f->loop);

	ask_until(&head, w, w->endpoint, "k", now_ms + 200);
	ask_until(&patient, w, w->endpoint, "k", now_ms + PATIENCE_MS);
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "LLEN"));
	UNTIL(w->f, head.calls);
	assert_true(loop_now_ms(w->f->loop) >= now_ms + 200);
	UNTIL(w->f, patient.calls);
	assert_int_equal(head.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(head.err.msg, "did not answer in time"));
	assert_int_equal(pool_connections(w->pool), 0);
	UNTIL(w->f, client_ended(&w->peer));
}

static void a_command_behind_the_head_fails_alone(void **state)
{
	struct world *w = *state;
	struct result head = { 0 }, hasty = { 0 }, third = { 0 };
	int64_t now_ms = loop_now_ms(w->f->loop);

	ask_until(&head, w, w->endpoint, "k", now_ms + PATIENCE_MS);
	ask_until(&hasty, w, w->endpoint, "k", now_ms + 100);
	ask_until(&third, w, w->endpoint, "k", now_ms + PATIENCE_MS);
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "LLEN"));
	UNTIL(w->f, hasty.calls);
	assert_non_null(strstr(hasty.err.msg, "no answer in time"));
	assert_int_equal(pool_connections(w->pool), 1);
	client_send(&w->peer, ":1\r\n:2\r\n:3\r\n"); /* 2 meets an empty slot */
	UNTIL(w->f, head.calls && third.calls);
	assert_int_equal(head.integer, 1);
	assert_int_equal(third.integer, 3);
	assert_int_equal(hasty.calls, 1);
}

static void deadlines_hold_while_connecting(void **state)
{
	struct world *w = *state;
	struct redisendpoint *e = endpoint(
		&(struct redisendpoint_config){ .address = w->address, .tls = true, .tls_config.insecure = true });
	struct result hasty = { 0 }, patient = { 0 };

	ask_until(&hasty, w, e, "k", loop_now_ms(w->f->loop) + 100);
	ask_until(&patient, w, e, "k", loop_now_ms(w->f->loop) + PATIENCE_MS);
	UNTIL(w->f, hasty.calls); /* the peer never starts TLS */
	assert_non_null(strstr(hasty.err.msg, "TLS handshake: timed out (does the server speak TLS here?)"));
	assert_int_equal(patient.calls, 0);
	pool_cancel(patient.call);
	endpoint_unref(e);
}

static void cancelled_commands_keep_their_slot(void **state)
{
	struct world *w = *state;
	struct result a = { 0 }, b = { 0 }, c = { 0 }, unsent = { 0 }, at_once = { 0 };
	struct redisendpoint *dead;
	char address[64];

	pool_cancel(NULL);
	ask(&unsent, w, "never-sent");
	pool_cancel(unsent.call);
	ask(&a, w, "a");
	ask(&b, w, "b");
	ask(&c, w, "c");
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "c\r\n"));
	assert_null(strstr(buf_text(&w->peer.got), "never-sent"));
	pool_cancel(b.call);
	client_send(&w->peer, ":1\r\n:2\r\n:3\r\n");
	UNTIL(w->f, a.calls && c.calls);
	assert_int_equal(c.integer, 3);
	assert_int_equal(b.calls + unsent.calls, 0);
	/* A command that has failed, with its callback due. */
	snprintf(address, sizeof(address), "127.0.0.1:%u", fixture_dead_port());
	dead = endpoint(&(struct redisendpoint_config){ .address = address });
	ask_until(&a, w, dead, "k", (a.calls = 0, loop_now_ms(w->f->loop) + PATIENCE_MS));
	UNTIL(w->f, a.calls);
	ask_until(&at_once, w, dead, "k", loop_now_ms(w->f->loop) + PATIENCE_MS);
	pool_cancel(at_once.call);
	fixture_linger(w->f, 10);
	assert_int_equal(at_once.calls, 0);
	endpoint_unref(dead);
}

/* Closes an accepted connection, if there is one; always false. */
static bool end_next(struct world *w)
{
	struct client next;

	if (client_accept(&next, w->listener))
		client_close(&next);
	return false;
}

static void callbacks_may_cancel_and_start(void **state)
{
	struct world *w = *state;
	struct result a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };

	ask(&a, w, "a");
	ask(&b, w, "b");
	ask(&c, w, "c");
	a.cancel = &b.call;
	c.start = &d;
	accept_peer(w);
	UNTIL(w->f, client_has(&w->peer, "c\r\n"));
	client_send(&w->peer, ":1\r\n:2\r\n:3\r\n");
	UNTIL(w->f, client_has(&w->peer, "from-inside"));
	client_send(&w->peer, ":4\r\n");
	UNTIL(w->f, d.calls);
	assert_int_equal(d.integer, 4);
	assert_int_equal(a.calls + c.calls, 2);
	assert_int_equal(b.calls, 0);
	/* The same when all commands fail. */
	a = b = c = d = (struct result){ 0 };
	ask(&a, w, "a");
	ask(&b, w, "b");
	ask(&c, w, "c");
	a.cancel = &b.call;
	c.start = &d;
	client_close(&w->peer);
	/*
	 * A command started from the callback may already have the next connection: that is closed,
	 * too.
	 */
	UNTIL(w->f, d.calls || end_next(w));
	assert_int_equal(a.calls + c.calls, 2);
	assert_int_equal(b.calls, 0);
	assert_int_equal(d.err.kind, ERR_TEMPORARY);
}

static void the_pool_may_be_freed_at_any_time(void **state)
{
	struct world *w = *state;

	for (int how = 0; how < 4; how++) {
		struct result a = { 0 }, b = { 0 };

		ask(&a, w, "a");
		ask(&b, w, "b");
		a.free_pool = how < 2;
		if (how < 3) {
			accept_peer(w);
			UNTIL(w->f, client_has(&w->peer, "b\r\n"));
		}
		if (how == 0)
			client_send(&w->peer, ":1\r\n:2\r\n"); /* from a reply's callback */
		else if (how == 1)
			client_close(&w->peer); /* from a failure's callback */
		else {
			pool_free(w->pool);
			w->pool = NULL;
		}
		UNTIL(w->f, !w->pool);
		fixture_linger(w->f, 10);
		assert_int_equal(a.calls, how < 2);
		assert_int_equal(b.calls, 0);
		client_close(&w->peer);
		w->pool = redis_new(w->f->loop);
		if (how == 3) { /* the previous round's connection is in the kernel's queue */
			struct client left;

			client_accept(&left, w->listener);
			client_close(&left);
		}
	}
	pool_free(NULL);
}

static void too_many_commands_fail_at_once(void **state)
{
	struct world *w = *state;
	struct result *many = mem_array(20001, sizeof(*many));

	for (size_t i = 0; i < 20001; i++)
		ask(&many[i], w, "k");
	loop_turn(w->f->loop);
	assert_int_equal(many[20000].calls, 1);
	assert_int_equal(many[20000].err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(many[20000].err.msg, "too many commands wait (20000)"));
	assert_int_equal(many[19999].calls, 0);
	pool_free(w->pool);
	w->pool = NULL;
	mem_free_ptr(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_checked),
		cmocka_unit_test(keys_tell_endpoints_apart_and_hold_no_secrets),
		cmocka_unit_test_setup_teardown(commands_of_a_turn_share_a_connection_and_a_write, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(greetings_go_before_commands, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(refused_greetings_fail_everything, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(refused_connections_back_off_and_come_back, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(a_dead_server_is_not_dialled_for_each_command, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(a_lost_connection_is_reopened, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(idle_connection_is_closed_after_a_minute, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(garbage_fails_everything_with_a_reason, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_giant_reply_does_not_grow_memory, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_hung_server_fails_everything_at_the_heads_deadline, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(a_command_behind_the_head_fails_alone, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(deadlines_hold_while_connecting, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(cancelled_commands_keep_their_slot, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(callbacks_may_cancel_and_start, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(the_pool_may_be_freed_at_any_time, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(too_many_commands_fail_at_once, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
