/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/strmap.h"

static void empty(void **state)
{
	struct strmap m = { NULL, 0 }, copy = { NULL, 0 };

	(void)state;
	assert_null(strmap_get(&m, "a"));
	strmap_remove(&m, "a");
	strmap_remove_secret(&m, "a");
	strmap_copy(&copy, &m);
	assert_true(strmap_equal(&m, &copy));
	strmap_done(&m);
	strmap_done_secret(&copy);
}

/*
 * Every order of insertion of up to six keys, with removals in between: sorted, complete, right
 * values.
 */
static void stays_sorted(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed < 500; seed++) {
		struct strmap m = { NULL, 0 };
		char there[64] = { 0 };
		unsigned random = seed * 2654435761u;
		for (int step = 0; step < 60; step++) {
			char key[8], value[16];
			random = random * 1664525u + 1013904223u;
			unsigned k = (random >> 16) % 20;
			snprintf(key, sizeof(key), "k%02u", k);
			snprintf(value, sizeof(value), "v%d", step);
			if ((random >> 28) % 3 == 0) {
				(step % 2 ? strmap_remove : strmap_remove_secret)(&m, key);
				there[k] = 0;
			} else {
				strmap_set(&m, key, value);
				there[k] = (char)(step + 1);
			}
			size_t count = 0;
			for (unsigned i = 0; i < 20; i++) {
				snprintf(key, sizeof(key), "k%02u", i);
				const char *got = strmap_get(&m, key);
				if (there[i] == 0) {
					assert_null(got);
					continue;
				}
				snprintf(value, sizeof(value), "v%d", there[i] - 1);
				assert_non_null(got);
				assert_string_equal(got, value);
				count++;
			}
			assert_int_equal(m.count, count);
			for (size_t i = 1; i < m.count; i++)
				assert_true(strcmp(m.pairs[i - 1].key, m.pairs[i].key) < 0);
		}
		strmap_done(&m);
	}
}

static void value_may_be_its_own(void **state)
{
	struct strmap m = { NULL, 0 };

	(void)state;
	strmap_set(&m, "a", "one");
	strmap_set(&m, "a", strmap_get(&m, "a"));
	strmap_set(&m, "b", strmap_get(&m, "a"));
	assert_string_equal(strmap_get(&m, "a"), "one");
	assert_string_equal(strmap_get(&m, "b"), "one");
	strmap_done(&m);
}

static void copies_are_independent_and_grow(void **state)
{
	(void)state;
	for (int count = 0; count < 40; count++) {
		struct strmap m = { NULL, 0 }, copy = { NULL, 0 };
		char key[8];
		for (int i = 0; i < count; i++) {
			snprintf(key, sizeof(key), "%03d", i);
			strmap_set(&m, key, "v");
		}
		strmap_copy(&copy, &m);
		assert_true(strmap_equal(&m, &copy));
		strmap_set(&copy, "extra", "");
		assert_false(strmap_equal(&m, &copy));
		for (int i = 0; i < 10; i++) {
			snprintf(key, sizeof(key), "x%d", i);
			strmap_set(&copy, key, "v");
		}
		assert_int_equal(copy.count, count + 11);
		strmap_done(&m);
		strmap_done_secret(&copy);
		assert_int_equal(copy.count, 0);
	}
}

static void differing_values(void **state)
{
	struct strmap a = { NULL, 0 }, b = { NULL, 0 };

	(void)state;
	strmap_set(&a, "app", "web");
	strmap_set(&b, "app", "Web");
	assert_false(strmap_equal(&a, &b));
	strmap_set(&b, "app", "web");
	assert_true(strmap_equal(&a, &b));
	strmap_done(&a);
	strmap_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(stays_sorted),
		cmocka_unit_test(value_may_be_its_own),
		cmocka_unit_test(copies_are_independent_and_grow),
		cmocka_unit_test(differing_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
