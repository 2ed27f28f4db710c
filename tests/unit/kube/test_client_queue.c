/* SPDX-License-Identifier: Apache-2.0 */
/* Queued calls: whose turn it is, cancelled calls, and writes that are no longer allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "client_fixture.h"

/* ---- The queue ---- */

#define MANY 120 /* more than one connection carries */

/* More calls than go out at once: the rest waits, by priority, and one is sent for each answer. */
static void calls_wait_by_priority(void **state)
{
	struct client_fixture *f = *state;
	struct outcome normal[MANY] = { 0 }, background[12] = { 0 }, urgent[2] = { 0 };
	struct fakeapi_request *r;
	int full;

	for (int i = 0; i < 12; i++)
		client_start(f, &background[i],
			(struct kube_request){ .verb = KUBE_CREATE,
				.path = "/background",
				.priority = KUBE_BACKGROUND });
	for (int i = 0; i < MANY; i++)
		client_start(f, &normal[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/normal", .priority = KUBE_NORMAL });
	full = (int)client_gauge(f, "kscaled_kube_requests_in_flight");
	assert_in_range(full, 20, 98);
	for (int i = 0; i < 2; i++)
		client_start(f, &urgent[i],
			(struct kube_request){ .verb = KUBE_UPDATE, .path = "/urgent", .priority = KUBE_URGENT });
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), full + 2);
	for (int came = 0; came < full + 2; came++) {
		r = fakeapi_next(f->api);
		if (strcmp(r->uri, "/urgent") == 0)
			fakeapi_reply(r, 200, "");
	}
	/* Two urgent ones are answered: nothing more is sent, since they had their own places. */
	client_wait(f, &urgent[0]);
	client_wait(f, &urgent[1]);
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), full);
	for (int i = 0; i < 12; i++)
		assert_false(background[i].done);

	/*
	 * A call that ends makes room for a normal one, though background ones have waited longer.
	 */
	kube_cancel(background[0].call);
	r = fakeapi_expect(f->api, "GET /normal");
	for (int i = 1; i < 12; i++)
		kube_cancel(background[i].call);
	for (int i = 0; i < MANY; i++)
		kube_cancel(normal[i].call);
	assert_true(client_gauge(f, "kscaled_kube_requests_in_flight") == 0);
	for (int i = 0; i < MANY; i++)
		assert_false(normal[i].done);
}

/*
 * Each lower class has one place of its own when all are taken, no more; for free places, statuses
 * go before Events and after the rest.
 */
static void no_class_starves(void **state)
{
	struct client_fixture *f = *state;
	struct outcome normal[MANY] = { 0 }, status[20] = { 0 }, background[2] = { 0 };
	int seen_status = 0, seen_background = 0, full;

	for (int i = 0; i < MANY; i++)
		client_start(f, &normal[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/normal", .priority = KUBE_NORMAL });
	full = (int)client_gauge(f, "kscaled_kube_requests_in_flight");
	for (int i = 0; i < 2; i++)
		client_start(f, &background[i],
			(struct kube_request){ .verb = KUBE_CREATE,
				.path = "/background",
				.body = "{}",
				.priority = KUBE_BACKGROUND });
	for (int i = 0; i < 20; i++)
		client_start(f, &status[i],
			(struct kube_request){ .verb = KUBE_MERGE_PATCH,
				.path = "/status",
				.body = "{}",
				.priority = KUBE_STATUS });
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), full + 2);
	for (int came = 0; came < full + 2; came++) {
		const struct fakeapi_request *r = fakeapi_next(f->api);

		seen_status += strcmp(r->uri, "/status") == 0;
		seen_background += strcmp(r->uri, "/background") == 0;
	}
	assert_int_equal(seen_status, 1);
	assert_int_equal(seen_background, 1);
	for (int i = 0; i < MANY; i++)
		kube_cancel(normal[i].call);
	/* The rest has room: statuses at most half of the places. */
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), 16 + 2);
	kube_abort_writes(f->kube);
	for (int i = 0; i < 20; i++) {
		client_wait(f, &status[i]);
		assert_int_equal(status[i].err.kind, ERR_TEMPORARY);
	}
	for (int i = 0; i < 2; i++)
		client_wait(f, &background[i]);
}

/* However many writes of /scale are under way, a read waits for none of them; statuses do. */
static void reads_go_beside_writes_of_scale(void **state)
{
	struct client_fixture *f = *state;
	struct outcome scale[MANY] = { 0 }, read[3] = { 0 }, status[3] = { 0 };
	int full;

	for (int i = 0; i < MANY; i++)
		client_start(f, &scale[i],
			(struct kube_request){ .verb = KUBE_MERGE_PATCH,
				.path = "/scale",
				.body = "{}",
				.priority = KUBE_SCALE });
	full = (int)client_gauge(f, "kscaled_kube_requests_in_flight");
	assert_in_range(full, 50, 60);
	for (int i = 0; i < 3; i++)
		client_start(f, &status[i],
			(struct kube_request){ .verb = KUBE_MERGE_PATCH,
				.path = "/status",
				.body = "{}",
				.priority = KUBE_STATUS });
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), full + 1);
	for (int i = 0; i < 3; i++)
		client_start(f, &read[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/normal", .priority = KUBE_NORMAL });
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), full + 4);
	for (int i = 0; i < MANY; i++)
		kube_cancel(scale[i].call);
	for (int i = 0; i < 3; i++) {
		kube_cancel(status[i].call);
		kube_cancel(read[i].call);
	}
}

/*
 * Calls of third parties: a few at a time, only while there is little else, and in no one's place.
 */
static void strangers_wait_aside(void **state)
{
	struct client_fixture *f = *state;
	struct outcome aside[MANY] = { 0 }, normal[MANY] = { 0 }, urgent = { 0 }, status = { 0 };
	struct fakeapi_request *r = NULL;
	int full;

	for (int i = 0; i < MANY; i++)
		client_start(f, &aside[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/aside", .priority = KUBE_ASIDE });
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), 4);
	/* However many wait, each other class has all its places, and goes at once. */
	for (int i = 0; i < MANY; i++)
		client_start(f, &normal[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/normal", .priority = KUBE_NORMAL });
	full = (int)client_gauge(f, "kscaled_kube_requests_in_flight");
	assert_int_equal(full, 4 + 32);
	client_start(f, &urgent,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/urgent", .priority = KUBE_URGENT });
	client_start(f, &status,
		(struct kube_request){ .verb = KUBE_MERGE_PATCH,
			.path = "/status",
			.body = "{}",
			.priority = KUBE_STATUS });
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), full + 2);
	/* Theirs that end are followed by none while there is more to do. */
	for (int i = 0; i < 4; i++)
		kube_cancel(aside[i].call);
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), 32 + 2);
	for (int i = MANY - 1; i >= 14; i--)
		kube_cancel(normal[i].call);
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), 14 + 2);
	kube_cancel(normal[13].call);
	assert_int_equal((int)client_gauge(f, "kscaled_kube_requests_in_flight"), 13 + 2 + 4);
	do
		r = fakeapi_next(f->api);
	while (strcmp(r->uri, "/urgent") != 0);
	fakeapi_reply(r, 200, "{}");
	client_wait(f, &urgent);
	free(urgent.object);
	for (int i = 0; i < 13; i++)
		kube_cancel(normal[i].call);
	for (int i = 4; i < MANY; i++)
		kube_cancel(aside[i].call);
	kube_cancel(status.call);
}

static void a_queued_call_has_its_deadline(void **state)
{
	struct client_fixture *f = *state;
	struct outcome normal[MANY] = { 0 }, late = { .done = false };

	for (int i = 0; i < MANY; i++)
		client_start(f, &normal[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/normal", .priority = KUBE_NORMAL });
	client_start(f, &late,
		(struct kube_request){ .verb = KUBE_GET, .path = "/late", .priority = KUBE_NORMAL, .deadline_ms = 50 });
	client_wait(f, &late);
	assert_int_equal(late.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(late.err.msg, "/late"));
	for (int i = 0; i < MANY; i++)
		kube_cancel(normal[i].call);
}

/* ---- Cancelling ---- */

struct canceller {
	struct outcome own, other;
	struct client_fixture *f;
};

static void cancel_the_other(void *arg, const json_t *object, const struct err *err)
{
	struct canceller *c = arg;

	client_on_outcome(&c->own, object, err);
	kube_cancel(c->other.call);
	kube_cancel(c->own.call); /* over already: nothing */
}

static void cancel_inside_a_callback(void **state)
{
	struct client_fixture *f = *state;
	struct canceller c = { .f = f };
	struct kube_request request = { .verb = KUBE_GET, .path = "/own" };
	struct fakeapi_request *own, *other;

	c.own.call = kube_call(f->kube, &request, cancel_the_other, &c);
	own = fakeapi_next(f->api);
	client_start(f, &c.other, (struct kube_request){ .verb = KUBE_GET, .path = "/other" });
	other = fakeapi_next(f->api);
	fakeapi_reply(own, 200, "{}");
	client_wait(f, &c.own);
	if (other->req)
		fakeapi_reply(other, 200, "{}");
	fakeapi_turn_for(f->api, 50);
	assert_false(c.other.done);
	kube_cancel(NULL);
	free(c.own.object);
}

static void cancel_at_once(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o = { .done = false };

	client_start(f, &o, (struct kube_request){ .verb = KUBE_GET, .path = "/a" });
	kube_cancel(o.call);
	fakeapi_turn_for(f->api, 50);
	assert_false(o.done);
}

static void free_cancels_everything(void **state)
{
	struct client_fixture *f = *state;
	struct outcome o[70] = { 0 };

	for (int i = 0; i < 70; i++)
		client_start(f, &o[i], (struct kube_request){ .verb = KUBE_GET, .path = "/a" });
	fakeapi_next(f->api);
	kube_free(f->kube);
	f->kube = NULL;
	fakeapi_turn_for(f->api, 50);
	for (int i = 0; i < 70; i++)
		assert_false(o[i].done);
}

static int freed;

static void on_free(void *arg)
{
	(void)arg;
	freed++;
}

static void owned_arguments_are_freed_once(void **state)
{
	struct client_fixture *f = *state;
	struct outcome answered = { .done = false }, cancelled = { .done = false };
	struct kube_request request = { .verb = KUBE_GET, .path = "/a" };

	freed = 0;
	kube_call_owning(f->kube, &request, client_on_outcome, &answered, on_free);
	kube_cancel(kube_call_owning(f->kube, &request, client_on_outcome, &cancelled, on_free));
	fakeapi_reply(fakeapi_next(f->api), 200, "{}");
	client_wait(f, &answered);
	fakeapi_turn_for(f->api, 1);
	assert_int_equal(freed, 2);
	assert_false(cancelled.done);
	free(answered.object);
}

/* ---- Writes and the Lease ---- */

static void abort_takes_writes_only(void **state)
{
	struct client_fixture *f = *state;
	struct outcome get = { .done = false }, review = { .done = false }, put = { .done = false },
		       waiting = { .done = false }, lease = { .done = false };
	struct fakeapi_request *requests[5];

	client_start(f, &get, (struct kube_request){ .verb = KUBE_GET, .path = "/get", .priority = KUBE_NORMAL });
	requests[0] = fakeapi_expect(f->api, "GET /get");
	client_start(f, &review,
		(struct kube_request){ .verb = KUBE_REVIEW, .path = "/review", .body = "{}", .priority = KUBE_NORMAL });
	requests[1] = fakeapi_expect(f->api, "POST /review");
	client_start(f, &put,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/put", .body = "{}", .priority = KUBE_NORMAL });
	requests[2] = fakeapi_expect(f->api, "PUT /put");
	client_start(f, &lease,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/lease", .body = "{}", .priority = KUBE_URGENT });
	requests[3] = fakeapi_expect(f->api, "PUT /lease");
	client_start(f, &waiting,
		(struct kube_request){ .verb = KUBE_CREATE,
			.path = "/waiting",
			.body = "{}",
			.priority = KUBE_BACKGROUND });
	requests[4] = fakeapi_expect(f->api, "POST /waiting");
	fakeapi_reply_retry_after(requests[4], 429, "{}", "5");
	fakeapi_turn_for(f->api, 50);

	kube_abort_writes(f->kube);
	assert_false(put.done); /* callbacks come from the loop */
	client_wait(f, &put);
	client_wait(f, &waiting);
	assert_int_equal(put.err.kind, ERR_TEMPORARY);
	assert_int_equal(waiting.err.kind, ERR_TEMPORARY);
	assert_false(get.done || review.done || lease.done);
	fakeapi_reply(requests[0], 200, "{}");
	fakeapi_reply(requests[1], 200, "{}");
	fakeapi_reply(requests[3], 200, "{}");
	client_wait(f, &get);
	client_wait(f, &review);
	client_wait(f, &lease);
	assert_false(get.failed || review.failed || lease.failed);
	free(get.object);
	free(review.object);
	free(lease.object);
}

static void abort_reaches_the_queue(void **state)
{
	struct client_fixture *f = *state;
	struct outcome reads[MANY] = { 0 }, writes[10] = { 0 };

	for (int i = 0; i < MANY; i++)
		client_start(f, &reads[i],
			(struct kube_request){ .verb = KUBE_GET, .path = "/read", .priority = KUBE_NORMAL });
	for (int i = 0; i < 10; i++)
		client_start(f, &writes[i],
			(struct kube_request){ .verb = KUBE_MERGE_PATCH,
				.path = "/write",
				.body = "{}",
				.priority = KUBE_NORMAL });
	kube_abort_writes(f->kube);
	kube_cancel(writes[3].call); /* between the abort and its callback */
	for (int i = 0; i < 10; i++) {
		if (i == 3)
			continue;
		client_wait(f, &writes[i]);
		assert_int_equal(writes[i].err.kind, ERR_TEMPORARY);
	}
	assert_false(writes[3].done);
	for (int i = 0; i < MANY; i++)
		kube_cancel(reads[i].call);
}

static void writes_end_before_the_limit(void **state)
{
	struct client_fixture *f = *state;
	struct outcome write = { .done = false }, read = { .done = false }, lease = { .done = false },
		       late = { .done = false }, again = { .done = false };
	struct fakeapi_request *r[3];

	kube_set_write_limit(f->kube, loop_now_ms(f->loop) + 1000);
	client_start(f, &write,
		(struct kube_request){ .verb = KUBE_UPDATE,
			.path = "/write?fieldManager=kscaled",
			.body = "{}",
			.priority = KUBE_NORMAL });
	r[0] = fakeapi_expect(f->api, "PUT /write?fieldManager=kscaled");
	assert_in_range(r[0]->timeout_ms, 1, 1000); /* for the server, too */
	client_start(f, &read, (struct kube_request){ .verb = KUBE_GET, .path = "/read", .priority = KUBE_NORMAL });
	r[1] = fakeapi_expect(f->api, "GET /read");
	assert_int_equal(r[1]->timeout_ms, 0);
	client_start(f, &lease,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/lease", .body = "{}", .priority = KUBE_URGENT });
	r[2] = fakeapi_expect(f->api, "PUT /lease");
	client_wait(f, &write);
	assert_int_equal(write.err.kind, ERR_TEMPORARY);
	assert_false(read.done || lease.done);
	fakeapi_turn_for(f->api, 50);

	/* Past the limit nothing is sent at all. */
	client_start(f, &late,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/late", .body = "{}", .priority = KUBE_NORMAL });
	client_wait(f, &late);
	assert_int_equal(late.err.kind, ERR_TEMPORARY);
	assert_int_equal(fakeapi_waiting(f->api), 0);
	kube_set_write_limit(f->kube, 0);
	client_start(f, &again,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/again", .body = "{}", .priority = KUBE_NORMAL });
	fakeapi_reply(fakeapi_expect(f->api, "PUT /again"), 200, "");
	client_wait(f, &again);
	assert_false(again.failed);
	fakeapi_reply(r[1], 200, "");
	fakeapi_reply(r[2], 200, "");
	client_wait(f, &read);
	client_wait(f, &lease);
}

/*
 * A process that was stopped in the middle of a turn: neither calls given to libcurl nor queued
 * ones are sent when it continues.
 */
static void after_a_stop_nothing_is_sent_late(void **state)
{
	struct client_fixture *f = *state;
	struct outcome reads[MANY] = { 0 }, writes[MANY] = { 0 }, lease = { .done = false };

	/* There is a connection, on which they could go at once. */
	client_start(f, &lease,
		(struct kube_request){ .verb = KUBE_UPDATE, .path = "/lease", .body = "{}", .priority = KUBE_URGENT });
	fakeapi_reply(fakeapi_expect(f->api, "PUT /lease"), 200, "");
	client_wait(f, &lease);

	kube_set_write_limit(f->kube, loop_now_ms(f->loop) + 50);
	for (int i = 0; i < MANY; i++)
		client_start(f, &writes[i],
			(struct kube_request){ .verb = KUBE_CREATE,
				.path = "/write",
				.body = "{}",
				.priority = KUBE_NORMAL });
	usleep(60 * 1000);
	for (int i = 0; i < MANY; i++) {
		client_wait(f, &writes[i]);
		assert_int_equal(writes[i].err.kind, ERR_TEMPORARY);
	}
	client_start(f, &reads[0], (struct kube_request){ .verb = KUBE_GET, .path = "/read", .priority = KUBE_NORMAL });
	fakeapi_reply(fakeapi_expect(f->api, "GET /read"), 200, ""); /* no write came before it */
	client_wait(f, &reads[0]);
	assert_int_equal(fakeapi_waiting(f->api), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, client_setup, client_teardown)
	const struct CMUnitTest tests[] = {
		TEST(calls_wait_by_priority),
		TEST(no_class_starves),
		TEST(reads_go_beside_writes_of_scale),
		TEST(strangers_wait_aside),
		TEST(a_queued_call_has_its_deadline),
		TEST(cancel_inside_a_callback),
		TEST(cancel_at_once),
		TEST(free_cancels_everything),
		TEST(owned_arguments_are_freed_once),
		TEST(abort_takes_writes_only),
		TEST(abort_reaches_the_queue),
		TEST(writes_end_before_the_limit),
		TEST(after_a_stop_nothing_is_sent_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
