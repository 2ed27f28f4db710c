/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults in parameters without effect are reported, and the trigger is built as in KEDA; otherwise
 * they are errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "pairs.h"
#include "scalers/scalerbuild.h"

#define KAFKA  "bootstrapServers=k:9092|consumerGroup=g|topic=t"
#define SQS    "queueURL=https://sqs.eu-west-1.amazonaws.com/1/q|awsRegion=eu-west-1"
#define REDIS  "address=r:6379|listName=l"
#define OAUTH  "sasl=oauthbearer|username=u|password=p|oauthTokenEndpointUri=https://t"
#define RABBIT "queueName=q|host=http://r/"

static const struct {
	const char *type, *metadata, *auth, *provider;
	const char *ignored; /* NULL: nothing */
	const char *error;   /* NULL: built */
} rows[] = {
	/* cloud identity */
	{ "redis", REDIS, "", "azure-workload",
		"podIdentity azure-workload of its authentication has no effect: triggers of type redis do not "
		"use it",
		NULL },
	{ "redis", REDIS, "", "aws", "podIdentity aws of its authentication has no effect", NULL },
	{ "cron", "timezone=UTC|start=0 1 * * *|end=0 2 * * *|desiredReplicas=1", "", "gcp", "podIdentity gcp", NULL },
	{ "kubernetes-workload", "podSelector=a=b|value=5", "", "aws-eks", "podIdentity aws-eks", NULL },
	{ "redis", REDIS, "", "none", NULL, NULL },
	{ "redis", REDIS, "", NULL, NULL, NULL },
	{ "aws-sqs-queue", SQS, "", "aws", NULL, NULL },
	{ "prometheus",
		"serverAddress=https://monitoring.googleapis.com/v1/projects/p/location/global/"
		"prometheus|query=q|threshold=1",
		"", "gcp", NULL, NULL },
	/* identityOwner */
	{ "aws-sqs-queue", SQS "|identityOwner=workload", "", "aws",
		"\"identityOwner\" value \"workload\": must be one of pod, operator; that has no effect with "
		"podIdentity aws",
		NULL },
	{ "aws-sqs-queue", SQS "|identityOwner=operator", "", "aws", NULL, NULL },
	{ "aws-sqs-queue", SQS "|identityOwner=workload", "awsAccessKeyID=a|awsSecretAccessKey=b", NULL, NULL,
		"\"identityOwner\" value \"workload\"" },
	/* extensions without such a login */
	{ "kafka", KAFKA, "oauthExtensions=nonsense", NULL,
		"\"oauthExtensions\" value from authParams (not shown): must be name=value pieces", NULL },
	{ "kafka", KAFKA, "oauthExtensions=a=b", NULL, NULL, NULL },
	{ "kafka", KAFKA, OAUTH "|oauthExtensions=a=b|tls=disable", NULL, NULL, NULL },
	{ "kafka", KAFKA, OAUTH "|oauthExtensions=nonsense", NULL, NULL, "\"oauthExtensions\"" },
	/* half a certificate */
	{ "kafka", KAFKA, "cert=c", NULL,
		"parameters \"cert\" and \"key\" belong together: only cert is given; that has no effect without TLS",
		NULL },
	{ "kafka", KAFKA, "key=k|tls=enable", NULL, NULL, "only key is given" },
	{ "redis", REDIS, "cert=c", NULL, "only cert is given; that has no effect without TLS", NULL },
	{ "redis", REDIS, "cert=c|tls=enable", NULL, NULL, "only cert is given" },
	{ "rabbitmq", RABBIT, "key=k", NULL, "only key is given; that has no effect without TLS", NULL },
	{ "rabbitmq", "queueName=q|host=https://r/", "key=k|tls=enable", NULL, NULL, "only key is given" },
	/* for several queues, with only one */
	{ "rabbitmq", RABBIT "|operation=median|pageSize=0", "", NULL,
		"\"pageSize\" value \"0\" must be between 1 and 2147483647; that has no effect without useRegex",
		NULL },
	{ "rabbitmq", RABBIT "|operation=median", "", NULL,
		"\"operation\" value \"median\": must be one of sum, avg, max; that has no effect without useRegex",
		NULL },
	{ "rabbitmq", RABBIT "|operation=max|pageSize=7", "", NULL, NULL, NULL },
	{ "rabbitmq", RABBIT "|operation=median|useRegex=true", "", NULL, NULL, "\"operation\" value \"median\"" },
};

static void check(size_t i)
{
	struct strmap m = { 0 }, a = { 0 };
	const struct pod_identity pod = { .provider = rows[i].provider, .may_be_kscaled = true };
	const struct scaler_params params = { .type = rows[i].type, .metadata = &m, .auth = &a, .identity = &pod };
	struct scaler s = { 0 };
	struct err err = { 0 };
	int rc;

	pairs_fill(&m, rows[i].metadata);
	pairs_fill(&a, rows[i].auth);
	rc = scaler_build(&params, &s, &err);
	if ((rc != 0) != (rows[i].error != NULL) || (rc && !strstr(err.msg, rows[i].error)))
		fail_msg("row %zu, %s: %d %s", i, rows[i].metadata, rc, err.msg);
	if (!s.ignored != !rows[i].ignored || (s.ignored && !strstr(s.ignored, rows[i].ignored)))
		fail_msg("row %zu, %s: %s", i, rows[i].metadata, s.ignored);
	scaler_done(&s);
	strmap_done(&m);
	strmap_done(&a);
}

static void faults_without_effect_are_reported(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		check(i);
}

/* Several faults are all reported. */
static void all_faults_are_reported(void **state)
{
	struct strmap m = { 0 }, a = { 0 };
	const struct pod_identity pod = { .provider = "azure-workload" };
	const struct scaler_params params = { .type = "kafka", .metadata = &m, .auth = &a, .identity = &pod };
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	pairs_fill(&m, KAFKA);
	pairs_fill(&a, "cert=c|oauthExtensions=x");
	assert_int_equal(scaler_build(&params, &s, &err), 0);
	assert_non_null(strstr(s.ignored, "\"oauthExtensions\""));
	assert_non_null(strstr(s.ignored, "; parameters \"cert\" and \"key\""));
	assert_non_null(strstr(s.ignored, "; podIdentity azure-workload"));
	scaler_done(&s);
	strmap_done(&m);
	strmap_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(faults_without_effect_are_reported),
		cmocka_unit_test(all_faults_are_reported) };

	return cmocka_run_group_tests_name("scalers/ignored", tests, NULL, NULL);
}
