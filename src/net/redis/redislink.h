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

/*
 * Counts the callbacks on the stack, which may free the pool that a link belongs to. A member of
 * the pool.
 */
struct redislink_guard {
	unsigned depth;
	bool freed;               /* freed in a callback: no more callbacks */
	void (*left)(void *pool); /* no callback is on the stack any more; may free the pool */
	void *pool;
};
void redislink_enter(struct redislink_guard *g);
void redislink_leave(struct redislink_guard *g);     /* may free g; both: NULL is fine */
void redislink_free_pool(struct redislink_guard *g); /* at once, or when no callback is on the stack any more */

/* Called from the loop, never from inside redislink_open. */
struct redislink_handler {
	void (*opened)(void *arg); /* the greeting is sent; commands may follow */
	/* Takes a reply, not to the greeting. May close the link or free the pool. */
	void (*replied)(void *arg, struct redis_reply *reply);
	/*
	 * It could not be opened, cannot be used, or is lost: close it. idle: it had worked, and
	 * the server closed it; only the owner knows whether a reply was due.
	 */
	void (*failed)(void *arg, const struct err *why, bool idle);
};

enum redislink_state { REDISLINK_CLOSED, REDISLINK_OPENING, REDISLINK_OPEN };

struct redislink {
	struct stream stream;
	const struct redisendpoint *endpoint; /* borrowed */
	struct redislink_guard *guard;        /* borrowed; NULL: no handler frees the link */
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
	struct redislink_guard *guard, const struct redislink_handler *handler, void *arg);
void redislink_open(struct redislink *l);
void redislink_close(struct redislink *l); /* in any state; may be opened again */
void redislink_done(struct redislink *l);
/* Takes a command as hiredis formats it. Sent at the end of this round of callbacks. */
void redislink_send(struct redislink *l, char *wire, size_t len);

/* The error of an unexpected reply: often the server rejects all clients. */
void redislink_unasked(const struct redis_reply *reply, struct err *err);

#endif
