/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of Datadog and its Cluster Agent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "scalers/datadog/datadogreply.h"

#define SERIES(points) "{\"status\":\"ok\",\"error\":\"\",\"series\":[{\"pointlist\":[" points "]}]}"
#define TWO(a, b)      "{\"status\":\"ok\",\"series\":[{\"pointlist\":[" a "]},{\"pointlist\":[" b "]}]}"
#define NO_POINT       "no Datadog metrics returned for the given time window"

static const struct {
	const char *answer;
	enum datadogreply_aggregator how;
	int64_t places_back;
	enum datadogreply reply;
	double value;
	const char *message;
} series[] = {
	{ SERIES("[1,2.5],[2,3.5]"), DATADOGREPLY_ONE, 0, DATADOGREPLY_VALUE, 3.5, NULL },
	{ SERIES("[1,2.5],[2,3.5]"), DATADOGREPLY_ONE, 1, DATADOGREPLY_VALUE, 2.5, NULL },
	{ SERIES("[1,2.5],[2,3],[3,null],[4,null]"), DATADOGREPLY_ONE, 1, DATADOGREPLY_VALUE, 2.5, NULL },
	{ SERIES("[1,-7]"), DATADOGREPLY_MAX, 0, DATADOGREPLY_VALUE, -7, NULL },
	{ TWO("[1,1],[2,2]", "[1,4]"), DATADOGREPLY_MAX, 0, DATADOGREPLY_VALUE, 4, NULL },
	{ TWO("[1,1],[2,2]", "[1,4]"), DATADOGREPLY_AVERAGE, 0, DATADOGREPLY_VALUE, 3, NULL },
	{ "{\"series\":[]}", DATADOGREPLY_ONE, 0, DATADOGREPLY_NONE, 0, NO_POINT },
	{ SERIES(""), DATADOGREPLY_ONE, 0, DATADOGREPLY_NONE, 0, NO_POINT },
	{ SERIES("[1,null],[2,null]"), DATADOGREPLY_ONE, 0, DATADOGREPLY_NONE, 0, NO_POINT },
	{ SERIES("[1,null],[2,5]"), DATADOGREPLY_ONE, 1, DATADOGREPLY_NONE, 0, NO_POINT },
	{ TWO("[1,1]", "[1,null]"), DATADOGREPLY_MAX, 0, DATADOGREPLY_NONE, 0, NO_POINT },
	{ TWO("[1,1]", "[1,2]"), DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0, "query returned more than 1 series" },
	{ SERIES("[1,5]"), DATADOGREPLY_ONE, 1, DATADOGREPLY_FAILED, 0,
		"index is smaller than the lastAvailablePointOffset" },
	{ SERIES("[1,5]"), DATADOGREPLY_ONE, 2147483647, DATADOGREPLY_FAILED, 0, "the series has 1 points" },
	{ "{\"status\":\"error\",\"error\":\"Error parsing\\nquery\",\"series\":[]}", DATADOGREPLY_ONE, 0,
		DATADOGREPLY_FAILED, 0, "error when retrieving Datadog metrics: Error parsing query" },
	{ "{\"status\":\"error\"}", DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0,
		"error when retrieving Datadog metrics" },
	{ "{}", DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0, "does datadogSite lead to Datadog?" },
	{ "[]", DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0, "no array \"series\"" },
	{ "{\"series\":{}}", DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0, "no array \"series\"" },
	{ "{\"series\":[{}]}", DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0, "series[0] has no \"pointlist\"" },
	{ "{\"series\":[7]}", DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0, "series[0] has no \"pointlist\"" },
	{ SERIES("[1,\"5\"]"), DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0, "not a pair of time and value" },
	{ SERIES("[1]"), DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0, "not a pair of time and value" },
	{ SERIES("5"), DATADOGREPLY_ONE, 0, DATADOGREPLY_FAILED, 0, "not a pair of time and value" },
	{ TWO("[1,1.7e308]", "[1,1.7e308]"), DATADOGREPLY_AVERAGE, 0, DATADOGREPLY_FAILED, 0, "too large" },
};

static void points(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
		json_t *answer = json_parse(series[i].answer, strlen(series[i].answer), NULL);
		struct err err = { 0 };
		double value = 0;

		assert_non_null(answer);
		if (datadogreply_series(answer, series[i].how, series[i].places_back, &value, &err) != series[i].reply)
			fail_msg("%s: %s", series[i].answer, err.msg);
		assert_true(value == series[i].value);
		if (series[i].message && !strstr(err.msg, series[i].message))
			fail_msg("%s: said \"%s\"", series[i].answer, err.msg);
		json_decref(answer);
	}
}

static void metrics(void **state)
{
	static const struct {
		const char *answer;
		double value; /* below 0: none */
	} rows[] = {
		{ "{\"items\":[{\"value\":12.5}]}", 12.5 },
		{ "{\"items\":[{\"value\":\"12500m\"}]}", 12.5 },
		{ "{\"items\":[{\"value\":\"2k\"},{\"value\":7}]}", 2000 },
		{ "{\"items\":[{\"value\":\"many\"}]}", -1 },
		{ "{\"items\":[{\"value\":null}]}", -1 },
		{ "{\"items\":[{\"value\":true}]}", -1 },
		{ "{\"items\":[]}", -1 },
		{ "{\"items\":{}}", -1 },
		{ "[]", -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *answer = json_parse(rows[i].answer, strlen(rows[i].answer), NULL);
		struct err err = { 0 };
		double value = -1;

		assert_int_equal(datadogreply_metric(answer, &value, &err), rows[i].value < 0 ? -1 : 0);
		if (value != rows[i].value)
			fail_msg("%s: %g", rows[i].answer, value);
		if (rows[i].value < 0)
			assert_non_null(strstr(err.msg, "the metric value must be of type number"));
		json_decref(answer);
	}
}

static void error_messages(void **state)
{
	static const struct {
		const char *answer, *words;
	} rows[] = {
		{ "{\"errors\":[\"Forbidden\",\"x\"]}", "Forbidden" },
		{ "{\"errors\":[7],\"error\":\"a\\tb\"}", "a b" },
		{ "{\"message\":\"the server is currently unable\"}", "the server is currently unable" },
		{ "{}", "" },
		{ "[1]", "" },
	};
	char out[DATADOGREPLY_WORDS];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *answer = json_parse(rows[i].answer, strlen(rows[i].answer), NULL);

		assert_string_equal(datadogreply_words(answer, out), rows[i].words);
		json_decref(answer);
	}
	assert_string_equal(datadogreply_words(NULL, out), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(points), cmocka_unit_test(metrics),
		cmocka_unit_test(error_messages) };

	return cmocka_run_group_tests_name("scalers/datadog/datadogreply", tests, NULL, NULL);
}
