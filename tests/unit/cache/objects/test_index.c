/* SPDX-License-Identifier: Apache-2.0 */
/* Keys under marks are found as long as they exist, also behind gaps and with colliding marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "cache/objects/index.h"

static unsigned count(const struct index *x, uint64_t mark)
{
	const struct index_entry *at = NULL;
	unsigned n = 0;

	while (index_next(x, mark, &at))
		n++;
	return n;
}

static void keys_are_found_by_their_mark(void **state)
{
	struct index x = { 0 };
	const struct index_entry *at = NULL;

	(void)state;
	assert_null(index_next(&x, 7, &at));
	index_remove(&x, 7, "a");
	index_add(&x, 7, "a");
	index_add(&x, 7, "b");
	index_add(&x, 7 + 16, "c"); /* the same slot */
	assert_int_equal(count(&x, 7), 2);
	assert_int_equal(count(&x, 23), 1);
	index_remove(&x, 7, "c");
	assert_int_equal(count(&x, 7), 2);
	index_remove(&x, 7, "a");
	at = NULL;
	assert_string_equal(index_next(&x, 7, &at), "b");
	assert_null(index_next(&x, 7, &at));
	assert_int_equal(count(&x, 23), 1);
	index_done(&x);
}

/* Many that fall on few slots, and wrap around the end. */
static void removing_leaves_no_gap(void **state)
{
	struct index x = { 0 };
	char key[16];

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		index_add(&x, ~(uint64_t)0 - i % 5, key);
	}
	for (unsigned i = 0; i < 300; i += 2) {
		snprintf(key, sizeof(key), "k%u", i);
		index_remove(&x, ~(uint64_t)0 - i % 5, key);
	}
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(count(&x, ~(uint64_t)0 - i), 30);
	assert_int_equal(x.count, 150);
	index_done(&x);
}

/*
 * One namespace may have ten thousand HPAs for one target: they take one slot, or each that comes
 * or goes would be compared with all, and one that goes move all behind it.
 */
static void a_crowd_under_one_mark_takes_one_slot(void **state)
{
	struct index x = { 0 };
	size_t size;
	char key[16];

	(void)state;
	index_add(&x, 7, "first");
	index_add(&x, 23, "of another mark, at the same place");
	size = x.size;
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		index_add(&x, 7, key);
	}
	assert_int_equal(x.size, size);
	assert_int_equal(x.marks, 2);
	assert_int_equal(count(&x, 7), 10001);
	assert_int_equal(count(&x, 23), 1);
	for (unsigned i = 10000; i-- > 0;) {
		snprintf(key, sizeof(key), "k%u", i);
		index_remove(&x, 7, key);
	}
	assert_int_equal(count(&x, 7), 1);
	index_remove(&x, 7, "first");
	assert_int_equal(x.marks, 1);
	assert_int_equal(count(&x, 23), 1);
	index_done(&x);
}

static void marks_tell_things_apart(void **state)
{
	(void)state;
	assert_int_equal(index_mark("shop", "HPA", "web"), index_mark("shop", "HPA", "web"));
	assert_int_not_equal(index_mark("shop", "HPA", "web"), index_mark("shop", "Deployment", "web"));
	assert_int_not_equal(index_mark("shop", "HPA", "web"), index_mark("bank", "HPA", "web"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_found_by_their_mark),
		cmocka_unit_test(removing_leaves_no_gap),
		cmocka_unit_test(a_crowd_under_one_mark_takes_one_slot),
		cmocka_unit_test(marks_tell_things_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
