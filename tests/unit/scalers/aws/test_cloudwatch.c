/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of aws-cloudwatch, the window, and responses (doc/keda.md 8.22). Live tests cover
 * requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "awstrigger.h"
#include "base/mem.h"
#include "scalers/aws/cloudwatch.h"

#define ENDS       "targetMetricValue=2.5|minMetricValue=0|awsRegion=eu-west-1"
#define METRIC     "namespace=AWS/SQS|metricName=Age|dimensionName=QueueName|dimensionValue=orders|"
#define BASE       METRIC ENDS
#define EXPRESSION "expression=SELECT MAX(Age) FROM \"AWS/SQS\"|" ENDS
#define SOURCE     "aws-cloudwatch https://monitoring.eu-west-1.amazonaws.com:443"
#define NAME       "s1-aws-cloudwatch"

static void accepted(void **state)
{
	static const struct awstrigger_good rows[] = {
		{ BASE, KEYS, NAME, SOURCE, 2500, 0 },
		{ EXPRESSION "|activationTargetMetricValue=1.5", KEYS, NAME, SOURCE, 2500, 1.5 },
		{ "namespace=N|metricName=M|dimensionName=a;\n "
		  "b|dimensionValue=1;2|metricUnit=Bytes/Second|metricStat=p99|"
		  "metricStatPeriod=60|metricCollectionTime=120|metricEndTimeOffset=60|awsAccountId=1|ignoreNullValues="
		  "false|" ENDS,
			KEYS, NAME, SOURCE, 2500, 0 },
		{ BASE "|metricStatPeriod=10", KEYS, NAME, SOURCE, 2500, 0 },
		{ BASE "|metricStatPeriod=604800|metricCollectionTime=1209600", KEYS, NAME, SOURCE, 2500, 0 },
		{ BASE "|metricCollectionTime=0", KEYS, NAME, SOURCE, 2500, 0 },
		{ EXPRESSION "|metricUnit=parsecs", KEYS, NAME, SOURCE, 2500, 0 },
	};

	(void)state;
	awstrigger_accepts("aws-cloudwatch", rows, MEM_COUNT(rows));
}

static void rejected(void **state)
{
	static const struct awstrigger_bad rows[] = {
		{ "metricName=M|dimensionName=a|dimensionValue=b|" ENDS, KEYS, "namespace not given" },
		{ "namespace=N|dimensionName=a|dimensionValue=b|" ENDS, KEYS, "metric name not given" },
		{ "namespace=N|metricName=M|dimensionValue=b|" ENDS, KEYS, "dimension name not given" },
		{ "namespace=N|metricName=M|dimensionName=a|" ENDS, KEYS, "dimension value not given" },
		{ "namespace=N|metricName=M|dimensionName=a;b|dimensionValue=1|" ENDS, KEYS,
			"dimensionName and dimensionValue are not matching in size" },
		{ BASE "|metricUnit=Byte", KEYS, "metricUnit 'Byte' is not one of [Seconds Microseconds" },
		{ METRIC "minMetricValue=0|awsRegion=eu-west-1", KEYS,
			"missing required parameter \"targetMetricValue\"" },
		{ METRIC "targetMetricValue=1|awsRegion=eu-west-1", KEYS,
			"missing required parameter \"minMetricValue\"" },
		{ BASE "|metricStatPeriod=0", KEYS,
			"metricStatPeriod can not be smaller than 1, however, 0 is provided" },
		{ BASE "|metricStatPeriod=20", KEYS,
			"metricStatPeriod < 60 has to be one of [1, 5, 10, 30], however, 20 is provided" },
		{ BASE "|metricStatPeriod=90", KEYS,
			"metricStatPeriod >= 60 has to be a multiple of 60, however, 90 is provided" },
		{ BASE "|metricStatPeriod=2147483700|metricCollectionTime=0", KEYS,
			"metricStatPeriod 2147483700 is more than CloudWatch accepts" },
		{ BASE "|metricStatPeriod=604800|metricCollectionTime=86400", KEYS,
			"a multiple of metricStatPeriod(604800), 86400 is given" },
		{ BASE "|metricEndTimeOffset=9223372036854775807", KEYS, "\"metricEndTimeOffset\"" },
		{ BASE "|metricEndTimeOffset=-9223372036854775807", KEYS, "\"metricEndTimeOffset\"" },
		{ BASE "|metricStatPeriod=60|metricCollectionTime=9223372036854775800", KEYS,
			"\"metricCollectionTime\"" },
		{ BASE "|metricCollectionTime=200", KEYS,
			"metricCollectionTime must be greater than 0 and a multiple of metricStatPeriod(300), 200 is "
			"given" },
		{ BASE "|metricCollectionTime=-300", KEYS, "metricCollectionTime must be greater than 0" },
		{ BASE, NULL, "awsAccessKeyID not found" },
	};

	(void)state;
	awstrigger_refuses("aws-cloudwatch", rows, MEM_COUNT(rows));
}

static void questions(void **state)
{
	static const struct awstrigger_pair rows[] = {
		{ BASE, METRIC "targetMetricValue=9|minMetricValue=0|awsRegion=eu-west-1|activationTargetMetricValue=3",
			NULL, true },
		{ BASE, BASE "|metricStatPeriod=300|metricCollectionTime=300|metricStat=Average", NULL, true },
		{ BASE, METRIC "targetMetricValue=2.5|minMetricValue=1|awsRegion=eu-west-1", NULL, false },
		{ BASE, BASE "|ignoreNullValues=false", NULL, false },
		{ BASE, BASE "|metricStat=Sum", NULL, false },
		{ BASE, BASE "|metricStatPeriod=60", NULL, false },
		{ BASE, BASE "|metricCollectionTime=600", NULL, false },
		{ BASE, BASE "|metricEndTimeOffset=60", NULL, false },
		{ BASE, BASE "|awsAccountId=1", NULL, false },
		{ BASE, EXPRESSION, NULL, false },
		{ BASE, BASE, "awsAccessKeyID=AKID|awsSecretAccessKey=other", false },
	};

	(void)state;
	awstrigger_shares("aws-cloudwatch", rows, MEM_COUNT(rows));
}

static void windows(void **state)
{
	static const struct {
		int64_t now, period, offset, length, start, end;
	} rows[] = {
		{ 1000, 300, 0, 300, 600, 900 },
		{ 900, 300, 0, 600, 300, 900 },
		{ 1000, 300, 150, 300, 300, 600 },
		{ 1007, 10, 0, 20, 980, 1000 },
		{ 1007, 1, 0, 0, 1007, 1007 },
		/* Periods count from year 1, as in Go: a week begins on Monday. */
		{ 1767323045, 604800, 0, 604800, 1766361600, 1766966400 },
		{ 1767323045, 420, 0, 840, 1767322140, 1767322980 },
		{ 1767323045, 172800, 60, 345600, 1766880000, 1767225600 },
		{ 1767323045, 86400, 0, 86400, 1767225600, 1767312000 },
		{ 1767323045, 2147483640, 0, 0, 141428760, 141428760 },
		{ 1767323045, 300, -600, 300, 1767323100, 1767323400 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct cloudwatch_window w = cloudwatch_window(rows[i].now, rows[i].period, rows[i].offset,
			rows[i].length);

		assert_int_equal(w.start_s, rows[i].start);
		assert_int_equal(w.end_s, rows[i].end);
	}
}

#define ANSWER(text)                                                                                                   \
	"<GetMetricDataResponse xmlns=\"http://monitoring.amazonaws.com/doc/2010-08-01/\"><GetMetricDataResult>"       \
	"<MetricDataResults>" text "</MetricDataResults></GetMetricDataResult></GetMetricDataResponse>"
#define RESULT(status, values)                                                                                         \
	"<member><Id>c1</Id><StatusCode>" status "</StatusCode><Values>" values "</Values></member>"
#define POINT(value) "<member>" value "</member>"

static void answers(void **state)
{
	static const struct {
		const char *body;
		enum cloudwatch_found found;
		double value;
		const char *error;
	} rows[] = {
		{ ANSWER(RESULT("Complete", POINT("1.5") POINT("9"))), CLOUDWATCH_VALUE, 1.5, NULL },
		{ ANSWER(RESULT("PartialData", POINT("0.0"))), CLOUDWATCH_VALUE, 0, NULL },
		{ ANSWER(RESULT("Complete", POINT("-2E3")) RESULT("Complete", POINT("9"))), CLOUDWATCH_VALUE, -2000,
			NULL },
		{ ANSWER(RESULT("Complete", "") RESULT("Complete", POINT("9"))), CLOUDWATCH_NOTHING, 0, NULL },
		{ ANSWER(""), CLOUDWATCH_NOTHING, 0, NULL },
		{ ANSWER(RESULT("Forbidden", "")), CLOUDWATCH_FAILED, 0,
			"the answer has no point, and the status Forbidden" },
		{ ANSWER(RESULT("InternalError", "")), CLOUDWATCH_FAILED, 0, "InternalError" },
		{ ANSWER(RESULT("InternalError", POINT("1"))), CLOUDWATCH_FAILED, 0,
			"the answer has a point, and the status Inter" },
		{ ANSWER(RESULT("Complete",
			  POINT("1")) "</MetricDataResults><Messages><member><Code>MaxMetricsExceeded</Code>"
				      "</member></Messages><MetricDataResults>"),
			CLOUDWATCH_FAILED, 0, "incomplete: MaxMetricsExceeded" },
		{ ANSWER(RESULT("Complete", POINT("NaN"))), CLOUDWATCH_FAILED, 0, "the newest point is not a number" },
		{ ANSWER(RESULT("Complete", POINT(""))), CLOUDWATCH_FAILED, 0, "the newest point is not a number" },
		{ "<html/>", CLOUDWATCH_FAILED, 0, "the answer is not a GetMetricDataResponse" },
		{ "{}", CLOUDWATCH_FAILED, 0, "is not XML" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		double value = 0;

		assert_int_equal(cloudwatch_read(rows[i].body, strlen(rows[i].body), &value, &err), rows[i].found);
		if (rows[i].error)
			assert_non_null(strstr(err.msg, rows[i].error));
		if (rows[i].found == CLOUDWATCH_VALUE)
			assert_true(value == rows[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(questions), cmocka_unit_test(windows), cmocka_unit_test(answers) };

	return cmocka_run_group_tests_name("scalers/aws/cloudwatch", tests, NULL, NULL);
}
