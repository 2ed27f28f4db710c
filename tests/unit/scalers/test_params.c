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
static const struct param env_first = { { "count" }, { PARAM_METADATA, PARAM_ENV, PARAM_AUTH }, false };
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
	assert_int_equal(param_text(&t.params, &required, &text, NULL), -1); /* nobody wants to know why */
	expect_error(param_text(&t.params, &required, &text, &err), &err, "missing required parameter \"count\" in [triggerMetadata authParams]");
	strmap_set(&t.metadata, "countFromEnv", "COUNT");
	expect_error(param_text(&t.params, &everywhere, &text, &err), &err, "parameter \"countFromEnv\": the target's container has no environment variable COUNT with a value");
	expect_error(param_text(&t.params, &env_first, &text, &err), &err, "parameter \"countFromEnv\": the target's container has no environment variable COUNT with a value");
	strmap_set(&t.auth, "count", "3");
	expect_text(&env_first, "3"); /* what is not there leaves the word to what comes behind it */
	strmap_remove(&t.auth, "count");
	strmap_set(&t.unresolved, "COUNT", "comes from Secret creds key x");
	expect_error(param_text(&t.params, &everywhere, &text, &err), &err, "parameter \"countFromEnv\": environment variable COUNT of the target's container comes from Secret creds key x");
	strmap_set(&t.auth, "count", "3");
	expect_error(param_text(&t.params, &env_first, &text, &err), &err, "parameter \"countFromEnv\": environment variable COUNT of the target's container comes from Secret creds key x");
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

/* --- every reader, every form ------------------------------------------------------------------------------------------------- */

static void given(const char *text)
{
	strmap_set(&t.metadata, "count", text);
}

static void numbers(void **state)
{
	static const struct { const char *text; double value; bool wrong; } cases[] = {
		{ "0", 0, false }, { "-0", -0.0, false }, { "-7", -7, false }, { "2.5", 2.5, false }, { "1e3", 1000, false }, { "1E+3", 1000, false }, { "25e-1", 2.5, false }, { "0.5", 0.5, false },
		{ " 3 ", 3, false }, { "1.7976931348623157e308", 1.7976931348623157e308, false }, { ".5", 0, true }, { "5.", 0, true }, { "+1", 0, true }, { "05", 0, true }, { "0x10", 0, true },
		{ "NaN", 0, true }, { "Inf", 0, true }, { "null", 0, true }, { "1e999", 0, true }, { "1e", 0, true }, { "1e+", 0, true }, { "-", 0, true }, { "1 2", 0, true }, { "1,5", 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double value = 0;

		given(cases[i].text);
		assert_int_equal(param_double(&t.params, &everywhere, &value, NULL), cases[i].wrong ? -1 : 0);
		assert_true(value == cases[i].value);
	}
}

static void switches(void **state)
{
	static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True", " true " }, *const no[] = { "0", "f", "F", "FALSE", "false", "False" }, *const wrong[] = { "yes", "on", "tRUE", "2", "enable" };
	bool value;

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		value = false;
		given(yes[i]);
		assert_int_equal(param_bool(&t.params, &everywhere, &value, NULL), 0);
		assert_true(value);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		value = true;
		given(no[i]);
		assert_int_equal(param_bool(&t.params, &everywhere, &value, NULL), 0);
		assert_false(value);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		given(wrong[i]);
		assert_int_equal(param_bool(&t.params, &everywhere, &value, NULL), -1);
	}
}

static void durations(void **state)
{
	static const struct { const char *text; int64_t ms; bool wrong; } cases[] = {
		{ "30s", 30000, false }, { "1m30s", 90000, false }, { "250ms", 250, false }, { "1.5h", 5400000, false }, { "0", 0, false }, { "0s", 0, false }, { "1500", 1500, false },
		{ "-5s", 7, true }, { "-5", 7, true }, { "1.5", 7, true }, { "5 s", 7, true }, { "s", 7, true }, { "1d", 7, true }, { "99999999999999999999", 7, true },
	};
	struct err err = { 0 };
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ms = 7;
		given(cases[i].text);
		assert_int_equal(param_duration(&t.params, &everywhere, &ms, NULL), cases[i].wrong ? -1 : 0);
		assert_int_equal(ms, cases[i].ms);
	}
	given("soon");
	expect_error(param_duration(&t.params, &everywhere, &ms, &err), &err, "unable to set param \"count\" value \"soon\": must be a duration such as 30s, or a whole number of milliseconds, not negative");
}

static void choices(void **state)
{
	static const char *const words[] = { "red", "green", NULL };
	struct err err = { 0 };
	size_t which = 9;

	(void)state;
	assert_int_equal(param_choice(&t.params, &everywhere, words, &which, &err), 0);
	assert_int_equal(which, 9);
	given("green");
	assert_int_equal(param_choice(&t.params, &everywhere, words, &which, &err), 0);
	assert_int_equal(which, 1);
	given("Green");
	expect_error(param_choice(&t.params, &everywhere, words, &which, &err), &err, "unable to set param \"count\" value \"Green\": must be one of red, green");
	given("red,green");
	assert_int_equal(param_choice(&t.params, &everywhere, words, &which, NULL), -1);
	assert_int_equal(which, 1);
}

static void lists(void **state)
{
	static const struct { const char *text; char separator; size_t count; const char *items[4]; } cases[] = {
		{ "a", ',', 1, { "a" } }, { " a , b ", ',', 2, { "a", "b" } }, { "a,,b", ',', 3, { "a", "", "b" } }, { ",", ',', 2, { "", "" } }, { "a;b,c", ';', 2, { "a", "b,c" } }, { "  ", ',', 0, { NULL } },
	};
	struct param_list list;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given(cases[i].text);
		assert_int_equal(param_list(&t.params, &everywhere, cases[i].separator, &list, NULL), 0);
		assert_int_equal(list.count, cases[i].count);
		for (size_t k = 0; k < list.count; k++)
			assert_string_equal(list.items[k], cases[i].items[k]);
		param_list_done(&list);
		assert_null(list.items);
	}
	strmap_remove(&t.metadata, "count");
	assert_int_equal(param_list(&t.params, &required, ',', &list, NULL), -1);
	assert_null(list.items);
}

static void maps(void **state)
{
	static const char *const wrong[] = { "a", "a=b=c", "a=b,", "=b", "a=b,,c=d", " = " };
	struct strmap map = { 0 };
	struct err err = { 0 };

	(void)state;
	given(" a = 1 ,b=,a=2");
	assert_int_equal(param_map(&t.params, &everywhere, &map, NULL), 0);
	assert_int_equal(map.count, 2);
	assert_string_equal(strmap_get(&map, "a"), "2"); /* the later one */
	assert_string_equal(strmap_get(&map, "b"), "");
	strmap_done(&map);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		given(wrong[i]);
		assert_int_equal(param_map(&t.params, &everywhere, &map, &err), -1);
		strmap_done(&map);
	}
	given("a=b=c");
	expect_error(param_map(&t.params, &everywhere, &map, &err), &err, "unable to set param \"count\" value \"a=b=c\": must be name=value pieces with exactly one '=' each, separated by commas");
	strmap_remove(&t.metadata, "count");
	strmap_set(&t.auth, "count", "s3cret");
	expect_error(param_map(&t.params, &everywhere, &map, &err), &err, "unable to set param \"count\" value from authParams (not shown): must be name=value pieces with exactly one '=' each, separated by commas");
	strmap_done(&map);
}

static void targets(void **state)
{
	static const struct { const char *text; int64_t milli; } cases[] = { { "5", 5000 }, { "0.5", 500 }, { "2.5", 2500 }, { "0.001", 1 }, { "1e3", 1000000 }, { "0.0015", 2 } };
	static const char *const wrong[] = { "0", "-1", "0.0001", "-0.5" };
	struct quantity target = { 0 };
	struct err err = { 0 };

	(void)state;
	expect_error(param_target(&t.params, &everywhere, &target, &err), &err, "no count given");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given(cases[i].text);
		assert_int_equal(param_target(&t.params, &everywhere, &target, &err), 0);
		assert_int_equal(target.milli, cases[i].milli);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		given(wrong[i]);
		assert_int_equal(param_target(&t.params, &everywhere, &target, &err), -1);
	}
	given("0");
	expect_error(param_target(&t.params, &everywhere, &target, &err), &err, "parameter \"count\" value \"0\" must be greater than 0 (at least 0.001)");
	strmap_remove(&t.metadata, "count");
	strmap_set(&t.auth, "count", "-5");
	expect_error(param_target(&t.params, &everywhere, &target, &err), &err, "parameter \"count\" value from authParams (not shown) must be greater than 0 (at least 0.001)");
}

/* In a formula a target means nothing: what does not have to be there may be 0, but a typing error is still one. */
static void targets_of_formula_sources(void **state)
{
	static const struct { const char *text; int64_t milli; } cases[] = { { NULL, 0 }, { "", 0 }, { "0", 0 }, { "-3", 0 }, { "0.0001", 0 }, { "2.5", 2500 } };
	struct err err = { 0 };

	(void)state;
	t.params.formula_source = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct quantity target = { .milli = 77 };

		if (cases[i].text)
			given(cases[i].text);
		assert_int_equal(param_target(&t.params, &everywhere, &target, &err), 0);
		assert_int_equal(target.milli, cases[i].milli);
	}
	given("five");
	assert_int_equal(param_target(&t.params, &everywhere, &(struct quantity){ 0 }, &err), -1);
}

static void metric_types(void **state)
{
	static const struct { const char *text; enum metric_target_type type; } cases[] = { { NULL, METRIC_AVERAGE_VALUE }, { "", METRIC_AVERAGE_VALUE }, { "AverageValue", METRIC_AVERAGE_VALUE }, { "Value", METRIC_VALUE } };
	enum metric_target_type type;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t.params.metric_type = cases[i].text;
		assert_int_equal(param_metric_type(&t.params, &type, NULL), 0);
		assert_int_equal(type, cases[i].type);
	}
	t.params.metric_type = "Utilization";
	expect_error(param_metric_type(&t.params, &type, &err), &err, "'Utilization' metric type is unsupported for external metrics, allowed values are 'Value' or 'AverageValue'");
	t.params.metric_type = "average";
	expect_error(param_metric_type(&t.params, &type, &err), &err, "metricType \"average\" is unknown, allowed values are 'Value' or 'AverageValue'");
}

static void names_are_normalised(void **state)
{
	char text[] = "a/b.c:d%e(f)g h\"i_j-K";

	(void)state;
	assert_string_equal(param_normalise(text), "a-b-c-d-e-f-g h\"i_j-K");
}

/* --- keys that nobody asked for ----------------------------------------------------------------------------------------------- */

static void unknown_keys_are_found(void **state)
{
	static const struct { const char *key, *said; } cases[] = {
		{ "count", NULL }, { "number", NULL }, { "countFromEnv", NULL }, { "numberFromEnv", NULL }, { "extra", NULL },
		{ "Count", "\"Count\" (did you mean \"count\"?)" }, { "cuont", "\"cuont\" (did you mean \"count\"?)" }, { "countFromENV", "\"countFromENV\" (did you mean \"countFromEnv\"?)" },
		{ "colour", "\"colour\"" }, { "metricName", "\"metricName\" (KEDA dropped it in 2.12: the metric is named by the trigger's place)" },
		{ "cortexOrgId", "\"cortexOrgId\" (KEDA dropped it in 2.12: use customHeaders: X-Scope-OrgID=...)" },
	};
	char *text, *said;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strmap known = { 0 };

		teardown(NULL);
		setup(NULL);
		t.params.known = &known;
		strmap_set(&t.metadata, cases[i].key, " ");
		assert_int_equal(param_text(&t.params, &everywhere, &text, NULL), 0);
		param_known(&t.params, "extra");
		said = param_unknown(&t.params);
		if (cases[i].said)
			assert_string_equal(said, cases[i].said);
		else
			assert_null(said);
		free(said);
		strmap_done(&known);
	}
}

/* A parameter that is looked for in an authentication alone is no key of the metadata. */
static void sources_say_what_is_a_key(void **state)
{
	static const struct param secret = { { "password" }, { PARAM_AUTH }, false };
	struct strmap known = { 0 };
	char *text, *said;

	(void)state;
	t.params.known = &known;
	strmap_set(&t.metadata, "password", "x");
	strmap_set(&t.metadata, "passwordFromEnv", "X");
	assert_int_equal(param_text(&t.params, &secret, &text, NULL), 0);
	assert_null(text);
	said = param_unknown(&t.params);
	assert_string_equal(said, "\"password\", \"passwordFromEnv\"");
	free(said);
	strmap_done(&known);
}

static void what_is_missing_may_be_mistyped(void **state)
{
	static const struct param list_name = { { "listName" }, { PARAM_METADATA }, true }, host = { { "host" }, { PARAM_METADATA }, true };
	struct strmap known = { 0 };
	struct err err = { 0 };
	char *text;

	(void)state;
	t.params.known = &known;
	strmap_set(&t.metadata, "listname", "jobs");
	expect_error(param_text(&t.params, &list_name, &text, &err), &err, "missing required parameter \"listName\" in [triggerMetadata] (is it \"listname\" in the metadata, mistyped?)");
	/* Another name, however short, and one that another parameter has. */
	strmap_set(&t.metadata, "port", "1");
	expect_error(param_text(&t.params, &host, &text, &err), &err, "missing required parameter \"host\" in [triggerMetadata]");
	strmap_set(&t.metadata, "hosts", "a");
	param_known(&t.params, "hosts");
	expect_error(param_text(&t.params, &host, &text, &err), &err, "missing required parameter \"host\" in [triggerMetadata]");
	strmap_done(&known);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(sources_and_aliases_go_in_order),
		CASE(what_is_missing_is_named),
		CASE(whole_numbers),
		CASE(only_metadata_is_shown),
		CASE(numbers),
		CASE(switches),
		CASE(durations),
		CASE(choices),
		CASE(lists),
		CASE(maps),
		CASE(targets),
		CASE(targets_of_formula_sources),
		CASE(metric_types),
		CASE(names_are_normalised),
		CASE(unknown_keys_are_found),
		CASE(sources_say_what_is_a_key),
		CASE(what_is_missing_may_be_mistyped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
