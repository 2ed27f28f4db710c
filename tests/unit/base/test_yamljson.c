/* SPDX-License-Identifier: Apache-2.0 */
/* YAML texts that could cost more than their length. Their meaning: cli/test_documents.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/yamljson.h"

static json_t *read_one(const char *text, size_t len, struct err *err)
{
	struct yamljson *y = yamljson_new(text, len, YAMLJSON_FOREIGN_VALUES_MAX);
	struct places places = { 0 };
	json_t *value = NULL;

	if (yamljson_next(y, &value, &places, err) <= 0)
		value = NULL;
	places_done(&places);
	yamljson_free(y);
	return value;
}

/* libyaml compares each with all: 60,000 took 11 s, and as many were read. */
static void tag_directives(void **state)
{
	static const struct {
		unsigned count;
		bool good;
	} rows[] = { { 1, true }, { 60, true }, { 200, false }, { 60000, false } };
	struct buf text = BUF_INIT((size_t)2 << 20), wide = BUF_INIT((size_t)4 << 20);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		json_t *value;

		buf_reset(&text);
		for (unsigned k = 0; k < rows[i].count; k++)
			buf_printf(&text, "%%TAG !%u! tag:yaml.org,2002:\n", k);
		buf_puts(&text, "---\na: !0!str 5\n");
		value = read_one(text.data, text.len, &err);
		if (rows[i].good)
			assert_string_equal(json_string_value(json_object_get(value, "a")), "5");
		else
			assert_null(value);
		if (!rows[i].good && !strstr(err.msg, ": there are more than 64 %TAG directives"))
			fail_msg("%s", err.msg);
		json_decref(value);
		/* the same in UTF-16, which libyaml knows by its mark */
		buf_reset(&wide);
		buf_puts(&wide, "\xFF\xFE");
		for (size_t k = 0; k < text.len; k++)
			buf_append(&wide, (const char[]){ text.data[k], 0 }, 2);
		value = read_one(wide.data, wide.len, &err);
		assert_int_equal(value != NULL, rows[i].good);
		json_decref(value);
	}
	buf_done(&text);
	buf_done(&wide);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tag_directives) };

	return cmocka_run_group_tests_name("base/yamljson", tests, NULL, NULL);
}
