/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loki trigger (doc/keda.md 8.6): parameters, and the use of answers; test_promreply.c covers
 * their parsing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/mem.h"
#include "scalers/http/httpsource.h"
#include "scalers/scaler.h"

static int build(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "loki", .index = 1 };

	return pairs_build(&params, metadata, auth, NULL, out, err);
}

#define REST "|query=sum(rate({a=\"b\"}[1m]))|threshold=5"
#define BASE "serverAddress=http://l:3100" REST
#define SENT "/loki/api/v1/query?query=sum%28rate%28%7Ba%3D%22b%22%7D%5B1m%5D%29%29"

static const struct {
	const char *metadata, *auth, *url, *tenant;
	int64_t target_milli, timeout_ms;
	double activation;
} goods[] = {
	{ BASE, NULL, "http://l:3100" SENT, NULL, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ BASE "|tenantName=team 1|activationThreshold=0.5|timeout=10s|ignoreNullValues=false", NULL,
		"http://l:3100" SENT, "team 1", 5000, 10000, 0.5 },
	{ BASE "|authModes=bearer", "bearerToken=secret-value", "http://l:3100" SENT, NULL, 5000, QUESTION_TIMEOUT_HTTP,
		0 },
	/* the present part of the path is not repeated */
	{ "serverAddress=http://l/" REST, NULL, "http://l" SENT, NULL, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ "serverAddress=http://l/loki/" REST, NULL, "http://l" SENT, NULL, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ "serverAddress=http://l/loki/api/v1" REST, NULL, "http://l" SENT, NULL, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ "serverAddress=http://loki" REST, NULL, "http://loki" SENT, NULL, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ "serverAddress=http://l/loki/api/v1/query" REST, NULL, "http://l" SENT, NULL, 5000, QUESTION_TIMEOUT_HTTP,
		0 },
	/* as in KEDA: the whole path, or none of it */
	{ "serverAddress=http://l/tenants/loki" REST, NULL, "http://l/tenants/loki" SENT, NULL, 5000,
		QUESTION_TIMEOUT_HTTP, 0 },
	{ "serverAddress=http://l/lo" REST, NULL, "http://l/lo" SENT, NULL, 5000, QUESTION_TIMEOUT_HTTP, 0 },
	{ "serverAddress=http://l/gateway" REST, NULL, "http://l/gateway" SENT, NULL, 5000, QUESTION_TIMEOUT_HTTP, 0 },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		struct scaler s;
		struct err err = { 0 };
		struct httpsource ask = { 0 };
		struct webrequest r = { 0 };

		if (build(goods[i].metadata, goods[i].auth, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		ask.base.question = s.question;
		ask.data = s.question->data;
		assert_int_equal(s.type->http->request(&ask, &r, &err), 0);
		assert_string_equal(r.url, goods[i].url);
		assert_int_equal(r.headers.count, goods[i].tenant ? 1 : 0);
		if (goods[i].tenant)
			assert_string_equal(strmap_get(&r.headers, "X-Scope-OrgID"), goods[i].tenant);
		assert_string_equal(s.metric_name, "s1-loki");
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_int_equal(s.question->timeout_ms, goods[i].timeout_ms);
		assert_true(s.activation == goods[i].activation);
		assert_null(strstr(s.question->key, "secret-value"));
		assert_null(strstr(s.question->key, "team 1"));
		assert_null(s.unknown);
		free(r.url);
		strmap_done(&r.headers);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *message;
} bads[] = {
	{ "query=a|threshold=1", NULL,
		"trigger 1 (loki): missing required parameter \"serverAddress\" in [triggerMetadata]" },
	{ "serverAddress=http://l|threshold=1", NULL, "missing required parameter \"query\"" },
	{ "serverAddress=http://l|query=a", NULL, "missing required parameter \"threshold\"" },
	{ "serverAddress=http://l|query=a|threshold=0", NULL, "\"threshold\" value \"0\" must be greater than 0" },
	{ "serverAddress=http://l?a=b" REST, NULL, "\"serverAddress\" must not have a query (?...)" },
	{ "serverAddress=l:3100" REST, NULL, "\"serverAddress\": must be a URL that begins with" },
	{ BASE "|ignoreNullValues=maybe", NULL, "\"ignoreNullValues\" value \"maybe\"" },
	{ BASE "|authModes=bearer", NULL, "missing required parameter \"bearerToken\"" },
	{ BASE "|authModes=apiKey", "apiKey=secret-value", "apiKey is not supported by this trigger" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].metadata, bads[i].auth, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

static void questions(void **state)
{
	static const struct pairs_question others[] = {
		{ "serverAddress=http://l:3100/loki|threshold=7|query=sum(rate({a=\"b\"}[1m]))", NULL, true },
		{ "serverAddress=http://l:3101" REST, NULL, false },
		{ "serverAddress=http://l:3100|query=other|threshold=5", NULL, false },
		{ BASE "|tenantName=a", NULL, false },
		{ BASE "|ignoreNullValues=false", NULL, false },
		{ BASE "|timeout=10s", NULL, false },
		{ BASE "|authModes=bearer", "bearerToken=a", false },
	};

	(void)state;
	pairs_questions(others, MEM_COUNT(others), BASE, NULL, build);
}

#define RESULT(type, list)                                                                                             \
	"{\"status\":\"success\",\"data\":{\"resultType\":\"" type "\",\"result\":[" list "],\"stats\":{}}}"

static void answers(void **state)
{
	static const struct {
		int status;
		const char *body;
		double value;
		const char *says, *strictly; /* "": a value; strictly: with ignoreNullValues false */
	} cases[] = {
		{ 200, RESULT("vector", "{\"metric\":{},\"value\":[1,\"1267.5\"]}"), 1267.5, "", "" },
		{ 200, RESULT("vector", ""), 0, "", "ignoreNullValues is false: the result is empty" },
		{ 200, RESULT("vector", "{\"metric\":{},\"value\":[1,\"NaN\"]}"), 0, "", "the value is NaN" },
		{ 200, RESULT("vector", "{\"metric\":{},\"value\":[1,null]}"), 0, "", "the value is null" },
		{ 200, RESULT("vector", "{\"value\":[1,\"1\"]},{\"value\":[1,\"1\"]}"), 0, "multiple elements (2)",
			"multiple elements (2)" },
		{ 200, RESULT("streams", "{\"stream\":{},\"values\":[[\"1\",\"line\"]]}"), 0, "lines of a log",
			"lines of a log" },
		{ 400, "parse error at line 1, col 4: syntax error\n", 0,
			"HTTP status 400: parse error at line 1, col 4: syntax error", "HTTP status 400" },
		{ 401, "no org id\n", 0, "HTTP status 401: no org id", "HTTP status 401" },
		{ 200, "<html>", 0, "the answer is not JSON", "the answer is not JSON" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * MEM_COUNT(cases); i++) {
		bool is_strict = i % 2;
		const char *body = cases[i / 2].body, *says = is_strict ? cases[i / 2].strictly : cases[i / 2].says;
		struct webresponse answer = { .status = cases[i / 2].status,
			.body = body,
			.len = strlen(body),
			.content_type = "" };
		struct answer out = { 0 };
		struct scaler s;
		struct err err = { 0 };
		struct httpsource ask = { 0 };
		enum exchange_verdict verdict;

		assert_int_equal(build(is_strict ? BASE "|ignoreNullValues=false" : BASE, NULL, &s, &err), 0);
		ask.base.question = s.question;
		ask.data = s.question->data;
		verdict = httpsource_read(&ask, &answer, &out, &err);
		if ((verdict == EXCHANGE_DONE) != (*says == '\0') || (*says && !strstr(err.msg, says)))
			fail_msg("%s: %d, \"%s\"", body, verdict, err.msg);
		if (verdict == EXCHANGE_DONE)
			assert_true(out.value == cases[i / 2].value);
		else
			assert_true(strncmp(err.msg, "query sum(rate(", 15) == 0);
		scaler_done(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(questions),
		cmocka_unit_test(answers),
	};

	return cmocka_run_group_tests_name("scalers/prometheus/loki", tests, NULL, NULL);
}
