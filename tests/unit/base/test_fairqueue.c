/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/fairqueue.h"

static struct fairqueue queue(size_t total)
{
	return (struct fairqueue){ .shares = { .total = total, .few = 1 } };
}

static void namespaces_take_turns(void **state)
{
	struct fairqueue q = queue(0);
	struct fairqueue_entry a[3] = { 0 }, b[2] = { 0 }, *order[] = { &a[0], &b[0], &a[1], &b[1], &a[2] };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		fairqueue_put(&q, &a[i], "a");
	for (size_t i = 0; i < 2; i++)
		fairqueue_put(&q, &b[i], "b");
	for (size_t i = 0; i < 5; i++)
		assert_ptr_equal(order[i], fairqueue_take(&q));
	assert_null(fairqueue_take(&q));
	assert_null(q.lanes);
	assert_null(q.by_namespace);
	for (size_t i = 0; i < 5; i++)
		fairqueue_end(order[i]);
}

static void each_has_its_share(void **state)
{
	struct fairqueue q = queue(16);
	struct fairqueue_entry a[20] = { 0 }, b = { 0 }, *taken;
	size_t of_a = 0;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		fairqueue_put(&q, &a[i], "a");
	while ((taken = fairqueue_take(&q)) != NULL)
		assert_ptr_equal(&a[of_a++], taken);
	assert_int_equal(6, of_a); /* three eighths */
	fairqueue_put(&q, &b, "b");
	assert_ptr_equal(&b, fairqueue_take(&q)); /* past fourteen that came before */
	assert_null(fairqueue_take(&q));
	fairqueue_end(&b);
	fairqueue_end(&a[0]);
	assert_ptr_equal(&a[6], fairqueue_take(&q));
	for (size_t i = 0; i < 20; i++) {
		fairqueue_leave(&a[i]);
		fairqueue_end(&a[i]);
	}
	assert_int_equal(0, q.shares.taken);
	assert_null(q.lanes);
}

/* Work in pieces: namespaces alternate, and each entry stays queued. */
static void pieces_take_turns(void **state)
{
	struct fairqueue q = queue(0);
	struct fairqueue_entry a[2] = { 0 }, b = { 0 };

	(void)state;
	assert_null(fairqueue_turn(&q));
	fairqueue_put(&q, &a[0], "a");
	fairqueue_put(&q, &a[1], "a");
	fairqueue_put(&q, &b, "b");
	for (size_t i = 0; i < 3; i++) {
		assert_ptr_equal(&a[0], fairqueue_turn(&q));
		assert_ptr_equal(&b, fairqueue_turn(&q));
	}
	fairqueue_leave(&a[0]);
	assert_ptr_equal(&a[1], fairqueue_turn(&q));
	fairqueue_leave(&b);
	assert_ptr_equal(&a[1], fairqueue_turn(&q));
	fairqueue_leave(&a[1]);
	assert_null(fairqueue_turn(&q));
}

/* An entry moved from behind a thousand of another namespace does not wait for those. */
static void one_goes_where_fewer_wait(void **state)
{
	struct fairqueue q = queue(0);
	struct fairqueue_entry a[3] = { 0 }, *first, *second;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		fairqueue_put(&q, &a[i], "a");
	fairqueue_put(&q, &a[2], "b");
	fairqueue_put(&q, &a[2], "b"); /* it does */
	fairqueue_put(&q, &a[2], "a"); /* more wait there */
	first = fairqueue_take(&q);
	second = fairqueue_take(&q);
	assert_ptr_equal(&a[0], first);
	assert_ptr_equal(&a[2], second);
	assert_ptr_equal(&a[1], fairqueue_take(&q));
	assert_null(q.lanes);
	for (size_t i = 0; i < 3; i++)
		fairqueue_end(&a[i]);
}

static void a_left_entry_is_not_taken(void **state)
{
	struct fairqueue q = queue(1);
	struct fairqueue_entry one = { 0 }, other = { 0 };

	(void)state;
	fairqueue_leave(&one); /* it does not wait */
	fairqueue_end(&one);
	fairqueue_put(&q, &one, "");
	fairqueue_put(&q, &other, "");
	fairqueue_leave(&one);
	assert_ptr_equal(&other, fairqueue_take(&q));
	fairqueue_put(&q, &one, "");
	assert_null(fairqueue_take(&q));
	fairqueue_end(&other);
	assert_ptr_equal(&one, fairqueue_take(&q));
	fairqueue_end(&one);
	assert_int_equal(0, q.shares.taken);
}

static void cleared_it_waits_no_longer(void **state)
{
	struct fairqueue q = queue(0);
	struct fairqueue_entry a[2] = { 0 }, b = { 0 };

	(void)state;
	fairqueue_put(&q, &a[0], "a");
	fairqueue_put(&q, &a[1], "a");
	fairqueue_put(&q, &b, "b");
	fairqueue_clear(&q);
	assert_null(q.lanes);
	assert_null(fairqueue_take(&q));
	fairqueue_leave(&b); /* fine */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(namespaces_take_turns),
		cmocka_unit_test(pieces_take_turns),
		cmocka_unit_test(each_has_its_share),
		cmocka_unit_test(cleared_it_waits_no_longer),
		cmocka_unit_test(one_goes_where_fewer_wait),
		cmocka_unit_test(a_left_entry_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
