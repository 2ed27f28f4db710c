/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/plaintext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static void cuts_and_sanitizes(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *shown;
		size_t used;
	} cases[] = {
		{ "abc", 0, "abc", 3 },
		{ "abc", 3, "abc", 3 },
		{ "abcd", 3, "ab\xE2\x80\xA6", 3 },
		{ "", 3, "", 0 },
		{ "abcd", 1, "\xE2\x80\xA6", 1 },
		{ "\x1b[2Jx\ny\tz\x7f", 0, " [2Jx y z ", 10 },
		{ "\xC2\x9B"
		  "31m",
			0, " 31m", 4 },
		{ "\xC3\xA4\xC3\xB6\xC3\xBC", 2, "\xC3\xA4\xE2\x80\xA6", 2 },
		{ "\xff\xfe", 0, "  ", 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT(1000);

		assert_int_equal(plaintext_put(&out, cases[i].text, cases[i].columns), cases[i].used);
		assert_string_equal(buf_text(&out), cases[i].shown);
		buf_done(&out);
	}
}

static void fields_break_between_words(void **state)
{
	static const struct {
		const char *text;
		size_t width;
		const char *shown;
	} cases[] = {
		{ "one two", 0, "Label   one two\n" },
		{ "one two three four", 21, "Label   one two three\n        four\n" },
		{ "one two three four", 19, "Label   one two\n        three four\n" },
		{ "abcdefghijklmnopqrstuvwxyz x", 19, "Label   abcdefghijk\n        lmnopqrstuv\n        wxyz x\n" },
		{ "", 20, "Label   \n" },
		{ "one two", 10, "Label   one two\n" },
		{ "line\nbreak", 0, "Label   line break\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT(1000);

		plaintext_put_field(&out, "Label", cases[i].text, 8, cases[i].width);
		assert_string_equal(buf_text(&out), cases[i].shown);
		buf_done(&out);
	}
}

static void quotes_for_a_shell(void **state)
{
	static const struct {
		const char *text, *word;
	} rows[] = { { "a-b_c.d/e:1,f=g@h", "a-b_c.d/e:1,f=g@h" }, { "", "''" }, { "*", "'*'" },
		{ "a; rm -rf /", "'a; rm -rf /'" }, { "it's $(x)", "'it'\\''s $(x)'" } };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct buf out = BUF_INIT(1000);

		plaintext_put_word(&out, rows[i].text);
		assert_string_equal(buf_text(&out), rows[i].word);
		buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_for_a_shell),
		cmocka_unit_test(cuts_and_sanitizes),
		cmocka_unit_test(fields_break_between_words),
	};

	return cmocka_run_group_tests_name("cli/plaintext", tests, NULL, NULL);
}
