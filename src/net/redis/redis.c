/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redis.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redislink.h"
#include "net/redis/redisreply.h"

#define WAITING_MAX       20000
#define WAITING_BYTES_MAX ((size_t)16 << 20)

struct redis_call {
	struct pool_call base; /* its query: the formatted command, until it is sent */
	redis_fn fn;
	void *arg;
	struct redis_reply *reply;
};

/* ---- Connections ---- */

static void on_opened(void *slot)
{
	pool_opened(slot, 0);
}

static void on_reply(void *slot, struct redis_reply *reply)
{
	struct redis_call *call = (struct redis_call *)pool_slot_call(slot, 0);
	struct err err;

	if (!call) {
		redislink_unexpected(reply, &err);
		redis_reply_free(reply);
		pool_lost(slot, &err);
		return;
	}
	call->reply = reply;
	pool_finished(&call->base, true);
}

static void on_failed(void *slot, const struct err *why)
{
	pool_lost(slot, why);
}

static void *open_connection(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first)
{
	static const struct redislink_handler handler = { on_opened, on_reply, on_failed };
	struct redislink *l = pool_slot_connection(slot);

	(void)first;
	if (!l) {
		l = mem_alloc(sizeof(*l));
		redislink_init(l, pool_slot_loop(slot), (struct redisendpoint *)e, true, &handler, slot);
	}
	redislink_open(l);
	return l;
}

static int opening(const void *connection, struct err *err)
{
	return stream_timed_out(&((const struct redislink *)connection)->stream, err);
}

static int send_command(void *connection, struct pool_call *call, struct err *err)
{
	(void)err;
	redislink_send(connection, call->query, call->bytes);
	call->query = NULL;
	return 0;
}

static void close_connection(void *connection)
{
	redislink_close(connection);
}

static void free_connection(void *connection)
{
	redislink_done(connection);
	free(connection);
}

/* ---- Calls ---- */

static void tell(struct pool_call *base)
{
	struct redis_call *call = (struct redis_call *)base;

	call->fn(call->arg, base->err ? NULL : call->reply, base->err);
}

static void done(struct pool_call *call)
{
	redis_reply_free(((struct redis_call *)call)->reply);
}

static const struct pool_protocol protocol = {
	.name = "redis",
	.calls = "commands",
	.call_size = sizeof(struct redis_call),
	.window = POOL_UNLIMITED,
	.waiting_max = WAITING_MAX,
	.waiting_bytes_max = WAITING_BYTES_MAX,
	.overdue = "the server did not answer in time",
	.crowded = "no answer in time",
	.open = open_connection,
	.opening = opening,
	.send = send_command,
	.close = close_connection,
	.free = free_connection,
	.tell = tell,
	.done = done,
};

/* ---- Users ---- */

struct pool *redis_new(struct loop *loop)
{
	return pool_new(loop, &protocol, NULL);
}

struct pool_call *redis_command(struct pool *p, struct redisendpoint *e, int argc, const char *const *argv,
	const size_t *argv_len, int64_t deadline_ms, redis_fn fn, void *arg)
{
	struct redis_call *call = mem_zalloc(sizeof(*call));
	char *wire;
	int len = redisFormatCommandArgv(&wire, argc, (const char **)(uintptr_t)argv, argv_len);

	if (len < 0)
		abort(); /* out of memory */
	call->fn = fn;
	call->arg = arg;
	pool_ask(p, &e->base, wire, (size_t)len, deadline_ms, &call->base);
	return &call->base;
}
