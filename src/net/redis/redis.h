/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDIS_H
#define NET_REDIS_REDIS_H

/*
 * Redis commands through net/pool: one connection per address, database, credentials and TLS
 * settings. Commands are pipelined; those of one loop turn are sent in one write. hiredis formats
 * and parses (RESP2, into our own size-limited reply objects, net/redis/redisreply); the socket is
 * a bufferevent, plain or TLS.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/pool.h"

struct redisendpoint; /* net/redis/redisendpoint.h */
struct redis_reply;   /* net/redis/redisreply.h */

struct pool *redis_new(struct loop *loop); /* freed by pool_free */

/*
 * Either reply or err, borrowed for the call. An error reply is a reply (type REDIS_ERROR), not an
 * err; err is for transport, time-outs, authentication and malformed replies. Called exactly once,
 * never before redis_command has returned, never after pool_cancel.
 */
typedef void (*redis_fn)(void *arg, const struct redis_reply *reply, const struct err *err);

/* Sends one command, which fails at deadline_ms (loop clock). argc > 0; arguments are copied. */
struct pool_call *redis_command(struct pool *p, struct redisendpoint *e, int argc, const char *const *argv,
	const size_t *argv_len, int64_t deadline_ms, redis_fn fn, void *arg);

#endif
