/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "net/namequeue.h"

static struct namequeue queue(size_t total)
{
	return (struct namequeue){ .shares = { .total = total, .few = 1 } };
}

static void namespaces_take_turns(void **state)
{
	struct namequeue q = queue(0);
	struct namequeue_entry a[3] = { 0 }, b[2] = { 0 }, *order[] = { &a[0], &b[0], &a[1], &b[1], &a[2] };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		namequeue_put(&q, &a[i], "a");
	for (size_t i = 0; i < 2; i++)
		namequeue_put(&q, &b[i], "b");
	for (size_t i = 0; i < 5; i++)
		assert_ptr_equal(order[i], namequeue_take(&q));
	assert_null(namequeue_take(&q));
	assert_null(q.lanes);
	assert_null(q.by_namespace);
	for (size_t i = 0; i < 5; i++)
		namequeue_answered(order[i]);
}

static void each_has_its_share(void **state)
{
	struct namequeue q = queue(16);
	struct namequeue_entry a[20] = { 0 }, b = { 0 }, *taken;
	size_t of_a = 0;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		namequeue_put(&q, &a[i], "a");
	while ((taken = namequeue_take(&q)) != NULL)
		assert_ptr_equal(&a[of_a++], taken);
	assert_int_equal(6, of_a); /* three eighths */
	namequeue_put(&q, &b, "b");
	assert_ptr_equal(&b, namequeue_take(&q)); /* past fourteen that came before */
	assert_null(namequeue_take(&q));
	namequeue_answered(&b);
	namequeue_answered(&a[0]);
	assert_ptr_equal(&a[6], namequeue_take(&q));
	for (size_t i = 0; i < 20; i++) {
		namequeue_leave(&a[i]);
		namequeue_answered(&a[i]);
	}
	assert_int_equal(0, q.shares.taken);
	assert_null(q.lanes);
}

/* Who wants a name that another has put behind a thousand of its own does not wait for those. */
static void one_goes_where_fewer_wait(void **state)
{
	struct namequeue q = queue(0);
	struct namequeue_entry a[3] = { 0 }, *first, *second;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		namequeue_put(&q, &a[i], "a");
	namequeue_put(&q, &a[2], "b");
	namequeue_put(&q, &a[2], "b"); /* it does */
	namequeue_put(&q, &a[2], "a"); /* more wait there */
	first = namequeue_take(&q);
	second = namequeue_take(&q);
	assert_ptr_equal(&a[0], first);
	assert_ptr_equal(&a[2], second);
	assert_ptr_equal(&a[1], namequeue_take(&q));
	assert_null(q.lanes);
	for (size_t i = 0; i < 3; i++)
		namequeue_answered(&a[i]);
}

static void who_leaves_is_not_taken(void **state)
{
	struct namequeue q = queue(1);
	struct namequeue_entry one = { 0 }, other = { 0 };

	(void)state;
	namequeue_leave(&one); /* it does not wait */
	namequeue_answered(&one);
	namequeue_put(&q, &one, "");
	namequeue_put(&q, &other, "");
	namequeue_leave(&one);
	assert_ptr_equal(&other, namequeue_take(&q));
	namequeue_put(&q, &one, "");
	assert_null(namequeue_take(&q));
	namequeue_answered(&other);
	assert_ptr_equal(&one, namequeue_take(&q));
	namequeue_answered(&one);
	assert_int_equal(0, q.shares.taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(namespaces_take_turns),
		cmocka_unit_test(each_has_its_share),
		cmocka_unit_test(one_goes_where_fewer_wait),
		cmocka_unit_test(who_leaves_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
