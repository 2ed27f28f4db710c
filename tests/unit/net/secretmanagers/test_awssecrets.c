/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to AWS Secrets Manager, byte by byte, and its responses. */
#include "answers.h"

#include "base/json.h"
#include "net/secretmanagers/awssecrets.h"

static void requests(void **state)
{
	static const struct {
		struct secretmanager_secret secret;
		const char *body;
		bool pinned;
	} rows[] = {
		{ { .name = "shop/redis" }, "{\"SecretId\":\"shop/redis\"}", false },
		{ { .name = "arn:aws:secretsmanager:eu-west-1:1:secret:a-b", .version = "", .stage = "" },
			"{\"SecretId\":\"arn:aws:secretsmanager:eu-west-1:1:secret:a-b\"}", false },
		{ { .name = "a\"b", .stage = "AWSPREVIOUS" },
			"{\"SecretId\":\"a\\\"b\",\"VersionStage\":\"AWSPREVIOUS\"}", false },
		{ { .name = "a", .version = "v1", .stage = "s" },
			"{\"SecretId\":\"a\",\"VersionId\":\"v1\",\"VersionStage\":\"s\"}", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct secretmanager_secret s = rows[i].secret;
		struct webrequest r = { 0 };
		struct err err = { 0 };

		s.endpoint = "https://secretsmanager.eu-west-1.amazonaws.com";
		assert_int_equal(awssecrets.request(&s, &r, &err), 0);
		assert_string_equal(r.url, "https://secretsmanager.eu-west-1.amazonaws.com/");
		assert_string_equal(r.body, rows[i].body);
		assert_string_equal(r.content_type, "application/x-amz-json-1.1");
		assert_string_equal(strmap_get(&r.headers, "X-Amz-Target"), "secretsmanager.GetSecretValue");
		assert_int_equal(r.headers.count, 1);
		assert_int_equal(awssecrets.is_pinned(&s), rows[i].pinned);
		webrequest_done(&r);
	}
}

static void invalid_names(void **state)
{
	const struct secretmanager_secret s = { .endpoint = "https://s", .name = "\xff" };
	struct webrequest r = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(awssecrets.request(&s, &r, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_null(r.url);
}

static void responses(void **state)
{
	static const struct answer_row rows[] = {
		{ 200, "{\"ARN\":\"a\",\"SecretString\":\"s3cret\",\"VersionStages\":[\"AWSCURRENT\"]}", "s3cret", NULL,
			ERR_NONE },
		{ 200, "{\"SecretString\":\"\"}", "", NULL, ERR_NONE },
		{ 200, "{\"SecretString\":\"{\\\"a\\\":1}\",\"SecretBinary\":\"eA==\"}", "{\"a\":1}", NULL, ERR_NONE },
		{ 200, "{\"SecretBinary\":\"czNjcmV0\"}", NULL,
			"secret n: its value is binary (SecretBinary): store it as text (SecretString)", ERR_INVALID },
		{ 200, "{}", NULL, "secret n: its value (SecretString) is not a string", ERR_INVALID },
		{ 200, "{\"SecretString\":[\"s3cret\"]}", NULL, "secret n: its value (SecretString) is not a string",
			ERR_INVALID },
		{ 200, "{\"SecretString\":\"s3cret\\u0000x\"}", NULL,
			"secret n: its value (SecretString) holds a NUL character", ERR_INVALID },
		{ 200, "s3cret", NULL, "secret n: the answer is not JSON", ERR_INVALID },
		{ 200, "", NULL, "secret n: the answer is not JSON", ERR_INVALID },
		{ 204, "", NULL, "secret n: HTTP status 204", ERR_INVALID },
		{ 400,
			"{\"__type\":\"ResourceNotFoundException\",\"Message\":\"Secrets Manager can't find the "
			"specified secret.\"}",
			NULL,
			"secret n: HTTP status 400, ResourceNotFoundException: Secrets Manager can't find the "
			"specified "
			"secret.",
			ERR_MISSING },
		{ 400, "{\"__type\":\"AccessDeniedException\",\"Message\":\"User x is not authorized\"}", NULL,
			"secret n: HTTP status 400, AccessDeniedException: User x is not authorized; missing "
			"permission: secretsmanager:GetSecretValue",
			ERR_DENIED },
		{ 400, "{\"__type\":\"com.amazon#UnrecognizedClientException\",\"message\":\"m\"}", NULL,
			"secret n: HTTP status 400, UnrecognizedClientException: m; missing permission: "
			"secretsmanager:GetSecretValue",
			ERR_DENIED },
		{ 400, "{\"__type\":\"ThrottlingException\",\"message\":\"Rate exceeded\"}", NULL,
			"secret n: HTTP status 400, ThrottlingException: Rate exceeded", ERR_TEMPORARY },
		{ 400, "{\"__type\":\"InvalidRequestException\",\"Message\":\"marked for deletion\"}", NULL,
			"secret n: HTTP status 400, InvalidRequestException: marked for deletion", ERR_INVALID },
		{ 400, "<html>", NULL, "secret n: HTTP status 400", ERR_INVALID },
		{ 403,
			"<ErrorResponse><Errors><Error><Code>SignatureDoesNotMatch</Code><Message>No</Message></Error>"
			"</Errors></ErrorResponse>",
			NULL,
			"secret n: HTTP status 403, SignatureDoesNotMatch: No; missing permission: "
			"secretsmanager:GetSecretValue",
			ERR_DENIED },
		{ 500, "{\"__type\":\"InternalServiceError\"}", NULL, "secret n: HTTP status 500, InternalServiceError",
			ERR_TEMPORARY },
		{ 503, "", NULL, "secret n: HTTP status 503", ERR_TEMPORARY },
	};

	(void)state;
	check_answers(&awssecrets, rows, MEM_COUNT(rows));
}

static void members(void **state)
{
	static const struct {
		const char *value, *member, *out, *error;
	} rows[] = {
		{ "{\"user\":\"u\",\"password\":\"s3cret\"}", "password", "s3cret", NULL },
		{ "{\"p\":\"\"}", "p", "", NULL },
		{ "{\"a.b\":\"x\"}", "a.b", "x", NULL },
		{ "{\"p\":\"s3cret\"}", "q", NULL, "secretKey \"q\": SecretKey Not Found" },
		{ "{\"port\":3306}", "port", NULL, "secretKey \"port\": SecretKey value is not a string" },
		{ "{\"p\":null}", "p", NULL, "secretKey \"p\": SecretKey value is not a string" },
		{ "{\"p\":\"s3cret\\u0000\"}", "p", NULL, "secretKey \"p\": it holds a NUL character" },
		{ "s3cret", "p", NULL, "secretKey \"p\": the secret's value is not a JSON object" },
		{ "[\"s3cret\"]", "p", NULL, "secretKey \"p\": the secret's value is not a JSON object" },
		{ "", "p", NULL, "secretKey \"p\": the secret's value is not a JSON object" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { 0 };
		json_t *whole = json_parse_foreign(rows[i].value, strlen(rows[i].value), NULL);
		char *out = NULL;

		assert_int_equal(awssecrets.member(whole, rows[i].member, &out, &err), rows[i].out ? 0 : -1);
		if (rows[i].out)
			assert_string_equal(out, rows[i].out);
		else
			assert_string_equal(err.msg, rows[i].error);
		mem_free_secret(out);
		json_decref(whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(requests), cmocka_unit_test(invalid_names),
		cmocka_unit_test(responses), cmocka_unit_test(members) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
