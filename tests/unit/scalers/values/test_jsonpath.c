/* SPDX-License-Identifier: Apache-2.0 */
/* JSON paths: same results as GJSON where intended; refused paths, and intended differences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "scalers/values/jsonpath.h"
#include "scalers/values/metricvalue.h"

static const struct {
	const char *path, *json, *kind, *text;
} gjson[] = {
#include "jsonpath_gjson.inc"
};

static int number(const char *path, const char *json, double *out, struct err *err)
{
	struct jsonpath *p = jsonpath_compile(path, err);
	int rc = p ? jsonpath_number(p, json, strlen(json), out, err) : -1;

	jsonpath_free(p);
	return rc;
}

static bool got(const char *message, const char *kind)
{
	const char *at = strstr(message, "got ");

	return at && strncmp(at + 4, kind, strlen(kind)) == 0;
}

static void same_as_gjson(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(gjson) / sizeof(gjson[0]); i++) {
		double found = NAN, wanted = NAN;
		struct err err = { 0 };
		int rc = number(gjson[i].path, gjson[i].json, &found, &err);
		bool has_value = strcmp(gjson[i].kind, "Number") == 0 ||
			(strcmp(gjson[i].kind, "String") == 0 &&
				metricvalue_of_text(gjson[i].text, strlen(gjson[i].text), &wanted));

		if (strcmp(gjson[i].kind, "Number") == 0)
			wanted = strtod(gjson[i].text, NULL);
		if (has_value && (rc != 0 || found != wanted))
			fail_msg("%s of %s: %g %s, not %g", gjson[i].path, gjson[i].json, found, err.msg, wanted);
		if (!has_value && rc == 0)
			fail_msg("%s of %s: %g, but there is no number", gjson[i].path, gjson[i].json, found);
		if (!has_value && !got(err.msg, gjson[i].kind))
			fail_msg("%s of %s: %s, not %s", gjson[i].path, gjson[i].json, err.msg, gjson[i].kind);
	}
}

/* Cases without a comparison with GJSON. wanted NAN: no value. */
static const struct {
	const char *path, *json;
	double wanted;
} ours[] = {
	{ "b.@keys.#", "{\"a\":1}", NAN },
	{ "b.@values.#", "{\"a\":1}", NAN },
	{ "a.@keys.#", "{\"a\":[1,2]}", NAN },
	{ "a.#(b==\"x\").c", "{\"a\":[{\"b\":0,\"c\":7}]}", NAN },
	{ "a.#(b!=\"x\").c", "{\"a\":[{\"b\":0,\"c\":7}]}", 7 },
	{ "a.#(b=\"\").c", "{\"a\":[{\"b\":0,\"c\":1},{\"b\":\"\",\"c\":2}]}", 2 },
	{ "a.#(b>=false).c", "{\"a\":[{\"b\":false,\"c\":6},{\"b\":true,\"c\":7}]}", 6 },
	{ "a.#(b<=true).c", "{\"a\":[{\"b\":true,\"c\":7},{\"b\":false,\"c\":6}]}", 7 },
	{ "a.b\\*c*", "{\"a\":{\"bxcy\":3,\"b*cz\":4}}", 4 },
	{ "a.#(==1)", "{\"a\":[1]}", 1 },
	{ "a.#(@this==1)", "{\"a\":[1]}", 1 },
	{ "a.\\@this", "{\"a\":{\"@this\":4}}", 4 },
	{ "a", "\xef\xbb\xbf{\"a\":3}", 3 },
	{ "a", "{\"a\":\"0.0001\"}", 0.0001 },
	{ "a", "{\"a\":\"2E\"}", 2e18 },
	{ "a", "{\"a\":\"3Ei\"}", 3 * 0x1p60 },
	{ "a.*c", "{\"a\":{\"\xc3\xa4\\u0063\":3}}", 3 },
	{ "a.?c", "{\"a\":{\"\xc3\xa4\\u0063\":3}}", 3 },
};

static void differences_from_gjson(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		double found = NAN;
		struct err err = { 0 };
		int rc = number(ours[i].path, ours[i].json, &found, &err);

		if (rc != (isnan(ours[i].wanted) ? -1 : 0) ||
			(rc == 0 && fabs(found - ours[i].wanted) > 1e-12 * fabs(found)))
			fail_msg("%s of %s: %g %s", ours[i].path, ours[i].json, found, err.msg);
	}
}

static const struct {
	const char *path, *message;
} refused[] = {
	{ "{a,b}", "position 1: multipaths ({...}, [...]) are not supported" },
	{ "a.[b", "position 3: multipaths" },
	{ "a|{b}", "position 3: multipaths" },
	{ "!5", "position 1: literals (!...) are not supported" },
	{ "a|!5", "position 3: literals" },
	{ "..#", "position 1: JSON lines (..) are not supported" },
	{ "a.#(b==~true).c", "position 8: comparisons with ~true and the like are not supported" },
	{ "a.#(b=='x').c", "position 8: texts must be in double quotes" },
	{ "a.#(b==\"x).c", "position 3: the parenthesis after # is not closed" },
	{ "a.#(b==1", "position 3: the parenthesis after # is not closed" },
	{ "a.#(b!x).c", "position 6: an operator must be" },
	{ "a.#(b===1).c", "position 8: an operator must be" },
	{ "a.#(b==\"x\"y).c", "position 8: there is something after the text in quotes" },
	{ "a.#(b==\"\\q\").c", "position 8: the text in quotes must be a JSON string" },
	{ "a.#(b==1)c", "position 10: a dot or | must follow here" },
	{ "a.#(b==1)##", "position 11: a dot or | must follow here" },
	{ "#[b==1].c", "position 1: conditions are written #(...)" },
	{ "a.@tostr", "position 3: of the modifiers only" },
	{ "a.@reverse:1", "position 11: arguments of modifiers" },
	{ "a.#({b}==1)", "position 5: multipaths" },
	{ "a\\", "position 1: the last backslash must be followed by a character" },
	{ "a.#(#(#(#(#(#(#(#(#(x)))))))))", "at most 8" },
	{ "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a."
	  "a.a.a.a.a.a.a.a.a.a.a",
		"at most 64" },
};

static void invalid_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct err err = { 0 };
		struct jsonpath *p = jsonpath_compile(refused[i].path, &err);

		if (p || err.kind != ERR_INVALID || !strstr(err.msg, refused[i].message))
			fail_msg("%s: %s", refused[i].path, p ? "taken" : err.msg);
	}
}

static const struct {
	const char *path, *json, *message;
} bad_answers[] = {
	{ "a", "", "the text is not JSON: line 1 column 0: it ends too early" },
	{ "a", "{\"a\":1", "it ends too early" },
	{ "a", "{\"a\":1}\n{\"a\":2}", "the text is not JSON: line 2 column 1: there is more text after its end" },
	{ "depth", "{\"rate\": NaN, \"depth\": 3}",
		"the text is not JSON: line 1 column 12: it cannot be read: a bare NaN stands in it, which is not "
		"valid JSON" },
	{ "depth", "{\"rate\": [Infinity], \"depth\": 3}", "a bare Infinity stands in it" },
	{ "a", "<html>secret</html>", "the text is not JSON: line 1 column 1: it cannot be read" },
	{ "a", "{\"a\":1,\"a\":2}", "an object has a name twice" },
	{ "a", "{\"a\":1e999}", "a number is too large" },
	{ "a", "{\"a\":NaN}", "it cannot be read" },
	{ "a", "{\"a\":\"\xff\"}", "it is not UTF-8" },
	{ "b", "{\"a\":1}",
		"must point to a numeric value or a string parseable as a Quantity, got Null: there is nothing" },
	{ "a", "{\"a\":\"s3cret\"}",
		"must point to a numeric value or a string parseable as a Quantity, got String: a text that is not "
		"a quantity like 5, 1.5, 100m or 2Gi" },
	{ "a", "{\"a\":\"1\\u0000\"}", "got String" },
	{ "a", "{\"a\":true}", "got True" },
	{ "a", "{\"a\":[1]}", "got JSON: a list" },
	{ "a", "{\"a\":{}}", "got JSON: an object" },
};

static void values_that_are_not_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_answers) / sizeof(bad_answers[0]); i++) {
		struct err err = { 0 };
		double value;

		assert_int_equal(number(bad_answers[i].path, bad_answers[i].json, &value, &err), -1);
		if (err.kind != ERR_INVALID || !strstr(err.msg, bad_answers[i].message) || strstr(err.msg, "cret"))
			fail_msg("%s of %s: %s", bad_answers[i].path, bad_answers[i].json, err.msg);
	}
}

/* Neither takes long. */
static void costs_are_bounded(void **state)
{
	static const char too_many_steps[] = "the text is too large for that path: it takes more than 5000000 steps";
	struct buf json = BUF_INIT(16 << 20);
	struct err err = { 0 };
	double value;

	(void)state;
	/* {, a, :, [ and 0 count towards the limit of values and names. */
	buf_puts(&json, "{\"a\":[0");
	for (int i = 4; i < JSON_FOREIGN_VALUES_MAX; i++)
		buf_puts(&json, ",1");
	buf_puts(&json, "]}");
	assert_int_equal(number("a.#", json.data, &value, &err), 0);
	assert_true(value == JSON_FOREIGN_VALUES_MAX - 3);
	assert_int_equal(number("a.#(>0)#|#(>0)#|#", json.data, &value, &err), -1);
	assert_string_equal(err.msg, too_many_steps);
	assert_int_equal(number("a|@reverse|@reverse|@reverse|@reverse|@reverse|@reverse|@reverse|@reverse|"
				"@reverse|@reverse|@reverse|@reverse|@reverse|@reverse|#",
				 json.data, &value, &err),
		-1);
	assert_string_equal(err.msg, too_many_steps);
	buf_puts(&json, ",");
	assert_int_equal(number("a.#", json.data, &value, &err), -1);
	assert_string_equal(err.msg, "the text is too large: it has more than 100000 values and names");
	buf_reset(&json);
	/* A pattern is matched at each position of a long text. */
	buf_puts(&json, "{\"");
	for (int i = 0; i < 1000000; i++)
		buf_putc(&json, 'a');
	buf_puts(&json, "\":1}");
	assert_int_equal(number("*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", json.data, &value, &err), -1);
	assert_string_equal(err.msg, too_many_steps);
	buf_reset(&json);
	/* The fields of an object are copied into another one. */
	buf_puts(&json, "{\"x\":1");
	for (int i = 0; i < 10000; i++)
		buf_printf(&json, ",\"%d\":1", i);
	buf_puts(&json, "}");
	assert_int_equal(number("@reverse|@reverse|x", json.data, &value, &err), -1);
	assert_string_equal(err.msg, too_many_steps);
	assert_int_equal(number("@this|@this|x", json.data, &value, &err), 0);
	buf_reset(&json);
	for (int i = 0; i < 50000; i++)
		buf_putc(&json, '[');
	assert_int_equal(number("a", json.data, &value, &err), -1);
	assert_non_null(strstr(err.msg, "nested too deep"));
	buf_done(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_gjson),
		cmocka_unit_test(differences_from_gjson),
		cmocka_unit_test(invalid_paths),
		cmocka_unit_test(values_that_are_not_numbers),
		cmocka_unit_test(costs_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
