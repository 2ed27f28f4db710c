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
#include "scalers/scalerbuild.h"

static int build(const char *metadata, struct scaler *out, struct err *err)
{
	struct strmap m = { 0 };
	struct scaler_params params = { .type = "beanstalkd", .index = 1, .metadata = &m };
	int failed;

	pairs_fill(&m, metadata);
	failed = scaler_build(&params, out, err);
	strmap_done(&m);
	return failed;
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

		if (build(goods[i].metadata, &s, &err))
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

		if (build(bads[i].metadata, &s, &err) == 0)
			fail_msg("%s was accepted", bads[i].metadata);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, bads[i].message))
			fail_msg("%s: said \"%s\", not \"%s\"", bads[i].metadata, err.msg, bads[i].message);
	}
}

#define BASE "server=b:11300|tube=jobs|value=5"

static void questions(void **state)
{
	static const struct {
		const char *metadata;
		bool same;
	} others[] = {
		{ "server=b:11300|tube=jobs|value=9|activationValue=3|includeDelayed=false", true },
		{ "server=c:11300|tube=jobs|value=5", false },
		{ "server=b:11300|tube=mail|value=5", false },
		{ BASE "|includeDelayed=true", false },
		{ BASE "|timeout=10s", false },
	};
	struct scaler first;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(build(BASE, &first, &err), 0);
	for (size_t i = 0; i < MEM_COUNT(others); i++) {
		struct scaler s;

		assert_int_equal(build(others[i].metadata, &s, &err), 0);
		if ((strcmp(s.question->key, first.question->key) == 0) != others[i].same)
			fail_msg("%s: %s", others[i].metadata,
				others[i].same ? "another question" : "the same question");
		scaler_done(&s);
	}
	scaler_done(&first);
}

static void with_tls_required(void **state)
{
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(tlsrules_set(&(struct tlsrules_config){ .required = true }, &err), 0);
	assert_int_equal(build(BASE, &s, &err), -1);
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
