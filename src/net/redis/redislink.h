/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISLINK_H
#define NET_REDIS_REDISLINK_H

/*
 * One connection to a Redis server: dialling, TLS, the greeting (AUTH and, for commands, SELECT and
 * ROLE), replies under limits, and the reason of its end in words. Used by net/redis, which sends
 * commands, and net/redis/redissub, which subscribes. It never reconnects by itself: its owner
 * decides that, and what happens to commands under way.
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

/* Called from the loop, never from inside redislink_open. Each may close the link, and free it. */
struct redislink_handler {
	void (*opened)(void *arg);                             /* the greeting is sent; commands may follow */
	void (*replied)(void *arg, struct redis_reply *reply); /* takes one that is not the greeting's */
	/* It could not be opened, cannot be used, or is lost: close it. */
	void (*failed)(void *arg, const struct err *why);
};

enum redislink_state { REDISLINK_CLOSED, REDISLINK_OPENING, REDISLINK_OPEN };

struct redislink {
	struct stream stream;
	const struct redisendpoint *endpoint; /* borrowed */
	const struct redislink_handler *handler;
	void *arg;
	bool queries; /* for commands: greets with SELECT and ROLE, too */
	enum redislink_state state;
	struct redisreply *reader;
	bool fed;                                       /* the reader, which may have more replies */
	const char *greetings[REDISLINK_GREETINGS_MAX]; /* whose replies are due */
	size_t greetings_left, greetings_count;
};

void redislink_init(struct redislink *l, struct loop *loop, const struct redisendpoint *e, bool queries,
	const struct redislink_handler *handler, void *arg);
void redislink_open(struct redislink *l);
void redislink_close(struct redislink *l); /* in any state; may be opened again */
void redislink_done(struct redislink *l);
/* Takes a command as hiredis formats it. Sent at the end of this round of callbacks. */
void redislink_send(struct redislink *l, char *wire, size_t len);

/* The error of an unexpected reply: often the server rejects all clients. */
void redislink_unexpected(const struct redis_reply *reply, struct err *err);

#endif
