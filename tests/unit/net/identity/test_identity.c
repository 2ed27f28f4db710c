/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exchanges of all kinds, with given environments, files and responses; checks the requests and
 * the credentials.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakekey.h"
#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "exchange.h"
#include "net/identity/awskeys.h"
#include "net/identity/awsown.h"
#include "net/identity/awsregion.h"
#include "net/identity/awsrole.h"
#include "net/identity/awssts.h"
#include "net/identity/entra.h"
#include "net/identity/githubapp.h"
#include "net/identity/oauthclient.h"

#define STS_KEYS(action)                                                                                               \
	"<" action "Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><" action                             \
	"Result><Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>se/cret</SecretAccessKey><SessionToken>" \
	"to+ken=</SessionToken><Expiration>2015-08-30T13:36:00Z</Expiration></Credentials></" action                   \
	"Result></" action "Response>"
#define JSON_KEYS                                                                                                      \
	"{\"AccessKeyId\":\"ASIA1\",\"SecretAccessKey\":\"se/cret\",\"Token\":\"to+ken=\",\"Expiration\":"             \
	"\"2015-08-30T13:36:00Z\"}"

static void expect_keys(const struct run *r)
{
	assert_string_equal(r->got.key_id, "ASIA1");
	assert_string_equal(r->got.secret, "se/cret");
	assert_string_equal(r->got.session_token, "to+ken=");
	assert_int_equal(r->got.life_ms, 3600000);
}

/* ---- OAuth ---- */

static void oauth_basic_then_form(void **state)
{
	const struct oauthclient_config config = { .token_url = "https://t/token",
		.client_id = "me:1",
		.client_secret = "s3 cret",
		.scopes = "a b",
		.params = "audience=x%20y" };
	struct identity *i = oauthclient_new(&config, NULL);
	struct run r;

	(void)state;
	run_init(&r, i, NULL);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "https://t/token");
	assert_string_equal(r.request.body, "grant_type=client_credentials&scope=a%20b&audience=x%20y");
	/* me%3A1:s3%20cret */
	assert_string_equal(strmap_get(&r.request.headers, "Authorization"), "Basic bWUlM0ExOnMzJTIwY3JldA==");
	assert_int_equal(answered(&r, 401, "{}"), EXCHANGE_NEXT);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.body,
		"grant_type=client_credentials&scope=a%20b&client_id=me%3A1&client_secret=s3%20cret&audience=x%20y");
	assert_null(strmap_get(&r.request.headers, "Authorization"));
	assert_int_equal(answered(&r, 200, "{\"access_token\":\"t\",\"expires_in\":60}"), EXCHANGE_DONE);
	assert_string_equal(r.got.token, "t");
	assert_int_equal(r.got.life_ms, 60000);
	/* the next exchange starts with what worked */
	identity_exchange_done(&r.x);
	r.x = (struct identity_exchange){ .identity = i,
		.environment = &r.environment,
		.unix_ms = NOW_MS,
		.memory = r.x.memory };
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_null(strmap_get(&r.request.headers, "Authorization"));
	assert_int_equal(answered(&r, 400, "{\"error\":\"invalid_client\"}"), EXCHANGE_NEXT);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_int_equal(answered(&r, 400, "{\"error\":\"invalid_client\"}"), EXCHANGE_FAILED);
	assert_int_equal(r.err.kind, ERR_DENIED);
	assert_string_equal(r.err.msg, "no token: HTTP status 400, invalid_client");
	run_done(&r, i);
}

static void oauth_invalid_config(void **state)
{
	struct oauthclient_config config = { .token_url = "ftp://t/" };
	struct err err = { 0 };

	(void)state;
	assert_null(oauthclient_new(&config, &err));
	assert_non_null(strstr(err.msg, "the token URL: "));
	config = (struct oauthclient_config){ .token_url = "http://t/", .params = "a=b\n" };
	assert_null(oauthclient_new(&config, &err));
	assert_non_null(strstr(err.msg, "control character"));
}

/* ---- AWS ---- */

static void fixed_keys(void **state)
{
	struct identity *i = awskeys_new("AK", "se/cret", "to+ken", NULL);
	struct err err = { 0 };
	struct run r;

	(void)state;
	run_init(&r, i, NULL);
	assert_true(identity_is_fixed(i));
	assert_int_equal(next(&r), EXCHANGE_DONE);
	assert_string_equal(r.got.key_id, "AK");
	assert_string_equal(r.got.secret, "se/cret");
	assert_string_equal(r.got.session_token, "to+ken");
	assert_int_equal(r.got.life_ms, 0);
	assert_true(identity_echoes_secret(i, "you sent TO+KEN", NULL));
	assert_false(identity_echoes_secret(i, "AK is unknown, se/cret was never sent", NULL));
	run_done(&r, i);
	assert_null(awskeys_new("A K", "s", NULL, &err));
	assert_non_null(strstr(err.msg, "the AWS access key id contains a blank"));
	assert_null(awskeys_new("AK", "s\r\nX: y", NULL, &err));
	assert_non_null(strstr(err.msg, "the AWS secret access key contains"));
}

static void own_environment_keys(void **state)
{
	struct identity *i = awsown_new("eu-west-1");
	struct run r;

	(void)state;
	run_init(&r, i,
		ENV("AWS_ACCESS_KEY_ID", "AK", "AWS_SECRET_ACCESS_KEY", "s", "AWS_WEB_IDENTITY_TOKEN_FILE", "/t",
			"AWS_ROLE_ARN", "arn"));
	assert_int_equal(next(&r), EXCHANGE_DONE);
	assert_string_equal(r.got.key_id, "AK");
	assert_null(r.got.session_token);
	run_done(&r, i);
}

static void own_web_identity(void **state)
{
	struct identity *i = awsown_new("eu-west-1");
	struct run r;

	(void)state;
	run_init(&r, i, ENV("AWS_WEB_IDENTITY_TOKEN_FILE", "/t", "AWS_ROLE_ARN", "arn:aws:iam::1:role/x"));
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "the file that AWS_WEB_IDENTITY_TOKEN_FILE names: there is no such file");
	r.place.file_name = "/t";
	r.place.file = "j.w.t\n";
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "https://sts.eu-west-1.amazonaws.com/");
	assert_string_equal(r.request.body,
		"Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx&"
		"RoleSessionName=KEDA&WebIdentityToken=j.w.t");
	assert_int_equal(r.request.headers.count, 0);
	assert_false(r.request.own);
	assert_int_equal(answered(&r, 200, STS_KEYS("AssumeRoleWithWebIdentity")), EXCHANGE_DONE);
	expect_keys(&r);
	run_done(&r, i);
}

static void own_container_credentials(void **state)
{
	struct identity *i = awsown_new("eu-west-1");
	struct run r;

	(void)state;
	run_init(&r, i,
		ENV("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials",
			"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/t"));
	r.place.file_name = "/t";
	r.place.file = "j.w.t";
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "http://169.254.170.23/v1/credentials");
	assert_string_equal(strmap_get(&r.request.headers, "Authorization"), "j.w.t");
	assert_null(r.request.body);
	assert_true(r.request.own);
	assert_int_equal(answered(&r, 403, "{\"code\":\"AccessDenied\",\"message\":\"no\\nfurther\"}"),
		EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "the container's credentials: no keys: HTTP status 403, AccessDenied: no");
	assert_int_equal(answered(&r, 200, JSON_KEYS), EXCHANGE_DONE);
	expect_keys(&r);
	run_done(&r, i);

	i = awsown_new("eu-west-1");
	run_init(&r, i, ENV("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x"));
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "http://169.254.170.2/v2/x");
	assert_int_equal(r.request.headers.count, 0);
	run_done(&r, i);
}

static void own_metadata_server(void **state)
{
	struct identity *i = awsown_new("eu-west-1");
	struct run r;

	(void)state;
	run_init(&r, i, NULL);
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_non_null(strstr(r.err.msg, "kscaled has no AWS identity of its own"));
	assert_non_null(strstr(r.err.msg, "cloud-metadata"));
	r.environment.metadata = true;
	r.place.env = ENV("AWS_EC2_METADATA_DISABLED", "TRUE");
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	r.place.env = NULL;
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "http://169.254.169.254/latest/api/token");
	assert_string_equal(r.request.method, "PUT");
	assert_string_equal(strmap_get(&r.request.headers, "X-aws-ec2-metadata-token-ttl-seconds"), "300");
	assert_true(r.request.own);
	assert_int_equal(answered(&r, 200, "imds-token"), EXCHANGE_NEXT);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "http://169.254.169.254/latest/meta-data/iam/security-credentials/");
	assert_string_equal(strmap_get(&r.request.headers, "X-aws-ec2-metadata-token"), "imds-token");
	assert_int_equal(answered(&r, 200, "node-role\n"), EXCHANGE_NEXT);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url,
		"http://169.254.169.254/latest/meta-data/iam/security-credentials/node-role");
	assert_string_equal(strmap_get(&r.request.headers, "X-aws-ec2-metadata-token"), "imds-token");
	assert_int_equal(answered(&r, 200, JSON_KEYS), EXCHANGE_DONE);
	expect_keys(&r);
	run_done(&r, i);
}

static void metadata_nonsense(void **state)
{
	static const struct {
		int step, status;
		const char *body, *error;
	} rows[] = {
		{ 0, 403, "", "the machine's metadata server: no keys: HTTP status 403" },
		{ 0, 200, "", "the answer is not a token" },
		{ 0, 200, "a b", "the answer is not a token" },
		{ 1, 404, "", "the machine has no role: HTTP status 404" },
		{ 1, 200, "../x", "is not a role name" },
		{ 2, 200, "{\"Code\":\"Failed\"}", "the answer has no usable keys" },
		{ 2, 200, "{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"s\",\"Expiration\":\"2015-08-30T12:35:00Z\"}",
			"have expired already" },
	};

	(void)state;
	for (size_t n = 0; n < MEM_COUNT(rows); n++) {
		static const char *const good[] = { "token", "role" };
		struct identity *i = awsown_new("eu-west-1");
		struct run r;

		run_init(&r, i, NULL);
		r.environment.metadata = true;
		for (int step = 0; step < rows[n].step; step++) {
			assert_int_equal(next(&r), EXCHANGE_SEND);
			assert_int_equal(answered(&r, 200, good[step]), EXCHANGE_NEXT);
		}
		assert_int_equal(next(&r), EXCHANGE_SEND);
		assert_int_equal(answered(&r, rows[n].status, rows[n].body), EXCHANGE_FAILED);
		if (!strstr(r.err.msg, rows[n].error))
			fail_msg("%zu: %s", n, r.err.msg);
		assert_null(r.got.key_id);
		run_done(&r, i);
	}
}

static void role_by_own_keys(void **state)
{
	char key_id[] = "AKIDEXAMPLE", secret[] = "s", token[] = "own-token";
	const struct credential own = { .key_id = key_id, .secret = secret, .session_token = token };
	struct identity *i = awsrole_new("us-east-1", "arn:aws:iam::1:role/x", "ext", false);
	struct run r;

	(void)state;
	run_init(&r, i, ENV("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"));
	assert_int_equal(next(&r), EXCHANGE_WAIT);
	assert_non_null(identity_source(i));
	r.x.source = &own;
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "https://sts.us-east-1.amazonaws.com/");
	assert_string_equal(r.request.body,
		"Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx&RoleSessionName=KEDA&"
		"ExternalId=ext");
	assert_string_equal(strmap_get(&r.request.headers, "X-Amz-Date"), "20150830T123600Z");
	assert_string_equal(strmap_get(&r.request.headers, "X-Amz-Security-Token"), "own-token");
	assert_non_null(strstr(strmap_get(&r.request.headers, "Authorization"),
		"Credential=AKIDEXAMPLE/20150830/us-east-1/sts/aws4_request, "
		"SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature="));
	assert_int_equal(answered(&r, 403,
				 "<ErrorResponse><Error><Code>AccessDenied</Code><Message>User: arn:aws:iam::1:user/k "
				 "is "
				 "not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>"),
		EXCHANGE_FAILED);
	assert_int_equal(r.err.kind, ERR_DENIED);
	assert_string_equal(r.err.msg,
		"AssumeRole arn:aws:iam::1:role/x: no keys: HTTP status 403, AccessDenied: User: arn:aws:iam::1:user/k "
		"is "
		"not authorized to perform: sts:AssumeRole");
	assert_int_equal(answered(&r, 200, STS_KEYS("AssumeRole")), EXCHANGE_DONE);
	expect_keys(&r);
	run_done(&r, i);
}

static void role_by_token_then_own_keys(void **state)
{
	char key_id[] = "AK", secret[] = "s";
	const struct credential own = { .key_id = key_id, .secret = secret };
	struct identity *i = awsrole_new("us-east-1", "arn:r", NULL, true);
	struct run r;

	(void)state;
	run_init(&r, i, ENV("AWS_WEB_IDENTITY_TOKEN_FILE", "/t", "AWS_ENDPOINT_URL_STS", "http://127.0.0.1:5/sts"));
	r.place.file_name = "/t";
	r.place.file = "j.w.t";
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "http://127.0.0.1:5/sts/");
	assert_non_null(strstr(r.request.body, "WebIdentityToken=j.w.t"));
	assert_int_equal(answered(&r, 400,
				 "<ErrorResponse><Error><Code>InvalidIdentityToken</Code></Error></ErrorResponse>"),
		EXCHANGE_NEXT);
	assert_int_equal(next(&r), EXCHANGE_WAIT);
	r.x.source = &own;
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_non_null(strstr(r.request.body, "Action=AssumeRole&"));
	assert_null(strmap_get(&r.request.headers, "X-Amz-Security-Token"));
	assert_int_equal(answered(&r, 500, "oops"), EXCHANGE_FAILED);
	assert_int_equal(r.err.kind, ERR_TEMPORARY);
	assert_string_equal(r.err.msg,
		"AssumeRole arn:r: no keys: HTTP status 500 (and AssumeRoleWithWebIdentity: no keys: HTTP status 400, "
		"InvalidIdentityToken)");
	run_done(&r, i);

	/* a throttled server gets no second request */
	i = awsrole_new("us-east-1", "arn:r", NULL, true);
	run_init(&r, i, ENV("AWS_WEB_IDENTITY_TOKEN_FILE", "/t"));
	r.place.file_name = "/t";
	r.place.file = "j.w.t";
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_int_equal(answered(&r, 400, "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>"),
		EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "AssumeRoleWithWebIdentity arn:r: no keys: HTTP status 400, Throttling");
	assert_int_equal(r.err.retry_after_ms, 5000);
	run_done(&r, i);

	/* without a token file AssumeRole comes first */
	i = awsrole_new("us-east-1", "arn:r", NULL, true);
	run_init(&r, i, NULL);
	assert_int_equal(next(&r), EXCHANGE_WAIT);
	run_done(&r, i);
}

/* ---- Entra ID ---- */

#define SCOPE "https://storage.azure.com/.default"

static void entra_secret(void **state)
{
	const struct entra_config config = { .tenant = "t-1",
		.client_id = "c",
		.scope = SCOPE,
		.authority = "http://127.0.0.1:9/" };
	struct identity *i = entra_app_new(&config, "s+3", NULL);
	struct run r;

	(void)state;
	run_init(&r, i, ENV("AZURE_TENANT_ID", "other", "AZURE_AUTHORITY_HOST", "https://other"));
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "http://127.0.0.1:9/t-1/oauth2/v2.0/token");
	assert_string_equal(r.request.body,
		"client_id=c&grant_type=client_credentials&scope=https%3A%2F%2Fstorage.azure.com%2F.default&client_"
		"secret=s%2B3");
	assert_int_equal(answered(&r, 401,
				 "{\"error\":\"invalid_client\",\"error_description\":\"AADSTS7000215: Invalid s+3\"}"),
		EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "no token: HTTP status 401, invalid_client (AADSTS7000215)");
	assert_int_equal(answered(&r, 200, "{\"token_type\":\"Bearer\",\"expires_in\":3599,\"access_token\":\"ey\"}"),
		EXCHANGE_DONE);
	assert_string_equal(r.got.token, "ey");
	assert_int_equal(r.got.life_ms, 3599000);
	run_done(&r, i);
}

static void entra_federated_token(void **state)
{
	struct entra_config config = { .scope = SCOPE };
	struct identity *i = entra_own_new(&config, NULL);
	struct run r;

	(void)state;
	run_init(&r, i, ENV("AZURE_CLIENT_ID", "c", "AZURE_TENANT_ID", "t"));
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_non_null(strstr(r.err.msg, "kscaled has no Azure identity of its own"));
	r.place = (struct place){ ENV("AZURE_CLIENT_ID", "c", "AZURE_TENANT_ID", "t", "AZURE_FEDERATED_TOKEN_FILE",
					  "/t", "AZURE_AUTHORITY_HOST", "https://login.microsoftonline.us/"),
		"/t", "j.w.t", NULL, NULL };
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "https://login.microsoftonline.us/t/oauth2/v2.0/token");
	assert_string_equal(r.request.body,
		"client_id=c&grant_type=client_credentials&scope=https%3A%2F%2Fstorage.azure.com%2F.default&"
		"client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&"
		"client_assertion=j.w.t");
	run_done(&r, i);

	/* identityId, identityTenantId and identityAuthorityHost of a TriggerAuthentication */
	config.client_id = "mine";
	config.tenant = "my-tenant";
	config.authority = "https://login.microsoftonline.com/";
	i = entra_own_new(&config, NULL);
	run_init(&r, i, ENV("AZURE_CLIENT_ID", "c", "AZURE_TENANT_ID", "t", "AZURE_FEDERATED_TOKEN_FILE", "/t"));
	r.place.file_name = "/t";
	r.place.file = "j.w.t";
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "https://login.microsoftonline.com/my-tenant/oauth2/v2.0/token");
	assert_int_equal(strncmp(r.request.body, "client_id=mine&", 15), 0);
	run_done(&r, i);
}

/* Without workload identity: a secret, else a certificate; the token file comes last. */
static void entra_secret_or_certificate(void **state)
{
	static const char *const by_certificate[] = { "AZURE_CLIENT_ID", "c", "AZURE_TENANT_ID", "t",
		"AZURE_CLIENT_CERTIFICATE_PATH", "/c", "AZURE_FEDERATED_TOKEN_FILE", "/t", NULL };
	const struct entra_config config = { .scope = SCOPE };
	MEM_AUTO char *cert = fakekey_certificate(fakekey_pem()), *pem = mem_printf("%s%s", fakekey_pem(), cert);
	struct identity *i = entra_own_new(&config, NULL);
	struct run r;

	(void)state;
	run_init(&r, i,
		ENV("AZURE_CLIENT_ID", "c", "AZURE_TENANT_ID", "t", "AZURE_CLIENT_SECRET", "s+3",
			"AZURE_CLIENT_CERTIFICATE_PATH", "/c", "AZURE_FEDERATED_TOKEN_FILE", "/t"));
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "https://login.microsoftonline.com/t/oauth2/v2.0/token");
	assert_non_null(strstr(r.request.body, "&client_secret=s%2B3"));
	assert_null(strstr(r.request.body, "client_assertion"));
	r.place = (struct place){ by_certificate, "/t", "j.w.t", "/c", pem };
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_null(strstr(r.request.body, "client_secret"));
	assert_null(strstr(r.request.body, "client_assertion=j.w.t"));
	assert_non_null(strstr(r.request.body,
		"&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
		"&client_assertion=eyJhbGciOiJQUzI1NiIs")); /* {"alg":"PS256", */
	r.place.other = "s3cret";
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg,
		"the file that AZURE_CLIENT_CERTIFICATE_PATH names, which must hold a certificate and its RSA key in "
		"PEM: there is no PEM text of a certificate in it");
	r.place.other_name = NULL;
	assert_int_equal(next(&r), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "the file that AZURE_CLIENT_CERTIFICATE_PATH names: there is no such file");
	run_done(&r, i);
}

/* kscaled's own proofs go to Microsoft's servers only. */
static void entra_own_authorities(void **state)
{
	static const char *const wrong[] = { "http://login.microsoftonline.com",
		"https://login.microsoftonline.com:8443", "https://evil.example",
		"https://login.microsoftonline.com.evil.example", "https://x@evil.example", "login" };
	struct entra_config config = { .tenant = "../x", .scope = SCOPE };
	struct err err = { 0 };

	(void)state;
	assert_null(entra_own_new(&config, &err));
	assert_string_equal(err.msg, "the tenant id \"../x\" is invalid: it is a GUID or the name of a domain");
	config.tenant = "t";
	for (size_t i = 0; i < MEM_COUNT(wrong); i++) {
		config.authority = wrong[i];
		if (entra_own_new(&config, &err))
			fail_msg("%s was accepted", wrong[i]);
		assert_non_null(strstr(err.msg, "the authority host"));
	}
	/* An empty secret does not mean kscaled's own identity. */
	config.authority = NULL;
	assert_null(entra_app_new(&config, NULL, &err));
	assert_string_equal(err.msg, "the client secret is empty");
	assert_null(entra_app_new(&config, "", &err));
}

/* ---- Equality ---- */

static void equal_identities(void **state)
{
	struct identity *list[] = { awskeys_new("a", "b", NULL, NULL), awskeys_new("a", "b", "c", NULL),
		awskeys_new("ab", "c", NULL, NULL), awsown_new("eu-west-1"), awsown_new("eu-west-2"),
		awsrole_new("eu-west-1", "r", NULL, false), awsrole_new("eu-west-1", "r", NULL, true),
		awsrole_new("eu-west-1", "r", "x", false), awsrole_new("eu-west-2", "r", NULL, false) };
	struct identity *again = awsrole_new("eu-west-1", "r", "x", false);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(list); i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(identity_key(list[i]), identity_key(list[j]));
	assert_string_equal(identity_key(list[7]), identity_key(again));
	for (size_t i = 0; i < MEM_COUNT(list); i++)
		identity_unref(list[i]);
	identity_unref(again);
}

/* A region becomes part of a host name to which credentials are sent. */
static void regions(void **state)
{
	static const char *const wrong[] = { "", "-a", "a-", "eu.west", "x.evil.com/", "evil.com#", "EU-WEST-1", "a@b",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	static const char *const places[][2] = { { "eu-west-1", "https://sqs.eu-west-1.amazonaws.com" },
		{ "us-gov-west-1", "https://sqs.us-gov-west-1.amazonaws.com" },
		{ "cn-north-1", "https://sqs.cn-north-1.amazonaws.com.cn" },
		{ "eusc-de-east-1", "https://sqs.eusc-de-east-1.amazonaws.eu" },
		{ "us-iso-east-1", "https://sqs.us-iso-east-1.c2s.ic.gov" },
		{ "us-isob-east-1", "https://sqs.us-isob-east-1.sc2s.sgov.gov" } };

	(void)state;
	assert_int_equal(awsregion_check("ap-southeast-2", NULL), 0);
	for (size_t i = 0; i < MEM_COUNT(wrong); i++)
		assert_int_equal(awsregion_check(wrong[i], NULL), -1);
	for (size_t i = 0; i < MEM_COUNT(places); i++) {
		MEM_AUTO char *url = awsregion_url("sqs", places[i][0]);

		assert_string_equal(url, places[i][1]);
	}
}

static void error_texts(void **state)
{
	static const struct {
		const char *body, *words;
		bool over, throttled;
	} rows[] = {
		{ "{\"__type\":\"com.amazonaws.sqs#RequestThrottled\",\"message\":\"slow\"}", "RequestThrottled: slow",
			false, true },
		{ "<ErrorResponse><Error><Code>Throttling</Code><Message>Rate "
		  "exceeded</Message></Error></ErrorResponse>",
			"Throttling: Rate exceeded", false, true },
		{ "<Response><Errors><Error><Code>RequestLimitExceeded</Code></Error></Errors></Response>",
			"RequestLimitExceeded", false, true },
		{ "{\"__type\":\"ThrottlingExceptions\"}", "ThrottlingExceptions", false, false },
		{ "", NULL, false, false },
		{ "{}", NULL, false, false },
		{ "[1]", NULL, false, false },
		{ "{\"__type\":\"com.amazonaws.sqs#QueueDoesNotExist\",\"message\":\"The specified queue does not "
		  "exist.\"}",
			"QueueDoesNotExist: The specified queue does not exist.", false, false },
		{ "{\"__type\":\"ExpiredTokenException\",\"Message\":\"over\"}", "ExpiredTokenException: over", true,
			false },
		{ "<ErrorResponse><Error><Code>ExpiredToken</Code></Error></ErrorResponse>", "ExpiredToken", true,
			false },
		{ "<Response><Errors><Error><Code>InvalidClientTokenId</Code><Message>no</Message></Error></Errors>"
		  "</Response>",
			"InvalidClientTokenId: no", true, false },
		{ "{\"__type\":\"SignatureDoesNotMatch\",\"message\":\"no match\\n\\nx-amz-security-token:s3cret\"}",
			"SignatureDoesNotMatch: no match", false, false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *words = awssts_error(rows[i].body, strlen(rows[i].body));

		if (rows[i].words)
			assert_string_equal(words, rows[i].words);
		else
			assert_null(words);
		assert_int_equal(awssts_is_expired(rows[i].body, strlen(rows[i].body)), rows[i].over);
		assert_int_equal(awssts_is_throttled(rows[i].body, strlen(rows[i].body)), rows[i].throttled);
	}
}

/* ---- A GitHub App ---- */

/* The decoded part of a token; the caller owns it. */
static json_t *part_of(const char *from, size_t len)
{
	char *text = mem_zalloc(len + 4), *bytes;
	json_t *value;
	size_t size;

	for (size_t i = 0; i < len; i++)
		text[i] = from[i] == '-' ? '+' : from[i] == '_' ? '/' : from[i];
	while (strlen(text) % 4)
		strcat(text, "=");
	bytes = base64_decode(text, &size);
	value = json_parse(bytes, size, NULL);
	free(bytes);
	free(text);
	return value;
}

#define PERMISSIONS "{\"actions\":\"read\"}"
#define INSTALLED   "{\"token\":\"ghs_16C7e42F292c6912E7710c838347Ae178B4a\",\"expires_at\":\"2015-08-30T13:36:00Z\"}"

static void github_app(void **state)
{
	MEM_AUTO char *key = fakekey_rsa(2048, NULL);
	const struct githubapp_config config = { .api_url = "https://ghe.test/api/v3",
		.application = "123",
		.installation = "456",
		.key_pem = key,
		.permissions = PERMISSIONS };
	struct err err = { 0 };
	struct identity *i = githubapp_new(&config, &err);
	const char *token, *dot;
	json_t *head, *claims;
	struct run r;

	(void)state;
	assert_non_null(i);
	run_init(&r, i, NULL);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	assert_string_equal(r.request.url, "https://ghe.test/api/v3/app/installations/456/access_tokens");
	assert_string_equal(r.request.body, "{\"permissions\":" PERMISSIONS "}");
	assert_string_equal(r.request.content_type, "application/json");
	assert_string_equal(strmap_get(&r.request.headers, "Accept"), "application/vnd.github+json");
	assert_string_equal(strmap_get(&r.request.headers, "X-GitHub-Api-Version"), "2022-11-28");
	assert_false(r.request.own);
	token = strmap_get(&r.request.headers, "Authorization");
	assert_int_equal(strncmp(token, "Bearer ", 7), 0);
	token += 7;
	dot = strchr(token, '.');
	head = part_of(token, (size_t)(dot - token));
	claims = part_of(dot + 1, strcspn(dot + 1, "."));
	assert_true(json_str_is(head, "alg", "RS256") && json_str_is(head, "typ", "JWT"));
	assert_int_equal(json_object_size(claims), 3);
	assert_true(json_str_is(claims, "iss", "123"));
	assert_int_equal(json_integer_value(json_object_get(claims, "iat")), NOW_MS / 1000 - 60);
	assert_int_equal(json_integer_value(json_object_get(claims, "exp")), NOW_MS / 1000 + 540);
	json_decref(head);
	json_decref(claims);
	assert_int_equal(answered(&r, 201, INSTALLED), EXCHANGE_DONE);
	assert_string_equal(r.got.token, "ghs_16C7e42F292c6912E7710c838347Ae178B4a");
	assert_int_equal(r.got.life_ms, 3600000);
	assert_int_equal(identity_early_ms(i), 300000);
	assert_string_equal(identity_label(i), "GitHub App token");
	run_done(&r, i);
}

static void github_app_refused(void **state)
{
	static const struct {
		int status;
		enum err_kind kind;
		const char *body, *message;
	} rows[] = {
		{ 401, ERR_DENIED, "{\"message\":\"A JSON web\\ntoken could not be decoded\"}",
			"no token for the installation: HTTP status 401, A JSON web token could not be decoded" },
		{ 404, ERR_MISSING, "{\"message\":\"Not Found\"}",
			"no token for the installation: HTTP status 404, Not Found" },
		{ 422, ERR_INVALID, "{}", "no token for the installation: HTTP status 422" },
		{ 503, ERR_TEMPORARY, "<html>", "no token for the installation: HTTP status 503" },
		{ 201, ERR_INVALID, "{}", "no token: the answer has no valid token" },
		{ 201, ERR_INVALID, "[]", "no token: the answer has no valid token" },
		{ 201, ERR_INVALID, "{\"token\":\"a b\"}", "no token: the answer has no valid token" },
		{ 201, ERR_INVALID, "{\"token\":\"t\",\"expires_at\":\"2015-08-30T12:36:00Z\"}",
			"no token: it has expired already: check this machine's clock" },
	};
	MEM_AUTO char *key = fakekey_rsa(2048, NULL);
	const struct githubapp_config config = { .api_url = "https://ghe.test",
		.application = "1",
		.installation = "2",
		.key_pem = key,
		.permissions = PERMISSIONS };
	struct identity *i = githubapp_new(&config, NULL);
	MEM_AUTO char *repeated = NULL;
	struct run r;

	(void)state;
	run_init(&r, i, NULL);
	assert_int_equal(next(&r), EXCHANGE_SEND);
	for (size_t n = 0; n < MEM_COUNT(rows); n++) {
		assert_int_equal(answered(&r, rows[n].status, rows[n].body), EXCHANGE_FAILED);
		assert_string_equal(r.err.msg, rows[n].message);
		assert_int_equal(r.err.kind, rows[n].kind);
		assert_null(r.got.token);
	}
	repeated = mem_printf("{\"message\":\"you sent %s\"}", strmap_get(&r.request.headers, "Authorization"));
	assert_int_equal(answered(&r, 401, repeated), EXCHANGE_FAILED);
	assert_string_equal(r.err.msg, "no token for the installation: HTTP status 401");
	/* without an end: used until refused */
	assert_int_equal(answered(&r, 201, "{\"token\":\"t\"}"), EXCHANGE_DONE);
	assert_int_equal(r.got.life_ms, 0);
	run_done(&r, i);
}

static void github_app_without_key(void **state)
{
	MEM_AUTO char *small = fakekey_rsa(1024, NULL), *public = NULL, *key = fakekey_rsa(2048, &public);
	const char *const keys[] = { "", "secret-value", small, public };
	struct githubapp_config config = { .api_url = "https://g", .application = "1", .installation = "2" };
	struct err err = { 0 };

	(void)state;
	for (size_t n = 0; n < MEM_COUNT(keys); n++) {
		config.key_pem = keys[n];
		assert_null(githubapp_new(&config, &err));
		assert_int_equal(err.kind, ERR_INVALID);
		assert_non_null(strstr(err.msg, "the private key is not a PEM text of an RSA key"));
	}
	config.key_pem = key;
	config.trust.ca_pem = "none";
	assert_null(githubapp_new(&config, &err));
	assert_non_null(strstr(err.msg, "CA: "));
}

/* A refusal by STS is final; throttling is temporary. */
static void throttled_roles(void **state)
{
	static const char busy[] = "<ErrorResponse><Error><Code>Throttling</Code></Error></ErrorResponse>",
			  denied[] = "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>";
	struct webresponse answer = { .status = 400, .body = busy, .len = strlen(busy) };
	struct credential got = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(awssts_read(&answer, 0, &got, &err), -1);
	assert_int_equal(err.kind, ERR_TEMPORARY);
	assert_string_equal(err.msg, "no keys: HTTP status 400, Throttling");
	assert_int_equal(err.retry_after_ms, 5000);
	answer.retry_after_ms = 7000;
	assert_int_equal(awssts_read(&answer, 0, &got, &err), -1);
	assert_int_equal(err.retry_after_ms, 7000);
	answer.body = denied;
	answer.len = strlen(denied);
	assert_int_equal(awssts_read(&answer, 0, &got, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_int_equal(err.retry_after_ms, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oauth_basic_then_form),
		cmocka_unit_test(oauth_invalid_config),
		cmocka_unit_test(fixed_keys),
		cmocka_unit_test(own_environment_keys),
		cmocka_unit_test(own_web_identity),
		cmocka_unit_test(own_container_credentials),
		cmocka_unit_test(own_metadata_server),
		cmocka_unit_test(metadata_nonsense),
		cmocka_unit_test(role_by_own_keys),
		cmocka_unit_test(role_by_token_then_own_keys),
		cmocka_unit_test(entra_secret),
		cmocka_unit_test(entra_federated_token),
		cmocka_unit_test(entra_secret_or_certificate),
		cmocka_unit_test(entra_own_authorities),
		cmocka_unit_test(github_app),
		cmocka_unit_test(github_app_refused),
		cmocka_unit_test(github_app_without_key),
		cmocka_unit_test(equal_identities),
		cmocka_unit_test(regions),
		cmocka_unit_test(error_texts),
		cmocka_unit_test(throttled_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
