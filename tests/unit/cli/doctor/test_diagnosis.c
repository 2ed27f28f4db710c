/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/diagnosis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

__attribute__((format(printf, 5, 6))) static void add(struct diagnosis *d, const char *hop,
	enum diagnosis_status status, const char *mend, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diagnosis_vadd(d, hop, status, mem_dup(mend), fmt, ap);
	va_end(ap);
}

static void fill(struct diagnosis *d)
{
	add(d, "first", DIAGNOSIS_OK, NULL, "good %d", 1);
	add(d, "second", DIAGNOSIS_OK, NULL, "half");
	add(d, "second", DIAGNOSIS_ERROR, "mend it", "bad\x1b[2J");
	add(d, "third", DIAGNOSIS_SKIPPED, NULL, "not looked at");
	add(d, "last", DIAGNOSIS_WARNING, NULL, "odd");
}

static void as_text(void **state)
{
	struct diagnosis d = { 0 };
	struct buf out = BUF_INIT(10000);

	(void)state;
	fill(&d);
	diagnosis_text(&d, &out);
	assert_string_equal(buf_text(&out),
		"ok       first            good 1\n"
		"error    second\n"
		"         half\n"
		"         bad [2J\n"
		"           mend: mend it\n"
		"skipped  third            not looked at\n"
		"warning  last\n"
		"         odd\n");
	buf_done(&out);
	diagnosis_done(&d);
}

static void as_json(void **state)
{
	struct diagnosis d = { 0 };
	json_t *list;

	(void)state;
	fill(&d);
	list = diagnosis_json(&d);
	assert_int_equal(json_array_size(list), 5);
	assert_true(json_str_is(json_array_get(list, 2), "hop", "second"));
	assert_true(json_str_is(json_array_get(list, 2), "status", "error"));
	assert_true(json_str_is(json_array_get(list, 2), "mend", "mend it"));
	assert_true(json_is_null(json_object_get(json_array_get(list, 0), "mend")));
	json_decref(list);
	diagnosis_done(&d);
}

static void worst_status(void **state)
{
	struct diagnosis d = { 0 };

	(void)state;
	assert_int_equal(diagnosis_worst(&d, NULL), DIAGNOSIS_OK);
	fill(&d);
	assert_int_equal(diagnosis_worst(&d, NULL), DIAGNOSIS_ERROR);
	assert_int_equal(diagnosis_worst(&d, "first"), DIAGNOSIS_OK);
	assert_int_equal(diagnosis_worst(&d, "second"), DIAGNOSIS_ERROR);
	assert_int_equal(diagnosis_worst(&d, "last"), DIAGNOSIS_WARNING);
	diagnosis_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_text),
		cmocka_unit_test(as_json),
		cmocka_unit_test(worst_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
