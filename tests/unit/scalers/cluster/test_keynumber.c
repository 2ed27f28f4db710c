/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in a key's text, by format, type and location; errors without content. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/cluster/keynumber.h"

#define NUMBER KEYNUMBER_NUMBER
#define JSON   KEYNUMBER_JSON
#define YAML   KEYNUMBER_YAML
#define FLOAT  KEYNUMBER_FLOAT64
#define INT    KEYNUMBER_INT64
#define AMOUNT KEYNUMBER_QUANTITY

static const struct {
	enum keynumber_format format;
	enum keynumber_type type;
	const char *location, *text;
	double value;
	const char *message; /* NULL: the value is found */
} rows[] = {
	{ NUMBER, FLOAT, NULL, "12abc", 12, NULL },
	{ NUMBER, FLOAT, NULL, " 12.5\n", 12.5, NULL },
	{ NUMBER, FLOAT, NULL, "1Ki", 1, NULL },
	{ NUMBER, FLOAT, NULL, "-3", -3, NULL },
	{ NUMBER, FLOAT, NULL, "many", 0, "the text does not begin with a number like 12 or 0.5" },
	{ NUMBER, FLOAT, NULL, "", 0, "the text does not begin with a number" },
	{ NUMBER, FLOAT, NULL, "NaN", 0, "the text does not begin with a number" },
	{ NUMBER, INT, NULL, "12.9abc", 12, NULL },
	{ NUMBER, INT, NULL, "1e3", 1, NULL },
	{ NUMBER, INT, NULL, ".5", 0, "the text does not begin with a number" },
	{ NUMBER, INT, NULL, "99999999999999999999", 0, "the text does not begin with a number" },
	{ NUMBER, AMOUNT, NULL, "1Ki", 1024, NULL },
	{ NUMBER, AMOUNT, NULL, "500m\n", 0.5, NULL },
	{ NUMBER, AMOUNT, NULL, "\r\n 2 ", 2, NULL },
	{ NUMBER, AMOUNT, NULL, "12abc", 0, "the text is not a quantity like 5, 1.5, 100m or 2Gi" },
	{ NUMBER, AMOUNT, NULL, " \n", 0, "the text is not a quantity" },
	{ NUMBER, AMOUNT, NULL, "", 0, "the text is not a quantity" },
	{ JSON, FLOAT, "a.b", "{\"a\":{\"b\":1.75}}", 1.75, NULL },
	{ JSON, FLOAT, "a", "{\"a\":\"500m\"}", 0.5, NULL },
	{ JSON, FLOAT, "a.#", "{\"a\":[1,2,3]}", 3, NULL },
	{ JSON, FLOAT, "a", "{\"a\":\"12abc\"}", 0, "valueLocation \"a\": must point to a numeric value or a string" },
	{ JSON, FLOAT, "b", "{\"a\":1}", 0, "valueLocation \"b\": must point to a numeric value" },
	{ JSON, FLOAT, "a", "{\"a\":true}", 0, "got True" },
	{ JSON, FLOAT, "a", "{\"a\":null}", 0, "got Null" },
	{ JSON, FLOAT, "a", "{\"a\":{\"b\":1}}", 0, "got JSON: an object" },
	{ JSON, FLOAT, "a", "{\"a\":1", 0, "the text is not JSON: line 1 column 6" },
	{ JSON, FLOAT, "a", "", 0, "the text is not JSON" },
	{ JSON, INT, "a", "{\"a\":1.75}", 1, NULL },
	{ JSON, INT, "a", "{\"a\":-1.75}", -1, NULL },
	{ JSON, INT, "a", "{\"a\":7}", 7, NULL },
	{ JSON, INT, "a", "{\"a\":\"7\"}", 0, "must point to a numeric value, got String" },
	{ JSON, INT, "a", "{\"a\":1e30}", 0, "must point to a whole number of 64 bits" },
	{ JSON, INT, "a", "{\"a\":[7]}", 0, "got JSON: a list" },
	{ JSON, INT, "b", "{\"a\":7}", 0, "got Null: there is nothing" },
	{ JSON, AMOUNT, "a", "{\"a\":\"2Gi\"}", 0x1p31, NULL },
	{ JSON, AMOUNT, "a", "{\"a\":1.5}", 1.5, NULL },
	{ JSON, AMOUNT, "a", "{\"a\":\"2 Gi\"}", 0, "got String: a text that is not a quantity" },
	{ YAML, FLOAT, "a.1.b", "a:\n- 1\n- b: 2.5\n", 2.5, NULL },
	{ YAML, FLOAT, "a", "a: 500m", 500, NULL },
	{ YAML, FLOAT, "a", "a: \"12abc\"", 12, NULL },
	{ YAML, FLOAT, "a", "a: many", 0, "got String: a text that does not begin with a number" },
	{ YAML, FLOAT, "a", "a: true", 0, "got True" },
	{ YAML, FLOAT, "a", "a: [1]", 0, "got JSON: a list" },
	{ YAML, FLOAT, "b", "a: 1", 0, "key \"b\" not found" },
	{ YAML, FLOAT, "a", "", 0, "the text is empty" },
	{ YAML, FLOAT, "a", "5", 0, "the text is a scalar, not a mapping" },
	{ YAML, FLOAT, "a", "a: {", 0, "the text is not understood" },
	{ YAML, INT, "a", "a: 1.75", 1.75, NULL },
	{ YAML, INT, "a", "a: \"1.75x\"", 1.75, NULL },
	{ YAML, AMOUNT, "a", "a: 500m", 0.5, NULL },
	{ YAML, AMOUNT, "a", "a: 3", 3, NULL },
	{ YAML, AMOUNT, "a", "a: 12abc", 0, "got String: a text that is not a quantity" },
};

static void numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct keynumber k, copy;
		struct err err = { 0 };
		double value = -99;
		int rc = keynumber_init(&k, rows[i].format, rows[i].type, rows[i].location, &err);

		assert_int_equal(rc, 0);
		keynumber_copy(&copy, &k);
		keynumber_done(&k);
		rc = keynumber_read(&copy, rows[i].text, strlen(rows[i].text), &value, &err);
		keynumber_done(&copy);
		if (rows[i].message ? rc == 0 || err.kind != ERR_INVALID || !strstr(err.msg, rows[i].message)
				    : rc != 0 || value != rows[i].value)
			fail_msg("row %zu, %s: %g %s, not %g %s", i, rows[i].text, value, err.msg, rows[i].value,
				rows[i].message ? rows[i].message : "");
	}
}

/* No error shows a part of a secret text. */
static void no_content_in_errors(void **state)
{
	static const char *const texts[] = {
		"hunter2",
		"hunter2: hunter2",
		"{\"hunter2\":\"hunter2\",\"a\":\"hunter2\"}",
		"{\"hunter2\"",
		"a: hunter2\nb: {hunter2",
		"a: hunter2\nhunter2: 1\nhunter2: 2",
		"- hunter2",
		"a: *hunter2",
		"a: &hunter2 {<<: hunter2}",
		"%hunter2",
	};
	static const char *const locations[] = { NULL, "a", "a.b", "b.0", "@keys.0", "#(a==\"x\").a" };
	size_t failed = 0;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(texts) * MEM_COUNT(locations) * 3; i++) {
		const char *text = texts[i % MEM_COUNT(texts)],
			   *location = locations[i / MEM_COUNT(texts) % MEM_COUNT(locations)];
		enum keynumber_type type = (enum keynumber_type)(i / MEM_COUNT(texts) / MEM_COUNT(locations));

		for (enum keynumber_format format = location ? JSON : NUMBER; format <= (location ? YAML : NUMBER);
			format++) {
			struct keynumber k;
			struct err err = { 0 };
			double value;

			assert_int_equal(keynumber_init(&k, format, type, location, &err), 0);
			failed += keynumber_read(&k, text, strlen(text), &value, &err) != 0;
			if (strstr(err.msg, "hunter2"))
				fail_msg("\"%s\" at %s: %s", text, location ? location : "-", err.msg);
			keynumber_done(&k);
		}
	}
	assert_int_equal(failed, MEM_COUNT(texts) * (1 + 2 * (MEM_COUNT(locations) - 1)) * 3);
}

static void locations(void **state)
{
	static const struct {
		enum keynumber_format format;
		const char *location, *message;
	} wrong[] = {
		{ NUMBER, "a", "parameter \"valueLocation\" is only supported with json or yaml format" },
		{ JSON, NULL, "parameter \"valueLocation\" is required for json format" },
		{ YAML, NULL, "parameter \"valueLocation\" is required for yaml format" },
		{ JSON, "a.#(b",
			"parameter \"valueLocation\" value \"a.#(b\", for format json: position 3: the parenthesis" },
		{ YAML, "a..b",
			"parameter \"valueLocation\" value \"a..b\", for format yaml: position 3: a name is missing" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(wrong); i++) {
		struct keynumber k;
		struct err err = { 0 };

		assert_int_equal(keynumber_init(&k, wrong[i].format, FLOAT, wrong[i].location, &err), -1);
		keynumber_done(&k);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, wrong[i].message))
			fail_msg("%s, not %s", err.msg, wrong[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(no_content_in_errors),
		cmocka_unit_test(locations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
