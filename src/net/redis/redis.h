/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_REDIS_REDIS_H
#define NET_REDIS_REDIS_H

/*
 * Redis connections shared by everybody who asks the same server with the same credentials: one
 * connection per (address, database, credentials, TLS). Commands given in one loop turn leave in
 * one write (pipelined); answers come back in order. hiredis formats and parses (RESP2, with our
 * own reply objects under caps, net/redis/redisreply); the socket is a bufferevent, plain or TLS.
 *
 * A connection is made when first needed, closed after it was idle for 60 s, and made again with
 * back-off and jitter after failures (net/dial.h); commands given meanwhile wait for it, and past
 * their deadline fail with the last reason. A command that is cancelled or past its deadline leaves
 * its slot behind; when the head of the pipeline is overdue the connection is dropped and every
 * command on it fails. The number of commands waiting on one connection has a cap.
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
void redis_pool_free(struct redis_pool *p); /* commands under way end without callbacks; safe from inside them */
size_t redis_pool_connections(const struct redis_pool *p); /* open or being opened */

/*
 * An error reply of the server is an answer (type REDIS_ERROR), not an err; err is for transport,
 * time-outs, authentication and malformed replies.
 */
typedef void (*redis_fn)(void *arg, const struct redis_reply *reply, const struct err *err);

/* Sends one command before deadline_ms (loop clock). Arguments are copied into the output. */
struct redis_call *redis_command(struct redis_pool *p, struct redisendpoint *e, int argc, const char *const *argv,
	const size_t *argv_len, int64_t deadline_ms, redis_fn fn, void *arg);
/* the last connection failed just now: a command would wait a little for the next one */
bool redis_rests(const struct redis_pool *p, const struct redisendpoint *e);
void redis_cancel(struct redis_call *call); /* no callback any more; NULL is fine */

#endif
