/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISSERVER_H
#define SCALERS_REDIS_REDISSERVER_H

/*
 * The server of a Redis trigger, in the three ways in which one is reached: by its address, as a
 * cluster, or through sentinels. What the types have in common: how they send a command, and what
 * they say about an answer that is none. Parameters are read by scalers/redis/redisparams.
 */

#include <stddef.h>

#include "net/redis/redis.h"
#include "net/redis/redisrouter.h"
#include "scalers/redis/rediswatch.h"
#include "scalers/scaler.h"

enum redisserver_mode { REDISSERVER_SINGLE, REDISSERVER_CLUSTER, REDISSERVER_SENTINEL };

/* Zero-initialised is none. One count of one of the two. */
struct redisserver {
	struct redisendpoint *endpoint; /* REDISSERVER_SINGLE */
	struct redissite *site;         /* the others */
};
void redisserver_done(struct redisserver *s);
const char *redisserver_key(const struct redisserver *s); /* identity without secrets, for a question's key */
char *redisserver_name(
	const struct redisserver *s); /* for people, caller owns: "redis a:6379", "redis-cluster a:6379,b:6379" */

/* A command about the key (which says where it goes in a cluster); as redis_command. */
struct redisserver_call {
	struct redis_call *direct;
	struct redisrouter_call *routed;
};
struct redisserver_call redisserver_command(struct scaler_sources *sources, const struct redisserver *s,
	const char *key, int argc, const char *const *argv, int64_t deadline_ms, redis_fn fn, void *arg);
void redisserver_cancel(struct redisserver_call *call); /* also of none */

/*
 * Push for one key: rediswatch at wherever the key lives, followed when that changes. As struct
 * scaler_type has watch, unwatch and watch_report; NULL when there is none.
 */
struct redisserver_watch;
struct redisserver_watch *redisserver_watch_start(struct scaler_sources *sources, const struct redisserver *s,
	const struct rediswatch_config *config, question_look_fn look, void *arg);
void redisserver_watch_stop(void *watch);
struct watch_report redisserver_watch_report(const void *watch);

/*
 * Whether a command failed, in transport or by an error reply; fills err. `doing` stands before the
 * server's words: "asking the length of jobs".
 */
bool redisserver_failed(const char *source, const char *doing, const struct redis_reply *reply,
	const struct err *transport, struct err *err);
/* Ends the ask with the count that the reply is, or with an error when it is none. */
void redisserver_end_with_count(struct scaler_ask *ask, const char *doing, const struct redis_reply *reply,
	const struct err *transport);

#endif
