/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to Azure Key Vault, byte by byte, and its responses. */
#include "answers.h"

#include "net/secretmanagers/keyvault.h"

#define NEEDED "; missing permission: get secrets (role Key Vault Secrets User)"

static void requests(void **state)
{
	static const struct {
		const char *name, *version, *url, *error;
	} rows[] = {
		{ "redis-password", NULL, "https://shop.vault.azure.net/secrets/redis-password/?api-version=7.5",
			NULL },
		{ "A1", "", "https://shop.vault.azure.net/secrets/A1/?api-version=7.5", NULL },
		{ "a", "4387e9f3d6e14c459867679a90fd0f79",
			"https://shop.vault.azure.net/secrets/a/4387e9f3d6e14c459867679a90fd0f79?api-version=7.5",
			NULL },
		{ "a_b", NULL, NULL, "secret a_b: the name is invalid: it has 1 to 127 letters, digits and hyphens" },
		{ "../keys/k", NULL, NULL,
			"secret ../keys/k: the name is invalid: it has 1 to 127 letters, digits and hyphens" },
		{ "", NULL, NULL, "secret : the name is invalid: it has 1 to 127 letters, digits and hyphens" },
		{ "a", "v?x", NULL, "secret a: version v?x is invalid: it has letters and digits" },
		{ "a", "../b", NULL, "secret a: version ../b is invalid: it has letters and digits" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct secretmanager_secret s = { .endpoint = "https://shop.vault.azure.net",
			.name = rows[i].name,
			.version = rows[i].version };
		struct webrequest r = { 0 };
		struct err err = { 0 };

		assert_int_equal(keyvault.request(&s, &r, &err), rows[i].url ? 0 : -1);
		if (rows[i].url) {
			assert_string_equal(r.url, rows[i].url);
			assert_null(r.body);
			assert_int_equal(r.headers.count, 0);
			assert_int_equal(keyvault.is_pinned(&s), rows[i].version && *rows[i].version);
		} else {
			assert_string_equal(err.msg, rows[i].error);
			assert_int_equal(err.kind, ERR_INVALID);
		}
		webrequest_done(&r);
	}
}

static void responses(void **state)
{
	static const struct answer_row rows[] = {
		{ 200, "{\"value\":\"s3cret\",\"id\":\"https://shop.vault.azure.net/secrets/n/1\",\"attributes\":{}}",
			"s3cret", NULL, ERR_NONE },
		{ 200, "{\"value\":\"\"}", "", NULL, ERR_NONE },
		{ 200, "{\"id\":\"x\"}", NULL, "secret n: its value is not a string", ERR_INVALID },
		{ 200, "{\"value\":1}", NULL, "secret n: its value is not a string", ERR_INVALID },
		{ 200, "{\"value\":\"s3cret\\u0000\"}", NULL, "secret n: its value holds a NUL character",
			ERR_INVALID },
		{ 200, "<html>s3cret", NULL, "secret n: the answer is not JSON", ERR_INVALID },
		{ 404,
			"{\"error\":{\"code\":\"SecretNotFound\",\"message\":\"A secret with (name/id) n was not found "
			"in this key vault.\"}}",
			NULL,
			"secret n: HTTP status 404, SecretNotFound: A secret with (name/id) n was not found in this "
			"key "
			"vault.",
			ERR_MISSING },
		{ 403,
			"{\"error\":{\"code\":\"Forbidden\",\"message\":\"Caller is not authorized\\r\\nCaller: "
			"appid=1\",\"innererror\":{\"code\":\"ForbiddenByRbac\"}}}",
			NULL,
			"secret n: HTTP status 403, Forbidden/ForbiddenByRbac: Caller is not authorized  Caller: "
			"appid=1" NEEDED,
			ERR_DENIED },
		{ 401, "{\"error\":{\"code\":\"Unauthorized\",\"message\":\"AKV10022: Invalid audience.\"}}", NULL,
			"secret n: HTTP status 401, Unauthorized: AKV10022: Invalid audience." NEEDED, ERR_DENIED },
		{ 429, "{\"error\":{\"code\":\"Throttled\"}}", NULL, "secret n: HTTP status 429, Throttled",
			ERR_TEMPORARY },
		{ 400, "{\"error\":[]}", NULL, "secret n: HTTP status 400", ERR_INVALID },
		{ 503, "<html>", NULL, "secret n: HTTP status 503", ERR_TEMPORARY },
	};

	(void)state;
	check_answers(&keyvault, rows, MEM_COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(requests), cmocka_unit_test(responses) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
