/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/sources.h"

#include <string.h>

#include "scalers/cluster/podcounts.h"
#include "scalers/redis/rediswatch.h"

void sources_init(struct scaler_sources *s, struct loop *loop, struct kube *kube, struct counters *counters,
	const struct sources_config *config)
{
	s->loop = loop;
	s->counters = counters;
	s->kube = kube;
	s->redis = redis_pool_new(loop);
	s->redis_router = redisrouter_new(loop, s->redis);
	s->redis_watches = rediswatch_pool_new(loop, s->redis);
	s->pg = pg_pool_new(loop, config->deadline_ms);
	s->mysql = mysqlpool_new(loop);
	s->web = webget_new(loop, config->http_timeout_ms);
	exchanges_count(s->web, &s->exchanges, counters);
	s->grpc = grpc_pool_new(loop);
	s->pods = podcounts_new(kube);
}

void sources_done(struct scaler_sources *s)
{
	podcounts_free(s->pods);
	grpc_pool_free(s->grpc);
	webget_free(s->web);
	pool_free(s->mysql);
	pg_pool_free(s->pg);
	rediswatch_pool_free(s->redis_watches);
	redisrouter_free(s->redis_router);
	redis_pool_free(s->redis);
	memset(s, 0, sizeof(*s));
}
