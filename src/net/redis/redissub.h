/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISSUB_H
#define NET_REDIS_REDISSUB_H

/*
 * Channels of Redis servers, subscribed to on one connection per server and credentials, whatever
 * the number of channels and of those who listen; of the endpoint its database does not count, as
 * channels know none. The connection is made with the first listener, kept up while there are any
 * (a PING now and then finds a half-open one out), made anew with back-off and jitter after it was
 * lost, and closed with the last one. All channels are asked for in one write. Used by
 * scalers/redis/rediswatch for keyspace notifications.
 *
 * A channel that says more than REDISSUB_STORM messages within REDISSUB_MUTE_MS is left for as
 * long, and joined again: its listeners then hear of it as after a reconnect. So a storm costs
 * neither us nor the server more than that.
 */

#include <stddef.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/redis/redis.h"

#define REDISSUB_STORM   200
#define REDISSUB_MUTE_MS 100

struct redissub_pool;
struct redissub; /* one listener of one channel on one server */

struct redissub_pool *redissub_pool_new(struct loop *loop); /* no connection, no context before the first listener */
/* safe from inside callbacks; listeners must not be stopped after it */
void redissub_pool_free(struct redissub_pool *p);
size_t redissub_pool_connections(const struct redissub_pool *p);

/*
 * message NULL: the channel is subscribed to from now on, at first, after a reconnect, or after a
 * storm: what was said before was not heard. Else what was said; borrowed, NUL-terminated. Never
 * before redissub_start has returned.
 */
typedef void (*redissub_fn)(void *arg, const char *message, size_t len);

struct redissub *redissub_start(struct redissub_pool *p, struct redisendpoint *e, const char *channel,
	size_t channel_len, redissub_fn fn, void *arg);
void redissub_stop(struct redissub *s); /* NULL is fine; also from inside fn */

enum redissub_state {
	REDISSUB_STARTING, /* no word from the server yet */
	REDISSUB_ON,
	/*
	 * the server does not let this user have this channel; asked again after a minute, and
	 * after each reconnect
	 */
	REDISSUB_REFUSED,
	REDISSUB_FAILING, /* no connection; tried again */
};
/* *why ("" when there is nothing to say) is good until the loop turns. */
enum redissub_state redissub_state(const struct redissub *s, const char **why);

#endif
