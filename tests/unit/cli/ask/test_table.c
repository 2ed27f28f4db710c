/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const headings[] = { "NAME", "MIN", "REASON", NULL };

static void columns_are_aligned_and_the_last_is_cut(void **state)
{
	static const struct {
		size_t width;
		const char *shown;
	} cases[] = {
		{ 0,
			"NAME    MIN  REASON\nworker  0    because it is so\nw\xC3\xA4"
			"b     -\n" },
		{ 24,
			"NAME    MIN  REASON\nworker  0    because it\xE2\x80\xA6\nw\xC3\xA4"
			"b     -\n" },
		{ 5,
			"NAME    MIN  REASON\nworker  0    becau\xE2\x80\xA6\nw\xC3\xA4"
			"b     -\n" },
	};
	struct table t;

	(void)state;
	table_init(&t, headings);
	table_add(&t, (const char *const[]){ "worker", "0", "because it is so" });
	table_add(&t,
		(const char *const[]){ "w\xC3\xA4"
				       "b",
			NULL, "" });
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT(1000);

		table_print(&t, cases[i].width, &out);
		assert_string_equal(buf_text(&out), cases[i].shown);
		buf_done(&out);
	}
	table_done(&t);
}

static void many_rows(void **state)
{
	struct buf out = BUF_INIT(100000);
	struct table t;

	(void)state;
	table_init(&t, headings);
	for (int i = 0; i < 1000; i++)
		table_add(&t, (const char *const[]){ "n", "1", "r" });
	table_print(&t, 80, &out);
	assert_int_equal(out.len, sizeof("NAME  MIN  REASON\n") - 1 + 1000 * (sizeof("n     1    r\n") - 1));
	table_done(&t);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned_and_the_last_is_cut),
		cmocka_unit_test(many_rows),
	};

	return cmocka_run_group_tests_name("cli/ask/table", tests, NULL, NULL);
}
