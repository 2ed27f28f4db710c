/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/sources.h"

#include <stdint.h>

#include "base/mem.h"
#include "net/http/httpstatus.h"
#include "scalers/cluster/keyvalues.h"
#include "scalers/cluster/podcounts.h"
#include "scalers/etcd/etcdsession.h"
#include "scalers/http/httppauses.h"
#include "scalers/kafka/kafkamemory.h"
#include "scalers/redis/rediswatch.h"

/* KEDA's buckets. */
static const double bounds_s[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10 };

/* The status code is "error" when there was no answer. */
static void on_exchange(void *arg, const char *asker, int status, int64_t took_ms)
{
	const struct scaler_sources *s = arg;
	char text[HTTPSTATUS_TEXT];
	const char *code = status > 0 ? httpstatus_label(status, text) : "error";

	counters_add(s->http_requests, (const char *const[]){ asker, code }, 1);
	counters_observe(s->http_seconds, (const char *const[]){ asker, code }, (double)took_ms / 1000);
}

/*
 * KEDA's metrics (doc/keda.md 7.1) without its labels for object and trigger, because one request
 * serves all triggers with the same question.
 */
static void count_exchanges(struct scaler_sources *s)
{
	static const char *const labels[] = { "scaler", "status_code", NULL };

	s->http_requests = counters_declare(s->counters, COUNTERS_COUNTER, "keda_scaler_http_requests_total",
		"Requests to sources over HTTP, by trigger type and status code.", labels);
	s->http_seconds = counters_declare_histogram(s->counters, "keda_scaler_http_request_duration_seconds",
		"From a request sent to its answer, or to its failure.", labels, bounds_s, MEM_COUNT(bounds_s));
	webget_watch(s->web, on_exchange, s);
}

void sources_init(struct scaler_sources *s, struct loop *loop, struct kube *kube, struct counters *counters,
	const struct sources_config *config)
{
	s->loop = loop;
	s->counters = counters;
	s->kube = kube;
	s->amqp = amqp_pool_new(loop);
	s->redis = redis_pool_new(loop);
	s->redis_router = redisrouter_new(loop, s->redis);
	s->redis_watches = rediswatch_pool_new(loop, s->redis);
	s->mysql = mysqlpool_new(loop);
	s->salter = salter_new(loop);
	s->mongo = mongo_new(loop, s->salter);
	s->web = webget_new(loop, config->http_timeout_ms);
	s->tokens = webget_tokens(s->web);
	s->pg = pg_pool_new(loop, config->deadline_ms, s->tokens, s->salter);
	if (counters)
		count_exchanges(s);
	s->pauses = httppauses_new(loop);
	s->grpc = grpc_pool_new(loop);
	s->etcd = etcdsession_pool_new(loop, s->grpc);
	s->kafka = kafka_pool_new(loop, s->tokens, s->salter);
	s->kafka_memory = kafkamemory_new();
	s->pods = podcounts_new(kube);
	s->keys = keyvalues_new(kube);
}

void sources_done(struct scaler_sources *s)
{
	keyvalues_free(s->keys);
	podcounts_free(s->pods);
	kafkamemory_free(s->kafka_memory);
	kafka_pool_free(s->kafka);
	etcdsession_pool_free(s->etcd);
	grpc_pool_free(s->grpc);
	pg_pool_free(s->pg);
	httppauses_free(s->pauses);
	webget_free(s->web);
	pool_free(s->mongo);
	salter_free(s->salter);
	pool_free(s->mysql);
	rediswatch_pool_free(s->redis_watches);
	redisrouter_free(s->redis_router);
	redis_pool_free(s->redis);
	amqp_pool_free(s->amqp);
	*s = (struct scaler_sources){ 0 };
}
