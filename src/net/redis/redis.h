/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDIS_H
#define NET_REDIS_REDIS_H

/*
 * Redis connections, one per address, database, credentials and TLS settings, shared by all that
 * use them. Commands of one loop turn are sent in one write (pipelined); replies come in order.
 * hiredis formats and parses (RESP2, with our own reply objects under limits,
 * net/redis/redisreply); the socket is a bufferevent, plain or TLS.
 *
 * A connection is opened when first needed, closed after 60 idle seconds, and reopened after
 * failures with back-off and jitter (net/dial.h); commands that come meanwhile wait for it, and
 * fail at their deadline with the last error. A command that is cancelled or past its deadline
 * keeps its slot in the pipeline; when the oldest one is overdue the connection is closed and all
 * its commands fail. The number of waiting commands per connection is limited.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"

struct redis_pool;
struct redisendpoint; /* net/redis/redisendpoint.h */
struct redis_reply;   /* net/redis/redisreply.h */
struct redis_call;

struct redis_pool *redis_pool_new(struct loop *loop);
/* Commands under way end without callbacks; may be called from inside one. */
void redis_pool_free(struct redis_pool *p);
size_t redis_pool_connections(const struct redis_pool *p); /* open or being opened */

/*
 * An error reply is a reply (type REDIS_ERROR), not an err; err is for transport, time-outs,
 * authentication and malformed replies.
 */
typedef void (*redis_fn)(void *arg, const struct redis_reply *reply, const struct err *err);

/* Sends one command, which fails at deadline_ms (loop clock). Arguments are copied. */
struct redis_call *redis_command(struct redis_pool *p, struct redisendpoint *e, int argc, const char *const *argv,
	const size_t *argv_len, int64_t deadline_ms, redis_fn fn, void *arg);
/* Whether the last connection failed just now, so that a command would wait for the next one. */
bool redis_rests(const struct redis_pool *p, const struct redisendpoint *e);
void redis_cancel(struct redis_call *call); /* no callback any more; NULL is fine */

#endif
