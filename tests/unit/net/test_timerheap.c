/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/timerheap.h"

#define TIMERS 200
#define STEPS  20000

static uint64_t seed = 1;

static uint64_t random_below(uint64_t limit) /* xorshift: the same numbers in every run */
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % limit;
}

static void equal_times_fire_in_order(void **state)
{
	struct timerheap h = { .entries = NULL };
	size_t a = 0, b = 0, c = 0;

	(void)state;
	assert_null(timerheap_first(&h));
	timerheap_put(&h, &a, 7);
	timerheap_put(&h, &b, 7);
	timerheap_put(&h, &c, 3);
	assert_ptr_equal(timerheap_first(&h)->place, &c);
	assert_int_equal(timerheap_first(&h)->due_ms, 3);
	timerheap_put(&h, &c, 9);
	assert_ptr_equal(timerheap_first(&h)->place, &a);
	timerheap_put(&h, &a, 7); /* moved to where it is: behind b now */
	assert_ptr_equal(timerheap_first(&h)->place, &b);
	timerheap_take(&h, &b);
	timerheap_take(&h, &b);
	assert_int_equal(b, 0);
	assert_ptr_equal(timerheap_first(&h)->place, &a);
	timerheap_take(&h, &a);
	timerheap_take(&h, &c);
	assert_null(timerheap_first(&h));
	timerheap_done(&h);
}

/* Beside a plain list. */
static void the_first_is_first_whatever_happens(void **state)
{
	struct timerheap h = { .entries = NULL };
	size_t places[TIMERS] = { 0 };
	int64_t due_ms[TIMERS];
	uint64_t order[TIMERS], orders = 0;

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		size_t i = (size_t)random_below(TIMERS), first = TIMERS, count = 0;

		if (random_below(3) > 0) {
			due_ms[i] = (int64_t)random_below(50);
			order[i] = orders++;
			timerheap_put(&h, &places[i], due_ms[i]);
		} else {
			timerheap_take(&h, &places[i]);
		}
		for (size_t k = 0; k < TIMERS; k++) {
			if (!places[k])
				continue;
			count++;
			if (first == TIMERS || due_ms[k] < due_ms[first] ||
				(due_ms[k] == due_ms[first] && order[k] < order[first]))
				first = k;
		}
		assert_int_equal(h.count, count);
		if (count > 0)
			assert_ptr_equal(timerheap_first(&h)->place, &places[first]);
	}
	for (size_t i = 0; i < TIMERS; i++)
		timerheap_take(&h, &places[i]);
	assert_null(timerheap_first(&h));
	timerheap_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_times_fire_in_order),
		cmocka_unit_test(the_first_is_first_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
