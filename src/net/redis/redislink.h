/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISLINK_H
#define NET_REDIS_REDISLINK_H

/*
 * One connection to a Redis server: dialling, TLS, the greeting (AUTH and, for queries, SELECT and
 * ROLE), replies under caps, and what its end means in words. For net/redis, which asks questions
 * on it, and net/redis/redissub, which listens. It never connects again by itself: when, and what
 * becomes of what was under way, its owner decides.
 */

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/answers.h"
#include "net/descriptors.h"
#include "net/loop.h"
#include "net/redis/redisendpoint.h"

struct bufferevent;
struct dial;
struct redis_reply;

#define REDISLINK_CONNECT_MS    5000 /* name and TCP; then TLS as long again */
#define REDISLINK_GREETINGS_MAX 3
/* A Redis that speaks no TLS keeps silent when it is greeted in TLS. */
#define REDISLINK_SHAKING_TIMED_OUT "TLS handshake: timed out (does the server speak TLS here?)"

/*
 * Whose callbacks are on the stack, so that they may free the pool of which a link is a part. Lives
 * in the pool.
 */
struct redislink_guard {
	unsigned depth;
	bool freed;               /* by a callback: nothing more is told */
	void (*left)(void *pool); /* no callback is on the stack any more: may free the pool */
	void *pool;
};
void redislink_enter(struct redislink_guard *g);
void redislink_leave(struct redislink_guard *g);     /* may free g */
void redislink_free_pool(struct redislink_guard *g); /* now, or when no callback is on the stack any more */

/* From the loop, never from inside redislink_open. */
struct redislink_handler {
	void (*opened)(void *arg); /* the greeting is sent: what is written now comes behind it */
	/* Not to the greeting. May close the link, or free the pool. */
	void (*replied)(void *arg, const struct redis_reply *reply);
	/*
	 * It could not be opened, is of no use, or is lost: close it. idle: it had worked, and the
	 * server ended it; whether somebody waited, the owner knows.
	 */
	void (*failed)(void *arg, const struct err *why, bool idle);
};

enum redislink_state { REDISLINK_CLOSED, REDISLINK_DIALING, REDISLINK_SHAKING_HANDS, REDISLINK_OPEN };

struct redislink {
	struct loop *loop;
	const struct redisendpoint *endpoint; /* borrowed */
	struct redislink_guard *guard;        /* borrowed */
	const struct redislink_handler *handler;
	void *arg;
	bool queries; /* greets with SELECT and ROLE, too */
	enum redislink_state state;
	struct dial *dial;
	struct descriptors_hold hold;
	struct answers_hold bytes; /* of what reader keeps */
	struct bufferevent *bev;   /* NULL until there is a socket */
	SSL_CTX *tls;              /* made at the first connection */
	SSL *ssl;                  /* owned by bev; NULL: plain */
	struct redisreply *reader;
	const char *greetings[REDISLINK_GREETINGS_MAX]; /* answers to come */
	size_t greetings_left, greetings_count;
	bool heard;                /* at least one reply on this connection */
	int64_t heard_ms;          /* bytes, or the opening */
	struct loop_timer shaking; /* the handshake's deadline */
};

void redislink_init(struct redislink *l, struct loop *loop, const struct redisendpoint *e, bool queries,
	struct redislink_guard *guard, const struct redislink_handler *handler, void *arg);
void redislink_open(struct redislink *l);
void redislink_close(struct redislink *l); /* in any state; may be opened again */
void redislink_done(struct redislink *l);

/* What it means that a reply came that nobody asked for: often the server turns everybody away. */
void redislink_unasked(const struct redis_reply *reply, struct err *err);

#endif
