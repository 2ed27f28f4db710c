/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

static json_t *parsed(const char *text)
{
	struct err err;
	json_t *value = json_parse(text, strlen(text), &err);

	if (value == NULL)
		fail_msg("%s: %s", text, err.msg);
	return value;
}

static void parses(void **state)
{
	static const char *const good[] = { "{}", "[]", "null", "\"x\"", "5", "{\"a\":1,\"a\":2}",
		"\"nul \\u0000 inside\"", " {\"a\": [1, 2.5, true] } " };
	static const char *const bad[] = { "", "{", "{}x", "{'a':1}", "[1,]", "\"\xFF\"", "\"\\ud800\"", "nul",
		"[1e999]", "[99999999999999999999999]" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		json_decref(parsed(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err;
		if (json_parse(bad[i], strlen(bad[i]), &err) != NULL)
			fail_msg("%s was read", bad[i]);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_non_null(strstr(err.msg, "JSON, line "));
	}
}

/* Signs inside strings do not count. */
static void foreign_values_are_counted(void **state)
{
	struct buf text = BUF_INIT(2 << 20);
	struct err err = { 0 };

	(void)state;
	buf_puts(&text, "[\",[{:\\\",\"");
	for (int i = 3; i < JSON_FOREIGN_VALUES_MAX; i += 2)
		buf_puts(&text, ",{}");
	assert_true(json_is_bearable(text.data, text.len, &err));
	assert_true(json_is_bearable(text.data, text.len - 4, &err)); /* cut off behind a { */
	buf_puts(&text, "]");
	json_decref(parsed(buf_text(&text)));
	buf_puts(&text, ",{}");
	assert_false(json_is_bearable(text.data, text.len, &err));
	assert_string_equal(err.msg, "it has more than 100000 values and names");
	assert_int_equal(err.kind, ERR_INVALID);
	assert_null(json_parse_foreign(text.data, text.len, &err));
	buf_done(&text);
	assert_true(json_is_bearable("\"a\\", 3, &err)); /* no end of the quotes, nothing behind the backslash */
	assert_null(json_parse_foreign("\"a\\", 3, &err));
	assert_non_null(strstr(err.msg, "JSON, line 1"));
}

static void the_last_of_two_wins(void **state)
{
	json_t *value = parsed("{\"a\":1,\"a\":2}");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(value, "a")), 2);
	json_decref(value);
}

static void depth_is_limited(void **state)
{
	struct buf text = BUF_INIT(200000);
	struct err err;

	(void)state;
	for (int i = 0; i < 100000; i++)
		buf_putc(&text, '[');
	assert_null(json_parse(text.data, text.len, &err));
	assert_int_equal(err.kind, ERR_INVALID);
	buf_done(&text);
}

static void paths(void **state)
{
	json_t *value = parsed("{\"spec\":{\"triggers\":[{},{\"metadata\":{\"a.b/c\":1,\"x\":2}}]}}");
	struct json_at root = json_root(value);
	struct json_at spec = json_field(&root, "spec");
	struct json_at triggers = json_field(&spec, "triggers");
	struct json_at second = json_element(&triggers, 1);
	struct json_at metadata = json_field(&second, "metadata");
	struct json_at dotted = json_field(&metadata, "a.b/c");
	struct json_at absent = json_field(&dotted, "y");
	char path[128];

	(void)state;
	assert_string_equal(json_path(&root, path, sizeof(path)), "");
	assert_string_equal(json_path(&spec, path, sizeof(path)), "spec");
	assert_string_equal(json_path(&second, path, sizeof(path)), "spec.triggers[1]");
	assert_string_equal(json_path(&metadata, path, sizeof(path)), "spec.triggers[1].metadata");
	assert_string_equal(json_path(&dotted, path, sizeof(path)), "spec.triggers[1].metadata[a.b/c]");
	assert_string_equal(json_path(&absent, path, sizeof(path)), "spec.triggers[1].metadata[a.b/c].y");
	assert_null(absent.value);
	assert_string_equal(json_path(&metadata, path, 10), "spec.trig");
	assert_string_equal(json_path(&metadata, path, 1), "");
	json_decref(value);
}

static void strings(void **state)
{
	json_t *value = parsed("{\"s\":\"text\",\"empty\":\"\",\"null\":null,\"n\":5,\"a\":[],\"o\":{},\"t\":true,"
			       "\"nul\":\"a\\u0000b\"}");
	struct json_at root = json_root(value);
	char *out = mem_dup("before");
	struct err err;

	(void)state;
	assert_int_equal(json_get_string(&root, "absent", &out, &err), 0);
	assert_int_equal(json_get_string(&root, "null", &out, &err), 0);
	assert_string_equal(out, "before");
	assert_int_equal(json_get_string(&root, "s", &out, &err), 0);
	assert_string_equal(out, "text");
	assert_int_equal(json_get_string(&root, "empty", &out, &err), 0);
	assert_string_equal(out, "");
	assert_int_equal(json_get_string(&root, "n", &out, &err), -1);
	assert_string_equal(err.msg, "n: must be a string, not a number");
	assert_int_equal(json_get_string(&root, "a", &out, &err), -1);
	assert_string_equal(err.msg, "a: must be a string, not an array");
	assert_int_equal(json_get_string(&root, "o", &out, &err), -1);
	assert_int_equal(json_get_string(&root, "t", &out, &err), -1);
	assert_string_equal(err.msg, "t: must be a string, not a boolean");
	assert_int_equal(json_get_string(&root, "nul", &out, &err), -1);
	assert_string_equal(err.msg, "nul: must not contain a NUL character");
	assert_string_equal(out, "");
	free(out);
	json_decref(value);
}

static void texts_in_one_block(void **state)
{
	json_t *value = parsed("{\"a\":\"one\",\"b\":\"\",\"c\":\"three\",\"n\":5}");
	struct json_at root = json_root(value), nothing = json_field(&root, "none");
	char *a = NULL, *b = NULL, *absent = NULL, *c = NULL;
	const struct json_text texts[] = { { "a", &a }, { "b", &b }, { "none", &absent }, { "c", &c } },
			       wrong[] = { { "c", &c }, { "n", &b } };
	struct err err;

	(void)state;
	assert_int_equal(json_get_texts(&root, texts, 4, &err), 0);
	assert_string_equal(a, "one");
	assert_string_equal(b, "");
	assert_string_equal(absent, "");
	assert_string_equal(c, "three");
	assert_ptr_equal(c, a + sizeof("one") + 2);
	assert_int_equal(json_get_texts(&root, wrong, 2, &err), -1);
	assert_string_equal(err.msg, "n: must be a string, not a number");
	assert_ptr_equal(b, a + sizeof("one"));
	free(a);
	assert_int_equal(json_get_texts(&nothing, texts, 1, &err), 0);
	assert_string_equal(a, "");
	free(a);
	json_decref(value);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int result32, result64;
		int64_t value;
		const char *says32;
	} rows[] = {
		{ "0", 0, 0, 0, NULL },
		{ "-7", 0, 0, -7, NULL },
		{ "2147483647", 0, 0, INT32_MAX, NULL },
		{ "-2147483648", 0, 0, INT32_MIN, NULL },
		{ "2147483648", -1, 0, INT64_C(2147483648), "v: must be from -2147483648 to 2147483647" },
		{ "-2147483649", -1, 0, INT64_C(-2147483649), "v: must be from -2147483648 to 2147483647" },
		{ "9223372036854775807", -1, 0, INT64_MAX, "v: must be from" },
		{ "3.0", 0, 0, 3, NULL },
		{ "3e2", 0, 0, 300, NULL },
		{ "3.5", -1, -1, 0, "v: must be a whole number" },
		{ "1e300", -1, -1, 0, "v: must be from" },
		{ "-9.3e18", -1, -1, 0, "v: must be from" },
		{ "9223372036854775808.0", -1, -1, 0, "v: must be from" },
		{ "\"5\"", -1, -1, 0, "v: must be a whole number, not a string" },
		{ "true", -1, -1, 0, "v: must be a whole number, not a boolean" },
		{ "{}", -1, -1, 0, "v: must be a whole number, not an object" },
		{ "null", 0, 0, 77, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64];
		snprintf(text, sizeof(text), "{\"v\":%s}", rows[i].text);
		json_t *value = parsed(text);
		struct json_at root = json_root(value);
		int32_t i32 = 77;
		int64_t i64 = 77;
		struct err err;
		if (json_get_int32(&root, "v", &i32, &err) != rows[i].result32)
			fail_msg("%s as int32", rows[i].text);
		if (rows[i].result32 < 0)
			assert_non_null(strstr(err.msg, rows[i].says32));
		assert_int_equal(i32, rows[i].result32 < 0 ? 77 : rows[i].value);
		if (json_get_int64(&root, "v", &i64, &err) != rows[i].result64)
			fail_msg("%s as int64", rows[i].text);
		assert_true(i64 == (rows[i].result64 < 0 ? 77 : rows[i].value));
		json_decref(value);
	}
}

static void booleans_and_times(void **state)
{
	json_t *value = parsed(
		"{\"yes\":true,\"no\":false,\"word\":\"true\",\"t\":\"2026-01-02T03:04:05Z\",\"bad\":\"yesterday\"}");
	struct json_at root = json_root(value);
	bool flag = false;
	int64_t ms = 7;
	struct err err;

	(void)state;
	assert_int_equal(json_get_bool(&root, "yes", &flag, &err), 0);
	assert_true(flag);
	assert_int_equal(json_get_bool(&root, "absent", &flag, &err), 0);
	assert_true(flag);
	assert_int_equal(json_get_bool(&root, "no", &flag, &err), 0);
	assert_false(flag);
	assert_int_equal(json_get_bool(&root, "word", &flag, &err), -1);
	assert_string_equal(err.msg, "word: must be true or false, not a string");
	assert_int_equal(json_get_time(&root, "absent", &ms, &err), 0);
	assert_true(ms == 7);
	assert_int_equal(json_get_time(&root, "t", &ms, &err), 0);
	assert_true(ms == INT64_C(1767323045000));
	assert_int_equal(json_get_time(&root, "bad", &ms, &err), -1);
	assert_non_null(strstr(err.msg, "bad: \"yesterday\" is not a time like 2026-01-02T03:04:05Z"));
	assert_int_equal(json_get_time(&root, "yes", &ms, &err), -1);
	assert_true(ms == INT64_C(1767323045000));
	json_decref(value);
}

static void maps(void **state)
{
	json_t *value = parsed("{\"spec\":{\"m\":{\"b\":\"2\",\"a\":\"1\",\"c\":\"\"},\"bad\":{\"ok\":\"x\","
			       "\"listName\":[1]},\"null\":{\"x\":null},\"s\":\"x\",\"nul\":{\"a\":\"\\u0000\"}}}");
	struct json_at root = json_root(value);
	struct json_at spec = json_field(&root, "spec");
	struct strmap map = { NULL, 0 };
	struct err err;

	(void)state;
	assert_int_equal(json_get_strmap(&spec, "absent", &map, &err), 0);
	assert_int_equal(map.count, 0);
	assert_int_equal(json_get_strmap(&spec, "bad", &map, &err), -1);
	assert_string_equal(err.msg, "spec.bad.listName: must be a string, not an array");
	assert_int_equal(json_get_strmap(&spec, "null", &map, &err), -1);
	assert_string_equal(err.msg, "spec.null.x: must be a string, not null");
	assert_int_equal(json_get_strmap(&spec, "s", &map, &err), -1);
	assert_int_equal(json_get_strmap(&spec, "nul", &map, &err), -1);
	assert_int_equal(map.count, 0);
	assert_int_equal(json_get_strmap(&spec, "m", &map, &err), 0);
	assert_int_equal(map.count, 3);
	assert_string_equal(strmap_get(&map, "a"), "1");
	assert_string_equal(strmap_get(&map, "b"), "2");
	assert_string_equal(strmap_get(&map, "c"), "");
	strmap_done(&map);
	json_decref(value);
}

static void a_wrong_parent_is_an_error(void **state)
{
	json_t *value = parsed("{\"spec\":[1]}");
	struct json_at root = json_root(value);
	struct json_at spec = json_field(&root, "spec");
	struct json_at none = json_field(&root, "none");
	char *text = NULL;
	int32_t number = 0;
	struct err err;

	(void)state;
	assert_int_equal(json_get_string(&spec, "x", &text, &err), -1);
	assert_string_equal(err.msg, "spec: must be an object, not an array");
	assert_int_equal(json_get_int32(&spec, "x", &number, &err), -1);
	assert_int_equal(json_get_string(&none, "x", &text, &err), 0);
	assert_null(text);
	assert_int_equal(json_wrong(&spec, &err, "is wrong"), -1);
	assert_string_equal(err.msg, "spec: is wrong");
	assert_int_equal(json_wrong(&root, &err, "is wrong"), -1);
	assert_string_equal(err.msg, "is wrong");
	json_decref(value);
}

static void huge_maps_take_no_time(void **state)
{
	struct buf text = BUF_INIT((size_t)8 << 20);
	struct strmap map = { NULL, 0 };
	struct err err;

	(void)state;
	buf_puts(&text, "{\"m\":{");
	for (int i = 200000; i > 0; i--)
		buf_printf(&text, "\"k%06d\":\"v\"%s", i, i > 1 ? "," : "}}");
	json_t *value = json_parse(text.data, text.len, &err);
	assert_non_null(value);
	struct json_at root = json_root(value);
	assert_int_equal(json_get_strmap(&root, "m", &map, &err), 0);
	assert_int_equal(map.count, 200000);
	assert_string_equal(map.pairs[0].key, "k000001");
	strmap_done(&map);
	json_decref(value);
	buf_done(&text);
}

static void texts(void **state)
{
	json_t *value = parsed("{ \"b\" : [ 1, null, \"\xC3\xA9\" ], \"a\" : { } }");

	(void)state;
	char *text = json_text(value);
	assert_string_equal(text, "{\"b\":[1,null,\"\xC3\xA9\"],\"a\":{}}");
	free(text);
	text = json_text(json_object_get(value, "b"));
	assert_string_equal(text, "[1,null,\"\xC3\xA9\"]");
	free(text);
	text = json_text(json_array_get(json_object_get(value, "b"), 0));
	assert_string_equal(text, "1");
	free(text);
	text = json_text(NULL);
	assert_string_equal(text, "null");
	free(text);
	assert_string_equal(json_str_or_empty(value, "b"), "");
	assert_string_equal(json_str_or_empty(value, "x"), "");
	assert_string_equal(json_str_or_empty(NULL, "x"), "");
	json_decref(value);
}

/*
 * The block itself is gone then, so the freeing function is looked at through jansson's own
 * setting.
 */
static void frees_wipe(void **state)
{
	json_malloc_t allocate;
	json_free_t release;

	(void)state;
	json_wipe_on_free();
	json_get_alloc_funcs(&allocate, &release);
	assert_ptr_not_equal((void *)(uintptr_t)release, (void *)(uintptr_t)free);
	release(NULL);
	json_t *value = parsed("{\"password\":\"hunter2\"}");
	char *text = json_text(value);
	assert_string_equal(text, "{\"password\":\"hunter2\"}");
	free(text); /* jansson's blocks stay malloc's */
	json_decref(value);
	json_set_alloc_funcs(malloc, free);
}

/* JSON that the API server accepts and jansson does not must not make the whole list unreadable. */
static void one_strange_object_does_not_spoil_the_list(void **state)
{
	char deep[2 * 5000 + 64], *at = deep;
	json_t *value = parsed("{\"items\":[{\"a\\u0000b\":1,\"c\\\\u0000\":\"\\\\\"},{\"name\":\"web\"}]}");
	const json_t *items = json_object_get(value, "items");

	(void)state;
	assert_int_equal(json_array_size(items), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(items, 0),
				 "a\xef\xbf\xbd"
				 "b")),
		1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(items, 0), "c\\u0000")), "\\");
	assert_string_equal(json_str_or_empty(json_array_get(items, 1), "name"), "web");
	json_decref(value);

	at += sprintf(at, "{\"items\":[");
	for (int i = 0; i < 5000; i++)
		*at++ = '[';
	for (int i = 0; i < 5000; i++)
		*at++ = ']';
	sprintf(at, ",{\"k\":\"[{\"}]}");
	value = parsed(deep);
	items = json_object_get(value, "items");
	assert_int_equal(json_array_size(items), 2);
	assert_string_equal(json_str_or_empty(json_array_get(items, 1), "k"), "[{");
	json_decref(value);
}

static uint64_t digest_of(const char *text)
{
	json_t *value = parsed(text);
	uint64_t digest = json_digest(value);

	json_decref(value);
	return digest;
}

static void digests_tell_values_apart(void **state)
{
	static const char *const different[] = {
		"{}",
		"[]",
		"[[]]",
		"[{}]",
		"[null]",
		"[0]",
		"[1]",
		"[true]",
		"[false]",
		"[1.5]",
		"[\"\"]",
		"[\"1\"]",
		"[1,2]",
		"[2,1]",
		"[[1],2]",
		"{\"a\":1}",
		"{\"a\":2}",
		"{\"b\":1}",
		"{\"a\":null}",
		"{\"a\":{\"b\":1}}",
		"{\"a\":1,\"b\":2}",
		"{\"a\":2,\"b\":1}",
	};
	const size_t count = sizeof(different) / sizeof(different[0]);

	(void)state;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			assert_int_equal(digest_of(different[i]) == digest_of(different[j]), i == j);
	assert_int_equal(digest_of("{\"a\":1,\"b\":{\"c\":2,\"d\":3}}"),
		digest_of("{\"b\":{\"d\":3,\"c\":2},\"a\":1}"));
	assert_int_not_equal(json_digest(NULL), digest_of("{}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_tell_values_apart),
		cmocka_unit_test(one_strange_object_does_not_spoil_the_list),
		cmocka_unit_test(parses),
		cmocka_unit_test(foreign_values_are_counted),
		cmocka_unit_test(the_last_of_two_wins),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(paths),
		cmocka_unit_test(strings),
		cmocka_unit_test(texts_in_one_block),
		cmocka_unit_test(numbers),
		cmocka_unit_test(booleans_and_times),
		cmocka_unit_test(maps),
		cmocka_unit_test(a_wrong_parent_is_an_error),
		cmocka_unit_test(huge_maps_take_no_time),
		cmocka_unit_test(texts),
		cmocka_unit_test(frees_wipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
