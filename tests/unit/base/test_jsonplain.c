/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/jsonplain.h"
#include "base/mem.h"

/* In a block of its exact size, so that sanitizers and valgrind detect reads beyond the end. */
static json_t *read_here(const char *text, size_t len)
{
	char *copy = mem_alloc(len ? len : 1);
	json_t *value;

	memcpy(copy, text, len);
	value = jsonplain_read(copy, len);
	free(copy);
	return value;
}

static json_t *read_by_jansson(const char *text, size_t len)
{
	return json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

/* The text, too: it has the order of keys, in which equality is not interested. */
static void must_be_the_same(const char *text, size_t len, const json_t *here)
{
	json_t *there = read_by_jansson(text, len);
	char *ours, *theirs;

	if (!there)
		fail_msg("jansson refuses what was read here: %.*s", (int)len, text);
	ours = json_dumps(here, JSON_ENCODE_ANY);
	theirs = json_dumps(there, JSON_ENCODE_ANY);
	assert_string_equal(ours, theirs);
	free(ours);
	free(theirs);
	json_decref(there);
}

static const char object[] =
	"{\"kind\":\"ScaledObject\",\"metadata\":{\"name\":\"web\",\"generation\":12,\"annotations\":{\"note\":"
	"\"a \\\"b\\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u003c\\u003e\\u0026 "
	"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"}},\"spec\":"
	"{\"min\":-7,\"zero\":0,\"part\":-1.25,\"on\":true,\"off\":false,\"none\":null,\"empty\":[{},[],\"\"],\"two\":"
	"1,\"two\":2},"
	" \"list\" : [ 1 ,\t2\r\n] }";

static void plain_texts_are_read_here(void **state)
{
	static const char *const texts[] = { object, "{}", "[]", "\"\"", "0", "-0", "-12", "1.5", "-0.0",
		"1795551234.567", "1234567890123456789012.25", "true", "false", "null", " \t\r\n5 \n",
		"999999999999999999", "-999999999999999999", "{\"\":{\"a\":[[[1]]]}}", "\"\\u007F\"",
		"{\"a\":1,\"b\":2,\"a\":{\"c\":3}}", "\"\x7F\"" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(texts); i++) {
		json_t *value = read_here(texts[i], strlen(texts[i]));

		if (!value)
			fail_msg("not read here: %s", texts[i]);
		must_be_the_same(texts[i], strlen(texts[i]), value);
		json_decref(value);
	}
}

static void the_rest_is_for_jansson(void **state)
{
	static const char *const texts[] = { "", " ", "1.", ".5", "-.5", "1.x", "1.5.2", "00.5", "1.5e3", "1e3",
		"0.00000000000000000000000000000001", "01", "-", "+1", "1000000000000000000", "\"\\u00e4\"",
		"\"\\u0000\"", "\"\\u20ac\"", "\"\\ud83d\\ude00\"", "\"\\x\"", "\"\\", "\"\\u00", "\"\\u00\"",
		"\"\\u003", "\"a", "\"a\nb\"", "\"\xFF\"", "\"\xC3\"", "\"\xC0\x80\"", "\"\xED\xA0\x80\"",
		"{\"\\n\":1}", "{\"a\":1,}", "[1,]", "[,1]", "[1 2]", "{\"a\" 1}", "{a:1}", "{\"a\":}", "[}", "{]",
		"tru", "truex", "nullnull", "true\v", "1x", "{}x", "{} {}", "'a'", "/**/1", "[", "{", "{\"a\":1" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(texts); i++) {
		json_t *value = read_here(texts[i], strlen(texts[i]));

		if (value)
			fail_msg("read here: %s", texts[i]);
	}
	assert_null(read_here("\"a\0b\"", 5));
	assert_null(read_here("1\0", 2));
}

static void nesting_ends_it(void **state)
{
	char text[2 * 65];

	(void)state;
	for (size_t depth = 64; depth <= 65; depth++) {
		json_t *value;

		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		value = read_here(text, 2 * depth);
		assert_int_equal(value != NULL, depth == 64);
		json_decref(value);
	}
}

static void long_keys_end_it(void **state)
{
	(void)state;
	for (size_t len = 383; len <= 384; len++) {
		struct buf b = BUF_INIT(1024);
		json_t *value;

		buf_printf(&b, "{\"%0*d\":1}", (int)len, 0);
		value = read_here(b.data, b.len);
		assert_int_equal(value != NULL, len == 383);
		if (value)
			must_be_the_same(b.data, b.len, value);
		json_decref(value);
		buf_done(&b);
	}
}

/* With any byte replaced, removed or inserted: whatever is read here jansson reads the same. */
static void nothing_wrong_is_read(void **state)
{
	static const char bytes[] = "\"\\{}[],: \n0129-+.eEtfnu/\x01\x1F\x7F\x80\xC3\xE2\xF0\xFF";
	size_t len = sizeof(object) - 1, read = 0;
	char text[sizeof(object) + 1];

	(void)state;
	for (size_t at = 0; at < len; at++) {
		for (size_t i = 0; i < 3 * sizeof(bytes); i++) { /* with its NUL */
			size_t kept = i / sizeof(bytes), put = kept < 2, skipped = kept != 1;
			json_t *value;

			memcpy(text, object, at);
			text[at] = bytes[i % sizeof(bytes)];
			memcpy(text + at + put, object + at + skipped, len - at - skipped);
			value = read_here(text, len + put - skipped);
			if (!value)
				continue;
			must_be_the_same(text, len + put - skipped, value);
			json_decref(value);
			read++;
		}
	}
	assert_true(read > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_texts_are_read_here),
		cmocka_unit_test(the_rest_is_for_jansson),
		cmocka_unit_test(nesting_ends_it),
		cmocka_unit_test(long_keys_end_it),
		cmocka_unit_test(nothing_wrong_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
