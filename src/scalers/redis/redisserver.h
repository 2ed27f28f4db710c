/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_REDIS_REDISSERVER_H
#define SCALERS_REDIS_REDISSERVER_H

/*
 * The server of a Redis trigger: a single one, a cluster, or a master behind sentinels. Does what
 * all Redis types need: sends a command, watches a key, explains errors. scalers/redis/redisparams
 * reads the parameters.
 */

#include <stddef.h>

#include "net/redis/redis.h"
#include "net/redis/redisrouter.h"
#include "scalers/redis/rediswatch.h"
#include "scalers/scaler.h"

enum redisserver_mode { REDISSERVER_SINGLE, REDISSERVER_CLUSTER, REDISSERVER_SENTINEL };

/* Empty when zeroed; otherwise holds one reference to one of the two. */
struct redisserver {
	struct redisendpoint *endpoint; /* for REDISSERVER_SINGLE */
	struct redistopology *topology; /* for the other modes */
};
const char *redisserver_key(const struct redisserver *s); /* identity without secrets, for a question's key */
char *redisserver_name(
	/* for messages, owned by the caller: "redis a:6379", "redis-cluster a:6379,b:6379" */
	const struct redisserver *s);

/* The first member of the data of a Redis type's question. */
struct redisserver_question {
	struct redisserver server;
	char *key;                     /* set by the type's row */
	enum rediswatch_notify notify; /* set by redisparams_notify_table */
	enum rediswatch_classes classes;
};
void redisserver_question_done(void *question); /* data_done of types whose data begins with it */

/* Like redis_command, for an ask; the question's key selects the node of a cluster. */
void redisserver_command(struct scaler_ask *ask, int argc, const char *const *argv, redis_fn fn);

/*
 * cancel, watch, unwatch and watch_report of all Redis types. The watch follows the key to another
 * server.
 */
void redisserver_cancel(void *ask);
void *redisserver_watch_start(struct scaler_sources *sources, struct question *question, question_look_fn look,
	void *arg);
void redisserver_watch_stop(void *watch);
struct watch_report redisserver_watch_report(const void *watch);

/*
 * Initialises a struct scaler_type with `table`, `absent`, `build` and `asker` of the file. The
 * last argument is the fourth table, or NULL.
 */
#define REDISSERVER_TYPE(word, go_word, data_type, ...)                                                                \
	{                                                                                                              \
		.name = (word), .go_name = (go_word),                                                                  \
		.tables = { &table, &redisparams_table, &redisparams_notify_table, __VA_ARGS__ },                      \
		.data_size = sizeof(data_type), .absent = &absent, .build = build,                                     \
		.data_done = redisserver_question_done, .asker = &asker, .watch = redisserver_watch_start,             \
		.unwatch = redisserver_watch_stop, .watch_report = redisserver_watch_report,                           \
	}

/*
 * Whether a command failed, by transport or error reply; fills *err. doing precedes the server's
 * text, for example "asking the length of jobs".
 */
bool redisserver_failed(const char *source, const char *doing, const struct redis_reply *reply,
	const struct err *transport, struct err *err);
/* Ends the ask with the count in the reply, or with an error. */
void redisserver_end_with_count(struct scaler_ask *ask, const char *doing, const struct redis_reply *reply,
	const struct err *transport);

#endif
