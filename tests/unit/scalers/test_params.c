/* SPDX-License-Identifier: Apache-2.0 */
/* One parameter of a trigger: where it is looked for, what it may be, and what is said of it when it is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scalers/params.h"

static struct given {
	struct strmap metadata, auth, env, unresolved;
	struct scaler_params params;
} t;

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.params = (struct scaler_params){ .type = "x", .metadata = &t.metadata, .auth = &t.auth, .env = &t.env, .unresolved = &t.unresolved };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	strmap_done(&t.metadata);
	strmap_done(&t.auth);
	strmap_done(&t.env);
	strmap_done(&t.unresolved);
	return 0;
}

static const struct param everywhere = { { "count", "number" }, { PARAM_METADATA, PARAM_AUTH, PARAM_ENV }, false };
static const struct param required = { { "count" }, { PARAM_METADATA, PARAM_AUTH }, true };

static void expect_text(const struct param *p, const char *wanted)
{
	char *text;

	assert_int_equal(param_text(&t.params, p, &text, NULL), 0);
	if (wanted)
		assert_string_equal(text, wanted);
	else
		assert_null(text);
	free(text);
}

static void sources_and_aliases_go_in_order(void **state)
{
	(void)state;
	expect_text(&everywhere, NULL);
	strmap_set(&t.env, "COUNT", "4");
	strmap_set(&t.metadata, "numberFromEnv", "COUNT");
	expect_text(&everywhere, "4");
	strmap_set(&t.auth, "number", " 3\n");
	expect_text(&everywhere, "3");
	strmap_set(&t.metadata, "number", "2");
	expect_text(&everywhere, "2");
	strmap_set(&t.metadata, "count", "1");
	expect_text(&everywhere, "1");
	strmap_set(&t.metadata, "count", "  ");
	expect_text(&everywhere, "2");
}

static void expect_error(int result, const struct err *err, const char *message)
{
	assert_int_equal(result, -1);
	assert_int_equal(err->kind, ERR_INVALID);
	assert_string_equal(err->msg, message);
}

static void what_is_missing_is_named(void **state)
{
	struct err err = { 0 };
	char *text;

	(void)state;
	expect_error(param_text(&t.params, &required, &text, &err), &err, "missing required parameter \"count\" in [triggerMetadata authParams]");
	strmap_set(&t.metadata, "countFromEnv", "COUNT");
	expect_error(param_text(&t.params, &everywhere, &text, &err), &err, "parameter \"countFromEnv\": the target's container has no environment variable COUNT with a value");
	strmap_set(&t.unresolved, "COUNT", "comes from Secret creds key x");
	expect_error(param_text(&t.params, &everywhere, &text, &err), &err, "parameter \"countFromEnv\": environment variable COUNT of the target's container comes from Secret creds key x");
}

static void whole_numbers(void **state)
{
	static const struct { const char *text; int64_t value; bool wrong; } cases[] = {
		{ "0", 0, false }, { "-7", -7, false }, { "9223372036854775807", INT64_MAX, false }, { "9223372036854775808", 0, true }, { "1.5", 0, true },
		{ "+1", 0, true }, { "01", 0, true }, { "1e3", 0, true }, { "five", 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value = 0;

		strmap_set(&t.metadata, "count", cases[i].text);
		assert_int_equal(param_int64(&t.params, &everywhere, &value, NULL), cases[i].wrong ? -1 : 0);
		assert_int_equal(value, cases[i].value);
	}
}

/* A password in the wrong place must not come out in a status. */
static void only_metadata_is_shown(void **state)
{
	struct err err = { 0 };
	int64_t number = 5;
	bool yes = true;

	(void)state;
	strmap_set(&t.metadata, "count", "s3cret");
	expect_error(param_int64(&t.params, &everywhere, &number, &err), &err, "unable to set param \"count\" value \"s3cret\": must be a whole number");
	expect_error(param_bool(&t.params, &everywhere, &yes, &err), &err, "unable to set param \"count\" value \"s3cret\": must be true or false");
	strmap_remove(&t.metadata, "count");
	strmap_set(&t.auth, "count", "s3cret");
	expect_error(param_int64(&t.params, &everywhere, &number, &err), &err, "unable to set param \"count\" value from authParams (not shown): must be a whole number");
	strmap_remove(&t.auth, "count");
	strmap_set(&t.metadata, "countFromEnv", "COUNT");
	strmap_set(&t.env, "COUNT", "s3cret");
	expect_error(param_bool(&t.params, &everywhere, &yes, &err), &err, "unable to set param \"count\" value from resolvedEnv (not shown): must be true or false");
	assert_int_equal(number, 5);
	assert_true(yes);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(sources_and_aliases_go_in_order),
		CASE(what_is_missing_is_named),
		CASE(whole_numbers),
		CASE(only_metadata_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
