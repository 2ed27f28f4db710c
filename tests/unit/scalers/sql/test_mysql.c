/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of the mysql trigger (KEDA's mysql_scaler.go): accepted, defaulted, rejected with
 * their message. test_mysqlpool.c and the live tests cover the server's answers.
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
#include "net/mysql/mysqlpool.h"
#include "scalers/params.h"
#include "scalers/scaler.h"
#include "scalers/sources.h"

static int build(const char *metadata, const char *auth, const char *env, const char *metric_type, struct scaler *out,
	struct err *err)
{
	const struct scaler_params params = { .type = "mysql", .index = 1, .metric_type = metric_type };

	return pairs_build(&params, metadata, auth, env, out, err);
}

#define Q  "query=SELECT 1|queryValue=5|"
#define AT "host=db|port=3306|username=u|dbName=shop|"

struct good {
	const char *metadata, *auth, *env;
	const char *metric, *source;
	int64_t target_milli;
	double activation;
};

static const struct good goods[] = {
	{ Q AT, NULL, NULL, "s1-mysql-shop", "mysql db:3306", 5000, 0 },
	{ Q AT "passwordFromEnv=P", NULL, "P=secret", "s1-mysql-shop", "mysql db:3306", 5000, 0 },
	{ Q, "host=a|port=1|username=u|password=p|dbName=x.y/z", NULL, "s1-mysql-x-y-z", "mysql a:1", 5000, 0 },
	{ Q AT, "host=other|port=1|username=v|dbName=no", NULL, "s1-mysql-shop", "mysql db:3306", 5000, 0 },
	{ Q "host=db|username=u|dbName=shop", NULL, NULL, "s1-mysql-shop", "mysql db:3306", 5000, 0 },
	{ Q "host=db|username=u", NULL, NULL, "s1-mysql-", "mysql db:3306", 5000, 0 },
	/* KEDA does not read it from the environment, so it is not in the name */
	{ Q "host=db|username=u|dbNameFromEnv=D", NULL, "D=shop", "s1-mysql-", "mysql db:3306", 5000, 0 },
	{ Q "host=db|username=u|dbNameFromEnv=D", "dbName=mine", "D=shop", "s1-mysql-mine", "mysql db:3306", 5000, 0 },
	{ Q "host=::1|port=3307|usernameFromEnv=U", NULL, "U=u", "s1-mysql-", "mysql [::1]:3307", 5000, 0 },
	{ Q "hostFromEnv=H|portFromEnv=P|usernameFromEnv=U|dbNameFromEnv=D", NULL, "H=db|P=3307|U=u|D=shop",
		"s1-mysql-", "mysql db:3307", 5000, 0 },
	{ Q "host=[::1]|port=3307|username=u", NULL, NULL, "s1-mysql-", "mysql [::1]:3307", 5000, 0 },
	{ Q "host=/run/mysqld/mysqld.sock|username=u", NULL, NULL, "s1-mysql-", "mysql /run/mysqld/mysqld.sock", 5000,
		0 },
	{ "query=SELECT 1|queryValue=2.5|activationQueryValue=-0.5|metricName=old|" AT, NULL, NULL, "s1-mysql-shop",
		"mysql db:3306", 2500, -0.5 },
	{ Q "connectionStringFromEnv=C", NULL, "C=user:pw@tcp(my.mysql.dev:3306)/stats_db", "s1-mysql-stats_db",
		"mysql my.mysql.dev:3306", 5000, 0 },
	{ Q "connectionStringFromEnv=C|" AT, "connectionString=u:p:w@/@tcp(auth)/a", "C=u@tcp(env)/e", "s1-mysql-a",
		"mysql auth:3306", 5000, 0 },
	/* As in KEDA: the part after the last slash. */
	{ Q, "connectionString=u:p@tcp([::1]:7)/db?timeout=5s&tls=skip-verify", NULL,
		"s1-mysql-db?timeout=5s&tls=skip-verify", "mysql [::1]:7", 5000, 0 },
	{ Q, "connectionString=u:p@unix(/run/m.sock)/db", NULL, "s1-mysql-db", "mysql /run/m.sock", 5000, 0 },
	{ Q, "connectionString=u@/", NULL, "s1-mysql-", "mysql 127.0.0.1:3306", 5000, 0 },
	{ Q, "connectionString=u@tcp/d", NULL, "s1-mysql-d", "mysql 127.0.0.1:3306", 5000, 0 },
	{ Q, "connectionString=u@tcp(::1)/d", NULL, "s1-mysql-d", "mysql [::1]:3306", 5000, 0 },
	{ Q, "connectionString=u@unix/d", NULL, "s1-mysql-d", "mysql /tmp/mysql.sock", 5000, 0 },
	{ Q,
		"connectionString=u@tcp(h)/"
		"d?parseTime=true&loc=UTC&readTimeout=1m&charset=utf8mb4,utf8&collation=utf8mb4_bin&maxAllowedPacket=-"
		"1&interpolateParams=1&sql_mode=%27ANSI%27&novalue&multiStatements=true",
		NULL,
		"s1-mysql-d?parseTime=true&loc=UTC&readTimeout=1m&charset=utf8mb4,utf8&collation=utf8mb4_bin&"
		"maxAllowedPacket=-1&interpolateParams=1&sql_mode=-27ANSI-27&novalue&multiStatements=true",
		"mysql h:3306", 5000, 0 },
	{ Q, "connectionString=u@tcp(h)/d?allowCleartextPasswords=true&tls=true", NULL,
		"s1-mysql-d?allowCleartextPasswords=true&tls=true", "mysql h:3306", 5000, 0 },
	{ Q, "connectionString=u@tcp(h)/d?allowFallbackToPlaintext=true&tls=skip-verify", NULL,
		"s1-mysql-d?allowFallbackToPlaintext=true&tls=skip-verify", "mysql h:3306", 5000, 0 },
	{ Q AT "tls=true", NULL, NULL, "s1-mysql-shop", "mysql db:3306", 5000, 0 },
	{ Q AT, "tls=preferred", NULL, "s1-mysql-shop", "mysql db:3306", 5000, 0 },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		const struct good *g = &goods[i];
		struct scaler s;
		struct err err = { 0 };

		if (build(g->metadata, g->auth, g->env, NULL, &s, &err))
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
	const char *metadata, *auth, *env, *metric_type, *message;
} bads[] = {
	{ "queryValue=1|" AT, NULL, NULL, NULL,
		"trigger 1 (mysql): missing required parameter \"query\" in [triggerMetadata]" },
	{ "query=SELECT 1|" AT, NULL, NULL, NULL, "missing required parameter \"queryValue\" in [triggerMetadata]" },
	{ "query=SELECT 1|queryValue=0|" AT, NULL, NULL, NULL,
		"parameter \"queryValue\" value \"0\" must be greater than 0" },
	{ "query=SELECT 1|queryValue=-1|" AT, NULL, NULL, NULL, "\"queryValue\" value \"-1\"" },
	{ "query=SELECT 1|queryValue=many|" AT, NULL, NULL, NULL, "unable to set param \"queryValue\" value \"many\"" },
	{ Q AT "activationQueryValue=AA", NULL, NULL, NULL,
		"unable to set param \"activationQueryValue\" value \"AA\"" },
	{ Q, NULL, NULL, NULL, "no host given" },
	{ Q "host=db", NULL, NULL, NULL, "no username given" },
	{ Q "host=db|username=u|port=0", NULL, NULL, NULL, "the port must be a number from 1 to 65535" },
	{ Q "host=db|username=u|port=mysql", NULL, NULL, NULL, "\"host\" and \"port\": the port must be a number" },
	{ Q "host=mysql://db|username=u", NULL, NULL, NULL, "\"host\" must be a name or an address" },
	{ Q "host=a,b|username=u", NULL, NULL, NULL, "\"host\" must be a name or an address" },
	{ Q "host=a b|username=u", NULL, NULL, NULL, "the host must be the name" },
	{ Q AT "passwordFromEnv=NOPE", NULL, NULL, NULL, "the target's container has no environment variable NOPE" },
	{ Q AT, NULL, NULL, "Utilization", "'Utilization' metric type is unsupported" },
	{ Q AT "tls=yes", NULL, NULL, NULL,
		"param \"tls\" value \"yes\": must be one of false, true, skip-verify, preferred" },
	{ Q AT, "cert=x", NULL, NULL, "\"cert\" and \"key\" belong together: only cert is given" },
	{ Q AT "tls=false", "ca=x", NULL, NULL, "parameter \"ca\" is given, but tls is false" },
	{ Q AT "tls=skip-verify", "ca=x", NULL, NULL, "tls=skip-verify does not verify the server" },
	{ Q AT, "ca=nonsense", NULL, NULL, "TLS: CA: no PEM certificate in it" },
	{ Q "tls=true", "connectionString=u:secret@tcp(h)/d?tls=true", NULL, NULL,
		"the connection string sets tls already" },
	{ Q "host=/s|username=u|tls=true", NULL, NULL, NULL, "a Unix socket has no name to verify" },
	{ Q, "connectionString=secret", NULL, NULL, "there is no slash between the address and the database" },
	{ Q, "connectionString=u:secret/secret@tcp(h:1)", NULL, NULL,
		"there is no slash between the address and the database" },
	{ Q, "connectionString=u:secret@tcp(h:1/d", NULL, NULL, "the address has no closing parenthesis" },
	{ Q, "connectionString=u:secret@tcp(h:1)x/d", NULL, NULL, "between the address and the slash" },
	{ Q, "connectionString=u:secret@cloudsql(h)/d", NULL, NULL, "must be tcp or unix" },
	{ Q, "connectionString=u:secret@tcp(h:secret)/d", NULL, NULL, "the port must be a number" },
	{ Q, "connectionString=u:secret@tcp(http://h:1)/d", NULL, NULL, "must be host:port, not a URL" },
	{ Q, "connectionString=:secret@tcp(h)/d", NULL, NULL, "no username given" },
	{ Q, "connectionString=u:secret@tcp(h)/d%zz", NULL, NULL, "the database is not percent-encoded" },
	{ Q, "connectionString=u:secret@tcp(h)/d?tls=secret", NULL, NULL,
		"parameter \"tls\" must be true, skip-verify, preferred or false" },
	{ Q, "connectionString=u:secret@tcp(h)/d?parseTime=secret", NULL, NULL,
		"parameter \"parseTime\" must be true or false" },
	{ Q, "connectionString=u:secret@tcp(h)/d?timeout=secret", NULL, NULL,
		"parameter \"timeout\" must be a duration" },
	{ Q, "connectionString=u:secret@tcp(h)/d?maxAllowedPacket=secret", NULL, NULL,
		"parameter \"maxAllowedPacket\" must be a whole number" },
	{ Q, "connectionString=u:secret@tcp(h)/d?charset=secret;", NULL, NULL,
		"parameter \"charset\" must be the name of a character set" },
	{ Q, "connectionString=u:secret@tcp(h)/d?collation=", NULL, NULL,
		"parameter \"collation\" must be the name of a collation" },
	{ Q, "connectionString=u:secret@tcp(h)/d?serverPubKey=secret", NULL, NULL,
		"parameter \"serverPubKey\" must be left out" },
	{ Q, "connectionString=u:secret@tcp(h)/d?strict=true", NULL, NULL, "parameter \"strict\" must be left out" },
	{ Q, "connectionString=u:secret@tcp(h)/d?allowFallbackToPlaintext=true&tls=true", NULL, NULL,
		"\"allowFallbackToPlaintext\" must be false with tls=true" },
	{ Q, "connectionString=u:secret@tcp(h)/d?allowCleartextPasswords=true", NULL, NULL, "only with TLS" },
	{ Q, "connectionString=u:secret@tcp(h)/d?sec;ret=1", NULL, NULL, "a parameter's name is not valid" },
	{ Q, "connectionString=u:secret@tcp(h)/d?x=%0", NULL, NULL, "a system variable is not percent-encoded" },
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

static void unknown_keys(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(Q AT "targetQueryValue=1|querValue=2|connectionString=u@tcp(h)/d|password=x", NULL, NULL,
				 NULL, &s, &err),
		0);
	assert_string_equal(s.unknown,
		"\"connectionString\" (did you mean \"connectionStringFromEnv\"?), \"password\" (did you mean "
		"\"passwordFromEnv\"?), \"querValue\" (did you mean \"queryValue\"?), \"targetQueryValue\" (did you "
		"mean "
		"\"queryValue\"?)");
	scaler_done(&s);
}

/* Thresholds and names are not part of a question; everything that changes the answer is. */
static void questions(void **state)
{
	static const struct {
		const char *a, *auth_a, *b, *auth_b;
		bool same;
	} pairs[] = {
		{ Q AT, "password=p", "query=SELECT 1|queryValue=9|activationQueryValue=3|" AT, "password=p", true },
		{ Q AT, "password=p", Q, "connectionString=u:p@tcp(db)/shop", true },
		{ Q, "connectionString=u:p@tcp(db)/shop?timeout=1s&parseTime=true", Q,
			"connectionString=u:p@tcp(db:3306)/shop?timeout=2s&tls=false", true },
		{ Q AT, NULL, "query=SELECT 2|queryValue=5|" AT, NULL, false },
		{ Q AT, "password=p", Q AT, "password=q", false },
		{ Q AT, NULL, Q AT "tls=true", NULL, false },
		{ Q AT "tls=preferred", NULL, Q AT "tls=skip-verify", NULL, false },
		{ Q, "connectionString=u@tcp(db)/shop", Q, "connectionString=v@tcp(db)/shop", false },
		{ Q, "connectionString=u@tcp(db)/shop", Q, "connectionString=u@tcp(db)/other", false },
		{ Q, "connectionString=u@tcp(db)/shop", Q, "connectionString=u@tcp(db)/shop?time_zone=%27UTC%27",
			false },
		{ Q, "connectionString=u@tcp(db)/shop", Q, "connectionString=u@tcp(db)/shop?collation=utf8mb4_bin",
			false },
		{ Q, "connectionString=u@tcp(db)/shop", Q, "connectionString=u@tcp(db)/shop?multiStatements=true",
			false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct scaler a, b;
		struct err err;

		assert_int_equal(build(pairs[i].a, pairs[i].auth_a, NULL, NULL, &a, &err), 0);
		assert_int_equal(build(pairs[i].b, pairs[i].auth_b, NULL, NULL, &b, &err), 0);
		if ((strcmp(a.question->key, b.question->key) == 0) != pairs[i].same)
			fail_msg("%zu: \"%s\" and \"%s\"", i, a.question->key, b.question->key);
		scaler_done(&a);
		scaler_done(&b);
	}
}

/* ---- Asking a port on which nobody listens: through the type, to its end ---- */

static void on_answer(void *arg, const struct answer *answer, const struct err *err)
{
	struct err *out = arg;

	assert_null(answer);
	*out = *err;
}

static void connection_refused(void **state)
{
	struct err err = { 0 }, told = { 0 };
	struct scaler_sources sources = { .loop = loop_new(&err) };
	struct scaler s;
	void *ask;

	(void)state;
	sources.mysql = mysqlpool_new(sources.loop);
	/* An existing file and a missing one give the same error. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(build(i ? Q "host=/etc/passwd|username=u" : Q "host=/etc/there-is-none|username=u",
					 NULL, NULL, NULL, &s, &err),
			0);
		question_ask(s.question, &sources, loop_now_ms(sources.loop) + 5000, on_answer, &told);
		while (told.kind == ERR_NONE)
			loop_turn(sources.loop);
		assert_string_equal(told.msg,
			i ? "mysql at /etc/passwd: connecting: the Unix socket cannot be connected to"
			  : "mysql at /etc/there-is-none: connecting: the Unix socket cannot be connected to");
		told.kind = ERR_NONE;
		scaler_done(&s);
	}
	assert_int_equal(build(Q "host=127.0.0.1|port=1|username=u", NULL, NULL, NULL, &s, &err), 0);
	question_ask(s.question, &sources, loop_now_ms(sources.loop) + 5000, on_answer, &told);
	while (told.kind == ERR_NONE)
		loop_turn(sources.loop);
	assert_string_equal(told.msg, "mysql at 127.0.0.1:1: connecting: Connection refused");
	told.kind = ERR_NONE;
	ask = question_ask(s.question, &sources, loop_now_ms(sources.loop) + 5000, on_answer, &told);
	question_cancel(ask);
	scaler_done(&s);
	pool_free(sources.mysql);
	loop_free(sources.loop);
	assert_int_equal(told.kind, ERR_NONE);
}

static int build_of_row(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	return build(metadata, auth, NULL, NULL, out, err);
}

static void tls_may_be_required(void **state)
{
	static const struct tlsrow rows[] = {
		{ Q AT, NULL, false },
		{ Q AT "tls=false", NULL, false },
		{ Q AT "tls=preferred", NULL, false },
		{ Q AT "tls=true", NULL, true },
		{ Q AT "tls=skip-verify", NULL, true },
		{ Q "host=/run/mysqld/mysqld.sock|username=u", NULL, true },
		{ Q, "connectionString=u:p@tcp(h:1)/d", false },
		{ Q, "connectionString=u:p@tcp(h:1)/d?tls=preferred", false },
		{ Q, "connectionString=u:p@tcp(h:1)/d?tls=skip-verify", true },
		{ Q, "connectionString=u:p@tcp(h:1)/d?allowFallbackToPlaintext=true&tls=skip-verify", false },
		{ Q, "connectionString=u:p@tcp(h:1)/d?tls=true", true },
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
		cmocka_unit_test(questions),
		cmocka_unit_test(tls_may_be_required),
		cmocka_unit_test(connection_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
