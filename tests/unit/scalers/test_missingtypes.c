/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "scalers/missingtypes.h"
#include "scalers/scalerbuild.h"
#include "scalers/values/jsonpath.h"

/*
 * Types of KEDA 2.20 (pkg/scaling/scalers_builder.go, in its order), then of 2.21, then a removed
 * one.
 */
static const char *const of_keda[] = { "activemq", "apache-kafka", "arangodb", "artemis-queue", "aws-cloudwatch",
	"aws-dynamodb", "aws-dynamodb-streams", "aws-kinesis-stream", "aws-sqs-queue", "azure-app-insights",
	"azure-blob", "azure-data-explorer", "azure-eventhub", "azure-log-analytics", "azure-monitor",
	"azure-pipelines", "azure-queue", "azure-servicebus", "beanstalkd", "cassandra", "couchdb", "cpu", "cron",
	"datadog", "dynatrace", "elastic-forecast", "elasticsearch", "etcd", "external", "external-mock",
	"external-push", "forgejo-runner", "gcp-cloudtasks", "gcp-pubsub", "gcp-stackdriver", "gcp-storage",
	"github-runner", "graphite", "huawei-cloudeye", "ibmmq", "influxdb", "kafka", "kubernetes-resource",
	"kubernetes-workload", "liiklus", "loki", "memory", "metrics-api", "mongodb", "mssql", "mysql",
	"nats-jetstream", "new-relic", "nsq", "opensearch", "openstack-metric", "openstack-swift", "postgresql",
	"predictkube", "prometheus", "pulsar", "rabbitmq", "redis", "redis-cluster", "redis-cluster-streams",
	"redis-sentinel", "redis-sentinel-streams", "redis-streams", "selenium-grid", "solace-direct-messaging",
	"solace-event-queue", "solarwinds", "solr", "splunk", "splunk-observability", "sumologic", "temporal",
	"clickhouse", "gcp-spanner", "stan" };

/* Whether "... use TYPE ..." names an existing type. */
static bool names_one_that_is_there(const char *instead)
{
	const char *word = strstr(instead, "use ");
	MEM_AUTO char *type = word ? mem_dupn(word + 4, strcspn(word + 4, " ,;")) : NULL;

	return type && scaler_type_find(type);
}

static void each_type_of_keda_exists_or_has_a_replacement(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(of_keda); i++) {
		const char *instead = missingtypes_instead(of_keda[i]);
		bool there = scaler_type_find(of_keda[i]);

		if (there == !instead && (there || names_one_that_is_there(instead)))
			continue;
		print_error("%s: %s; %s\n", of_keda[i], there ? "is there" : "is not there",
			instead ? instead : "nothing is said");
		wrong++;
	}
	assert_int_equal(wrong, 0);
	assert_null(missingtypes_instead("no-such-type"));
}

/* Answers from the vendors' documentation. */
static const struct {
	const char *type, *answer;
} answers[] = {
	{ "activemq", "{\"request\":{\"attribute\":\"QueueSize\",\"type\":\"read\"},\"value\":7,\"status\":200}" },
	{ "artemis-queue",
		"{\"request\":{\"attribute\":\"MessageCount\",\"type\":\"read\"},\"value\":7,\"status\":200}" },
	{ "clickhouse",
		"{\"meta\":[{\"name\":\"COLUMN\",\"type\":\"UInt64\"}],\"data\":[{\"COLUMN\":\"7\"}],\"rows\":1}" },
	{ "influxdb",
		"{\"results\":[{\"statement_id\":0,\"series\":[{\"name\":\"jobs\",\"columns\":[\"time\",\"count\"],"
		"\"values\":[[\"1970-01-01T00:00:00Z\",7]]}]}]}" },
	{ "solr", "{\"responseHeader\":{\"status\":0},\"response\":{\"numFound\":7,\"start\":0,\"docs\":[]}}" },
};

static const char *said_of(const char *type)
{
	const char *instead = missingtypes_instead(type);

	return instead ? instead : "";
}

static void suggested_locations_find_the_number(void **state)
{
	size_t told = 0;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(of_keda); i++)
		told += strstr(said_of(of_keda[i]), "valueLocation: ") != NULL;
	assert_int_equal(told, MEM_COUNT(answers));
	for (size_t i = 0; i < MEM_COUNT(answers); i++) {
		const char *said = strstr(missingtypes_instead(answers[i].type), "valueLocation: ") + 15;
		MEM_AUTO char *location = mem_dupn(said, strcspn(said, " ,;"));
		struct err err = { 0 };
		struct jsonpath *path = jsonpath_compile(location, &err);
		double value = 0;

		assert_string_equal(err.msg, "");
		if (jsonpath_number(path, answers[i].answer, strlen(answers[i].answer), &value, &err) || value != 7)
			fail_msg("%s: %s: %s", answers[i].type, location, err.msg);
		jsonpath_free(path);
	}
}

static void an_object_gets_the_replacement(void **state)
{
	struct strmap none = { 0 };
	const struct scaler_params params = { .type = "pulsar", .index = 2, .metadata = &none };
	struct scaler scaler;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(scaler_build(&params, &scaler, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg,
		"trigger 2: no scaler found for type: pulsar (not in this version; use prometheus with the brokers' "
		"metric pulsar_subscription_back_log)");
}

static void misspelled_types_get_a_suggestion(void **state)
{
	MEM_AUTO char *near = missingtypes_explain("rabitmq"), *begin = missingtypes_explain("nats"),
		      *far = missingtypes_explain("something-else-altogether");

	(void)state;
	assert_string_equal(begin, "perhaps nats-jetstream; kscaled-triggers(5) lists all types");
	assert_string_equal(near, "perhaps rabbitmq; kscaled-triggers(5) lists all types");
	assert_string_equal(far, "kscaled-triggers(5) lists all types");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_of_keda_exists_or_has_a_replacement),
		cmocka_unit_test(suggested_locations_find_the_number),
		cmocka_unit_test(an_object_gets_the_replacement),
		cmocka_unit_test(misspelled_types_get_a_suggestion),
	};

	return cmocka_run_group_tests_name("scalers/missingtypes", tests, NULL, NULL);
}
