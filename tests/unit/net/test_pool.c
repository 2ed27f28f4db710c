/* SPDX-License-Identifier: Apache-2.0 */

/* The pool (poolworld.h): behaviour common to all windows, then that of single ones. */

#include "poolworld.h"

#include "../fakes/fakeloop.h"
#include "base/mem.h"
#include "net/dial.h"

/* ---- For each window ---- */

static void each_gets_its_own_answer_in_order(void **state)
{
	static const char *const queries[] = { "a", "b", "c", "d", "e", "f" };
	struct outcome o[6];
	size_t window = (size_t)w.protocol->window * (w.protocol->lanes ? w.protocol->lanes : 1);

	(void)state;
	for (size_t i = 0; i < 6; i++)
		ask(queries[i], 1000, &o[i]);
	assert_int_equal(w.opened, 1);
	welcome(0);
	assert_int_equal(w.wires[0].heard, window < 6 ? window : 6);
	for (size_t i = 0; i < 6; i++) {
		answer(0, i == 3 ? "no such table" : NULL);
		assert_int_equal(w.wires[0].heard, window + i + 1 < 6 ? window + i + 1 : 6);
		if (i != 3)
			expect_answered(&o[i], queries[i]);
	}
	expect_failed(&o[3], "no such table"); /* its own fault: the connection stays open */
	assert_int_equal(o[3].err.kind, ERR_INVALID);
	assert_string_equal(w.order, "abcdef");
	assert_int_equal(w.opened, 1);
	assert_int_equal(w.done, 6);
}

static void idle_ones_are_closed_and_forgotten(void **state)
{
	struct outcome a;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		ask("a", 1000, &a);
		if (i == 0)
			welcome(0);
		answer(0, NULL);
		expect_answered(&a, "a");
		fakeloop_advance(59999);
		assert_int_equal(pool_connections(w.pool), 1);
	}
	assert_int_equal(w.endpoint->count, 2);
	fakeloop_advance(1);
	assert_int_equal(pool_connections(w.pool), 0);
	assert_int_equal(w.endpoint->count, 1);
	ask("b", 1000, &a); /* nothing of the dropped answer is used */
	assert_int_equal(w.opened, 2);
}

static void a_call_after_the_idle_close_opens_again(void **state)
{
	struct outcome a;

	(void)state;
	ask("a", 1000, &a);
	welcome(0);
	answer(0, NULL);
	fakeloop_advance(30000);
	lose(0, ERR_TEMPORARY, "closed"); /* idle: no failure */
	assert_int_equal(pool_connections(w.pool), 0);
	assert_false(pool_backs_off(w.pool, w.endpoint));
	ask("b", 1000, &a);
	assert_int_equal(w.opened, 2);
	welcome(1);
	answer(1, NULL);
	expect_answered(&a, "b");
}

static void calls_wait_during_back_off(void **state)
{
	static const int64_t pauses_ms[] = { 100, 200, 400, 800, DIAL_AGAIN_MAX_MS, DIAL_AGAIN_MAX_MS };
	struct outcome a;

	(void)state;
	ask("a", 10000, &a);
	for (size_t i = 0; i < MEM_COUNT(pauses_ms); i++) {
		assert_false(pool_backs_off(w.pool, w.endpoint));
		lose(i, ERR_TEMPORARY, "refused");
		expect_failed(&a, "refused");
		ask("a", 10000, &a);
		assert_true(pool_backs_off(w.pool, w.endpoint));
		fakeloop_advance(pauses_ms[i] - 1);
		assert_int_equal(w.opened, i + 1);
		fakeloop_advance(1);
		assert_int_equal(w.opened, i + 2);
		assert_int_equal(a.times, 0);
	}
	welcome(6);
	answer(6, NULL);
	expect_answered(&a, "a");
	lose(6, ERR_TEMPORARY, "closed");
	ask("a", 10000, &a);
	lose(7, ERR_TEMPORARY, "refused"); /* an answer resets the failures */
	ask("b", 10000, &a);
	fakeloop_advance(100);
	assert_int_equal(w.opened, 9);
}

static void overdue_during_back_off(void **state)
{
	struct outcome a, b;

	(void)state;
	ask("a", 10000, &a);
	say(0, "go away");
	expect_failed(&a, "go away");
	ask("b", 50, &b);
	fakeloop_advance(50);
	expect_failed(&b, "go away");
	assert_int_equal(b.err.kind, ERR_DENIED);
}

static void overdue_while_opening(void **state)
{
	struct outcome a, b;

	(void)state;
	ask("a", 500, &a);
	ask("b", 1000, &b);
	fakeloop_advance(499);
	assert_int_equal(a.times, 0);
	fakeloop_advance(1);
	expect_failed(&a, "saying hello");
	assert_int_equal(pool_connections(w.pool), 1);
	welcome(0);
	answer(0, NULL);
	expect_answered(&b, "b");
}

/* Connected, but never answered. */
static void overdue_while_no_lane_opens(void **state)
{
	struct outcome a, b;

	(void)state;
	ask("a", 500, &a);
	ask("b", 1000, &b);
	say(0, "welcome");
	fakeloop_advance(500);
	expect_failed(&a, "overdue");
	expect_failed(&b, "overdue");
	assert_int_equal(pool_connections(w.pool), 0);
	assert_true(pool_backs_off(w.pool, w.endpoint));
}

static void the_oldest_is_overdue(void **state)
{
	struct outcome a, b;
	bool pipelined = w.protocol->window > 1;

	(void)state;
	ask("a", 49, &a);
	ask("b", 1000, &b);
	welcome(0);
	fakeloop_advance(48);
	assert_int_equal(a.times, 0);
	fakeloop_advance(1);
	expect_failed(&a, "overdue");
	assert_null(w.wires[0].connection);
	if (pipelined) { /* the connection hangs, so the server may, too */
		expect_failed(&b, "overdue");
		assert_true(pool_backs_off(w.pool, w.endpoint));
	} else { /* only that query is slow */
		assert_int_equal(b.times, 0);
		assert_int_equal(w.opened, 2);
	}
}

static void a_younger_one_is_overdue(void **state)
{
	struct outcome a, b, hasty, d;

	(void)state;
	ask("a", 1000, &a);
	welcome(0);
	answer(0, NULL);
	ask("a", 1000, &a);
	ask("b", 1000, &b); /* in the other lane, if there is one */
	ask("h", 40, &hasty);
	ask("d", 1000, &d);
	fakeloop_advance(40);
	expect_failed(&hasty, "crowded");
	assert_int_equal(pool_connections(w.pool), 1);
	answer_all(0); /* also that of the expired one, unless it was never sent */
	expect_answered(&a, "a");
	expect_answered(&b, "b");
	expect_answered(&d, "d");
	assert_int_equal(hasty.times, 1);
	assert_int_equal(w.done, 5 + (w.protocol->window > 1)); /* including the empty place */
}

/* Accepts connections, and closes them at the first query. */
static void a_server_that_never_serves(void **state)
{
	struct outcome a, b;
	bool pipelined = w.protocol->window > 1;

	(void)state;
	ask("a", 10000, &a);
	ask("b", 10000, &b);
	welcome(0);
	lose(0, ERR_TEMPORARY, "closed"); /* sent once more after the back-off, in the same order */
	assert_int_equal(a.times + b.times, 0);
	assert_int_equal(w.opened, 1);
	fakeloop_advance(100);
	assert_int_equal(w.opened, 2);
	welcome(1);
	assert_string_equal(w.order, pipelined ? "abab" : "aa");
	assert_int_equal(w.opened, 2); /* b has waited for a connection, not behind a */
	lose(1, ERR_TEMPORARY, "closed");
	expect_failed(&a, "closed");
	assert_int_equal(b.times, pipelined);
	assert_int_equal(w.opened, 2);
}

static void calls_that_are_not_retried(void **state)
{
	struct outcome a, b;

	(void)state;
	ask("a", 10000, &a);
	welcome(0);
	say(0, "0 ,half"); /* an answer */
	lose(0, ERR_TEMPORARY, "closed");
	expect_failed(&a, "closed");
	ask("b", 10000, &b);
	fakeloop_advance(100);
	welcome(1);
	lose(1, ERR_INVALID, "too long an answer");
	expect_failed(&b, "too long an answer");
}

static void cannot_be_sent(void **state)
{
	struct outcome a, b;
	bool pipelined = w.protocol->window > 1;

	(void)state;
	ask("a", 10000, &a);
	welcome(0);
	w.breaks = true;
	ask("b", 10000, &b);
	if (!pipelined)
		answer(0, NULL);
	fakeloop_advance(0);
	expect_failed(&b, "cannot send");
	if (pipelined)
		expect_failed(&a, "cannot send");
	else
		expect_answered(&a, "a");
	assert_int_equal(pool_connections(w.pool), 0);
}

static void unexpected_answers(void **state)
{
	struct outcome a;

	(void)state;
	ask("a", 1000, &a);
	welcome(0);
	answer(0, NULL);
	say(0, "0 =b");
	assert_int_equal(pool_connections(w.pool), 0);
	expect_answered(&a, "a");
}

static void too_many_and_too_long(void **state)
{
	static struct outcome waiting[50];
	struct outcome a;

	(void)state;
	ask("123456789", 10000, &a);
	fakeloop_advance(0);
	expect_failed(&a, "the query has more than 8 bytes");
	assert_int_equal(a.err.kind, ERR_INVALID);
	for (size_t i = 0; i < 25; i++)
		ask("12345678", 10000, &waiting[i]);
	ask("a", 10000, &a);
	fakeloop_advance(0);
	expect_failed(&a, "too many queries wait (25)"); /* bytes */
	assert_int_equal(a.err.kind, ERR_TEMPORARY);
	welcome(0); /* in-flight ones count, too */
	ask("a", 10000, &a);
	fakeloop_advance(0);
	expect_failed(&a, "too many queries wait (25)");
	answer_all(0);
	for (size_t i = 0; i < 50; i++)
		ask("1", 10000, &waiting[i]);
	ask("a", 10000, &a);
	fakeloop_advance(0);
	expect_failed(&a, "too many queries wait (50)");
}

static void cancelled_in_any_state(void **state)
{
	struct outcome a, b, c, told;
	struct line_call *under_way, *waiting;

	(void)state;
	pool_cancel(NULL);
	waiting = ask("n", 1000, &told);
	pool_cancel(&waiting->base); /* never sent */
	under_way = ask("a", 1000, &a);
	ask("b", 1000, &b);
	ask("c", 1000, &c);
	welcome(0);
	pool_cancel(&under_way->base);
	assert_int_equal(w.done, 1); /* the one in flight keeps its place */
	pool_cancel(&ask("123456789", 1000, &told)->base);
	assert_int_equal(w.done, 2);
	answer_all(0);
	expect_answered(&b, "b");
	expect_answered(&c, "c");
	assert_string_equal(w.order, "abc");
	under_way = ask("d", 1000, &a);
	pool_cancel(&under_way->base);
	lose(0, ERR_TEMPORARY, "closed"); /* and is not sent again */
	assert_int_equal(w.done, 6);
	under_way = ask("e", 1000, &a);
	fakeloop_advance(100);
	welcome(1);
	pool_cancel(&under_way->base);
	fakeloop_advance(900); /* its deadline still ends the connection */
	assert_int_equal(pool_connections(w.pool), 0);
	assert_int_equal(w.done, 7);
	assert_int_equal(a.times + told.times, 0);
}

static void callbacks_may_cancel_and_free(void **state)
{
	struct outcome a, b, c, d;

	(void)state;
	ask("a23456789", 1000, &a);
	a.cancels = ask("b23456789", 1000, &b);
	ask("c23456789", 1000, &c);
	c.frees = true;
	ask("d", 1000, &d);
	fakeloop_advance(0);
	assert_int_equal(a.times, 1);
	assert_int_equal(b.times, 0);
	assert_int_equal(c.times, 1);
	assert_int_equal(d.times, 0);
	assert_int_equal(w.done, 4);
	assert_null(w.pool);
}

static void freed_with_calls_in_flight(void **state)
{
	struct outcome asked, waiting, told;

	(void)state;
	ask("a", 1000, &asked);
	ask("b", 1000, &waiting);
	welcome(0);
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
	assert_false(*pool_slot_note(w.wires[0].connection->slot));
	*pool_slot_note(w.wires[0].connection->slot) = true;
	lose(0, ERR_TEMPORARY, "refused");
	ask("a", 1000, &a);
	fakeloop_advance(100);
	assert_true(*pool_slot_note(w.wires[1].connection->slot));
}

/* ---- A window of 1 ---- */

static void the_second_connection(void **state)
{
	struct outcome slow, a, b;

	(void)state;
	ask("s", 100000, &slow);
	welcome(0);
	fakeloop_advance(1000); /* however slow it is, nothing waits behind it */
	assert_int_equal(w.opened, 1);
	ask("a", 10000, &a);
	fakeloop_advance(49);
	assert_int_equal(w.opened, 1);
	fakeloop_advance(1);
	assert_int_equal(w.opened, 2);
	/* the first still serves: no query fails, and no attempt is made for a while */
	lose(1, ERR_TEMPORARY, "too many connections");
	assert_int_equal(a.times, 0);
	ask("b", 100000, &b);
	fakeloop_advance(9950);
	expect_failed(&a, "crowded");
	fakeloop_advance(20049);
	assert_int_equal(w.opened, 2);
	fakeloop_advance(1);
	assert_int_equal(w.opened, 3);
	assert_int_equal(pool_connections(w.pool), 2);
	welcome(2);
	assert_string_equal(w.order, "sb");
	answer(2, NULL);
	expect_answered(&b, "b");
	fakeloop_advance(59999);
	assert_int_equal(pool_connections(w.pool), 2);
	fakeloop_advance(1); /* only the second: the first is busy */
	assert_int_equal(pool_connections(w.pool), 1);
	answer(0, NULL);
	expect_answered(&slow, "s");
}

static void an_unusable_session_is_closed(void **state)
{
	struct outcome a, b;

	(void)state;
	ask("a", 1000, &a);
	ask("b", 1000, &b);
	welcome(0);
	pool_finished(pool_slot_call(w.wires[0].connection->slot, 0), false);
	fakeloop_advance(0);
	assert_int_equal(a.times, 1);
	assert_null(w.wires[0].connection);
	assert_int_equal(w.opened, 2);
	welcome(1);
	answer(1, NULL);
	expect_answered(&b, "b");
}

/* ---- Larger windows: one connection, however long queries wait ---- */

static void no_second_connection(void **state)
{
	static struct outcome o[40];

	(void)state;
	for (size_t i = 0; i < 40; i++)
		ask("q", 10000, &o[i]);
	welcome(0);
	fakeloop_advance(5000);
	assert_int_equal(w.opened, 1);
	answer_all(0);
	for (size_t i = 0; i < 40; i++)
		expect_answered(&o[i], "q");
}

/* ---- Lanes ---- */

static void the_emptiest_lane_is_next(void **state)
{
	struct outcome o[4];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		ask("q", 1000, &o[i]);
	say(0, "welcome");
	say(0, "1 open"); /* whichever opens first */
	assert_int_equal(w.wires[0].heard, 4);
	say(0, "0 open");
	for (size_t i = 0; i < 4; i++)
		answer(0, NULL);
	w.wires[0].heard = w.wires[0].answered = 0;
	for (size_t i = 0; i < 4; i++)
		ask("q", 1000, &o[i]);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(w.wires[0].lines[i].lane, i % 2);
}

static void a_refused_lane_restarts_with_a_small_window(void **state)
{
	static const char *const names[] = { "n", "a", "b", "c", "d", "e", "f", "g" };
	struct outcome o[8];
	struct line_call *calls[8];

	(void)state;
	for (size_t i = 0; i < 6; i++)
		calls[i] = ask(names[i], 1000, &o[i]);
	say(0, "welcome");
	say(0, "0 open");
	assert_string_equal(w.order, "nabc");
	pool_cancel(&calls[2]->base);
	say(0, "0 ?there is no n");
	expect_failed(&o[0], "there is no n");
	assert_int_equal(pool_connections(w.pool), 1);
	w.order[0] = '\0';
	w.wires[0].answered = w.wires[0].heard;
	fakeloop_advance(100);
	assert_string_equal(w.order, ""); /* the only lane is closed */
	say(0, "0 open");
	assert_string_equal(w.order, "a"); /* the dropped queries except b, ahead of later ones; one at a time */
	answer(0, NULL);
	assert_string_equal(w.order, "acd"); /* then two */
	for (size_t i = 6; i < 8; i++)
		calls[i] = ask(names[i], 1000, &o[i]);
	answer(0, NULL);
	assert_string_equal(w.order, "acdefg"); /* then four, the most */
	answer_all(0);
	for (size_t i = 3; i < 8; i++)
		expect_answered(&o[i], names[i]);
	expect_answered(&o[1], "a");
	assert_int_equal(o[2].times, 0);
	assert_int_equal(w.opened, 1);
}

/* All lanes were refused, and none reopens. */
static void lanes_that_stay_closed(void **state)
{
	struct outcome a, b;

	(void)state;
	ask("a", 1000, &a);
	say(0, "welcome");
	say(0, "1 open");
	say(0, "1 ?no");
	expect_failed(&a, "no");
	ask("b", 500, &b);
	fakeloop_advance(500);
	expect_failed(&b, "crowded");
	assert_int_equal(pool_connections(w.pool), 0);
}

/* ---- Owners of one pool per server ---- */

static void state_for_the_owner(void **state)
{
	struct outcome a, b;

	(void)state;
	assert_true(pool_is_quiet(w.pool));
	assert_int_equal(pool_oldest_ms(w.pool), 0);
	ask("a", 1000, &a);
	fakeloop_advance(10);
	ask("b", 1000, &b);
	assert_int_equal(pool_waiting(w.pool), 2);
	assert_int_equal(pool_oldest_ms(w.pool), loop_now_ms(w.loop) - 10);
	welcome(0);
	pool_close_idle(w.pool); /* it is not quiet */
	assert_int_equal(pool_connections(w.pool), 1);
	answer(0, NULL);
	assert_int_equal(pool_waiting(w.pool), 1);
	assert_int_equal(pool_oldest_ms(w.pool), loop_now_ms(w.loop));
	answer(0, NULL);
	assert_int_equal(pool_waiting(w.pool), 0);
	assert_false(pool_is_quiet(w.pool));
	pool_close_idle(w.pool);
	assert_int_equal(pool_connections(w.pool), 0);
	assert_true(pool_is_quiet(w.pool));
	pool_cancel(&ask("123456789", 1000, &a)->base);
	assert_true(pool_is_quiet(w.pool));
	ask("123456789", 1000, &a);
	assert_false(pool_is_quiet(w.pool)); /* a callback is due */
	fakeloop_advance(0);
	assert_true(pool_is_quiet(w.pool));
}

static void errors_name_the_overdue_call(void **state)
{
	struct outcome a;

	(void)state;
	ask("a", 49, &a)->base.what = "Query";
	welcome(0);
	fakeloop_advance(49);
	expect_failed(&a, "Query: overdue");
}

static void locate(void *arg, struct err *err)
{
	assert_ptr_equal(arg, &w);
	err_wrap(err, "at home");
}

static void owners_prefix_errors(void **state)
{
	static struct pool_protocol named;
	struct outcome o[6];

	(void)state;
	pool_free(w.pool);
	named = unlimited;
	named.name = NULL;
	named.locate = locate;
	w.pool = pool_new(w.loop, &named, &w);
	ask("123456789", 1000, &o[0]);
	ask("a", 40, &o[1]);
	fakeloop_advance(40);
	ask("b", 1000, &o[2]);
	ask("c", 1000, &o[3]);
	welcome(0);
	answer(0, "no such table"); /* to b */
	lose(0, ERR_INVALID, "garbage");
	ask("d", 10, &o[4]);
	fakeloop_advance(10);
	assert_string_equal(o[0].err.msg, "at home: the query has more than 8 bytes");
	assert_string_equal(o[1].err.msg, "at home: saying hello");
	assert_string_equal(o[2].err.msg, "at home: no such table");
	assert_string_equal(o[3].err.msg, "at home: garbage");
	assert_string_equal(o[4].err.msg, "at home: garbage"); /* once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(each_gets_its_own_answer_in_order),
		EACH(idle_ones_are_closed_and_forgotten),
		EACH(a_call_after_the_idle_close_opens_again),
		EACH(calls_wait_during_back_off),
		EACH(overdue_during_back_off),
		EACH(overdue_while_opening),
		EACH(overdue_while_no_lane_opens),
		EACH(the_oldest_is_overdue),
		EACH(a_younger_one_is_overdue),
		EACH(a_server_that_never_serves),
		EACH(calls_that_are_not_retried),
		EACH(cannot_be_sent),
		EACH(unexpected_answers),
		EACH(too_many_and_too_long),
		EACH(cancelled_in_any_state),
		EACH(callbacks_may_cancel_and_free),
		EACH(freed_with_calls_in_flight),
		EACH(notes_are_kept_per_server),
		TEST(the_second_connection, one),
		TEST(an_unusable_session_is_closed, one),
		TEST(no_second_connection, three),
		TEST(no_second_connection, unlimited),
		TEST(no_second_connection, lanes),
		TEST(the_emptiest_lane_is_next, lanes),
		TEST(a_refused_lane_restarts_with_a_small_window, lanes),
		TEST(lanes_that_stay_closed, lanes),
		EACH(state_for_the_owner),
		EACH(errors_name_the_overdue_call),
		TEST(owners_prefix_errors, unlimited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
