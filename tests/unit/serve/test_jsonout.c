/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/jsonout.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/json.h"

static void every_kind_of_value(void **state)
{
	struct buf out = BUF_INIT(10000);
	struct jsonout j = JSONOUT_INIT(&out);

	(void)state;
	jsonout_object(&j, NULL);
	jsonout_text(&j, "text", "a \"b\"\n\xff");
	jsonout_text(&j, "none", NULL);
	jsonout_int(&j, "int", INT64_MIN);
	jsonout_double(&j, "double", 0.1);
	jsonout_double(&j, "nan", NAN);
	jsonout_double(&j, "infinite", INFINITY);
	jsonout_bool(&j, "yes", true);
	jsonout_time(&j, "time", 1767323045678);
	jsonout_time(&j, "never", 0);
	jsonout_array(&j, "empty");
	jsonout_end(&j);
	jsonout_array(&j, "list");
	jsonout_object(&j, NULL);
	jsonout_end(&j);
	jsonout_int(&j, NULL, 2);
	jsonout_end(&j);
	jsonout_end(&j);
	assert_string_equal(buf_text(&out),
		"{\n \"text\": \"a \\\"b\\\"\\n\xEF\xBF\xBD\",\n \"none\": null,\n \"int\": -9223372036854775808,\n "
		"\"double\": 0.1,\n \"nan\": null,\n \"infinite\": null,\n \"yes\": true,\n"
		" \"time\": \"2026-01-02T03:04:05.678Z\",\n \"never\": null,\n \"empty\": [],\n \"list\": [\n  {},\n  "
		"2\n ]\n}\n");
	buf_done(&out);
}

static void a_full_buffer_is_seen(void **state)
{
	struct buf out = BUF_INIT(10);
	struct jsonout j = JSONOUT_INIT(&out);

	(void)state;
	jsonout_object(&j, NULL);
	jsonout_text(&j, "text", "longer than that");
	jsonout_end(&j);
	assert_true(buf_failed(&out));
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value),
		cmocka_unit_test(a_full_buffer_is_seen),
	};

	return cmocka_run_group_tests_name("serve/jsonout", tests, NULL, NULL);
}
