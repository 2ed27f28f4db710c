/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISWATCH_H
#define SCALERS_REDIS_REDISWATCH_H

/*
 * Push for all Redis types: watches one key by keyspace notifications (channel
 * `__keyspace@<database>__:<key>`) on the server that holds it. scalers/redis/redisserver starts
 * one for the `watch` of each Redis type, and supplies the server.
 *
 * Whether notifications are enabled is read with CONFIG GET, on the connection for queries, once
 * per server however many keys are watched, and repeatedly, to notice changes; the configuration is
 * never modified. A key is subscribed to if they are enabled. If the server does not reveal the
 * setting, only `notify: auto` subscribes, and the first notification proves it. Events that only
 * remove elements (LPOP, DEL, ...) do not call look: a lower value can wait for the poll.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/redis/redis.h"
#include "scalers/params.h"
#include "scalers/scaler.h"
#include "scalers/sources.h"

struct rediswatch_pool;
struct rediswatch;

/*
 * The parameter `notify`. Part of the question's key, as one watch serves all triggers that share
 * the question.
 */
enum rediswatch_notify {
	REDISWATCH_AUTO,  /* "auto": used if enabled on the server; otherwise the user is told how to enable it */
	REDISWATCH_OFF,   /* "off" */
	REDISWATCH_QUIET, /* the default: like auto, without telling the user */
};

/* The kind of key, which determines the notification classes. */
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
 * Starts without a server; rediswatch_set_endpoint supplies it. look: as in struct scaler_type;
 * also called when the report changes in a way that users should see. NULL if notify is off, or if
 * p is NULL (`kscaled check`). Stop it with rediswatch_stop.
 */
struct rediswatch *rediswatch_start(struct rediswatch_pool *p, const struct rediswatch_config *config,
	question_look_fn look, void *arg);
void rediswatch_stop(struct rediswatch *w);

/*
 * Sets the server that holds the key now, with the endpoint's database: the single server, the
 * master behind sentinels, or the node of the key's slot in a cluster. Replaces the previous one;
 * the same one keeps its subscription. Takes its own reference. look is called once the new one is
 * subscribed to.
 */
void rediswatch_set_endpoint(struct rediswatch *w, struct redisendpoint *endpoint);

struct watch_report rediswatch_report(const void *watch);

extern const struct sources_part rediswatch_part; /* scaler_sources.redis_watches */

#endif
