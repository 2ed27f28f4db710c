/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISROUTER_H
#define NET_REDIS_REDISROUTER_H

/*
 * Routes commands to a site (net/redis/redistopology.h): finds the server of a key, sends the command
 * over the shared connections of net/redis, and asks for a new map when the old one was wrong.
 *
 * The daemon has one router. Its state per site (net/redis/redisroute.h: the map, waiting commands,
 * followers) is shared by all with the same site key, made at the first command, and freed when
 * there were no commands and followers for five minutes. The guides are asked in random order, the
 * next one when one fails or is slow, with back-off when all fail; at most one round per site is
 * under way, however many commands wait.
 *
 * A bounded number of MOVED and ASK is followed. When a server cannot be reached, or replies that
 * it is not the master, the map is asked for once more and the command is sent to the new server;
 * if that is the same one, the command fails with the first error. When no new map can be had the
 * old one is still used.
 */

#include "net/redis/redisendpoint.h"
#include "net/redis/redistopology.h"

struct redisrouter;
struct redisrouter_call;
struct redisrouter_follower;

struct redisrouter *redisrouter_new(struct loop *loop, struct pool *pool /* borrowed */);
/*
 * NULL is fine. Before the pool is freed, not from inside a callback; commands under way end
 * without callbacks.
 */
void redisrouter_free(struct redisrouter *r);

/*
 * As redis_command; key: determines the slot (copied; "" where it does not matter). Error replies
 * that the router does not handle are replies.
 */
struct redisrouter_call *redisrouter_command(struct redisrouter *r, struct redistopology *topology, const char *key,
	size_t key_len, int argc, const char *const *argv, const size_t *argv_len, int64_t deadline_ms, redis_fn fn,
	void *arg);
void redisrouter_cancel(struct redisrouter_call *call); /* no callback any more; NULL is fine */

/*
 * Follows the server of a key, for subscriptions: fn is called when it is known and whenever it
 * changes, never before redisrouter_follow has returned, never after redisrouter_unfollow.
 * endpoint: borrowed for the call; redisendpoint_ref keeps it. While there are followers the map is
 * asked for every few seconds, even without commands. The endpoint of a sentinel's master rejects a
 * replica by itself (ROLE in its greeting).
 */
typedef void (*redisrouter_follow_fn)(void *arg, struct redisendpoint *endpoint);
struct redisrouter_follower *redisrouter_follow(struct redisrouter *r, struct redistopology *topology, const char *key,
	size_t key_len, redisrouter_follow_fn fn, void *arg);
void redisrouter_unfollow(struct redisrouter_follower *f); /* NULL is fine */

#endif
