/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redisfanout.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisreply.h"

#define SLOW_MS  300 /* then the next server is asked as well */
#define ARGS_MAX 4

struct attempt {
	struct redisfanout *fanout;
	struct redisendpoint *endpoint; /* one count */
	struct pool_call *call;         /* NULL before and after */
};

struct redisfanout {
	struct loop *loop;
	struct pool *pool;
	int argc;
	const char *argv[ARGS_MAX]; /* borrowed */
	int64_t timeout_ms;
	redisfanout_accept_fn accept;
	redisfanout_done_fn done;
	void *arg;
	struct loop_timer slow;
	size_t count, next, under_way;
	struct attempt tries[REDISFANOUT_TRIES_MAX];
	struct err err; /* the most informative error so far */
};

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *err);

static void ask_next(void *arg)
{
	struct redisfanout *fanout = arg;
	struct attempt *t = &fanout->tries[fanout->next++];

	t->call = redis_command(fanout->pool, t->endpoint, fanout->argc, fanout->argv, NULL,
		loop_now_ms(fanout->loop) + fanout->timeout_ms, on_reply, t);
	fanout->under_way++;
	if (fanout->next < fanout->count)
		loop_timer_set(&fanout->slow, SLOW_MS);
	else
		loop_timer_cancel(&fanout->slow);
}

static void finish_fanout(struct redisfanout *fanout, const struct err *why)
{
	redisfanout_done_fn done = fanout->done;
	void *arg = fanout->arg;
	struct err err = { 0 };

	if (why)
		err = *why;
	redisfanout_cancel(fanout);
	done(arg, err.kind == ERR_NONE ? NULL : &err);
}

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *err)
{
	struct attempt *t = arg;
	struct redisfanout *fanout = t->fanout;
	struct err refused = { 0 };

	t->call = NULL;
	fanout->under_way--;
	if (!err && fanout->accept(fanout->arg, t->endpoint, reply, &refused) == 0) {
		finish_fanout(fanout, NULL);
		return;
	}
	/* A refusal is more informative than an unreachable server. */
	if (fanout->err.kind == ERR_NONE || fanout->err.kind == ERR_TEMPORARY)
		fanout->err = err ? *err : refused;
	if (fanout->next < fanout->count)
		ask_next(fanout);
	else if (fanout->under_way == 0)
		finish_fanout(fanout, &fanout->err);
}

/* Picks servers in random order, those in back-off last. */
static void choose_servers(struct redisfanout *fanout, struct redisendpoint *const *endpoints, size_t count)
{
	size_t *order = mem_array(count, sizeof(*order)), chosen = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = 0; i < count; i++) {
		size_t other = i + (size_t)(fingerprint_random() % (count - i)), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (int failed = 0; failed < 2; failed++) {
		for (size_t i = 0; i < count && chosen < fanout->count; i++) {
			if (pool_backs_off(fanout->pool, &endpoints[order[i]]->base) == (failed > 0))
				fanout->tries[chosen++] = (struct attempt){ .fanout = fanout,
					.endpoint = endpoint_ref(endpoints[order[i]]) };
		}
	}
	free(order);
}

struct redisfanout *redisfanout_start(struct loop *loop, struct pool *pool, struct redisendpoint *const *endpoints,
	size_t count, int argc, const char *const *argv, int64_t timeout_ms, redisfanout_accept_fn accept,
	redisfanout_done_fn done, void *arg)
{
	struct redisfanout *fanout = mem_zalloc(sizeof(*fanout));

	fanout->loop = loop;
	fanout->pool = pool;
	fanout->argc = argc < ARGS_MAX ? argc : ARGS_MAX;
	memcpy(fanout->argv, argv, (size_t)fanout->argc * sizeof(*argv));
	fanout->timeout_ms = timeout_ms;
	fanout->accept = accept;
	fanout->done = done;
	fanout->arg = arg;
	fanout->count = count < REDISFANOUT_TRIES_MAX ? count : REDISFANOUT_TRIES_MAX;
	loop_timer_init(&fanout->slow, loop, ask_next, fanout);
	choose_servers(fanout, endpoints, count);
	ask_next(fanout);
	return fanout;
}

void redisfanout_cancel(struct redisfanout *fanout)
{
	if (!fanout)
		return;
	for (size_t i = 0; i < fanout->count; i++) {
		pool_cancel(fanout->tries[i].call);
		endpoint_unref(fanout->tries[i].endpoint);
	}
	loop_timer_done(&fanout->slow);
	free(fanout);
}
