/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of the last timed poll: per object and question, until they are too old or the object
 * is gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakeobjects.h"

#include "base/mem.h"
#include "cache/readings/lastpoll.h"
#include "cache/readings/questions.h"

#define KEY       "default/web"
#define OTHER_KEY "default/other"

static const struct scaler_type type = { .name = "none" };

static struct {
	struct question *a, *b;
} t;

static struct question *question(const char *key)
{
	return question_new(&type, mem_dup(key), mem_dup("a source"), NULL);
}

static int setup(void **state)
{
	(void)state;
	t.a = question("a");
	t.b = question("b");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	question_unref(t.a);
	question_unref(t.b);
	lastpoll_forget(fakeobject(KEY));
	lastpoll_forget(fakeobject(OTHER_KEY));
	fakeobjects_end();
	return 0;
}

static void put(const char *key, struct question *q, double value, int64_t at_ms, int64_t since_ms)
{
	struct answer answer = { .value = value, .asked_at_ms = at_ms - 1, .answered_at_ms = at_ms };

	lastpoll_put(fakeobject(key), q, &answer, NULL, since_ms);
}

/* Its value; -1: a failure; -2: nothing. */
static double peek(const char *key, const struct question *q, int64_t since_ms)
{
	struct answer answer;

	switch (lastpoll_peek(fakeobject(key), q, since_ms, &answer, NULL)) {
	case READINGS_ANSWER: return answer.value;
	case READINGS_FAILURE: return -1;
	default: return -2;
	}
}

static void each_object_has_its_own_of_a_shared_question(void **state)
{
	struct question *same = question("a"); /* rebuilt, as after a change */

	(void)state;
	assert_true(peek(KEY, t.a, 0) == -2);
	put(KEY, t.a, 1, 10, 0);
	put(OTHER_KEY, t.a, 2, 10, 0);
	put(KEY, t.b, 3, 10, 0);
	assert_true(peek(KEY, t.a, 0) == 1);
	assert_true(peek(OTHER_KEY, t.a, 0) == 2);
	assert_true(peek(OTHER_KEY, t.b, 0) == -2);
	assert_true(peek(KEY, same, 0) == 1);
	put(KEY, same, 4, 20, 0);
	assert_true(peek(KEY, t.a, 0) == 4);
	assert_true(peek(KEY, t.b, 0) == 3);
	question_unref(same);
}

static void a_failure_is_held_as_an_answer_is(void **state)
{
	struct answer answer = { .asked_at_ms = 5, .answered_at_ms = 10 };
	struct err err, text;

	(void)state;
	put(KEY, t.a, 1, 5, 0);
	err_set(&err, ERR_TEMPORARY, "no route");
	lastpoll_put(fakeobject(KEY), t.a, &answer, &err, 0);
	memset(&answer, 0, sizeof(answer));
	assert_int_equal(lastpoll_peek(fakeobject(KEY), t.a, 0, &answer, &text), READINGS_FAILURE);
	assert_string_equal(text.msg, "no route");
	assert_true(answer.asked_at_ms == 5 && answer.answered_at_ms == 10);
	put(KEY, t.a, 2, 20, 0);
	assert_true(peek(KEY, t.a, 0) == 2);
}

static void old_results_are_forgotten(void **state)
{
	(void)state;
	put(KEY, t.a, 1, 10, 0);
	assert_true(peek(KEY, t.a, 10) == 1);
	assert_true(peek(KEY, t.a, 11) == -2);
	put(KEY, t.b, 2, 30, 10);
	assert_true(peek(KEY, t.a, 0) == 1);
	put(KEY, t.b, 2, 30, 11);
	assert_true(peek(KEY, t.a, 0) == -2); /* also for questions that are no longer asked */
	assert_true(peek(KEY, t.b, 0) == 2);
}

static void forgotten_results_are_gone(void **state)
{
	(void)state;
	put(KEY, t.a, 1, 10, 0);
	put(OTHER_KEY, t.a, 2, 10, 0);
	lastpoll_forget(fakeobject(KEY));
	assert_null(fakeobject(KEY)->polled);
	assert_true(peek(KEY, t.a, 0) == -2);
	assert_true(peek(OTHER_KEY, t.a, 0) == 2);
}

/* Counted: comparisons of texts. */
static unsigned compared;

int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b)
{
	compared++;
	return __real_strcmp(a, b);
}

/*
 * An object has up to a thousand questions with keys that may be long and differ at their ends:
 * they are not compared each with each.
 */
static void many_questions_are_distinguished_by_pointer(void **state)
{
	enum { MANY = 200 };
	struct questions shared = { 0 };
	struct question *many[MANY];
	struct object *o = fakeobject(KEY);

	(void)state;
	for (int i = 0; i < MANY; i++) {
		MEM_AUTO char *key = mem_printf("server and query %d", i);

		many[i] = questions_share(&shared, question(key));
	}
	for (int round = 0; round < 2; round++) {
		compared = 0;
		for (int i = 0; i < MANY; i++) {
			struct answer answer = { .value = i, .asked_at_ms = 1, .answered_at_ms = 5 };

			lastpoll_put(o, many[i], &answer, NULL, 0);
		}
		assert_int_equal(compared, 0);
	}
	for (int i = 0; i < MANY; i++) {
		assert_true(peek(KEY, many[i], 0) == i);
		question_unref(many[i]);
	}
	lastpoll_forget(o);
	assert_null(shared.all);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(each_object_has_its_own_of_a_shared_question),
		CASE(a_failure_is_held_as_an_answer_is),
		CASE(old_results_are_forgotten),
		CASE(forgotten_results_are_gone),
		CASE(many_questions_are_distinguished_by_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
