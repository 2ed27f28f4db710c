/* SPDX-License-Identifier: Apache-2.0 */
/* Token server responses: the token, and what an error may quote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/identity/oauthreply.h"

static void token_answers(void **state)
{
	static const struct {
		int status;
		const char *body, *token, *error;
		int64_t life_ms;
	} rows[] = {
		{ 200, "{\"access_token\":\"abc\",\"token_type\":\"bearer\",\"expires_in\":3600}", "abc", NULL,
			3600000 },
		{ 200, "{\"access_token\":\"abc\",\"expires_in\":\"60\"}", "abc", NULL, 60000 },
		/* expired already, not unlimited */
		{ 201, "{\"access_token\":\"abc\",\"expires_in\":-5}", "abc", NULL, 1 },
		{ 200, "{\"access_token\":\"abc\",\"expires_in\":0}", "abc", NULL, 1 },
		{ 200, "{\"access_token\":\"abc\",\"expires_in\":\"0\"}", "abc", NULL, 1 },
		{ 200, "{\"access_token\":\"abc\",\"expires_in\":0.0001}", "abc", NULL, 1 },
		/* unknown */
		{ 200, "{\"access_token\":\"abc\",\"expires_in\":\"never\"}", "abc", NULL, 0 },
		{ 200, "{\"access_token\":\"abc\",\"expires_in\":null}", "abc", NULL, 0 },
		{ 200, "{\"access_token\":\"abc\",\"expires_in\":1e300}", "abc", NULL, INT64_C(315360000000) },
		{ 200, "{\"access_token\":\"a b\"}", NULL, "no valid access_token", 0 },
		{ 200, "{\"access_token\":\"a\",\"token_type\":\"mac\"}", NULL, "token_type is not bearer", 0 },
		{ 200, "{}", NULL, "no valid access_token", 0 },
		{ 200, "<html>", NULL, "not a JSON object", 0 },
		{ 401, "{\"error\":\"invalid_client\",\"error_description\":\"s3cret\"}", NULL,
			"HTTP status 401, invalid_client", 0 },
		{ 400, "{\"error\":\"s3cret\"}", NULL, "HTTP status 400", 0 },
		{ 401, "{\"error\":\"invalid_client\",\"error_description\":\"AADSTS7000215: Invalid s3cret\"}", NULL,
			"HTTP status 401, invalid_client (AADSTS7000215)", 0 },
		{ 400, "{\"error\":\"invalid_resource\",\"error_description\":\"AADSTS500011: s3cret\"}", NULL,
			"HTTP status 400, invalid_resource (AADSTS500011)", 0 },
		{ 400, "{\"error\":\"s3cret\",\"error_description\":\"AADSTS500011: s3cret\"}", NULL, "HTTP status 400",
			0 },
		{ 503, "", NULL, "HTTP status 503", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { 0 };
		const struct webresponse answer = { .status = rows[i].status,
			.body = rows[i].body,
			.len = strlen(rows[i].body) };
		struct credential got = { 0 };

		assert_int_equal(oauthreply_read(&answer, &got, &err), rows[i].token ? 0 : -1);
		assert_int_equal(got.life_ms, rows[i].life_ms);
		if (rows[i].token)
			assert_string_equal(got.token, rows[i].token);
		else if (!strstr(err.msg, rows[i].error) || strstr(err.msg, "s3cret"))
			fail_msg("%s: %s", rows[i].body, err.msg);
		credential_done(&got);
	}
}

static void no_answer(void **state)
{
	const struct err transport = { .kind = ERR_TEMPORARY, .msg = "http://t: no answer" };
	const struct webresponse answer = { .transport = &transport, .body = "" };
	struct credential got = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(oauthreply_read(&answer, &got, &err), -1);
	assert_int_equal(err.kind, ERR_TEMPORARY);
	assert_string_equal(err.msg, "http://t: no answer");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(token_answers), cmocka_unit_test(no_answer) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
