/* SPDX-License-Identifier: Apache-2.0 */
#include "net/amqp/amqp.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/amqp/amqplink.h"

#define WAITING_MAX 20000
#define WINDOW      32 /* declarations in flight on one channel */

struct amqp_call {
	struct amqplink_call base;
	amqp_fn fn;
	void *arg;
};

static void *open_connection(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first)
{
	struct amqplink *l = pool_slot_connection(slot);

	(void)first;
	if (!l) {
		l = mem_alloc(sizeof(*l));
		amqplink_init(l, slot, (struct amqpendpoint *)e);
	}
	amqplink_open(l);
	return l;
}

static int opening(const void *connection, struct err *err)
{
	const struct amqplink *l = connection;

	return l->stream.step ? stream_timed_out(&l->stream, err) : 0;
}

static int send_question(void *connection, struct pool_call *call, struct err *err)
{
	(void)err;
	amqplink_declare(connection, call->lane, call->query);
	return 0;
}

static void close_connection(void *connection)
{
	amqplink_close(connection);
}

static void free_connection(void *connection)
{
	amqplink_done(connection);
	free(connection);
}

static void tell(struct pool_call *base)
{
	struct amqp_call *call = (struct amqp_call *)base;

	call->fn(call->arg, base->err ? 0 : call->base.messages, base->err);
}

static const struct pool_protocol protocol = {
	.name = "rabbitmq",
	.calls = "questions",
	.call_size = sizeof(struct amqp_call),
	.window = WINDOW,
	.lanes = AMQPLINK_CHANNELS,
	.waiting_max = WAITING_MAX,
	.overdue = "the server did not answer in time",
	.crowded = "no answer in time",
	.open = open_connection,
	.opening = opening,
	.send = send_question,
	.close = close_connection,
	.free = free_connection,
	.tell = tell,
};

/* ---- Users ---- */

struct pool *amqp_new(struct loop *loop)
{
	return pool_new(loop, &protocol, NULL);
}

struct pool_call *amqp_ask(struct pool *p, struct amqpendpoint *e, const char *queue, int64_t deadline_ms, amqp_fn fn,
	void *arg)
{
	struct amqp_call *call = mem_zalloc(sizeof(*call));

	call->fn = fn;
	call->arg = arg;
	pool_ask(p, &e->base, mem_dup(queue), strlen(queue), deadline_ms, &call->base.base);
	return &call->base.base;
}
