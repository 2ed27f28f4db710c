/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Takes one at a time, until it is refused or has so many. */
static size_t take_all(struct shares *s, struct shares_hold *h, const char *namespace_, size_t most)
{
	while (h->has < most && shares_take(s, h, namespace_, 1))
		continue;
	return h->has;
}

static void without_a_limit_all_is_given(void **state)
{
	struct shares s = { 0 };
	struct shares_hold h = { 0 };

	(void)state;
	assert_true(shares_take(&s, &h, "a", SIZE_MAX / 2));
	assert_int_equal(SIZE_MAX / 2, s.taken);
	shares_give(&h, SIZE_MAX);
	assert_int_equal(0, s.taken);
	assert_null(s.parties);
}

static void each_leaves_others_something(void **state)
{
	struct shares s = { .total = 640, .few = 4 };
	struct shares_hold h[4] = { 0 };

	(void)state;
	assert_int_equal(240, take_all(&s, &h[0], "first", 1000)); /* half of what is not reserved */
	assert_int_equal(120, take_all(&s, &h[1], "second", 1000));
	assert_int_equal(60, take_all(&s, &h[2], "third", 1000));
	assert_false(shares_take(&s, &h[3], "first", 1)); /* the owner counts, not the thing */
	assert_int_equal(30, take_all(&s, &h[3], "", 1000));
	for (size_t i = 0; i < 4; i++)
		shares_give(&h[i], h[i].has);
	assert_int_equal(0, s.taken);
	assert_null(s.parties);
}

static void a_small_holder_gets_some_beside_twenty(void **state)
{
	struct shares s = { .total = 640, .few = 4 };
	struct shares_hold h[21] = { 0 };
	char name[8];

	(void)state;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "bad-%d", i);
		assert_true(take_all(&s, &h[i], name, 1000) >= 4);
	}
	assert_int_equal(4, take_all(&s, &h[20], "good", 1000));
	for (int i = 0; i < 21; i++)
		shares_give(&h[i], h[i].has);
	assert_null(s.parties);
}

static void returned_amounts_are_available_again(void **state)
{
	struct shares s = { .total = 16, .few = 4 }; /* 12 and 4 */
	struct shares_hold a = { 0 }, b = { 0 };

	(void)state;
	assert_true(shares_take(&s, &a, "a", 4));
	assert_false(shares_take(&s, &b, "b", 5));
	shares_give(&a, 3);
	assert_int_equal(1, a.has);
	assert_true(shares_take(&s, &b, "b", 5));
	assert_true(shares_take(&s, &b, "not looked at", 0));
	shares_give(&a, 5); /* has no more than one */
	assert_int_equal(5, s.taken);
	shares_give(&a, 1);
	shares_give(&b, 5);
	assert_null(s.parties);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_limit_all_is_given),
		cmocka_unit_test(each_leaves_others_something),
		cmocka_unit_test(a_small_holder_gets_some_beside_twenty),
		cmocka_unit_test(returned_amounts_are_available_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
