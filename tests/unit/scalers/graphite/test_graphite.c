/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graphite trigger (doc/keda.md 8.7): parameters, and answers as graphite-web 1.1.8 sends them,
 * and malformed ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "scalers/graphite/graphitereply.h"
#include "scalers/http/httpsource.h"
#include "scalers/scaler.h"

static int build(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "graphite", .index = 1 };

	return pairs_build(&params, metadata, auth, NULL, out, err);
}

#define BASE "serverAddress=http://g:8080|query=shop.queue|queryTime=-1Hours"

static const struct {
	const char *metadata, *auth, *url;
	int64_t target_milli, timeout_ms;
	double activation;
	const char *user; /* NULL: no login */
} goods[] = {
	{ BASE, NULL, "http://g:8080/render?from=-1Hours&target=shop.queue&format=json", 100000, QUESTION_TIMEOUT_HTTP,
		0, NULL },
	{ "serverAddress=https://g/graphite//|query=sum(a.{b,c}) & d|queryTime=now+1h|threshold=2.5|"
	  "activationThreshold=-1|timeout=10s",
		NULL, "https://g/graphite/render?from=now%2B1h&target=sum%28a.%7Bb%2Cc%7D%29%20%26%20d&format=json",
		2500, 10000, -1, NULL },
	{ BASE "|authMode=basic", "username=u|password=secret-value",
		"http://g:8080/render?from=-1Hours&target=shop.queue&format=json", 100000, QUESTION_TIMEOUT_HTTP, 0,
		"u" },
	/* as KEDA sends them */
	{ BASE, "username=u|password=secret-value", "http://g:8080/render?from=-1Hours&target=shop.queue&format=json",
		100000, QUESTION_TIMEOUT_HTTP, 0, "u" },
	{ BASE, "username= |password=secret-value", "http://g:8080/render?from=-1Hours&target=shop.queue&format=json",
		100000, QUESTION_TIMEOUT_HTTP, 0, NULL },
};

static const char *user_of(const struct question *q)
{
	const struct httplogin *login = q->data;

	return webaccess_config(login->access)->username;
}

/* The URL of the request. */
static char *url_of(struct question *q)
{
	assert_null(q->type->http->request); /* no body, so a GET request */
	return mem_dup(((const struct httplogin *)q->data)->url);
}

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		struct scaler s;
		struct err err = { 0 };
		char *url;

		if (build(goods[i].metadata, goods[i].auth, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		url = url_of(s.question);
		assert_string_equal(url, goods[i].url);
		assert_string_equal(s.metric_name, "s1-graphite");
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_int_equal(s.question->timeout_ms, goods[i].timeout_ms);
		assert_true(s.activation == goods[i].activation);
		assert_true(text_equal(user_of(s.question), goods[i].user));
		assert_null(strstr(s.question->key, "secret-value"));
		assert_null(s.unknown);
		free(url);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *message;
} bads[] = {
	{ "query=a|queryTime=-1h", NULL,
		"trigger 1 (graphite): missing required parameter \"serverAddress\" in [triggerMetadata]" },
	{ "serverAddress=http://g|queryTime=-1h", NULL, "missing required parameter \"query\"" },
	{ "serverAddress=http://g|query=a", NULL, "missing required parameter \"queryTime\"" },
	{ BASE "|threshold=0", NULL, "\"threshold\" value \"0\" must be greater than 0" },
	{ BASE "|activationThreshold=x", NULL, "\"activationThreshold\" value \"x\"" },
	{ "serverAddress=http://g?a=b|query=a|queryTime=-1h", NULL,
		"\"serverAddress\" must not have a query (?...): only query and queryTime are sent" },
	{ "serverAddress=g:8080|query=a|queryTime=-1h", NULL, "\"serverAddress\": must be a URL that begins with" },
	{ BASE "|authMode=basic", "password=secret-value", "missing required parameter \"username\"" },
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
		{ BASE "|threshold=7|activationThreshold=1", NULL, true },
		{ "serverAddress=http://g:8080/|query=shop.queue|queryTime=-1Hours", NULL, true },
		{ "serverAddress=http://g:8081|query=shop.queue|queryTime=-1Hours", NULL, false },
		{ "serverAddress=http://g:8080|query=shop.other|queryTime=-1Hours", NULL, false },
		{ "serverAddress=http://g:8080|query=shop.queue|queryTime=-2Hours", NULL, false },
		{ BASE "|timeout=10s", NULL, false },
		{ BASE "|unsafeSsl=true", NULL, false },
		{ BASE "|authMode=basic", "username=u", false },
		{ BASE, "username=u", false },
	};

	(void)state;
	pairs_questions(others, MEM_COUNT(others), BASE, NULL, build);
}

/* ---- What comes back ---- */

#define SERIES "{\"target\":\"a\",\"tags\":{\"name\":\"a\"},\"datapoints\":["

static const struct {
	const char *body;
	double value;
	const char *says; /* "": a value */
} replies[] = {
	{ "[" SERIES "[11.0,1],[12.5,2],[null,3]]}]", 12.5, "" },
	{ "[" SERIES "[7,1]]}]", 7, "" },
	{ "[" SERIES "[null,1],[-3.25,2]]}]", -3.25, "" },
	{ "[" SERIES "[0.0,1]]}]", 0, "" },
	/* no value, which is 0 as in KEDA */
	{ "[]", 0, "" },
	{ "[" SERIES "]}]", 0, "" },
	/* not 0 */
	{ "[" SERIES "[null,1],[null,2]]}]", 0, "all 2 points are null; a longer queryTime finds older ones" },
	{ "[" SERIES "[1,1]]}," SERIES "[1,1]]}]", 0, "multiple series (2), and must return one" },
	{ "[" SERIES "[1e9999,1]]}]", 0, "a value of the series is infinite" },
	{ "[" SERIES "[\"7\",1]]}]", 0, "a point of the series is not a pair" },
	{ "[" SERIES "7]}]", 0, "a point of the series is not a pair" },
	{ "[" SERIES "[],[7,1],[]]}]", 0, "a point of the series is not a pair" },
	{ "[{\"target\":\"a\"}]", 0, "the series has no datapoints" },
	{ "[7]", 0, "the series has no datapoints" },
	{ "{\"status\":\"error\"}", 0, "the answer is not a list of series" },
	{ "7", 0, "the answer is not JSON" },
	{ "", 0, "the answer is not JSON" },
	{ "[{\"datapoints\":[[NaN,1]]}]", 0, "the answer is not JSON: a bare NaN stands in it" },
	{ "<html>", 0, "the answer is not JSON: does serverAddress lead to Graphite's web server?" },
	{ "[" SERIES "[11.0,1],[12.5", 0, "the answer is not JSON" },
};

static void answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(replies); i++) {
		double value = 99;
		struct err err = { 0 };
		int rc = graphitereply_read(replies[i].body, strlen(replies[i].body), &value, &err);

		if ((rc == 0) != (*replies[i].says == '\0') || !strstr(err.msg, replies[i].says))
			fail_msg("%s: %d, \"%s\"", replies[i].body, rc, err.msg);
		assert_true(rc || value == replies[i].value);
	}
}

static void too_many_points(void **state)
{
	struct buf body = BUF_INIT((size_t)1 << 20);
	double value;
	struct err err = { 0 };

	(void)state;
	buf_puts(&body, "[" SERIES "[7,0]");
	for (int i = 0; i < 40000; i++)
		buf_puts(&body, ",[7,1]");
	buf_puts(&body, "]}]");
	assert_int_equal(graphitereply_read(buf_text(&body), body.len, &value, &err), -1);
	assert_non_null(strstr(err.msg, "use a shorter queryTime"));
	buf_done(&body);
}

/* KEDA ignores the status. */
static void statuses(void **state)
{
	struct webresponse answer = { .status = 500, .body = "[]", .len = 2, .content_type = "" };
	struct scaler s;
	struct answer out;
	struct err err = { 0 };
	struct httpsource ask = { 0 };

	(void)state;
	assert_int_equal(build(BASE, NULL, &s, &err), 0);
	ask.base.question = s.question;
	ask.data = s.question->data;
	assert_int_equal(httpsource_read(&ask, &answer, &out, &err), EXCHANGE_FAILED);
	assert_string_equal(err.msg, "query shop.queue: HTTP status 500: []");
	scaler_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(questions),
		cmocka_unit_test(answers),
		cmocka_unit_test(too_many_points),
		cmocka_unit_test(statuses),
	};

	return cmocka_run_group_tests_name("scalers/graphite/graphite", tests, NULL, NULL);
}
