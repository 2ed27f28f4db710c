/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of aws-sqs-queue, and responses (doc/keda.md 8.21). Live tests cover requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "awstrigger.h"
#include "base/mem.h"
#include "scalers/aws/sqs.h"

#define URL    "queueURL=https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo"
#define BASE   URL "|awsRegion=eu-west-1"
#define SOURCE "aws-sqs-queue https://sqs.eu-west-1.amazonaws.com:443"

static void accepted(void **state)
{
	static const struct awstrigger_good rows[] = {
		{ BASE, KEYS, "s1-aws-sqs-orders-fifo", SOURCE, 5000, 0 },
		{ BASE "|queueLength=7|activationQueueLength=2|scaleOnInFlight=false|scaleOnDelayed=true", KEYS,
			"s1-aws-sqs-orders-fifo", SOURCE, 7000, 2 },
		{ URL, KEYS "|awsRegion=eu-west-1", "s1-aws-sqs-orders-fifo", SOURCE, 5000, 0 },
		{ "queueURL=orders|awsRegion=cn-north-1", KEYS, "s1-aws-sqs-orders",
			"aws-sqs-queue https://sqs.cn-north-1.amazonaws.com.cn:443", 5000, 0 },
		{ "queueURL=/1/orders|awsRegion=eu-west-1|awsEndpoint=http://127.0.0.1:5000/", KEYS,
			"s1-aws-sqs-orders", "aws-sqs-queue http://127.0.0.1:5000", 5000, 0 },
		{ "queueURLFromEnv=Q|awsRegion=eu-west-1|awsAccessKeyIDFromEnv=K|awsSecretAccessKeyFromEnv=S", NULL,
			"s1-aws-sqs-queue-of-env", SOURCE, 5000, 0 },
		{ BASE "|awsAccessKeyID=AKID", "awsSecretAccessKey=secret-value", "s1-aws-sqs-orders-fifo", SOURCE,
			5000, 0 },
	};

	(void)state;
	awstrigger_accepts("aws-sqs-queue", rows, MEM_COUNT(rows));
}

static void rejected(void **state)
{
	static const struct awstrigger_bad rows[] = {
		{ "awsRegion=eu-west-1", KEYS, "missing required parameter \"queueURL\"" },
		{ URL, KEYS, "missing required parameter \"awsRegion\"" },
		{ URL "|awsRegion=x.evil.example/", KEYS, "\"awsRegion\": is not the name of an AWS region" },
		{ "awsRegion=eu-west-1|queueURL=https://sqs.eu-west-1.amazonaws.com/orders", KEYS,
			"cannot get queueName from queueURL" },
		{ "awsRegion=eu-west-1|queueURL=https://h/1/", KEYS, "cannot get queueName from queueURL" },
		{ "awsRegion=eu-west-1|queueURL=https://h/1/2/3", KEYS, "cannot get queueName from queueURL" },
		{ "awsRegion=eu-west-1|queueURL=\xff", KEYS, "parameter \"queueURL\": is not UTF-8" },
		{ BASE "|queueLength=0", KEYS, "\"queueLength\" value \"0\" must be greater than 0" },
		{ BASE "|queueLength=five", KEYS, "\"queueLength\" value \"five\"" },
		{ BASE "|scaleOnDelayed=maybe", KEYS, "\"scaleOnDelayed\" value \"maybe\"" },
		{ BASE "|awsEndpoint=localhost", KEYS, "\"awsEndpoint\"" },
		{ BASE, NULL, "awsAccessKeyID not found" },
		{ BASE, "awsAccessKeyID=AKID", "awsSecretAccessKey not found" },
		{ BASE "|identityOwner=operator", KEYS, "kscaled's own AWS identity" },
	};

	(void)state;
	awstrigger_refuses("aws-sqs-queue", rows, MEM_COUNT(rows));
}

static void questions(void **state)
{
	static const struct awstrigger_pair rows[] = {
		{ BASE, BASE "|queueLength=9|activationQueueLength=3|scaleOnInFlight=true", NULL, true },
		{ BASE, BASE "|scaleOnInFlight=false", NULL, false },
		{ BASE, BASE "|scaleOnDelayed=true", NULL, false },
		{ BASE, URL "|awsRegion=eu-west-2", NULL, false },
		{ BASE, BASE "|awsEndpoint=http://h", NULL, false },
		{ BASE, BASE "|awsEndpoint=https://sqs.eu-west-1.amazonaws.com", NULL, true },
		{ BASE, "awsRegion=eu-west-1|queueURL=orders.fifo", NULL, false },
		{ BASE, BASE, "awsAccessKeyID=AKID|awsSecretAccessKey=other", false },
	};

	(void)state;
	awstrigger_shares("aws-sqs-queue", rows, MEM_COUNT(rows));
}

#define ATTRIBUTES(text) "{\"Attributes\":{" text "}}"
#define VISIBLE          "\"ApproximateNumberOfMessages\":\"3\""
#define IN_FLIGHT        "\"ApproximateNumberOfMessagesNotVisible\":\"20\""
#define DELAYED          "\"ApproximateNumberOfMessagesDelayed\":\"100\""

static void answers(void **state)
{
	static const struct {
		const char *body;
		unsigned also;
		double value;
		const char *error;
	} rows[] = {
		{ ATTRIBUTES(VISIBLE), 0, 3, NULL },
		{ ATTRIBUTES(VISIBLE "," IN_FLIGHT "," DELAYED), 0, 3, NULL },
		{ ATTRIBUTES(VISIBLE "," IN_FLIGHT "," DELAYED), SQS_IN_FLIGHT, 23, NULL },
		{ ATTRIBUTES(VISIBLE "," IN_FLIGHT "," DELAYED), SQS_IN_FLIGHT | SQS_DELAYED, 123, NULL },
		{ ATTRIBUTES(VISIBLE), SQS_DELAYED, 0,
			"metric ApproximateNumberOfMessagesDelayed not found in SQS queue attributes" },
		{ ATTRIBUTES(""), 0, 0, "metric ApproximateNumberOfMessages not found in SQS queue attributes" },
		{ "{}", 0, 0, "metric ApproximateNumberOfMessages not found" },
		{ "[]", 0, 0, "metric ApproximateNumberOfMessages not found" },
		{ "<html>", 0, 0, "the answer is not JSON" },
		{ ATTRIBUTES("\"ApproximateNumberOfMessages\":3"), 0, 0, "not found" },
		{ ATTRIBUTES("\"ApproximateNumberOfMessages\":\"-3\""), 0, 0, "is not a number" },
		{ ATTRIBUTES("\"ApproximateNumberOfMessages\":\"1234567890123456\""), 0, 0, "is not a number" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		double value;
		int rc = sqs_read(rows[i].body, strlen(rows[i].body), rows[i].also, &value, &err);

		assert_int_equal(rc, rows[i].error ? -1 : 0);
		if (rows[i].error)
			assert_non_null(strstr(err.msg, rows[i].error));
		else
			assert_true(value == rows[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(questions), cmocka_unit_test(answers) };

	return cmocka_run_group_tests_name("scalers/aws/sqs", tests, NULL, NULL);
}
