/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The github-runner trigger (doc/keda.md 8.19): parameters, accepted, defaulted, rejected with
 * their message; and each documented error of GitHub. test_githubpage.c covers the jobs that count,
 * test_githubscan.c the order of requests, the live tests the requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakekey.h"
#include "../pairs.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"
#include "scalers/scaler.h"
#include "scalers/scalerbuild.h"

static char *key_pem; /* of an App */
static bool formula_source;

static int make_key(void **state)
{
	(void)state;
	key_pem = fakekey_rsa(2048, NULL);
	return 0;
}

static int free_key(void **state)
{
	(void)state;
	mem_free_ptr(&key_pem);
	return 0;
}

/* The value KEY is replaced by the App's key. */
static int build(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	struct strmap m = { 0 }, a = { 0 }, e = { 0 };
	struct scaler_params params = { .type = "github-runner",
		.index = 1,
		.metadata = &m,
		.auth = &a,
		.env = &e,
		.formula_source = formula_source };
	int failed;

	pairs_fill(&m, metadata);
	pairs_fill(&a, auth);
	pairs_fill(&e, "OWNER=shop|SCOPE=org|REPOS=web,mail|APP=5|EMPTY=");
	if (strmap_get(&a, "appKey") && strcmp(strmap_get(&a, "appKey"), "KEY") == 0)
		strmap_set(&a, "appKey", key_pem);
	failed = scaler_build(&params, out, err);
	strmap_done(&m);
	strmap_done(&a);
	strmap_done(&e);
	return failed;
}

#define BASE  "owner=shop|runnerScope=org"
#define TOKEN "personalAccessToken=secret-value"
#define APP   "|applicationID=5|installationID=6"
#define KEY   "appKey=KEY"

static const struct {
	const char *metadata, *auth, *metric, *source;
	int64_t target_milli;
	double activation;
} goods[] = {
	{ BASE, TOKEN, "s1-github-runner-shop", "github-runner https://api.github.com", 1000, 0 },
	{ "owner=shop.x|runnerScope=repo", TOKEN "\n", "s1-github-runner-shop-x",
		"github-runner https://api.github.com", 1000, 0 },
	{ "ownerFromEnv=OWNER|runnerScopeFromEnv=SCOPE|reposFromEnv=REPOS", TOKEN, "s1-github-runner-shop",
		"github-runner https://api.github.com", 1000, 0 },
	{ BASE "|githubApiURL=https://ghe.test/api/v3/|repos=web, mail|labels=gpu,big|targetWorkflowQueueLength=3",
		TOKEN, "s1-github-runner-shop", "github-runner https://ghe.test", 3000, 2 },
	{ BASE "|noDefaultLabels=true|enableEtags=true|matchUnlabeledJobsWithUnlabeledRunners=true", TOKEN,
		"s1-github-runner-shop", "github-runner https://api.github.com", 1000, 0 },
	{ BASE APP, KEY, "s1-github-runner-shop", "github-runner https://api.github.com", 1000, 0 },
	{ BASE "|applicationIDFromEnv=APP|installationIDFromEnv=APP", KEY, "s1-github-runner-shop",
		"github-runner https://api.github.com", 1000, 0 },
	{ "owner=shop|runnerScope=ent" APP, KEY "|" TOKEN, "s1-github-runner-shop",
		"github-runner https://api.github.com", 1000, 0 },
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
		assert_null(strstr(s.question->key, "secret-value"));
		assert_null(strstr(s.question->key, "PRIVATE"));
		if (strncmp(s.question->source, goods[i].source, strlen(goods[i].source)) != 0)
			fail_msg("%s: %s", goods[i].metadata, s.question->source);
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_true(s.activation == goods[i].activation);
		if (s.unknown)
			fail_msg("%s: unknown %s", goods[i].metadata, s.unknown);
		scaler_done(&s);
	}
}

#define TEN(text) text text text text text text text text text text

static const struct {
	const char *metadata, *auth, *message;
} bads[] = {
	{ "runnerScope=org", TOKEN, "missing required parameter \"owner\"" },
	{ "owner=shop", TOKEN, "missing required parameter \"runnerScope\"" },
	{ "owner=shop|runnerScope=user", TOKEN, "\"runnerScope\" value \"user\"" },
	{ "owner=a/b|runnerScope=org", TOKEN, "\"owner\" must be the name of an organization or user" },
	{ "owner=..|runnerScope=org", TOKEN, "\"owner\" must be the name of an organization or user" },
	{ BASE "|repos=web,shop/mail", TOKEN, "\"repos\": name 2 is not the name of a repository" },
	{ BASE "|repos=web,", TOKEN, "\"repos\": name 2 is not the name of a repository" },
	{ BASE "|labels=" TEN(TEN("a,")) "a", TOKEN, "\"labels\" has more than 100 labels" },
	{ BASE "|repos=" TEN(TEN("a,a,a,a,a,a,")) "a", TOKEN, "\"repos\" has more than 500 names" },
	{ BASE, NULL, "no personalAccessToken or appKey given" },
	{ BASE "|personalAccessToken=secret-value", NULL, "no personalAccessToken or appKey given" },
	{ BASE "|applicationID=5|installationID=6", NULL, "no personalAccessToken or appKey given" },
	{ BASE "|applicationID=5", TOKEN, "no installationID given" },
	{ BASE "|installationID=5", TOKEN, "no applicationID given" },
	{ BASE, KEY, "no applicationID given" },
	{ BASE "|applicationID=5|installationID=6", TOKEN, "no appKey given" },
	{ BASE APP, "appKey=secret-value", "\"appKey\": the private key is not a PEM text of an RSA key" },
	{ BASE "|applicationID=app", TOKEN, "\"applicationID\" value \"app\"" },
	{ BASE, "personalAccessToken=secret-value\nX: y", "the bearer token" },
	{ BASE, TOKEN "|ca=none", "CA: no PEM certificate" },
	{ BASE "|githubApiURL=api.github.com", TOKEN, "\"githubApiURL\": must be a URL" },
	{ BASE "|githubApiURL=https://h/?a=b", TOKEN, "\"githubApiURL\" must not have a query" },
	{ BASE "|targetWorkflowQueueLength=0", TOKEN,
		"\"targetWorkflowQueueLength\" value \"0\" must be greater than 0" },
	{ BASE "|targetWorkflowQueueLength=1.5", TOKEN, "\"targetWorkflowQueueLength\" value \"1.5\"" },
	{ BASE "|enableEtags=maybe", TOKEN, "\"enableEtags\" value \"maybe\"" },
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

static void questions(void **state)
{
	static const struct {
		const char *a, *a_auth, *b, *b_auth;
		bool same;
	} pairs[] = {
		{ BASE, TOKEN, BASE "|targetWorkflowQueueLength=9|githubApiURL=https://api.github.com/", TOKEN, true },
		{ BASE, TOKEN, "owner=shop|runnerScope=ent", TOKEN, true }, /* the same list */
		{ BASE, TOKEN, "owner=shop|runnerScope=repo", TOKEN, false },
		{ BASE, TOKEN, "owner=other|runnerScope=org", TOKEN, false },
		{ BASE, TOKEN, BASE, "personalAccessToken=another", false },
		{ BASE, TOKEN, BASE "|repos=web", TOKEN, false },
		{ BASE "|repos=web, mail", TOKEN, BASE "|repos=web,mail", TOKEN, true },
		{ BASE "|repos=web,mail", TOKEN, BASE "|repos=web,mai", TOKEN, false },
		{ BASE, TOKEN, BASE "|labels=gpu", TOKEN, false },
		{ BASE "|repos=a", TOKEN, BASE "|labels=a", TOKEN, false },
		{ BASE, TOKEN, BASE "|noDefaultLabels=true", TOKEN, false },
		{ BASE, TOKEN, BASE "|matchUnlabeledJobsWithUnlabeledRunners=true", TOKEN, false },
		{ BASE, TOKEN, BASE "|enableEtags=true", TOKEN, false },
		{ BASE, TOKEN, BASE "|githubApiURL=https://ghe.test/api/v3", TOKEN, false },
		{ BASE, TOKEN, BASE APP, KEY, false },
		{ BASE APP, KEY, BASE APP, KEY "|" TOKEN, true },
		{ BASE APP, KEY, BASE "|applicationID=5|installationID=7", KEY, false },
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

static void a_formula_source_needs_no_target(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	formula_source = true;
	assert_int_equal(build(BASE "|targetWorkflowQueueLength=0", TOKEN, &s, &err), 0);
	assert_int_equal(s.target.milli, 0);
	scaler_done(&s);
	formula_source = false;
}

/* ---- What is no page ---- */

#define NO_RESET 0

static const struct {
	int status;
	const char *remaining;
	int reset_s; /* from now; NO_RESET: no such header */
	int64_t retry_after_ms;
	const char *message;
	enum err_kind kind;
	const char *says;
} refusals[] = {
	{ 401, "59", NO_RESET, 0, "Bad credentials", ERR_DENIED,
		"personalAccessToken is wrong or has expired: the GitHub REST API returned error: HTTP status 401: "
		"Bad credentials" },
	{ 403, "4999", 3600, 0, "Resource not accessible by personal access token", ERR_DENIED,
		"the GitHub REST API returned error: HTTP status 403: Resource not accessible by personal access "
		"token" },
	{ 403, "4999", 3600, 0, "Resource protected by organization SAML enforcement.", ERR_DENIED,
		"HTTP status 403: Resource protected" },
	{ 404, "4999", 3600, 0, "Not Found", ERR_MISSING, "repository shop/web does not exist" },
	{ 451, "4999", 3600, 0, "Repository access blocked", ERR_INVALID,
		"HTTP status 451: Repository access blocked" },
	{ 500, "4999", 3600, 0, "Server Error", ERR_TEMPORARY, "HTTP status 500: Server Error" },
	{ 503, "", NO_RESET, 0, "Service unavailable", ERR_TEMPORARY, "HTTP status 503: Service unavailable" },
	{ 304, "4999", 3600, 0, "", ERR_INVALID, "HTTP status 304" }, /* the page is not cached */
	/* the hourly limit, with either status */
	{ 403, "0", 999, 0, "API rate limit exceeded for user ID 1.", ERR_TEMPORARY,
		"GitHub API rate limit exceeded, for another 99" },
	{ 429, "0", 999, 0, "API rate limit exceeded for user ID 1.", ERR_TEMPORARY,
		" s: API rate limit exceeded for user ID 1." },
	/* the secondary limit: by Retry-After, else X-RateLimit-Reset, else a minute */
	{ 403, "4999", 3600, 7000, "You have exceeded a secondary rate limit.", ERR_TEMPORARY, "for another 7 s: You" },
	{ 429, "4999", 3600, 7000, "", ERR_TEMPORARY, "GitHub API rate limit exceeded, for another 7 s" },
	{ 403, "0", 999, 7000, "You have exceeded a secondary rate limit.", ERR_TEMPORARY, "for another 99" },
	{ 403, "4999", 3600, 0, "You have exceeded a secondary rate limit.", ERR_TEMPORARY, "for another 60 s" },
	{ 429, "", NO_RESET, 0, "", ERR_TEMPORARY, "for another 60 s" },
	/* a time in the past, or none */
	{ 403, "0", -5, 0, "API rate limit exceeded", ERR_TEMPORARY, "for another 60 s" },
	{ 403, "0", -5, 0, "Forbidden", ERR_DENIED, "HTTP status 403: Forbidden" },
	{ 403, "zero", 3600, 0, "Forbidden", ERR_DENIED, "HTTP status 403: Forbidden" },
};

/* The first request initialises the note. */
static void begin(struct httpsource *ask)
{
	const struct httpsource_type *http = ask->base.question->type->http;
	struct webrequest request = { 0 };
	struct err err = { 0 };

	ask->state = mem_zalloc(http->state_size);
	assert_int_equal(http->request(ask, &request, &err), 0);
	assert_string_equal(request.url,
		"https://api.github.com/repos/shop/web/actions/runs?status=queued&per_page=100");
	free(request.url);
	strmap_done(&request.headers);
}

static void errors(void **state)
{
	struct scaler_sources sources = { .pauses = NULL };
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(BASE "|repos=web|enableEtags=true", TOKEN, &s, &err), 0);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct httpsource ask = { .base = { .question = s.question, .sources = &sources },
			.data = s.question->data };
		char body[200], reset[32] = "";
		struct webresponse answer = { .status = refusals[i].status,
			.body = body,
			.content_type = "application/json",
			.wanted = { "", refusals[i].remaining, reset, "" },
			.retry_after_ms = refusals[i].retry_after_ms };
		struct answer out = { 0 };

		begin(&ask);
		answer.len = (size_t)snprintf(body, sizeof(body), "{\"message\":\"%s\"}", refusals[i].message);
		if (refusals[i].reset_s != NO_RESET)
			snprintf(reset, sizeof(reset), "%lld",
				(long long)timestamp_now_ms() / 1000 + refusals[i].reset_s);
		err = (struct err){ 0 };
		assert_int_equal(s.question->type->http->read(&ask, &answer, &out, &err), EXCHANGE_FAILED);
		if (err.kind != refusals[i].kind || !strstr(err.msg, refusals[i].says))
			fail_msg("refusal %zu: kind %d, \"%s\"", i, (int)err.kind, err.msg);
		s.question->type->http->state_done(ask.state);
		free(ask.state);
	}
	scaler_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(questions), cmocka_unit_test(a_formula_source_needs_no_target),
		cmocka_unit_test(errors) };

	return cmocka_run_group_tests_name("scalers/github/githubrunner", tests, make_key, free_key);
}
