/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/init.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "scalers/missingtypes.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

enum { DONE = 0, UNWRITTEN = 1 };

/* ---- The manifest ---- */

#define THREE(name, port)                                                                                              \
	name "-0." name ".default.svc:" port "," name "-1." name ".default.svc:" port "," name "-2." name              \
	     ".default.svc:" port

/*
 * Parameters written with a value, not as a comment: the required ones and the target, which people
 * change first. The first row that matches type (NULL: any) and name counts. authenticationRef: for
 * types that take credentials from nowhere else.
 */
static const struct {
	const char *type, *name, *value;
} written[] = {
	{ "redis", "address", "redis.default.svc:6379" },
	{ "redis-streams", "address", "redis.default.svc:6379" },
	{ "redis-cluster", "address", THREE("redis", "6379") },
	{ "redis-cluster-streams", "address", THREE("redis", "6379") },
	{ "redis-sentinel", "address", THREE("sentinel", "26379") },
	{ "redis-sentinel-streams", "address", THREE("sentinel", "26379") },
	{ "azure-pipelines", "organizationURL", "https://dev.azure.com/shop" },
	{ "azure-pipelines", "poolName", "linux" },
	{ "azure-pipelines", "personalAccessTokenFromEnv", "AZP_TOKEN" },
	{ "gcp-pubsub", "subscriptionName", "orders" },
	{ "gcp-pubsub", "mode", "SubscriptionSize" },
	{ "gcp-pubsub", "value", "20" },
	{ "gcp-pubsub", "credentialsFromEnv", "GOOGLE_CREDENTIALS" },
	{ "azure-servicebus", "queueName", "orders" },
	{ NULL, "messageCount", "5" },
	{ "azure-servicebus", "connectionFromEnv", "SERVICEBUS_CONNECTION" },
	{ "datadog", "query", "sum:trace.redis.hits{env:production,service:shop}.as_rate()" },
	{ "datadog", "targetValue", "100" },
	{ "datadog", "authenticationRef", "datadog" },
	{ "elasticsearch", "addresses", "http://elasticsearch.default.svc:9200" },
	{ "elasticsearch", "username", "scaler" },
	{ "elasticsearch", "passwordFromEnv", "ELASTIC_PASSWORD" },
	{ "opensearch", "addresses", "https://opensearch.default.svc:9200" },
	{ "opensearch", "username", "scaler" },
	{ "opensearch", "passwordFromEnv", "OPENSEARCH_PASSWORD" },
	{ NULL, "index", "jobs" },
	{ "elasticsearch", "query", "{\"size\": 0, \"query\": {\"term\": {\"state.keyword\": \"queued\"}}}" },
	{ "opensearch", "query", "{\"size\": 0, \"query\": {\"term\": {\"state.keyword\": \"queued\"}}}" },
	{ "elasticsearch", "valueLocation", "hits.total.value" },
	{ "opensearch", "valueLocation", "hits.total.value" },
	{ "azure-queue", "queueName", "orders" },
	{ "azure-queue", "queueLength", "5" },
	{ "azure-queue", "connectionFromEnv", "AZURE_STORAGE_CONNECTION_STRING" },
	{ "azure-blob", "blobContainerName", "orders" },
	{ "azure-blob", "blobCount", "5" },
	{ "azure-blob", "connectionFromEnv", "AZURE_STORAGE_CONNECTION_STRING" },
	{ "github-runner", "owner", "shop" },
	{ "github-runner", "runnerScope", "org" },
	{ "github-runner", "repos", "web" },
	{ "github-runner", "authenticationRef", "github" },
	{ NULL, "queueURL", "https://sqs.eu-west-1.amazonaws.com/123456789012/orders" },
	{ "aws-sqs-queue", "queueLength", "5" },
	{ "aws-cloudwatch", "namespace", "AWS/SQS" },
	{ "aws-cloudwatch", "metricName", "ApproximateAgeOfOldestMessage" },
	{ "aws-cloudwatch", "dimensionName", "QueueName" },
	{ "aws-cloudwatch", "dimensionValue", "orders" },
	{ NULL, "targetMetricValue", "60" },
	{ NULL, "minMetricValue", "0" },
	{ "aws-kinesis-stream", "streamName", "orders" },
	{ NULL, "shardCount", "2" },
	{ "aws-sqs-queue", "awsRegion", "eu-west-1" },
	{ "aws-cloudwatch", "awsRegion", "eu-west-1" },
	{ "aws-kinesis-stream", "awsRegion", "eu-west-1" },
	{ "aws-sqs-queue", "awsAccessKeyID", "AKIAIOSFODNN7EXAMPLE" },
	{ "aws-cloudwatch", "awsAccessKeyID", "AKIAIOSFODNN7EXAMPLE" },
	{ "aws-kinesis-stream", "awsAccessKeyID", "AKIAIOSFODNN7EXAMPLE" },
	{ "aws-sqs-queue", "awsSecretAccessKeyFromEnv", "AWS_SECRET_ACCESS_KEY" },
	{ "aws-cloudwatch", "awsSecretAccessKeyFromEnv", "AWS_SECRET_ACCESS_KEY" },
	{ "aws-kinesis-stream", "awsSecretAccessKeyFromEnv", "AWS_SECRET_ACCESS_KEY" },
	{ NULL, "sentinelMaster", "mymaster" },
	{ NULL, "listName", "jobs" },
	{ NULL, "listLength", "5" },
	{ "nats-jetstream", "stream", "orders" },
	{ NULL, "stream", "events" },
	{ NULL, "streamLength", "5" },
	{ NULL, "bootstrapServers", "kafka.default.svc:9092" },
	{ NULL, "consumerGroup", "workers" },
	{ NULL, "topic", "jobs" },
	{ NULL, "lagThreshold", "10" },
	{ "mysql", "host", "mysql.default.svc" },
	{ "mysql", "port", "3306" },
	{ "mysql", "username", "scaler" },
	{ "mongodb", "connectionString", "mongodb://mongodb.default.svc:27017" },
	{ "mongodb", "dbName", "shop" },
	{ "mongodb", "collection", "jobs" },
	{ "mongodb", "query", "{\"state\": \"queued\"}" },
	{ "postgresql", "host", "postgresql.default.svc" },
	{ "postgresql", "port", "5432" },
	{ "postgresql", "userName", "scaler" },
	{ "postgresql", "sslmode", "verify-full" },
	{ "rabbitmq", "host", "amqp://rabbitmq.default.svc:5672/" },
	{ "rabbitmq", "queueName", "jobs" },
	{ "rabbitmq", "mode", "QueueLength" },
	{ "rabbitmq", "value", "20" },
	{ "beanstalkd", "server", "beanstalkd.default.svc:11300" },
	{ "beanstalkd", "tube", "jobs" },
	{ "beanstalkd", "value", "5" },
	{ NULL, "dbName", "shop" },
	{ NULL, "natsServerMonitoringEndpoint", "nats.default.svc:8222" },
	{ NULL, "account", "$G" },
	{ NULL, "consumer", "worker" },
	{ NULL, "lagThreshold", "10" },
	{ "prometheus", "serverAddress", "http://prometheus.monitoring.svc:9090" },
	{ "prometheus", "query", "sum(rate(http_requests_total{app=\"shop\"}[2m]))" },
	{ "prometheus", "threshold", "100" },
	{ "loki", "serverAddress", "http://loki.monitoring.svc:3100" },
	{ "loki", "query", "sum(rate({app=\"shop\"} |= \"error\" [2m]))" },
	{ "loki", "threshold", "10" },
	{ "graphite", "serverAddress", "http://graphite.monitoring.svc:8080" },
	{ "graphite", "query", "sumSeries(shop.queue.*)" },
	{ NULL, "queryTime", "-5min" },
	{ "graphite", "threshold", "100" },
	{ NULL, "query", "SELECT COUNT(*) FROM jobs WHERE state = 'queued'" },
	{ NULL, "queryValue", "5" },
	{ NULL, "targetQueryValue", "5" },
	{ NULL, "url", "http://stats.default.svc:8080/queues" },
	{ "metrics-api", "valueLocation", "queues.0.messages" },
	{ NULL, "targetValue", "5" },
	{ NULL, "scalerAddress", "scaler.default.svc:50051" },
	{ "etcd", "endpoints", THREE("etcd", "2379") },
	{ "etcd", "watchKey", "shop/jobs" },
	{ "etcd", "value", "5" },
	{ NULL, "timezone", "Europe/Berlin" },
	{ NULL, "start", "0 8 * * 1-5" },
	{ NULL, "end", "0 20 * * 1-5" },
	{ NULL, "desiredReplicas", "3" },
	{ NULL, "podSelector", "app=front-end" },
	{ "kubernetes-workload", "value", "4" },
	{ "kubernetes-resource", "resourceKind", "ConfigMap" },
	{ "kubernetes-resource", "resourceName", "queues" },
	{ "kubernetes-resource", "key", "jobs" },
	{ NULL, "value", "80" },
};

/* The value of a parameter; NULL: write a comment. */
static const char *value_of(const char *type, const char *name)
{
	for (size_t i = 0; i < MEM_COUNT(written); i++)
		if (strcmp(written[i].name, name) == 0 && (!written[i].type || strcmp(written[i].type, type) == 0))
			return written[i].value;
	return NULL;
}

/* Hides parameters that are accepted only for compatibility. */
static bool is_shown(const struct param_row *row)
{
	return row->kind != PARAM_IGNORED && row->kind != PARAM_REFUSED && row->kind != PARAM_DROPPED &&
		row->kind != PARAM_OTHERS && !(row->help && strstr(row->help, ": an error"));
}

static void put_choices(const struct param_row *row, struct buf *out)
{
	for (size_t i = 0; row->words[i]; i++)
		buf_printf(out, "%s%s", i > 0 ? ", " : "", row->words[i]);
}

/* The help and the possible values. */
static void put_help(const struct param_row *row, struct buf *out)
{
	buf_puts(out, row->help ? row->help : "");
	if (row->words) {
		buf_puts(out, ": ");
		put_choices(row, out);
	}
	buf_putc(out, '\n');
}

/*
 * With a value, or as a comment: `# name: "default"  # help`. An uncommented empty value counts as
 * absent.
 */
static void put_parameter(const char *type, const struct param_row *row, const char *name, const char *more,
	struct buf *out)
{
	const char *value = value_of(type, name);

	if (value) {
		buf_printf(out, "      # %s", more);
		put_help(row, out);
		buf_printf(out, "      %s: ", name);
		buf_put_json(out, value);
		buf_putc(out, '\n');
		return;
	}
	buf_printf(out, "      # %s: ", name);
	buf_put_json(out, row->otherwise ? row->otherwise : "");
	buf_printf(out, "  # %s", more);
	put_help(row, out);
}

static void put_row(const char *type, const struct param_row *row, struct buf *out)
{
	const char *names = row->names;
	char name[PARAM_NAME_SIZE + sizeof("FromEnv")], variable[sizeof(name)];

	params_next_name(&names, name);
	snprintf(variable, sizeof(variable), "%.*sFromEnv", PARAM_NAME_SIZE, name);
	/* A password may be in the metadata, but is better in a variable. */
	if (strchr(row->where, 'm') && !value_of(type, variable))
		put_parameter(type, row, name, "", out);
	else if (strchr(row->where, 'e'))
		put_parameter(type, row, variable, "an environment variable of the container: ", out);
}

/* Parameters from a TriggerAuthentication. */
static void put_secrets(const struct scaler_type *type, struct buf *out)
{
	const char *reference = value_of(type->name, "authenticationRef");
	bool first = true;

	for (size_t t = 0; type->tables[t]; t++) {
		for (size_t i = 0; i < type->tables[t]->count; i++) {
			const struct param_row *row = &type->tables[t]->rows[i];
			const char *names = row->names;
			char name[PARAM_NAME_SIZE];

			if (!is_shown(row) || !strchr(row->where, 'a') || strchr(row->where, 'm'))
				continue;
			if (first)
				buf_printf(out,
					"    # From Secrets, by a TriggerAuthentication:\n"
					"    %sauthenticationRef: {name: %s}\n",
					reference ? "" : "# ", reference ? reference : "...");
			first = false;
			params_next_name(&names, name);
			buf_printf(out, "    #   parameter %s: ", name);
			put_help(row, out);
		}
	}
}

static bool is_resource(const char *type)
{
	return strcmp(type, "cpu") == 0 || strcmp(type, "memory") == 0;
}

bool init_print(const char *name, struct buf *out)
{
	const struct scaler_type *type = scaler_type_find(name);
	bool resource = is_resource(name);

	if (!type)
		return false;
	buf_printf(out,
		"# A ScaledObject with a trigger of type %s. Commented lines are optional: see kscaled-triggers(5), "
		"kscaled-scaledobject(7).\n"
		"apiVersion: keda.sh/v1alpha1\n"
		"kind: ScaledObject\n"
		"metadata:\n"
		"  name: worker\n"
		"  # namespace: the target's\n"
		"spec:\n"
		"  scaleTargetRef:\n"
		"    # kind defaults to Deployment, apiVersion to apps/v1\n"
		"    name: worker\n"
		"  # pollingInterval: seconds between polls (default: 30)\n"
		"  # cooldownPeriod: seconds from the last activity until scaling to zero (default: 300)\n"
		"%s"
		"  minReplicaCount: %d\n"
		"  maxReplicaCount: 10\n"
		"  triggers:\n"
		"  - type: %s\n",
		name, resource ? "  # Not 0: usage is measured on running Pods.\n" : "", resource ? 1 : 0, name);
	if (resource)
		buf_puts(out,
			"    # Utilization: a percentage of the request; AverageValue: a quantity per Pod\n"
			"    metricType: Utilization\n");
	else
		buf_puts(out, "    # metricType: AverageValue (the default) or Value\n");
	buf_puts(out, "    metadata:\n");
	for (size_t t = 0; type->tables[t]; t++)
		for (size_t i = 0; i < type->tables[t]->count; i++)
			if (is_shown(&type->tables[t]->rows[i]))
				put_row(name, &type->tables[t]->rows[i], out);
	put_secrets(type, out);
	return true;
}

/* ---- The command line ---- */

static const struct option options[] = {
	{ "output", OPTION_TEXT, .argument = "FILE", .letter = 'o',
		.help = "write to FILE; an existing file is not overwritten" },
	{ .name = NULL },
};

static int complain_of_type(const char *type)
{
	MEM_AUTO char *why = missingtypes_explain(type);
	bool specific = missingtypes_instead(type) != NULL; /* names what to use instead */

	fprintf(stderr, "kscaled init: unknown type \"%.80s\": %s%s%s\n", type, why, specific ? "" : ": ",
		specific ? "" : scaler_type_names());
	return COMMANDLINE_WRONG;
}

/* Never overwrites a file. */
static int write_file(const char *path, const struct buf *text, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool good = fd >= 0 && write(fd, text->data, text->len) == (ssize_t)text->len;

	if (fd >= 0 && close(fd) < 0)
		good = false;
	return good ? 0 : err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
}

static int run_init(void *arguments, char **operands, int count, struct err *err)
{
	const char *path = *(const char **)arguments;
	struct buf out = BUF_INIT(SIZE_MAX);
	int status;

	if (count != 1) {
		fprintf(stderr, "kscaled init: name one type: %s\n", scaler_type_names());
		return COMMANDLINE_WRONG;
	}
	if (!init_print(operands[0], &out))
		status = complain_of_type(operands[0]);
	else
		status = (path ? write_file(path, &out, err) : output_text(&out, err)) < 0 ? UNWRITTEN : DONE;
	buf_done(&out);
	return status;
}

const struct commandline cli_init_line = {
	.name = "init",
	.summary = "prints an example ScaledObject for a type of trigger",
	.usage = "[-o FILE] TYPE",
	.text = "Print a ScaledObject with a trigger of this type, and a comment for each parameter.\n"
		"    kscaled init redis -o worker.yaml && kscaled check worker.yaml",
	.end = "types: ",
	.list = scaler_type_names,
	.tables = { { .options = options } },
	.operands = true,
	.size = sizeof(const char *),
	.run = run_init,
};
