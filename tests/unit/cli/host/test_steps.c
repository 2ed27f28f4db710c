/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void wait_option(void **state)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1: refused */
	} rows[] = { { "0s", 0 }, { "90s", 90000 }, { "1h", 3600000 }, { "1h1s", -1 }, { "-1s", -1 }, { "soon", -1 },
		{ "", -1 } };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		int64_t ms = -1;
		int rc = steps_read_wait(rows[i].text, &ms, &err);

		assert_int_equal(rc, rows[i].ms < 0 ? -1 : 0);
		if (rc < 0)
			assert_non_null(strstr(err.msg, "--wait"));
		else
			assert_int_equal(ms, rows[i].ms);
	}
}

static void time_passes(void **state)
{
	int64_t begin = steps_now_ms();

	(void)state;
	steps_nap();
	assert_true(steps_now_ms() - begin >= 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wait_option),
		cmocka_unit_test(time_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
