/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a trigger: lookup, valid values, and errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "scalers/scalerbuild.h"

static struct given {
	struct strmap metadata, auth, env, unresolved;
	struct scaler_params params;
} t;

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.params = (struct scaler_params){ .type = "x",
		.metadata = &t.metadata,
		.auth = &t.auth,
		.env = &t.env,
		.unresolved = &t.unresolved };
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

static const struct param_row everywhere = { "count|number", PARAM_TEXT, "mae", 0, .required = false };
static const struct param_row env_first = { "count", PARAM_TEXT, "mea", 0, .required = false };
static const struct param_row required = { "count", PARAM_TEXT, "ma", 0, .required = true };

/* Reads a single row as this kind. */
static int read_as(enum param_kind kind, const struct param_row *row, const char *const *words, void *out,
	struct err *err)
{
	struct param_row one = *row;
	const struct param_table table = { &one, 1, true };

	one.kind = kind;
	one.words = words;
	return params_read(&table, &t.params, out, err);
}

static int read_text(const struct param_row *row, char **out, struct err *err)
{
	*out = NULL;
	return read_as(PARAM_TEXT, row, NULL, out, err);
}

static void list_done(struct param_list *list)
{
	struct param_row one = everywhere;

	one.kind = PARAM_LIST;
	params_done(&(struct param_table){ &one, 1, true }, list);
}

static void expect_text(const struct param_row *p, const char *wanted)
{
	char *text;

	assert_int_equal(read_text(p, &text, NULL), 0);
	if (wanted)
		assert_string_equal(text, wanted);
	else
		assert_null(text);
	free(text);
}

static void places_and_aliases_have_an_order(void **state)
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

static void missing_parameters_are_named(void **state)
{
	struct err err = { 0 };
	char *text;

	(void)state;
	assert_int_equal(read_text(&required, &text, NULL), -1); /* without an err */
	expect_error(read_text(&required, &text, &err), &err,
		"missing required parameter \"count\" in [triggerMetadata authParams]");
	strmap_set(&t.auth, "count", " ");
	expect_error(read_text(&required, &text, &err), &err,
		"missing required parameter \"count\" in [triggerMetadata authParams] (the authentication gives it, "
		"and "
		"it is empty)");
	strmap_set(&t.metadata, "countFromEnv", "COUNT");
	expect_error(read_text(&everywhere, &text, &err), &err,
		"parameter \"countFromEnv\": the target's container has no environment variable COUNT with a value");
	expect_error(read_text(&env_first, &text, &err), &err,
		"parameter \"countFromEnv\": the target's container has no environment variable COUNT with a value");
	strmap_set(&t.auth, "count", "3");
	expect_text(&env_first, "3"); /* a missing value is looked up in the next places */
	strmap_remove(&t.auth, "count");
	strmap_set(&t.unresolved, "COUNT", "comes from Secret creds key x");
	expect_error(read_text(&everywhere, &text, &err), &err,
		"parameter \"countFromEnv\": environment variable COUNT of the target's container comes from Secret "
		"creds key x");
	strmap_set(&t.auth, "count", "3");
	expect_error(read_text(&env_first, &text, &err), &err,
		"parameter \"countFromEnv\": environment variable COUNT of the target's container comes from Secret "
		"creds key x");
}

static void whole_numbers(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
		bool wrong;
	} cases[] = {
		{ "0", 0, false },
		{ "-7", -7, false },
		{ "9223372036854775807", INT64_MAX, false },
		{ "9223372036854775808", 0, true },
		{ "1.5", 0, true },
		{ "+1", 0, true },
		{ "01", 0, true },
		{ "1e3", 0, true },
		{ "five", 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t value = 0;

		strmap_set(&t.metadata, "count", cases[i].text);
		assert_int_equal(read_as(PARAM_INT64, &everywhere, NULL, &value, NULL), cases[i].wrong ? -1 : 0);
		assert_int_equal(value, cases[i].value);
	}
}

/* A password in the wrong place must not appear in a status. */
static void only_metadata_is_shown(void **state)
{
	struct err err = { 0 };
	int64_t number = 5;
	bool yes = true;

	(void)state;
	strmap_set(&t.metadata, "count", "s3cret");
	expect_error(read_as(PARAM_INT64, &everywhere, NULL, &number, &err), &err,
		"unable to set param \"count\" value \"s3cret\": must be a whole number");
	expect_error(read_as(PARAM_BOOL, &everywhere, NULL, &yes, &err), &err,
		"unable to set param \"count\" value \"s3cret\": must be true or false");
	strmap_remove(&t.metadata, "count");
	strmap_set(&t.auth, "count", "s3cret");
	expect_error(read_as(PARAM_INT64, &everywhere, NULL, &number, &err), &err,
		"unable to set param \"count\" value from authParams (not shown): must be a whole number");
	strmap_remove(&t.auth, "count");
	strmap_set(&t.metadata, "countFromEnv", "COUNT");
	strmap_set(&t.env, "COUNT", "s3cret");
	expect_error(read_as(PARAM_BOOL, &everywhere, NULL, &yes, &err), &err,
		"unable to set param \"count\" value from resolvedEnv (not shown): must be true or false");
	assert_int_equal(number, 5);
	assert_true(yes);
}

/* ---- Every reader, every form ---- */

static void given(const char *text)
{
	strmap_set(&t.metadata, "count", text);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		double value;
		bool wrong;
	} cases[] = {
		{ "0", 0, false },
		{ "-0", -0.0, false },
		{ "-7", -7, false },
		{ "2.5", 2.5, false },
		{ "1e3", 1000, false },
		{ "1E+3", 1000, false },
		{ "25e-1", 2.5, false },
		{ "0.5", 0.5, false },
		{ " 3 ", 3, false },
		{ "1.7976931348623157e308", 1.7976931348623157e308, false },
		{ ".5", 0, true },
		{ "5.", 0, true },
		{ "+1", 0, true },
		{ "05", 0, true },
		{ "0x10", 0, true },
		{ "NaN", 0, true },
		{ "Inf", 0, true },
		{ "null", 0, true },
		{ "1e999", 0, true },
		{ "1e", 0, true },
		{ "1e+", 0, true },
		{ "-", 0, true },
		{ "1 2", 0, true },
		{ "1,5", 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double value = 0;

		given(cases[i].text);
		assert_int_equal(read_as(PARAM_DOUBLE, &everywhere, NULL, &value, NULL), cases[i].wrong ? -1 : 0);
		assert_true(value == cases[i].value);
	}
}

static void switches(void **state)
{
	static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True", " true " },
				 *const no[] = { "0", "f", "F", "FALSE", "false", "False" },
				 *const wrong[] = { "yes", "on", "tRUE", "2", "enable" };
	bool value;

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		value = false;
		given(yes[i]);
		assert_int_equal(read_as(PARAM_BOOL, &everywhere, NULL, &value, NULL), 0);
		assert_true(value);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		value = true;
		given(no[i]);
		assert_int_equal(read_as(PARAM_BOOL, &everywhere, NULL, &value, NULL), 0);
		assert_false(value);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		given(wrong[i]);
		assert_int_equal(read_as(PARAM_BOOL, &everywhere, NULL, &value, NULL), -1);
	}
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
		bool wrong;
	} cases[] = {
		{ "30s", 30000, false },
		{ "1m30s", 90000, false },
		{ "250ms", 250, false },
		{ "1.5h", 5400000, false },
		{ "0", 0, false },
		{ "0s", 0, false },
		{ "1500", 1500, false },
		{ "-5s", 7, true },
		{ "-5", 7, true },
		{ "1.5", 7, true },
		{ "5 s", 7, true },
		{ "s", 7, true },
		{ "1d", 7, true },
		{ "99999999999999999999", 7, true },
	};
	struct err err = { 0 };
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ms = 7;
		given(cases[i].text);
		assert_int_equal(read_as(PARAM_DURATION, &everywhere, NULL, &ms, NULL), cases[i].wrong ? -1 : 0);
		assert_int_equal(ms, cases[i].ms);
	}
	given("soon");
	expect_error(read_as(PARAM_DURATION, &everywhere, NULL, &ms, &err), &err,
		"unable to set param \"count\" value \"soon\": must be a duration such as 30s, or a whole number of "
		"milliseconds, not negative");
}

/* A duration above the row's most is limited to it and reported, not refused. */
static void long_durations_are_shortened(void **state)
{
	static const struct param_row rows[] = {
		{ "timeout|wait", PARAM_DURATION, "m", 0, .most = 120000 },
		{ "window", PARAM_DURATION, "ma", sizeof(int64_t), .most = 5000 },
		{ "age", PARAM_DURATION, "m", 2 * sizeof(int64_t), .required = false },
	};
	static const struct param_table table = PARAM_TABLE(rows), *const tables[] = { &table, NULL };
	int64_t ms[3] = { 0 };
	struct err err;
	char *said;

	(void)state;
	t.params.tables = tables;
	strmap_set(&t.metadata, "wait", "2m");
	strmap_set(&t.metadata, "age", "1h");
	assert_int_equal(params_read(&table, &t.params, ms, &err), 0);
	assert_null(params_shortened(&t.params));
	strmap_set(&t.metadata, "wait", "1h");
	strmap_set(&t.auth, "window", "10s"); /* not to be shown */
	assert_int_equal(params_read(&table, &t.params, ms, &err), 0);
	assert_int_equal(ms[0], 120000);
	assert_int_equal(ms[1], 5000);
	assert_int_equal(ms[2], 3600000);
	said = params_shortened(&t.params);
	assert_string_equal(said, "timeout 1h is more than the maximum, 2m, which is used");
	free(said);
	strmap_set(&t.metadata, "window", "5001");
	said = params_shortened(&t.params);
	assert_string_equal(said,
		"timeout 1h is more than the maximum, 2m, which is used; window 5001 is more than the maximum, 5s, "
		"which is used");
	free(said);
	strmap_set(&t.metadata, "wait", "soon");
	strmap_set(&t.metadata, "window", "1s");
	assert_null(params_shortened(&t.params));
}

static void choices(void **state)
{
	static const char *const words[] = { "red", "green", NULL };
	struct err err = { 0 };
	unsigned which = 9;

	(void)state;
	assert_int_equal(read_as(PARAM_CHOICE, &everywhere, words, &which, &err), 0);
	assert_int_equal(which, 9);
	given("green");
	assert_int_equal(read_as(PARAM_CHOICE, &everywhere, words, &which, &err), 0);
	assert_int_equal(which, 1);
	given("Green");
	expect_error(read_as(PARAM_CHOICE, &everywhere, words, &which, &err), &err,
		"unable to set param \"count\" value \"Green\": must be one of red, green");
	given("red,green");
	assert_int_equal(read_as(PARAM_CHOICE, &everywhere, words, &which, NULL), -1);
	assert_int_equal(which, 1);
}

static void lists(void **state)
{
	static const struct {
		const char *text;
		size_t count;
		const char *items[4];
	} cases[] = {
		{ "a", 1, { "a" } },
		{ " a , b ", 2, { "a", "b" } },
		{ "a,,b", 3, { "a", "", "b" } },
		{ ",", 2, { "", "" } },
		{ "a;b,c", 2, { "a;b", "c" } },
		{ "  ", 0, { NULL } },
	};
	struct param_list list = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given(cases[i].text);
		assert_int_equal(read_as(PARAM_LIST, &everywhere, NULL, &list, NULL), 0);
		assert_int_equal(list.count, cases[i].count);
		for (size_t k = 0; k < list.count; k++)
			assert_string_equal(list.items[k], cases[i].items[k]);
		list_done(&list);
		assert_null(list.items);
	}
	strmap_remove(&t.metadata, "count");
	assert_int_equal(read_as(PARAM_LIST, &required, NULL, &list, NULL), -1);
	assert_null(list.items);
}

static void maps(void **state)
{
	static const char *const wrong[] = { "a", "a=b=c", "a=b,", "=b", "a=b,,c=d", " = " };
	struct strmap map = { 0 };
	struct err err = { 0 };

	(void)state;
	given(" a = 1 ,b=,a=2");
	assert_int_equal(read_as(PARAM_MAP, &everywhere, NULL, &map, NULL), 0);
	assert_int_equal(map.count, 2);
	assert_string_equal(strmap_get(&map, "a"), "2"); /* the later one */
	assert_string_equal(strmap_get(&map, "b"), "");
	strmap_done(&map);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		given(wrong[i]);
		assert_int_equal(read_as(PARAM_MAP, &everywhere, NULL, &map, &err), -1);
		strmap_done(&map);
	}
	given("a=b=c");
	expect_error(read_as(PARAM_MAP, &everywhere, NULL, &map, &err), &err,
		"unable to set param \"count\" value \"a=b=c\": must be name=value pieces with exactly one '=' each, "
		"separated by commas");
	strmap_remove(&t.metadata, "count");
	strmap_set(&t.auth, "count", "s3cret");
	expect_error(read_as(PARAM_MAP, &everywhere, NULL, &map, &err), &err,
		"unable to set param \"count\" value from authParams (not shown): must be name=value pieces with "
		"exactly one '=' each, separated by commas");
	strmap_done(&map);
}

static void lists_and_maps_are_limited(void **state)
{
	struct buf many = BUF_INIT(1u << 20);
	struct param_list list = { 0 };
	struct strmap map = { 0 };
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < PARAM_VALUES_MAX; i++)
		buf_printf(&many, "%sk%d=v", i > 0 ? "," : "", i);
	given(buf_text(&many));
	assert_int_equal(read_as(PARAM_LIST, &everywhere, NULL, &list, NULL), 0);
	assert_int_equal(list.count, PARAM_VALUES_MAX);
	list_done(&list);
	assert_int_equal(read_as(PARAM_MAP, &everywhere, NULL, &map, NULL), 0);
	assert_int_equal(map.count, PARAM_VALUES_MAX);
	strmap_done(&map);
	buf_puts(&many, ",k=secret");
	given(buf_text(&many));
	expect_error(read_as(PARAM_LIST, &everywhere, NULL, &list, &err), &err,
		"parameter \"count\": 1001 values are given, at most 1000 are allowed");
	expect_error(read_as(PARAM_MAP, &everywhere, NULL, &map, &err), &err,
		"parameter \"count\": 1001 values are given, at most 1000 are allowed");
	assert_int_equal(list.count + map.count, 0);
	buf_done(&many);
}

/* A row whose value is stored in the scaler. */
static int read_into(enum param_kind kind, struct scaler *s, struct err *err)
{
	struct scaler_build build = { .scaler = s };
	int rc;

	t.params.build = &build;
	rc = read_as(kind, &everywhere, NULL, NULL, err);
	t.params.build = NULL;
	return rc;
}

static void targets(void **state)
{
	static const struct {
		const char *text;
		int64_t milli;
	} cases[] = { { "5", 5000 }, { "0.5", 500 }, { "2.5", 2500 }, { "0.001", 1 }, { "1e3", 1000000 },
		{ "0.0015", 2 } };
	static const char *const wrong[] = { "0", "-1", "0.0001", "-0.5" };
	struct scaler s = { 0 };
	struct err err = { 0 };

	(void)state;
	expect_error(read_into(PARAM_TARGET, &s, &err), &err, "no count given");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given(cases[i].text);
		assert_int_equal(read_into(PARAM_TARGET, &s, &err), 0);
		assert_int_equal(s.target.milli, cases[i].milli);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		given(wrong[i]);
		assert_int_equal(read_into(PARAM_TARGET, &s, &err), -1);
	}
	given("0");
	expect_error(read_into(PARAM_TARGET, &s, &err), &err,
		"parameter \"count\" value \"0\" must be greater than 0 (at least 0.001)");
	strmap_remove(&t.metadata, "count");
	strmap_set(&t.auth, "count", "-5");
	expect_error(read_into(PARAM_TARGET, &s, &err), &err,
		"parameter \"count\" value from authParams (not shown) must be greater than 0 (at least 0.001)");
}

/* A formula source needs no target, so it may be 0, but a syntax error is still refused. */
static void targets_of_formula_sources(void **state)
{
	static const struct {
		const char *text;
		int64_t milli;
	} cases[] = { { NULL, 0 }, { "", 0 }, { "0", 0 }, { "-3", 0 }, { "0.0001", 0 }, { "2.5", 2500 } };
	struct err err = { 0 };

	(void)state;
	t.params.formula_source = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaler s = { .target = { .milli = 77 } };

		if (cases[i].text)
			given(cases[i].text);
		assert_int_equal(read_into(PARAM_TARGET, &s, &err), 0);
		assert_int_equal(s.target.milli, cases[i].milli);
	}
	given("five");
	assert_int_equal(read_into(PARAM_TARGET, &(struct scaler){ 0 }, &err), -1);
}

static void whole_targets(void **state)
{
	struct scaler s = { 0 };
	struct err err = { 0 };

	(void)state;
	given("7");
	assert_int_equal(read_into(PARAM_WHOLE_TARGET, &s, &err), 0);
	assert_int_equal(s.target.milli, 7000);
	given("0");
	expect_error(read_into(PARAM_WHOLE_TARGET, &s, &err), &err,
		"parameter \"count\" value \"0\" must be greater than 0");
	given("1.5");
	expect_error(read_into(PARAM_WHOLE_TARGET, &s, &err), &err,
		"unable to set param \"count\" value \"1.5\": must be a whole number");
	t.params.formula_source = true;
	given("-2");
	assert_int_equal(read_into(PARAM_WHOLE_TARGET, &s, &err), 0);
	assert_int_equal(s.target.milli, 0);
}

static void activations(void **state)
{
	struct scaler s = { 0 };
	struct err err = { 0 };

	(void)state;
	given("-1.5");
	assert_int_equal(read_into(PARAM_ACTIVATION, &s, &err), 0);
	assert_true(s.activation == -1.5);
	given("3");
	assert_int_equal(read_into(PARAM_WHOLE_ACTIVATION, &s, &err), 0);
	assert_true(s.activation == 3);
	given("3.5");
	expect_error(read_into(PARAM_WHOLE_ACTIVATION, &s, &err), &err,
		"unable to set param \"count\" value \"3.5\": must be a whole number");
}

/* Fields that are part of the key, and those that are not. */
static void fields_in_a_key(void **state)
{
	struct fields {
		char *a, *b;
		int64_t number;
		double real;
		struct param_list list;
	};
	static const struct param_row key_rows[] = {
		{ "a", PARAM_TEXT, "m", offsetof(struct fields, a), .required = false },
		{ "b", PARAM_TEXT, "m", offsetof(struct fields, b), .required = false },
		{ "number", PARAM_INT64, "m", offsetof(struct fields, number), .unkeyed = true },
		{ "real", PARAM_DOUBLE, "m", offsetof(struct fields, real), .required = false },
		{ "list", PARAM_LIST, "m", offsetof(struct fields, list), .required = false },
		{ "target", PARAM_TARGET, "m", 0, .required = false },
	};
	static const struct param_table table = PARAM_TABLE(key_rows);
	char a[] = "a", ab[] = "ab", bc[] = "bc", c[] = "c", none[] = "", *one[] = { ab, c }, *other[] = { a, bc };
	const struct {
		struct fields x, y;
		bool same;
	} pairs[] = {
		{ { .a = ab, .b = c }, { .a = ab, .b = c }, true },
		{ { .a = ab, .b = c }, { .a = a, .b = bc }, false },
		{ { .a = none }, { .a = NULL }, false },
		{ { .number = 1 }, { .number = 2 }, true },
		{ { .real = 0.0 }, { .real = -0.0 }, true },
		{ { .real = NAN }, { .real = -NAN }, true },
		{ { .real = NAN }, { .real = 0 }, false },
		{ { .list = { one, 2 } }, { .list = { other, 2 } }, false },
		{ { .list = { one, 2 } }, { .list = { one, 1 } }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct buf x = BUF_INIT(1024), y = BUF_INIT(1024);
		bool same;

		params_put_key(&table, &pairs[i].x, &x);
		params_put_key(&table, &pairs[i].y, &y);
		same = x.len == y.len && memcmp(buf_text(&x), buf_text(&y), x.len) == 0;
		if (same != pairs[i].same)
			fail_msg("pair %zu", i);
		buf_done(&x);
		buf_done(&y);
	}
}

static void metric_types(void **state)
{
	static const struct {
		const char *text;
		enum metric_target_type type;
	} cases[] = { { NULL, METRIC_AVERAGE_VALUE }, { "", METRIC_AVERAGE_VALUE },
		{ "AverageValue", METRIC_AVERAGE_VALUE }, { "Value", METRIC_VALUE } };
	enum metric_target_type type;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t.params.metric_type = cases[i].text;
		assert_int_equal(params_metric_type(&t.params, &type, NULL), 0);
		assert_int_equal(type, cases[i].type);
	}
	t.params.metric_type = "Utilization";
	expect_error(params_metric_type(&t.params, &type, &err), &err,
		"'Utilization' metric type is unsupported for external metrics, allowed values are 'Value' or "
		"'AverageValue'");
	t.params.metric_type = "average";
	expect_error(params_metric_type(&t.params, &type, &err), &err,
		"metricType \"average\" is unknown, allowed values are 'Value' or 'AverageValue'");
}

static void names_are_normalised(void **state)
{
	char text[] = "a/b.c:d%e(f)g h\"i_j-K";

	(void)state;
	assert_string_equal(params_normalise(text), "a-b-c-d-e-f-g h\"i_j-K");
}

/* ---- Keys that nobody asked for ---- */

static void unknown_keys(void **state)
{
	static const struct {
		const char *key, *said;
	} cases[] = {
		{ "count", NULL },
		{ "number", NULL },
		{ "countFromEnv", NULL },
		{ "numberFromEnv", NULL },
		{ "extra", NULL },
		{ "later", NULL },
		{ "never", NULL },
		{ "Count", "\"Count\" (did you mean \"count\"?)" },
		{ "cuont", "\"cuont\" (did you mean \"count\"?)" },
		{ "countFromENV", "\"countFromENV\" (did you mean \"countFromEnv\"?)" },
		{ "colour", "\"colour\"" },
		{ "metricName",
			"\"metricName\" (KEDA dropped it in 2.12: the metric is named by the trigger's place)" },
		{ "cortexOrgId", "\"cortexOrgId\" (KEDA dropped it in 2.12: use customHeaders: X-Scope-OrgID=...)" },
		{ "password", "\"password\"" },
		{ "passwordFromEnv", "\"passwordFromEnv\"" },
		{ "extraFromEnv", "\"extraFromEnv\" (did you mean \"extra\"?)" },
		{ "maxCount", "\"maxCount\" (did you mean \"count\"?)" },
		{ "gone", "\"gone\" (it went)" },
	};
	static const struct param_row rows[] = {
		{ "count|number", PARAM_TEXT, "mae", 0, .required = false },
		{ "password", PARAM_TEXT, "a", 0, .required = true }, /* not a key of the metadata */
		{ "extra", PARAM_IGNORED, "m", .help = "" },
	};
	static const struct param_row more[] = {
		{ "later", PARAM_TEXT, "m", 0, .when = 1 },
		{ "never", PARAM_REFUSED, "m", .why = "" },
		{ "gone", PARAM_DROPPED, "m", .why = "it went" },
	};
	static const struct param_table table = PARAM_TABLE(rows), more_table = PARAM_TABLE(more);
	static const struct param_table *const tables[] = { &table, &more_table, NULL };
	char *said;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		teardown(NULL);
		setup(NULL);
		t.params.tables = tables;
		strmap_set(&t.metadata, cases[i].key, " ");
		said = params_unknown(&t.params);
		if (cases[i].said)
			assert_string_equal(said, cases[i].said);
		else
			assert_null(said);
		free(said);
	}
	strmap_set(&t.metadata, "colour", "x");
	said = params_unknown(&t.params);
	assert_string_equal(said, "\"colour\", \"gone\" (it went)");
	free(said);
}

/* Except parameters that only an authentication may have. */
static void keys_for_a_server_are_known(void **state)
{
	static const struct param_row rows[] = { { "password", PARAM_TEXT, "a", 0, .required = false },
		{ "*", PARAM_OTHERS, "m", .help = "" } };
	static const struct param_table table = PARAM_TABLE(rows), *const tables[] = { &table, NULL };
	char *said;

	(void)state;
	t.params.tables = tables;
	strmap_set(&t.metadata, "colour", "x");
	assert_null(params_unknown(&t.params));
	strmap_set(&t.metadata, "password", "x");
	said = params_unknown(&t.params);
	assert_string_equal(said, "\"password\"");
	free(said);
	t.params.auth_open = true;
	assert_null(params_unknown(&t.params));
	t.params.auth_open = false;
	strmap_set(&t.auth, "password", "y");
	assert_null(params_unknown(&t.params));
}

/* ---- Whole tables ---- */

struct fields {
	char *name, *password, *mode_text;
	int64_t size;
	enum param_switch tls;
	struct param_list list;
	struct strmap map;
};

#define AT(field) offsetof(struct fields, field)
static const struct param_row whole_rows[] = {
	{ "name", PARAM_TEXT, "ma", AT(name), .required = true },
	{ "password", PARAM_TEXT, "ae", AT(password), .required = true },
	{ "size", PARAM_INT64, "ma", AT(size), .otherwise = "7", .least = 1, .most = 9 },
	{ "tls", PARAM_SWITCH, "m", AT(tls), .required = false },
	{ "list", PARAM_LIST, "m", AT(list), .otherwise = "a,b" },
	{ "map", PARAM_MAP, "m", AT(map), .required = false },
	{ "never", PARAM_REFUSED, "ma", .why = "it is not for this" },
	{ "modeText", PARAM_TEXT, "ma", AT(mode_text), .required = true, .when = 2 },
};
static const struct param_table whole = PARAM_TABLE(whole_rows);

static int read_whole(struct fields *f, struct err *err)
{
	*f = (struct fields){ 0 };
	return params_read(&whole, &t.params, f, err);
}

static void tables_are_read_and_freed(void **state)
{
	struct fields f;
	struct err err = { 0 };

	(void)state;
	strmap_set(&t.metadata, "name", "n");
	strmap_set(&t.auth, "password", "p");
	assert_int_equal(read_whole(&f, NULL), 0);
	assert_string_equal(f.name, "n");
	assert_string_equal(f.password, "p");
	assert_int_equal(f.size, 7);
	assert_int_equal(f.tls, PARAM_UNSET);
	assert_int_equal(f.list.count, 2);
	assert_null(f.mode_text);
	params_done(&whole, &f);
	assert_null(f.name);
	assert_null(f.list.items);
	params_done(&whole, &f);
	strmap_set(&t.metadata, "tls", "false");
	strmap_set(&t.metadata, "map", "a=b");
	assert_int_equal(read_whole(&f, NULL), 0);
	assert_int_equal(f.tls, PARAM_OFF);
	assert_string_equal(strmap_get(&f.map, "a"), "b");
	assert_int_equal(params_read_when(&whole, &t.params, 1, &f, NULL), 0);
	expect_error(params_read_when(&whole, &t.params, 6, &f, &err), &err,
		"missing required parameter \"modeText\" in [triggerMetadata authParams]");
	strmap_set(&t.metadata, "modeText", "m");
	assert_int_equal(params_read_when(&whole, &t.params, 6, &f, NULL), 0);
	assert_string_equal(f.mode_text, "m");
	params_done(&whole, &f);
	strmap_set(&t.metadata, "size", "10");
	expect_error(read_whole(&f, &err), &err, "parameter \"size\" value \"10\" must be between 1 and 9");
	params_done(&whole, &f);
	strmap_set(&t.metadata, "size", "9");
	strmap_set(&t.metadata, "never", "9");
	expect_error(read_whole(&f, &err), &err, "parameter \"never\": it is not for this");
	params_done(&whole, &f);
}

/* Values that were not read are not checked; known ones are. */
static void unknown_values(void **state)
{
	struct fields f;
	struct err err = { 0 };

	(void)state;
	t.params.unknown = "?";
	strmap_set(&t.metadata, "name", "?"); /* in the metadata it is an ordinary value */
	strmap_set(&t.auth, "password", "?");
	strmap_set(&t.auth, "size", "?");
	assert_int_equal(read_whole(&f, NULL), 1);
	assert_string_equal(f.name, "?");
	assert_null(f.password);
	assert_int_equal(f.size, 0);
	assert_int_equal(f.list.count, 2);
	params_done(&whole, &f);
	/* Known values are checked, also after an unknown one. */
	strmap_set(&t.metadata, "size", "x");
	expect_error(read_whole(&f, &err), &err, "unable to set param \"size\" value \"x\": must be a whole number");
	params_done(&whole, &f);
	strmap_remove(&t.metadata, "size");
	/* It is given, although its value is unknown. */
	strmap_set(&t.auth, "never", "?");
	expect_error(read_whole(&f, &err), &err, "parameter \"never\": it is not for this");
	params_done(&whole, &f);
}

static void an_open_authentication_makes_missing_values_unknown(void **state)
{
	struct fields f;
	struct err err = { 0 };

	(void)state;
	expect_error(read_whole(&f, &err), &err, "missing required parameter \"name\" in [triggerMetadata authParams]");
	params_done(&whole, &f);
	t.params.auth_open = true;
	assert_int_equal(read_whole(&f, NULL), 1);
	params_done(&whole, &f);
	t.params.auth_open = false;
	strmap_set(&t.metadata, "name", "n");
	strmap_set(&t.metadata, "passwordFromEnv", "PW");
	expect_error(read_whole(&f, &err), &err,
		"parameter \"passwordFromEnv\": the target's container has no environment variable PW with a value");
	params_done(&whole, &f);
	t.params.env_open = true;
	assert_int_equal(read_whole(&f, NULL), 1);
	assert_string_equal(f.name, "n");
	params_done(&whole, &f);
	strmap_remove(&t.metadata, "passwordFromEnv");
	assert_int_equal(read_whole(&f, &err), -1); /* no variable is named */
	params_done(&whole, &f);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(places_and_aliases_have_an_order),
		CASE(missing_parameters_are_named),
		CASE(whole_numbers),
		CASE(only_metadata_is_shown),
		CASE(numbers),
		CASE(switches),
		CASE(durations),
		CASE(long_durations_are_shortened),
		CASE(choices),
		CASE(lists),
		CASE(maps),
		CASE(lists_and_maps_are_limited),
		CASE(targets),
		CASE(targets_of_formula_sources),
		CASE(whole_targets),
		CASE(activations),
		CASE(fields_in_a_key),
		CASE(metric_types),
		CASE(names_are_normalised),
		CASE(unknown_keys),
		CASE(keys_for_a_server_are_known),
		CASE(tables_are_read_and_freed),
		CASE(unknown_values),
		CASE(an_open_authentication_makes_missing_values_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
