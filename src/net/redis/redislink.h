/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISLINK_H
#define NET_REDIS_REDISLINK_H

/*
 * One connection to a Redis server: dialling, TLS, the greeting (AUTH and, for commands, SELECT and
 * ROLE), replies under limits, and the reason of its end in words. Used by net/redis, which sends
 * commands, and net/redis/redissub, which subscribes. It never reconnects by itself: its owner
 * decides that, and what happens to commands under way.
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

#define REDISLINK_CONNECT_MS    5000 /* for name and TCP; then as long again for TLS */
#define REDISLINK_GREETINGS_MAX 3
/* A Redis without TLS does not answer a TLS handshake. */
#define REDISLINK_SHAKING_TIMED_OUT "TLS handshake: timed out (does the server speak TLS here?)"

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

enum redislink_state { REDISLINK_CLOSED, REDISLINK_DIALING, REDISLINK_SHAKING_HANDS, REDISLINK_OPEN };

struct redislink {
	struct loop *loop;
	const struct redisendpoint *endpoint; /* borrowed */
	struct redislink_guard *guard;        /* borrowed; NULL: no handler frees the link */
	const struct redislink_handler *handler;
	void *arg;
	bool queries; /* for commands: greets with SELECT and ROLE, too */
	enum redislink_state state;
	struct dial *dial;
	struct descriptors_hold hold;
	struct answers_hold bytes; /* bytes in reader */
	struct bufferevent *bev;   /* NULL until there is a socket */
	SSL_CTX *tls;              /* made at the first connection */
	SSL *ssl;                  /* owned by bev; NULL: plain */
	struct redisreply *reader;
	const char *greetings[REDISLINK_GREETINGS_MAX]; /* whose replies are due */
	size_t greetings_left, greetings_count;
	bool heard;                /* at least one reply on this connection */
	int64_t heard_ms;          /* of the last bytes, or of the opening */
	struct loop_timer shaking; /* deadline of the TLS handshake */
};

void redislink_init(struct redislink *l, struct loop *loop, const struct redisendpoint *e, bool queries,
	struct redislink_guard *guard, const struct redislink_handler *handler, void *arg);
void redislink_open(struct redislink *l);
void redislink_close(struct redislink *l); /* in any state; may be opened again */
void redislink_done(struct redislink *l);

/* The error of an unexpected reply: often the server rejects all clients. */
void redislink_unasked(const struct redis_reply *reply, struct err *err);

#endif
