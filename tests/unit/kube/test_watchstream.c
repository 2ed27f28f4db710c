/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/counters.h"
#include "base/mem.h"
#include "fakeapi.h"
#include "kube/client.h"
#include "kube/watchstream.h"

struct fixture {
	struct loop *loop;
	struct fakeapi *api;
	struct kube_config config;
	struct kube *kube;
};

static int set_up(void **state)
{
	struct fixture *f = mem_zalloc(sizeof *f);

	f->loop = loop_new(NULL);
	f->api = fakeapi_new(f->loop);
	f->config = fakeapi_config(f->api, "t");
	f->kube = kube_new(f->loop, &f->config, NULL, NULL);
	assert_non_null(f->kube);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	kube_free(f->kube);
	fakeapi_free(f->api);
	loop_free(f->loop);
	kube_config_done(&f->config);
	free(f);
	return 0;
}

struct outcome {
	struct watchstream *stream;
	bool answered, done;
	int status; /* 0: err */
	struct err err;
	size_t bytes;
	struct outcome *cancels; /* when its callback comes */
};

static void on_status(void *arg, int status)
{
	struct outcome *o = arg;

	o->answered = true;
	o->status = status;
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	struct outcome *o = arg;

	(void)bytes;
	o->bytes += len;
	return true;
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct outcome *o = arg;

	assert_false(o->done);
	o->done = true;
	o->status = response ? response->status : 0;
	if (err)
		o->err = *err;
	if (o->cancels)
		watchstream_cancel(o->cancels->stream);
	watchstream_cancel(o->stream); /* over: nothing */
}

static const struct httpc_events events = { .on_status = on_status, .on_data = on_data, .on_done = on_done };

static void start(struct fixture *f, struct outcome *o, int64_t silence_ms)
{
	o->stream = watchstream_start(kube_watchstreams(f->kube), "/w?x=y", silence_ms, &events, o);
	assert_false(o->done);
}

/*
 * Streams that start together do not each dial: one goes ahead, and when it is answered the others
 * follow.
 */
static void one_goes_ahead(void **state)
{
	struct fixture *f = *state;
	struct outcome o[5] = { 0 };
	struct fakeapi_request *r[5];

	for (int i = 0; i < 5; i++)
		start(f, &o[i], 0);
	r[0] = fakeapi_expect(f->api, "GET /w?x=y");
	assert_string_equal(r[0]->authorization, "Bearer t");
	fakeapi_turn_for(f->api, 50);
	assert_int_equal(fakeapi_waiting(f->api), 0);
	fakeapi_stream_start(r[0]);
	for (int i = 1; i < 5; i++)
		r[i] = fakeapi_next(f->api);
	for (int i = 1; i < 5; i++)
		fakeapi_stream_start(r[i]);
	for (int i = 0; i < 5; i++)
		fakeapi_turn_until(f->api, &o[i].answered);
	fakeapi_stream_send(r[3], "hello");
	fakeapi_stream_end(r[3]);
	while (!o[1].done && !o[2].done && !o[3].done && !o[4].done)
		loop_turn(f->loop);
	assert_int_equal(o[1].bytes + o[2].bytes + o[3].bytes + o[4].bytes, 5);
}

/* A refusal is an answer: the way there is open. */
static void a_refusal_opens_the_way(void **state)
{
	struct fixture *f = *state;
	struct outcome o[2] = { 0 };

	start(f, &o[0], 0);
	start(f, &o[1], 0);
	fakeapi_reply(fakeapi_next(f->api), 403, "{}");
	fakeapi_reply(fakeapi_next(f->api), 403, "{}");
	fakeapi_turn_until(f->api, &o[0].done);
	fakeapi_turn_until(f->api, &o[1].done);
	assert_int_equal(o[0].status, 403);
	assert_int_equal(o[1].status, 403);
}

/*
 * When the one ahead finds no way, the others fail with it, at once; one of them may be cancelled
 * meanwhile.
 */
static void those_behind_fail_with_it(void **state)
{
	struct fixture *f = *state;
	struct outcome o[4] = { 0 };

	o[0].cancels = &o[1];
	o[2].cancels = &o[3];
	for (int i = 0; i < 4; i++)
		start(f, &o[i], 0);
	fakeapi_cut(fakeapi_next(f->api));
	fakeapi_turn_until(f->api, &o[0].done);
	fakeapi_turn_until(f->api, &o[2].done);
	fakeapi_turn_for(f->api, 20);
	assert_false(o[1].done || o[3].done);
	assert_int_equal(o[2].err.kind, ERR_TEMPORARY);
	assert_string_equal(o[2].err.msg, o[0].err.msg);
	assert_int_equal(fakeapi_waiting(f->api), 0);
}

static void the_next_goes_when_the_first_is_cancelled(void **state)
{
	struct fixture *f = *state;
	struct outcome o[3] = { 0 };

	for (int i = 0; i < 3; i++)
		start(f, &o[i], 0);
	fakeapi_next(f->api);
	watchstream_cancel(o[0].stream);
	fakeapi_stream_start(fakeapi_next(f->api));
	fakeapi_turn_until(f->api, &o[1].answered);
	fakeapi_next(f->api);
	assert_false(o[0].done || o[1].done || o[2].done);
}

/* A link takes so many streams, then there is another. */
static void links_are_made_as_needed(void **state)
{
	struct fixture *f = *state;
	static struct outcome o[WATCHSTREAM_LINK_MAX + 2];

	memset(o, 0, sizeof o);
	for (int i = 0; i < WATCHSTREAM_LINK_MAX + 2; i++)
		start(f, &o[i], 0);
	fakeapi_next(f->api);
	fakeapi_next(f->api);
	fakeapi_turn_for(f->api, 50);
	assert_int_equal(fakeapi_waiting(f->api), 0);
}

static void silence_is_a_failure(void **state)
{
	struct fixture *f = *state;
	struct outcome quiet = { .done = false }, next = { .done = false };

	start(f, &quiet, 1000);
	fakeapi_stream_start(fakeapi_next(f->api));
	fakeapi_turn_until(f->api, &quiet.answered);
	fakeapi_turn_until(f->api, &quiet.done);
	assert_int_equal(quiet.err.kind, ERR_TEMPORARY);
	start(f, &next, 0);
	fakeapi_reply(fakeapi_next(f->api), 200, "{}");
	fakeapi_turn_until(f->api, &next.done);
	assert_int_equal(next.bytes, 2);
}

static void on_call(void *arg, const json_t *object, const struct err *err)
{
	(void)object;
	assert_non_null(err);
	*(bool *)arg = true;
}

/* A call has no answer. With HTTP/1.1 no test of a silent stream is possible. */
static void silent_streams_restart_when_a_call_has_no_answer(void **state)
{
	struct fixture *f = *state;
	struct outcome silent = { .done = false }, heard = { .done = false };
	struct kube_request request = { .verb = KUBE_UPDATE, .path = "/unanswered", .body = "{}", .deadline_ms = 400 };
	struct fakeapi_request *r[2];
	bool over = false;

	start(f, &silent, 0);
	r[0] = fakeapi_next(f->api);
	fakeapi_stream_start(r[0]);
	fakeapi_turn_until(f->api, &silent.answered);
	start(f, &heard, 0);
	r[1] = fakeapi_next(f->api);
	fakeapi_stream_start(r[1]);
	fakeapi_turn_until(f->api, &heard.answered);
	fakeapi_turn_for(f->api, 5);
	kube_call(f->kube, &request, on_call, &over);
	fakeapi_expect(f->api, "PUT /unanswered");
	fakeapi_turn_for(f->api, 5);
	fakeapi_stream_send(r[1], "x");
	fakeapi_turn_until(f->api, &over);
	fakeapi_turn_until(f->api, &silent.done);
	assert_int_equal(silent.err.kind, ERR_TEMPORARY);
	assert_false(heard.done);
	fakeapi_stream_send(r[1], "y");
	while (heard.bytes < 2)
		fakeapi_turn_for(f->api, 5);
}

static void a_reset_lets_live_streams_go_on(void **state)
{
	struct fixture *f = *state;
	struct outcome old = { .done = false }, behind = { .done = false }, ahead = { .done = false };
	struct fakeapi_request *first;

	start(f, &old, 0);
	first = fakeapi_next(f->api);
	fakeapi_stream_start(first);
	fakeapi_turn_until(f->api, &old.answered);
	watchstream_reset_links(kube_watchstreams(f->kube));
	start(f, &ahead, 0); /* there is no known way again */
	start(f, &behind, 0);
	fakeapi_cut(fakeapi_next(f->api));
	fakeapi_turn_until(f->api, &ahead.done);
	fakeapi_turn_until(f->api, &behind.done);
	assert_false(old.done);
	fakeapi_stream_send(first, "x");
	fakeapi_stream_end(first);
	fakeapi_turn_until(f->api, &old.done);
	assert_int_equal(old.bytes, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(one_goes_ahead),
		TEST(a_refusal_opens_the_way),
		TEST(those_behind_fail_with_it),
		TEST(silent_streams_restart_when_a_call_has_no_answer),
		TEST(the_next_goes_when_the_first_is_cancelled),
		TEST(links_are_made_as_needed),
		TEST(silence_is_a_failure),
		TEST(a_reset_lets_live_streams_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
