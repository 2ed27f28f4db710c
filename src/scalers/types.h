/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_TYPES_H
#define SCALERS_TYPES_H

/* The trigger types, for scalers/registry.c. Each is described at the beginning of its file. */

#include "scalers/scaler.h"

extern const struct scaler_type cloudwatch_scaler_type, kinesis_scaler_type, sqs_scaler_type,
	azurepipelines_scaler_type, gcppubsub_scaler_type, azurequeue_scaler_type, servicebus_scaler_type,
	azureblob_scaler_type, metricsapi_scaler_type, prometheus_scaler_type, postgresql_scaler_type,
	mysql_scaler_type, etcd_scaler_type, external_scaler_type, external_push_scaler_type, kafka_scaler_type,
	apachekafka_scaler_type, mongodb_scaler_type, cron_scaler_type, elasticsearch_scaler_type,
	opensearch_scaler_type, rabbitmq_scaler_type, redis_scaler_type, redis_cluster_scaler_type,
	redis_sentinel_scaler_type, redisstreams_scaler_type, redisstreams_cluster_scaler_type,
	redisstreams_sentinel_scaler_type, resource_cpu_scaler_type, resource_memory_scaler_type, workload_scaler_type,
	kubernetesresource_scaler_type, nats_scaler_type, loki_scaler_type, graphite_scaler_type, datadog_scaler_type,
	githubrunner_scaler_type, beanstalkd_scaler_type;

#endif
