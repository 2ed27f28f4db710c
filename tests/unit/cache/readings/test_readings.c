/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared readings with a scripted source: a real one cannot be made to hang, answer and fail at
 * given moments. Time only passes where a test lets it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakeloop.h"

#include "base/mem.h"
#include "cache/readings/readings.h"
#include "cache/readings/turns.h"
#include "scalers/sources.h"

#define FOREVER   3600000
#define MINUTE_MS 60000

/* ---- The source ---- */

static struct ask {
	bool open;
	void *handle;
	int64_t deadline_ms;
} asks[256];
static int ask_count, cancelled;

static void fake_ask(void *handle)
{
	struct scaler_ask *ask = handle;
	struct ask *a = &asks[ask_count++];

	*a = (struct ask){ true, handle, ask->deadline_ms };
	ask->call = a;
}

static void fake_cancel(void *handle)
{
	((struct ask *)((struct scaler_ask *)handle)->call)->open = false;
	cancelled++;
}

static const struct scaler_asker fake_asker = { .ask = fake_ask, .cancel = fake_cancel };

static const struct scaler_type fake_type = { .name = "fake", .asker = &fake_asker };

static const struct scaler_type metered_type = { .name = "metered", .asker = &fake_asker, .metered = true };

static void answer(int i, double value)
{
	asks[i].open = false;
	scaler_ask_end(asks[i].handle, value, NULL);
}

static void answer_and_rest(int i, double value, int64_t rest_ms)
{
	asks[i].open = false;
	scaler_ask_answer(asks[i].handle, &(struct answer){ .value = value, .rest_ms = rest_ms }, NULL);
}

static void refuse(int i, const char *why)
{
	struct err err = { 0 };

	err_set(&err, ERR_TEMPORARY, "%s", why);
	asks[i].open = false;
	scaler_ask_end(asks[i].handle, 0, &err);
}

/* ---- The askers ---- */

struct heard {
	int times;
	double value;
	int64_t completed_at_ms;
	char err[ERR_MSG_MAX];
	struct readings_wait *cancel_too; /* cancelled from inside the callback */
	struct fixture *ask_again;
	struct heard *again;
};

struct fixture {
	struct loop *loop;
	struct scaler_sources sources;
	struct readings *readings;
	struct question *q;
};

static void on_heard(void *arg, const struct answer *a, const struct err *err, int64_t completed_at_ms)
{
	struct heard *h = arg;

	h->times++;
	h->value = a ? a->value : -1;
	h->completed_at_ms = completed_at_ms;
	snprintf(h->err, sizeof(h->err), "%s", err ? err->msg : "");
	assert_true(!a == !!err);
	readings_cancel(h->cancel_too);
	h->cancel_too = NULL;
	if (h->ask_again)
		readings_ask(h->ask_again->readings, h->ask_again->q, 0, 0, loop_now_ms(h->ask_again->loop) + FOREVER,
			on_heard, h->again);
}

static struct readings_wait *ask_for(struct fixture *f, int64_t max_age_ms, struct heard *h)
{
	return readings_ask(f->readings, f->q, 0, max_age_ms, loop_now_ms(f->loop) + FOREVER, on_heard, h);
}

static void settle(struct fixture *f)
{
	(void)f;
	fakeloop_advance(1);
}

static int setup_with(void **state, size_t max_waiters)
{
	struct fixture *f = mem_zalloc(sizeof(*f));
	struct readings_config config = { .ask_timeout_ms = FOREVER, .max_waiters = max_waiters };

	ask_count = cancelled = 0;
	f->loop = fakeloop_start();
	f->sources.loop = f->loop;
	f->readings = readings_new(&f->sources, &config);
	f->q = question_new(&fake_type, mem_dup("fake x"), mem_dup("fake server"), NULL);
	*state = f;
	return 0;
}

static int setup(void **state)
{
	return setup_with(state, 4);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	readings_free(f->readings);
	question_unref(f->q);
	fakeloop_end();
	free(f);
	return 0;
}

/* ---- The tests ---- */

static void askers_join_one_query(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 }, b = { 0 }, c = { 0 };

	ask_for(f, 0, &a);
	ask_for(f, FOREVER, &b);
	ask_for(f, 0, &c);
	assert_int_equal(ask_count, 1);
	answer(0, 7);
	assert_int_equal(a.times + b.times + c.times, 3);
	assert_true(a.value == 7 && b.value == 7 && c.value == 7);
	assert_int_equal(readings_stats(f->readings).questions, 1);
}

static void young_answers_come_from_memory_and_never_at_once(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 }, b = { 0 };
	struct answer answered;

	assert_int_equal(readings_peek(f->readings, f->q, FOREVER, &answered, NULL), READINGS_NONE);
	ask_for(f, 0, &a);
	answer(0, 7);
	assert_int_equal(readings_peek(f->readings, f->q, FOREVER, &answered, NULL), READINGS_ANSWER);
	assert_true(answered.value == 7);
	ask_for(f, FOREVER, &b);
	assert_int_equal(b.times, 0);
	settle(f);
	assert_int_equal(b.times, 1);
	assert_true(b.value == 7);
	assert_int_equal(ask_count, 1);
}

static void an_old_answer_is_asked_for_again(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 }, b = { 0 };

	ask_for(f, 0, &a);
	answer(0, 7);
	ask_for(f, 0, &b);
	assert_int_equal(ask_count, 2);
	answer(1, 8);
	assert_true(b.value == 8);
	assert_int_equal(a.times, 1);
}

static void a_failure_reaches_all_and_is_kept(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 }, b = { 0 }, c = { 0 };
	struct answer answered;
	struct err err = { 0 };

	ask_for(f, 0, &a);
	ask_for(f, 0, &b);
	refuse(0, "connection refused");
	assert_string_equal(a.err, "connection refused");
	assert_string_equal(b.err, "connection refused");
	assert_int_equal(readings_peek(f->readings, f->q, FOREVER, &answered, &err), READINGS_FAILURE);
	assert_string_equal(err.msg, "connection refused");
	ask_for(f, FOREVER, &c);
	settle(f);
	assert_string_equal(c.err, "connection refused");
	assert_int_equal(ask_count, 1);
}

static void a_failure_has_its_time_and_is_kept_for_the_askers_max_age(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 }, b = { 0 };
	struct answer when = { 0 };
	int64_t before_ms = loop_now_ms(f->loop);

	ask_for(f, 0, &a);
	refuse(0, "connection refused");
	assert_true(a.completed_at_ms >= before_ms && a.completed_at_ms <= loop_now_ms(f->loop));
	/* A later asker gets the same answer. */
	ask_for(f, FOREVER, &b);
	settle(f);
	assert_true(b.completed_at_ms == a.completed_at_ms);
	assert_int_equal(readings_peek(f->readings, f->q, FOREVER, &when, NULL), READINGS_FAILURE);
	assert_true(when.answered_at_ms == a.completed_at_ms);
	assert_int_equal(readings_peek(f->readings, f->q, 0, &when, NULL), READINGS_NONE);
	ask_for(f, 0, &a);
	assert_int_equal(ask_count, 2);
}

/* An error is never 0, and an old good value does not hide it. */
static void a_failure_hides_the_old_answer(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 };
	struct answer answered;

	ask_for(f, 0, &a);
	answer(0, 7);
	ask_for(f, 0, &a);
	refuse(1, "gone");
	assert_int_equal(readings_peek(f->readings, f->q, FOREVER, &answered, NULL), READINGS_FAILURE);
	ask_for(f, 0, &a);
	answer(2, 9);
	assert_int_equal(readings_peek(f->readings, f->q, FOREVER, &answered, NULL), READINGS_ANSWER);
	assert_true(answered.value == 9);
}

static void an_asker_with_a_short_deadline_leaves_alone(void **state)
{
	struct fixture *f = *state;
	struct heard quick = { 0 }, patient = { 0 };

	readings_ask(f->readings, f->q, 0, 0, loop_now_ms(f->loop), on_heard, &quick);
	ask_for(f, 0, &patient);
	assert_int_equal(quick.times, 0);
	settle(f);
	assert_int_equal(quick.times, 1);
	assert_string_equal(quick.err, "fake server: no answer in time");
	assert_true(quick.completed_at_ms == 0); /* the source may still answer */
	assert_int_equal(patient.times, 0);
	answer(0, 5);
	assert_int_equal(quick.times, 1);
	assert_true(patient.value == 5);
}

static void cancelled_askers_hear_nothing(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 }, b = { 0 }, c = { 0 };
	struct readings_wait *wait = ask_for(f, 0, &a);

	ask_for(f, 0, &b);
	readings_cancel(wait);
	answer(0, 1);
	assert_int_equal(a.times, 0);
	assert_int_equal(b.times, 1);
	readings_cancel(ask_for(f, FOREVER, &c));
	settle(f);
	assert_int_equal(c.times, 0);
	readings_cancel(NULL);
}

static void callbacks_may_cancel_and_ask(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 }, b = { 0 }, c = { 0 };

	ask_for(f, 0, &a);
	a.cancel_too = ask_for(f, 0, &b);
	a.ask_again = f;
	a.again = &c;
	answer(0, 3);
	assert_int_equal(a.times, 1);
	assert_int_equal(b.times, 0);
	assert_int_equal(ask_count, 2);
	answer(1, 4);
	assert_true(c.value == 4);
}

static struct readings_wait *ask_after(struct fixture *f, uint64_t after, struct heard *h)
{
	return readings_ask(f->readings, f->q, after, FOREVER, loop_now_ms(f->loop) + FOREVER, on_heard, h);
}

/* However young an answer is: one asked for before the notification may not include the change. */
static void a_mark_excludes_earlier_queries(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 }, b = { 0 }, c = { 0 };
	uint64_t mark;

	ask_for(f, 0, &a);
	answer(0, 1);
	mark = readings_mark(f->readings);
	ask_after(f, mark, &b);
	assert_int_equal(ask_count, 2);
	answer(1, 2);
	assert_true(b.times == 1 && b.value == 2);
	/* One asked for since then will do, from memory. */
	ask_after(f, mark, &c);
	settle(f);
	assert_true(c.times == 1 && c.value == 2);
	assert_int_equal(ask_count, 2);
}

/*
 * A query under way began too early: one more follows it for all who wait; those who joined the
 * first are not delayed.
 */
static void a_mark_does_not_join_an_earlier_query(void **state)
{
	struct fixture *f = *state;
	struct heard poll = { 0 }, a = { 0 }, b = { 0 }, gone = { 0 };
	struct readings_wait *leaves;
	uint64_t mark;

	ask_for(f, 0, &poll);
	mark = readings_mark(f->readings);
	ask_after(f, mark, &a);
	ask_after(f, mark, &b);
	leaves = ask_after(f, mark, &gone);
	assert_int_equal(ask_count, 1);
	readings_cancel(leaves);
	answer(0, 1);
	assert_true(poll.times == 1 && poll.value == 1);
	assert_int_equal(a.times, 0);
	assert_int_equal(ask_count, 2);
	answer(1, 2);
	assert_true(a.times == 1 && a.value == 2 && b.times == 1 && b.value == 2);
	assert_int_equal(gone.times, 0);
	assert_int_equal(readings_stats(f->readings).waiters, 0);
}

static void an_asker_waits_until_its_deadline(void **state)
{
	struct fixture *f = *state;
	struct heard poll = { 0 }, a = { 0 };

	ask_for(f, 0, &poll);
	readings_ask(f->readings, f->q, readings_mark(f->readings), FOREVER, loop_now_ms(f->loop), on_heard, &a);
	settle(f);
	assert_int_equal(a.times, 1);
	assert_string_equal(a.err, "fake server: no answer in time");
	assert_true(a.completed_at_ms == 0);
	answer(0, 1);
	assert_int_equal(ask_count, 1); /* no one waits for the next */
}

static void waiters_are_capped(void **state)
{
	struct fixture *f = *state;
	struct heard h[5] = { { 0 } };

	for (int i = 0; i < 5; i++)
		ask_for(f, 0, &h[i]);
	settle(f);
	assert_int_equal(h[4].times, 1);
	assert_string_equal(h[4].err, "fake server: too many requests of this namespace are waiting");
	assert_true(h[4].completed_at_ms == 0);
	answer(0, 2);
	assert_int_equal(h[3].times, 1);
	assert_int_equal(readings_stats(f->readings).waiters, 0);
}

/* One namespace's that wait by the thousand leave room for another's. */
static void waiters_have_shares(void **state)
{
	enum { MOST = 1000, HERS = 90 };
	struct fixture *f = *state;
	struct readings_config config = { .ask_timeout_ms = FOREVER, .max_waiters = MOST };
	struct question *hers = question_new(&fake_type, mem_dup("fake hers"), mem_dup("fake server"), NULL);
	struct heard *h = mem_array(MOST + HERS, sizeof(*h));
	int refused = 0;

	readings_free(f->readings);
	f->readings = readings_new(&f->sources, &config);
	f->q->namespace_ = mem_dup("his");
	hers->namespace_ = mem_dup("hers");
	for (int i = 0; i < MOST; i++)
		ask_for(f, 0, &h[i]);
	for (int i = MOST; i < MOST + HERS; i++)
		readings_ask(f->readings, hers, 0, 0, loop_now_ms(f->loop) + FOREVER, on_heard, &h[i]);
	settle(f);
	for (int i = 0; i < MOST; i++)
		refused += h[i].times;
	assert_in_range(refused, MOST / 4, MOST / 2);
	for (int i = MOST; i < MOST + HERS; i++)
		assert_int_equal(h[i].times, 0);
	readings_free(f->readings);
	f->readings = readings_new(&f->sources, &config);
	question_unref(hers);
	free(h);
}

/* A question with a time of its own has at least as long as all have. */
static void questions_take_their_time(void **state)
{
	struct fixture *f = *state;
	struct readings_config config = { .ask_timeout_ms = 3000, .http_timeout_ms = 5000, .max_waiters = 4 };
	static const struct {
		int64_t own_ms, patience_ms;
	} rows[] = { { 0, 3000 }, { 500, 3000 }, { 8000, 8000 }, { QUESTION_TIMEOUT_HTTP, 5000 } };
	struct heard h = { 0 };

	readings_free(f->readings);
	f->readings = readings_new(&f->sources, &config);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f->q->timeout_ms = rows[i].own_ms;
		assert_int_equal(readings_patience_ms(f->readings, f->q), rows[i].patience_ms);
	}
	ask_for(f, 0, &h);
	assert_true(asks[0].deadline_ms > loop_now_ms(f->loop) + 4000);
	f->q->timeout_ms = 0;
}

/* It answered, and asked not to be asked so soon again: its answer is everybody's until then. */
static void a_source_that_wishes_so_rests(void **state)
{
	struct fixture *f = *state;
	struct heard h[4] = { 0 };
	struct answer peeked;

	ask_for(f, 0, &h[0]);
	answer_and_rest(0, 7, MINUTE_MS);
	settle(f);
	fakeloop_advance(MINUTE_MS - 100);
	ask_for(f, 0, &h[1]);
	readings_ask(f->readings, f->q, readings_mark(f->readings), 0, loop_now_ms(f->loop) + FOREVER, on_heard, &h[2]);
	settle(f);
	assert_int_equal(ask_count, 1);
	assert_true(h[1].value == 7 && h[2].value == 7);
	assert_int_equal(h[1].completed_at_ms, h[0].completed_at_ms);
	assert_int_equal(readings_peek(f->readings, f->q, 0, &peeked, NULL), READINGS_ANSWER);
	assert_int_equal(peeked.rest_ms, MINUTE_MS);
	fakeloop_advance(100);
	ask_for(f, 0, &h[3]);
	assert_int_equal(ask_count, 2);
	/* The next answer asks for no rest. */
	answer(1, 8);
	settle(f);
	assert_true(h[3].value == 8);
	ask_for(f, 0, &h[0]);
	assert_int_equal(ask_count, 3);
	refuse(2, "down");
	settle(f);
}

/*
 * A source that bills each request: after an answer no age or mark causes another query until the
 * time is over. A failure is not an answer.
 */
static void metered_questions_rest(void **state)
{
	struct fixture *f = *state;
	struct readings_config config = { .ask_timeout_ms = 3000, .metered_ms = 2 * MINUTE_MS, .max_waiters = 16 };
	struct question *usual = f->q;
	struct heard h[6] = { 0 };
	struct answer peeked;
	uint64_t mark;

	readings_free(f->readings);
	f->readings = readings_new(&f->sources, &config);
	f->q = question_new(&metered_type, mem_dup("metered"), mem_dup("metered"), NULL);
	ask_for(f, 0, &h[0]);
	/* An asker notified after the query began accepts its answer, too. */
	mark = readings_mark(f->readings);
	readings_ask(f->readings, f->q, mark, 0, loop_now_ms(f->loop) + FOREVER, on_heard, &h[1]);
	refuse(0, "throttled");
	settle(f);
	assert_string_equal(h[0].err, "throttled");
	assert_int_equal(ask_count, 2); /* a failure is not kept: the second asker's own query */
	answer(1, 7);
	settle(f);
	assert_true(h[1].value == 7);
	fakeloop_advance(MINUTE_MS + MINUTE_MS / 2); /* also beyond a sweep */
	ask_for(f, 0, &h[2]);
	mark = readings_mark(f->readings);
	readings_ask(f->readings, f->q, mark, 0, loop_now_ms(f->loop) + FOREVER, on_heard, &h[3]);
	settle(f);
	assert_int_equal(ask_count, 2);
	assert_true(h[2].value == 7 && h[3].value == 7);
	assert_int_equal(h[2].completed_at_ms, h[1].completed_at_ms);
	assert_int_equal(readings_peek(f->readings, f->q, 0, &peeked, NULL), READINGS_ANSWER);
	fakeloop_advance(MINUTE_MS / 2);
	ask_for(f, 0, &h[4]);
	assert_int_equal(ask_count, 3);
	mark = readings_mark(f->readings);
	readings_ask(f->readings, f->q, mark, 0, loop_now_ms(f->loop) + FOREVER, on_heard, &h[5]);
	answer(2, 8);
	settle(f);
	assert_int_equal(ask_count, 3);
	assert_true(h[4].value == 8 && h[5].value == 8);
	readings_free(f->readings);
	f->readings = readings_new(&f->sources, &config);
	question_unref(f->q);
	f->q = usual;
	/* Others are asked as ever. */
	h[0] = (struct heard){ 0 };
	ask_for(f, 0, &h[0]);
	answer(3, 1);
	settle(f);
	ask_for(f, 0, &h[1]);
	assert_int_equal(ask_count, 5);
}

static size_t entries_after(struct fixture *f, int64_t ms)
{
	fakeloop_advance(ms);
	return readings_stats(f->readings).entries;
}

/* Forgotten a minute after the last asker, by the next sweep; queries under way stay. */
static void unused_entries_are_forgotten(void **state)
{
	struct fixture *f = *state;
	struct heard a = { 0 };
	struct answer answered;

	ask_for(f, 0, &a);
	assert_int_equal(entries_after(f, 10 * MINUTE_MS), 1); /* a query is under way */
	answer(0, 7);
	assert_int_equal(readings_peek(f->readings, f->q, MINUTE_MS, &answered, NULL), READINGS_ANSWER);
	assert_int_equal(entries_after(f, MINUTE_MS - 1), 1);
	assert_int_equal(entries_after(f, MINUTE_MS + 2), 0);
	assert_int_equal(readings_peek(f->readings, f->q, INT64_MAX, &answered, NULL), READINGS_NONE);
	/* Whoever looks at it keeps it. */
	ask_for(f, 0, &a);
	answer(1, 8);
	assert_int_equal(entries_after(f, MINUTE_MS - 1), 1);
	assert_int_equal(readings_peek(f->readings, f->q, 5 * MINUTE_MS, &answered, NULL), READINGS_ANSWER);
	assert_int_equal(entries_after(f, MINUTE_MS - 1), 1);
	assert_int_equal(entries_after(f, MINUTE_MS + 2), 0);
}

static void freeing_drops_queries_under_way(void **state)
{
	struct fixture *f = *state;
	struct readings_config config = { .ask_timeout_ms = FOREVER, .max_waiters = 4 };
	struct heard h = { 0 };

	ask_for(f, 0, &h);
	readings_free(f->readings);
	assert_int_equal(cancelled, 1);
	assert_int_equal(h.times, 0);
	f->readings = readings_new(&f->sources, &config);
}

/* If many are due at once some begin later; cancelled ones never do. */
static void many_begin_in_several_turns(void **state)
{
	enum { MANY = TURNS_BEGIN_MAX + 20 };
	struct fixture *f = *state;
	struct question *questions[MANY];
	struct heard heard[MANY];
	struct readings_config config = { .ask_timeout_ms = FOREVER, .max_waiters = MANY };

	memset(heard, 0, sizeof(heard));
	for (int round = 0; round < 2; round++) {
		readings_free(f->readings);
		f->readings = readings_new(&f->sources, &config);
		ask_count = cancelled = 0;
		fakeloop_advance(1);
		for (int i = 0; i < MANY; i++) {
			questions[i] = question_new(&fake_type, mem_printf("fake %d", i), mem_dup("fake server"), NULL);
			readings_ask(f->readings, questions[i], 0, 0, loop_now_ms(f->loop) + FOREVER, on_heard,
				&heard[i]);
			question_unref(questions[i]);
		}
		assert_int_equal(ask_count, TURNS_BEGIN_MAX);
		assert_int_equal(readings_stats(f->readings).asking, MANY);
		if (round == 0) {
			readings_free(f->readings);
			assert_int_equal(cancelled, TURNS_BEGIN_MAX);
			f->readings = readings_new(&f->sources, &config);
			continue;
		}
		settle(f);
		assert_int_equal(ask_count, MANY);
	}
	answer(MANY - 1, 7);
	assert_int_equal(heard[MANY - 1].times, 1);
	assert_true(heard[MANY - 1].value == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(askers_join_one_query, setup, teardown),
		cmocka_unit_test_setup_teardown(young_answers_come_from_memory_and_never_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(an_old_answer_is_asked_for_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failure_reaches_all_and_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failure_has_its_time_and_is_kept_for_the_askers_max_age, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_failure_hides_the_old_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(an_asker_with_a_short_deadline_leaves_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelled_askers_hear_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(callbacks_may_cancel_and_ask, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mark_excludes_earlier_queries, setup, teardown),
		cmocka_unit_test_setup_teardown(a_mark_does_not_join_an_earlier_query, setup, teardown),
		cmocka_unit_test_setup_teardown(an_asker_waits_until_its_deadline, setup, teardown),
		cmocka_unit_test_setup_teardown(waiters_are_capped, setup, teardown),
		cmocka_unit_test_setup_teardown(waiters_have_shares, setup, teardown),
		cmocka_unit_test_setup_teardown(questions_take_their_time, setup, teardown),
		cmocka_unit_test_setup_teardown(metered_questions_rest, setup, teardown),
		cmocka_unit_test_setup_teardown(a_source_that_wishes_so_rests, setup, teardown),
		cmocka_unit_test_setup_teardown(unused_entries_are_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(freeing_drops_queries_under_way, setup, teardown),
		cmocka_unit_test_setup_teardown(many_begin_in_several_turns, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
