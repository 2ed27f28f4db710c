/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISROUND_H
#define NET_REDIS_REDISROUND_H

/*
 * One command put to several servers in turn until one gives an answer that is good enough: seeds
 * of a cluster, sentinels. In shuffled order; the next one is asked at once when one fails, and
 * beside it when one is slow, so that a hung server costs a moment and not the whole time. For
 * net/redis/redisrouter.
 */

#include "net/redis/redis.h"

/* Servers that one round asks at most. */
#define REDISROUND_TRIES_MAX 16

/*
 * 0: good enough, the round is over. -1: the next one is asked, and err is told if nobody does
 * better.
 */
typedef int (*redisround_accept_fn)(void *arg, const struct redisendpoint *from, const struct redis_reply *reply,
	struct err *err);
/*
 * Exactly once, unless cancelled: NULL when an answer was accepted, else the last reason. May free
 * whatever it likes, but cancels nothing: the round is over.
 */
typedef void (*redisround_done_fn)(void *arg, const struct err *err);

struct redisround;
struct redisround *redisround_start(struct loop *loop, struct redis_pool *pool, struct redisendpoint *const *endpoints,
	size_t count, int argc, const char *const *argv, int64_t timeout_ms, redisround_accept_fn accept,
	redisround_done_fn done, void *arg);
void redisround_cancel(struct redisround *round); /* NULL is fine */

#endif
