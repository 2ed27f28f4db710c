/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to our own server: what is sent, limits per server, what ends a call, and no callback
 * after a cancel. test_exchange.c covers identities.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../http/httpcworld.h"
#include "base/mem.h"
#include "base/shares.h"
#include "net/http/httphost.h"
#include "net/http/httpurl.h"
#include "net/network.h"
#include "net/web/webclient.h"

#define MANY 100

struct got {
	struct webclient *w;
	int done, status;
	bool measured;
	char header[64], third[64];
	int64_t retry_after_ms;
	char body[1024];
	struct err err;
	bool free_all;                 /* in the callback */
	struct webclient_call *cancel; /* in the callback */
};

static void on_got(void *arg, const struct webresponse *answer, const struct err *err)
{
	struct got *g = arg;

	g->done++;
	assert_true(!answer != !err);
	if (answer) {
		g->status = answer->status;
		g->measured = answer->measured;
		g->retry_after_ms = answer->retry_after_ms;
		snprintf(g->header, sizeof(g->header), "%s", answer->wanted[0]);
		snprintf(g->third, sizeof(g->third), "%s", answer->wanted[2]);
		snprintf(g->body, sizeof(g->body), "%s", answer->body);
	} else {
		g->err = *err;
	}
	if (g->free_all)
		webclient_free(g->w);
	webclient_cancel(g->cancel);
}

/* Options of a request. */
struct how {
	const struct strmap *headers;
	char *body;
	const char *content_type, *method, *wanted_header;
	size_t max_body;
	int64_t timeout_ms;
	struct webaccess *access;
	const char *asker;
	bool (*on_piece)(void *arg, const char *bytes, size_t len, size_t *kept);
};

static struct webclient_call *get(struct got *g, const char *base, const char *path, struct how how)
{
	const struct webclient_options options = { .access = how.access,
		.timeout_ms = how.timeout_ms,
		.asker = how.asker,
		.on_piece = how.on_piece };
	struct webrequest request = { .method = how.method,
		.body = how.body,
		.content_type = how.content_type,
		.wanted_header = how.wanted_header,
		.max_body = how.max_body };
	struct webclient_call *call;

	request.url = mem_printf("%s%s", base, path);
	if (how.headers)
		request.headers = *how.headers;
	call = webclient_start(g->w, &request, &options, on_got, g);
	mem_free_ptr(&request.url);
	assert_int_equal(g->done, 0);
	return call;
}

static void expect_body(struct world *w, struct got *g, const char *part)
{
	UNTIL(w->f, g->done);
	if (g->err.kind != ERR_NONE)
		fail_msg("%s", g->err.msg);
	if (!strstr(g->body, part))
		fail_msg("%s is not in %s", part, g->body);
}

static void expect_error(struct world *w, struct got *g, enum err_kind kind, const char *part)
{
	UNTIL(w->f, g->done);
	assert_int_equal(g->err.kind, kind);
	if (!strstr(g->err.msg, part))
		fail_msg("%s is not in %s", part, g->err.msg);
}

static struct webaccess *access_of(struct webaccess_config config)
{
	struct err err = { 0 };
	struct webaccess *a = webaccess_new(&config, &err);

	if (!a)
		fail_msg("%s", err.msg);
	return a;
}

static void requests(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	static const struct {
		struct webaccess_config config;
		const char *expected;
	} rows[] = {
		{ { .bearer = "abc" }, "GET /x auth=Bearer abc type=-" },
		{ { .username = "me", .password = "pass" }, "auth=Basic bWU6cGFzcw==" },
		{ { .username = "me" }, "auth=Basic bWU6" },
		{ { .header_name = "Authorization", .header_value = "Key 1" }, "auth=Key 1" },
		{ { .query_name = "api key", .query_value = "a&b" }, "GET /x?api%20key=a%26b auth=-" },
		{ { .bearer = NULL }, "GET /x auth=- type=- host=127.0.0.1" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct got g = { .w = web };
		struct webaccess *access = access_of(rows[i].config);

		get(&g, w->plain_url, "/x", (struct how){ .access = access });
		webaccess_unref(access);
		expect_body(w, &g, rows[i].expected);
		assert_int_equal(g.status, 200);
	}
	webclient_free(web);
}

/* The access's Authorization replaces the caller's. */
static void headers(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	struct webaccess *access = access_of((struct webaccess_config){ .bearer = "t" });
	struct strmap own = { 0 };
	struct got a = { .w = web }, b = { .w = web };

	strmap_set(&own, "authorization", "mine");
	strmap_set(&own, "Content-Type", "x/y");
	get(&a, w->plain_url, "/", (struct how){ .headers = &own });
	get(&b, w->plain_url, "/", (struct how){ .headers = &own, .access = access });
	strmap_done(&own);
	expect_body(w, &a, "auth=mine type=x/y");
	expect_body(w, &b, "auth=Bearer t type=x/y");
	webaccess_unref(access);
	webclient_free(web);
}

/* A body is sent with its type and not redirected; header names are case-insensitive. */
static void bodies_and_a_header(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	char json_body[] = "{\"a\":1}";
	struct how json = { .body = json_body, .content_type = "application/json" }, put = json;
	struct got a = { .w = web }, b = { .w = web }, moved = { .w = web }, busy = { .w = web }, other = { .w = web };

	get(&a, w->plain_url, "/", json);
	expect_body(w, &a, "POST / auth=- type=application/json");
	expect_body(w, &a, "body={\"a\":1} ");
	put.method = "PUT";
	get(&b, w->plain_url, "/", put);
	expect_body(w, &b, "PUT / auth=-");
	get(&moved, w->plain_url, "/307", json);
	expect_body(w, &moved, "there");
	assert_int_equal(moved.status, 307);
	get(&busy, w->plain_url, "/503", (struct how){ .wanted_header = "retry-AFTER" });
	expect_body(w, &busy, "busy");
	assert_string_equal(busy.header, "7");
	assert_int_equal(busy.retry_after_ms, 7000);
	get(&other, w->plain_url, "/503", (struct how){ .wanted_header = "Retry Nothing retry-after" });
	expect_body(w, &other, "busy");
	assert_string_equal(other.header, "");
	assert_string_equal(other.third, "7");
	webclient_free(web);
}

static void answers(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	struct got moved = { .w = web }, missing = { .w = web }, big = { .w = web }, refused = { .w = web },
		   named = { .w = web }, nobody = { .w = web }, bad = { .w = web };
	char dead[64], by_name[64];

	get(&moved, w->plain_url, "/307", (struct how){ .timeout_ms = 2000 });
	expect_body(w, &moved, "GET /elsewhere?a=b");
	get(&missing, w->plain_url, "/404", (struct how){ .timeout_ms = 2000 });
	expect_body(w, &missing, "not here");
	assert_int_equal(missing.status, 404);
	assert_true(missing.measured);
	get(&big, w->plain_url, "/big", (struct how){ .max_body = 1000 });
	expect_error(w, &big, ERR_INVALID, "larger than 1000 bytes");
	snprintf(dead, sizeof(dead), "http://127.0.0.1:%u", fixture_dead_port());
	get(&refused, dead, "/", (struct how){ .timeout_ms = 20000 });
	expect_error(w, &refused, ERR_TEMPORARY, "Connection refused");
	snprintf(by_name, sizeof(by_name), "http://localhost%s", strrchr(w->plain_url, ':'));
	get(&named, by_name, "/", (struct how){ .timeout_ms = 0 });
	expect_body(w, &named, "host=localhost");
	get(&nobody, "http://", "no-such-name.invalid:80/", (struct how){ .timeout_ms = 20000 });
	expect_error(w, &nobody, ERR_TEMPORARY, "http://no-such-name.invalid:80: ");
	get(&bad, "ftp://", "x", (struct how){ .timeout_ms = 0 });
	expect_error(w, &bad, ERR_INVALID, "http:// or https://");
	webclient_free(web);
}

/* A redirect whose host name repeats the credential: no error shows it. */
static void a_redirect_that_repeats_the_credential(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	static const struct {
		const char *path;
		enum err_kind kind;
		const char *expected;
	} rows[] = {
		{ "/repeats?http://", ERR_TEMPORARY, "a server whose name repeats a credential" },
		{ "/repeats?http://a.", ERR_TEMPORARY, "a server whose name repeats a credential" },
		{ "/repeats?http://[", ERR_INVALID, "the new URL: is not a URL" },
		{ "/repeats?ftp://", ERR_INVALID, "the new URL: must be a URL" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct webaccess *access = access_of((struct webaccess_config){ .bearer = "S3cret-of-Ours" });
		struct got g = { .w = web };

		get(&g, w->plain_url, rows[i].path, (struct how){ .access = access, .timeout_ms = 20000 });
		webaccess_unref(access);
		expect_error(w, &g, rows[i].kind, rows[i].expected);
		if (strcasestr(g.err.msg, "s3cret"))
			fail_msg("%s: %s", rows[i].path, g.err.msg);
	}
	webclient_free(web);
}

/* Results of a response read in pieces. */
struct taken {
	struct got got; /* first */
	struct loop *loop;
	size_t pieces, len, most;
	uint64_t turn;
	size_t in_turn, most_in_turn;
	bool keeps;
};

static bool on_piece(void *arg, const char *bytes, size_t len, size_t *kept)
{
	struct taken *taken = arg;

	assert_non_null(bytes);
	assert_int_equal(taken->got.done, 0);
	taken->in_turn = taken->turn == loop_turns(taken->loop) ? taken->in_turn + len : len;
	taken->turn = loop_turns(taken->loop);
	taken->most_in_turn = taken->in_turn > taken->most_in_turn ? taken->in_turn : taken->most_in_turn;
	taken->pieces++;
	taken->len += len;
	*kept = taken->keeps ? taken->len : 0;
	return !taken->most || taken->len <= taken->most;
}

static void bodies_in_pieces(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	struct taken big = { .got = { .w = web }, .loop = w->f->loop }, large = big, refused = big, moved = big,
		     missing = big;

	refused.most = 20000;
	get(&big.got, w->plain_url, "/big", (struct how){ .on_piece = on_piece, .max_body = 8 << 20 });
	expect_body(w, &big.got, "");
	assert_in_range(big.len, 1 << 20, (1 << 20) + 100);
	assert_true(big.pieces > 10);
	get(&large.got, w->plain_url, "/big", (struct how){ .on_piece = on_piece, .max_body = 50000 });
	expect_error(w, &large.got, ERR_INVALID, "the answer is larger than 50000 bytes");
	assert_true(large.len <= 50000);
	get(&refused.got, w->plain_url, "/big", (struct how){ .on_piece = on_piece, .max_body = 8 << 20 });
	expect_error(w, &refused.got, ERR_INVALID, "not accepted");
	assert_true(refused.len < 50000);
	get(&moved.got, w->plain_url, "/307", (struct how){ .on_piece = on_piece });
	expect_body(w, &moved.got, "");
	assert_true(moved.len > 0);
	get(&missing.got, w->plain_url, "/404", (struct how){ .on_piece = on_piece });
	expect_body(w, &missing.got, "not here");
	assert_int_equal(missing.pieces, 0);
	webclient_free(web);
}

/* The bytes kept of responses are limited. */
static void kept_bytes_are_limited(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	struct taken kept = { .got = { .w = web }, .loop = w->f->loop, .keeps = true }, passed = kept, whole = kept;
	struct shares *answers = &network_of(w->f->loop)->answers;
	static const char why[] = "the answer is dropped: several namespaces together have used up the share of bytes";

	passed.keeps = false;
	*answers = (struct shares){ .total = 1 << 19 };
	get(&kept.got, w->plain_url, "/big", (struct how){ .on_piece = on_piece, .max_body = 8 << 20 });
	expect_error(w, &kept.got, ERR_TEMPORARY, why);
	assert_true(kept.len > 100000 && kept.len < 1 << 19);
	get(&whole.got, w->plain_url, "/big", (struct how){ .max_body = 8 << 20 });
	expect_error(w, &whole.got, ERR_TEMPORARY, why);
	get(&passed.got, w->plain_url, "/big", (struct how){ .on_piece = on_piece, .max_body = 8 << 20 });
	expect_body(w, &passed.got, "");
	UNTIL(w->f, answers->taken == 0);
	webclient_free(web);
}

/* Writes as much as the socket accepts. */
static size_t push(const struct client *c, const char *bytes, size_t len)
{
	ssize_t n = send(c->fd, bytes, len, MSG_NOSIGNAL);

	return n > 0 ? (size_t)n : 0;
}

/* All bytes are there at once: they are still read in pieces, and other work runs in between. */
static void a_flood_is_read_in_turns(void **state)
{
	enum { FLOOD = 200000 };
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 20000);
	struct taken taken = { .got = { .w = web }, .loop = w->f->loop };
	struct client server = { .fd = -1 };
	struct buf answer = BUF_INIT(2 * FLOOD);
	uint16_t port;
	int listener = fixture_listen(&port);
	size_t sent = 0;
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u", port);
	get(&taken.got, url, "/", (struct how){ .on_piece = on_piece, .max_body = FLOOD });
	UNTIL(w->f, client_accept(&server, listener));
	UNTIL(w->f, client_has(&server, "\r\n\r\n"));
	buf_printf(&answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", FLOOD);
	for (int i = 0; i < FLOOD; i++)
		buf_putc(&answer, 'x');
	UNTIL(w->f, (sent += push(&server, answer.data + sent, answer.len - sent)) == answer.len);
	expect_body(w, &taken.got, "");
	assert_int_equal(taken.len, FLOOD);
	assert_in_range(taken.most_in_turn, 1, 50000);
	client_close(&server);
	close(listener);
	buf_done(&answer);
	webclient_free(web);
}

struct requests_seen {
	int count, statuses[8];
};

static void on_request(void *arg, const char *asker, int status, int64_t took_ms)
{
	struct requests_seen *seen = arg;

	assert_string_equal(asker, "prometheus");
	assert_true(took_ms >= 0);
	assert_true(seen->count < 8);
	seen->statuses[seen->count++] = status;
}

/*
 * Each request of a redirect chain is reported, also without a response; requests without an asker
 * or never sent are not.
 */
static void requests_are_reported(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	struct got moved = { .w = web }, missing = { .w = web }, hung = { .w = web }, untold = { .w = web },
		   refused = { .w = web }, bad = { .w = web };
	struct requests_seen seen = { .count = 0 };
	static const int expected[] = { 307, 200, 404, 0, 0 };
	char dead[64];

	webclient_watch(web, on_request, &seen);
	get(&moved, w->plain_url, "/307", (struct how){ .asker = "prometheus" });
	expect_body(w, &moved, "GET /elsewhere?a=b");
	get(&missing, w->plain_url, "/404", (struct how){ .asker = "prometheus" });
	expect_body(w, &missing, "not here");
	get(&hung, w->plain_url, "/hold", (struct how){ .asker = "prometheus", .timeout_ms = 500 });
	expect_error(w, &hung, ERR_TEMPORARY, "no complete answer");
	snprintf(dead, sizeof(dead), "http://127.0.0.1:%u", fixture_dead_port());
	get(&refused, dead, "/", (struct how){ .asker = "prometheus", .timeout_ms = 20000 });
	expect_error(w, &refused, ERR_TEMPORARY, "Connection refused");
	get(&untold, w->plain_url, "/x", (struct how){ .asker = NULL });
	expect_body(w, &untold, "GET /x");
	get(&bad, "ftp://", "x", (struct how){ .asker = "prometheus" });
	expect_error(w, &bad, ERR_INVALID, "http:// or https://");
	assert_int_equal(seen.count, sizeof(expected) / sizeof(expected[0]));
	assert_memory_equal(seen.statuses, expected, sizeof(expected));
	webclient_free(web);
}

/*
 * A hung server gets as many requests as it may have connections; the others time out in the queue,
 * and another server is not delayed.
 */
static void a_hung_server_uses_its_connections_only(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	struct got *g = mem_array(MANY, sizeof(*g)), other = { .w = web };

	for (int i = 0; i < MANY; i++) {
		g[i].w = web;
		get(&g[i], w->plain_url, "/hold", (struct how){ .timeout_ms = i < HTTPHOST_CONNECTIONS ? 8000 : 3000 });
	}
	UNTIL(w->f, w->held_count == HTTPHOST_CONNECTIONS);
	get(&other, w->secure_url, "/", (struct how){ .timeout_ms = 2000 });
	expect_error(w, &other, ERR_TEMPORARY, "certificate");
	for (int i = HTTPHOST_CONNECTIONS; i < MANY; i++)
		UNTIL(w->f, g[i].done);
	/* Requests with time left may take over the connections of those that timed out. */
	assert_int_equal(w->held_count, HTTPHOST_CONNECTIONS);
	for (int i = 0; i < HTTPHOST_CONNECTIONS; i++)
		UNTIL(w->f, g[i].done);
	expect_error(w, &g[0], ERR_TEMPORARY, "no complete answer within 8000 ms");
	expect_error(w, &g[MANY - 1], ERR_TEMPORARY, "other requests kept it busy for 3000 ms");
	for (int i = 0; i < MANY; i++)
		assert_int_equal(g[i].done, 1);
	free(g);
	webclient_free(web);
}

/*
 * A hung server takes no connections from another, though both have more requests than connections.
 */
static void a_hung_server_does_not_delay_others(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 20000);
	struct got hung[MANY] = { { .done = 0 } }, *g = mem_array(MANY, sizeof(*g));
	struct err err;
	struct httpurl_place place;
	char other[64];

	assert_int_equal(httpurl_place(w->plain_url, &place, &err), 0);
	snprintf(other, sizeof(other), "http://localhost:%u", place.port);
	httpurl_place_done(&place);
	for (int i = 0; i < MANY; i++) {
		hung[i].w = web;
		get(&hung[i], w->plain_url, "/hold", (struct how){ .timeout_ms = 60000 });
	}
	UNTIL(w->f, w->held_count == HTTPHOST_CONNECTIONS);
	for (int i = 0; i < MANY; i++) {
		g[i].w = web;
		get(&g[i], other, "/x", (struct how){ .timeout_ms = 8000 });
	}
	for (int i = 0; i < MANY; i++)
		expect_body(w, &g[i], "GET /x");
	free(g);
	webclient_free(web);
}

/* All requests are answered over a few connections. */
static void many_requests_share_few_connections(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 20000);
	struct got *g = mem_array(MANY, sizeof(*g));

	for (int i = 0; i < MANY; i++) {
		g[i].w = web;
		get(&g[i], w->plain_url, "/x", (struct how){ .timeout_ms = 0 });
	}
	for (int i = 0; i < MANY; i++)
		expect_body(w, &g[i], "GET /x");
	free(g);
	webclient_free(web);
}

static void trust(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	struct webaccess *known = access_of((struct webaccess_config){ .ca_pem = w->f->ca.cert_pem,
		.cert_pem = w->f->serving.cert_pem,
		.key_pem = w->f->serving.key_pem });
	struct webaccess *blind = access_of((struct webaccess_config){ .insecure = true });
	struct got good = { .w = web }, unsure = { .w = web }, insecure = { .w = web }, again = { .w = web };

	get(&good, w->secure_url, "/", (struct how){ .access = known });
	expect_body(w, &good, "GET /");
	assert_string_equal(w->last_client, "localhost");
	get(&unsure, w->secure_url, "/", (struct how){ .timeout_ms = 0 });
	expect_error(w, &unsure, ERR_TEMPORARY, "certificate");
	get(&insecure, w->secure_url, "/", (struct how){ .access = blind });
	expect_body(w, &insecure, "GET /");
	assert_string_equal(w->last_client, "");
	/* A connection made without verification is not used by a request that verifies. */
	get(&again, w->secure_url, "/", (struct how){ .timeout_ms = 0 });
	expect_error(w, &again, ERR_TEMPORARY, "certificate");
	webaccess_unref(known);
	webaccess_unref(blind);
	webclient_free(web);
}

static void cancelled(void **state)
{
	struct world *w = *state;
	struct webclient *web = webclient_new(w->f->loop, 3000);
	struct got g = { .w = web }, held = { .w = web }, queued = { .w = web }, name = { .w = web },
		   first = { .w = web };
	struct webclient_call *call = get(&g, w->plain_url, "/x", (struct how){ .timeout_ms = 0 });

	webclient_cancel(call);
	call = get(&held, w->plain_url, "/hold", (struct how){ .timeout_ms = 0 });
	UNTIL(w->f, w->held_count == 1);
	webclient_cancel(call);
	webclient_cancel(get(&name, "http://", "some-name.invalid/", (struct how){ .timeout_ms = 0 }));
	first.cancel = get(&queued, w->plain_url, "/hold", (struct how){ .timeout_ms = 0 });
	get(&first, w->plain_url, "/x", (struct how){ .timeout_ms = 0 });
	expect_body(w, &first, "GET /x");
	fixture_linger(w->f, 50);
	assert_int_equal(g.done + held.done + queued.done + name.done, 0);
	webclient_cancel(NULL);
	webclient_free(web);
}

static void freed_inside(void **state)
{
	struct world *w = *state;
	struct got a = { .w = webclient_new(w->f->loop, 3000), .free_all = true }, b = { .w = a.w };

	get(&b, w->plain_url, "/hold", (struct how){ .timeout_ms = 0 });
	get(&a, w->plain_url, "/x", (struct how){ .timeout_ms = 0 });
	expect_body(w, &a, "GET /x");
	/* Also from a failure without a request. */
	a = (struct got){ .w = webclient_new(w->f->loop, 3000), .free_all = true };
	b = (struct got){ .w = a.w };
	get(&a, "http://", "x.invalid/", (struct how){ .timeout_ms = 50 });
	get(&b, "http://", "x.invalid/", (struct how){ .timeout_ms = 0 });
	UNTIL(w->f, a.done);
	fixture_linger(w->f, 20);
	assert_int_equal(b.done, 0);
}

/* Whether credentials may follow a redirect. */
static void credentials_across_redirects(void **state)
{
	static const struct {
		const char *from, *to;
		bool may;
	} rows[] = {
		{ "http://h/a", "http://H:80/b", true },
		{ "http://h:9090/a", "http://h/b", false },
		{ "http://h:9090/", "https://h/", true },
		{ "https://h/", "http://h/", false },
		{ "https://h/", "https://h:8443/", false },
		{ "http://h/", "http://h.evil/", false },
		{ "http://[::1]:1/", "http://[::1]:1/x", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct httpurl_place from, to;

		assert_int_equal(httpurl_place(rows[i].from, &from, NULL), 0);
		assert_int_equal(httpurl_place(rows[i].to, &to, NULL), 0);
		if (httpurl_may_follow(&from, &to) != rows[i].may)
			fail_msg("%s to %s", rows[i].from, rows[i].to);
		httpurl_place_done(&from);
		httpurl_place_done(&to);
	}
}

/* HTTP_PROXY and NO_PROXY as in Go. The proxy is our own server, which reports the requests. */
static void proxies(void **state)
{
	struct world *w = *state;
	struct got by_proxy = { .w = NULL }, straight = { .w = NULL };
	struct webclient *web;

	setenv("HTTP_PROXY", w->plain_url, 1);
	setenv("NO_PROXY", "127.0.0.1", 1);
	web = webclient_new(w->f->loop, 3000);
	by_proxy.w = straight.w = web;
	get(&by_proxy, "http://", "some-name.invalid:8080/x", (struct how){ .timeout_ms = 0 });
	expect_body(w, &by_proxy, "host=some-name.invalid:8080");
	get(&straight, w->plain_url, "/y", (struct how){ .timeout_ms = 0 });
	expect_body(w, &straight, "GET /y");
	webclient_free(web);
	unsetenv("HTTP_PROXY");
	unsetenv("NO_PROXY");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(requests),
		IN_WORLD(headers),
		IN_WORLD(bodies_and_a_header),
		IN_WORLD(answers),
		IN_WORLD(a_redirect_that_repeats_the_credential),
		IN_WORLD(bodies_in_pieces),
		IN_WORLD(kept_bytes_are_limited),
		IN_WORLD(a_flood_is_read_in_turns),
		IN_WORLD(requests_are_reported),
		IN_WORLD(a_hung_server_uses_its_connections_only),
		IN_WORLD(a_hung_server_does_not_delay_others),
		IN_WORLD(many_requests_share_few_connections),
		IN_WORLD(trust),
		IN_WORLD(cancelled),
		IN_WORLD(freed_inside),
		IN_WORLD(proxies),
		cmocka_unit_test(credentials_across_redirects),
	};

	world_without_proxies();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
