/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of questions, for all types and parameters: each parameter is part of the key unless its row
 * is declared unkeyed, and equal questions share a key, however they are written. Types and rows
 * come from the registry; the triggers here make each row take effect.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fakes/fakekey.h"
#include "base/mem.h"
#include "base/text.h"
#include "pairs.h"
#include "scalers/scalerbuild.h"

/* The redis types share their tables. */
#define AWS      "awsRegion=eu-west-1|awsAccessKeyID=K"
#define AWS_AUTH "awsSecretAccessKey=S"
#define HTTP(type, needed)                                                                                             \
	{ type, needed, NULL, NULL }, { type, needed "|authModes=bearer", "token=t|username=u|password=p", NULL },     \
		{ type, needed "|authModes=basic", "username=u|password=p", NULL },                                    \
		{ type, needed "|authModes=oauth", "oauthTokenURI=https://t/|clientID=c", NULL },                      \
		{ type, needed "|authModes=custom", "customAuthHeader=X|customAuthValue=v", NULL },                    \
	{                                                                                                              \
		type, needed "|authModes=tls", "cert=@CERT|key=@KEY", NULL                                             \
	}
#define REDIS(type, needed)                                                                                            \
	{ type, needed "|address=r:1", NULL, NULL }, { type, needed "|host=a|port=1", NULL, NULL },                    \
		{ type, needed "|address=r:1|username=u|password=p|enableTLS=true", "cert=@CERT|key=@KEY", NULL },     \
	{                                                                                                              \
		type, needed "|address=r:1", "tls=enable", NULL                                                        \
	}
#define SENTINEL  "sentinelMaster=m|sentinelUsername=u|sentinelPassword=p"
#define STREAM    "stream=s|consumerGroup=g|lagCount=5"
#define KAFKA     "bootstrapServers=k:9092|consumerGroup=g|topic=t"
#define KAFKA_TLS "|tls=enable"
#define SEARCH    "addresses=http://e:9200|index=jobs|valueLocation=a|targetValue=5"
#define RABBIT    "queueName=q|host=http://mq:15672/v"
#define SQL_AUTH  "password=p"

static const struct trigger {
	const char *type, *metadata, *auth, *provider; /* @NAME: a text of take_text */
} triggers[] = {
	{ "aws-cloudwatch",
		AWS "|namespace=n|metricName=m|dimensionName=d|dimensionValue=v|targetMetricValue=5|minMetricValue=0",
		AWS_AUTH, NULL },
	{ "aws-cloudwatch", AWS "|expression=e|targetMetricValue=5|minMetricValue=0", AWS_AUTH, NULL },
	{ "aws-kinesis-stream", AWS "|streamName=s", AWS_AUTH, NULL },
	{ "aws-sqs-queue", AWS "|queueURL=q", AWS_AUTH, NULL },
	{ "azure-pipelines", "organizationURL=https://dev.azure.com/shop|poolName=linux", "personalAccessToken=t",
		NULL },
	{ "azure-pipelines", "organizationURL=https://dev.azure.com/shop|poolID=7|demands=a", "personalAccessToken=t",
		NULL },
	{ "gcp-pubsub", "subscriptionName=orders", "GoogleApplicationCredentials=@GOOGLE", NULL },
	{ "gcp-pubsub", "topicName=orders|credentialsFromEnv=GOOGLE", NULL, NULL },
	{ "azure-queue", "queueName=orders|connection=@STORAGE", NULL, NULL },
	{ "azure-queue", "queueName=orders|accountName=shop|cloud=Private|endpointSuffix=queue.local", NULL,
		"azure-workload" },
	{ "azure-blob", "blobContainerName=orders|connection=@STORAGE|blobPrefix=p", NULL, NULL },
	{ "azure-blob", "blobContainerName=orders|accountName=shop|cloud=Private|endpointSuffix=blob.local", NULL,
		"azure-workload" },
	{ "azure-servicebus", "queueName=orders", "connection=@BUS", NULL },
	{ "azure-servicebus", "queueName=orders.*|useRegex=true", "connection=@BUS", NULL },
	{ "azure-servicebus", "topicName=t|subscriptionName=s", "connection=@BUS", NULL },
	{ "azure-servicebus", "queueName=orders|namespace=shop|cloud=Private|endpointSuffix=bus.local", NULL,
		"azure-workload" },
	HTTP("metrics-api", "url=http://a:80/x|valueLocation=v|targetValue=5"),
	{ "metrics-api", "url=http://a:80/x|valueLocation=v|targetValue=5|authModes=apiKey|apiKey=k", NULL, NULL },
	{ "metrics-api",
		"url=http://a.shop.svc:80/x|valueLocation=v|targetValue=5|aggregateFromKubeServiceEndpoints=true", NULL,
		NULL },
	HTTP("prometheus", "serverAddress=http://p:9090|query=up|threshold=5"),
	{ "prometheus", "serverAddress=http://p:9090|query=up|threshold=5|" AWS, AWS_AUTH, NULL },
	{ "prometheus", "serverAddress=http://p:9090|query=up|threshold=5", "GoogleApplicationCredentials=@GOOGLE",
		NULL },
	{ "prometheus", "serverAddress=http://p:9090|query=up|threshold=5|credentialsFromEnv=GOOGLE", NULL, NULL },
	{ "prometheus", "serverAddress=https://shop.eastus.prometheus.monitor.azure.com|query=up|threshold=5", NULL,
		"azure-workload" },
	{ "prometheus",
		"serverAddress=https://"
		"trusted.local|query=up|threshold=5|cloud=Private|azureManagedPrometheusResourceURL=https://r/",
		NULL, "azure-workload" },
	{ "postgresql", "query=SELECT 1|targetQueryValue=5|host=h|port=1|userName=u|dbName=d|sslmode=verify-full",
		SQL_AUTH "|cert=@CERT|key=@KEY", NULL },
	{ "postgresql", "query=SELECT 1|targetQueryValue=5", "connection=host=h user=u", NULL },
	{ "mysql", "query=SELECT 1|queryValue=5|host=h|port=1|username=u|dbName=d|tls=true",
		SQL_AUTH "|cert=@CERT|key=@KEY", NULL },
	{ "mysql", "query=SELECT 1|queryValue=5", "connectionString=u:p@tcp(h:1)/d", NULL },
	{ "etcd", "endpoints=e:2379|watchKey=k|value=5", "username=u|password=p|tls=enable|cert=@CERT|key=@KEY", NULL },
	{ "external", "scalerAddress=s:1|enableTLS=true", "tlsClientCert=@CERT|tlsClientKey=@KEY", NULL },
	{ "external-push", "scalerAddress=s:1|enableTLS=true", "tlsClientCert=@CERT|tlsClientKey=@KEY", NULL },
	{ "kafka", KAFKA, NULL, NULL },
	{ "kafka", KAFKA KAFKA_TLS "|sasl=plaintext", "username=u|password=p|cert=@CERT|key=@KEY", NULL },
	{ "kafka", KAFKA KAFKA_TLS "|sasl=oauthbearer|" AWS,
		"username=u|password=p|oauthTokenEndpointUri=https://t/|" AWS_AUTH, NULL },
	{ "kafka", KAFKA KAFKA_TLS "|sasl=oauthbearer|saslTokenProvider=aws_msk_iam|" AWS, AWS_AUTH, NULL },
	{ "apache-kafka", KAFKA, NULL, NULL },
	{ "apache-kafka", KAFKA KAFKA_TLS "|sasl=plaintext", "username=u|password=p|cert=@CERT|key=@KEY", NULL },
	{ "apache-kafka", KAFKA KAFKA_TLS "|sasl=aws_msk_iam|" AWS, AWS_AUTH, NULL },
	{ "mongodb", "host=h|port=1|username=u|password=p|dbName=d|collection=c|query={\"a\":2}|queryValue=5",
		"tls=enable|cert=@CERT|key=@KEY", NULL },
	{ "mongodb", "connectionString=mongodb://h/|dbName=d|collection=c|query={\"a\":2}|queryValue=5", NULL, NULL },
	{ "cron", "timezone=UTC|start=0 6 * * *|end=0 20 * * *|desiredReplicas=1", NULL, NULL },
	{ "elasticsearch", SEARCH "|username=u|query={}", "password=p", NULL },
	{ "elasticsearch", SEARCH "|username=u|searchTemplateName=t|parameters=a:b", "password=p", NULL },
	{ "elasticsearch", "cloudID=x:aG9zdCRpZA==|apiKey=k|index=jobs|valueLocation=a|targetValue=5|query={}", NULL,
		NULL },
	{ "opensearch", SEARCH "|username=u|query={}", "password=p", NULL },
	{ "opensearch", SEARCH "|username=u|searchTemplateName=t|parameters=a:b", "password=p", NULL },
	{ "opensearch", SEARCH "|query={}|enableTLS=true", "clientCert=@CERT|clientKey=@KEY|username=u|password=p",
		NULL },
	{ "rabbitmq", "queueName=q|host=amqp://mq/", NULL, NULL },
	{ "rabbitmq", RABBIT, "username=u|password=p", NULL },
	{ "rabbitmq", RABBIT "|queueLength=3", NULL, NULL },
	{ "rabbitmq", "queueName=q|host=https://mq/v|useRegex=true|mode=ExpectedQueueConsumptionTime|value=3",
		"tls=enable|cert=@CERT|key=@KEY", NULL },
	{ "rabbitmq", RABBIT, "oauthTokenURI=https://t/|clientID=c|clientSecret=s", NULL },
	{ "rabbitmq", "queueName=q|host=https://trusted.local/v", "workloadIdentityResource=api://a",
		"azure-workload" },
	REDIS("redis", "listName=l"),
	REDIS("redis-cluster", "listName=l"),
	REDIS("redis-sentinel", "listName=l|" SENTINEL),
	REDIS("redis-streams", STREAM),
	REDIS("redis-cluster-streams", STREAM),
	REDIS("redis-sentinel-streams", STREAM "|" SENTINEL),
	{ "kubernetes-workload", "podSelector=a=b|value=5", NULL, NULL },
	{ "kubernetes-resource", "resourceKind=ConfigMap|resourceName=r|key=k|targetValue=5", NULL, NULL },
	{ "kubernetes-resource",
		"resourceKind=ConfigMap|resourceName=r|key=k|targetValue=5|format=json|valueLocation=v", NULL, NULL },
	{ "nats-jetstream", "natsServerMonitoringEndpoint=n:8222|account=a|stream=s|consumer=c", NULL, NULL },
	HTTP("loki", "serverAddress=http://l:3100|query=q|threshold=5"),
	HTTP("graphite", "serverAddress=http://g:8080|query=q|queryTime=-1h"),
	{ "beanstalkd", "server=b:11300|tube=t|value=5", NULL, NULL },
	{ "datadog", "query=a{b}|targetValue=5", "apiKey=a|appKey=b", NULL },
	{ "datadog", "useClusterAgentProxy=true|datadogMetricName=m|datadogMetricNamespace=n|targetValue=5|query=a{b}",
		"datadogNamespace=d|datadogMetricsService=s|token=t|apiKey=a|appKey=b", NULL },
	{ "datadog", "useClusterAgentProxy=true|datadogMetricName=m|datadogMetricNamespace=n|targetValue=5",
		"datadogNamespace=d|datadogMetricsService=s|authMode=bearer|token=t", NULL },
	{ "github-runner", "owner=shop|runnerScope=org|repos=web|labels=a", "personalAccessToken=t", NULL },
	{ "github-runner", "owner=shop|runnerScope=org|applicationID=1|installationID=2", "appKey=@KEY", NULL },
};

/* Rows whose change has no effect, and why. */
static const struct {
	const char *type, *name, *why;
} silent[] = {
	{ NULL, "keyPassword", "keys here are not encrypted" },
	{ "rabbitmq", "protocol", "it has to be that of the URL" },
	{ "redis-cluster", "databaseIndex", "a cluster has one" },
	{ "redis-cluster-streams", "databaseIndex", "a cluster has one" },
};

/* ---- One trigger ---- */

static char *key_pem, *other_pem, *certificate, *other_certificate, *google, *other_google;

static int setup(void **state)
{
	(void)state;
	key_pem = fakekey_rsa(2048, NULL);
	other_pem = fakekey_rsa(2048, NULL);
	certificate = fakekey_certificate(key_pem);
	other_certificate = fakekey_certificate(other_pem);
	google = fakekey_google("https://oauth2.googleapis.com/token", "one");
	other_google = fakekey_google("https://oauth2.googleapis.com/token", "other");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(key_pem);
	free(other_pem);
	free(certificate);
	free(other_certificate);
	free(google);
	free(other_google);
	return 0;
}

static const char *text_of(const char *value)
{
	static const char *const storage = "AccountName=shop;AccountKey=a2V5;EndpointSuffix=core.windows.net",
				 *const bus = "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=n;"
					      "SharedAccessKey=k";

	return strcmp(value, "@CERT") == 0       ? certificate
		: strcmp(value, "@KEY") == 0     ? key_pem
		: strcmp(value, "@GOOGLE") == 0  ? google
		: strcmp(value, "@STORAGE") == 0 ? storage
		: strcmp(value, "@BUS") == 0     ? bus
						 : value;
}

struct built {
	struct strmap metadata, auth, env;
	struct pod_identity identity;
};

static void fill(const struct trigger *t, struct built *b)
{
	*b = (struct built){ .identity = { .provider = t->provider,
				     .may_be_kscaled = true,
				     .azure_trusted = "*",
				     .aws_region = "eu-west-9",
				     .aws_trusted = "*" } };
	pairs_fill(&b->metadata, t->metadata);
	pairs_fill(&b->auth, t->auth);
	for (size_t i = 0; i < b->metadata.count; i++)
		strmap_set(&b->metadata, b->metadata.pairs[i].key, text_of(b->metadata.pairs[i].value));
	for (size_t i = 0; i < b->auth.count; i++)
		strmap_set(&b->auth, b->auth.pairs[i].key, text_of(b->auth.pairs[i].value));
	strmap_set(&b->env, "GOOGLE", google);
	strmap_set(&b->env, "OTHER", "other");
	strmap_set(&b->env, "OTHER_GOOGLE", other_google);
}

static void drop(struct built *b)
{
	strmap_done(&b->metadata);
	strmap_done(&b->auth);
	strmap_done(&b->env);
}

/* The caller owns it; NULL: refused, with err. */
static char *key_of(const char *type, const struct built *b, struct err *err)
{
	const struct scaler_params params = { .type = type,
		.namespace_ = "shop",
		.object = "web",
		.metadata = &b->metadata,
		.auth = &b->auth,
		.env = &b->env,
		.identity = &b->identity };
	struct scaler s;
	char *key;

	if (scaler_build(&params, &s, err))
		return NULL;
	key = mem_dup(s.question ? s.question->key : NULL);
	scaler_done(&s);
	return key;
}

static char *first_key(const struct trigger *t)
{
	struct built b;
	struct err err = { 0 };
	char *key;

	fill(t, &b);
	key = key_of(t->type, &b, &err);
	if (!key)
		fail_msg("%s: %s: %s", t->type, t->metadata, err.msg);
	drop(&b);
	return key;
}

/* ---- One parameter ---- */

/* The map and name that give the row's value in the trigger; NULL: none. */
static struct strmap *given_in(const struct param_row *row, struct built *b, char name[PARAM_NAME_SIZE])
{
	for (const char *place = row->where; *place; place++) {
		struct strmap *map = *place == 'm' ? &b->metadata : *place == 'a' ? &b->auth : NULL;
		const char *names = row->names;

		while (map && params_next_name(&names, name))
			if (strmap_get(map, name))
				return map;
	}
	return NULL;
}

static const char *value_of(const struct param_row *row, const struct built *b, unsigned i)
{
	static const char *const any[] = { "b", "7", "9", "1", "true", "false", "7s", "k=v", "x,y", "h.other:7",
		"http://h.other:7/", "https://trusted.other/", "k2:v2", "Europe/Berlin", "0 7 * * *", "sum", "max",
		"PENDING", "AzurePublicCloud", "AzureChinaCloud", "{\"a\":1}", "mongodb://other/", "mongodb+srv",
		"host=other user=u", "u:p@tcp(other:1)/d", "enable", "disable", "60", "600", "Seconds", "verify-ca",
		"OldestUnackedMessageAge", "@", "y:b3RoZXIkaWQ=", "r:8", "amqps://other/", "-2h",
		"AccountName=other;AccountKey=a2V5",
		"Endpoint=sb://other.servicebus.windows.net/;SharedAccessKeyName=n;SharedAccessKey=k",
		"arn:aws:iam::1:role/r", "https://dev.azure.com/other", "basic", "2.0.0", "bearer" };
	const size_t count = sizeof(any) / sizeof(any[0]);

	(void)b;
	if (row->words)
		return row->words[i < 16 ? i : 0] ? row->words[i] : NULL;
	return i < count ? any[i] : NULL;
}

static void set_pair(struct strmap *map, const char *cert, const char *key)
{
	if (!strmap_get(map, cert) || !strmap_get(map, key))
		return;
	strmap_set(map, cert, other_certificate);
	strmap_set(map, key, other_pem);
}

/* False: no further change exists. */
static bool change(const struct param_row *row, struct built *b, unsigned i)
{
	char name[PARAM_NAME_SIZE];
	struct strmap *map = given_in(row, b, name);
	const char *names = row->names, *value;

	if (!map) {
		params_next_name(&names, name);
		map = strchr(row->where, 'm') ? &b->metadata : strchr(row->where, 'a') ? &b->auth : NULL;
	}
	if (row->words) {
		for (unsigned k = 0; k <= i; k++)
			if (!row->words[k])
				return false;
		value = row->words[i];
	} else if (i == 0) {
		value = other_google;
	} else if (i == 1) {
		value = other_certificate;
	} else if (i == 2) {
		value = other_pem;
	} else {
		value = value_of(row, b, i - 3);
	}
	if (!value)
		return false;
	if (!map) {
		MEM_AUTO char *from = mem_printf("%sFromEnv", name);

		strmap_set(&b->metadata, from, i == 0 ? "OTHER_GOOGLE" : "OTHER");
		return i < 2;
	}
	strmap_set(map, name, value);
	/* A certificate needs its key. */
	if (strcasestr(name, "cert") || strcasestr(name, "key"))
		for (const char *const *pair = (const char *const[]){ "cert", "key", "tlsClientCert", "tlsClientKey",
			     "clientCert", "clientKey", NULL };
			*pair; pair += 2)
			if (strcmp(name, pair[0]) == 0 || strcmp(name, pair[1]) == 0)
				set_pair(map, pair[0], pair[1]);
	return true;
}

static bool is_target(const struct param_row *row)
{
	return row->kind >= PARAM_TARGET && row->kind <= PARAM_WHOLE_ACTIVATION;
}

/* Whether one of the changes is seen in the key, or, if the row is unkeyed, accepted. */
static bool is_seen(const struct trigger *t, const struct param_row *row)
{
	MEM_AUTO char *before = first_key(t);
	bool seen = false, more = true, stays = row->unkeyed || is_target(row);

	for (unsigned i = 0; more && !seen; i++) {
		struct built b;
		MEM_AUTO char *after = NULL;

		fill(t, &b);
		more = change(row, &b, i);
		after = more ? key_of(t->type, &b, &(struct err){ 0 }) : NULL;
		drop(&b);
		if (!after)
			continue;
		seen = stays || strcmp(before, after) != 0;
		if (stays && strcmp(before, after) != 0)
			fail_msg("%s: parameter %s is in the key", t->type, row->names);
	}
	return seen;
}

static bool is_silent(const char *type, const char *names)
{
	for (size_t i = 0; i < MEM_COUNT(silent); i++)
		if ((!silent[i].type || strcmp(silent[i].type, type) == 0) && strcmp(silent[i].name, names) == 0)
			return true;
	return false;
}

static bool is_seen_somewhere(const struct scaler_type *type, const struct param_row *row)
{
	for (size_t i = 0; i < MEM_COUNT(triggers); i++)
		if (strcmp(triggers[i].type, type->name) == 0 && is_seen(&triggers[i], row))
			return true;
	return false;
}

static size_t count_unseen(const struct scaler_type *type)
{
	size_t unseen = 0;

	for (size_t i = 0; type->tables[i]; i++) {
		const struct param_table *t = type->tables[i];

		for (const struct param_row *row = t->rows; row < t->rows + t->count; row++) {
			if (row->kind >= PARAM_IGNORED || is_silent(type->name, row->names) ||
				is_seen_somewhere(type, row))
				continue;
			print_error("%s: no change of parameter %s is seen in the key\n", type->name, row->names);
			unseen++;
		}
	}
	return unseen;
}

static void every_parameter_is_in_the_key_or_declared_unkeyed(void **state)
{
	MEM_AUTO char *names = mem_dup(scaler_type_names());
	char *rest = names, *one;
	size_t unseen = 0;

	(void)state;
	while ((one = strsep(&rest, ",")) != NULL) {
		const struct scaler_type *type = scaler_type_find(one + strspn(one, " "));

		if (type->asker)
			unseen += count_unseen(type);
	}
	assert_int_equal(unseen, 0);
}

/* ---- The same in other words ---- */

static void expect_same(const struct trigger *t, const struct built *b, const char *before, const char *how)
{
	struct err err = { 0 };
	MEM_AUTO char *after = key_of(t->type, b, &err);

	if (!after)
		fail_msg("%s: %s, %s: %s", t->type, t->metadata, how, err.msg);
	if (strcmp(before, after) != 0)
		fail_msg("%s: %s, %s: it is another question", t->type, t->metadata, how);
}

static void with_blanks(const struct trigger *t, const char *before)
{
	struct built b;

	fill(t, &b);
	for (size_t i = 0; i < b.metadata.count; i++) {
		MEM_AUTO char *wide = mem_printf(" \t%s\n ", b.metadata.pairs[i].value);

		strmap_set(&b.metadata, b.metadata.pairs[i].key, wide);
	}
	expect_same(t, &b, before, "with blanks");
	drop(&b);
}

/* By other spellings, and with the default written explicitly. */
static void by_row(const struct trigger *t, const struct param_row *row, const char *before)
{
	char given[PARAM_NAME_SIZE], name[PARAM_NAME_SIZE];
	const char *names = row->names;
	struct strmap *map;
	struct built b;

	fill(t, &b);
	map = given_in(row, &b, given);
	if (map) {
		MEM_AUTO char *value = mem_dup(strmap_get(map, given));

		strmap_remove(map, given);
		while (params_next_name(&names, name)) {
			strmap_set(map, name, value);
			expect_same(t, &b, before, name);
			strmap_remove(map, name);
		}
	} else if (row->otherwise && !row->when) {
		params_next_name(&names, name);
		strmap_set(strchr(row->where, 'm') ? &b.metadata : &b.auth, name, row->otherwise);
		expect_same(t, &b, before, name);
	}
	drop(&b);
}

/* Sends the metadata to its server unchanged. */
static bool tells_all(const struct scaler_type *type)
{
	for (size_t i = 0; type->tables[i]; i++)
		for (size_t k = 0; k < type->tables[i]->count; k++)
			if (type->tables[i]->rows[k].kind == PARAM_OTHERS)
				return true;
	return false;
}

static void equal_questions_share_a_key(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(triggers); i++) {
		const struct trigger *t = &triggers[i];
		const struct scaler_type *type = scaler_type_find(t->type);
		MEM_AUTO char *before = first_key(t);

		if (!tells_all(type))
			with_blanks(t, before);
		for (size_t k = 0; type->tables[k]; k++)
			for (size_t n = 0; n < type->tables[k]->count; n++)
				if (type->tables[k]->rows[n].kind < PARAM_IGNORED && !tells_all(type))
					by_row(t, &type->tables[k]->rows[n], before);
	}
}

static void keys_contain_no_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(triggers); i++) {
		MEM_AUTO char *key = first_key(&triggers[i]);
		const char *hash = text_behind(key, triggers[i].type);

		if (!hash || *hash != ' ' || hash[1 + strspn(hash + 1, "0123456789abcdef")])
			fail_msg("%s: key \"%s\"", triggers[i].type, key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_parameter_is_in_the_key_or_declared_unkeyed),
		cmocka_unit_test(equal_questions_share_a_key),
		cmocka_unit_test(keys_contain_no_values),
	};

	return cmocka_run_group_tests_name("scalers/keys", tests, setup, teardown);
}
