/* SPDX-License-Identifier: Apache-2.0 */
/* How far names are apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/slips.h"

static void slips_are_counted(void **state)
{
	static const struct { const char *a, *b; size_t apart; } cases[] = {
		{ "", "", 0 }, { "", "abc", 3 }, { "web", "web", 0 }, { "web", "WEB", 0 }, { "web", "wbe", 1 }, { "web", "we", 1 }, { "web", "webs", 1 }, { "web", "wob", 1 },
		{ "pollingIntervall", "pollingInterval", 1 }, { "kitten", "sitting", 3 }, { "abc", "xyz", 3 }, { "ca", "abc", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(slips_between(cases[i].a, cases[i].b), cases[i].apart);
		assert_int_equal(slips_between(cases[i].b, cases[i].a), cases[i].apart);
	}
}

static void long_names_are_far(void **state)
{
	char name[SLIPS_LENGTH_MAX + 2] = { 0 };

	(void)state;
	memset(name, 'a', SLIPS_LENGTH_MAX);
	assert_int_equal(slips_between(name, name), 0);
	name[SLIPS_LENGTH_MAX] = 'a';
	assert_true(slips_between(name, "a") == SLIPS_FAR);
	assert_true(slips_between("a", name) == SLIPS_FAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slips_are_counted),
		cmocka_unit_test(long_names_are_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
