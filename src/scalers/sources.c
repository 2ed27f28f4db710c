/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/sources.h"

#include <stdint.h>

#include "base/mem.h"
#include "net/http/httpstatus.h"

/* KEDA's buckets. */
static const double bounds_s[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10 };

/* The status code is "error" when there was no answer. */
static void on_request(void *arg, const char *asker, int status, int64_t took_ms)
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
static void count_requests(struct scaler_sources *s)
{
	static const char *const labels[] = { "scaler", "status_code", NULL };

	s->http_requests = counters_declare(s->counters, COUNTERS_COUNTER, "keda_scaler_http_requests_total",
		"Requests to sources over HTTP, by trigger type and status code.", labels);
	s->http_seconds = counters_declare_histogram(s->counters, "keda_scaler_http_request_duration_seconds",
		"Time from sending a request to its answer or failure.", labels, bounds_s, MEM_COUNT(bounds_s));
	webclient_watch(s->web, on_request, s);
}

void sources_init(struct scaler_sources *s, struct loop *loop, struct kube *kube, struct counters *counters,
	const struct sources_config *config)
{
	s->loop = loop;
	s->counters = counters;
	s->kube = kube;
	s->amqp = amqp_new(loop);
	s->beanstalk = beanstalk_new(loop);
	s->redis = redis_new(loop);
	s->redis_router = redisrouter_new(loop, s->redis);
	s->mysql = mysqlpool_new(loop);
	s->salter = salter_new(loop);
	s->mongo = mongo_new(loop, s->salter);
	s->web = webclient_new(loop, config->http_timeout_ms);
	s->tokens = webtoken_store_new(loop, s->web, NULL);
	s->pg = pg_pool_new(loop, config->deadline_ms, s->tokens, s->salter);
	if (counters)
		count_requests(s);
	s->grpc = grpc_pool_new(loop);
	s->kafka = kafka_pool_new(loop, s->tokens, s->salter);
	s->parts = config->parts;
	for (const struct sources_part *const *part = s->parts; *part; part++)
		(*part)->begin(s);
}

void sources_done(struct scaler_sources *s)
{
	size_t count = 0;

	while (s->parts && s->parts[count])
		count++;
	while (count > 0)
		s->parts[--count]->end(s);
	kafka_pool_free(s->kafka);
	grpc_pool_free(s->grpc);
	pg_pool_free(s->pg);
	webtoken_store_free(s->tokens);
	webclient_free(s->web);
	pool_free(s->mongo);
	salter_free(s->salter);
	pool_free(s->mysql);
	redisrouter_free(s->redis_router);
	pool_free(s->redis);
	pool_free(s->beanstalk);
	pool_free(s->amqp);
	*s = (struct scaler_sources){ 0 };
}
