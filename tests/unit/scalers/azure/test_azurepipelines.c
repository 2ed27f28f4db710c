/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of the azure-pipelines trigger: accepted, defaulted, rejected with the message
 * (doc/keda.md 8.27). Live tests cover requests and responses; test_pipelinejobs.c covers counting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/json.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"
#include "scalers/scaler.h"
#include "scalers/scalerbuild.h"

static int build(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "azure-pipelines", .index = 1 };

	return pairs_build(&params, metadata, auth, "PAT=secret-value|EMPTY=", out, err);
}

#define ORGANIZATION    "organizationURL=https://dev.azure.com/shop"
#define TEN_TIMES(text) text text text text text text text text text text
#define BASE            ORGANIZATION "|poolID=7"
#define TOKEN           "personalAccessToken=secret-value"

static const struct {
	const char *metadata, *auth, *metric;
	int64_t target_milli;
	double activation;
} goods[] = {
	{ BASE, TOKEN, "s1-azure-pipelines-7", 1000, 0 },
	{ BASE "|personalAccessTokenFromEnv=PAT", NULL, "s1-azure-pipelines-7", 1000, 0 },
	{ "poolID=7", TOKEN "|organizationURL=https://devops.example/tfs/shop", "s1-azure-pipelines-7", 1000, 0 },
	{ BASE, "personalAccessToken=secret-value\n", "s1-azure-pipelines-7", 1000, 0 },
	{ ORGANIZATION "|poolName=linux (x64)|poolID=9", TOKEN, "s1-azure-pipelines-linux -x64-", 1000, 0 },
	{ BASE "|targetPipelinesQueueLength=5|activationTargetPipelinesQueueLength=2", TOKEN, "s1-azure-pipelines-7",
		5000, 2 },
	{ BASE "|jobsToFetch=3|demands=maven, java -equals 17|requireAllDemands=true", TOKEN, "s1-azure-pipelines-7",
		1000, 0 },
	{ BASE "|fetchUnfinishedJobsOnly=true|parent=template", TOKEN, "s1-azure-pipelines-7", 1000, 0 },
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
		assert_int_equal(strncmp(s.question->source, "azure-pipelines https://dev", 27), 0);
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
	{ "poolID=7", TOKEN, "missing required parameter \"organizationURL\"" },
	{ ORGANIZATION, TOKEN, "no poolName or poolID given" },
	{ ORGANIZATION "|poolID=0", TOKEN, "no poolName or poolID given" },
	{ ORGANIZATION "|poolID=seven", TOKEN, "\"poolID\" value \"seven\"" },
	{ ORGANIZATION "/|poolID=7", TOKEN, "failed to extract organization name from organizationURL" },
	{ "organizationURL=dev.azure.com/shop|poolID=7", TOKEN, "\"organizationURL\": must be a URL" },
	{ BASE, NULL, "no personalAccessToken given or PodIdentity provider configured" },
	{ BASE "|personalAccessToken=secret-value", NULL, "no personalAccessToken given" },
	{ BASE "|personalAccessTokenFromEnv=EMPTY", NULL, "has no environment variable EMPTY with a value" },
	{ BASE "|jobsToFetch=5|fetchUnfinishedJobsOnly=false", TOKEN,
		"cannot specify both jobsToFetch and fetchUnfinishedJobsOnly at the same time" },
	{ BASE "|jobsToFetch=5|parent=p", TOKEN, "cannot specify both jobsToFetch and parent at the same time" },
	{ BASE "|jobsToFetch=0", TOKEN, "\"jobsToFetch\"" },
	{ BASE "|targetPipelinesQueueLength=0", TOKEN,
		"\"targetPipelinesQueueLength\" value \"0\" must be greater than 0" },
	{ BASE "|targetPipelinesQueueLength=1.5", TOKEN, "\"targetPipelinesQueueLength\" value \"1.5\"" },
	{ BASE "|demands=" TEN_TIMES(TEN_TIMES(",")), TOKEN, "\"demands\": 101 are given, at most 100 are allowed" },
	{ BASE "|scaleOnInFlight=maybe", TOKEN, "\"scaleOnInFlight\" value \"maybe\"" },
	{ BASE "|requireAllDemands=maybe", TOKEN, "\"requireAllDemands\" value \"maybe\"" },
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
		const char *a, *b, *b_auth;
		bool same;
	} pairs[] = {
		{ BASE, BASE "|targetPipelinesQueueLength=9|activationTargetPipelinesQueueLength=3|jobsToFetch=250",
			TOKEN, true },
		{ BASE, BASE "|personalAccessTokenFromEnv=PAT", NULL, true },
		{ BASE, BASE, "personalAccessToken=another", false },
		{ BASE, ORGANIZATION "|poolID=8", TOKEN, false },
		{ BASE, ORGANIZATION "|poolName=7", TOKEN, false },
		{ BASE, BASE "|jobsToFetch=10", TOKEN, false },
		{ BASE, BASE "|fetchUnfinishedJobsOnly=true", TOKEN, false },
		{ BASE, BASE "|scaleOnInFlight=true", TOKEN, true },
		{ BASE, BASE "|scaleOnInFlight=false", TOKEN, false },
		{ BASE, BASE "|parent=p", TOKEN, false },
		{ BASE, BASE "|demands=p", TOKEN, false },
		{ BASE "|demands=a, b", BASE "|demands=a,b", TOKEN, true },
		{ BASE "|demands=a,b", BASE "|demands=a,c", TOKEN, false },
		{ BASE "|demands=a", BASE "|demands=a|requireAllDemands=true", TOKEN, false },
		{ BASE "|demands=a", BASE "|demands=a|caseInsensitiveDemandsProcessing=true", TOKEN, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct scaler a, b;
		struct err err = { 0 };

		if (build(pairs[i].a, TOKEN, &a, &err) || build(pairs[i].b, pairs[i].b_auth, &b, &err))
			fail_msg("pair %zu: %s", i, err.msg);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%s and %s: keys \"%s\" and \"%s\"", pairs[i].a, pairs[i].b, a.question->key,
				b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}

/* kscaled's own token goes to Azure DevOps only, over TLS; the trigger's token takes precedence. */
static void as_kscaled_itself(void **state)
{
	static const struct pod_identity workload = { .provider = "azure-workload", .may_be_kscaled = true },
					 forbidden = { .provider = "azure-workload" },
					 google = { .provider = "gcp", .may_be_kscaled = true };
	static const struct {
		const struct pod_identity *pod;
		const char *url, *error; /* NULL: accepted */
	} rows[] = {
		{ &workload, "https://dev.azure.com/shop", NULL },
		{ &workload, "https://shop.visualstudio.com", NULL },
		{ &workload, "http://dev.azure.com/shop",
			"parameter \"organizationURL\": podIdentity azure-workload: must begin with https://" },
		{ &workload, "https://e.example/shop",
			"parameter \"organizationURL\": podIdentity azure-workload: e.example is not one of "
			"Microsoft's" },
		{ &forbidden, "https://dev.azure.com/shop", "asks for kscaled's own Azure identity" },
		{ &google, "https://dev.azure.com/shop", "pod identity gcp not supported for azure pipelines" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct strmap metadata = { 0 }, auth = { 0 };
		struct scaler_params params = { .type = "azure-pipelines",
			.metadata = &metadata,
			.auth = &auth,
			.identity = rows[i].pod };
		struct scaler scaler;
		struct err err = { 0 };

		strmap_set(&metadata, "organizationURL", rows[i].url);
		strmap_set(&metadata, "poolID", "7");
		assert_int_equal(scaler_build(&params, &scaler, &err), rows[i].error ? -1 : 0);
		if (rows[i].error)
			assert_non_null(strstr(err.msg, rows[i].error));
		else
			scaler_done(&scaler);
		strmap_set(&auth, "personalAccessToken", "t");
		assert_int_equal(scaler_build(&params, &scaler, &err), 0);
		scaler_done(&scaler);
		strmap_done(&metadata);
		strmap_done(&auth);
	}
}

/* An answer may be too large for one turn of the loop: the error says what helps. */
static void too_large_an_answer(void **state)
{
	size_t len = (size_t)2 * JSON_FOREIGN_VALUES_MAX;
	char *body = mem_zalloc(len + 1);
	struct webresponse answer = { .status = 200, .body = body, .len = len, .content_type = "application/json" };
	struct answer out = { 0 };
	struct err err = { 0 };
	struct scaler s;
	bool for_pool = false;
	struct httpsource ask = { .state = &for_pool };

	(void)state;
	memset(body, ',', len);
	assert_int_equal(build(BASE, TOKEN, &s, &err), 0);
	ask.base.question = s.question;
	ask.data = s.question->data;
	assert_int_equal(s.question->type->http->read(&ask, &answer, &out, &err), EXCHANGE_FAILED);
	assert_string_equal(err.msg,
		"the answer has more than 100000 values and names: set a smaller jobsToFetch, or, with parent, "
		"fetchUnfinishedJobsOnly");
	scaler_done(&s);
	free(body);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(questions), cmocka_unit_test(as_kscaled_itself),
		cmocka_unit_test(too_large_an_answer) };

	return cmocka_run_group_tests_name("scalers/azure/azurepipelines", tests, NULL, NULL);
}
