/* SPDX-License-Identifier: Apache-2.0 */

/* The pool with a protocol whose connections do what the test says, on a clock of the test's. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fakes/fakeloop.h"
#include "base/mem.h"
#include "net/dial.h"
#include "net/pool.h"

#define CONNECTIONS_MAX 64

struct connection {
	struct pool_slot *slot; /* NULL once closed */
	const char *query;
};

struct call {
	struct pool_call base;
	struct outcome *outcome;
	bool partial; /* something of an answer has come: not asked again */
};

struct outcome {
	int times;
	bool answered;
	struct err err;
	struct call *cancels; /* when it is told */
	bool frees;           /* the pool, when it is told */
};

static struct {
	struct loop *loop;
	struct pool *pool;
	struct endpoint *endpoint;
	struct connection connections[CONNECTIONS_MAX];
	size_t opened, done;
	bool refuses_to_send;
	char order[64]; /* queries as they were sent */
} w;

static void *open_connection(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first)
{
	struct connection *c = &w.connections[w.opened++];

	assert_true(w.opened < CONNECTIONS_MAX);
	assert_ptr_equal(e, w.endpoint);
	assert_non_null(first);
	assert_ptr_equal(pool_slot_arg(slot), &w);
	assert_ptr_equal(pool_slot_loop(slot), w.loop);
	c->slot = slot;
	return c;
}

static const char *opening(const void *connection)
{
	return connection ? "saying hello" : "nothing is opened";
}

static int send_query(void *connection, struct pool_call *call, struct err *err)
{
	struct connection *c = connection;

	c->query = call->query;
	if (w.refuses_to_send)
		return err_set(err, ERR_TEMPORARY, "cannot send");
	strncat(w.order, call->query, sizeof(w.order) - strlen(w.order) - 1);
	return 0;
}

static void close_connection(void *connection)
{
	struct connection *c = connection;

	assert_non_null(c->slot);
	c->slot = NULL;
}

static bool again(struct pool_call *call)
{
	return !((struct call *)call)->partial;
}

static void tell(struct pool_call *call)
{
	struct outcome *o = ((struct call *)call)->outcome;

	o->times++;
	o->answered = !call->err;
	if (call->err)
		o->err = *call->err;
	if (o->cancels)
		pool_cancel(&o->cancels->base);
	if (o->frees) {
		pool_free(w.pool);
		w.pool = NULL;
	}
}

static void done(struct pool_call *call)
{
	(void)call;
	w.done++;
}

static const struct pool_protocol protocol = {
	.name = "fake",
	.calls = "queries",
	.call_size = sizeof(struct call),
	.window = 1,
	.waiting_max = 100,
	.query_max = 8,
	.overdue = "overdue",
	.crowded = "crowded",
	.open = open_connection,
	.opening = opening,
	.send = send_query,
	.close = close_connection,
	.again = again,
	.tell = tell,
	.done = done,
};

static void no_more(struct endpoint *e)
{
	(void)e;
}

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.loop = fakeloop_start();
	w.endpoint = endpoint_new(sizeof(*w.endpoint), no_more);
	w.endpoint->key = mem_dup("key");
	w.endpoint->name = mem_dup("db:1");
	w.pool = pool_new(w.loop, &protocol, &w);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pool_free(w.pool);
	for (size_t i = 0; i < w.opened; i++)
		assert_null(w.connections[i].slot);
	assert_int_equal(w.endpoint->count, 1);
	endpoint_unref(w.endpoint);
	fakeloop_end();
	return 0;
}

static struct call *ask(const char *query, int64_t patience_ms, struct outcome *o)
{
	struct call *call = mem_zalloc(sizeof(*call));

	*o = (struct outcome){ .times = 0 };
	call->outcome = o;
	pool_ask(w.pool, w.endpoint, mem_dup(query), strlen(query), loop_now_ms(w.loop) + patience_ms, &call->base);
	assert_int_equal(o->times, 0);
	return call;
}

static void finish(size_t i, const char *wrong, bool usable)
{
	struct err err;

	if (wrong) {
		err_set(&err, ERR_INVALID, "%s", wrong);
		err_keep(&pool_slot_call(w.connections[i].slot, 0)->err, &err);
	}
	pool_finished(pool_slot_call(w.connections[i].slot, 0), usable);
	fakeloop_advance(0);
}

static void lose(size_t i, enum err_kind kind, const char *why)
{
	struct err err;

	err_set(&err, kind, "%s", why);
	pool_lost(w.connections[i].slot, &err);
	fakeloop_advance(0);
}

static void expect_failed(const struct outcome *o, const char *message)
{
	assert_int_equal(o->times, 1);
	assert_false(o->answered);
	assert_string_equal(o->err.msg, message);
}

static void expect_answered(const struct outcome *o)
{
	if (o->times == 1 && !o->answered)
		fail_msg("%s", o->err.msg);
	assert_int_equal(o->times, 1);
}

/* ---- Who goes when ---- */

static void one_after_the_other(void **state)
{
	struct outcome a, b, c;

	(void)state;
	ask("a", 1000, &a);
	ask("b", 1000, &b);
	ask("c", 1000, &c);
	assert_int_equal(w.opened, 1);
	pool_opened(w.connections[0].slot, 0);
	assert_string_equal(w.order, "a");
	finish(0, NULL, true);
	expect_answered(&a);
	assert_string_equal(w.order, "ab");
	finish(0, "no such table", true); /* its own fault: the connection goes on */
	expect_failed(&b, "fake at db:1: no such table");
	assert_int_equal(b.err.kind, ERR_INVALID);
	finish(0, NULL, false);
	expect_answered(&c);
	assert_int_equal(w.opened, 1);
	assert_int_equal(pool_connections(w.pool), 0);
	assert_int_equal(w.done, 3);
}

static void the_second_connection(void **state)
{
	struct outcome slow, a, b;

	(void)state;
	ask("s", 100000, &slow);
	pool_opened(w.connections[0].slot, 0);
	fakeloop_advance(1000); /* however slow: nobody waits behind it */
	assert_int_equal(w.opened, 1);
	ask("a", 10000, &a);
	fakeloop_advance(49);
	assert_int_equal(w.opened, 1);
	fakeloop_advance(1);
	assert_int_equal(w.opened, 2);
	/* the first serves: nobody is told, and nobody tries for a while */
	lose(1, ERR_TEMPORARY, "too many connections");
	assert_int_equal(a.times, 0);
	ask("b", 100000, &b);
	fakeloop_advance(9950);
	expect_failed(&a, "fake at db:1: crowded");
	fakeloop_advance(20049);
	assert_int_equal(w.opened, 2);
	fakeloop_advance(1);
	assert_int_equal(w.opened, 3);
	assert_int_equal(pool_connections(w.pool), 2);
	pool_opened(w.connections[2].slot, 0);
	assert_string_equal(w.order, "sb");
	finish(2, NULL, true);
	expect_answered(&b);
	finish(0, NULL, true);
	expect_answered(&slow);
}

static void idle_ones_are_closed_and_forgotten(void **state)
{
	struct outcome slow, a, b;

	(void)state;
	ask("s", 200000, &slow);
	pool_opened(w.connections[0].slot, 0);
	ask("a", 1000, &a);
	fakeloop_advance(50);
	pool_opened(w.connections[1].slot, 0);
	finish(1, NULL, true);
	fakeloop_advance(59999);
	assert_int_equal(pool_connections(w.pool), 2);
	fakeloop_advance(1); /* the second alone: the first is at work */
	assert_int_equal(pool_connections(w.pool), 1);
	assert_non_null(w.connections[0].slot);
	finish(0, NULL, true);
	expect_answered(&slow);
	fakeloop_advance(59999);
	assert_int_equal(pool_connections(w.pool), 1);
	ask("b", 1000, &b);
	finish(0, NULL, true);
	fakeloop_advance(59999);
	assert_int_equal(pool_connections(w.pool), 1);
	fakeloop_advance(1);
	assert_int_equal(pool_connections(w.pool), 0);
	assert_int_equal(w.endpoint->count, 1);
}

/* ---- Failing ---- */

static void who_asks_while_it_backs_off_waits(void **state)
{
	static const int64_t pauses_ms[] = { 100, 200, 400, 800, DIAL_AGAIN_MAX_MS, DIAL_AGAIN_MAX_MS };
	struct outcome a, b;

	(void)state;
	ask("a", 10000, &a);
	for (size_t i = 0; i < sizeof(pauses_ms) / sizeof(pauses_ms[0]); i++) {
		lose(i, ERR_TEMPORARY, "refused");
		expect_failed(&a, "fake at db:1: refused");
		ask("a", 10000, &a);
		fakeloop_advance(pauses_ms[i] - 1);
		assert_int_equal(w.opened, i + 1);
		fakeloop_advance(1);
		assert_int_equal(w.opened, i + 2);
		assert_int_equal(a.times, 0);
	}
	pool_opened(w.connections[6].slot, 0);
	finish(6, NULL, true);
	expect_answered(&a);
	lose(6, ERR_TEMPORARY, "closed"); /* idle: no failure */
	ask("b", 10000, &b);
	assert_int_equal(w.opened, 8);
}

static void overdue_while_it_backs_off(void **state)
{
	struct outcome a, b;

	(void)state;
	ask("a", 10000, &a);
	lose(0, ERR_DENIED, "wrong password");
	ask("b", 50, &b);
	fakeloop_advance(50);
	expect_failed(&b, "fake at db:1: wrong password");
	assert_int_equal(b.err.kind, ERR_DENIED);
}

static void overdue_while_it_is_opened(void **state)
{
	struct outcome a;

	(void)state;
	ask("a", 500, &a);
	fakeloop_advance(499);
	assert_int_equal(a.times, 0);
	fakeloop_advance(1);
	expect_failed(&a, "fake at db:1: saying hello");
	assert_int_equal(pool_connections(w.pool), 1);
}

static void overdue_while_it_is_asked(void **state)
{
	struct outcome a;

	(void)state;
	ask("a", 500, &a);
	pool_opened(w.connections[0].slot, 0);
	fakeloop_advance(500);
	expect_failed(&a, "fake at db:1: overdue");
	assert_int_equal(pool_connections(w.pool), 0);
}

/* Lets everybody in and hangs up on what it is asked. */
static void never_serves(void **state)
{
	struct outcome a, b;

	(void)state;
	ask("a", 10000, &a);
	ask("b", 10000, &b);
	pool_opened(w.connections[0].slot, 0);
	lose(0, ERR_TEMPORARY, "closed"); /* asked once more, after the back-off */
	assert_int_equal(a.times, 0);
	assert_int_equal(w.opened, 1);
	fakeloop_advance(100);
	assert_int_equal(w.opened, 2);
	pool_opened(w.connections[1].slot, 0);
	assert_string_equal(w.order, "aa");
	assert_int_equal(w.opened, 2); /* b has not waited behind a, but for a connection */
	lose(1, ERR_TEMPORARY, "closed");
	expect_failed(&a, "fake at db:1: closed");
	assert_int_equal(b.times, 0);
	assert_int_equal(w.opened, 2);
}

static void what_is_not_asked_again(void **state)
{
	struct outcome a, b;

	(void)state;
	ask("a", 10000, &a)->partial = true;
	ask("b", 10000, &b);
	pool_opened(w.connections[0].slot, 0);
	lose(0, ERR_TEMPORARY, "closed");
	expect_failed(&a, "fake at db:1: closed");
	fakeloop_advance(100);
	pool_opened(w.connections[1].slot, 0);
	lose(1, ERR_INVALID, "too long an answer");
	expect_failed(&b, "fake at db:1: too long an answer");
}

static void cannot_be_sent(void **state)
{
	struct outcome a;

	(void)state;
	w.refuses_to_send = true;
	ask("a", 10000, &a);
	pool_opened(w.connections[0].slot, 0);
	fakeloop_advance(0);
	expect_failed(&a, "fake at db:1: cannot send");
	assert_int_equal(pool_connections(w.pool), 0);
}

static void too_many_and_too_long(void **state)
{
	static struct outcome waiting[100];
	struct outcome a;

	(void)state;
	ask("123456789", 10000, &a);
	fakeloop_advance(0);
	expect_failed(&a, "fake at db:1: the query has more than 8 bytes");
	assert_int_equal(a.err.kind, ERR_INVALID);
	for (size_t i = 0; i < 100; i++)
		ask("12345678", 10000, &waiting[i]);
	ask("a", 10000, &a);
	fakeloop_advance(0);
	expect_failed(&a, "fake at db:1: too many queries wait (100)");
	assert_int_equal(waiting[0].times, 0);
}

/* ---- Cancelling ---- */

static void cancelled_in_any_state(void **state)
{
	struct outcome asked, waiting, told;
	struct call *a, *b, *c;

	(void)state;
	pool_cancel(NULL);
	a = ask("a", 1000, &asked);
	b = ask("b", 1000, &waiting);
	pool_opened(w.connections[0].slot, 0);
	pool_cancel(&b->base);
	pool_cancel(&a->base);
	assert_int_equal(w.done, 1); /* the one under way keeps its place */
	c = ask("123456789", 1000, &told);
	pool_cancel(&c->base);
	assert_int_equal(w.done, 2);
	finish(0, NULL, true);
	assert_int_equal(w.done, 3);
	a = ask("a", 1000, &asked);
	pool_cancel(&a->base);
	lose(0, ERR_TEMPORARY, "closed"); /* and is not asked again */
	a = ask("a", 1000, &asked);
	pool_opened(w.connections[1].slot, 0);
	pool_cancel(&a->base);
	fakeloop_advance(1000);
	assert_int_equal(pool_connections(w.pool), 0);
	assert_int_equal(w.done, 5);
	assert_int_equal(asked.times + waiting.times + told.times, 0);
}

static void callbacks_may_cancel_and_free(void **state)
{
	struct outcome a, b, c;
	struct call *other;

	(void)state;
	ask("a23456789", 1000, &a);
	other = ask("b23456789", 1000, &b);
	ask("c23456789", 1000, &c);
	a.cancels = other;
	c.frees = true;
	fakeloop_advance(0);
	assert_int_equal(a.times, 1);
	assert_int_equal(b.times, 0);
	assert_int_equal(c.times, 1);
	assert_int_equal(w.done, 3);
	assert_null(w.pool);
}

static void freed_with_all_that_is_under_way(void **state)
{
	struct outcome asked, waiting, told;

	(void)state;
	ask("a", 1000, &asked);
	ask("b", 1000, &waiting);
	pool_opened(w.connections[0].slot, 0);
	ask("123456789", 1000, &told);
	pool_free(w.pool);
	w.pool = NULL;
	fakeloop_advance(0);
	assert_int_equal(w.done, 3);
	assert_int_equal(asked.times + waiting.times + told.times, 0);
}

static void notes_are_kept_per_server(void **state)
{
	struct outcome a;

	(void)state;
	ask("a", 1000, &a);
	assert_false(*pool_slot_note(w.connections[0].slot));
	*pool_slot_note(w.connections[0].slot) = true;
	lose(0, ERR_TEMPORARY, "refused");
	ask("a", 1000, &a);
	fakeloop_advance(100);
	assert_true(*pool_slot_note(w.connections[1].slot));
}

#define POOL_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		POOL_TEST(one_after_the_other),
		POOL_TEST(the_second_connection),
		POOL_TEST(idle_ones_are_closed_and_forgotten),
		POOL_TEST(who_asks_while_it_backs_off_waits),
		POOL_TEST(overdue_while_it_backs_off),
		POOL_TEST(overdue_while_it_is_opened),
		POOL_TEST(overdue_while_it_is_asked),
		POOL_TEST(never_serves),
		POOL_TEST(what_is_not_asked_again),
		POOL_TEST(cannot_be_sent),
		POOL_TEST(too_many_and_too_long),
		POOL_TEST(cancelled_in_any_state),
		POOL_TEST(callbacks_may_cancel_and_free),
		POOL_TEST(freed_with_all_that_is_under_way),
		POOL_TEST(notes_are_kept_per_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
