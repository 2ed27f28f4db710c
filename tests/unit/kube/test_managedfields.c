/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/managedfields.h"

#define FIELDS                                                                                                         \
	"\"managedFields\":[{\"manager\":\"a]\\\"b\",\"fieldsV1\":{\"f:x\":{\".\":{},\"k:{\\\"}\\\"}\":[[]]}}},{}]"

static void check(const char *json, const char *expected)
{
	size_t len = strlen(json);
	MEM_AUTO char *out = mem_alloc(len + 1);

	out[managedfields_strip(json, len, out)] = '\0';
	assert_string_equal(out, expected);
}

static void stripped(void **state)
{
	static const struct {
		const char *json, *expected;
	} rows[] = {
		{ "{\"metadata\":{\"name\":\"x\"," FIELDS "},\"spec\":{}}",
			"{\"metadata\":{\"name\":\"x\"},\"spec\":{}}" },
		{ "{\"metadata\":{" FIELDS ",\"name\":\"x\"}}", "{\"metadata\":{\"name\":\"x\"}}" },
		{ "{\"metadata\":{\"a\":1," FIELDS ",\"name\":\"x\"}}", "{\"metadata\":{\"a\":1,\"name\":\"x\"}}" },
		{ "{\"metadata\":{" FIELDS "}}", "{\"metadata\":{}}" },
		{ "{\"metadata\":{\"managedFields\":[],\"managedFields\":[]}}", "{\"metadata\":{}}" },
		{ "{\"metadata\":{\"a\":\"\",\"managedFields\":[],\"managedFields\":[],\"b\":\"\"}}",
			"{\"metadata\":{\"a\":\"\",\"b\":\"\"}}" },
		{ "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"," FIELDS "}}}",
			"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}" },
		{ "{\"items\":[{\"metadata\":{\"name\":\"x\"," FIELDS "}},{\"metadata\":{" FIELDS "}}]}",
			"{\"items\":[{\"metadata\":{\"name\":\"x\"}},{\"metadata\":{}}]}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(rows[i].json, rows[i].expected);
}

static void left_alone(void **state)
{
	static const char *const texts[] = {
		"",
		"{}",
		"{\"metadata\":{\"name\":\"x\"}}",
		/* A label, a key of data, a text: no array of the metadata itself. */
		"{\"metadata\":{\"labels\":{\"managedFields\":\"x\"},\"name\":\"managedFields\"}}",
		"{\"metadata\":{\"managedFields\":\"x\"}}",
		"{\"data\":{" FIELDS "}}",
		"{\"metadata\":{\"annotations\":{\"x\":\"{\\\"managedFields\\\":[]}\"}}}",
		"{\"metadata\":{\"labels\":{" FIELDS "}}}",
		/* Another object's, inside this one. */
		"{\"spec\":{\"template\":{\"metadata\":{" FIELDS "}}}}",
		"{\"spec\":{\"metadata\":{" FIELDS "}}}",
		"{\"object\":{\"spec\":{\"metadata\":{" FIELDS "}}}}",
		"{\"items\":[{\"spec\":{\"metadata\":{" FIELDS "}}}]}",
		/* No JSON. */
		"{\"metadata\":{\"name\":\"x\",\"managedFields\":[{\"a\":\"b",
		"{\"metadata\":{\"name\":\"x\",\"managedFields\":[",
		"{\"metadata\":{\"name\":\"x\\",
		"]]}}\"managedFields\":[]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check(texts[i], texts[i]);
}

static void parsed(void **state)
{
	static const char json[] = "{\"metadata\":{\"name\":\"x\"," FIELDS "}}", broken[] = "{\"metadata\":{" FIELDS;
	json_t *without = managedfields_parse(json, sizeof(json) - 1, false),
	       *with = managedfields_parse(json, sizeof(json) - 1, true);

	(void)state;
	assert_int_equal(json_object_size(json_object_get(without, "metadata")), 1);
	assert_int_equal(json_array_size(json_object_get(json_object_get(with, "metadata"), "managedFields")), 2);
	json_decref(without);
	json_decref(with);
	assert_null(managedfields_parse(broken, sizeof(broken) - 1, false));
	assert_null(managedfields_parse("", 0, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stripped),
		cmocka_unit_test(left_alone),
		cmocka_unit_test(parsed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
