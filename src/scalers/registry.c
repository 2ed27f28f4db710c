/* SPDX-License-Identifier: Apache-2.0 */
/* The trigger types that this version knows, and the parts that they bring: one line each. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/cluster/keyvalues.h"
#include "scalers/cluster/podcounts.h"
#include "scalers/etcd/etcdsession.h"
#include "scalers/http/httppauses.h"
#include "scalers/kafka/kafkamemory.h"
#include "scalers/redis/rediswatch.h"
#include "scalers/scaler.h"
#include "scalers/types.h"

static const struct scaler_type *const types[] = {
	&cloudwatch_scaler_type,
	&kinesis_scaler_type,
	&sqs_scaler_type,
	&azurepipelines_scaler_type,
	&gcppubsub_scaler_type,
	&azurequeue_scaler_type,
	&servicebus_scaler_type,
	&azureblob_scaler_type,
	&metricsapi_scaler_type,
	&prometheus_scaler_type,
	&postgresql_scaler_type,
	&mysql_scaler_type,
	&etcd_scaler_type,
	&external_scaler_type,
	&external_push_scaler_type,
	&kafka_scaler_type,
	&apachekafka_scaler_type,
	&mongodb_scaler_type,
	&cron_scaler_type,
	&elasticsearch_scaler_type,
	&opensearch_scaler_type,
	&rabbitmq_scaler_type,
	&redis_scaler_type,
	&redis_cluster_scaler_type,
	&redis_sentinel_scaler_type,
	&redisstreams_scaler_type,
	&redisstreams_cluster_scaler_type,
	&redisstreams_sentinel_scaler_type,
	&resource_cpu_scaler_type,
	&resource_memory_scaler_type,
	&workload_scaler_type,
	&kubernetesresource_scaler_type,
	&nats_scaler_type,
	&loki_scaler_type,
	&graphite_scaler_type,
	&datadog_scaler_type,
	&githubrunner_scaler_type,
	&beanstalkd_scaler_type,
};

const struct sources_part *const scaler_parts[] = {
	&httppauses_part,
	&rediswatch_part,
	&etcdsession_part,
	&kafkamemory_part,
	&podcounts_part,
	&keyvalues_part,
	NULL,
};

const struct scaler_type *scaler_type_find(const char *name)
{
	for (size_t i = 0; i < MEM_COUNT(types); i++)
		if (strcmp(types[i]->name, name) == 0)
			return types[i];
	return NULL;
}

const char *scaler_type_names(void)
{
	static char names[4096]; /* the same text at each call */
	size_t len = 0;

	for (size_t i = 0; i < MEM_COUNT(types) && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i > 0 ? ", " : "", types[i]->name);
	return names;
}
