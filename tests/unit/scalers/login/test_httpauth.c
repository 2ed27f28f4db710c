/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What HTTP triggers have in common, besides test_prometheus.c: apiKey, the URL, and the resulting
 * credentials.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/identity/entra.h"
#include "scalers/login/httpauth.h"

static int read_auth(const char *const *metadata, const char *const *auth, unsigned features, struct httpauth *out,
	struct err *err)
{
	struct strmap m = { 0 }, a = { 0 };
	struct scaler_params params = { .type = "x", .metadata = &m, .auth = &a };
	int result;

	for (size_t i = 0; metadata[i]; i += 2)
		strmap_set(&m, metadata[i], metadata[i + 1]);
	for (size_t i = 0; auth && auth[i]; i += 2)
		strmap_set(&a, auth[i], auth[i + 1]);
	result = httpauth_read(&params, "url", strmap_get(&m, "url"), features, out, err);
	strmap_done(&m);
	strmap_done(&a);
	return result;
}

#define M(...)                                                                                                         \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		"url", "http://h/x?q=1#f", __VA_ARGS__, NULL                                                           \
	}
#define A(...)                                                                                                         \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__, NULL                                                                                      \
	}

static void api_key(void **state)
{
	struct httpauth auth;
	struct err err = { 0 };
	const struct webaccess_config *c;

	(void)state;
	assert_int_equal(read_auth(M("authMode", "apiKey"), A("apiKey", "k"), HTTPAUTH_API_KEY, &auth, &err), 0);
	c = webaccess_config(auth.access);
	assert_string_equal(auth.url, "http://h/x?q=1");
	assert_string_equal(c->header_name, "X-API-KEY");
	assert_string_equal(c->header_value, "k");
	httpauth_done(&auth);

	assert_int_equal(read_auth(M("authMode", "apiKey", "method", "query", "apiKey", "m"), A("apiKey", "k"),
				 HTTPAUTH_API_KEY, &auth, &err),
		0);
	c = webaccess_config(auth.access);
	assert_string_equal(c->query_name, "api_key");
	assert_string_equal(c->query_value, "m");
	assert_null(c->header_name);
	httpauth_done(&auth);

	assert_int_equal(read_auth(M("authMode", "apiKey"),
				 A("apiKey", "k", "method", "header", "keyParamName", "X-Key"), HTTPAUTH_API_KEY, &auth,
				 &err),
		0);
	assert_string_equal(webaccess_config(auth.access)->header_name, "X-Key");
	httpauth_done(&auth);

	assert_int_equal(read_auth(M("authMode", "apiKey", "method", "body"), A("apiKey", "k"), HTTPAUTH_API_KEY, &auth,
				 &err),
		-1);
	assert_non_null(strstr(err.msg, "\"method\" value \"body\""));
	assert_int_equal(read_auth(M("authMode", "apiKey"), NULL, HTTPAUTH_API_KEY, &auth, &err), -1);
	assert_non_null(strstr(err.msg, "missing required parameter \"apiKey\" in [triggerMetadata authParams]"));
	assert_int_equal(read_auth(M("authMode", "apiKey,custom"),
				 A("apiKey", "k", "customAuthHeader", "X", "customAuthValue", "y"), HTTPAUTH_API_KEY,
				 &auth, &err),
		-1);
	assert_non_null(strstr(err.msg, "cannot be combined"));
}

static void users_in_urls(void **state)
{
	struct httpauth auth;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_auth((const char *const[]){ "url", "https://a%40b:p%2Fw@h:1/", NULL }, NULL, 0, &auth,
				 &err),
		0);
	assert_string_equal(auth.url, "https://h:1/");
	assert_string_equal(webaccess_config(auth.access)->username, "a@b");
	assert_string_equal(webaccess_config(auth.access)->password, "p/w");
	httpauth_done(&auth);

	/* A mode's credentials replace the URL's user. */
	assert_int_equal(read_auth((const char *const[]){ "url", "https://u:p@h:1/", "authModes", "bearer", NULL },
				 A("bearerToken", "t"), 0, &auth, &err),
		0);
	assert_null(webaccess_config(auth.access)->username);
	assert_string_equal(webaccess_config(auth.access)->bearer, "t");
	httpauth_done(&auth);
}

static void trust(void **state)
{
	struct httpauth auth;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_auth(M("unsafeSsl", "true", "authModes", "bearer", "timeout", "1m"), A("token", "t"), 0,
				 &auth, &err),
		0);
	assert_true(webaccess_config(auth.access)->insecure);
	assert_int_equal(auth.timeout_ms, 60000);
	httpauth_done(&auth);
	assert_int_equal(read_auth(M("timeout", "1h"), NULL, 0, &auth, &err), 0);
	assert_int_equal(auth.timeout_ms, HTTPAUTH_TIMEOUT_MAX_MS);
	httpauth_done(&auth);
	assert_int_equal(read_auth(M("unsafeSsl", "false"), NULL, 0, &auth, &err), 0);
	assert_string_equal(webaccess_key(auth.access), "open");
	assert_null(webaccess_identity(auth.access));
	httpauth_done(&auth);
}

static const char *key_of(const struct httpauth *a)
{
	return identity_key(webaccess_identity(a->access));
}

/* Equal clients share a token, whatever else they send. */
static void tokens(void **state)
{
	struct httpauth a, b;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(read_auth(M("authModes", "oauth"),
				 A("oauthTokenURI", "https://t/", "clientID", "c", "clientSecret", "s", "scopes",
					 "x,y"),
				 0, &a, &err),
		0);
	assert_int_equal(read_auth(M("authModes", "oauth,custom"),
				 A("oauthTokenURI", "https://t/", "clientID", "c", "clientSecret", "s", "scope", "x y",
					 "customAuthHeader", "X", "customAuthValue", "v"),
				 0, &b, &err),
		0);
	assert_string_equal(key_of(&a), key_of(&b));
	assert_string_not_equal(webaccess_key(a.access), webaccess_key(b.access));
	httpauth_done(&b);
	assert_int_equal(read_auth(M("authModes", "oauth"),
				 A("oauthTokenURI", "https://t/", "clientID", "c", "clientSecret", "other", "scopes",
					 "x,y"),
				 0, &b, &err),
		0);
	assert_string_not_equal(key_of(&a), key_of(&b));
	httpauth_done(&b);
	assert_int_equal(read_auth(M("authModes", "oauth"),
				 A("oauthTokenURI", "https://t/", "clientID", "c", "clientSecret", "s", "scopes",
					 "x , ,y,"),
				 0, &b, &err),
		0);
	assert_string_equal(key_of(&a), key_of(&b));
	httpauth_done(&a);
	httpauth_done(&b);
}

/* Azure Managed Prometheus: kscaled's own token, for one cloud's service only. */
static void own_token_of_azure(void **state)
{
	static const struct pod_identity workload = { .provider = "azure-workload", .may_be_kscaled = true },
					 forbidden = { .provider = "azure-workload" }, nobody = { .provider = "none" };
	static const char shop[] = "https://shop.eastus.prometheus.monitor.azure.com/",
			  american[] = "https://shop.prometheus.monitor.azure.us";
	static const struct {
		const struct pod_identity *pod;
		const char *url, *cloud, *resource, *more, *scope, *error;
	} rows[] = {
		{ &workload, shop, NULL, NULL, NULL, "https://prometheus.monitor.azure.com/.default", NULL },
		{ &workload, american, "azureusgovernmentcloud", "ignored", NULL,
			"https://prometheus.monitor.azure.us/.default", NULL },
		{ &workload, shop, "Private", "https://p.local/.default", NULL, "https://p.local/.default", NULL },
		{ NULL, "http://h/", "nonsense", NULL, NULL, NULL, NULL },
		{ &workload, shop, "Private", NULL, NULL, NULL,
			"azureManagedPrometheusResourceURL must be provided for Private cloud type" },
		{ &workload, shop, "AzureGermanCloud", NULL, NULL, NULL,
			"azure managed prometheus is not available in cloud AzureGermanCloud" },
		{ &workload, "http://shop.prometheus.monitor.azure.com/", NULL, NULL, NULL, NULL,
			"parameter \"serverAddress\": podIdentity azure-workload: must begin with https://" },
		{ &workload, "https://evil.example/", NULL, NULL, NULL, NULL,
			"parameter \"serverAddress\": podIdentity azure-workload: evil.example is not one of "
			"Microsoft's hosts for this service" },
		{ &workload, shop, NULL, NULL, "unsafeSsl", NULL, "parameter \"unsafeSsl\" does not go together" },
		{ &forbidden, shop, NULL, NULL, NULL, NULL, "asks for kscaled's own Azure identity" },
		{ &workload, shop, NULL, NULL, "bearer", NULL,
			"pod identity cannot be enabled with other auth types: take authModes out, or podIdentity "
			"azure-workload of the authentication" },
		{ &nobody, shop, NULL, NULL, "bearer", NULL, NULL },
	};
	struct strmap token = { 0 };

	(void)state;
	strmap_set(&token, "bearerToken", "t");
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct strmap m = { 0 };
		struct scaler_params params = { .type = "prometheus",
			.metadata = &m,
			.auth = &token,
			.identity = rows[i].pod };
		struct identity *wanted = rows[i].scope
			? entra_own_new(&(struct entra_config){ .scope = rows[i].scope }, NULL)
			: NULL;
		struct httpauth auth;
		struct err err = { 0 };

		strmap_set(&m, "cloud", rows[i].cloud ? rows[i].cloud : "");
		strmap_set(&m, "azureManagedPrometheusResourceURL", rows[i].resource ? rows[i].resource : "");
		if (rows[i].more && strcmp(rows[i].more, "bearer") == 0)
			strmap_set(&m, "authModes", "bearer");
		else if (rows[i].more)
			strmap_set(&m, rows[i].more, "true");
		assert_int_equal(httpauth_read(&params, "serverAddress", rows[i].url, HTTPAUTH_CLOUD, &auth, &err),
			rows[i].error ? -1 : 0);
		if (rows[i].error)
			assert_non_null(strstr(err.msg, rows[i].error));
		else if (wanted)
			assert_string_equal(key_of(&auth), identity_key(wanted));
		else
			assert_null(webaccess_identity(auth.access));
		httpauth_done(&auth);
		identity_unref(wanted);
		strmap_done(&m);
	}
	strmap_done(&token);
}

/* Like KEDA, podIdentity aws signs without the trigger's region. */
static void default_region(void **state)
{
	static const struct pod_identity here = { .provider = "aws",
		.aws_region = "eu-north-1",
		.may_be_kscaled = true },
					 nowhere = { .provider = "aws", .may_be_kscaled = true },
					 forbidden = { .provider = "aws", .aws_region = "eu-north-1" },
					 other = { .provider = "gcp", .aws_region = "eu-north-1" },
					 plain = { .aws_region = "eu-north-1", .may_be_kscaled = true }, bare = { 0 };
	static const struct {
		const struct pod_identity *pod;
		const char *said, *modes;
		unsigned features;
		const char *region, *error; /* NULL: not signed */
		const char *given;          /* NULL, or credentials */
	} rows[] = {
		{ &here, NULL, NULL, HTTPAUTH_CLOUD, "eu-north-1", NULL, NULL },
		{ &here, "us-east-1", NULL, HTTPAUTH_CLOUD, "us-east-1", NULL, NULL },
		{ &here, NULL, "custom", HTTPAUTH_CLOUD, NULL, "pod identity cannot be enabled with other auth", NULL },
		{ &here, NULL, NULL, 0, NULL, NULL, NULL },
		{ &nowhere, "us-east-1", NULL, HTTPAUTH_CLOUD, "us-east-1", NULL, NULL },
		{ &nowhere, NULL, NULL, HTTPAUTH_CLOUD, NULL, "parameter \"awsRegion\" is missing", NULL },
		{ &forbidden, NULL, NULL, HTTPAUTH_CLOUD, NULL, "kscaled's own AWS identity", NULL },
		{ &other, NULL, NULL, 0, NULL, NULL, NULL },
		{ NULL, NULL, NULL, HTTPAUTH_CLOUD, NULL, NULL, NULL },
		/* also with keys or identityOwner operator; never silently unsigned */
		{ &plain, NULL, NULL, HTTPAUTH_CLOUD, NULL, NULL, NULL },
		{ &plain, NULL, NULL, HTTPAUTH_CLOUD, "eu-north-1", NULL, "keys" },
		{ &plain, "us-east-1", NULL, HTTPAUTH_CLOUD, "us-east-1", NULL, "keys" },
		{ &plain, NULL, NULL, HTTPAUTH_CLOUD, "eu-north-1", NULL, "operator" },
		{ &plain, NULL, NULL, HTTPAUTH_CLOUD, "eu-north-1", NULL, "role" },
		{ &plain, NULL, NULL, 0, NULL, NULL, "keys" },
		{ &plain, NULL, "custom", HTTPAUTH_CLOUD, NULL, NULL, "keys" },
		{ &bare, NULL, NULL, HTTPAUTH_CLOUD, NULL, "parameter \"awsRegion\" is missing", "keys" },
		{ &bare, NULL, NULL, HTTPAUTH_CLOUD, NULL, "parameter \"awsRegion\" is missing", "operator" },
		{ &bare, NULL, NULL, HTTPAUTH_CLOUD, NULL, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strmap m = { 0 }, a = { 0 };
		struct scaler_params params = { .type = "x", .metadata = &m, .auth = &a, .identity = rows[i].pod };
		struct httpauth auth;
		struct err err = { 0 };
		int rc;

		if (rows[i].said)
			strmap_set(&m, "awsRegion", rows[i].said);
		if (rows[i].modes)
			strmap_set(&m, "authModes", rows[i].modes);
		strmap_set(&a, "customAuthHeader", "X-A");
		strmap_set(&a, "customAuthValue", "v");
		if (rows[i].given && strcmp(rows[i].given, "keys") == 0) {
			strmap_set(&a, "awsAccessKeyID", "k");
			strmap_set(&a, "awsSecretAccessKey", "s");
		} else if (rows[i].given && strcmp(rows[i].given, "role") == 0) {
			strmap_set(&a, "awsRoleArn", "arn:aws:iam::1:role/r");
		} else if (rows[i].given) {
			strmap_set(&m, "identityOwner", rows[i].given);
		}
		rc = httpauth_read(&params, "url", "https://aps.example", rows[i].features, &auth, &err);
		if (rows[i].error) {
			assert_int_equal(rc, -1);
			assert_non_null(strstr(err.msg, rows[i].error));
		} else {
			const struct webaccess_config *c = webaccess_config(auth.access);

			assert_int_equal(rc, 0);
			assert_true(rows[i].region ? c->region && strcmp(c->region, rows[i].region) == 0 : !c->region);
			assert_true(!c->service == !rows[i].region);
			httpauth_done(&auth);
		}
		strmap_done(&m);
		strmap_done(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(api_key), cmocka_unit_test(users_in_urls),
		cmocka_unit_test(trust), cmocka_unit_test(tokens), cmocka_unit_test(own_token_of_azure),
		cmocka_unit_test(default_region) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
