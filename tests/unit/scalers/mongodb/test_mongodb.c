/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The parameters of the mongodb trigger, including connection strings: accepted, defaulted,
 * rejected with the message (KEDA's mongo_scaler.go, the driver's connstring.go), and equal
 * questions.
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
#include "net/mongo/mongo.h"
#include "scalers/mongodb/mongouri.h"
#include "scalers/params.h"
#include "scalers/scaler.h"
#include "scalers/sources.h"

static int build(const char *metadata, const char *auth, const char *env, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "mongodb", .index = 1 };

	return pairs_build(&params, metadata, auth, env, out, err);
}

#define C   "dbName=shop|collection=jobs|"
#define Q   "query={\"done\":false}|queryValue=5|" C
#define AT  "host=db|port=27017|username=u|"
#define URI "connectionString=mongodb://"
#define SRV "connectionString=mongodb+srv://"

static const struct good {
	const char *metadata, *auth, *env;
	const char *metric, *source;
	int64_t target_milli;
	double activation;
} goods[] = {
	{ Q AT, "password=secret", NULL, "s1-mongodb-jobs", "mongodb db:27017", 5000, 0 },
	{ Q AT "passwordFromEnv=P", NULL, "P=secret", "s1-mongodb-jobs", "mongodb db:27017", 5000, 0 },
	{ Q AT "password=secret", NULL, NULL, "s1-mongodb-jobs", "mongodb db:27017", 5000, 0 },
	/* The TriggerAuthentication takes precedence. */
	{ Q AT, "host=other|port=1|username=v|password=secret|dbName=x", NULL, "s1-mongodb-jobs", "mongodb other:1",
		5000, 0 },
	{ Q "host=::1|port=27018|username=u|scheme=mongodb", "password=secret", NULL, "s1-mongodb-jobs",
		"mongodb [::1]:27018", 5000, 0 },
	{ "query={\"a\":1}|queryValue=2.5|activationQueryValue=1.5|dbName=shop|collection=jobs.new|" AT,
		"password=secret", NULL, "s1-mongodb-jobs-new", "mongodb db:27017", 2500, 1.5 },
	{ Q "connectionStringFromEnv=C", NULL, "C=mongodb://u:secret@db", "s1-mongodb-jobs", "mongodb db:27017", 5000,
		0 },
	{ Q URI "db:1", NULL, NULL, "s1-mongodb-jobs", "mongodb db:1", 5000, 0 },
	{ Q, URI "u:secret@a:1,b,[::1]:3/admin?replicaSet=rs0&authSource=admin&tls=false;appName=x", NULL,
		"s1-mongodb-jobs", "mongodb a:1,b:27017,[::1]:3", 5000, 0 },
	{ Q AT, URI "u:secret@db2/", NULL, "s1-mongodb-jobs", "mongodb db2:27017", 5000, 0 },
	{ Q,
		URI
		"u:secret@db/?AUTHMECHANISM=scram-sha-256&compressors=zstd&connect=direct&connectTimeoutMS=2000&"
		"heartbeatFrequencyMS=1&journal=true&localThresholdMS=1&maxIdleTimeMS=1&maxPoolSize=1&minPoolSize=0&"
		"readConcernLevel=majority&readPreference=SecondaryPreferred&retryReads=true&retryWrites=false&"
		"serverSelectionTimeoutMS=1&socketTimeoutMS=1&w=majority&wtimeoutMS=1&zlibCompressionLevel=-1&unknown="
		"1&"
		"readPreferenceTags=",
		NULL, "s1-mongodb-jobs", "mongodb db:27017", 5000, 0 },
	{ Q, URI "db/?tls=true&ssl=true&tlsInsecure=true", NULL, "s1-mongodb-jobs", "mongodb db:27017", 5000, 0 },
	/* An SRV name instead of hosts; a port is ignored. */
	{ Q "host=c.db.test|username=u|scheme=mongodb+srv", "password=secret", NULL, "s1-mongodb-jobs",
		"mongodb c.db.test", 5000, 0 },
	{ Q AT "scheme=mongodb+srv", "password=secret", NULL, "s1-mongodb-jobs", "mongodb db", 5000, 0 },
	{ Q, SRV "u:secret@c.db.test./admin?srvServiceName=my-db&srvMaxHosts=3&loadBalanced=false&tls=true", NULL,
		"s1-mongodb-jobs", "mongodb c.db.test.", 5000, 0 },
	{ Q, SRV "u:secret@c.db.test/?srvMaxHosts=0&replicaSet=rs0", NULL, "s1-mongodb-jobs", "mongodb c.db.test", 5000,
		0 },
	/* Without tls enable and tls=true the TLS parameters have no effect, as in KEDA. */
	{ Q AT, "password=secret|ca=x|cert=y", NULL, "s1-mongodb-jobs", "mongodb db:27017", 5000, 0 },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		const struct good *g = &goods[i];
		struct scaler s;
		struct err err = { 0 };

		if (build(g->metadata, g->auth, g->env, &s, &err))
			fail_msg("%s %s: %s", g->metadata, g->auth, err.msg);
		assert_string_equal(s.metric_name, g->metric);
		assert_string_equal(s.question->source, g->source);
		assert_int_equal(s.target.milli, g->target_milli);
		assert_true(s.activation == g->activation);
		assert_null(strstr(s.question->key, "secret"));
		assert_null(s.unknown);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *auth, *message;
} bads[] = {
	{ "queryValue=1|" C AT, NULL,
		"trigger 1 (mongodb): missing required parameter \"query\" in [triggerMetadata]" },
	{ "query={\"a\":1}|" C AT, NULL, "missing required parameter \"queryValue\" in [triggerMetadata]" },
	{ "query={\"a\":1}|queryValue=1|dbName=d|" AT, NULL,
		"missing required parameter \"collection\" in [triggerMetadata]" },
	{ "query={\"a\":1}|queryValue=1|collection=c|" AT, NULL,
		"missing required parameter \"dbName\" in [authParams triggerMetadata]" },
	{ "query={\"a\":1}|queryValue=0|" C AT, "password=p", "\"queryValue\" value \"0\" must be greater than 0" },
	{ Q "activationQueryValue=AA|" AT, "password=p", "unable to set param \"activationQueryValue\" value \"AA\"" },
	{ "query={a|queryValue=1|" C AT, "password=p", "parameter \"query\": failed to parse query: " },
	{ "query={}|queryValue=1|" C AT, "password=p",
		"parameter \"query\": failed to parse query: empty bson document" },
	{ "query=[]|queryValue=1|" C AT, "password=p", "it must be a JSON object" },
	{ Q, "password=secret", "no host given" },
	{ Q "host=db", "password=secret", "no port given" },
	{ Q "host=db|port=1", "password=secret", "no username given" },
	{ Q AT, NULL, "no password given" },
	{ Q "host=db|port=0|username=u", "password=secret", "parameters \"host\" and \"port\" must be" },
	{ Q "host=db/x|port=1|username=u", "password=secret", "parameters \"host\" and \"port\" must be" },
	{ Q "host=db|port=many|username=u", "password=secret", "parameters \"host\" and \"port\" must be" },
	{ Q AT "scheme=http", "password=secret", "scheme must be \"mongodb\" or \"mongodb+srv\"" },
	{ Q "host=db:27017|username=u|scheme=mongodb+srv", "password=secret",
		"parameter \"host\": URI with srv must not include a port number" },
	{ Q "host=a,b|username=u|scheme=mongodb+srv", "password=secret", "one and only one hostname" },
	{ Q "host=::1|username=u|scheme=mongodb+srv", "password=secret", "the host is not a name that could have" },
	{ Q "host=db|scheme=mongodb+srv", "password=secret", "no username given" },
	{ Q AT, "password=secret|tls=enable", "at least one of cert, key, or ca must be provided when TLS is enabled" },
	{ Q AT, "password=secret|tls=enable|cert=x", "\"cert\" and \"key\" belong together: only cert is given" },
	{ Q AT, "password=secret|tls=enable|ca=nonsense", "TLS: CA: no PEM certificate in it" },
	{ Q AT, "password=secret|tls=yes", "param \"tls\"" },
	{ Q, "connectionString=secret", "scheme must be \"mongodb\"" },
	{ Q, SRV "u:secret@/", "must have at least 1 host" },
	{ Q, SRV "u:secret@a.db.test:27017/", "URI with srv must not include a port number" },
	{ Q, SRV "u:secret@a.db.test,b.db.test/", "URI with SRV must include one and only one hostname" },
	{ Q, SRV "u:secret@a%2Fb/", "the host is not a name that could have SRV records" },
	{ Q, SRV "u:secret@db.test/?srvMaxHosts=-1", "option srvMaxHosts must be a whole number" },
	{ Q, SRV "u:secret@db.test/?srvMaxHosts=1&replicaSet=a",
		"srvMaxHosts cannot be a positive value if a replica set name is specified" },
	{ Q, SRV "u:secret@db.test/?srvServiceName=", "option srvServiceName must be between 1 and 62 characters" },
	{ Q, SRV "u:secret@db.test/?srvServiceName=a.b", "option srvServiceName must be between 1 and 62 characters" },
	{ Q, SRV "u:secret@db.test/?srvServiceName=a123456789b123456789c123456789d123456789e123456789f123456789abc",
		"option srvServiceName must be between 1 and 62 characters" },
	{ Q, SRV "u:secret@db.test/?directConnection=true",
		"a direct connection cannot be made if an SRV URI is used" },
	{ Q, SRV "u:secret@db.test/?loadBalanced=true", "option loadBalanced is not supported" },
	{ Q, URI "db/?srvMaxHosts=1", "cannot specify srvMaxHosts on non-SRV URI" },
	{ Q, URI "db/?srvServiceName=x", "cannot specify srvServiceName on non-SRV URI" },
	{ Q, URI "db/?authSource=", "option authSource must be non-empty when supplied in a URI" },
	{ Q, URI, "must have at least 1 host" },
	{ Q, URI ",", "must have at least 1 host" },
	{ Q, URI "u:secret@db?tls=true", "must have a / before the query ?" },
	{ Q, URI "u:sec@ret@db/", "unescaped @ sign in user info" },
	{ Q, URI "u:sec/ret@db/", "unescaped slash in password" },
	{ Q, URI "u:sec:ret@db/", "unescaped colon in password" },
	{ Q, URI "u/x:secret@db/", "unescaped slash in username" },
	{ Q, URI ":secret@db/", "username required" },
	{ Q, URI "u:secret%zz@db/", "user or password is not percent-encoded" },
	{ Q, URI "u:secret%00@db/", "user or password is not percent-encoded" },
	{ Q, URI "u@db/", "no password given" },
	{ Q, URI "u:@db/", "no password given" },
	{ Q, URI "db:0/", "a host is not a name or address" },
	{ Q, URI "db:secret/", "a host is not a name or address" },
	{ Q, URI "a b/", "a host is not a name or address" },
	{ Q, URI "%2Ftmp%2Fmongodb.sock/", "Unix socket" },
	{ Q, URI "db/?secret", "an option is not name=value" },
	{ Q, URI "db/?=secret", "an option is not name=value" },
	{ Q, URI "db/?a=%zz", "an option is not percent-encoded" },
	{ Q, URI "db/?tls=secret", "option tls must be true or false" },
	{ Q, URI "db/?tls=true&ssl=false", "tls and ssl options, when both specified, must be equivalent" },
	{ Q, URI "db/?tlsCAFile=secret", "option tlsCAFile names a file of KEDA's container" },
	{ Q, URI "db/?authMechanism=secret",
		"PLAIN, GSSAPI, MONGODB-AWS, MONGODB-OIDC and MONGODB-CR are not supported" },
	{ Q, URI "db/?authMechanism=SCRAM-SHA-1", "authMechanism is given, but no username" },
	{ Q, URI "u:secret@db/?authMechanism=MONGODB-X509", "password cannot be specified for MONGODB-X509" },
	{ Q, URI "u@db/?authMechanism=MONGODB-X509&authSource=admin", "auth source must be $external" },
	{ Q, URI "u@db/?authMechanism=MONGODB-X509", "needs TLS with a client certificate" },
	{ Q, URI "db/?readPreference=secret", "option readPreference must be primary" },
	{ Q, URI "db/?readPreferenceTags=dc:east", "option readPreferenceTags is not supported" },
	{ Q, URI "db/?maxStalenessSeconds=90", "option maxStalenessSeconds is not supported" },
	{ Q, URI "db/?readConcernLevel=secret", "option readConcernLevel must be local" },
	{ Q, URI "db/?loadBalanced=true", "option loadBalanced is not supported" },
	{ Q, URI "db/?connectTimeoutMS=-1", "option connectTimeoutMS must be a whole number" },
	{ Q, URI "db/?connect=direct&directConnection=false", "options connect and directConnection conflict" },
	{ Q, URI "db/?maxPoolSize=9999999999999999999", "option maxPoolSize must be a whole number" },
	{ Q, URI "db/?connect=secret", "option connect must be automatic or direct" },
	{ Q, URI "a,b/?directConnection=true", "a direct connection cannot be made if multiple hosts are specified" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].metadata, bads[i].auth, NULL, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

static void unknown_keys(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(Q AT "tls=enable|quryValue=2", "password=p", NULL, &s, &err), 0);
	assert_string_equal(s.unknown, "\"quryValue\" (did you mean \"queryValue\"?), \"tls\"");
	scaler_done(&s);
}

/* The user's database, and percent-decoding. */
static void logins(void **state)
{
	static const struct {
		const char *text, *user, *password, *source;
		enum mongoendpoint_mechanism mechanism;
	} rows[] = {
		{ "mongodb://db", NULL, NULL, NULL, MONGOENDPOINT_NO_LOGIN },
		{ "mongodb://db/?authSource=x", NULL, NULL, "x", MONGOENDPOINT_NO_LOGIN },
		{ "mongodb://u:p@db", "u", "p", "admin", MONGOENDPOINT_SCRAM },
		{ "mongodb://u:p@db/shop", "u", "p", "shop", MONGOENDPOINT_SCRAM },
		{ "mongodb://u:p@db/shop?authSource=people", "u", "p", "people", MONGOENDPOINT_SCRAM },
		{ "mongodb://u%40x:p+%2F%3A@db/sh%6fp?authMechanism=SCRAM-SHA-1", "u@x", "p+/:", "shop",
			MONGOENDPOINT_SCRAM_SHA1 },
		{ "mongodb://db/?authSource=a+b%24", NULL, NULL, "a b$", MONGOENDPOINT_NO_LOGIN },
		{ "mongodb://CN=u@db/?authMechanism=MONGODB-X509&authSource=$external", "CN=u", NULL, "$external",
			MONGOENDPOINT_X509 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct mongouri u;
		struct err err = { 0 };

		if (mongouri_parse(rows[i].text, &u, &err) || mongouri_settle_login(&u, &err))
			fail_msg("%s: %s", rows[i].text, err.msg);
		assert_true(!u.user == !rows[i].user && (!u.user || strcmp(u.user, rows[i].user) == 0));
		assert_true(
			!u.password == !rows[i].password && (!u.password || strcmp(u.password, rows[i].password) == 0));
		assert_true(!u.source == !rows[i].source && (!u.source || strcmp(u.source, rows[i].source) == 0));
		assert_int_equal(u.mechanism, rows[i].mechanism);
		mongouri_done(&u);
	}
}

/* Everything that changes the answer is part of the question; thresholds and names are not. */
static void questions(void **state)
{
	static const struct {
		const char *a, *auth_a, *b, *auth_b;
		bool same;
	} pairs[] = {
		{ Q AT, "password=p", "query={\"done\":false}|queryValue=9|activationQueryValue=3|" C AT, "password=p",
			true },
		/* Without a connection string KEDA takes dbName as the user's database. */
		{ Q AT, "password=p", Q, URI "u:p@db/shop", true },
		{ Q AT, "password=p", Q, URI "u:p@db/", false },
		{ Q, URI "u:p@db/?socketTimeoutMS=1&w=1", Q, URI "u:p@db:27017", true },
		{ Q, URI "u:p@db/?maxIdleTimeMS=999999999999&maxStalenessSeconds=0&authMechanism=&readPreference=", Q,
			URI "u:p@db/?readConcernLevel=&directConnection=False&connect=automatic", true },
		{ Q, URI "db/?connect=direct", Q, URI "db/?directConnection=TRUE&connect=Direct", true },
		/* An option that is only about TLS implies TLS. */
		{ Q, URI "db/?tls=true", Q, URI "db/?tlsDisableOCSPEndpointCheck=false", true },
		{ Q AT, "password=p", Q AT, "password=q", false },
		{ Q AT, "password=p", "query={\"done\":true}|queryValue=5|" C AT, "password=p", false },
		{ Q, URI "db", "query={\"done\":false}|queryValue=5|dbName=sho|collection=pjobs", URI "db", false },
		{ Q, URI "db", Q, URI "db2", false },
		{ Q, URI "db", Q, URI "db,db2", false },
		{ Q, URI "db", Q, URI "db/?replicaSet=rs0", false },
		{ Q, URI "db", Q, URI "db/?directConnection=true", false },
		{ Q, URI "db", Q, URI "db/?readPreference=nearest", false },
		{ Q, URI "db", Q, URI "db/?readConcernLevel=majority", false },
		{ Q, URI "db", Q, URI "db/?tls=true", false },
		{ Q, URI "db/?tls=true&tlsInsecure=true", Q, URI "db/?tls=true", false },
		{ Q, URI "u:p@db/?authMechanism=SCRAM-SHA-1", Q, URI "u:p@db", false },
		{ Q, URI "u:p@db/?authSource=x", Q, URI "u:p@db", false },
		/* What is looked up, and what its TXT record may override. */
		{ Q, SRV "u:p@db", Q, URI "u:p@db/?tls=true", false },
		{ Q, SRV "u:p@db", Q, SRV "u:p@db/?tls=true&srvServiceName=mongodb&srvMaxHosts=0", true },
		{ Q, SRV "u:p@db", Q, SRV "u:p@db/?tls=false", false },
		{ Q, SRV "u:p@db", Q, SRV "u:p@db2", false },
		{ Q, SRV "u:p@db", Q, SRV "u:p@db/?srvServiceName=other", false },
		{ Q, SRV "u:p@db", Q, SRV "u:p@db/?srvMaxHosts=1", false },
		{ Q, SRV "u:p@db", Q, SRV "u:p@db/?authSource=admin", false },
		{ Q, SRV "u:p@db", Q, SRV "u:p@db/?loadBalanced=false", false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(pairs); i++) {
		struct scaler a, b;
		struct err err = { 0 };

		if (build(pairs[i].a, pairs[i].auth_a, NULL, &a, &err) ||
			build(pairs[i].b, pairs[i].auth_b, NULL, &b, &err))
			fail_msg("%zu: %s", i, err.msg);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%zu: \"%s\" and \"%s\"", i, a.question->key, b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}

/* ---- Asking a closed port, through the whole type ---- */

static void on_answer(void *arg, const struct answer *answer, const struct err *err)
{
	struct err *out = arg;

	assert_null(answer);
	*out = *err;
}

static void nobody_there(void **state)
{
	struct err err = { 0 }, told = { 0 };
	struct scaler_sources sources = { .loop = loop_new(&err) };
	struct scaler s;
	void *ask;

	(void)state;
	sources.mongo = mongo_new(sources.loop, NULL);
	assert_int_equal(build(Q URI "127.0.0.1:1", NULL, NULL, &s, &err), 0);
	question_ask(s.question, &sources, loop_now_ms(sources.loop) + 5000, on_answer, &told);
	while (told.kind == ERR_NONE)
		loop_turn(sources.loop);
	assert_string_equal(told.msg, "mongodb at 127.0.0.1:1: connecting: Connection refused");
	told.kind = ERR_NONE;
	ask = question_ask(s.question, &sources, loop_now_ms(sources.loop) + 5000, on_answer, &told);
	question_cancel(ask);
	scaler_done(&s);
	pool_free(sources.mongo);
	loop_free(sources.loop);
	assert_int_equal(told.kind, ERR_NONE);
}

static int build_of_row(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	return build(metadata, auth, NULL, out, err);
}

static void tls_may_be_required(void **state)
{
	static const struct tlsrow rows[] = {
		{ Q AT, "password=p", false },
		{ Q, URI "db", false },
		{ Q, URI "db/?tls=false", false },
		{ Q, URI "db/?tls=true", true },
		{ Q, URI "db/?tls=true&tlsInsecure=true", true },
		{ Q, SRV "db.test", true },
		{ Q, SRV "db.test/?ssl=false", false },
		{ Q AT "scheme=mongodb+srv", "password=p", true },
	};

	(void)state;
	tlsrows_check(rows, MEM_COUNT(rows), build_of_row, "set tls");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(unknown_keys),
		cmocka_unit_test(logins),
		cmocka_unit_test(questions),
		cmocka_unit_test(tls_may_be_required),
		cmocka_unit_test(nobody_there),
	};

	return cmocka_run_group_tests_name("scalers/mongodb/mongodb", tests, NULL, NULL);
}
