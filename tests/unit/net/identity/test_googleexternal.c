/* SPDX-License-Identifier: Apache-2.0 */
/* Workload identity federation: kscaled's own Google identity with an external token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/json.h"
#include "base/mem.h"
#include "exchange.h"
#include "net/identity/googleexternal.h"
#include "net/identity/googlekey.h"
#include "net/identity/googleown.h"

#define SCOPE    GOOGLEKEY_MONITORING_READ
#define FILE_ENV "GOOGLE_APPLICATION_CREDENTIALS"
#define STS      "https://sts.googleapis.com/v1/token"
#define IAM      "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/robot@shop:generateAccessToken"
#define TOKEN                                                                                                          \
	"{\"access_token\":\"sts.t\",\"issued_token_type\":\"urn:ietf:params:oauth:token-type:access_token\","         \
	"\"expires_in\":3599,\"token_type\":\"Bearer\"}"
#define FEDERATED(more)                                                                                                \
	"{\"type\":\"external_account\",\"audience\":\"//iam/p\",\"subject_token_type\":\"jwt\",\"token_url\":\"" STS  \
	"\"," more "}"
#define BY_FILE "\"credential_source\":{\"file\":\"/token\"}"
#define BY_IAM  "\"service_account_impersonation_url\":\"" IAM "\""

static void begin(struct run *r, const char *config)
{
	static const char *const variables[] = { FILE_ENV, "/k", NULL };

	run_init(r, googleown_new(SCOPE), variables);
	r->place.file_name = "/k";
	r->place.file = config;
	r->place.other_name = "/token";
	r->place.other = "my.j.wt\n";
}

static void end(struct run *r)
{
	run_done(r, (struct identity *)(uintptr_t)r->x.identity);
}

static void token_from_a_file(void **state)
{
	struct run r;

	(void)state;
	begin(&r, FEDERATED(BY_FILE));
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, STS);
	assert_string_equal(r.request.content_type, "application/x-www-form-urlencoded");
	assert_string_equal(r.request.body,
		"audience=%2F%2Fiam%2Fp&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&"
		"requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&scope=https%3A%2F%2Fwww."
		"googleapis.com%2Fauth%2Fmonitoring.read&subject_token=my.j.wt&subject_token_type=jwt");
	assert_int_equal(r.request.headers.count, 0);
	assert_false(r.request.own);
	assert_int_equal(answered(&r, 400, "{\"error\":\"invalid_grant\",\"error_description\":\"my.j.wt\"}"),
		EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "Google's token service: no token: HTTP status 400, invalid_grant");
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	assert_string_equal(r.got.token, "sts.t");
	assert_int_equal(r.got.life_ms, 3599000);
	assert_null(r.got.project);
	end(&r);
}

/* Google's token has the scope cloud-platform, the account's the scope that was asked for. */
static void impersonated_account(void **state)
{
	struct run r;

	(void)state;
	begin(&r, FEDERATED(BY_FILE "," BY_IAM));
	r.place.env = ENV(FILE_ENV, "/k", "CLOUDSDK_CORE_PROJECT", "shop");
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_non_null(strstr(r.request.body, "auth%2Fcloud-platform&subject_token=my.j.wt"));
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_NEXT);
	assert_null(r.got.token);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, IAM);
	assert_string_equal(strmap_get(&r.request.headers, "Authorization"), "Bearer sts.t");
	assert_string_equal(r.request.body, "{\"lifetime\":\"3600s\",\"scope\":[\"" SCOPE "\"]}");
	assert_string_equal(r.request.content_type, "application/json");
	assert_int_equal(answered(&r, 403, "{\"error\":{\"status\":\"PERMISSION_DENIED\",\"message\":\"sts.t\"}}"),
		EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "the service account: no token: HTTP status 403, PERMISSION_DENIED");
	assert_int_equal(answered(&r, 200, "{\"accessToken\":\"a b\"}"), EXCHANGE_FAILED);
	assert_int_equal(answered(&r, 200, "{\"accessToken\":\"a\",\"expireTime\":\"2015-08-30T12:35:59Z\"}"),
		EXCHANGE_FAILED);
	assert_non_null(strstr(r.err.msg, "it has expired already"));
	assert_int_equal(answered(&r, 200, "{\"accessToken\":\"ya29.a\",\"expireTime\":\"2015-08-30T13:36:00Z\"}"),
		EXCHANGE_DONE);
	assert_string_equal(r.got.token, "ya29.a");
	assert_int_equal(r.got.life_ms, 3600000);
	assert_string_equal(r.got.project, "shop");
	end(&r);
}

static void token_from_a_url(void **state)
{
	struct run r;

	(void)state;
	begin(&r,
		FEDERATED(
			"\"credential_source\":{\"url\":\"http://169.254.169.254/token?a=b\",\"headers\":{\"Metadata\":"
			"\"true\"},\"format\":{\"type\":\"json\",\"subject_token_field_name\":\"id\"}}"));
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "http://169.254.169.254/token?a=b");
	assert_string_equal(strmap_get(&r.request.headers, "Metadata"), "true");
	assert_null(r.request.body);
	assert_true(r.request.own);
	assert_int_equal(answered(&r, 404, ""), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "the url of its credential_source: no token: HTTP status 404");
	assert_int_equal(answered(&r, 200, "{\"id\":7}"), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg,
		"the url of its credential_source: no token in the JSON member that subject_token_field_name names");
	assert_int_equal(answered(&r, 200, "my.j.wt"), EXCHANGE_FAILED);
	assert_int_equal(answered(&r, 200, "{\"id\":\"my.j.wt\"}"), EXCHANGE_NEXT);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, STS);
	assert_int_equal(r.request.headers.count, 0);
	assert_non_null(strstr(r.request.body, "&subject_token=my.j.wt&"));
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_DONE);
	end(&r);
}

/* The file differs when it is read again. */
static void file_changes_during_the_exchange(void **state)
{
	struct run r;

	(void)state;
	begin(&r, FEDERATED(BY_FILE "," BY_IAM));
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_int_equal(answered(&r, 200, TOKEN), EXCHANGE_NEXT);
	r.place.file = FEDERATED(BY_FILE);
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "the file that " FILE_ENV " names: it has changed since the exchange began");
	r.place.file = "{}";
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_int_equal(answered(&r, 200, "{}"), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "the file that " FILE_ENV " names: it has no audience");
	end(&r);
}

static void invalid_files(void **state)
{
	static const struct {
		const char *config, *token, *error;
	} rows[] = {
		{ "{\"type\":\"external_account\"}", "t", "it has no audience" },
		{ "{\"type\":\"external_account\",\"audience\":\"a\"}", "t", "it has no subject_token_type" },
		{ FEDERATED("\"x\":1"), "t", "its credential_source has neither a file nor a url" },
		{ FEDERATED("\"credential_source\":{\"file\":\"token\"}"), "t", "is not an absolute path" },
		{ FEDERATED("\"credential_source\":{\"file\":\"/nowhere\"}"), "t",
			"the file of its credential_source: there is no such file" },
		{ FEDERATED(BY_FILE), "two words", "the file of its credential_source: no token" },
		{ FEDERATED(BY_FILE), "", "the file of its credential_source: no token" },
		{ FEDERATED("\"credential_source\":{\"file\":\"/token\",\"format\":{\"type\":\"json\"}}"), "t",
			"has no subject_token_field_name" },
		{ FEDERATED("\"credential_source\":{\"file\":\"/token\",\"format\":{\"type\":\"xml\"}}"), "t",
			"neither text nor json" },
		{ FEDERATED("\"credential_source\":{\"url\":\"ftp://x/\"}"), "t", "its credential_source url: " },
		{ FEDERATED("\"credential_source\":{\"url\":\"http://x/\",\"headers\":{\"a\":\"b\\r\\nc\"}}"), "t",
			"a header of its credential_source is invalid: it needs a name, and a value of one line" },
		{ FEDERATED("\"credential_source\":{\"url\":\"http://x/\",\"headers\":{\"a b\":\"c\"}}"), "t",
			"a header of its credential_source is invalid: it needs a name, and a value of one line" },
		{ FEDERATED("\"credential_source\":{\"environment_id\":\"aws1\"}"), "t", "AWS's environment" },
		{ FEDERATED("\"credential_source\":{\"executable\":{\"command\":\"/x\"}}"), "t",
			"which kscaled does not run" },
		{ FEDERATED("\"credential_source\":{\"certificate\":{}}"), "t", "is a certificate" },
		{ FEDERATED(BY_FILE ",\"workforce_pool_user_project\":\"s3cret\""), "t",
			"workforce_pool_user_project" },
		{ FEDERATED(BY_FILE ",\"client_secret\":\"s3cret\""), "t", "it has a client_secret" },
		{ FEDERATED(BY_FILE ",\"universe_domain\":\"s3cret\""), "t", "universe_domain is not googleapis.com" },
		{ FEDERATED(BY_FILE ",\"service_account_impersonation_url\":\"http://iam/x\""), "t",
			"its service_account_impersonation_url is not an https URL" },
		{ FEDERATED(BY_FILE "," BY_IAM
				    ",\"service_account_impersonation\":{\"token_lifetime_seconds\":99999999999}"),
			"t", "token_lifetime_seconds is not from 600 to 43200" },
		{ "{\"type\":\"external_account\",\"audience\":\"a\",\"subject_token_type\":\"t\",\"token_url\":\"http:"
		  "//"
		  "sts/\"," BY_FILE "}",
			"t", "its token_url is not an https URL" },
	};

	(void)state;
	for (size_t n = 0; n < MEM_COUNT(rows); n++) {
		struct run r;

		begin(&r, rows[n].config);
		r.place.other = rows[n].token;
		assert_int_equal(next(&r), EXCHANGE_FAILED);
		if (!strstr(r.err.msg, rows[n].error) || !strstr(r.err.msg, "the file that " FILE_ENV " names: ") ||
			strstr(r.err.msg, "s3cret"))
			fail_msg("%zu: %s", n, r.err.msg);
		end(&r);
	}
}

static void token_file_for_the_sandbox(void **state)
{
	char *file = googleexternal_file(FEDERATED(BY_FILE));

	(void)state;
	assert_string_equal(file, "/token");
	free(file);
	assert_null(googleexternal_file(FEDERATED("\"credential_source\":{\"url\":\"http://x/\"}")));
	assert_null(googleexternal_file(FEDERATED("\"credential_source\":{\"file\":\"token\"}")));
	assert_null(googleexternal_file("{\"type\":\"service_account\"," BY_FILE "}"));
	assert_null(googleexternal_file("nonsense"));
	assert_null(googleexternal_file(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(token_from_a_file),
		cmocka_unit_test(impersonated_account),
		cmocka_unit_test(token_from_a_url),
		cmocka_unit_test(file_changes_during_the_exchange),
		cmocka_unit_test(invalid_files),
		cmocka_unit_test(token_file_for_the_sandbox),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
