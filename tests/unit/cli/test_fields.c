/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static json_t *object_of(const char *text)
{
	json_t *object = json_loads(text, 0, NULL);

	assert_non_null(object);
	return object;
}

static void follows_paths(void **state)
{
	json_t *object = object_of("{\"metadata\":{\"namespace\":\"shop\",\"name\":\"web\",\"creationTimestamp\":"
				   "\"1970-01-01T00:00:02Z\"},\"spec\":{\"ports\":[{\"port\":1},{\"port\":443}]}}");

	(void)state;
	assert_ptr_equal(fields_at(object, ""), object);
	assert_int_equal(fields_number(object, "spec.ports.1.port"), 443);
	assert_string_equal(fields_namespace(object), "shop");
	assert_string_equal(fields_name(object), "web");
	assert_true(fields_is(object, "metadata.name", "web"));
	assert_int_equal(fields_time(object, "metadata.creationTimestamp"), 2000);
	json_decref(object);
}

static void absent_fields_are_empty(void **state)
{
	json_t *object = object_of("{\"spec\":{\"ports\":[1],\"name\":7}}");

	(void)state;
	assert_null(fields_at(NULL, "spec"));
	assert_null(fields_at(object, "spec.ports.1"));
	assert_null(fields_at(object, "spec.ports.0.port"));
	assert_string_equal(fields_text(object, "spec.name"), "");
	assert_false(fields_is(object, "spec.name", ""));
	assert_int_equal(fields_number(object, "status.replicas"), 0);
	assert_int_equal(fields_time(object, "spec.name"), 0);
	json_decref(object);
}

static void finds_entries(void **state)
{
	json_t *object = object_of("{\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\"},"
				   "{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"x\"}]}}");

	(void)state;
	assert_string_equal(fields_text(fields_condition(object, "Ready"), "reason"), "x");
	assert_true(fields_has_condition(object, "Active"));
	assert_false(fields_has_condition(object, "Ready"));
	assert_false(fields_has_condition(object, "Paused"));
	assert_null(fields_entry(fields_at(object, "status.conditions"), "type", "Paused"));
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_paths),
		cmocka_unit_test(absent_fields_are_empty),
		cmocka_unit_test(finds_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
