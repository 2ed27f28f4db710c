/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_AMQP_AMQP_H
#define NET_AMQP_AMQP_H

/*
 * How many messages a queue has, asked over AMQP 0-9-1 by a passive declaration, which needs no
 * right but to enter the vhost. Through net/pool: one connection per server, vhost, login and TLS
 * settings, whose up to eight channels are lanes. A question that is refused (the queue is not
 * there) costs its channel, which is opened again.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/amqp/amqpendpoint.h"
#include "net/pool.h"

#define AMQP_QUEUE_MAX 255 /* bytes of a queue's name */

struct amqp_call;

struct pool *amqp_new(struct loop *loop); /* freed by pool_free */

/*
 * messages: those that are ready, so without what was delivered and not acknowledged; or err.
 * Called exactly once, at the end of a turn, never before amqp_ask has returned.
 */
typedef void (*amqp_fn)(void *arg, uint32_t messages, const struct err *err);

/* Fails at deadline_ms (loop clock). The name is copied. */
struct amqp_call *amqp_ask(struct pool *p, struct amqpendpoint *e, const char *queue, int64_t deadline_ms, amqp_fn fn,
	void *arg);
void amqp_cancel(struct amqp_call *call); /* no callback any more; NULL is fine */

#endif
