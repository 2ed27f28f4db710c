/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISWATCH_H
#define SCALERS_REDIS_REDISWATCH_H

/*
 * Push for all Redis types: one key, watched by keyspace notifications (channel
 * `__keyspace@<database>__:<key>`) on the server that holds it. For
 * scalers/redis/redisserver, which starts one for the `watch` of each Redis type and tells it where
 * the key lives.
 *
 * Whether a server has the notifications on is asked of it (CONFIG GET, one question per server
 * however many keys are watched, on the connection that queries use), again every now and then, so
 * that turning them on or off is noticed; its configuration is never changed. Only where they are
 * on is there a subscription, or where a server does not tell: then the first notification shows
 * it. Events that only take away (LPOP, DEL, ...) lead to no look: what is less can wait for the
 * poll.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/redis/redis.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

struct rediswatch_pool;
struct rediswatch;

/*
 * Of the daemon, as scaler_sources.redis_watches; queries go through `redis`. Owns the subscription
 * connections.
 */
struct rediswatch_pool *rediswatch_pool_new(struct loop *loop, struct redis_pool *redis);
/* before the redis_pool; all watches are stopped by then */
void rediswatch_pool_free(struct rediswatch_pool *p);
size_t rediswatch_pool_connections(const struct rediswatch_pool *p);

/*
 * Metadata `notify`. Belongs into the question's key when it is not the default
 * (rediswatch_notify_key), as one watch serves all who ask the question.
 */
enum rediswatch_notify {
	REDISWATCH_AUTO,  /* "auto": used when the server has it on; when it is off people are told how to turn it on */
	REDISWATCH_OFF,   /* "off" */
	REDISWATCH_QUIET, /* the default: as auto, and people are not told */
};
const char *rediswatch_notify_key(enum rediswatch_notify notify); /* "", " notify=auto", " notify=off" */

/* What kind of thing lies under the key: which notifications are needed. */
enum rediswatch_classes {
	REDISWATCH_LENGTHS, /* list, set, sorted set, hash: "Klszh" with generic ones: "Kglszh" */
	REDISWATCH_STREAM,  /* "Kgt" */
};

struct rediswatch_config {
	const char *key;               /* copied */
	enum rediswatch_notify notify; /* REDISWATCH_OFF: rediswatch_start returns NULL */
	enum rediswatch_classes classes;
};

/*
 * Starts without any server: rediswatch_set_endpoint names it. look: as struct scaler_type has
 * it, also when the report has changed in a way that people should hear of. NULL when notify is
 * off, or p is NULL (as in tools that only check). Stop it with rediswatch_stop.
 */
struct rediswatch *rediswatch_start(struct rediswatch_pool *p, const struct rediswatch_config *config,
	question_look_fn look, void *arg);
void rediswatch_stop(struct rediswatch *w);

/*
 * The server that holds the key now, with the endpoint's database: the single server, the master
 * behind sentinels, or the node of the key's slot in a cluster. Replaces the one before; the same
 * one keeps its subscription. Takes its own reference. look is called when the new one is
 * subscribed.
 */
void rediswatch_set_endpoint(struct rediswatch *w, struct redisendpoint *endpoint);

struct watch_report rediswatch_report(const void *watch);

#endif
