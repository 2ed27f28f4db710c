/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to Google Secret Manager, byte by byte, and its responses. */
#include "answers.h"

#include "net/secretmanagers/googlesecrets.h"

#define NEEDED "; missing permission: secretmanager.versions.access (role Secret Manager Secret Accessor)"
#define ROOT   "https://secretmanager.googleapis.com/v1/projects/"

static void requests(void **state)
{
	static const struct {
		const char *project, *name, *version, *url, *error;
		bool pinned;
	} rows[] = {
		{ "shop", "redis_password", NULL, ROOT "shop/secrets/redis_password/versions/latest:access", NULL,
			false },
		{ "example.com:shop", "a-B1", "", ROOT "example.com:shop/secrets/a-B1/versions/latest:access", NULL,
			false },
		{ "shop", "a", "12", ROOT "shop/secrets/a/versions/12:access", NULL, true },
		{ "shop", "a", "prod", ROOT "shop/secrets/a/versions/prod:access", NULL, false },
		{ NULL, "a", NULL, NULL,
			"secret a: its project is not known: set CLOUDSDK_CORE_PROJECT in kscaled's environment",
			false },
		{ "a/b", "a", NULL, NULL,
			"secret a: its project is not known: set CLOUDSDK_CORE_PROJECT in kscaled's environment",
			false },
		{ "shop", "a/../b", NULL, NULL,
			"secret a/../b: the id is invalid: it has 1 to 255 letters, digits, hyphens and underscores",
			false },
		{ "shop", "a", "1:destroy", NULL, "secret a: version 1:destroy is invalid: it is a number or an alias",
			false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct secretmanager_secret s = { .endpoint = GOOGLESECRETS_URL,
			.project = rows[i].project,
			.name = rows[i].name,
			.version = rows[i].version };
		struct webrequest r = { 0 };
		struct err err = { 0 };

		assert_int_equal(googlesecrets.request(&s, &r, &err), rows[i].url ? 0 : -1);
		if (rows[i].url) {
			assert_string_equal(r.url, rows[i].url);
			assert_null(r.body);
			assert_int_equal(r.headers.count, 0);
			assert_int_equal(googlesecrets.is_pinned(&s), rows[i].pinned);
		} else {
			assert_string_equal(err.msg, rows[i].error);
			assert_int_equal(err.kind, ERR_INVALID);
		}
		webrequest_done(&r);
	}
}

/* RFC 3720, B.4, and the usual check value. */
static void checksums(void **state)
{
	unsigned char bytes[32] = { 0 };

	(void)state;
	assert_int_equal(googlesecrets_checksum("123456789", 9), 0xe3069283u);
	assert_int_equal(googlesecrets_checksum("", 0), 0);
	assert_int_equal(googlesecrets_checksum(bytes, 32), 0x8a9136aau);
	memset(bytes, 0xff, 32);
	assert_int_equal(googlesecrets_checksum(bytes, 32), 0x62a8ab43u);
	for (int i = 0; i < 32; i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(googlesecrets_checksum(bytes, 32), 0x46dd794eu);
}

static void responses(void **state)
{
	static const struct answer_row rows[] = {
		{ 200,
			"{\"name\":\"projects/1/secrets/n/versions/1\",\"payload\":{\"data\":\"MTIzNDU2Nzg5\","
			"\"dataCrc32c\":\"3808858755\"}}",
			"123456789", NULL, ERR_NONE },
		{ 200, "{\"payload\":{\"data\":\"MTIzNDU2Nzg5\",\"dataCrc32c\":3808858755}}", "123456789", NULL,
			ERR_NONE },
		{ 200, "{\"payload\":{\"data\":\"MTIzNDU2Nzg5\"}}", "123456789", NULL, ERR_NONE },
		{ 200, "{\"payload\":{\"data\":\"\",\"dataCrc32c\":\"0\"}}", "", NULL, ERR_NONE },
		{ 200, "{\"payload\":{\"data\":\"MTIzNDU2Nzg5\",\"dataCrc32c\":\"1\"}}", NULL,
			"secret n: secret payload data corruption detected", ERR_TEMPORARY },
		{ 200, "{\"payload\":{\"data\":\"MTIzNDU2Nzg5\",\"dataCrc32c\":\"3808858755x\"}}", NULL,
			"secret n: secret payload data corruption detected", ERR_TEMPORARY },
		{ 200, "{\"payload\":{\"data\":\"MTIzNDU2Nzg5\",\"dataCrc32c\":[]}}", NULL,
			"secret n: secret payload data corruption detected", ERR_TEMPORARY },
		{ 200, "{\"payload\":{\"data\":\"YQBi\"}}", NULL, "secret n: its value holds a NUL character",
			ERR_INVALID },
		{ 200, "{\"payload\":{\"data\":\"s3cret!\"}}", NULL, "secret n: the answer has no payload in base64",
			ERR_INVALID },
		{ 200, "{\"payload\":7}", NULL, "secret n: the answer has no payload in base64", ERR_INVALID },
		{ 200, "{}", NULL, "secret n: the answer has no payload in base64", ERR_INVALID },
		{ 200, "s3cret", NULL, "secret n: the answer is not JSON", ERR_INVALID },
		{ 404,
			"{\"error\":{\"code\":404,\"message\":\"Secret [projects/1/secrets/n] not found or has no "
			"versions.\",\"status\":\"NOT_FOUND\"}}",
			NULL,
			"secret n: HTTP status 404, NOT_FOUND: Secret [projects/1/secrets/n] not found or has no "
			"versions.",
			ERR_MISSING },
		{ 403, "{\"error\":{\"code\":403,\"message\":\"Permission denied\",\"status\":\"PERMISSION_DENIED\"}}",
			NULL, "secret n: HTTP status 403, PERMISSION_DENIED: Permission denied" NEEDED, ERR_DENIED },
		{ 400,
			"{\"error\":{\"code\":400,\"message\":\"is in DESTROYED "
			"state.\",\"status\":\"FAILED_PRECONDITION\"}}",
			NULL, "secret n: HTTP status 400, FAILED_PRECONDITION: is in DESTROYED state.", ERR_INVALID },
		{ 429, "{\"error\":{\"status\":\"RESOURCE_EXHAUSTED\"}}", NULL,
			"secret n: HTTP status 429, RESOURCE_EXHAUSTED", ERR_TEMPORARY },
		{ 502, "<html>", NULL, "secret n: HTTP status 502", ERR_TEMPORARY },
	};

	(void)state;
	check_answers(&googlesecrets, rows, MEM_COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(requests), cmocka_unit_test(checksums),
		cmocka_unit_test(responses) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
