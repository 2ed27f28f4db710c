/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of azure-queue, and the count in a response (doc/keda.md 8.24). Connection strings
 * are in test_storageaccount.c, lists of messages in test_storagexml.c; live tests cover requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../aws/awstrigger.h"
#include "base/mem.h"
#include "scalers/azure/azurequeue.h"

#define CONNECTION "connection=AccountName=shop;AccountKey=c2VjcmV0LXZhbHVl"
#define SOURCE     "azure-queue https://shop.queue.core.windows.net:443"

static void accepted(void **state)
{
	static const struct awstrigger_good rows[] = {
		{ "queueName=orders", CONNECTION, "s1-azure-queue-orders", SOURCE, 5000, 0 },
		{ "queueName=or.ders|queueLength=7|activationQueueLength=2|queueLengthStrategy=visibleonly", CONNECTION,
			"s1-azure-queue-or-ders", SOURCE, 7000, 2 },
		{ "queueName=orders|queueLengthStrategy=all|" CONNECTION, NULL, "s1-azure-queue-orders", SOURCE, 5000,
			0 },
		{ "queueName=orders|accountName=ignored|cloud=AzureChinaCloud|endpointSuffix=ignored",
			CONNECTION ";EndpointSuffix=core.local", "s1-azure-queue-orders",
			"azure-queue https://shop.queue.core.local:443", 5000, 0 },
		{ "queueName=orders|connection=AccountName=later", CONNECTION "\n", "s1-azure-queue-orders", SOURCE,
			5000, 0 },
	};

	(void)state;
	awstrigger_accepts("azure-queue", rows, MEM_COUNT(rows));
}

static void rejected(void **state)
{
	static const struct awstrigger_bad rows[] = {
		{ "queueLength=5", CONNECTION, "missing required parameter \"queueName\"" },
		{ "queueName=orders", NULL, "no connection setting given" },
		{ "queueName=orders|accountName=shop", NULL, "no connection setting given" },
		{ "queueName=orders|queueLength=0", CONNECTION, "\"queueLength\" value \"0\" must be greater than 0" },
		{ "queueName=orders|queueLength=five", CONNECTION, "\"queueLength\" value \"five\"" },
		{ "queueName=orders|activationQueueLength=x", CONNECTION, "\"activationQueueLength\" value \"x\"" },
		{ "queueName=orders|queueLengthStrategy=VisibleOnly", CONNECTION,
			"\"queueLengthStrategy\" value \"VisibleOnly\": must be one of all, visibleonly" },
		{ "queueName=orders|cloud=Nowhere", CONNECTION, "invalid cloud environment Nowhere" },
		{ "queueName=orders|cloud=private", CONNECTION,
			"endpointSuffix must be provided for Private cloud type" },
		{ "queueName=orders", "connection=secret-value", "connection string is either blank or malformed" },
		{ "queueName=orders|connectionFromEnv=S", NULL, "connection string is either blank or malformed" },
	};

	(void)state;
	awstrigger_refuses("azure-queue", rows, MEM_COUNT(rows));
}

#define ORDERS "queueName=orders|" CONNECTION

static void questions(void **state)
{
	static const struct awstrigger_pair rows[] = {
		{ ORDERS, ORDERS "|queueLength=9|activationQueueLength=3|queueLengthStrategy=all", NULL, true },
		{ ORDERS, ORDERS "|queueLengthStrategy=visibleonly", NULL, false },
		{ ORDERS, "queueName=others|" CONNECTION, NULL, false },
		{ ORDERS, "queueName=orders", CONNECTION, true },
		{ ORDERS, ORDERS, CONNECTION "AAAA", false },
	};

	(void)state;
	awstrigger_shares("azure-queue", rows, MEM_COUNT(rows));
}

static void counts(void **state)
{
	static const struct {
		const char *text;
		double value;
		const char *error;
	} rows[] = {
		{ "0", 0, NULL },
		{ "12", 12, NULL },
		{ "123456789012345", 123456789012345, NULL },
		{ "", 0, "the answer has no x-ms-approximate-messages-count: is this a queue service" },
		{ "-1", 0, "x-ms-approximate-messages-count is not a number" },
		{ "1.5", 0, "is not a number" },
		{ "1234567890123456", 0, "is not a number" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		double value;

		assert_int_equal(azurequeue_read_count(rows[i].text, &value, &err), rows[i].error ? -1 : 0);
		assert_true(value == rows[i].value);
		if (rows[i].error)
			assert_non_null(strstr(err.msg, rows[i].error));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(questions), cmocka_unit_test(counts) };

	return cmocka_run_group_tests_name("scalers/azure/azurequeue", tests, NULL, NULL);
}
