/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fingerprint.h"

static void same_and_different(void **state)
{
	static const struct {
		const char *strings[3];
		size_t count;
	} rows[] = {
		{ { NULL, NULL, NULL }, 0 },
		{ { NULL, NULL, NULL }, 1 },
		{ { "", NULL, NULL }, 1 },
		{ { "ab", "c", NULL }, 2 },
		{ { "a", "bc", NULL }, 2 },
		{ { "abc", "", NULL }, 2 },
		{ { "abc", NULL, NULL }, 2 },
		{ { NULL, "abc", NULL }, 2 },
		{ { "abc", NULL, NULL }, 1 },
		{ { "abd", NULL, NULL }, 1 },
	};
	char first[FINGERPRINT_TEXT], second[FINGERPRINT_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_ptr_equal(fingerprint_of(rows[i].strings, rows[i].count, first), first);
		assert_int_equal(strlen(first), FINGERPRINT_TEXT - 1);
		assert_int_equal(strspn(first, "0123456789abcdef"), FINGERPRINT_TEXT - 1);
		for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++) {
			fingerprint_of(rows[j].strings, rows[j].count, second);
			if ((strcmp(first, second) == 0) != (i == j))
				fail_msg("rows %zu and %zu", i, j);
		}
	}
}

static void fast(void **state)
{
	(void)state;
	assert_true(fingerprint_fast("spec", 4) == fingerprint_fast("spec", 4));
	assert_true(fingerprint_fast("spec", 4) != fingerprint_fast("spec", 3));
	assert_true(fingerprint_fast("spec", 4) != fingerprint_fast("sped", 4));
	assert_true(fingerprint_fast("", 0) != fingerprint_fast("\0", 1));
	/* worked out elsewhere: Jobs carry one, for a later version to find the same */
	assert_true(fingerprint_fast("spec", 4) == UINT64_C(0x20b09db29234a815));
}

static void random_numbers(void **state)
{
	double sum = 0;
	uint64_t ones = 0, zeros = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		double unit = fingerprint_random_unit();
		uint64_t bits = fingerprint_random();
		assert_true(unit >= 0 && unit < 1);
		sum += unit;
		ones |= bits;
		zeros |= ~bits;
	}
	assert_true(ones == UINT64_MAX && zeros == UINT64_MAX);
	assert_true(sum > 350 && sum < 650); /* sixteen standard deviations */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same_and_different), cmocka_unit_test(fast),
		cmocka_unit_test(random_numbers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
