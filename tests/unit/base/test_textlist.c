/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of texts: how they grow, are copied, compared and searched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/textlist.h"

static void lists(void **state)
{
	char **a = NULL, **b, word[] = "one";
	size_t a_count = 0, b_count;

	(void)state;
	assert_null(textlist_copy(a, a_count));
	assert_true(textlist_equal(a, 0, NULL, 0));
	assert_false(textlist_has(a, 0, ""));
	textlist_add(&a, &a_count, word);
	word[0] = '?';
	textlist_add(&a, &a_count, "two");
	assert_int_equal(a_count, 2);
	assert_string_equal(a[0], "one");
	assert_true(textlist_has(a, a_count, "two"));
	assert_false(textlist_has(a, a_count, "tw"));

	b = textlist_copy(a, a_count);
	b_count = a_count;
	assert_ptr_not_equal(a[1], b[1]);
	assert_true(textlist_equal(a, a_count, b, b_count));
	assert_false(textlist_equal(a, a_count, b, 1));
	assert_false(textlist_equal(a, 1, b, b_count));
	b[1][0] = 'T';
	assert_false(textlist_equal(a, a_count, b, b_count));

	textlist_done(&a, &a_count);
	textlist_done(&b, &b_count);
	assert_null(a);
	assert_int_equal(a_count, 0);
	textlist_done(&a, &a_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
