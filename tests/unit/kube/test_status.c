/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "kube/status.h"

#define TOLD "{\"kind\":\"Status\",\"message\":\"so it is\"}"

static void kinds(void **state)
{
	static const struct {
		int http_status;
		enum err_kind kind;
	} cases[] = {
		{ 301, ERR_INVALID },
		{ 400, ERR_INVALID },
		{ 401, ERR_DENIED },
		{ 403, ERR_DENIED },
		{ 404, ERR_MISSING },
		{ 405, ERR_INVALID },
		{ 408, ERR_TEMPORARY },
		{ 409, ERR_CONFLICT },
		{ 410, ERR_GONE },
		{ 413, ERR_INVALID },
		{ 415, ERR_INVALID },
		{ 422, ERR_INVALID },
		{ 429, ERR_TEMPORARY },
		{ 500, ERR_TEMPORARY },
		{ 502, ERR_TEMPORARY },
		{ 503, ERR_TEMPORARY },
		{ 504, ERR_TEMPORARY },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err bare, told;

		status_to_err(cases[i].http_status, "", 0, 0, &bare);
		status_to_err(cases[i].http_status, TOLD, strlen(TOLD), 0, &told);
		assert_int_equal(bare.kind, cases[i].kind);
		assert_int_equal(told.kind, cases[i].kind);
	}
}

static void answers(void **state)
{
	static const struct {
		int http_status;
		const char *body;
		int64_t retry_after_ms; /* of the header */
		const char *message;
		int64_t want_retry_after_ms;
	} cases[] = {
		{ 404, "{\"kind\":\"Status\",\"message\":\"pods \\\"x\\\" not found\",\"code\":404}", 0,
			"pods \"x\" not found", 0 },
		{ 429, "{\"kind\":\"Status\",\"message\":\"slow\",\"details\":{\"retryAfterSeconds\":3}}", 0, "slow",
			3000 },
		{ 429, "{\"kind\":\"Status\",\"message\":\"slow\",\"details\":{\"retryAfterSeconds\":3}}", 1000, "slow",
			1000 },
		{ 429, "{\"kind\":\"Status\",\"message\":\"slow\",\"details\":{\"retryAfterSeconds\":-3}}", 0, "slow",
			0 },
		{ 429,
			"{\"kind\":\"Status\",\"message\":\"slow\",\"details\":{\"retryAfterSeconds\":"
			"9223372036854775807}}",
			0, "slow", STATUS_RETRY_AFTER_MAX_MS },
		{ 503, "a proxy's page", 3600000, "HTTP 503 from the API server: a proxy's page",
			STATUS_RETRY_AFTER_MAX_MS },
		{ 500, "{\"kind\":\"Status\",\"reason\":\"InternalError\"}", 0,
			"HTTP 500 InternalError from the API server", 0 },
		{ 502, "<html>\nbad gateway", 0, "HTTP 502 from the API server: <html>", 0 },
		{ 503, "", 2000, "HTTP 503 from the API server", 2000 },
		{ 403, "[1,2]", 0, "HTTP 403 from the API server: [1,2]", 0 },
		{ 403, "{\"kind\":[]}", 0, "HTTP 403 from the API server", 0 },
		{ 307, "\n {\"status\":{\"token\":\"t\"}}", 0, "HTTP 307 from the API server", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err;

		status_to_err(cases[i].http_status, cases[i].body, strlen(cases[i].body), cases[i].retry_after_ms,
			&err);
		assert_string_equal(err.msg, cases[i].message);
		assert_int_equal(err.http_status, cases[i].http_status);
		assert_int_equal(err.retry_after_ms, cases[i].want_retry_after_ms);
	}
}

static void a_long_message_is_cut(void **state)
{
	static char body[3000];
	struct err err;

	(void)state;
	memset(body, 'x', sizeof body);
	memcpy(body, "{\"kind\":\"Status\",\"message\":\"", 28);
	memcpy(body + sizeof body - 2, "\"}", 2);
	status_to_err(422, body, sizeof body, 0, &err);
	assert_in_range(strlen(err.msg), 100, ERR_MSG_MAX - 1);
	assert_int_equal(err.kind, ERR_INVALID);
}

static void objects_in_a_watch(void **state)
{
	static const struct {
		const char *text;
		enum err_kind kind;
		int http_status;
	} cases[] = {
		{ "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}", ERR_GONE, 410 },
		{ "{\"kind\":\"Status\",\"reason\":\"Expired\"}", ERR_GONE, 410 },
		{ "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Gone\"}", ERR_GONE, 410 },
		{ "{\"kind\":\"Status\",\"code\":500}", ERR_TEMPORARY, 500 },
		{ "{\"kind\":\"Status\",\"code\":\"410\"}", ERR_TEMPORARY, 500 },
		{ "{\"kind\":\"Status\",\"code\":4000000000}", ERR_TEMPORARY, 500 },
		{ "{\"kind\":\"Status\",\"code\":403}", ERR_DENIED, 403 },
		{ "[]", ERR_TEMPORARY, 500 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *object = json_parse(cases[i].text, strlen(cases[i].text), NULL);
		struct err err;

		assert_non_null(object);
		status_object_to_err(object, &err);
		assert_int_equal(err.kind, cases[i].kind);
		assert_int_equal(err.http_status, cases[i].http_status);
		json_decref(object);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(answers),
		cmocka_unit_test(a_long_message_is_cut),
		cmocka_unit_test(objects_in_a_watch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
