/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISROUTER_H
#define NET_REDIS_REDISROUTER_H

/*
 * Routes commands in a topology (net/redis/redistopology.h): finds the server of a key, sends the
 * command over the shared connections of net/redis/redis, and refreshes a map that was wrong.
 *
 * The daemon has one router. Its state per topology (net/redis/redisroute.h: the map, waiting
 * commands, followers) is shared by all users with the same topology key, made for the first
 * command, and freed after five minutes without commands and followers. For a map, seeds are asked
 * in random order, the next one when one fails or is slow, with back-off when all fail. At most one
 * refresh per topology is in progress, however many commands wait.
 *
 * A limited number of MOVED and ASK redirects is followed. When a server cannot be reached, or
 * replies that it is not the master, the map is refreshed and the command is sent to the new
 * server; if that is the same one, the command fails with the first error. If the map cannot be
 * refreshed, the old one is still used.
 */

#include "net/redis/redisendpoint.h"
#include "net/redis/redistopology.h"

struct redisrouter;
struct redisrouter_call;
struct redisrouter_follower;

struct redisrouter *redisrouter_new(struct loop *loop, struct pool *pool /* borrowed */);
/*
 * NULL is fine. Call it before the pool is freed, not from a callback. Commands in flight end
 * without callbacks.
 */
void redisrouter_free(struct redisrouter *r);

/*
 * Like redis_command. key: determines the slot (copied; "" where it does not matter). Error replies
 * that the router does not handle are passed on as replies.
 */
struct redisrouter_call *redisrouter_command(struct redisrouter *r, struct redistopology *topology, const char *key,
	size_t key_len, int argc, const char *const *argv, const size_t *argv_len, int64_t deadline_ms, redis_fn fn,
	void *arg);
void redisrouter_cancel(struct redisrouter_call *call); /* no callback follows; NULL is fine */

/*
 * Follows the server of a key, for subscriptions: fn is called when it is known, and whenever it
 * changes; never before redisrouter_follow has returned, never after redisrouter_unfollow.
 * endpoint: borrowed for the call; endpoint_ref keeps it. While there are followers the map is
 * refreshed every few seconds, even without commands. The endpoint of a sentinel's master rejects a
 * replica by itself (ROLE in its greeting).
 */
typedef void (*redisrouter_follow_fn)(void *arg, struct redisendpoint *endpoint);
struct redisrouter_follower *redisrouter_follow(struct redisrouter *r, struct redistopology *topology, const char *key,
	size_t key_len, redisrouter_follow_fn fn, void *arg);
void redisrouter_unfollow(struct redisrouter_follower *f); /* NULL is fine */

#endif
