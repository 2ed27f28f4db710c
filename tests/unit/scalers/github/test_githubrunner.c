/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of the github-runner trigger: accepted, defaulted, rejected with the message
 * (keda-scalers-more.md 7.2). What is sent, and what a server answers, is tried live; which jobs
 * count is in test_githubpage.c, which request is next in test_githubscan.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakekey.h"
#include "../pairs.h"
#include "base/mem.h"
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

/* The value KEY of a pair is the App's key. */
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
	{ BASE "|repos=web,shop/mail", TOKEN, "\"repos\": name 2 is none of a repository" },
	{ BASE "|repos=web,", TOKEN, "\"repos\": name 2 is none of a repository" },
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

		if (build(bads[i].metadata, bads[i].auth, &s, &err) == 0)
			fail_msg("%s was accepted", bads[i].metadata);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, bads[i].message))
			fail_msg("%s: said \"%s\", not \"%s\"", bads[i].metadata, err.msg, bads[i].message);
		assert_null(strstr(err.msg, "secret-value"));
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

static void of_a_formula_it_needs_no_target(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(questions), cmocka_unit_test(of_a_formula_it_needs_no_target) };

	return cmocka_run_group_tests_name("scalers/github/githubrunner", tests, make_key, free_key);
}
