/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SOURCES_H
#define SCALERS_SOURCES_H

/*
 * The connection pools of the scalers, one for each kind of server, shared by all triggers. No pool
 * connects before its first question. A folder of types that needs further state has a part, listed
 * in scalers/registry.c, which creates it. The daemon owns the struct; unit tests fill in what they
 * need.
 */

#include "base/counters.h"
#include "net/amqp/amqp.h"
#include "net/beanstalk/beanstalk.h"
#include "net/grpc/grpc.h"
#include "net/kafka/kafka.h"
#include "net/loop.h"
#include "net/mongo/mongo.h"
#include "net/mysql/mysqlpool.h"
#include "net/pg/pg.h"
#include "net/redis/redis.h"
#include "net/redis/redisrouter.h"
#include "net/sign/salter.h"
#include "net/web/webtoken.h"

struct etcdsession_pool;
struct httppauses;
struct kafkamemory;
struct keyvalues;
struct kube;
struct podcounts;
struct rediswatch_pool;

struct sources_part;

struct scaler_sources {
	const struct sources_part *const *parts; /* NULL in tests */
	struct loop *loop;                       /* borrowed */
	struct counters *counters;               /* borrowed; NULL in tests */
	struct kube *kube;                       /* borrowed: the API server of the objects; NULL in tests */
	struct pool *amqp;
	struct pool *beanstalk;
	struct pool *redis;
	/* clusters and sentinels; uses the connections of redis */
	struct redisrouter *redis_router;
	struct rediswatch_pool *redis_watches; /* NULL: nothing is watched */
	struct pg_pool *pg;                    /* uses tokens */
	struct pool *mysql;
	struct salter *salter; /* for SCRAM logins of pg, mongo and kafka */
	struct pool *mongo;
	struct webclient *web;                                /* all requests over HTTP */
	struct webtoken_store *tokens;                        /* of identities, exchanged over web */
	struct counters_family *http_requests, *http_seconds; /* their metrics; NULL without counters */
	struct httppauses *pauses;                            /* requested by servers; NULL in tests */
	struct grpc_pool *grpc;
	/* logins at etcd; uses the connections of grpc */
	struct etcdsession_pool *etcd;
	struct kafka_pool *kafka; /* uses tokens */
	struct kafkamemory *kafka_memory;
	struct podcounts *pods; /* from watches of the API server, like keys */
	struct keyvalues *keys;
};

struct sources_part { /* sets its members; net's pools exist before begin and until after end */
	void (*begin)(struct scaler_sources *s);
	void (*end)(struct scaler_sources *s);
};

struct sources_config {
	const struct sources_part *const *parts; /* ended by NULL: scaler_parts */
	int64_t deadline_ms;                     /* of a question */
	int64_t http_timeout_ms;                 /* default of a request over HTTP */
};

void sources_init(struct scaler_sources *s, struct loop *loop, struct kube *kube, struct counters *counters,
	const struct sources_config *config);
/*
 * Call after freeing all users: cache/readings, cache/readings/pushes, cache/readings/descriptions.
 */
void sources_done(struct scaler_sources *s);

#endif
