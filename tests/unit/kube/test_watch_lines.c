/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "kube/watch.h"

struct seen {
	struct buf lines; /* each in brackets */
	int stop_at;      /* the line after which fn returns false; 0: never */
	int count;
};

static bool on_line(void *arg, const char *line, size_t len)
{
	struct seen *seen = arg;

	buf_putc(&seen->lines, '[');
	buf_append(&seen->lines, line, len);
	buf_putc(&seen->lines, ']');
	return ++seen->count != seen->stop_at;
}

/* Whatever the pieces are, the lines are the same. */
static void lines_do_not_depend_on_pieces(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "a\nbc\n", "[a][bc]" },
		{ "a\nrest", "[a]" },
		{ "\n\n\na\n\n", "[a]" },
		{ "a\r\n\r\nb\r\n", "[a][b]" },
		{ "a\rb\n", "[a\rb]" },
		{ "{\"type\":\"ADDED\"}\n{\"type\":\"BOOKMARK\"}\n",
			"[{\"type\":\"ADDED\"}][{\"type\":\"BOOKMARK\"}]" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t len = strlen(cases[i].text);

		for (size_t piece = 1; piece <= len + 1; piece++) {
			struct watch_lines *lines = watch_lines_new(1000);
			struct seen seen = { BUF_INIT(1000), 0, 0 };

			for (size_t at = 0; at < len; at += piece)
				assert_true(watch_lines_feed(lines, cases[i].text + at,
					len - at < piece ? len - at : piece, on_line, &seen));
			assert_string_equal(buf_text(&seen.lines), cases[i].want);
			buf_done(&seen.lines);
			watch_lines_free(lines);
		}
	}
}

static void nul_bytes_are_bytes(void **state)
{
	struct watch_lines *lines = watch_lines_new(1000);
	struct seen seen = { BUF_INIT(1000), 0, 0 };

	(void)state;
	assert_true(watch_lines_feed(lines, "a\0b\nc", 5, on_line, &seen));
	assert_int_equal(seen.lines.len, 5);
	assert_memory_equal(seen.lines.data, "[a\0b]", 5);
	buf_done(&seen.lines);
	watch_lines_free(lines);
}

/* The cap holds for a line in one piece, in two, and for one whose end never comes. */
static void a_line_has_a_cap(void **state)
{
	static const struct {
		const char *first, *second;
		bool good;
	} cases[] = {
		{ "12345678\n", "", true },
		{ "123456789\n", "", false },
		{ "1234", "5678\n", true },
		{ "1234", "56789\n", false },
		{ "12345678", "\n", true },
		{ "123456789", "", false },
		{ "1234", "56789", false },
		{ "12345678\n", "12345678\n", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct watch_lines *lines = watch_lines_new(8);
		struct seen seen = { BUF_INIT(1000), 0, 0 };
		bool good = watch_lines_feed(lines, cases[i].first, strlen(cases[i].first), on_line, &seen) &&
			watch_lines_feed(lines, cases[i].second, strlen(cases[i].second), on_line, &seen);

		if (good != cases[i].good)
			fail_msg("case %zu", i);
		buf_done(&seen.lines);
		watch_lines_free(lines);
	}
}

static void the_receiver_may_say_no(void **state)
{
	struct watch_lines *lines = watch_lines_new(1000);
	struct seen seen = { BUF_INIT(1000), 2, 0 };

	(void)state;
	assert_false(watch_lines_feed(lines, "a\nb\nc\n", 6, on_line, &seen));
	assert_string_equal(buf_text(&seen.lines), "[a][b]");
	buf_done(&seen.lines);
	watch_lines_free(lines);
	watch_lines_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_do_not_depend_on_pieces),
		cmocka_unit_test(nul_bytes_are_bytes),
		cmocka_unit_test(a_line_has_a_cap),
		cmocka_unit_test(the_receiver_may_say_no),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
