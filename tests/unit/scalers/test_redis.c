/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the redis trigger: accepted, defaulted, rejected with the message (keda-scalers.md A.1, C.2). What the server answers is tried live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

/* "k=v|k=v" into a map. */
static void fill(struct strmap *m, const char *pairs)
{
	char *copy = mem_dup(pairs ? pairs : ""), *rest = copy, *piece;

	while ((piece = strsep(&rest, "|")) != NULL) {
		char *equals = strchr(piece, '=');

		if (equals) {
			*equals = '\0';
			strmap_set(m, piece, equals + 1);
		}
	}
	free(copy);
}

static int build(const char *metadata, const char *auth, const char *env, const char *metric_type, struct scaler *out, struct err *err)
{
	struct strmap m = { 0 }, a = { 0 }, e = { 0 }, unresolved = { 0 };
	struct scaler_params params = { .type = "redis", .index = 2, .metric_type = metric_type, .metadata = &m, .auth = &a, .env = &e, .unresolved = &unresolved };
	int failed;

	fill(&m, metadata);
	fill(&a, auth);
	fill(&e, env);
	strmap_set(&unresolved, "FROM_SECRET", "comes from Secret shop key password, which this version does not read");
	failed = scaler_build(&params, out, err);
	strmap_done(&m);
	strmap_done(&a);
	strmap_done(&e);
	strmap_done(&unresolved);
	return failed;
}

struct good {
	const char *metadata, *auth, *env, *metric_type;
	const char *metric, *source;
	int64_t target_milli;
	double activation;
	enum metric_target_type target_type;
};

static const struct good goods[] = {
	{ "address=r:6379|listName=jobs", NULL, NULL, NULL, "s2-redis-jobs", "redis r:6379", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "address= r:6379 |listName= a/b.c:d%(e) |listLength=10|activationListLength=3", NULL, NULL, "Value", "s2-redis-a-b-c-d--e-", "redis r:6379", 10000, 3, METRIC_VALUE },
	{ "addresses=r1:1,r2:2|listName=x", NULL, NULL, NULL, "s2-redis-x", "redis r1:1", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "host=r|port=6380|listName=x", NULL, NULL, NULL, "s2-redis-x", "redis r:6380", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "host=::1|port=6380|listName=x", NULL, NULL, NULL, "s2-redis-x", "redis [::1]:6380", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "address=r:1|host=other|port=2|listName=x", NULL, NULL, NULL, "s2-redis-x", "redis r:1", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "addressFromEnv=REDIS|listName=x", NULL, "REDIS=cache.shop:6379", NULL, "s2-redis-x", "redis cache.shop:6379", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "address=|addressFromEnv=REDIS|listName=x", NULL, "REDIS=e:1", NULL, "s2-redis-x", "redis e:1", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "addressFromEnv=REDIS|listName=x", "address=auth:1", "REDIS=env:1", NULL, "s2-redis-x", "redis auth:1", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "hostFromEnv=H|portFromEnv=P|passwordFromEnv=W|usernameFromEnv=U|listName=x", NULL, "H=h|P=1|W=secret|U=me", "AverageValue", "s2-redis-x", "redis h:1", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "address=r:1|listName=x|enableTLS=true|unsafeSsl=1|databaseIndex=3", NULL, NULL, NULL, "s2-redis-x", "redis r:1", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "address=r:1|listName=x|activationListLength=-1", "tls=disable", NULL, NULL, "s2-redis-x", "redis r:1", 5000, -1, METRIC_AVERAGE_VALUE },
	{ "address=r:1|listName=x|somethingElse=1", NULL, NULL, "", "s2-redis-x", "redis r:1", 5000, 0, METRIC_AVERAGE_VALUE },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		const struct good *g = &goods[i];
		struct scaler s;
		struct err err = { 0 };

		if (build(g->metadata, g->auth, g->env, g->metric_type, &s, &err))
			fail_msg("%s: %s", g->metadata, err.msg);
		assert_string_equal(s.metric_name, g->metric);
		assert_string_equal(s.question->source, g->source);
		assert_int_equal(s.target.milli, g->target_milli);
		assert_int_equal(s.target_type, g->target_type);
		assert_true(s.activation == g->activation);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *env, *metric_type, *message;
} bads[] = {
	{ "address=r:1", NULL, NULL, NULL, "trigger 2 (redis): missing required parameter \"listName\" in [triggerMetadata]" },
	{ "address=r:1|listName=  ", NULL, NULL, NULL, "missing required parameter \"listName\"" },
	{ "listName=x", NULL, NULL, NULL, "no addresses or hosts given" },
	{ "host=r|listName=x", NULL, NULL, NULL, "no addresses or hosts given" },
	{ "host=a,b|port=1|listName=x", NULL, NULL, NULL, "not enough hosts or ports given" },
	{ "address=r:1|listName=x|listLength=5.0", NULL, NULL, NULL, "unable to set param \"listLength\" value \"5.0\": must be a whole number" },
	{ "address=r:1|listName=x|listLength=05", NULL, NULL, NULL, "\"listLength\" value \"05\"" },
	{ "address=r:1|listName=x|listLength=0", NULL, NULL, NULL, "\"listLength\" value \"0\" must be greater than 0" },
	{ "address=r:1|listName=x|listLength=99999999999999999999", NULL, NULL, NULL, "must be a whole number" },
	{ "address=r:1|listName=x|databaseIndex=-1", NULL, NULL, NULL, "\"databaseIndex\" value \"-1\"" },
	{ "address=r:1|listName=x|enableTLS=yes", NULL, NULL, NULL, "\"enableTLS\" value \"yes\": must be true or false" },
	{ "address=r:1|listName=x|enableTLS=true", "tls=enable", NULL, NULL, "unable to set `tls` in both ScaledObject and TriggerAuthentication together" },
	{ "address=r:1|listName=x", "tls=maybe", NULL, NULL, "\"tls\" must be one of [enable disable]" },
	{ "address=r:1|listName=x", "cert=PEM", NULL, NULL, "\"cert\" and \"key\" belong together" },
	{ "address=r:1|listName=x", NULL, NULL, "Utilization", "'Utilization' metric type is unsupported for external metrics" },
	{ "address=r:1|listName=x", NULL, NULL, "Median", "metricType \"Median\" is unknown" },
	{ "address=r:1|listName=x|passwordFromEnv=NOPE", NULL, NULL, NULL, "\"passwordFromEnv\": the target's container has no environment variable NOPE" },
	{ "address=r:1|listName=x|passwordFromEnv=FROM_SECRET", NULL, NULL, NULL, "FROM_SECRET of the target's container comes from Secret shop key password" },
	{ "address=no-port|listName=x", NULL, NULL, NULL, "no-port" },
	{ "address=r:99999|listName=x", NULL, NULL, NULL, "r:99999" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(bads[i].metadata, bads[i].auth, bads[i].env, bads[i].metric_type, &s, &err) == 0)
			fail_msg("%s was accepted", bads[i].metadata);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, bads[i].message))
			fail_msg("%s: said \"%s\", not \"%s\"", bads[i].metadata, err.msg, bads[i].message);
		assert_null(strstr(err.msg, "secret-value"));
	}
}

static void unknown_type(void **state)
{
	struct strmap empty = { 0 };
	struct scaler_params params = { .type = "rediss", .index = 0, .metadata = &empty };
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(scaler_build(&params, &s, &err), -1);
	assert_non_null(strstr(err.msg, "no scaler found for type: rediss"));
	assert_non_null(strstr(err.msg, "redis"));
}

/* Thresholds and names are not part of a question, everything that changes the answer is. */
static void questions(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{ "address=r:1|listName=x", "address=r:1|listName=x|listLength=9|activationListLength=4", true },
		{ "address=r:1|listName=x", "host=r|port=1|listName=x", true },
		{ "address=r:1|listName=x", "address=r:1|listName=y", false },
		{ "address=r:1|listName=x", "address=r:2|listName=x", false },
		{ "address=r:1|listName=x", "address=r:1|listName=x|databaseIndex=1", false },
		{ "address=r:1|listName=x", "address=r:1|listName=x|password=p", false },
		{ "address=r:1|listName=x|password=p", "address=r:1|listName=x|password=q", false },
		{ "address=r:1|listName=x|username=u|password=p", "address=r:1|listName=x|password=p", false },
		{ "address=r:1|listName=x", "address=r:1|listName=x|enableTLS=true", false },
		{ "address=r:1|listName=x|enableTLS=true", "address=r:1|listName=x|enableTLS=true|unsafeSsl=true", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct scaler a, b;
		struct err err = { 0 };

		assert_int_equal(build(pairs[i].a, NULL, NULL, NULL, &a, &err), 0);
		assert_int_equal(build(pairs[i].b, NULL, NULL, NULL, &b, &err), 0);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%s and %s: keys \"%s\" and \"%s\"", pairs[i].a, pairs[i].b, a.question->key, b.question->key);
		assert_null(strstr(a.question->key, "password"));
		scaler_done(&a);
		scaler_done(&b);
	}
}

static void judged(void **state)
{
	struct scaler s = { .activation = 3 };

	(void)state;
	assert_false(scaler_judge(&s, &(struct answer){ .value = 3 }).active);
	assert_true(scaler_judge(&s, &(struct answer){ .value = 3.5 }).active);
	assert_true(scaler_judge(&s, &(struct answer){ .value = 4 }).value == 4);
	s.activation = -5;
	assert_true(scaler_judge(&s, &(struct answer){ .value = -1 }).active);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(unknown_type),
		cmocka_unit_test(questions),
		cmocka_unit_test(judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
