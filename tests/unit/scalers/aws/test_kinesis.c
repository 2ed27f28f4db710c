/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of aws-kinesis-stream, and responses (doc/keda.md 8.23). Live tests cover
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
#include "scalers/aws/kinesis.h"

#define BASE   "streamName=a.b|awsRegion=eu-west-1"
#define SOURCE "aws-kinesis-stream https://kinesis.eu-west-1.amazonaws.com:443"

static void accepted(void **state)
{
	static const struct awstrigger_good rows[] = {
		{ BASE, KEYS, "s1-aws-kinesis-a-b", SOURCE, 2000, 0 },
		{ BASE "|shardCount=3|activationShardCount=1", KEYS, "s1-aws-kinesis-a-b", SOURCE, 3000, 1 },
	};

	(void)state;
	awstrigger_accepts("aws-kinesis-stream", rows, MEM_COUNT(rows));
}

static void rejected(void **state)
{
	static const struct awstrigger_bad rows[] = {
		{ "awsRegion=eu-west-1", KEYS, "missing required parameter \"streamName\"" },
		{ "streamName=a", KEYS, "missing required parameter \"awsRegion\"" },
		{ BASE "|shardCount=0", KEYS, "\"shardCount\" value \"0\" must be greater than 0" },
		{ BASE, NULL, "awsAccessKeyID not found" },
	};

	(void)state;
	awstrigger_refuses("aws-kinesis-stream", rows, MEM_COUNT(rows));
}

static void questions(void **state)
{
	static const struct awstrigger_pair rows[] = {
		{ BASE, BASE "|shardCount=9|activationShardCount=3", NULL, true },
		{ BASE, "streamName=b|awsRegion=eu-west-1", NULL, false },
		{ BASE, "streamName=a.b|awsRegion=eu-west-2", NULL, false },
		{ BASE, BASE, "awsAccessKeyID=AKID|awsSecretAccessKey=other", false },
	};

	(void)state;
	awstrigger_shares("aws-kinesis-stream", rows, MEM_COUNT(rows));
}

static void answers(void **state)
{
	static const struct {
		const char *body;
		double value;
		bool good;
	} rows[] = {
		{ "{\"StreamDescriptionSummary\":{\"OpenShardCount\":4}}", 4, true },
		{ "{\"StreamDescriptionSummary\":{\"OpenShardCount\":-4}}", 0, false },
		{ "{\"StreamDescriptionSummary\":{\"OpenShardCount\":\"4\"}}", 0, false },
		{ "{\"StreamDescriptionSummary\":{}}", 0, false },
		{ "{}", 0, false },
		{ "<html>", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct err err = { 0 };
		double value;

		assert_int_equal(kinesis_read(rows[i].body, strlen(rows[i].body), &value, &err), rows[i].good ? 0 : -1);
		assert_true(value == rows[i].value);
		assert_int_equal(err.kind, rows[i].good ? ERR_NONE : ERR_INVALID);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(accepted), cmocka_unit_test(rejected),
		cmocka_unit_test(questions), cmocka_unit_test(answers) };

	return cmocka_run_group_tests_name("scalers/aws/kinesis", tests, NULL, NULL);
}
