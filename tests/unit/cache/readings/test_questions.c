/* SPDX-License-Identifier: Apache-2.0 */
/* One question under each key, as long as it has references. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cache/readings/questions.h"

static struct questions questions;
static unsigned freed;

static void data_done(void *data)
{
	(void)data;
	freed++;
}

static const struct scaler_type type = { .name = "none", .data_done = data_done };

static struct question *question(const char *key)
{
	return questions_share(&questions, question_new(&type, mem_dup(key), mem_dup("a source"), mem_zalloc(1)));
}

static void those_of_one_key_are_one(void **state)
{
	struct question *first = question("a"), *second = question("a"), *other = question("b");

	(void)state;
	assert_ptr_equal(first, second);
	assert_ptr_not_equal(first, other);
	assert_int_equal(freed, 1); /* the duplicate */
	assert_ptr_equal(questions_share(&questions, other), other);
	question_unref(second);
	assert_ptr_equal(question("a"), first);
	question_unref(first);
	question_unref(first);
	question_unref(other);
	assert_int_equal(freed, 4);
	assert_null(questions.all);
}

static void an_ended_question_is_made_again(void **state)
{
	(void)state;
	freed = 0;
	for (unsigned i = 1; i <= 3; i++) {
		question_unref(question("a"));
		assert_int_equal(freed, i);
		assert_null(questions.all);
	}
}

static struct question *asked_in(const char *namespace_)
{
	struct question *q = question_new(&type, mem_dup("a"), mem_dup("a source"), mem_zalloc(1));

	q->namespace_ = mem_dup(namespace_);
	return questions_share(&questions, q);
}

static void those_of_two_namespaces_are_neithers(void **state)
{
	struct question *q = asked_in("a");

	(void)state;
	assert_ptr_equal(asked_in("a"), q);
	assert_string_equal(q->namespace_, "a");
	assert_ptr_equal(asked_in("b"), q);
	assert_string_equal(q->namespace_, "");
	assert_ptr_equal(asked_in("a"), q);
	assert_string_equal(q->namespace_, "");
	for (int i = 0; i < 4; i++)
		question_unref(q);
	assert_null(questions.all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_one_key_are_one),
		cmocka_unit_test(an_ended_question_is_made_again),
		cmocka_unit_test(those_of_two_namespaces_are_neithers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
