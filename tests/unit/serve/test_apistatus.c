/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/json.h"
#include "serve/apistatus.h"

static void every_failure_is_a_status_object(void **state)
{
	/* Reasons: k8s.io/apimachinery pkg/apis/meta/v1/types.go */
	static const struct {
		enum apistatus what;
		int code;
		const char *reason;
	} cases[] = {
		{ APISTATUS_BAD_REQUEST, 400, "BadRequest" },
		{ APISTATUS_UNAUTHORIZED, 401, "Unauthorized" },
		{ APISTATUS_FORBIDDEN, 403, "Forbidden" },
		{ APISTATUS_NOT_FOUND, 404, "NotFound" },
		{ APISTATUS_METHOD_NOT_ALLOWED, 405, "MethodNotAllowed" },
		{ APISTATUS_NOT_ACCEPTABLE, 406, "NotAcceptable" },
		{ APISTATUS_TOO_MANY_REQUESTS, 429, "TooManyRequests" },
		{ APISTATUS_INTERNAL_ERROR, 500, "InternalError" },
		{ APISTATUS_UNAVAILABLE, 503, "ServiceUnavailable" },
		{ APISTATUS_NOT_YET, 503, "ServiceUnavailable" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = BUF_INIT(4096);
		json_t *status;

		apistatus_write(&out, cases[i].what, "metric \"a\\b\"\nis \xff gone");
		status = json_parse(out.data, out.len, NULL);
		assert_non_null(status);
		assert_string_equal(json_str_or_empty(status, "kind"), "Status");
		assert_string_equal(json_str_or_empty(status, "apiVersion"), "v1");
		assert_string_equal(json_str_or_empty(status, "status"), "Failure");
		assert_string_equal(json_str_or_empty(status, "reason"), cases[i].reason);
		assert_string_equal(json_str_or_empty(status, "message"), "metric \"a\\b\"\nis \xEF\xBF\xBD gone");
		assert_int_equal(json_integer_value(json_object_get(status, "code")), cases[i].code);
		assert_true(json_is_object(json_object_get(status, "metadata")));
		json_decref(status);
		buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_failure_is_a_status_object) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
