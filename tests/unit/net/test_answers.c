/* SPDX-License-Identifier: Apache-2.0 */
#include "net/answers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void small_answers_are_not_counted(void **state)
{
	struct shares s = { .total = 1 };
	struct answers_hold h[1000] = { { .namespace_ = "a" } };
	struct err err;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(0, answers_hold(&s, &h[i], ANSWERS_SMALL, &err));
	assert_int_equal(0, s.taken);
	assert_int_equal(-1, answers_hold(&s, &h[0], ANSWERS_SMALL + 1, &err));
}

static void bytes_in_memory_are_held(void **state)
{
	struct shares s = { .total = (size_t)1 << 20, .few = ANSWERS_STEP };
	struct answers_hold a = { .namespace_ = "a" }, b = { .namespace_ = "b" };
	struct err err;

	(void)state;
	assert_int_equal(0, answers_hold(&s, &a, 300000, &err));
	assert_in_range(s.taken, 300000, 300000 + ANSWERS_STEP);
	assert_int_equal(-1, answers_hold(&s, &a, 500000, &err));
	assert_int_equal(ERR_TEMPORARY, err.kind);
	assert_string_equal("the answer is dropped: namespace \"a\" has used up the share of bytes of unfinished "
			    "answers: let servers answer less, or faster",
		err.msg);
	assert_in_range(s.taken, 300000, 300000 + ANSWERS_STEP);
	assert_int_equal(0, answers_hold(&s, &a, 20000, &err)); /* shorter */
	assert_int_equal(2 * ANSWERS_STEP, s.taken);
	assert_int_equal(0, answers_hold(&s, &b, ANSWERS_STEP, &err));
	answers_release(&a);
	answers_release(&a);
	answers_release(&b);
	assert_int_equal(0, s.taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_answers_are_not_counted),
		cmocka_unit_test(bytes_in_memory_are_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
