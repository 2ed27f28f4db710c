/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

static void steps(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		size_t step;
	} rows[] = {
		{ "", 0, 0 },
		{ "\0", 1, 1 },
		{ "a", 1, 1 },
		{ "\x7F", 1, 1 },
		{ "\x80", 1, 0 },     /* a tail alone */
		{ "\xC0\xAF", 2, 0 }, /* overlong '/' */
		{ "\xC1\xBF", 2, 0 },
		{ "\xC2\x80", 2, 2 },
		{ "\xDF\xBF", 2, 2 },
		{ "\xC3", 1, 0 }, /* cut */
		{ "\xC3(", 2, 0 },
		{ "\xE0\x9F\xBF", 3, 0 }, /* overlong */
		{ "\xE0\xA0\x80", 3, 3 },
		{ "\xED\x9F\xBF", 3, 3 }, /* U+D7FF */
		{ "\xED\xA0\x80", 3, 0 }, /* a surrogate */
		{ "\xEE\x80\x80", 3, 3 },
		{ "\xEF\xBF\xBD", 3, 3 },
		{ "\xE2\x82", 2, 0 }, /* cut */
		{ "\xE2\x82(", 3, 0 },
		{ "\xF0\x8F\xBF\xBF", 4, 0 }, /* overlong */
		{ "\xF0\x90\x80\x80", 4, 4 },
		{ "\xF4\x8F\xBF\xBF", 4, 4 }, /* U+10FFFF */
		{ "\xF4\x90\x80\x80", 4, 0 },
		{ "\xF5\x80\x80\x80", 4, 0 },
		{ "\xFF", 1, 0 },
		{ "\xC3\xA9zzz", 5, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (utf8_step(rows[i].bytes, rows[i].len) != rows[i].step)
			fail_msg("row %zu: %zu", i, utf8_step(rows[i].bytes, rows[i].len));
}

static void cuts(void **state)
{
	static const char text[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"; /* 1 + 2 + 3 + 4 */
	static const size_t cut[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10 };

	(void)state;
	for (size_t max = 0; max < sizeof(cut) / sizeof(cut[0]); max++)
		assert_int_equal(utf8_cut(text, strlen(text), max), cut[max]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(steps), cmocka_unit_test(cuts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
