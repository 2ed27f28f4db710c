/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

static void empty(void **state)
{
	struct buf b = BUF_INIT(10);

	(void)state;
	assert_string_equal(buf_text(&b), "");
	assert_false(buf_failed(&b));
	buf_append(&b, NULL, 0);
	buf_reset(&b);
	assert_null(b.data);
	char *text = buf_take(&b);
	assert_string_equal(text, "");
	free(text);
	buf_done(&b);
	buf_done_secret(&b);
}

static void grows_and_stays_terminated(void **state)
{
	struct buf b = BUF_INIT(100000);

	(void)state;
	for (int i = 0; i < 10000; i++) {
		buf_printf(&b, "%04d", i);
		assert_int_equal(b.data[b.len], 0);
	}
	assert_int_equal(b.len, 40000);
	assert_memory_equal(b.data + 4 * 1234, "12341235", 8);
	buf_done(&b);
}

/* Exactly the cap fits; one byte more does not, and nothing after it. */
static void cap(void **state)
{
	(void)state;
	for (size_t cap_bytes = 0; cap_bytes < 300; cap_bytes++) {
		struct buf b = BUF_INIT(cap_bytes);
		for (size_t i = 0; i < cap_bytes; i++)
			buf_putc(&b, 'a');
		assert_false(buf_failed(&b));
		assert_int_equal(b.len, cap_bytes);
		buf_putc(&b, 'b');
		assert_true(buf_failed(&b));
		assert_int_equal(b.len, cap_bytes);
		buf_putc(&b, 'c');
		assert_true(b.len <= cap_bytes && strchr(buf_text(&b), 'c') == NULL);
		buf_reset(&b);
		assert_false(buf_failed(&b));
		buf_done(&b);
	}
}

static void an_append_that_does_not_fit_is_dropped_whole(void **state)
{
	struct buf b = BUF_INIT(8);

	(void)state;
	buf_puts(&b, "12345");
	buf_printf(&b, "%s", "6789");
	assert_string_equal(buf_text(&b), "12345");
	assert_true(buf_failed(&b));
	buf_putc(&b, 'x');
	buf_printf(&b, "y");
	buf_append(&b, "z", 1);
	assert_string_equal(buf_text(&b), "12345");
	buf_reset(&b);
	buf_printf(&b, "%s", "12345678");
	assert_false(buf_failed(&b));
	assert_string_equal(buf_text(&b), "12345678");
	buf_done(&b);
}

static void taken_text_is_the_callers(void **state)
{
	struct buf b = BUF_INIT(1000);

	(void)state;
	buf_puts(&b, "mine");
	char *text = buf_take(&b);
	assert_string_equal(text, "mine");
	assert_null(b.data);
	buf_puts(&b, "next");
	assert_string_equal(buf_text(&b), "next");
	assert_string_equal(text, "mine");
	free(text);
	buf_done(&b);
}

static void reserved_room_does_not_move(void **state)
{
	struct buf b = BUF_INIT(5000);

	(void)state;
	buf_reserve(&b, 3000);
	const char *before = b.data;
	for (int i = 0; i < 3000; i++)
		buf_putc(&b, 's');
	assert_ptr_equal(b.data, before);
	buf_reserve(&b, 100000); /* past the cap: no failure, nothing is appended yet */
	assert_false(buf_failed(&b));
	buf_done_secret(&b);
	assert_null(b.data);
}

static void binary_bytes(void **state)
{
	struct buf b = BUF_INIT(16);

	(void)state;
	buf_append(&b, "a\0b", 3);
	assert_int_equal(b.len, 3);
	assert_memory_equal(b.data, "a\0b", 4);
	buf_done(&b);
}

static void json_literals(void **state)
{
	static const struct {
		const char *text, *json;
	} rows[] = {
		{ "", "\"\"" },
		{ "plain text", "\"plain text\"" },
		{ "say \"hi\" \\ /", "\"say \\\"hi\\\" \\\\ /\"" },
		{ "a\nb\tc\rd\be\f", "\"a\\nb\\tc\\rd\\be\\f\"" },
		{ "\x01\x1b\x1f", "\"\\u0001\\u001b\\u001f\"" },
		{ "\x7f", "\"\x7f\"" },
		{ "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"" },
		{ "a\xFFz", "\"a\xEF\xBF\xBDz\"" },
		{ "\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },
		{ "cut \xE2\x82", "\"cut \xEF\xBF\xBD\xEF\xBF\xBD\"" },
		{ "\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
	};
	struct buf b = BUF_INIT(200);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_reset(&b);
		buf_put_json(&b, rows[i].text);
		assert_string_equal(buf_text(&b), rows[i].json);
	}
	buf_done(&b);
}

static void percent_encoding(void **state)
{
	static const struct {
		const char *text, *keep, *encoded;
	} rows[] = {
		{ "", "", "" },
		{ "AZaz09-_.~", "", "AZaz09-_.~" },
		{ "a b&c=d/e+", "", "a%20b%26c%3Dd%2Fe%2B" },
		{ "a b/c", "/", "a%20b/c" },
		{ "a b/c", "/ ", "a b/c" },
		{ "%\x01\x7f\xc3\xa9\xff", "", "%25%01%7F%C3%A9%FF" },
	};
	struct buf b = BUF_INIT(64), small = BUF_INIT(4);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_reset(&b);
		buf_put_percent(&b, rows[i].text, rows[i].keep);
		assert_string_equal(buf_text(&b), rows[i].encoded);
	}
	buf_done(&b);
	buf_put_percent(&small, "ab c", ""); /* an escape is never cut */
	assert_true(buf_failed(&small));
	assert_string_equal(buf_text(&small), "ab");
	buf_done(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty),
		cmocka_unit_test(grows_and_stays_terminated),
		cmocka_unit_test(cap),
		cmocka_unit_test(an_append_that_does_not_fit_is_dropped_whole),
		cmocka_unit_test(taken_text_is_the_callers),
		cmocka_unit_test(reserved_room_does_not_move),
		cmocka_unit_test(binary_bytes),
		cmocka_unit_test(json_literals),
		cmocka_unit_test(percent_encoding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
