/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of the six Redis triggers: accepted, defaulted, rejected with the message
 * (doc/keda.md 8.1, 8.2, 6.1). The server's answers are tested live.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "../tlsrows.h"
#include "base/mem.h"
#include "scalers/params.h"
#include "scalers/scaler.h"
#include "scalers/scalerbuild.h"

static int build_type(const char *type, const char *metadata, const char *auth, const char *env,
	const char *metric_type, struct scaler *out, struct err *err)
{
	struct strmap unresolved = { 0 };
	const struct scaler_params params = { .type = type,
		.index = 2,
		.metric_type = metric_type,
		.unresolved = &unresolved };
	int failed;

	strmap_set(&unresolved, "FROM_SECRET", "comes from Secret shop key password, which this version does not read");
	failed = pairs_build(&params, metadata, auth, env, out, err);
	strmap_done(&unresolved);
	return failed;
}

static int build(const char *metadata, const char *auth, const char *env, const char *metric_type, struct scaler *out,
	struct err *err)
{
	return build_type("redis", metadata, auth, env, metric_type, out, err);
}

struct good {
	const char *metadata, *auth, *env, *metric_type;
	const char *metric, *source;
	int64_t target_milli;
	double activation;
	enum metric_target_type target_type;
};

static const struct good goods[] = {
	{ "address=r:6379|listName=jobs", NULL, NULL, NULL, "s2-redis-jobs", "redis r:6379", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ "address= r:6379 |listName= a/b.c:d%(e) |listLength=10|activationListLength=3", NULL, NULL, "Value",
		"s2-redis-a-b-c-d--e-", "redis r:6379", 10000, 3, METRIC_VALUE },
	{ "addresses=r1:1,r2:2|listName=x", NULL, NULL, NULL, "s2-redis-x", "redis r1:1", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ "host=r|port=6380|listName=x", NULL, NULL, NULL, "s2-redis-x", "redis r:6380", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ "host=::1|port=6380|listName=x", NULL, NULL, NULL, "s2-redis-x", "redis [::1]:6380", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ "address=r:1|host=other|port=2|listName=x", NULL, NULL, NULL, "s2-redis-x", "redis r:1", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ "addressFromEnv=REDIS|listName=x", NULL, "REDIS=cache.shop:6379", NULL, "s2-redis-x", "redis cache.shop:6379",
		5000, 0, METRIC_AVERAGE_VALUE },
	{ "address=|addressFromEnv=REDIS|listName=x", NULL, "REDIS=e:1", NULL, "s2-redis-x", "redis e:1", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ "addressFromEnv=REDIS|listName=x", "address=auth:1", "REDIS=env:1", NULL, "s2-redis-x", "redis auth:1", 5000,
		0, METRIC_AVERAGE_VALUE },
	{ "hostFromEnv=H|portFromEnv=P|passwordFromEnv=W|usernameFromEnv=U|listName=x", NULL, "H=h|P=1|W=secret|U=me",
		"AverageValue", "s2-redis-x", "redis h:1", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "address=r:1|listName=x|enableTLS=true|unsafeSsl=1|databaseIndex=3", NULL, NULL, NULL, "s2-redis-x",
		"redis r:1", 5000, 0, METRIC_AVERAGE_VALUE },
	{ "address=r:1|listName=x|activationListLength=-1", "tls=disable", NULL, NULL, "s2-redis-x", "redis r:1", 5000,
		-1, METRIC_AVERAGE_VALUE },
	{ "address=r:1|listName=x|somethingElse=1", NULL, NULL, "", "s2-redis-x", "redis r:1", 5000, 0,
		METRIC_AVERAGE_VALUE },
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
	{ "address=r:1", NULL, NULL, NULL,
		"trigger 2 (redis): missing required parameter \"listName\" in [triggerMetadata]" },
	{ "address=r:1|listName=  ", NULL, NULL, NULL, "missing required parameter \"listName\"" },
	{ "listName=x", NULL, NULL, NULL, "no addresses or hosts given" },
	{ "host=r|listName=x", NULL, NULL, NULL, "no addresses or hosts given" },
	{ "host=a,b|port=1|listName=x", NULL, NULL, NULL, "not enough hosts or ports given" },
	{ "address=r:1|listName=x|listLength=5.0", NULL, NULL, NULL,
		"unable to set param \"listLength\" value \"5.0\": must be a whole number" },
	{ "address=r:1|listName=x|listLength=05", NULL, NULL, NULL, "\"listLength\" value \"05\"" },
	{ "address=r:1|listName=x|listLength=0", NULL, NULL, NULL,
		"\"listLength\" value \"0\" must be greater than 0" },
	{ "address=r:1|listName=x|listLength=99999999999999999999", NULL, NULL, NULL, "must be a whole number" },
	{ "address=r:1|listName=x|databaseIndex=-1", NULL, NULL, NULL, "\"databaseIndex\" value \"-1\"" },
	{ "address=r:1|listName=x|enableTLS=yes", NULL, NULL, NULL,
		"\"enableTLS\" value \"yes\": must be true or false" },
	{ "address=r:1|listName=x|enableTLS=true", "tls=enable", NULL, NULL,
		"unable to set `tls` in both ScaledObject and TriggerAuthentication together" },
	{ "address=r:1|listName=x", "tls=maybe", NULL, NULL, "\"tls\" must be one of [enable disable]" },
	{ "address=r:1|listName=x", "cert=PEM|tls=enable", NULL, NULL, "\"cert\" and \"key\" belong together" },
	{ "address=r:1|listName=x", NULL, NULL, "Utilization",
		"'Utilization' metric type is unsupported for external metrics" },
	{ "address=r:1|listName=x", NULL, NULL, "Median", "metricType \"Median\" is unknown" },
	{ "address=r:1|listName=x|passwordFromEnv=NOPE", NULL, NULL, NULL,
		"\"passwordFromEnv\": the target's container has no environment variable NOPE" },
	{ "address=r:1|listName=x|passwordFromEnv=FROM_SECRET", NULL, NULL, NULL,
		"FROM_SECRET of the target's container comes from Secret shop key password" },
	{ "address=no-port|listName=x", NULL, NULL, NULL, "no-port" },
	{ "address=r:99999|listName=x", NULL, NULL, NULL, "r:99999" },
	{ "address=r:1|listName=x|notify=on", NULL, NULL, NULL,
		"unable to set param \"notify\" value \"on\": must be one of auto, off" },
	{ "address=r:1|listname=x", NULL, NULL, NULL,
		"missing required parameter \"listName\" in [triggerMetadata]; no parameter is named \"listname\" (did "
		"you "
		"mean \"listName\"?)" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].metadata, bads[i].auth, bads[i].env, bads[i].metric_type, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

static void formula_sources_may_have_no_target(void **state)
{
	static const char *const rows[][2] = { { "redis", "address=r:1|listName=x|listLength=0" },
		{ "redis-streams", "address=r:1|stream=s|streamLength=-4" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct strmap m = { 0 };
		struct scaler_params params = { .type = rows[i][0], .metadata = &m, .formula_source = true };
		struct scaler s;
		struct err err = { 0 };

		pairs_fill(&m, rows[i][1]);
		assert_int_equal(scaler_build(&params, &s, &err), 0);
		assert_int_equal(s.target.milli, 0);
		scaler_done(&s);
		strmap_done(&m);
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

/* ---- The other types ---- */

static const struct {
	const char *type, *metadata, *auth, *env;
	const char *metric, *source, *go_name;
	int64_t target;
	double activation;
} others[] = {
	{ "redis-cluster", "addresses=a:1, b:2|listName=x|databaseIndex=7", NULL, NULL, "s2-redis-x",
		"redis-cluster a:1,b:2", "redisScaler", 5, 0 },
	{ "redis-cluster", "address=a:1|listName=x", NULL, NULL, "s2-redis-x", "redis-cluster a:1", "redisScaler", 5,
		0 },
	{ "redis-cluster", "hosts=a,b|ports=1,2|listName=x|listLength=9|activationListLength=2", NULL, NULL,
		"s2-redis-x", "redis-cluster a:1,b:2", "redisScaler", 9, 2 },
	{ "redis-cluster", "addresses=z:9|hosts=a,::1|ports=1,2|listName=x", NULL, NULL, "s2-redis-x",
		"redis-cluster z:9,a:1,[::1]:2", "redisScaler", 5, 0 },
	{ "redis-cluster", "addresses=a:1,,b:2,|listName=x", NULL, NULL, "s2-redis-x", "redis-cluster a:1,b:2",
		"redisScaler", 5, 0 },
	{ "redis-cluster", "hostsFromEnv=H|portsFromEnv=P|listName=x", NULL, "H=a,b|P=1,2", "s2-redis-x",
		"redis-cluster a:1,b:2", "redisScaler", 5, 0 },
	{ "redis-cluster", "listName=x", "addresses=a:1,b:2|username=u|password=secret-value", NULL, "s2-redis-x",
		"redis-cluster a:1,b:2", "redisScaler", 5, 0 },
	{ "redis-sentinel", "addresses=a:1,b:2|sentinelMaster=mymaster|listName=x|databaseIndex=3", NULL, NULL,
		"s2-redis-x", "redis-sentinel mymaster of a:1,b:2", "redisScaler", 5, 0 },
	{ "redis-sentinel", "hosts=a|ports=1|listName=x",
		"sentinelMaster=m|sentinelUsername=u|sentinelPassword=secret-value", NULL, "s2-redis-x",
		"redis-sentinel m of a:1", "redisScaler", 5, 0 },
	{ "redis-sentinel", "address=a:1|sentinelMasterFromEnv=M|sentinelPasswordFromEnv=P|listName=x", NULL,
		"M=m|P=secret-value", "s2-redis-x", "redis-sentinel m of a:1", "redisScaler", 5, 0 },
	{ "redis-streams", "address=a:1|stream=s", NULL, NULL, "s2-redis-streams-s", "redis a:1", "redisStreamsScaler",
		5, 0 },
	{ "redis-streams", "address=a:1|stream=a/b|streamLength=7|activationLagCount=3", NULL, NULL,
		"s2-redis-streams-a-b", "redis a:1", "redisStreamsScaler", 7, 3 },
	{ "redis-streams", "address=a:1|stream=s|streamLength=7|pendingEntriesCount=8|lagCount=9", NULL, NULL,
		"s2-redis-streams-s", "redis a:1", "redisStreamsScaler", 7, 0 },
	{ "redis-streams", "address=a:1|stream=s|consumerGroup=g", NULL, NULL, "s2-redis-streams-s", "redis a:1",
		"redisStreamsScaler", 5, 0 },
	{ "redis-streams", "address=a:1|stream=s|consumerGroup=g|pendingEntriesCount=8|streamLength=0", NULL, NULL,
		"s2-redis-streams-s", "redis a:1", "redisStreamsScaler", 8, 0 },
	{ "redis-streams", "address=a:1|stream=s|consumerGroup=g|pendingEntriesCount=0|lagCount=9|activationLagCount=2",
		NULL, NULL, "s2-redis-streams-s", "redis a:1", "redisStreamsScaler", 9, 2 },
	{ "redis-streams", "address=a:1|stream=s|consumerGroup=g|lagCount=0", NULL, NULL, "s2-redis-streams-s",
		"redis a:1", "redisStreamsScaler", 5, 0 },
	{ "redis-cluster-streams", "addresses=a:1,b:2|stream=s|consumerGroup=g|lagCount=4", NULL, NULL,
		"s2-redis-streams-s", "redis-cluster a:1,b:2", "redisStreamsScaler", 4, 0 },
	{ "redis-sentinel-streams", "address=a:1|sentinelMaster=m|stream=s", NULL, NULL, "s2-redis-streams-s",
		"redis-sentinel m of a:1", "redisStreamsScaler", 5, 0 },
};

static void others_accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build_type(others[i].type, others[i].metadata, others[i].auth, others[i].env, NULL, &s, &err))
			fail_msg("%s %s: %s", others[i].type, others[i].metadata, err.msg);
		assert_string_equal(s.type->name, others[i].type);
		assert_string_equal(s.type->go_name, others[i].go_name);
		assert_string_equal(s.metric_name, others[i].metric);
		assert_string_equal(s.question->source, others[i].source);
		assert_int_equal(s.target.milli, others[i].target * 1000);
		assert_true(s.activation == others[i].activation);
		if (s.unknown)
			fail_msg("%s: unknown: %s", others[i].metadata, s.unknown);
		assert_null(strstr(s.question->key, "secret-value"));
		scaler_done(&s);
	}
}

static const struct {
	const char *type, *metadata, *auth, *message;
} others_bad[] = {
	{ "redis-cluster", "listName=x", NULL, "trigger 2 (redis-cluster): no addresses or hosts given" },
	{ "redis-cluster", "addresses=,a:1|listName=x", NULL, "no addresses or hosts given" },
	{ "redis-cluster", "addresses=a:1,b|listName=x", NULL, "address \"b\": must be host:port" },
	{ "redis", "address=redis://a:1|listName=x", NULL, "address \"redis://a:1\": must be host:port, not a URL" },
	{ "redis-cluster", "hosts=a,b|ports=1|listName=x", NULL, "not enough hosts or ports given" },
	{ "redis-cluster", "addresses=a:1", NULL, "missing required parameter \"listName\"" },
	{ "redis-cluster", "addresses=a:1|listName=x", "key=secret-value|tls=enable",
		"\"cert\" and \"key\" belong together: only key is given" },
	{ "redis-cluster", "addresses=a:1|listName=x|databaseIndex=x", NULL, "\"databaseIndex\" value \"x\"" },
	{ "redis-cluster", "addresses=a:1|listName=x|enableTLS=1", "ca=garbage", "TLS: CA: " },
	{ "redis-sentinel", "addresses=a:1|listName=x", NULL,
		"missing required parameter \"sentinelMaster\" in [triggerMetadata" },
	{ "redis-sentinel", "addresses=a:1|listName=x|sentinelMaster= ", NULL,
		"missing required parameter \"sentinelMaster\"" },
	{ "redis-sentinel", "addresses=a:1,:2|listName=x|sentinelMaster=m", NULL, "address \":2\": must be host:port" },
	{ "redis-streams", "address=a:1", NULL, "trigger 2 (redis-streams): missing required parameter \"stream\"" },
	{ "redis-streams", "address=a:1|stream=s|streamLength=0", NULL,
		"parameter \"streamLength\" value \"0\" must be greater than 0" },
	{ "redis-streams", "address=a:1|stream=s|streamLength=x", NULL,
		"\"streamLength\" value \"x\": must be a whole number" },
	{ "redis-streams", "address=a:1|stream=s|lagCount=x", NULL,
		"\"lagCount\" value \"x\": must be a whole number" },
	{ "redis-streams", "address=a:1|stream=s|consumerGroup=g|pendingEntriesCount=-1", NULL,
		"\"pendingEntriesCount\" value \"-1\" must be greater than 0" },
	{ "redis-streams", "address=a:1|stream=s|consumerGroup=g|lagCount=-1", NULL,
		"\"lagCount\" value \"-1\" must be greater than 0" },
	{ "redis-streams", "address=a:1|stream=s|activationLagCount=1.5", NULL,
		"\"activationLagCount\" value \"1.5\"" },
	{ "redis-sentinel-streams", "address=a:1|stream=s", NULL, "missing required parameter \"sentinelMaster\"" },
};

static void others_rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(others_bad) / sizeof(others_bad[0]); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build_type(others_bad[i].type, others_bad[i].metadata, others_bad[i].auth, NULL, NULL, &s,
			&err);

		pairs_refused(rc, others_bad[i].metadata, &err, others_bad[i].message);
	}
}

/* Parameters of sentinels for a single server, or of streams for a list, suggest the wrong type. */
static void of_another_type(void **state)
{
	static const struct {
		const char *type, *metadata, *unknown; /* NULL: none */
	} rows[] = {
		{ "redis", "address=a:1|listName=x|sentinelMaster=m", "sentinelMaster" },
		{ "redis-cluster", "address=a:1|listName=x|sentinelMaster=m", "sentinelMaster" },
		{ "redis-streams", "address=a:1|stream=s|listLength=3", "listLength" },
		{ "redis-streams", "address=a:1|stream=s|consumerGruop=g", "consumerGroup" },
		{ "redis",
			"address=a:1|listName=x|host=h|ports=1|databaseIndex=1|enableTLS=false|unsafeSsl=false|"
			"username=u",
			NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build_type(rows[i].type, rows[i].metadata, NULL, NULL, NULL, &s, &err))
			fail_msg("%s: %s", rows[i].metadata, err.msg);
		if (rows[i].unknown ? !s.unknown || !strstr(s.unknown, rows[i].unknown) : s.unknown != NULL)
			fail_msg("%s: unknown: %s", rows[i].metadata, s.unknown ? s.unknown : "none");
		scaler_done(&s);
	}
}

static void questions_of_others(void **state)
{
	static const struct {
		const char *type_a, *a, *type_b, *b;
		bool same;
	} pairs[] = {
		{ "redis-cluster", "addresses=a:1,b:2|listName=x", "redis-cluster",
			"hosts=a,b|ports=1,2|listName=x|listLength=8|databaseIndex=4", true },
		{ "redis-cluster", "addresses=a:1|listName=x", "redis", "addresses=a:1|listName=x", false },
		{ "redis-cluster", "addresses=a:1|listName=x", "redis-cluster", "addresses=a:1,b:1|listName=x", false },
		{ "redis-cluster", "addresses=a:1|listName=x", "redis-cluster", "addresses=a:1|listName=x|password=p",
			false },
		{ "redis-cluster", "addresses=a:1|listName=x", "redis-cluster",
			"addresses=a:1|listName=x|enableTLS=true", false },
		{ "redis-cluster", "addresses=a:1|listName=x", "redis-sentinel",
			"addresses=a:1|listName=x|sentinelMaster=m", false },
		{ "redis-sentinel", "addresses=a:1|listName=x|sentinelMaster=m", "redis-sentinel",
			"addresses=a:1|listName=x|sentinelMaster=m|activationListLength=3", true },
		{ "redis-sentinel", "addresses=a:1|listName=x|sentinelMaster=m", "redis-sentinel",
			"addresses=a:1|listName=x|sentinelMaster=n", false },
		{ "redis-sentinel", "addresses=a:1|listName=x|sentinelMaster=m", "redis-sentinel",
			"addresses=a:1|listName=x|sentinelMaster=m|databaseIndex=1", false },
		{ "redis-sentinel", "addresses=a:1|listName=x|sentinelMaster=m", "redis-sentinel",
			"addresses=a:1|listName=x|sentinelMaster=m|sentinelPassword=p", false },
		{ "redis-sentinel", "addresses=a:1|listName=x|sentinelMaster=m|password=p", "redis-sentinel",
			"addresses=a:1|listName=x|sentinelMaster=m|sentinelPassword=p", false },
		{ "redis-streams", "address=a:1|stream=x", "redis", "address=a:1|listName=x", false },
		{ "redis-streams", "address=a:1|stream=x", "redis-streams",
			"address=a:1|stream=x|streamLength=2|lagCount=3", true },
		{ "redis-streams", "address=a:1|stream=x", "redis-streams", "address=a:1|stream=x|consumerGroup=g",
			false },
		{ "redis-streams", "address=a:1|stream=x|consumerGroup=g", "redis-streams",
			"address=a:1|stream=x|consumerGroup=h", false },
		{ "redis-streams", "address=a:1|stream=x|consumerGroup=g", "redis-streams",
			"address=a:1|stream=x|consumerGroup=g|lagCount=1", false },
		{ "redis-streams", "address=a:1|stream=x|consumerGroup=g|lagCount=2", "redis-streams",
			"address=a:1|stream=x|consumerGroup=g|lagCount=1", true },
		{ "redis-streams", "address=a:1|stream=x y|consumerGroup=z", "redis-streams",
			"address=a:1|stream=x|consumerGroup=y z", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct scaler a, b;
		struct err err = { 0 };

		assert_int_equal(build_type(pairs[i].type_a, pairs[i].a, NULL, NULL, NULL, &a, &err), 0);
		assert_int_equal(build_type(pairs[i].type_b, pairs[i].b, NULL, NULL, NULL, &b, &err), 0);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%s and %s: keys \"%s\" and \"%s\"", pairs[i].a, pairs[i].b, a.question->key,
				b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}

/* Everything that changes the answer is part of the question; thresholds and names are not. */
static void questions(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{ "address=r:1|listName=x", "address=r:1|listName=x|listLength=9|activationListLength=4", true },
		{ "address=r:1|listName=x", "host=r|port=1|listName=x", true },
		{ "address=r:1|listName=x", "address=r:1|listName=x|notify=", true },
		{ "address=r:1|listName=x", "address=r:1|listName=x|notify=auto", false },
		{ "address=r:1|listName=x|notify=off", "address=r:1|listName=x|notify=auto", false },
		{ "address=r:1|listName=x", "address=r:1|listName=y", false },
		{ "address=r:1|listName=x", "address=r:2|listName=x", false },
		{ "address=r:1|listName=x", "address=r:1|listName=x|databaseIndex=1", false },
		{ "address=r:1|listName=x", "address=r:1|listName=x|password=p", false },
		{ "address=r:1|listName=x|password=p", "address=r:1|listName=x|password=q", false },
		{ "address=r:1|listName=x|username=u|password=p", "address=r:1|listName=x|password=p", false },
		{ "address=r:1|listName=x", "address=r:1|listName=x|username=u", true },
		{ "address=r:1|listName=x", "address=r:1|listName=x|enableTLS=true", false },
		{ "address=r:1|listName=x|enableTLS=true", "address=r:1|listName=x|enableTLS=true|unsafeSsl=true",
			false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct scaler a, b;
		struct err err = { 0 };

		assert_int_equal(build(pairs[i].a, NULL, NULL, NULL, &a, &err), 0);
		assert_int_equal(build(pairs[i].b, NULL, NULL, NULL, &b, &err), 0);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%s and %s: keys \"%s\" and \"%s\"", pairs[i].a, pairs[i].b, a.question->key,
				b.question->key);
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

static int build_of_row(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	return build(metadata, auth, NULL, NULL, out, err);
}

static void tls_may_be_required(void **state)
{
	static const struct tlsrow rows[] = {
		{ "address=r:1|listName=x", NULL, false },
		{ "address=r:1|listName=x|enableTLS=false", NULL, false },
		{ "address=r:1|listName=x", "tls=disable", false },
		{ "address=r:1|listName=x|enableTLS=true", NULL, true },
		{ "address=r:1|listName=x|enableTLS=true|unsafeSsl=true", NULL, true },
		{ "address=r:1|listName=x", "tls=enable", true },
	};

	(void)state;
	tlsrows_check(rows, MEM_COUNT(rows), build_of_row, "set enableTLS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(formula_sources_may_have_no_target),
		cmocka_unit_test(unknown_type),
		cmocka_unit_test(others_accepted),
		cmocka_unit_test(others_rejected),
		cmocka_unit_test(of_another_type),
		cmocka_unit_test(questions_of_others),
		cmocka_unit_test(questions),
		cmocka_unit_test(tls_may_be_required),
		cmocka_unit_test(judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
