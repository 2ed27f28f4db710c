/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_AMQP_AMQP_H
#define NET_AMQP_AMQP_H

/*
 * How many messages a queue has, asked over AMQP 0-9-1 by a passive declaration, which needs no
 * right but to enter the vhost. One connection per server, vhost, login and TLS settings, shared by
 * all that use them, with up to eight channels. Questions are pipelined on each: one that is
 * refused (the queue is not there) costs its channel, which is opened again, and what was asked
 * behind it there is asked again; so a channel that had one asks singly at first.
 *
 * A connection is opened when first needed, closed after 60 idle seconds, and reopened after
 * failures with back-off and jitter (net/dial.h); questions that come meanwhile wait for it, and
 * fail at their deadline with the last error. One that is cancelled or past its deadline keeps its
 * place on its channel; when the oldest of a channel is overdue the connection is closed and all
 * its questions fail. The number of waiting questions per connection is limited.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/amqp/amqpendpoint.h"
#include "net/loop.h"

#define AMQP_QUEUE_MAX 255 /* bytes of a queue's name */

struct amqp_pool;
struct amqp_call;

struct amqp_pool *amqp_pool_new(struct loop *loop);
/* Questions under way end without callbacks; may be called from inside one. NULL is fine. */
void amqp_pool_free(struct amqp_pool *p);
size_t amqp_pool_connections(const struct amqp_pool *p); /* open or being opened */

/*
 * messages: those that are ready, so without what was delivered and not acknowledged; or err.
 * Called exactly once, at the end of a turn, never before amqp_ask has returned.
 */
typedef void (*amqp_fn)(void *arg, uint32_t messages, const struct err *err);

/* Fails at deadline_ms (loop clock). The name is copied. */
struct amqp_call *amqp_ask(struct amqp_pool *p, struct amqpendpoint *e, const char *queue, int64_t deadline_ms,
	amqp_fn fn, void *arg);
void amqp_cancel(struct amqp_call *call); /* no callback any more; NULL is fine */

#endif
