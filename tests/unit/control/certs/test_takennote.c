/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/takennote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

static json_t *apiservice(const char *note)
{
	return json_pack("{s:{s:s, s:{s:s*}}, s:{s:{s:s, s:s, s:i}, s:s, s:i}}", "metadata", "resourceVersion", "7",
		"annotations", TAKENNOTE, note, "spec", "service", "namespace", "keda", "name", "metrics", "port", 443,
		"caBundle", "QUFB", "versionPriority", 100);
}

static void there_and_back(void **state)
{
	json_t *before = apiservice(NULL), *taken, *patch;
	MEM_AUTO char *note = takennote_make(before), *service = NULL;

	(void)state;
	taken = apiservice(note);
	service = takennote_service(taken);
	assert_string_equal(service, "keda/metrics");
	patch = takennote_undo(taken);
	assert_true(json_str_is(json_object_get(patch, "metadata"), "resourceVersion", "7"));
	assert_true(json_is_null(
		json_object_get(json_object_get(json_object_get(patch, "metadata"), "annotations"), TAKENNOTE)));
	assert_true(json_equal(json_object_get(json_object_get(patch, "spec"), "service"),
		json_object_get(json_object_get(before, "spec"), "service")));
	assert_true(json_str_is(json_object_get(patch, "spec"), "caBundle", "QUFB"));
	/* Added members are removed again, and unchanged ones are left alone. */
	assert_true(json_is_null(json_object_get(json_object_get(patch, "spec"), "insecureSkipTLSVerify")));
	assert_int_equal(json_object_size(json_object_get(patch, "spec")), 3);
	json_decref(before);
	json_decref(taken);
	json_decref(patch);
}

static void notes_that_are_none(void **state)
{
	static const char *const notes[] = { NULL, "", "x", "[]", "{}", "{\"service\":7}", "{\"service\":{}}",
		"{\"service\":{\"name\":\"\"}}" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(notes); i++) {
		json_t *object = apiservice(notes[i]);

		assert_null(takennote_undo(object));
		assert_null(takennote_service(object));
		json_decref(object);
	}
	assert_null(takennote_undo(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(notes_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
