/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_AMQP_AMQP_H
#define NET_AMQP_AMQP_H

/*
 * The number of messages in a queue, over AMQP 0-9-1 by a passive declaration, which needs no
 * permission except access to the vhost. Through net/pool: one connection per server, vhost, login
 * and TLS settings, whose up to eight channels are lanes. A refused declaration (no such queue)
 * closes its channel, which is then reopened.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/amqp/amqpendpoint.h"
#include "net/pool.h"

#define AMQP_QUEUE_MAX 255 /* bytes of a queue's name */

struct pool *amqp_new(struct loop *loop); /* freed by pool_free */

/*
 * messages: ready ones, without delivered but unacknowledged ones; or err. Called exactly once, at
 * the end of a turn, never before amqp_ask has returned.
 */
typedef void (*amqp_fn)(void *arg, uint32_t messages, const struct err *err);

/* Fails at deadline_ms (loop clock). The queue's name is copied. */
struct pool_call *amqp_ask(struct pool *p, struct amqpendpoint *e, const char *queue, int64_t deadline_ms, amqp_fn fn,
	void *arg);

#endif
