/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDISFANOUT_H
#define NET_REDIS_REDISFANOUT_H

/*
 * Sends one command to several servers (cluster seeds or sentinels), in random order, until a reply
 * is accepted. The next server is asked when one fails, and in parallel when one is slow, so that a
 * hung server costs little time. For net/redis/redisrouter.
 */

#include "net/redis/redis.h"

/* Servers asked at most. */
#define REDISFANOUT_TRIES_MAX 16

/* 0: accepted. -1 with err: the next server is asked; err is the result if no reply is accepted. */
typedef int (*redisfanout_accept_fn)(void *arg, const struct redisendpoint *from, const struct redis_reply *reply,
	struct err *err);
/*
 * Called exactly once, unless cancelled. err: NULL when a reply was accepted, otherwise the most
 * informative error. The fanout is freed; it must not be cancelled any more.
 */
typedef void (*redisfanout_done_fn)(void *arg, const struct err *err);

struct redisfanout;
struct redisfanout *redisfanout_start(struct loop *loop, struct pool *pool, struct redisendpoint *const *endpoints,
	size_t count, int argc, const char *const *argv, int64_t timeout_ms, redisfanout_accept_fn accept,
	redisfanout_done_fn done, void *arg);
void redisfanout_cancel(struct redisfanout *fanout); /* NULL is fine */

#endif
