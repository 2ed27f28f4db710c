/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISROUTER_H
#define NET_REDIS_REDISROUTER_H

/*
 * Commands to a site (net/redis/redissite.h): finds the server that a key lives on, sends the
 * command there over the shared connections of net/redis, and finds the way anew when it was wrong.
 *
 * One router belongs to the daemon. What it knows of a site (net/redis/redisway.h: the map, who
 * waits for it, who follows it) is shared by all with the same site key, is made at the first
 * command, and is dropped when nobody asked or followed for five minutes. The guides are asked in
 * shuffled order, the next one when one fails or is slow, with back-off when all fail; no more than
 * one round per site at a time, whatever the number of commands that wait.
 *
 * MOVED and ASK are followed a bounded number of times. When the server cannot be reached, or says
 * that it is no master (any more), the way is asked for once more and, if it leads elsewhere, the
 * command is sent there; otherwise it fails with the first reason. A way that could not be asked
 * for again is still used.
 */

#include "net/redis/redisendpoint.h"
#include "net/redis/redissite.h"

struct redisrouter;
struct redisrouter_call;
struct redisrouter_follower;

struct redisrouter *redisrouter_new(struct loop *loop, struct redis_pool *pool /* borrowed */);
/* NULL is fine; before the pool, not from inside a callback; what is under way ends without one */
void redisrouter_free(struct redisrouter *r);

/*
 * As redis_command; key: what the slot is of (copied; "" where it does not matter). An error reply
 * other than those that the router handles is a reply.
 */
struct redisrouter_call *redisrouter_command(struct redisrouter *r, struct redissite *site, const char *key,
	size_t key_len, int argc, const char *const *argv, const size_t *argv_len, int64_t deadline_ms, redis_fn fn,
	void *arg);
void redisrouter_cancel(struct redisrouter_call *call); /* no callback any more; NULL is fine */

/*
 * Where a key lives, for whoever subscribes there: fn when it becomes known, and again whenever it
 * is another. Never before redisrouter_follow has returned, nor after redisrouter_unfollow.
 * endpoint is borrowed for the call: redisendpoint_ref keeps it. While somebody follows, the way
 * is asked for again every few seconds, also when nobody sends commands. For a sentinel's master
 * the endpoint refuses a replica by itself (ROLE in its greeting).
 */
typedef void (*redisrouter_follow_fn)(void *arg, struct redisendpoint *endpoint);
struct redisrouter_follower *redisrouter_follow(struct redisrouter *r, struct redissite *site, const char *key,
	size_t key_len, redisrouter_follow_fn fn, void *arg);
void redisrouter_unfollow(struct redisrouter_follower *f); /* NULL is fine */

#endif
