/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Google's identities. Signatures are compared with the key's own, as RS256 is deterministic;
 * test_jwt verifies them with the public key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "../../fakes/fakekey.h"
#include "base/json.h"
#include "base/mem.h"
#include "exchange.h"
#include "net/identity/googlekey.h"
#include "net/identity/googleown.h"
#include "net/sign/jwt.h"

#define TOKEN_URL "https://oauth2.googleapis.com/token"
#define SCOPE     GOOGLEKEY_MONITORING_READ
#define TOKEN     "{\"access_token\":\"ya29.t\",\"expires_in\":3599,\"token_type\":\"Bearer\"}"
#define FILE_ENV  "GOOGLE_APPLICATION_CREDENTIALS"

/* The form of a key's token request at NOW_MS. */
static char *form_of(const char *token_url, const char *scope)
{
	json_t *header = json_pack("{ss}", "kid", "k-1"),
	       *claims = json_pack("{ss ss ss sI sI}", "iss", "robot@example.com", "scope", scope, "aud", token_url,
		       "iat", (json_int_t)(NOW_MS / 1000 - 10), "exp", (json_int_t)(NOW_MS / 1000 + 3590));
	MEM_AUTO char *token = jwt_sign(JWT_RS256, header, claims, fakekey_pem(), NULL);

	json_decref(header);
	json_decref(claims);
	return mem_printf("grant_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Agrant-type%%3Ajwt-bearer&assertion=%s", token);
}

/* ---- A service account's key ---- */

static void key_exchange(void **state)
{
	MEM_AUTO char *text = fakekey_google("http://127.0.0.1:9/token", "my-project"),
		      *form = form_of("http://127.0.0.1:9/token", SCOPE);
	struct identity *i = googlekey_new(text, SCOPE, NULL);
	struct run r;

	(void)state;
	assert_non_null(i);
	assert_false(identity_is_fixed(i));
	assert_string_equal(googlekey_project(i), "my-project");
	assert_string_equal(identity_label(i), "Google token");
	run_init(&r, i, ENV("CLOUDSDK_CORE_PROJECT", "other", "GCE_METADATA_HOST", "h"));
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "http://127.0.0.1:9/token");
	assert_null(r.request.method);
	assert_string_equal(r.request.content_type, "application/x-www-form-urlencoded");
	assert_string_equal(r.request.body, form);
	assert_int_equal(r.request.headers.count, 0);
	/* the key's author chose the server */
	assert_false(r.request.own);
	assert_int_equal(answered(&r, 400,
				 "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid JWT Signature.\"}"),
		EXCHANGE_FAILED);
	assert_int_equal(r.err.kind, ERR_DENIED);
	assert_string_equal(r.err.msg, "no token: HTTP status 400, invalid_grant");
	assert_int_equal(answered(&r, 503, ""), EXCHANGE_FAILED);
	assert_int_equal(r.err.kind, ERR_TEMPORARY);
	assert_int_equal(answered(&r, 200, "{\"id_token\":\"x\"}"), EXCHANGE_FAILED);
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	assert_string_equal(r.got.token, "ya29.t");
	assert_string_equal(r.got.project, "my-project");
	assert_int_equal(r.got.life_ms, 3599000);
	run_done(&r, i);
}

/* A key without its optional fields. */
static void minimal_key(void **state)
{
	json_t *key = json_pack("{ss ss ss}", "type", "service_account", "private_key", fakekey_pem(), "client_email",
		"robot@example.com");
	MEM_AUTO char *text = json_text(key);
	struct identity *i = googlekey_new(text, SCOPE, NULL);
	struct run r;

	(void)state;
	json_decref(key);
	assert_null(googlekey_project(i));
	run_init(&r, i, NULL);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, TOKEN_URL);
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	assert_null(r.got.project);
	run_done(&r, i);
}

/* One field is replaced; "": removed. */
static void invalid_keys(void **state)
{
	static const struct {
		const char *field, *value, *error;
	} rows[] = {
		{ "type", "", "the key's type is not known: it must be service_account" },
		{ "type", "s3cret", "the key's type is not known: it must be service_account" },
		{ "type", "external_account",
			"the key's type is external_account, which is not supported: it must be service_account" },
		{ "type", "authorized_user",
			"the key's type is authorized_user, which is not supported: it must be service_account" },
		{ "client_email", "", "the key has no client_email" },
		{ "private_key", "", "the key has no private_key" },
		{ "private_key", "s3cret",
			"the private key is not a PEM text of an RSA key of 2048 to 4096 bits, without a password" },
		{ "token_uri", "ftp://x/", "the key's token_uri: " },
		{ "token_uri", "s3cret", "the key's token_uri: " },
		{ "project_id", "a' || 'b",
			"the key's project_id is invalid: a project has lower-case letters, digits, . : and -" },
		{ "project_id", "../x",
			"the key's project_id is invalid: a project has lower-case letters, digits, . : and -" },
		{ "universe_domain", "example.com", "the key's universe_domain is not googleapis.com" },
	};
	MEM_AUTO char *good = fakekey_google(TOKEN_URL, "p");
	struct err err = { 0 };

	(void)state;
	for (size_t n = 0; n < MEM_COUNT(rows); n++) {
		json_t *key = json_parse(good, strlen(good), NULL);
		MEM_AUTO char *text = NULL;

		if (*rows[n].value)
			json_object_set_new(key, rows[n].field, json_string(rows[n].value));
		else
			json_object_del(key, rows[n].field);
		text = json_text(key);
		json_decref(key);
		assert_null(googlekey_new(text, SCOPE, &err));
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, rows[n].error) || strstr(err.msg, "s3cret"))
			fail_msg("%zu: %s", n, err.msg);
	}
	assert_null(googlekey_new("s3cret", SCOPE, &err));
	assert_string_equal(err.msg, "the key is not a JSON object");
	assert_null(googlekey_new("[1]", SCOPE, &err));
	assert_null(googlekey_new("", SCOPE, &err));
}

static void equal_identities(void **state)
{
	MEM_AUTO char *one = fakekey_google(TOKEN_URL, "p"), *project = fakekey_google(TOKEN_URL, "q"),
		      *place = fakekey_google("https://other/token", "p");
	struct identity *list[] = { googlekey_new(one, SCOPE, NULL), googlekey_new(project, SCOPE, NULL),
		googlekey_new(place, SCOPE, NULL), googlekey_new(one, GOOGLEKEY_CLOUD_PLATFORM, NULL),
		googleown_new(SCOPE), googleown_new(GOOGLEKEY_CLOUD_PLATFORM) };
	struct identity *again = googlekey_new(one, SCOPE, NULL), *own = googleown_new(SCOPE);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(list); i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(identity_key(list[i]), identity_key(list[j]));
	assert_string_equal(identity_key(list[0]), identity_key(again));
	assert_string_equal(identity_key(list[4]), identity_key(own));
	assert_null(googlekey_project(own));
	for (size_t i = 0; i < MEM_COUNT(list); i++)
		identity_unref(list[i]);
	identity_unref(again);
	identity_unref(own);
}

/* ---- kscaled's own ---- */

static void own_key_file(void **state)
{
	MEM_AUTO char *text = fakekey_google(TOKEN_URL, "my-project"), *form = form_of(TOKEN_URL, SCOPE);
	struct identity *i = googleown_new(SCOPE);
	struct run r;

	(void)state;
	run_init(&r, i, ENV(FILE_ENV, "/k"));
	assert_string_equal(identity_label(i), "kscaled's own Google token");
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "the file that " FILE_ENV " names: there is no such file");
	r.place.file_name = "/k";
	r.place.file = "{\"type\":\"gdch_service_account\"}";
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg,
		"the file that " FILE_ENV " names: the key's type is gdch_service_account, which is not supported: "
		"service_account, authorized_user and external_account are supported");
	r.place.file = text;
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, TOKEN_URL);
	assert_string_equal(r.request.body, form);
	assert_false(r.request.own);
	assert_int_equal(answered(&r, 401, "{\"error\":\"invalid_client\"}"), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "the key that " FILE_ENV " names: no token: HTTP status 401, invalid_client");
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	assert_string_equal(r.got.token, "ya29.t");
	assert_string_equal(r.got.project, "my-project");
	run_done(&r, i);

	i = googleown_new(SCOPE);
	run_init(&r, i, ENV(FILE_ENV, "/k", "CLOUDSDK_CORE_PROJECT", "other"));
	r.place.file_name = "/k";
	r.place.file = text;
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	assert_string_equal(r.got.project, "other");
	run_done(&r, i);
}

static void own_user_key(void **state)
{
	struct identity *i = googleown_new(SCOPE);
	struct run r;

	(void)state;
	run_init(&r, i, ENV(FILE_ENV, "/k"));
	r.place.file_name = "/k";
	r.place.file = "{\"type\":\"authorized_user\",\"client_id\":\"c\",\"client_secret\":\"s\"}";
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_non_null(strstr(r.err.msg, "the key has no refresh_token"));
	r.place.file = "{\"type\":\"authorized_user\",\"client_id\":\"c\",\"client_secret\":\"s\",\"refresh_token\":"
		       "\"1//x y\"}\n";
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, TOKEN_URL);
	assert_string_equal(r.request.body,
		"grant_type=refresh_token&client_id=c&client_secret=s&refresh_token=1%2F%2Fx%20y");
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	assert_null(r.got.project);
	run_done(&r, i);
}

static void own_metadata_server(void **state)
{
	struct identity *i = googleown_new(SCOPE);
	struct run r;

	(void)state;
	run_init(&r, i, NULL);
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_non_null(strstr(r.err.msg, "kscaled has no Google identity of its own"));
	assert_non_null(strstr(r.err.msg, "cloud-metadata"));
	r.environment.metadata = true;
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "http://169.254.169.254/computeMetadata/v1/project/project-id");
	assert_string_equal(strmap_get(&r.request.headers, "Metadata-Flavor"), "Google");
	assert_null(r.request.body);
	assert_true(r.request.own);
	assert_int_equal(answered(&r, 200, "my-project\n"), EXCHANGE_NEXT);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url,
		"http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token?scopes="
		"https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fmonitoring.read");
	assert_string_equal(strmap_get(&r.request.headers, "Metadata-Flavor"), "Google");
	assert_true(r.request.own);
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	assert_string_equal(r.got.token, "ya29.t");
	assert_string_equal(r.got.project, "my-project");
	assert_int_equal(r.got.life_ms, 3599000);
	run_done(&r, i);

	i = googleown_new(SCOPE);
	run_init(&r, i, ENV("GCE_METADATA_HOST", "127.0.0.1:988", "CLOUDSDK_CORE_PROJECT", "other"));
	r.environment.metadata = true;
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url,
		"http://127.0.0.1:988/computeMetadata/v1/instance/service-accounts/default/token?scopes="
		"https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fmonitoring.read");
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	assert_string_equal(r.got.project, "other");
	run_done(&r, i);
}

/* The project becomes part of URLs and queries. */
static void invalid_project(void **state)
{
	struct identity *i = googleown_new(SCOPE);
	struct run r;

	(void)state;
	run_init(&r, i, ENV("CLOUDSDK_CORE_PROJECT", "p' || x", FILE_ENV, "/k"));
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "CLOUDSDK_CORE_PROJECT is not a project id");
	run_done(&r, i);
}

static void metadata_without_project(void **state)
{
	struct identity *i = googleown_new(SCOPE);
	struct run r;

	(void)state;
	run_init(&r, i, NULL);
	r.environment.metadata = true;
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_int_equal(answered(&r, 404, "<html>"), EXCHANGE_NEXT);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	assert_null(r.got.project);
	run_done(&r, i);
}

static void metadata_nonsense(void **state)
{
	static const struct {
		int step, status;
		const char *body, *error;
	} rows[] = {
		{ 0, 403, "", "the machine's metadata server: no project: HTTP status 403" },
		{ 0, 200, "", "the answer is not a project id" },
		{ 0, 200, "a' || 'b", "the answer is not a project id" },
		{ 0, 200, "a/b", "the answer is not a project id" },
		{ 1, 404, "", "the machine's metadata server: no token: HTTP status 404" },
		{ 1, 200, "<html>", "the answer is not a JSON object" },
		{ 1, 200, "{\"access_token\":\"a b\"}", "no valid access_token" },
	};

	(void)state;
	for (size_t n = 0; n < MEM_COUNT(rows); n++) {
		struct identity *i = googleown_new(SCOPE);
		struct run r;

		run_init(&r, i, NULL);
		r.environment.metadata = true;
		for (int step = 0; step < rows[n].step; step++) {
			assert_int_equal(next(&r), EXCHANGE_SEND);
			assert_int_equal(answered(&r, 200, "my-project"), EXCHANGE_NEXT);
		}
		assert_int_equal(next(&r), EXCHANGE_SEND);
		assert_int_equal(answered(&r, rows[n].status, rows[n].body), EXCHANGE_FAILED);
		if (!strstr(r.err.msg, rows[n].error))
			fail_msg("%zu: %s", n, r.err.msg);
		assert_null(r.got.token);
		run_done(&r, i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(key_exchange),
		cmocka_unit_test(minimal_key),
		cmocka_unit_test(invalid_keys),
		cmocka_unit_test(equal_identities),
		cmocka_unit_test(own_key_file),
		cmocka_unit_test(own_user_key),
		cmocka_unit_test(own_metadata_server),
		cmocka_unit_test(invalid_project),
		cmocka_unit_test(metadata_without_project),
		cmocka_unit_test(metadata_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
