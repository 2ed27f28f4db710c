/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISSUB_H
#define NET_REDIS_REDISSUB_H

/*
 * Redis channel subscriptions over one connection per server and credentials, whatever the number
 * of channels and listeners; the endpoint's database does not matter, as channels have none. The
 * connection is opened for the first listener, kept alive by an occasional PING, which also detects
 * a dead one, reopened with back-off and jitter, and closed with the last listener. All channels
 * are subscribed to in one write. Used by scalers/redis/rediswatch for keyspace notifications.
 *
 * A channel with more than REDISSUB_STORM messages within REDISSUB_MUTE_MS is unsubscribed for that
 * time, then rejoined; its listeners are then called as after a reconnect. That limits the cost of
 * a storm, also for the server.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/redis/redis.h"

#define REDISSUB_STORM   200
#define REDISSUB_MUTE_MS 100

struct redissub_pool;
struct redissub; /* one listener of one channel on one server */

struct redissub_pool *redissub_pool_new(struct loop *loop); /* opens nothing before the first listener */
/* May be called from callbacks; listeners must not be stopped afterwards. */
void redissub_pool_free(struct redissub_pool *p);

/*
 * message NULL: the channel is now subscribed to, for the first time, after a reconnect, or after a
 * storm; earlier messages were missed. Otherwise the message; borrowed, NUL-terminated. Never
 * called before redissub_start has returned.
 */
typedef void (*redissub_fn)(void *arg, const char *message, size_t len);

struct redissub *redissub_start(struct redissub_pool *p, struct redisendpoint *e, const char *channel,
	size_t channel_len, redissub_fn fn, void *arg);
void redissub_stop(struct redissub *s); /* NULL is fine; may be called from fn */

enum redissub_state {
	REDISSUB_STARTING, /* no reply from the server yet */
	REDISSUB_ON,
	/*
	 * The user has no right to this channel; retried after a minute, and after each reconnect.
	 */
	REDISSUB_REFUSED,
	REDISSUB_FAILING, /* no connection; being retried */
};
/* *why: the reason, or ""; valid until the end of the turn. */
enum redissub_state redissub_state(const struct redissub *s, const char **why);

#endif
