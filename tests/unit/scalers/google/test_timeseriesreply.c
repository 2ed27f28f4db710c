/* SPDX-License-Identifier: Apache-2.0 */
/* Cloud Monitoring's responses: good, bad, hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/google/timeseriesreply.h"

#define SERIES(points) "{\"timeSeriesData\":[{\"labelValues\":[{\"stringValue\":\"p\"}],\"pointData\":[" points "]}]}"
#define POINT(value)                                                                                                   \
	"{\"values\":[" value "],\"timeInterval\":{\"startTime\":\"2026-01-01T00:00:00Z\",\"endTime\":"                \
	"\"2026-01-01T00:00:00Z\"}}"
#define ONE(value) SERIES(POINT("{" value "}"))

static void answers(void **state)
{
	static const struct {
		const char *body;
		enum timeseriesreply reply;
		double value;
		const char *text; /* the page, or part of the error */
	} rows[] = {
		{ ONE("\"int64Value\":\"12\""), TIMESERIESREPLY_VALUE, 12, NULL },
		{ ONE("\"int64Value\":\"0\""), TIMESERIESREPLY_VALUE, 0, NULL },
		{ ONE("\"int64Value\":\"-3\""), TIMESERIESREPLY_VALUE, -3, NULL },
		{ ONE("\"int64Value\":7"), TIMESERIESREPLY_VALUE, 7, NULL },
		{ ONE("\"doubleValue\":1.5"), TIMESERIESREPLY_VALUE, 1.5, NULL },
		{ ONE("\"doubleValue\":0"), TIMESERIESREPLY_VALUE, 0, NULL },
		{ SERIES(POINT("{\"doubleValue\":2},{\"doubleValue\":3}") "," POINT("{\"doubleValue\":4}")),
			TIMESERIESREPLY_VALUE, 2, NULL },
		/* well-formed, without series */
		{ "{}", TIMESERIESREPLY_NOTHING, 0, NULL },
		{ "{\"timeSeriesDescriptor\":{},\"timeSeriesData\":[]}", TIMESERIESREPLY_NOTHING, 0, NULL },
		{ SERIES(""), TIMESERIESREPLY_NOTHING, 0, NULL },
		{ "{\"timeSeriesData\":[{}]}", TIMESERIESREPLY_NOTHING, 0, NULL },
		{ "{\"nextPageToken\":\"t/1\"}", TIMESERIESREPLY_MORE, 0, "t/1" },
		/* partial errors */
		{ "{\"partialErrors\":[{\"code\":4,\"message\":\"deadline\\nexceeded\"}]}", TIMESERIESREPLY_FAILED, 0,
			"the query was only partly answered: deadline exceeded" },
		{ "{\"partialErrors\":[{}]}", TIMESERIESREPLY_FAILED, 0, "no reason is given" },
		{ "{\"timeSeriesData\":[{\"pointData\":[" POINT(
			  "{\"doubleValue\":2}") "]}],\"partialErrors\":[{\"message\":\"away\"}]}",
			TIMESERIESREPLY_FAILED, 0, "the query was only partly answered: away" },
		{ ONE("\"boolValue\":true"), TIMESERIESREPLY_FAILED, 0,
			"could not extract value from metric of type boolValue" },
		{ ONE("\"distributionValue\":{\"count\":\"1\"}"), TIMESERIESREPLY_FAILED, 0,
			"could not extract value from metric of type distributionValue" },
		{ ONE("\"x\":1"), TIMESERIESREPLY_FAILED, 0, "no known type" },
		{ SERIES("{\"values\":[]}"), TIMESERIESREPLY_FAILED, 0, "no known type" },
		{ SERIES("1"), TIMESERIESREPLY_FAILED, 0, "no known type" },
		{ ONE("\"int64Value\":\"12x\""), TIMESERIESREPLY_FAILED, 0, "the newest point is not a number" },
		{ ONE("\"int64Value\":\"\""), TIMESERIESREPLY_FAILED, 0, "the newest point is not a number" },
		{ ONE("\"int64Value\":\"123456789012345678901234567890\""), TIMESERIESREPLY_FAILED, 0,
			"the newest point is not a number" },
		{ ONE("\"doubleValue\":\"NaN\""), TIMESERIESREPLY_FAILED, 0, "the newest point is not a number" },
		{ ONE("\"doubleValue\":null"), TIMESERIESREPLY_FAILED, 0, "the newest point is not a number" },
		{ "{\"timeSeriesData\":7}", TIMESERIESREPLY_FAILED, 0,
			"unexpected answer: it is not one of Cloud Monitoring's" },
		{ "[]", TIMESERIESREPLY_FAILED, 0, "unexpected answer: it is not one of Cloud Monitoring's" },
		{ "<html>", TIMESERIESREPLY_FAILED, 0, "the answer is not JSON" },
		{ "", TIMESERIESREPLY_FAILED, 0, "the answer is not JSON" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		double value = 0;
		char *page;
		enum timeseriesreply reply = timeseriesreply_read(rows[i].body, strlen(rows[i].body), &value, &page,
			&err);

		if (reply != rows[i].reply)
			fail_msg("%s: %d %s", rows[i].body, reply, err.msg);
		assert_true((page != NULL) == (reply == TIMESERIESREPLY_MORE));
		if (reply == TIMESERIESREPLY_VALUE)
			assert_true(value == rows[i].value);
		if (reply == TIMESERIESREPLY_MORE)
			assert_string_equal(page, rows[i].text);
		if (reply == TIMESERIESREPLY_FAILED && !strstr(err.msg, rows[i].text))
			fail_msg("%s: %s", rows[i].body, err.msg);
		free(page);
	}
}

static void giant_page_token(void **state)
{
	char token[5000], *body, *page;
	struct err err = { 0 };
	double value;

	(void)state;
	memset(token, 'x', sizeof(token));
	token[sizeof(token) - 1] = '\0';
	body = mem_printf("{\"nextPageToken\":\"%s\"}", token);
	assert_int_equal(timeseriesreply_read(body, strlen(body), &value, &page, &err), TIMESERIESREPLY_FAILED);
	assert_non_null(strstr(err.msg, "the name of the next page has more than"));
	assert_null(page);
	free(body);
}

static void refusals(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum err_kind kind;
		const char *message;
	} rows[] = {
		{ 403,
			"{\"error\":{\"code\":403,\"message\":\"Permission denied "
			"on\\nresource\",\"status\":\"PERMISSION_DENIED\"}}",
			ERR_DENIED,
			"HTTP status 403, PERMISSION_DENIED: Permission denied on resource; missing permission: "
			"monitoring.timeSeries.list (role Monitoring Viewer)" },
		{ 429, "{\"error\":{\"message\":\"Quota\",\"status\":\"RESOURCE_EXHAUSTED\"}}", ERR_TEMPORARY,
			"HTTP status 429, RESOURCE_EXHAUSTED: Quota" },
		{ 400, "{\"error\":{\"message\":\"m\",\"status\":\"not a code\"}}", ERR_INVALID, "HTTP status 400: m" },
		{ 502, "<html>", ERR_TEMPORARY, "HTTP status 502" },
		{ 500, "{\"error\":[]}", ERR_TEMPORARY, "HTTP status 500" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };

		assert_int_equal(timeseriesreply_refusal(rows[i].status, rows[i].body, strlen(rows[i].body), &err), -1);
		assert_int_equal(err.kind, rows[i].kind);
		assert_int_equal(err.http_status, rows[i].status);
		assert_string_equal(err.msg, rows[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(giant_page_token),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
