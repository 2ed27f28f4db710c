/* SPDX-License-Identifier: Apache-2.0 */

/* AWS's errors: permanent or temporary, and which ones cause a pause. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/aws/awsquery.h"

#define JSON(code) "{\"__type\":\"com.amazonaws.x#" code "\",\"message\":\"words\"}"
#define XML(code)  "<ErrorResponse><Error><Code>" code "</Code><Message>words</Message></Error></ErrorResponse>"

static void errors(void **state)
{
	static const struct {
		int status;
		const char *body;
		int64_t asked_ms; /* Retry-After */
		enum err_kind kind;
		int64_t pause_ms;
		const char *words;
	} rows[] = {
		{ 400, JSON("QueueDoesNotExist"), 0, ERR_INVALID, 0, "HTTP status 400, QueueDoesNotExist: words" },
		{ 403, XML("AccessDenied"), 0, ERR_DENIED, 0,
			"HTTP status 403, AccessDenied: words; missing permission: x:Read" },
		{ 500, "", 0, ERR_TEMPORARY, 0, "HTTP status 500" },
		{ 503, "", 7000, ERR_TEMPORARY, 7000, "HTTP status 503" },
		/* Throttled, whatever the status. */
		{ 400, JSON("ThrottlingException"), 0, ERR_TEMPORARY, 5000,
			"HTTP status 400, ThrottlingException: words" },
		{ 400, XML("Throttling"), 0, ERR_TEMPORARY, 5000, "HTTP status 400, Throttling: words" },
		{ 400, JSON("RequestThrottled"), 0, ERR_TEMPORARY, 5000, "HTTP status 400, RequestThrottled: words" },
		{ 400, JSON("ProvisionedThroughputExceededException"), 0, ERR_TEMPORARY, 5000,
			"HTTP status 400, ProvisionedThroughputExceededException: words" },
		{ 403, XML("SlowDown"), 0, ERR_TEMPORARY, 5000, "HTTP status 403, SlowDown: words" },
		{ 503, XML("RequestLimitExceeded"), 2000, ERR_TEMPORARY, 2000,
			"HTTP status 503, RequestLimitExceeded: words" },
		{ 429, JSON("TooManyRequestsException"), 0, ERR_TEMPORARY, 5000,
			"HTTP status 429, TooManyRequestsException: words" },
		{ 429, "", 0, ERR_TEMPORARY, 5000, "HTTP status 429" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		const struct webresponse answer = { .status = rows[i].status,
			.body = rows[i].body,
			.len = strlen(rows[i].body),
			.content_type = "",
			.wanted = { "" },
			.retry_after_ms = rows[i].asked_ms };
		struct err err = { 0 };

		assert_int_equal(awsquery_expect(&answer, "x:Read", &err), -1);
		assert_string_equal(err.msg, rows[i].words);
		assert_int_equal(err.kind, rows[i].kind);
		assert_int_equal(err.http_status, rows[i].status);
		assert_int_equal(err.retry_after_ms, rows[i].pause_ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(errors) };

	return cmocka_run_group_tests_name("scalers/aws/awsquery", tests, NULL, NULL);
}
