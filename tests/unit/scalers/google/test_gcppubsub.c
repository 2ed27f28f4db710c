/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of the gcp-pubsub trigger: accepted, defaulted, rejected with the message
 * (doc/keda.md 8.28). test_pubsubquery.c covers the query, test_timeseriesreply.c the response,
 * live tests both together.
 */
#include "../../fakes/fakekey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/mem.h"
#include "scalers/scaler.h"
#include "scalers/scalerbuild.h"

static const struct pod_identity own = { .provider = "gcp", .may_be_kscaled = true }, forbidden = { .provider = "gcp" };

/* auth: "key", the trigger's key; "other", another's; "bare", one without a project. */
static int build(const char *metadata, const char *auth, const struct pod_identity *pod, struct scaler *out,
	struct err *err)
{
	bool bare = auth && strcmp(auth, "bare") == 0, other = auth && strcmp(auth, "other") == 0;
	MEM_AUTO char *key = fakekey_google("https://oauth2.googleapis.com/token", bare ? NULL : "my-project");
	MEM_AUTO char *others = fakekey_google("https://oauth2.example/token", "my-project");
	struct strmap m = { 0 }, a = { 0 }, e = { 0 };
	struct scaler_params params = { .type = "gcp-pubsub",
		.index = 1,
		.metadata = &m,
		.auth = &a,
		.env = &e,
		.identity = pod };
	int failed;

	pairs_fill(&m, metadata);
	if (auth)
		strmap_set(&a, "GoogleApplicationCredentials", other ? others : key);
	strmap_set(&e, "KEY", key);
	strmap_set(&e, "SUB", "orders");
	failed = scaler_build(&params, out, err);
	strmap_done(&m);
	strmap_done(&a);
	strmap_done(&e);
	return failed;
}

#define BASE "subscriptionName=orders"
#define FULL "subscriptionName=projects/p-1/subscriptions/orders"

static const struct {
	const char *metadata, *auth;
	const struct pod_identity *pod;
	const char *metric;
	int64_t target_milli;
	double activation;
} goods[] = {
	{ BASE, "key", NULL, "s1-gcp-ps-orders", 10000, 0 },
	{ BASE "|credentialsFromEnv=KEY", NULL, NULL, "s1-gcp-ps-orders", 10000, 0 },
	{ BASE, NULL, &own, "s1-gcp-ps-orders", 10000, 0 },
	{ "subscriptionNameFromEnv=SUB", "key", NULL, "s1-gcp-ps-orders", 10000, 0 },
	{ "topicName=or.ders", "key", NULL, "s1-gcp-ps-or-ders", 10000, 0 },
	{ "topicNameFromEnv=SUB", "key", NULL, "s1-gcp-ps-orders", 10000, 0 },
	{ FULL, "bare", NULL, "s1-gcp-ps-projects-p-1-subscriptions-orders", 10000, 0 },
	{ BASE "|mode=OldestUnackedMessageAge|value=2.5|activationValue=1.5|valueIfNull=0|timeHorizon=5m", "key", NULL,
		"s1-gcp-ps-orders", 2500, 1.5 },
	{ BASE "|mode=AckMessageCount|aggregation=percentile99|timeHorizon=120000", "key", NULL, "s1-gcp-ps-orders",
		10000, 0 },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(goods[i].metadata, goods[i].auth, goods[i].pod, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		assert_string_equal(s.metric_name, goods[i].metric);
		assert_string_equal(s.question->source, "gcp-pubsub https://monitoring.googleapis.com");
		assert_null(strstr(s.question->key, "PRIVATE"));
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_true(s.activation == goods[i].activation);
		if (s.unknown)
			fail_msg("%s: unknown %s", goods[i].metadata, s.unknown);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth;
	const struct pod_identity *pod;
	const char *message;
} bads[] = {
	{ "", "key", NULL, "exactly one of subscription or topic name must be given" },
	{ BASE "|topicName=orders", "key", NULL, "exactly one of subscription or topic name must be given" },
	{ "subscriptionName=a", "key", NULL, "invalid Pub/Sub resource name" },
	{ "topicName=Google", "key", NULL, "names cannot start with \"goog\"" },
	{ BASE "|subscriptionSize=5", "key", NULL,
		"The 'subscriptionSize' setting is DEPRECATED and is removed in v2.20 - Use 'mode' and 'value' "
		"instead" },
	{ BASE "|value=0", "key", NULL, "\"value\" value \"0\" must be greater than 0" },
	{ BASE "|value=ten", "key", NULL, "\"value\" value \"ten\": must be a number" },
	{ BASE "|activationValue=x", "key", NULL, "\"activationValue\" value \"x\"" },
	{ BASE "|valueIfNull=none", "key", NULL, "\"valueIfNull\" value \"none\"" },
	{ BASE "|timeHorizon=-1m", "key", NULL, "\"timeHorizon\" value \"-1m\"" },
	{ BASE "|aggregation=avg", "key", NULL, "unsupported aggregation function: avg" },
	{ BASE "|aggregation=percentile101", "key", NULL, "invalid percentile value: 101" },
	{ BASE "|mode=a b", "key", NULL, "mode \"a b\" is not a metric" },
	{ BASE, NULL, NULL, "google application credentials not found" },
	{ BASE "|credentials={}", NULL, NULL, "google application credentials not found" },
	{ BASE, NULL, &forbidden, "kscaled's own Google identity" },
	{ BASE, "bare", NULL, "the key has no project_id" },
	{ BASE "|credentialsFromEnvFile=KEY", NULL, NULL, "no file that a trigger names is read" },
	{ BASE "|credentialsFromEnv=GONE", NULL, NULL, "no environment variable GONE with a value" },
	{ "subscriptionNameFromEnv=KEY", "key", NULL, "invalid Pub/Sub resource name: it is a letter" },
	{ "subscriptionNameFromEnv=GONE", "key", NULL, "no environment variable GONE with a value" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].metadata, bads[i].auth, bads[i].pod, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
		assert_null(strstr(err.msg, "PRIVATE"));
	}
}

static void questions(void **state)
{
	static const struct {
		const char *a, *b, *b_auth;
		const struct pod_identity *b_pod;
		bool same;
	} pairs[] = {
		{ BASE, BASE "|value=3|activationValue=2|mode=NumUndeliveredMessages|timeHorizon=2m", "key", NULL,
			true },
		{ BASE, BASE "|credentialsFromEnv=KEY", NULL, NULL, true },
		{ BASE, "subscriptionName=projects/my-project/subscriptions/orders", "key", NULL, true },
		{ BASE, FULL, "key", NULL, false },
		{ BASE, "topicName=orders", "key", NULL, false },
		{ BASE, "subscriptionName=others", "key", NULL, false },
		{ BASE, BASE, "other", NULL, false },
		{ BASE, BASE, NULL, &own, false },
		{ BASE, BASE "|valueIfNull=0", "key", NULL, false },
		{ BASE "|valueIfNull=1", BASE "|valueIfNull=0", "key", NULL, false },
		{ BASE, BASE "|mode=OldestUnackedMessageAge", "key", NULL, false },
		{ BASE, BASE "|aggregation=sum", "key", NULL, false },
		{ BASE, BASE "|timeHorizon=3m", "key", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(pairs); i++) {
		struct scaler a, b;
		struct err err = { 0 };

		if (build(pairs[i].a, "key", NULL, &a, &err) ||
			build(pairs[i].b, pairs[i].b_auth, pairs[i].b_pod, &b, &err))
			fail_msg("pair %zu: %s", i, err.msg);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%s and %s: keys \"%s\" and \"%s\"", pairs[i].a, pairs[i].b, a.question->key,
				b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}

/* As in `kscaled check`: known values are still checked. */
static void unknown_values(void **state)
{
	struct strmap m = { 0 }, a = { 0 };
	struct scaler_params params = { .type = "gcp-pubsub",
		.metadata = &m,
		.auth = &a,
		.unknown = "?",
		.env_open = true };
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	pairs_fill(&m, BASE "|value=4");
	strmap_set(&a, "GoogleApplicationCredentials", "?");
	assert_int_equal(scaler_build(&params, &s, &err), 0);
	assert_null(s.question);
	assert_string_equal(s.metric_name, "s0-gcp-ps-orders");
	assert_int_equal(s.target.milli, 4000);
	scaler_done(&s);
	strmap_done(&m);
	pairs_fill(&m, "subscriptionNameFromEnv=LATER");
	assert_int_equal(scaler_build(&params, &s, &err), 0);
	assert_null(s.question);
	assert_null(s.metric_name);
	scaler_done(&s);
	pairs_fill(&m, "topicName=other");
	assert_int_equal(scaler_build(&params, &s, &err), 0);
	scaler_done(&s);
	strmap_done(&m);
	strmap_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(questions), cmocka_unit_test(unknown_values) };

	return cmocka_run_group_tests_name("scalers/google/gcppubsub", tests, NULL, NULL);
}
