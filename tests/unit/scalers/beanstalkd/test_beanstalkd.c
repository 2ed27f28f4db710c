/* SPDX-License-Identifier: Apache-2.0 */

/* The parameters of the beanstalkd trigger (doc/keda.md 8.29). */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../pairs.h"
#include "base/mem.h"
#include "net/tls/tlsrules.h"
#include "scalers/scaler.h"

static int build(const char *metadata, const char *auth, struct scaler *out, struct err *err)
{
	const struct scaler_params params = { .type = "beanstalkd", .index = 1 };

	return pairs_build(&params, metadata, auth, NULL, out, err);
}

static const struct {
	const char *metadata, *metric;
	int64_t target_milli, timeout_ms;
	double activation;
} goods[] = {
	{ "server=b:11300|tube=jobs|value=5", "s1-beanstalkd-jobs", 5000, 0, 0 },
	{ "server=b:11300|tube=a/b.c+d_e|value=2.5|activationValue=3|includeDelayed=true|timeout=10s",
		"s1-beanstalkd-a-2Fb-c-2Bd_e", 2500, 10000, 3 },
	{ "server=b:11300|tube=jobs|value=5|timeout=30", "s1-beanstalkd-jobs", 5000, 30, 0 },
};

static void accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(goods); i++) {
		struct scaler s;
		struct err err = { 0 };

		if (build(goods[i].metadata, NULL, &s, &err))
			fail_msg("%s: %s", goods[i].metadata, err.msg);
		assert_string_equal(s.metric_name, goods[i].metric);
		assert_string_equal(s.question->source, "beanstalkd b:11300");
		assert_int_equal(s.target.milli, goods[i].target_milli);
		assert_int_equal(s.question->timeout_ms, goods[i].timeout_ms);
		assert_true(s.activation == goods[i].activation);
		assert_null(s.unknown);
		scaler_done(&s);
	}
}

static const struct {
	const char *metadata, *message;
} bads[] = {
	{ "tube=jobs|value=5", "trigger 1 (beanstalkd): missing required parameter \"server\" in [triggerMetadata]" },
	{ "server=b:11300|value=5", "missing required parameter \"tube\"" },
	{ "server=b:11300|tube=jobs", "missing required parameter \"value\"" },
	{ "server=b:11300|tube=jobs|value=0", "\"value\" value \"0\" must be greater than 0" },
	{ "server=b:11300|tube=jobs|value=5|includeDelayed=perhaps", "\"includeDelayed\" value \"perhaps\"" },
	{ "server=b:11300|tube=jobs|value=5|timeout=-1s", "\"timeout\" value \"-1s\"" },
	{ "server=b|tube=jobs|value=5",
		"parameter \"server\": must be host:port, such as beanstalkd.default.svc:11300" },
	{ "server=b:11300|tube=two words|value=5",
		"parameter \"tube\" must have letters, digits and -+/;.$_() only, and not begin with -, but is \"two "
		"words\"" },
};

static void rejected(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bads); i++) {
		struct scaler s;
		struct err err = { 0 };
		int rc = build(bads[i].metadata, NULL, &s, &err);

		pairs_refused(rc, bads[i].metadata, &err, bads[i].message);
	}
}

#define BASE "server=b:11300|tube=jobs|value=5"

static void questions(void **state)
{
	static const struct pairs_question others[] = {
		{ "server=b:11300|tube=jobs|value=9|activationValue=3|includeDelayed=false", NULL, true },
		{ "server=c:11300|tube=jobs|value=5", NULL, false },
		{ "server=b:11300|tube=mail|value=5", NULL, false },
		{ BASE "|includeDelayed=true", NULL, false },
		{ BASE "|timeout=10s", NULL, false },
	};

	(void)state;
	pairs_questions(others, MEM_COUNT(others), BASE, NULL, build);
}

static void with_tls_required(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(tlsrules_set(&(struct tlsrules_config){ .required = true }, &err), 0);
	assert_int_equal(build(BASE, NULL, &s, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_non_null(strstr(err.msg, "beanstalkd has no TLS, so this trigger cannot be used"));
	tlsrules_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rejected),
		cmocka_unit_test(questions),
		cmocka_unit_test(with_tls_required),
	};

	return cmocka_run_group_tests_name("scalers/beanstalkd", tests, NULL, NULL);
}
