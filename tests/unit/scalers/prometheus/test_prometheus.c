/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of the prometheus trigger (doc/keda.md 8.6, 6.1, 6.4): accepted, defaulted, rejected
 * with their message. test_promreply.c covers the parsing of answers, the live tests the requests.
 */
#include "../../fakes/fakekey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/mem.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"
#include "scalers/scaler.h"
#include "scalers/scalerbuild.h"

static int build(const char *metadata, const char *auth, const char *env, const char *metric_type, struct scaler *out,
	struct err *err)
{
	const struct scaler_params params = { .type = "prometheus", .index = 1, .metric_type = metric_type };

	return pairs_build(&params, metadata, auth, env, out, err);
}

#define BASE "serverAddress=http://p:9090|query=up|threshold=5"

#define UP "http://p:9090/api/v1/query?query=up&time=NOW"

static const struct {
	const char *metadata, *auth, *env;
	const char *source, *url;
	int64_t target_milli, timeout_ms;
	double activation;
} goods[] = {
	{ BASE, NULL, NULL, "prometheus http://p:9090", UP, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ "serverAddress=http://p/|query=up|threshold=0.001", NULL, NULL, "prometheus http://p:80",
		"http://p/api/v1/query?query=up&time=NOW", 1, QUESTION_TIMEOUT_HTTP, 0 },
	{ "serverAddress=https://p/prometheus//|query=up|threshold=2.5|activationThreshold=-1.5", NULL, NULL,
		"prometheus https://p:443", "https://p/prometheus/api/v1/query?query=up&time=NOW", 2500,
		QUESTION_TIMEOUT_HTTP, -1.5 },
	{ "serverAddress=http://p:9090|query=sum(rate(x{a=\"b+c\"}[1m])) & 1|threshold=5", NULL, NULL,
		"prometheus http://p:9090",
		"http://p:9090/api/v1/query?query=sum%28rate%28x%7Ba%3D%22b%2Bc%22%7D%5B1m%5D%29%29%20%26%201&time=NOW",
		5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|namespace=a b&c|queryParameters=timeout=2s, zone=ä,dedup=true", NULL, NULL, "prometheus http://p:9090",
		"http://p:9090/api/v1/query?dedup=true&namespace=a%20b%26c&query=up&time=NOW&timeout=2s&zone=%C3%A4",
		5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|queryParameters=query=down,time=1", NULL, NULL, "prometheus http://p:9090", UP, 5000,
		QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|ignoreNullValues=false|timeout=10s", NULL, NULL, "prometheus http://p:9090", UP, 5000, 10000, 0 },
	{ BASE "|timeout=500|customHeaders=X-Scope-OrgID=team", NULL, NULL, "prometheus http://p:9090", UP, 5000, 500,
		0 },
	{ BASE "|timeout=0", NULL, NULL, "prometheus http://p:9090", UP, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ "serverAddress=http://me:secret-value@p:9090/x|query=up|threshold=5", NULL, NULL, "prometheus http://p:9090",
		"http://p:9090/x/api/v1/query?query=up&time=NOW", 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|authModes=bearer", "bearerToken=secret-value", NULL, "prometheus http://p:9090", UP, 5000,
		QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|authModes=bearer", "token=secret-value", NULL, "prometheus http://p:9090", UP, 5000,
		QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|authMode= basic , custom", "username=u|customAuthHeader=X|customAuthValue=secret-value", NULL,
		"prometheus http://p:9090", UP, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE, "authModes=bearer|bearerToken=secret-value", NULL, "prometheus http://p:9090", UP, 5000,
		QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|authModes=oauth", "oauthTokenURI=http://t/token|clientID=c", NULL, "prometheus http://p:9090", UP,
		5000, QUESTION_TIMEOUT_HTTP, 0 },
	/* values of modes that are off */
	{ BASE, "bearerToken=secret-value|cert=no", NULL, "prometheus http://p:9090", UP, 5000, QUESTION_TIMEOUT_HTTP,
		0 },
	{ BASE "|awsRegion=eu-west-1", "awsAccessKeyID=a|awsSecretAccessKey=secret-value|awsSessionToken=t", NULL,
		"prometheus http://p:9090", UP, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|awsAccessKeyIDFromEnv=K|awsSecretAccessKeyFromEnv=S|identityOwner=pod", "awsRegion=eu-west-1",
		"K=k|S=secret-value", "prometheus http://p:9090", UP, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|cloud=AZUREPUBLICCLOUD", NULL, NULL, "prometheus http://p:9090", UP, 5000, QUESTION_TIMEOUT_HTTP, 0 },
};

/* The URL of the request, with NOW for the time. */
static char *url_of(struct question *q)
{
	struct httpsource ask = { .base = { .question = q }, .data = q->data };
	struct webrequest r = { 0 };
	struct err err = { 0 };
	char *time, *out;

	assert_int_equal(q->type->http->request(&ask, &r, &err), 0);
	time = strstr(r.url, "&time=");
	assert_non_null(time);
	time += strlen("&time=");
	out = mem_printf("%.*sNOW%s", (int)(time - r.url), r.url, time + strspn(time, "0123456789."));
	free(r.url);
	strmap_done(&r.headers);
	return out;
}

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		struct scaler s;
		struct err err = { 0 };
		char *url;

		if (build(goods[i].metadata, goods[i].auth, goods[i].env, NULL, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		assert_string_equal(s.metric_name, "s1-prometheus");
		assert_string_equal(s.question->source, goods[i].source);
		url = url_of(s.question);
		if (strcmp(url, goods[i].url) != 0)
			fail_msg("%s: URL \"%s\", not \"%s\"", goods[i].metadata, url, goods[i].url);
		free(url);
		assert_null(strstr(s.question->key, "secret-value"));
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_int_equal(s.question->timeout_ms, goods[i].timeout_ms);
		assert_true(s.activation == goods[i].activation);
		if (s.unknown)
			fail_msg("%s: unknown %s", goods[i].metadata, s.unknown);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *metric_type, *message;
} bads[] = {
	{ "query=up|threshold=5", NULL, NULL,
		"trigger 1 (prometheus): missing required parameter \"serverAddress\" in [triggerMetadata]" },
	{ "serverAddress=http://p|threshold=5", NULL, NULL, "missing required parameter \"query\"" },
	{ "serverAddress=http://p|query=up", NULL, NULL,
		"missing required parameter \"threshold\" in [triggerMetadata]" },
	{ "serverAddress=http://p|query=up|threshold=0", NULL, NULL,
		"\"threshold\" value \"0\" must be greater than 0" },
	{ "serverAddress=http://p|query=up|threshold=0.0004", NULL, NULL,
		"\"threshold\" value \"0.0004\" must be greater than 0" },
	{ "serverAddress=http://p|query=up|threshold=five", NULL, NULL,
		"\"threshold\" value \"five\": must be a number" },
	{ BASE "|activationThreshold=.5", NULL, NULL, "\"activationThreshold\" value \".5\": must be a number" },
	{ "serverAddress=p:9090|query=up|threshold=5", NULL, NULL,
		"parameter \"serverAddress\": must be a URL that begins with http:// or https://" },
	{ "serverAddress=ftp://me:secret-value@p|query=up|threshold=5", NULL, NULL,
		"parameter \"serverAddress\": must be a URL" },
	{ "serverAddress=http://me:secret-value@p:99999|query=up|threshold=5", NULL, NULL,
		"parameter \"serverAddress\": is not a URL" },
	{ "serverAddress=http://p?x=y|query=up|threshold=5", NULL, NULL, "\"serverAddress\" must not have a query" },
	{ BASE "|ignoreNullValues=maybe", NULL, NULL, "\"ignoreNullValues\" value \"maybe\": must be true or false" },
	{ BASE "|unsafeSsl=maybe", NULL, NULL, "\"unsafeSsl\" value \"maybe\"" },
	{ BASE "|timeout=-1", NULL, NULL, "\"timeout\" value \"-1\": must be a duration" },
	{ BASE "|queryParameters=a", NULL, NULL, "\"queryParameters\" value \"a\"" },
	{ BASE "|customHeaders=X=a==", NULL, NULL, "\"customHeaders\" value \"X=a==\"" },
	{ BASE, NULL, "Utilization", "'Utilization' metric type is unsupported" },
	{ BASE "|authModes=bearer", NULL, NULL, "missing required parameter \"bearerToken\" in [authParams]" },
	{ BASE "|authModes=basic", "password=secret-value", NULL, "missing required parameter \"username\"" },
	{ BASE "|authModes=custom", "customAuthHeader=X", NULL, "missing required parameter \"customAuthValue\"" },
	{ BASE "|authModes=tls", "cert=secret-value", NULL, "missing required parameter \"key\"" },
	{ BASE "|authModes=tls", "cert=secret-value|key=secret-value", NULL, "certificate: " },
	{ BASE "|authModes=oauth", "clientID=c", NULL, "missing required parameter \"oauthTokenURI\"" },
	{ BASE "|authModes=oauth", "oauthTokenURI=http://t", NULL, "missing required parameter \"clientID\"" },
	{ BASE "|authModes=oauth", "oauthTokenURI=secret-value|clientID=c", NULL, "the token URL: must be a URL" },
	{ BASE "|authModes=bearer,basic", "bearerToken=secret-value|username=u", NULL,
		"\"authModes\" must contain only one of bearer, basic, oauth" },
	{ BASE "|authModes=token", NULL, NULL,
		"\"authModes\" must be a list of apiKey, basic, tls, bearer, custom, oauth" },
	{ BASE, "authModes=secret-value", NULL, "\"authModes\" must be a list of" },
	{ BASE "|authModes=apiKey", "apiKey=secret-value", NULL,
		"apiKey is not supported by this trigger; custom sends any header" },
	{ BASE "|authModes=bearer", "bearerToken=secret-value\nX: y", NULL, "the bearer token holds a line break" },
	{ BASE, "ca=secret-value", NULL, "CA: no PEM certificate in it" },
	{ BASE "|awsRegion=eu-west-1", NULL, NULL, "awsAccessKeyID not found" },
	{ BASE "|awsRegion=eu-west-1", "awsAccessKeyId=a", NULL, "awsSecretAccessKey not found" },
	{ BASE "|awsRegion=eu-west-1", "awsRoleArn=arn", NULL, "kscaled's own AWS identity" },
	{ BASE "|awsRegion=eu-west-1|identityOwner=operator", NULL, NULL, "kscaled's own AWS identity" },
	{ BASE, "GoogleApplicationCredentials=secret-value", NULL,
		"\"GoogleApplicationCredentials\": the key is not a JSON object" },
	{ BASE "|credentialsFromEnv=G", NULL, NULL, "has no environment variable G with a value" },
	{ BASE "|credentialsFromEnvFile=G", NULL, NULL,
		"\"credentialsFromEnvFile\": no file that a trigger names is read" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].metadata, bads[i].auth, NULL, bads[i].metric_type, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

static void unknown_keys(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(BASE "|metricName=x|treshold=3|authModes=", NULL, NULL, NULL, &s, &err), 0);
	assert_non_null(strstr(s.unknown, "\"metricName\" (KEDA dropped it"));
	assert_non_null(strstr(s.unknown, "\"treshold\" (did you mean \"threshold\"?)"));
	assert_null(strstr(s.unknown, "authModes"));
	scaler_done(&s);
}

/* Thresholds are not part of a question; everything that changes the answer is. */
static void questions(void **state)
{
	static const struct {
		const char *a, *a_auth, *b, *b_auth;
		bool same;
	} pairs[] = {
		{ BASE, NULL,
			"serverAddress=http://p:9090/|query= up "
			"|threshold=9|activationThreshold=4|ignoreNullValues=true",
			NULL, true },
		{ BASE, NULL, "serverAddress=http://p:9091|query=up|threshold=5", NULL, false },
		{ BASE, NULL, "serverAddress=http://p:9090|query=down|threshold=5", NULL, false },
		{ BASE, NULL, BASE "|namespace=x", NULL, false },
		{ BASE, NULL, BASE "|queryParameters=a=b", NULL, false },
		{ BASE "|queryParameters=a=b", NULL, BASE "|queryParameters=a=c", NULL, false },
		{ BASE "|customHeaders=X-Scope-OrgID=a", NULL, BASE "|customHeaders=X-Scope-OrgID=b", NULL, false },
		{ BASE, NULL, BASE "|ignoreNullValues=false", NULL, false },
		{ BASE, NULL, BASE "|timeout=10s", NULL, false },
		{ BASE, NULL, BASE "|unsafeSsl=true", NULL, false },
		{ BASE, NULL, BASE "|authModes=bearer", "bearerToken=a", false },
		{ BASE "|authModes=bearer", "bearerToken=a", BASE "|authModes=bearer", "bearerToken=b", false },
		{ BASE "|authModes=bearer", "bearerToken=a", BASE "|authModes=bearer", "bearerToken=a|username=u",
			true },
		{ BASE "|authModes=basic", "username=u|password=p", BASE "|authModes=basic", "username=u|password=q",
			false },
		{ BASE "|authModes=basic", "username=u|password=p",
			"serverAddress=http://u:p@p:9090|query=up|threshold=5", NULL, true },
		{ BASE "|awsRegion=a", "awsAccessKeyID=a|awsSecretAccessKey=b", BASE "|awsRegion=b",
			"awsAccessKeyID=a|awsSecretAccessKey=b", false },
		{ BASE "|awsRegion=a", "awsAccessKeyID=a|awsSecretAccessKey=b", BASE "|awsRegion=a",
			"awsAccessKeyID=a|awsSecretAccessKey=c", false },
		{ BASE "|authModes=oauth", "oauthTokenURI=http://t|clientID=c|scopes=a,b", BASE "|authModes=oauth",
			"oauthTokenURI=http://t|clientID=c|scope=a b", true },
		{ BASE "|authModes=oauth", "oauthTokenURI=http://t|clientID=c|endpointParams=a=b",
			BASE "|authModes=oauth", "oauthTokenURI=http://t|clientID=c", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct scaler a, b;
		struct err err = { 0 };

		if (build(pairs[i].a, pairs[i].a_auth, NULL, NULL, &a, &err) ||
			build(pairs[i].b, pairs[i].b_auth, NULL, NULL, &b, &err))
			fail_msg("pair %zu: %s", i, err.msg);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%s and %s: keys \"%s\" and \"%s\"", pairs[i].a, pairs[i].b, a.question->key,
				b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}

/* ---- Google's Managed Prometheus ---- */

#define GOOGLE                                                                                                         \
	"serverAddress=https://monitoring.googleapis.com/v1/projects/p/location/global/prometheus|query=up|"           \
	"threshold=5"

static int build_google(const char *metadata, const char *key, const char *ca, const struct pod_identity *pod,
	struct scaler *out, struct err *err)
{
	struct strmap m = { 0 }, a = { 0 };
	struct scaler_params params = { .type = "prometheus", .metadata = &m, .auth = &a, .identity = pod };
	int failed;

	pairs_fill(&m, metadata);
	if (key)
		strmap_set(&a, "GoogleApplicationCredentials", key);
	if (ca)
		strmap_set(&a, "ca", ca);
	strmap_set(&a, "bearerToken", "b");
	failed = scaler_build(&params, out, err);
	strmap_done(&m);
	strmap_done(&a);
	return failed;
}

static void google(void **state)
{
	static const struct pod_identity own = { .provider = "gcp", .may_be_kscaled = true },
					 forbidden = { .provider = "gcp" };
	MEM_AUTO char *key = fakekey_google("https://oauth2.googleapis.com/token", NULL);
	const struct {
		const char *metadata, *key, *ca;
		const struct pod_identity *pod;
		const char *message; /* NULL: accepted */
	} rows[] = {
		{ GOOGLE, key, NULL, NULL, NULL },
		{ GOOGLE, NULL, NULL, &own, NULL },
		{ GOOGLE "|authModes=bearer", NULL, NULL, &own,
			"pod identity cannot be enabled with other auth types" },
		{ BASE, key, NULL, NULL, NULL },
		{ "serverAddress=http://me:pw@p|query=up|threshold=5", key, NULL, NULL, NULL },
		{ GOOGLE, NULL, NULL, &forbidden, "kscaled's own Google identity" },
		{ BASE, NULL, NULL, &own, "kscaled shows its own Google token" },
		{ "serverAddress=http://monitoring.googleapis.com|query=up|threshold=5", NULL, NULL, &own,
			"kscaled shows its own Google token" },
		{ GOOGLE "|unsafeSsl=true", NULL, NULL, &own, "\"unsafeSsl\" does not go together with" },
		{ GOOGLE, NULL, "x", &own, "\"ca\" does not go together with" },
	};
	struct scaler a, b;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		err = (struct err){ 0 };
		if (build_google(rows[i].metadata, rows[i].key, rows[i].ca, rows[i].pod, &a, &err) !=
				(rows[i].message ? -1 : 0) ||
			(rows[i].message && !strstr(err.msg, rows[i].message)))
			fail_msg("%zu: %s", i, err.msg);
		scaler_done(&a);
	}
	/* the login is part of the question */
	assert_int_equal(build_google(GOOGLE, key, NULL, NULL, &a, &err), 0);
	assert_int_equal(build_google(GOOGLE, NULL, NULL, &own, &b, &err), 0);
	assert_string_not_equal(a.question->key, b.question->key);
	scaler_done(&b);
	assert_int_equal(build_google(GOOGLE, NULL, NULL, NULL, &b, &err), 0);
	assert_string_not_equal(a.question->key, b.question->key);
	scaler_done(&b);
	scaler_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(unknown_keys), cmocka_unit_test(questions), cmocka_unit_test(google) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
