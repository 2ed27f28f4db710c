/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISSERVER_H
#define SCALERS_REDIS_REDISSERVER_H

/*
 * The server of a Redis trigger: a single one, a cluster, or a master behind sentinels. What the
 * Redis types have in common: sending a command, watching a key, and error messages. Parameters are
 * read by scalers/redis/redisparams.
 */

#include <stddef.h>

#include "net/redis/redis.h"
#include "net/redis/redisrouter.h"
#include "scalers/redis/rediswatch.h"
#include "scalers/scaler.h"

enum redisserver_mode { REDISSERVER_SINGLE, REDISSERVER_CLUSTER, REDISSERVER_SENTINEL };

/* Empty when zeroed. One reference to one of the two. */
struct redisserver {
	struct redisendpoint *endpoint; /* for REDISSERVER_SINGLE */
	struct redistopology *topology; /* for the other modes */
};
const char *redisserver_key(const struct redisserver *s); /* identity without secrets, for a question's key */
char *redisserver_name(
	const struct redisserver *s); /* for people, caller owns: "redis a:6379", "redis-cluster a:6379,b:6379" */

/* The first member of the data of a Redis type's question. */
struct redisserver_question {
	struct redisserver server;
	char *key;                     /* the field of the type's row */
	enum rediswatch_notify notify; /* the field of redisparams_notify_table */
	enum rediswatch_classes classes;
};
void redisserver_question_done(void *question); /* data_done of the types, whose data begins with it */

/* The first member of a Redis type's ask. */
struct redisserver_ask {
	struct scaler_ask base;
	struct redis_call *direct; /* one of these is set */
	struct redisrouter_call *routed;
};
/*
 * Sends a command about the question's key, which selects the node of a cluster; as redis_command.
 */
void redisserver_command(struct scaler_sources *sources, struct redisserver_ask *ask, int argc, const char *const *argv,
	int64_t deadline_ms, redis_fn fn);

/*
 * cancel, watch, unwatch and watch_report of all Redis types. The watch follows the key when it
 * moves to another server.
 */
void redisserver_cancel(void *ask);
void *redisserver_watch_start(struct scaler_sources *sources, struct question *question, question_look_fn look,
	void *arg);
void redisserver_watch_stop(void *watch);
struct watch_report redisserver_watch_report(const void *watch);

/*
 * A struct scaler_type, with `table`, `absent` and `build` of the file; after ask_fn its fourth
 * table, or NULL.
 */
#define REDISSERVER_TYPE(word, go_word, data_type, ask_fn, ...)                                                        \
	{                                                                                                              \
		.name = (word), .go_name = (go_word),                                                                  \
		.tables = { &table, &redisparams_table, &redisparams_notify_table, __VA_ARGS__ },                      \
		.data_size = sizeof(data_type), .absent = &absent, .build = build,                                     \
		.data_done = redisserver_question_done, .ask = (ask_fn), .cancel = redisserver_cancel,                 \
		.watch = redisserver_watch_start, .unwatch = redisserver_watch_stop,                                   \
		.watch_report = redisserver_watch_report,                                                              \
	}

/*
 * Whether a command failed, by transport or error reply; fills *err. doing, as "asking the length
 * of jobs", precedes the server's text.
 */
bool redisserver_failed(const char *source, const char *doing, const struct redis_reply *reply,
	const struct err *transport, struct err *err);
/* Ends the ask with the count in the reply, or with an error. */
void redisserver_end_with_count(struct scaler_ask *ask, const char *doing, const struct redis_reply *reply,
	const struct err *transport);

#endif
