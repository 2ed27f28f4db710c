/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The datadog trigger (doc/keda.md 8.8): parameters, accepted, defaulted, rejected with their
 * message; and each documented error of Datadog and its Cluster Agent. test_datadogreply.c covers
 * values, the live tests the requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

static const char *metric_type;
static bool formula_source;

static int build(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "datadog",
		.index = 1,
		.metric_type = metric_type,
		.formula_source = formula_source };

	return pairs_build(&params, metadata, auth, "", out, err);
}

#define QUERY      "query=sum:trace.redis.hits{env:none,service:shop}.as_count()"
#define BASE       QUERY "|queryValue=7"
#define KEYS       "apiKey=secret-value|appKey=secret-too"
#define AGENT      "useClusterAgentProxy=true|datadogMetricName=hits|datadogMetricNamespace=shop|targetValue=10"
#define AGENT_AUTH "datadogNamespace=datadog|datadogMetricsService=cluster-agent-metrics|unsafeSsl=true"
#define BEARER     "|authMode=bearer|token=secret-value"

#define METRIC       "s1-datadog-sum-trace-redis-hits"
#define AGENT_METRIC "datadogmetric@shop:hits"

static const struct {
	const char *metadata, *auth, *metric, *source;
	int64_t target_milli;
	double activation;
} goods[] = {
	{ BASE, KEYS, METRIC, "datadog https://api.datadoghq.com", 7000, 0 },
	{ QUERY "|targetValue=0.5|activationQueryValue=-1.5", KEYS, METRIC, "datadog https://api.datadoghq.com", 500,
		-1.5 },
	{ QUERY "|targetValue=2|queryValue=7", KEYS, METRIC, "datadog https://api.datadoghq.com", 2000, 0 },
	{ BASE, KEYS "|datadogSite=datadoghq.eu", METRIC, "datadog https://api.datadoghq.eu", 7000, 0 },
	{ BASE "|age=0|timeWindowOffset=60|lastAvailablePointOffset=1|queryAggregator=max|metricUnavailableValue=0",
		KEYS, METRIC, "datadog https://api.datadoghq.com", 7000, 0 },
	{ BASE "|timeout=5000|hpaMetricName=x|useClusterAgentProxy=false|activationTargetValue=9", KEYS, METRIC,
		"datadog https://api.datadoghq.com", 7000, 0 },
	{ "query=(avg:a.b{*}+max:c{x})/2,avg:d{*}|queryAggregator=average|queryValue=7", KEYS, "s1-datadog--avg-a-b",
		"datadog https://api.datadoghq.com", 7000, 0 },
	{ AGENT, AGENT_AUTH, AGENT_METRIC, "datadog https://cluster-agent-metrics.datadog:8443", 10000, 0 },
	{ AGENT "|activationTargetValue=2|query=ignored|metricUnavailableValue=-1",
		AGENT_AUTH BEARER "|datadogMetricsServicePort=443", AGENT_METRIC,
		"datadog https://cluster-agent-metrics.datadog:443", 10000, 2 },
	{ AGENT, AGENT_AUTH "|token=alone", AGENT_METRIC, "datadog https://cluster-agent-metrics.datadog:8443", 10000,
		0 },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(goods[i].metadata, goods[i].auth, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		assert_string_equal(s.metric_name, goods[i].metric);
		assert_null(strstr(s.question->key, "secret"));
		if (strncmp(s.question->source, goods[i].source, strlen(goods[i].source)) != 0)
			fail_msg("%s: %s", goods[i].metadata, s.question->source);
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_true(s.activation == goods[i].activation);
		if (s.unknown)
			fail_msg("%s: unknown %s", goods[i].metadata, s.unknown);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *message;
} bads[] = {
	{ "queryValue=7", KEYS, "missing required parameter \"query\"" },
	{ "query=avg:a.b|queryValue=7", KEYS, "error in query: malformed Datadog query: missing query scope" },
	{ "query=avg:a.b}x{|queryValue=7", KEYS, "missing query scope" },
	{ "query=avg:a.b{\n}|queryValue=7", KEYS, "missing query scope" },
	{ QUERY, KEYS, "no targetValue given" },
	{ QUERY "|queryValue=0", KEYS, "\"targetValue\"" },
	{ QUERY "|queryValue=many", KEYS, "\"targetValue\" value \"many\"" },
	{ BASE, "apiKey=secret-value", "missing required parameter \"appKey\"" },
	{ BASE, "appKey=secret-too", "missing required parameter \"apiKey\"" },
	{ BASE "|apiKey=secret-value|appKey=secret-too", NULL, "missing required parameter \"apiKey\"" },
	{ BASE, KEYS "\nX: y", "\"appKey\" holds a line break" },
	{ BASE, "apiKey=secret\nvalue|appKey=k", "the header's value" },
	{ BASE, KEYS "|datadogSite=datadoghq.eu/x", "\"datadogSite\" must be a site's name" },
	{ BASE, KEYS "|datadogSite=a@b", "\"datadogSite\" must be a site's name" },
	{ BASE, KEYS "|datadogSite=a:99999999", "\"datadogSite\" must be a site's name" },
	{ BASE, KEYS "|ca=secret-value", "CA: no PEM certificate" },
	{ BASE "|age=-1", KEYS, "\"age\" value \"-1\"" },
	{ BASE "|timeWindowOffset=-1", KEYS, "\"timeWindowOffset\" value \"-1\"" },
	{ BASE "|lastAvailablePointOffset=-1", KEYS, "\"lastAvailablePointOffset\" value \"-1\"" },
	{ BASE "|queryAggregator=sum", KEYS, "\"queryAggregator\" value \"sum\"" },
	{ BASE "|metricUnavailableValue=none", KEYS, "\"metricUnavailableValue\" value \"none\"" },
	{ BASE "|type=sum", KEYS, "type has to be global or average" },
	{ "useClusterAgentProxy=true|datadogMetricName=hits|datadogMetricNamespace=shop", AGENT_AUTH,
		"no targetValue given" },
	{ "useClusterAgentProxy=true|datadogMetricName=hits|targetValue=1", AGENT_AUTH,
		"missing required parameter \"datadogMetricNamespace\"" },
	{ "useClusterAgentProxy=true|datadogMetricNamespace=shop|targetValue=1", AGENT_AUTH,
		"missing required parameter \"datadogMetricName\"" },
	{ AGENT, "datadogMetricsService=a", "missing required parameter \"datadogNamespace\"" },
	{ AGENT, "datadogNamespace=a", "missing required parameter \"datadogMetricsService\"" },
	{ AGENT, AGENT_AUTH "|datadogMetricsServicePort=0", "\"datadogMetricsServicePort\"" },
	{ AGENT, AGENT_AUTH "|authMode=secret-value", "err incorrect value for authMode is given" },
	{ AGENT, AGENT_AUTH "|authMode=bearer", "BearerToken is required" },
	{ "useClusterAgentProxy=true|datadogMetricName=a/b|datadogMetricNamespace=shop|targetValue=10", AGENT_AUTH,
		"\"datadogMetricName\" must be a Kubernetes name" },
	{ AGENT, "datadogNamespace=evil.example/x?|datadogMetricsService=a",
		"\"datadogNamespace\" must be a Kubernetes name" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].metadata, bads[i].auth, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

/* KEDA's words for a deprecated parameter. */
static void the_deprecated_type(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(BASE "|type=Global", KEYS, &s, &err), 0);
	assert_non_null(strstr(s.unknown, "trigger.metadata.type is deprecated in favor of trigger.metricType"));
	assert_int_equal(s.target_type, METRIC_AVERAGE_VALUE);
	scaler_done(&s);
	metric_type = "Value";
	assert_int_equal(build(BASE "|type=global", KEYS, &s, &err), -1);
	assert_non_null(strstr(err.msg, "only one of trigger.metadata.type or trigger.metricType should be defined"));
	metric_type = NULL;
}

static void a_formula_source_needs_no_target(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	formula_source = true;
	assert_int_equal(build(QUERY, KEYS, &s, &err), 0);
	assert_int_equal(s.target.milli, 0);
	scaler_done(&s);
	formula_source = false;
}

static void questions(void **state)
{
	static const struct {
		const char *a, *a_auth, *b, *b_auth;
		bool same;
	} pairs[] = {
		{ BASE, KEYS, QUERY "|targetValue=9|activationQueryValue=3|age=90|useClusterAgentProxy=false", KEYS,
			true },
		{ BASE, KEYS, BASE, KEYS "|datadogSite=datadoghq.com", true },
		{ BASE, KEYS, BASE, KEYS "|datadogSite=datadoghq.eu", false },
		{ BASE, KEYS, BASE, "apiKey=another|appKey=secret-too", false },
		{ BASE, KEYS, BASE, "apiKey=secret-value|appKey=another", false },
		{ BASE, KEYS, "query=sum:x{*}|queryValue=7", KEYS, false },
		{ BASE, KEYS, BASE "|age=91", KEYS, false },
		{ BASE, KEYS, BASE "|timeWindowOffset=1", KEYS, false },
		{ BASE, KEYS, BASE "|lastAvailablePointOffset=1", KEYS, false },
		{ BASE, KEYS, BASE "|queryAggregator=max", KEYS, false },
		{ BASE "|queryAggregator=average", KEYS, BASE "|queryAggregator=max", KEYS, false },
		{ BASE, KEYS, BASE "|metricUnavailableValue=0", KEYS, false },
		{ BASE, KEYS, BASE "|timeout=100", KEYS, false },
		{ AGENT, AGENT_AUTH, AGENT "|activationTargetValue=2", AGENT_AUTH "|token=unused", true },
		{ AGENT, AGENT_AUTH, AGENT, AGENT_AUTH BEARER, false },
		{ AGENT, AGENT_AUTH, AGENT, "datadogNamespace=datadog|datadogMetricsService=cluster-agent-metrics",
			false },
		{ AGENT, AGENT_AUTH,
			"useClusterAgentProxy=true|datadogMetricName=hits|datadogMetricNamespace=other|targetValue=10",
			AGENT_AUTH, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct scaler a, b;
		struct err err = { 0 };

		if (build(pairs[i].a, pairs[i].a_auth, &a, &err) || build(pairs[i].b, pairs[i].b_auth, &b, &err))
			fail_msg("pair %zu: %s", i, err.msg);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("pair %zu: keys \"%s\" and \"%s\"", i, a.question->key, b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}

/* ---- What is no value ---- */

#define FILL "|metricUnavailableValue=7"

static const struct {
	const char *metadata, *auth;
	int status;
	const char *limit, *period, *reset, *body, *says; /* NULL: metricUnavailableValue is used */
	enum err_kind kind;
} refusals[] = {
	{ BASE, KEYS, 400, "", "", "", "{\"errors\":[\"Error parsing query: x\"]}",
		"HTTP status 400: Error parsing query", ERR_INVALID },
	{ BASE, KEYS, 403, "", "", "", "{\"errors\":[\"Forbidden\"]}",
		"unauthorized to connect to Datadog. Check that your Datadog API and App keys are correct and that "
		"your "
		"App key has the correct permissions, and datadogSite: HTTP status 403: Forbidden",
		ERR_DENIED },
	{ BASE FILL, KEYS, 401, "", "", "", "{\"errors\":[\"Unauthorized\"]}",
		"unauthorized to connect to Datadog. Check", ERR_DENIED },
	{ BASE FILL, KEYS, 429, "300", "3600", "12", "{\"errors\":[\"Rate limit\"]}",
		"your Datadog account reached the 300 queries per 3600 seconds rate limit, next limit reset will "
		"happen "
		"in 12 seconds",
		ERR_TEMPORARY },
	{ BASE, KEYS, 429, "", "x", "99999999999", "", "reached the ? queries per ? seconds rate limit",
		ERR_TEMPORARY },
	{ BASE, KEYS, 422, "", "", "", "{\"errors\":[\"no\"]}", "HTTP status 422: no", ERR_INVALID },
	{ BASE FILL, KEYS, 422, "", "", "", "{\"errors\":[\"no\"]}", NULL, ERR_NONE },
	{ BASE FILL, KEYS, 422, "", "", "", "<html>", "HTTP status 422: <html>", ERR_INVALID },
	{ BASE FILL, KEYS, 500, "", "", "", "{}", "HTTP status 500: {}", ERR_TEMPORARY },
	{ BASE FILL, KEYS, 200, "", "", "", "{\"status\":\"error\",\"error\":\"bad\"}",
		"error when retrieving Datadog metrics: bad", ERR_INVALID },
	{ BASE FILL, KEYS, 200, "", "", "", "{\"status\":\"ok\",\"series\":[]}", NULL, ERR_NONE },
	{ AGENT FILL, AGENT_AUTH, 422, "", "", "", "{\"message\":\"DatadogMetric is invalid\"}", NULL, ERR_NONE },
	{ AGENT, AGENT_AUTH, 422, "", "", "", "{\"message\":\"DatadogMetric is invalid\"}",
		"HTTP status 422: DatadogMetric is invalid", ERR_INVALID },
	{ AGENT FILL, AGENT_AUTH, 403, "", "", "", "{\"message\":\"forbidden: User cannot list\"}",
		"HTTP status 403: forbidden: User cannot list", ERR_DENIED },
	{ AGENT FILL, AGENT_AUTH, 404, "", "", "", "404 page not found", "HTTP status 404: 404 page not found",
		ERR_MISSING },
};

static void errors_and_missing_points(void **state)
{
	struct scaler_sources sources = { .pauses = NULL };

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct webresponse answer = { .status = refusals[i].status,
			.body = refusals[i].body,
			.len = strlen(refusals[i].body),
			.content_type = "application/json",
			.wanted = { refusals[i].limit, refusals[i].period, refusals[i].reset, "" } };
		struct httpsource ask = { .base = { .sources = &sources } };
		struct answer out = { 0 };
		struct scaler s;
		struct err err = { 0 };
		bool failed;

		assert_int_equal(build(refusals[i].metadata, refusals[i].auth, &s, &err), 0);
		ask.base.question = s.question;
		ask.data = s.question->data;
		failed = s.question->type->http->read(&ask, &answer, &out, &err) == EXCHANGE_FAILED;
		if (failed != (refusals[i].says != NULL) ||
			(failed && (err.kind != refusals[i].kind || !strstr(err.msg, refusals[i].says))))
			fail_msg("refusal %zu: kind %d, \"%s\"", i, (int)err.kind, err.msg);
		assert_true(out.value == (failed ? 0 : 7));
		scaler_done(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(the_deprecated_type), cmocka_unit_test(a_formula_source_needs_no_target),
		cmocka_unit_test(questions), cmocka_unit_test(errors_and_missing_points) };

	return cmocka_run_group_tests_name("scalers/datadog/datadog", tests, NULL, NULL);
}
