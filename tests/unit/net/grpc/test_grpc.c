/* SPDX-License-Identifier: Apache-2.0 */
/* gRPC calls against a scripted server; the live tests use real ones. */
#include "../../fakes/h2server.h"
#include "../dns/nameserver.h"
#include "../fixture.h"

#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/descriptors.h"
#include "net/grpc/grpc.h"
#include "net/grpc/grpcendpoint.h"
#include "net/network.h"

#define METHOD  "/p.Service/Do"
#define RESULTS 40

static struct {
	struct fixture *f;
	struct h2server *server;
	struct grpc_pool *pool;
	struct grpcendpoint *endpoint;
	bool (*answer)(unsigned request, uint32_t stream, struct buf *out);
	struct buf heard; /* messages of requests, each followed by '|' */
} w;

static bool on_request(void *arg, unsigned request, uint32_t stream, const struct buf *message, struct buf *out)
{
	(void)arg;
	buf_printf(&w.heard, "%s|", buf_text(message));
	return w.answer(request, stream, out);
}

static int setup(void **state)
{
	char target[64];

	if (fixture_setup(state))
		return -1;
	w.f = *state;
	w.server = h2server_start(w.f->loop, on_request, NULL);
	w.pool = grpc_pool_new(w.f->loop);
	snprintf(target, sizeof(target), "127.0.0.1:%u", h2server_port(w.server));
	w.endpoint = grpcendpoint_new(&(struct grpcendpoint_config){ .target = target }, NULL);
	buf_init(&w.heard, 1 << 20);
	return 0;
}

static int teardown(void **state)
{
	grpc_pool_free(w.pool);
	endpoint_unref(w.endpoint);
	h2server_end(w.server);
	buf_done(&w.heard);
	return fixture_teardown(state);
}

/* The result of a call. */
struct result {
	struct grpc_call *call;
	int done, opened;
	const char *message; /* of a unary call: written when it starts */
	char text[512];      /* messages, in streams each followed by '|'; or the error */
	bool cancel;         /* at the first callback */
};

static void note(struct result *r, const void *bytes, size_t len, const char *end)
{
	snprintf(r->text + strlen(r->text), sizeof(r->text) - strlen(r->text), "%.*s%s", (int)len, (const char *)bytes,
		end);
}

static void on_answer(void *arg, const void *bytes, size_t len, const struct err *err)
{
	struct result *r = arg;

	r->done++;
	r->call = NULL;
	if (err)
		snprintf(r->text, sizeof(r->text), "! %s", err->msg);
	else
		note(r, bytes, len, "");
}

static void on_open(void *arg)
{
	((struct result *)arg)->opened++;
}

static void on_message(void *arg, const void *bytes, size_t len)
{
	struct result *r = arg;

	note(r, bytes, len, "|");
	if (r->cancel)
		grpc_cancel(r->call);
}

static void on_end(void *arg, const struct err *err)
{
	struct result *r = arg;

	r->done++;
	r->call = NULL;
	if (err)
		snprintf(r->text + strlen(r->text), sizeof(r->text) - strlen(r->text), "! %s", err->msg);
}

static const struct grpc_stream_events events = { .on_open = on_open, .on_message = on_message, .on_end = on_end };

static void put(void *arg, struct buf *message)
{
	const struct result *r = arg;

	assert_non_null(r->message);
	buf_puts(message, r->message);
}

static void ask_for(struct result *r, const char *namespace_, const char *message, int64_t within_ms)
{
	*r = (struct result){ .message = message };
	r->call = grpc_unary(w.pool, w.endpoint,
		&(struct grpc_request){ .method = METHOD,
			.namespace_ = namespace_,
			.put = put,
			.deadline_ms = loop_now_ms(w.f->loop) + within_ms,
			.fn = on_answer,
			.arg = r });
	assert_int_equal(r->done, 0);
}

static void ask(struct result *r, const char *message, int64_t within_ms)
{
	ask_for(r, "shop", message, within_ms);
}

static void listen_to(struct result *r)
{
	r->call = grpc_stream(w.pool, w.endpoint, METHOD, NULL, "s", 1, &events, r);
	assert_int_equal(r->done, 0);
}

static void expect(struct result *r, const char *text)
{
	UNTIL(w.f, r->done);
	if (strcmp(r->text, text) != 0)
		fail_msg("\"%s\", not \"%s\"", r->text, text);
	assert_int_equal(r->done, 1);
}

/* ---- Calls ---- */

static bool answer_well(unsigned request, uint32_t stream, struct buf *out)
{
	char text[16];

	snprintf(text, sizeof(text), "r%u", request);
	h2server_answer(out, stream, text, strlen(text));
	return true;
}

static void calls_share_one_connection(void **state)
{
	struct result r[RESULTS];
	size_t done = 0;

	(void)state;
	w.answer = answer_well;
	ask(&r[0], "hello", 5000);
	expect(&r[0], "r0");
	assert_string_equal(buf_text(&w.heard), "hello|");
	for (size_t i = 0; i < RESULTS; i++)
		ask(&r[i], "x", 5000);
	while (done < RESULTS) {
		loop_turn(w.f->loop);
		done = 0;
		for (size_t i = 0; i < RESULTS; i++)
			done += (size_t)r[i].done;
	}
	for (size_t i = 0; i < RESULTS; i++)
		assert_int_equal(r[i].text[0], 'r');
	assert_int_equal(h2server_connections(w.server), 1);
}

static void many_first_calls_open_one_connection(void **state)
{
	struct result r[RESULTS];

	(void)state;
	w.answer = answer_well;
	for (size_t i = 0; i < RESULTS; i++)
		ask(&r[i], "x", 5000);
	for (size_t i = 0; i < RESULTS; i++) {
		UNTIL(w.f, r[i].done);
		assert_int_equal(r[i].text[0], 'r');
	}
	assert_int_equal(h2server_connections(w.server), 1);
}

static void a_new_connection_follows_a_closed_one(void **state)
{
	struct result r;

	(void)state;
	w.answer = answer_well;
	for (int i = 0; i < 5; i++) {
		ask(&r, "x", 5000);
		UNTIL(w.f, r.done);
		assert_int_equal(r.text[0], 'r');
		h2server_close(w.server);
		if (i % 2)
			fixture_linger(w.f, 20);
	}
	assert_true(h2server_connections(w.server) >= 5);
}

static void a_call_is_repeated_after_goaway(void **state)
{
	static const unsigned char last_stream_1[8] = { 0, 0, 0, 1, 0, 0, 0, 0 };
	struct result r;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct buf out = BUF_INIT(64);

		w.answer = answer_well;
		ask(&r, "x", 5000);
		UNTIL(w.f, r.done);
		if (r.text[0] != 'r')
			fail_msg("call %u: %s", i, r.text);
		h2server_frame(&out, H2_GOAWAY, 0, 0, last_stream_1, sizeof(last_stream_1));
		h2server_send(w.server, &out);
		buf_done(&out);
		fixture_linger(w.f, i * 10); /* also before libcurl has read it */
	}
	assert_int_equal(h2server_connections(w.server), 3);
}

static bool open_only(unsigned request, uint32_t stream, struct buf *out);

static void a_full_connection_opens_another(void **state)
{
	struct result streams[3] = { 0 }, r;

	(void)state;
	h2server_limit_streams(w.server, 1);
	w.answer = open_only;
	for (size_t i = 0; i < 3; i++) {
		streams[i].call = grpc_stream(w.pool, w.endpoint, METHOD, NULL, "s", 1, &events, &streams[i]);
		UNTIL(w.f, streams[i].opened);
	}
	w.answer = answer_well;
	ask(&r, "x", 5000);
	UNTIL(w.f, r.done);
	assert_string_equal(r.text, "r3");
	assert_int_equal(h2server_connections(w.server), 4);
	for (size_t i = 0; i < 3; i++)
		grpc_cancel(streams[i].call);
}

/* ---- Answers that are none ---- */

static const unsigned char half_frame[] = { 0, 0, 10, H2_DATA, 0, 0, 0, 0, 1, 'x' };

static bool trailers_only(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_trailers_only(out, stream, "14", "no%20workers");
	return true;
}

static bool no_trailers(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_headers(out, stream);
	h2server_frame(out, H2_DATA, H2_END_STREAM, stream, "\0\0\0\0\1x", 6);
	return true;
}

static bool no_message(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_headers(out, stream);
	h2server_trailers(out, stream, "0", NULL);
	return true;
}

static bool two_messages(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_headers(out, stream);
	h2server_message(out, stream, "a", 1);
	h2server_message(out, stream, "b", 1);
	return true;
}

static bool half_message(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_headers(out, stream);
	h2server_frame(out, H2_DATA, 0, stream, "\0\0\0\0\11x", 6);
	h2server_trailers(out, stream, "0", NULL);
	return true;
}

static bool giant(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_headers(out, stream);
	h2server_frame(out, H2_DATA, 0, stream, "\0\x7f\xff\xff\xffx", 6);
	return true;
}

static bool compressed(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_headers(out, stream);
	h2server_frame(out, H2_DATA, 0, stream, "\1\0\0\0\1x", 6);
	return true;
}

static bool page(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_frame(out, H2_HEADERS, H2_END_HEADERS, stream, "\x88\0\14content-type\11text/html", 25);
	h2server_frame(out, H2_DATA, 0, stream, "<html>", 6);
	return true;
}

static bool unavailable_page(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_frame(out, H2_HEADERS, H2_END_HEADERS, stream, "\0\7:status\003503", 13);
	h2server_frame(out, H2_DATA, H2_END_STREAM, stream, "<html>", 6);
	return true;
}

static bool reset(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_frame(out, H2_RST_STREAM, 0, stream, "\0\0\0\2", 4);
	return true;
}

static bool close_in_frame(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	h2server_headers(out, stream);
	buf_append(out, half_frame, sizeof(half_frame));
	return false;
}

static bool say_nothing(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	(void)stream;
	(void)out;
	return true;
}

static void malformed_answers_are_errors(void **state)
{
	static const struct {
		bool (*answer)(unsigned request, uint32_t stream, struct buf *out);
		const char *said; /* its beginning */
	} rows[] = {
		{ trailers_only, "! Do: UNAVAILABLE: no workers" },
		{ no_trailers, "! Do: the answer ended without a grpc-status" },
		{ no_message, "! Do: the answer has no message" },
		{ two_messages, "! Do: the answer has more than one message" },
		{ half_message, "! Do: the answer ended in the middle of a message" },
		{ giant, "! Do: a message of 2147483647 bytes is larger than 4194304" },
		{ compressed, "! Do: a message is compressed, which was not offered" },
		{ page, "! Do: the answer is not gRPC: its content-type is \"text/html\"" },
		{ unavailable_page, "! Do: UNAVAILABLE: HTTP status 503" }, { reset, "! Do: " },
		{ close_in_frame, "! Do: " },
		{ say_nothing, "! Do: no complete answer within " }, /* the rest of 200 ms */
	};
	struct result r;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		w.answer = rows[i].answer;
		ask(&r, "x", rows[i].answer == say_nothing ? 200 : 5000);
		UNTIL(w.f, r.done);
		if (strncmp(r.text, rows[i].said, strlen(rows[i].said)) != 0)
			fail_msg("row %zu: \"%s\"", i, r.text);
		/* None of them affects the next call. */
		w.answer = answer_well;
		ask(&r, "x", 5000);
		UNTIL(w.f, r.done);
		if (r.text[0] != 'r')
			fail_msg("after row %zu: \"%s\"", i, r.text);
	}
}

static bool close_at_once(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	(void)stream;
	(void)out;
	return false;
}

/* Like a TLS port: the error has a hint until the server has answered once. */
static void a_server_that_closes_without_an_answer(void **state)
{
	struct result r;

	(void)state;
	w.answer = close_at_once;
	ask(&r, "x", 5000);
	UNTIL(w.f, r.done);
	if (strncmp(r.text, "! Do: ", 6) != 0 || !strstr(r.text, " (does the server want TLS?)"))
		fail_msg("%s", r.text);
	w.answer = answer_well;
	ask(&r, "x", 5000);
	UNTIL(w.f, r.done);
	w.answer = close_at_once;
	ask(&r, "x", 5000);
	UNTIL(w.f, r.done);
	if (strncmp(r.text, "! Do: ", 6) != 0 || strstr(r.text, "does the server"))
		fail_msg("%s", r.text);
}

static void connection_refused(void **state)
{
	struct result r[5];

	(void)state;
	h2server_end(w.server);
	for (size_t i = 0; i < 5; i++)
		ask(&r[i], "x", 5000);
	for (size_t i = 0; i < 5; i++)
		expect(&r[i], "! Do: Connection refused");
	w.server = h2server_start(w.f->loop, on_request, NULL); /* for the teardown */
}

/*
 * With three descriptors, of which two are needed to start and one for the connection; then with
 * none.
 */
static void without_descriptors_a_call_fails(void **state)
{
	struct shares *descriptors = &network_of(w.f->loop)->descriptors;
	struct descriptors_hold others = { .namespace_ = "b", .wants = 6 };
	struct result r[2] = { 0 };
	struct err err;

	(void)state;
	w.answer = answer_well;
	*descriptors = (struct shares){ .total = 16, .few = DESCRIPTORS_FEW };
	assert_int_equal(0, descriptors_take(descriptors, &others, &err));
	ask(&r[0], "x", 5000);
	expect(&r[0], "r0");
	assert_int_equal(6 + 3, descriptors->taken);
	grpc_pool_free(w.pool);
	w.pool = grpc_pool_new(w.f->loop);
	assert_int_equal(6, descriptors->taken);

	descriptors->total = 7;
	ask(&r[0], "x", 5000);
	listen_to(&r[1]);
	UNTIL(w.f, r[0].done && r[1].done);
	for (size_t i = 0; i < 2; i++)
		assert_non_null(strstr(r[i].text, "used up the share of connections to servers of triggers"));
	descriptors_give(&others, 0);
	ask(&r[0], "x", 5000);
	expect(&r[0], "r1");
}

/* While the server is down a single probe connection is tried for all calls, then they connect. */
static void calls_wait_for_a_lost_server(void **state)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(h2server_port(w.server)) };
	struct client first = { .fd = -1 }, second = { .fd = -1 };
	struct result r[3];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	(void)state;
	h2server_end(w.server);
	ask(&r[0], "x", 5000);
	expect(&r[0], "! Do: Connection refused");
	fixture_linger(w.f, 50);
	ask(&r[1], "x", 20000);
	expect(&r[1], "! Do: Connection refused"); /* detected after the call */
	ask(&r[2], "held", 20000);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	assert_int_equal(bind(fd, (const struct sockaddr *)&sin, sizeof(sin)), 0);
	assert_int_equal(listen(fd, 8), 0);
	UNTIL(w.f, client_accept(&first, fd));
	UNTIL(w.f, client_ended(&first));
	assert_int_equal(first.got.len, 0);
	UNTIL(w.f, client_accept(&second, fd));
	UNTIL(w.f, client_has(&second, "PRI * HTTP/2.0"));
	assert_false(r[2].done);
	grpc_cancel(r[2].call);
	client_close(&first);
	client_close(&second);
	close(fd);
	w.server = h2server_start(w.f->loop, on_request, NULL); /* for the teardown */
}

/* ---- Turns ---- */

static void calls_in_progress_are_limited(void **state)
{
	struct result r[150], other;

	(void)state;
	w.answer = say_nothing;
	for (size_t i = 0; i < 150; i++)
		ask(&r[i], "x", 20000);
	UNTIL(w.f, h2server_requests(w.server) >= 50);
	fixture_linger(w.f, 50);
	assert_int_equal(h2server_requests(w.server), 50);
	w.answer = answer_well;
	ask_for(&other, "other", "y", 5000);
	expect(&other, "r50");
	for (size_t i = 0; i < 3; i++)
		grpc_cancel(r[i].call);
	for (size_t i = 50; i < 53; i++)
		UNTIL(w.f, r[i].done); /* replace ended ones, and so on */
	for (size_t i = 3; i < 150; i++)
		if (!r[i].done)
			grpc_cancel(r[i].call);
	/* All turns are free again. */
	w.answer = say_nothing;
	for (size_t i = 0; i < 50; i++)
		ask(&r[i], i < 49 ? "x" : "last", 20000);
	UNTIL(w.f, strstr(buf_text(&w.heard), "|last|"));
	for (size_t i = 0; i < 50; i++)
		grpc_cancel(r[i].call);
}

static void waiting_for_a_turn_ends_at_the_deadline(void **state)
{
	struct result r[50], late, last;

	(void)state;
	w.answer = say_nothing;
	for (size_t i = 0; i < 50; i++)
		ask(&r[i], "x", 1000);
	UNTIL(w.f, h2server_requests(w.server) == 50);
	ask(&late, NULL, 200); /* its message is never written */
	ask(&last, "x", 1500);
	UNTIL(w.f, late.done);
	if (strncmp(late.text, "! Do: its turn did not come within 2", 36) != 0 ||
		!strstr(late.text, "a namespace has at most 100 calls"))
		fail_msg("\"%s\"", late.text);
	UNTIL(w.f, last.done);
	if (strncmp(last.text, "! Do: it had waited ", 20) != 0 || !strstr(last.text, "no complete answer within "))
		fail_msg("\"%s\"", last.text);
	for (size_t i = 0; i < 50; i++)
		assert_int_equal(r[i].done, 1);
}

static size_t open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void outages_leak_nothing(void **state)
{
	struct result r;
	size_t before = 0;

	(void)state;
	for (int i = 0; i < 300; i++) {
		w.answer = i % 2 ? close_in_frame : reset;
		ask(&r, "x", 5000);
		UNTIL(w.f, r.done);
		if (i == 9)
			before = open_files();
	}
	assert_in_range(open_files(), before - 5, before + 5);
}

/* ---- Streams ---- */

static uint32_t open_stream;

static bool open_only(unsigned request, uint32_t stream, struct buf *out)
{
	(void)request;
	open_stream = stream;
	h2server_headers(out, stream);
	return true;
}

static void send_message(const char *text)
{
	struct buf out = BUF_INIT(1024);

	h2server_message(&out, open_stream, text, strlen(text));
	h2server_send(w.server, &out);
	buf_done(&out);
}

static void send_end(const char *code)
{
	struct buf out = BUF_INIT(1024);

	h2server_trailers(&out, open_stream, code, NULL);
	h2server_send(w.server, &out);
	buf_done(&out);
}

static void streams_deliver_messages_until_they_end(void **state)
{
	struct result r = { 0 };

	(void)state;
	w.answer = open_only;
	listen_to(&r);
	UNTIL(w.f, r.opened);
	send_message("one");
	send_message("two");
	UNTIL(w.f, strcmp(r.text, "one|two|") == 0);
	assert_int_equal(r.done, 0);
	send_message("three");
	send_end("0");
	expect(&r, "one|two|three|");
	r = (struct result){ 0 };
	listen_to(&r);
	UNTIL(w.f, r.opened);
	send_end("8");
	expect(&r, "! Do: RESOURCE_EXHAUSTED");
	r = (struct result){ 0 };
	listen_to(&r);
	UNTIL(w.f, r.opened);
	h2server_close(w.server);
	UNTIL(w.f, r.done);
	assert_int_equal(strncmp(r.text, "! Do: ", 6), 0);
}

static void calls_during_a_stream(void **state)
{
	struct result stream = { 0 }, r;

	(void)state;
	w.answer = open_only;
	listen_to(&stream);
	UNTIL(w.f, stream.opened);
	w.answer = answer_well;
	ask(&r, "x", 5000);
	expect(&r, "r1");
	assert_int_equal(h2server_connections(w.server), 1);
	grpc_cancel(stream.call);
}

static void cancelled_calls_have_no_callback(void **state)
{
	struct result r = { .cancel = true }, unary;

	(void)state;
	w.answer = open_only;
	listen_to(&r);
	UNTIL(w.f, r.opened);
	send_message("one");
	send_message("two");
	UNTIL(w.f, r.text[0]);
	fixture_linger(w.f, 50);
	assert_string_equal(r.text, "one|");
	assert_int_equal(r.done, 0);
	w.answer = answer_well;
	ask(&unary, "x", 5000);
	grpc_cancel(unary.call);
	fixture_linger(w.f, 50);
	assert_int_equal(unary.done, 0);
	grpc_cancel(NULL);
}

static void a_pool_may_be_freed_with_calls_in_progress(void **state)
{
	struct result r = { 0 }, unary;

	(void)state;
	w.answer = say_nothing;
	listen_to(&r);
	ask(&unary, "x", 5000);
	fixture_linger(w.f, 20);
	grpc_pool_free(w.pool);
	w.pool = grpc_pool_new(w.f->loop);
	fixture_linger(w.f, 20);
	assert_int_equal(r.done + unary.done, 0);
}

/* ---- Names ---- */

static void on_question(void *arg, const char *name, unsigned type, struct nameserver_reply *reply)
{
	assert_string_equal(name, "scaler.test");
	if (type == NAMESERVER_A)
		nameserver_put_address(reply, 0, arg);
}

static void wait_with(struct nameserver *names, struct result *r)
{
	while (!r->done) {
		nameserver_serve(names);
		fixture_linger(w.f, 1);
	}
}

/* libcurl would cache the address for a minute, and resolve in a thread. */
static void a_moved_server_is_found(void **state)
{
	unsigned char address[4] = { 127, 0, 0, 2 };
	MEM_AUTO char *target = mem_printf("scaler.test:%u", h2server_port(w.server));
	struct nameserver names;
	struct result r = { 0 };

	(void)state;
	nameserver_start(&names, w.f, on_question, address);
	endpoint_unref(w.endpoint);
	w.endpoint = grpcendpoint_new(&(struct grpcendpoint_config){ .target = target }, NULL);
	w.answer = answer_well;
	ask(&r, "one", 5000);
	wait_with(&names, &r);
	assert_non_null(strstr(r.text, "Connection refused"));
	address[3] = 1;
	ask(&r, "two", 5000);
	wait_with(&names, &r);
	assert_string_equal(r.text, "r0");
	grpc_pool_free(w.pool);
	w.pool = grpc_pool_new(w.f->loop);
	nameserver_stop(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_share_one_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(many_first_calls_open_one_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_connection_follows_a_closed_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_is_repeated_after_goaway, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_connection_opens_another, setup, teardown),
		cmocka_unit_test_setup_teardown(a_moved_server_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(a_server_that_closes_without_an_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed_answers_are_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(outages_leak_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(without_descriptors_a_call_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_wait_for_a_lost_server, setup, teardown),
		cmocka_unit_test_setup_teardown(connection_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_in_progress_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(waiting_for_a_turn_ends_at_the_deadline, setup, teardown),
		cmocka_unit_test_setup_teardown(streams_deliver_messages_until_they_end, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_during_a_stream, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelled_calls_have_no_callback, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pool_may_be_freed_with_calls_in_progress, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
