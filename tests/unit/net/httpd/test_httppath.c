/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/httpd/httppath.h"

static void targets_are_split(void **state)
{
	static const struct {
		const char *target, *path, *query; /* query NULL: none */
	} rows[] = {
		{ "/", "/", NULL },
		{ "/a/b", "/a/b", NULL },
		{ "/a?b=c", "/a", "b=c" },
		{ "/a?", "/a", "" },
		{ "/a?b?c", "/a", "b?c" },
		{ "/a%2Fb?x", "/a%2Fb", "x" },
		{ "//host/a", "//host/a", NULL }, /* no authority here: evhttp's own parser would take one */
		{ "/a#frag", "/a", NULL },
		{ "/a?b#frag?c", "/a", "b" },
		{ "/a#?b", "/a", NULL },
		{ "https://host:8443/a/b?c", "/a/b", "c" },
		{ "http://host", "", NULL },
		{ "http://host?x", "", "x" },
		{ "*", "", NULL },
		{ "host:443", "", NULL },
		{ "", "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct httppath split;

		httppath_split(rows[i].target, &split);
		assert_int_equal(split.path_len, strlen(rows[i].path));
		assert_memory_equal(split.path, rows[i].path, split.path_len);
		assert_int_equal(split.query == NULL, rows[i].query == NULL);
		if (rows[i].query) {
			assert_int_equal(split.query_len, strlen(rows[i].query));
			assert_memory_equal(split.query, rows[i].query, split.query_len);
		}
	}
}

static void parts_are_decoded_or_refused(void **state)
{
	static const struct {
		const char *text;
		int plus;
		const char *decoded; /* NULL: refused */
	} rows[] = {
		{ "", 0, "" },
		{ "abc", 0, "abc" },
		{ "a%2Fb", 0, "a/b" },
		{ "%41%62", 0, "Ab" },
		{ "a%2fb", 0, "a/b" },
		{ "a+b", 0, "a+b" },
		{ "a+b", 1, "a b" },
		{ "%2B+", 1, "+ " },
		{ "%C3%A9", 0, "\xc3\xa9" },
		{ "%F0%9F%90%84", 0, "\xf0\x9f\x90\x84" },
		{ "%", 0, NULL },
		{ "%4", 0, NULL },
		{ "%4g", 0, NULL },
		{ "%g4", 0, NULL },
		{ "%%41", 0, NULL },
		{ "a%00b", 0, NULL },
		{ "%C3", 0, NULL },
		{ "%FF", 0, NULL },
		{ "%C0%AF", 0, NULL },    /* an overlong '/' */
		{ "%ED%A0%80", 0, NULL }, /* a surrogate */
		{ "\xff", 0, NULL },
		{ "0123456789abcdef", 0, NULL }, /* one byte too many for the space below */
		{ "0123456789abcde", 0, "0123456789abcde" },
		{ "%30%31%32%33%34%35%36%37%38%39abcde", 0, "0123456789abcde" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char out[16] = "untouched";
		int result = httppath_decode(rows[i].text, strlen(rows[i].text), rows[i].plus, out, sizeof(out));

		assert_int_equal(result, rows[i].decoded ? 0 : -1);
		assert_string_equal(out, rows[i].decoded ? rows[i].decoded : "");
	}
	assert_int_equal(httppath_decode("", 0, 0, NULL, 0), -1);
	assert_int_equal(httppath_decode("a%41", 2, 0, (char[8]){ 0 }, 8), -1); /* the escape lies behind the end */
}

static void first_parameter_wins(void **state)
{
	static const struct {
		const char *query, *name, *value; /* value NULL: absent */
	} rows[] = {
		{ "a=1&b=2&a=3", "a", "1" },
		{ "a=1&b=2&a=3", "b", "2" },
		{ "a=1", "A", NULL },
		{ "aa=1&a=2", "a", "2" },
		{ "a", "a", "" },
		{ "a=", "a", "" },
		{ "&&a=1&", "a", "1" },
		{ "a=b=c", "a", "b=c" },
		{ "=x&a=1", "a", "1" },
		{ "label%53elector=x%3Dy", "labelSelector", "x%3Dy" },
		{ "a%zz=1&a=2", "a", "2" },
		{ "", "a", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t len = 99;
		const char *value = httppath_param(rows[i].query, strlen(rows[i].query), rows[i].name, &len);

		assert_int_equal(value == NULL, rows[i].value == NULL);
		if (value) {
			assert_int_equal(len, strlen(rows[i].value));
			assert_memory_equal(value, rows[i].value, len);
		}
	}
	assert_null(httppath_param(NULL, 0, "a", &(size_t){ 0 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_split),
		cmocka_unit_test(parts_are_decoded_or_refused),
		cmocka_unit_test(first_parameter_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
