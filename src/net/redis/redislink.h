/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISLINK_H
#define NET_REDIS_REDISLINK_H

/*
 * One connection to a Redis server: dialling, TLS, the greeting (AUTH and, for commands, SELECT and
 * ROLE), size-limited replies, and an explanation of its end. Used by net/redis/redis, which sends
 * commands, and net/redis/redissub, which subscribes. It never reconnects by itself: its owner
 * decides on that, and on commands in flight.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/redis/redisendpoint.h"
#include "net/stream.h"

struct redis_reply;

#define REDISLINK_GREETINGS_MAX 3

/* Called from the loop, never from inside redislink_open. Each may close or free the link. */
struct redislink_handler {
	void (*opened)(void *arg); /* the greeting is sent; commands may follow */
	/* takes ownership; not called for the greeting's replies */
	void (*replied)(void *arg, struct redis_reply *reply);
	/* Opening failed, the connection is unusable, or it is lost: close it. */
	void (*failed)(void *arg, const struct err *why);
};

enum redislink_state { REDISLINK_CLOSED, REDISLINK_OPENING, REDISLINK_OPEN };

struct redislink {
	struct stream stream;
	const struct redisendpoint *endpoint; /* borrowed */
	const struct redislink_handler *handler;
	void *arg;
	bool queries; /* for commands: the greeting includes SELECT and ROLE */
	enum redislink_state state;
	struct redisreply *reader;
	bool fed;                                       /* the reader may have more replies */
	const char *greetings[REDISLINK_GREETINGS_MAX]; /* commands whose replies are due */
	size_t greetings_left, greetings_count;
};

void redislink_init(struct redislink *l, struct loop *loop, const struct redisendpoint *e, bool queries,
	const struct redislink_handler *handler, void *arg);
void redislink_open(struct redislink *l);
void redislink_close(struct redislink *l); /* in any state; may be reopened */
void redislink_done(struct redislink *l);
/* Takes a command formatted by hiredis. It is sent at the end of this round of callbacks. */
void redislink_send(struct redislink *l, char *wire, size_t len);

/* Sets err for an unexpected reply: often the server is rejecting all clients. */
void redislink_unexpected(const struct redis_reply *reply, struct err *err);

#endif
