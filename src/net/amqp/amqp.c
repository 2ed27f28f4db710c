/* SPDX-License-Identifier: Apache-2.0 */
#include "net/amqp/amqp.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/amqp/amqplink.h"

#define WAITING_MAX 20000
#define WINDOW      32 /* declarations in flight on one channel */

struct amqp_call {
	struct pool_call base; /* its query: the queue's name */
	amqp_fn fn;
	void *arg;
	uint32_t messages;
};

/* ---- Events of the link ---- */

static void on_ready(void *slot, size_t channel)
{
	pool_opened(slot, (unsigned)channel);
}

static void on_declared(void *slot, size_t channel, const char *queue, uint32_t messages)
{
	struct amqp_call *call = (struct amqp_call *)pool_slot_call(slot, (unsigned)channel);
	struct err err;

	if (!call || strcmp(call->base.query, queue) != 0) {
		err_set(&err, ERR_TEMPORARY, "the server sent an unexpected answer");
		pool_lost(slot, &err);
		return;
	}
	call->messages = messages;
	pool_finished(&call->base, true);
}

/* RabbitMQ answers NOT_FOUND also if the queue's node is down, or the queue is stopped. */
static bool is_not_there(const struct err *why)
{
	return why->kind == ERR_MISSING && (!strstr(why->msg, " - ") || strstr(why->msg, " - no queue "));
}

static void explain_refusal(const char *queue, const char *vhost, const struct err *why, struct err *err)
{
	if (is_not_there(why))
		err_set(err, ERR_MISSING, "there is no queue \"%s\" in vhost \"%s\"", queue, vhost);
	else
		err_set(err, why->kind == ERR_MISSING ? ERR_TEMPORARY : why->kind, "queue \"%s\" in vhost \"%s\": %s",
			queue, vhost, why->msg);
}

static void on_refused(void *slot, size_t channel, const struct err *why)
{
	const struct amqplink *l = pool_slot_connection(slot);
	struct pool_call *call = pool_slot_call(slot, (unsigned)channel);
	struct err err;

	if (!call) {
		pool_lost(slot, why);
		return;
	}
	explain_refusal(call->query, l->endpoint->vhost, why, &err);
	pool_refused(call, &err);
}

static void on_failed(void *slot, const struct err *why)
{
	pool_lost(slot, why);
}

/* ---- Functions for the pool ---- */

static void *open_connection(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first)
{
	static const struct amqplink_handler handler = { on_ready, on_declared, on_refused, on_failed };
	struct amqplink *l = pool_slot_connection(slot);

	(void)first;
	if (!l) {
		l = mem_alloc(sizeof(*l));
		amqplink_init(l, pool_slot_loop(slot), (struct amqpendpoint *)e, &handler, slot);
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

	call->fn(call->arg, base->err ? 0 : call->messages, base->err);
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
	pool_ask(p, &e->base, mem_dup(queue), strlen(queue), deadline_ms, &call->base);
	return &call->base;
}
