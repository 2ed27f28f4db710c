/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_SOURCES_H
#define SCALERS_SOURCES_H

/*
 * The connection pools of the scalers, one for each kind of server, shared by all triggers. No pool
 * connects before its first question. What a folder of types keeps beside them is made by a part of
 * its own, listed in scalers/registry.c. The daemon owns it; unit tests fill in what they need.
 */

#include "base/counters.h"
#include "net/amqp/amqp.h"
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
	struct pool *redis;
	/* clusters and sentinels; uses the connections of redis */
	struct redisrouter *redis_router;
	struct rediswatch_pool *redis_watches; /* NULL: nothing is watched */
	struct pg_pool *pg;                    /* uses tokens */
	struct pool *mysql;
	struct salter *salter; /* of logins by SCRAM: those of pg, mongo and kafka */
	struct pool *mongo;
	struct webclient *web;                                /* all requests over HTTP */
	struct webtoken_store *tokens;                        /* of identities, exchanged over web */
	struct counters_family *http_requests, *http_seconds; /* their metrics; NULL without counters */
	struct httppauses *pauses;                            /* that servers asked for; NULL in tests */
	struct grpc_pool *grpc;
	/* who asks etcd, over the connections of grpc */
	struct etcdsession_pool *etcd;
	struct kafka_pool *kafka; /* uses tokens */
	struct kafkamemory *kafka_memory;
	struct podcounts *pods; /* watches of the API server, as are: */
	struct keyvalues *keys;
};

struct sources_part { /* sets its members; all pools of net are there from begin to end */
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
