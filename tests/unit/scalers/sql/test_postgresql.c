/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of the postgresql trigger (doc/keda.md 8.3, 6.1): accepted, defaulted, rejected with
 * their message. The live tests cover the server's answers.
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
#include "scalers/scaler.h"
#include "scalers/sources.h"
#include "scalers/sql/pgquery.h"

#define PARTS "host=db|port=5432|userName=me|dbName=shop|sslmode=require|"
#define ASKS  "query=SELECT 1|targetQueryValue=5"

static int build(const char *metadata, const char *auth, const char *env, const char *metric_type, struct scaler *out,
	struct err *err)
{
	const struct scaler_params params = { .type = "postgresql", .index = 1, .metric_type = metric_type };

	return pairs_build(&params, metadata, auth, env, out, err);
}

static const struct {
	const char *metadata, *auth, *env, *metric_type, *source;
	int64_t target_milli;
	double activation;
	enum metric_target_type target_type;
} goods[] = {
	{ PARTS ASKS, NULL, NULL, NULL, "postgresql db:5432/shop", 5000, 0, METRIC_AVERAGE_VALUE },
	{ PARTS "query=SELECT 1|targetQueryValue=0.25|activationTargetQueryValue=-1.5", NULL, NULL, "Value",
		"postgresql db:5432/shop", 250, -1.5, METRIC_VALUE },
	{ PARTS ASKS, "host=other|password=secret-value", NULL, NULL, "postgresql other:5432/shop", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ ASKS, "host=a|port=1|userName=u|dbName=d|sslmode=disable", NULL, NULL, "postgresql a:1/d", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ ASKS, "connection=host=a user=u password=secret-value", NULL, NULL, "postgresql a:5432/u", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ PARTS ASKS, "connection=host=a user=u password=secret-value", NULL, NULL, "postgresql a:5432/u", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ "connectionFromEnv=PG|" ASKS, NULL, "PG=postgres://u:secret-value@e:7/d", NULL, "postgresql e:7/d", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ "connectionFromEnv=PG|" ASKS, "connection=host=a user=u", "PG=postgres://u@e:7/d", NULL,
		"postgresql a:5432/u", 5000, 0, METRIC_AVERAGE_VALUE },
	{ PARTS "passwordFromEnv=W|" ASKS, NULL, "W=secret-value", "AverageValue", "postgresql db:5432/shop", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ PARTS "notifyChannel=jobs|" ASKS, NULL, NULL, NULL, "postgresql db:5432/shop", 5000, 0,
		METRIC_AVERAGE_VALUE },
	{ PARTS "connection=ignored|" ASKS, NULL, NULL, NULL, "postgresql db:5432/shop", 5000, 0,
		METRIC_AVERAGE_VALUE },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(goods[i].metadata, goods[i].auth, goods[i].env, goods[i].metric_type, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		assert_string_equal(s.metric_name, "s1-postgresql");
		assert_string_equal(s.question->source, goods[i].source);
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_int_equal(s.target_type, goods[i].target_type);
		assert_true(s.activation == goods[i].activation);
		assert_null(strstr(s.question->key, "secret-value"));
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *env, *metric_type, *message;
} bads[] = {
	{ PARTS "targetQueryValue=5", NULL, NULL, NULL,
		"trigger 1 (postgresql): missing required parameter \"query\" in [triggerMetadata]" },
	{ PARTS "query=SELECT 1", NULL, NULL, NULL, "no targetQueryValue given" },
	{ PARTS "query=SELECT 1|targetQueryValue=0", NULL, NULL, NULL,
		"\"targetQueryValue\" value \"0\" must be greater than 0" },
	{ PARTS "query=SELECT 1|targetQueryValue=-5", NULL, NULL, NULL, "\"targetQueryValue\" value \"-5\"" },
	{ PARTS "query=SELECT 1|targetQueryValue=many", NULL, NULL, NULL,
		"\"targetQueryValue\" value \"many\": must be a number" },
	{ PARTS ASKS "|activationTargetQueryValue=.5", NULL, NULL, NULL,
		"\"activationTargetQueryValue\" value \".5\": must be a number" },
	{ PARTS "query=SELECT 1; SELECT 2|targetQueryValue=5", NULL, NULL, NULL, "\"query\" has several statements" },
	{ ASKS, NULL, NULL, NULL,
		"no host given (or give connection in a TriggerAuthentication, or connectionFromEnv)" },
	{ "host=db|" ASKS, NULL, NULL, NULL, "no port given" },
	{ "host=db|port=1|" ASKS, NULL, NULL, NULL, "no userName given" },
	{ "host=db|port=1|userName=me|" ASKS, NULL, NULL, NULL, "no dbName given" },
	{ "host=db|port=1|userName=me|dbName=d|" ASKS, NULL, NULL, NULL, "no sslmode given" },
	{ "host=db|port=x|userName=me|dbName=d|sslmode=disable|" ASKS, NULL, NULL, NULL,
		"\"port\" must be a number between 1 and 65535" },
	{ "host=db|port=1|userName=me|dbName=d|sslmode=on|" ASKS, NULL, NULL, NULL,
		"\"sslmode\" must be one of disable, allow, prefer, require, verify-ca, verify-full" },
	{ "connection=host=db user=me password=secret-value|" ASKS, NULL, NULL, NULL,
		"\"connection\" is not read from the trigger's metadata" },
	{ ASKS, "connection=secret-value", NULL, NULL, "parameter \"connection\": cannot be read: character 1" },
	{ ASKS, "connection=host=db user=me sslkey=/secret-value", NULL, NULL,
		"put the PEM text into the TriggerAuthentication" },
	{ "connectionFromEnv=PG|" ASKS, NULL, NULL, NULL,
		"\"connectionFromEnv\": the target's container has no environment variable PG" },
	{ PARTS ASKS, "ca=secret-value", NULL, NULL, "TLS: " },
	{ PARTS ASKS, "cert=secret-value", NULL, NULL, "\"cert\" and \"key\" belong together: only cert is given" },
	{ PARTS ASKS, NULL, NULL, "Utilization", "'Utilization' metric type is unsupported" },
	{ PARTS ASKS "|notifyChannel=0123456789012345678901234567890123456789012345678901234567890123", NULL, NULL,
		NULL,
		"\"notifyChannel\" value \"0123456789012345678901234567890123456789012345678901234567890123\" is "
		"longer than 63 bytes" },
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

/* ---- As kscaled itself ---- */

#define SERVER "shop.postgres.database.azure.com"
#define AZURE  "port=5432|userName=kscaled|dbName=shop|sslmode=require|" ASKS

static int build_as(const struct pod_identity *identity, const char *metadata, const char *auth, struct scaler *out,
	struct err *err)
{
	const struct scaler_params params = { .type = "postgresql", .index = 1, .identity = identity };

	return pairs_build(&params, metadata, auth, NULL, out, err);
}

static void as_kscaled(void **state)
{
	static const struct pod_identity own = { .provider = "azure-workload", .may_be_kscaled = true },
					 other = { .provider = "azure-workload",
						 .may_be_kscaled = true,
						 .identity_id = "other" },
					 trusting = { .provider = "azure-workload",
						 .may_be_kscaled = true,
						 .azure_trusted = "db.shop" },
					 mine = { .provider = "azure-workload" },
					 aws = { .provider = "aws", .may_be_kscaled = true };
	static const struct {
		const struct pod_identity *identity;
		const char *metadata, *auth, *said; /* NULL: accepted */
	} rows[] = {
		{ &own, "host=" SERVER "|" AZURE, NULL, NULL },
		{ &own, AZURE, "host=" SERVER, NULL },
		{ &own, "host=a.postgres.database.azure.com,b.postgres.database.azure.com|" AZURE, NULL, NULL },
		/* neither is read, as in KEDA */
		{ &own, "host=" SERVER "|" AZURE, "password=secret-value|connection=host=evil user=u", NULL },
		{ &trusting, "host=db.shop|" AZURE, NULL, NULL },
		/* other providers count as none, as in KEDA */
		{ &aws, PARTS ASKS, "password=secret-value", NULL },
		{ &own, PARTS ASKS, "password=secret-value",
			"parameter \"host\": podIdentity azure-workload: db is not one of Microsoft's hosts for this "
			"service" },
		{ &own, "host=evil.example," SERVER "|" AZURE, NULL, "evil.example is not one of Microsoft's hosts" },
		{ &own, "host=" SERVER ",evil.example|" AZURE, NULL, "evil.example is not one of Microsoft's hosts" },
		{ &own, "host=" SERVER ", evil.example|" AZURE, NULL, "not a host name" },
		{ &own, "host=" SERVER ",|" AZURE, NULL, "\"\" is not a host name" },
		{ &own, "host=/var/run/postgresql|" AZURE, NULL, "not a host name" },
		{ &own, AZURE, "connection=host=" SERVER " user=u",
			"no host given: with podIdentity azure-workload connection is not read" },
		{ &own, "connection=host=" SERVER "|" AZURE, NULL, "no host given: with podIdentity" },
		{ &own, "host=" SERVER "|port=1|userName=u|dbName=d|sslmode=disable|" ASKS, NULL,
			"\"sslmode\" must be require, verify-ca or verify-full" },
		{ &own, "host=" SERVER "|" AZURE, "ca=secret-value", "parameter \"ca\" does not go together" },
		{ &mine, "host=" SERVER "|" AZURE, NULL, "kscaled's own Azure identity, which needs a" },
	};
	struct scaler a, b;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		int rc = build_as(rows[i].identity, rows[i].metadata, rows[i].auth, &a, &err);

		if (!rc == !!rows[i].said || (rc && !strstr(err.msg, rows[i].said)))
			fail_msg("%s, %s: %s", rows[i].metadata, rows[i].auth, err.msg);
		assert_null(strstr(err.msg, "secret-value"));
		if (!rc)
			scaler_done(&a);
	}
	/* the key includes the identity */
	assert_int_equal(build_as(&own, "host=" SERVER "|" AZURE, NULL, &a, NULL), 0);
	assert_int_equal(build_as(&other, "host=" SERVER "|" AZURE, NULL, &b, NULL), 0);
	assert_string_equal(a.question->source, "postgresql " SERVER ":5432/shop");
	assert_string_not_equal(a.question->key, b.question->key);
	scaler_done(&b);
	assert_int_equal(build_as(&own, "host=" SERVER "|" AZURE, "password=x", &b, NULL), 0);
	assert_string_equal(a.question->key, b.question->key);
	scaler_done(&a);
	scaler_done(&b);
}

/* Thresholds are not part of a question; everything that changes the answer is, and the channel. */
static void questions(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{ PARTS ASKS, PARTS "query=SELECT 1|targetQueryValue=9|activationTargetQueryValue=4", true },
		{ PARTS ASKS, PARTS "query=SELECT 2|targetQueryValue=5", false },
		{ PARTS ASKS, "host=db|port=5433|userName=me|dbName=shop|sslmode=require|" ASKS, false },
		{ PARTS ASKS, "host=db|port=5432|userName=me|dbName=shop|sslmode=disable|" ASKS, false },
		{ PARTS ASKS, PARTS ASKS "|notifyChannel=jobs", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct scaler a, b;

		assert_int_equal(build(pairs[i].a, NULL, NULL, NULL, &a, NULL), 0);
		assert_int_equal(build(pairs[i].b, NULL, NULL, NULL, &b, NULL), 0);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%s and %s: keys \"%s\" and \"%s\"", pairs[i].a, pairs[i].b, a.question->key,
				b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}

static void unknown_keys(void **state)
{
	struct scaler s;

	(void)state;
	assert_int_equal(build(PARTS ASKS "|notifyChanel=x|password=p", NULL, NULL, NULL, &s, NULL), 0);
	assert_non_null(strstr(s.unknown, "\"notifyChanel\" (did you mean \"notifyChannel\"?)"));
	assert_non_null(strstr(s.unknown, "\"password\""));
	scaler_done(&s);
	assert_int_equal(build(PARTS ASKS "|notifyChannel=x|activationTargetQueryValue=1", NULL, NULL, NULL, &s, NULL),
		0);
	assert_null(s.unknown);
	scaler_done(&s);
}

/* No connection is made: watch and ask start in the loop's next turn. */
static void watched(void **state)
{
	struct err err = { 0 };
	struct loop *loop = loop_new(&err);
	struct scaler_sources sources = { .loop = loop, .pg = pg_pool_new(loop, 3000, NULL, NULL) };
	struct scaler with, without;
	struct watch_report report;
	void *watch;

	(void)state;
	assert_int_equal(build(PARTS ASKS "|notifyChannel=jobs", NULL, NULL, NULL, &with, NULL), 0);
	assert_int_equal(build(PARTS ASKS, NULL, NULL, NULL, &without, NULL), 0);
	assert_null(without.type->watch(&sources, without.question, NULL, NULL));
	watch = with.type->watch(&sources, with.question, NULL, NULL);
	assert_non_null(watch);
	report = with.type->watch_report(watch);
	assert_int_equal(report.state, WATCH_STARTING);
	assert_string_equal(report.why, "");
	with.type->unwatch(watch);
	scaler_done(&with);
	scaler_done(&without);
	pg_pool_free(sources.pg);
	loop_free(loop);
}

static void statements(void **state)
{
	static const char *const one[] = {
		"",
		"SELECT 1",
		"SELECT 1;",
		"SELECT 1;; ;\n-- end; of it",
		"SELECT 1; /* a; /* b; */ c; */",
		"SELECT ';'",
		"SELECT 'it''s; one'",
		"SELECT E'\\';'",
		"SELECT \"a;b\" FROM t",
		"SELECT $$;$$",
		"SELECT $x$;$$;$x$",
		"SELECT 1 -- ; two\n",
		"SELECT 1 /* ; */ + 2",
		"SELECT a$1;",
		"SELECT 'open; ended",
		"SELECT $1;",
		"SELECT /* open; ",
	};
	static const char *const several[] = { "SELECT 1; SELECT 2", "SELECT ';'; SELECT 2", "SELECT 1;SELECT 2;",
		"SELECT '\\'; SELECT 2", "SELECT 1; -- c\nSELECT 2", "SELECT $$a$$; SELECT 1",
		"SELECT a$b$; SELECT 1" };

	(void)state;
	for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++) {
		if (pgquery_is_several(one[i]))
			fail_msg("several: %s", one[i]);
	}
	for (size_t i = 0; i < sizeof(several) / sizeof(several[0]); i++) {
		if (!pgquery_is_several(several[i]))
			fail_msg("one: %s", several[i]);
	}
}

static int build_of_row(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	return build(metadata, auth, NULL, NULL, out, err);
}

static void tls_may_be_required(void **state)
{
	static const struct tlsrow rows[] = {
		{ ASKS, "connection=host=a user=u", false },
		{ ASKS, "connection=host=a user=u sslmode=disable", false },
		{ ASKS, "connection=host=a user=u sslmode=allow", false },
		{ ASKS, "connection=host=a user=u sslmode=prefer", false },
		{ ASKS, "connection=host=a user=u sslmode=require", true },
		{ ASKS, "connection=host=a user=u sslmode=verify-ca", true },
		{ ASKS, "connection=postgres://u@a/d?sslmode=verify-full", true },
		{ ASKS, "connection=host=a user=u sslrootcert=system", true },
		{ ASKS, "host=a|port=1|userName=u|dbName=d|sslmode=disable", false },
		{ PARTS ASKS, NULL, true },
	};

	(void)state;
	tlsrows_check(rows, MEM_COUNT(rows), build_of_row, "set sslmode");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(as_kscaled),
		cmocka_unit_test(questions),
		cmocka_unit_test(unknown_keys),
		cmocka_unit_test(watched),
		cmocka_unit_test(tls_may_be_required),
		cmocka_unit_test(statements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
