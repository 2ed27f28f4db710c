/* SPDX-License-Identifier: Apache-2.0 */
#include "net/redis/redisround.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/redis/redisendpoint.h"
#include "net/redis/redisreply.h"

#define SLOW_MS  300 /* then the next one is asked, too */
#define ARGS_MAX 4

struct
try {
	struct redisround *round;
	struct redisendpoint *endpoint; /* one count */
	struct redis_call *call;        /* NULL before and after */
};

struct redisround {
	struct loop *loop;
	struct pool *pool;
	int argc;
	const char *argv[ARGS_MAX]; /* borrowed */
	int64_t timeout_ms;
	redisround_accept_fn accept;
	redisround_done_fn done;
	void *arg;
	struct loop_timer slow;
	size_t count, next, under_way;
	struct try tries[REDISROUND_TRIES_MAX];
	struct err err; /* the most telling error so far */
};

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *err);

static void ask_next(void *arg)
{
	struct redisround *round = arg;
	struct try *t = &round->tries[round->next++];

	t->call = redis_command(round->pool, t->endpoint, round->argc, round->argv, NULL,
		loop_now_ms(round->loop) + round->timeout_ms, on_reply, t);
	round->under_way++;
	if (round->next < round->count)
		loop_timer_set(&round->slow, SLOW_MS);
	else
		loop_timer_cancel(&round->slow);
}

static void finish(struct redisround *round, const struct err *why)
{
	redisround_done_fn done = round->done;
	void *arg = round->arg;
	struct err err = { 0 };

	if (why)
		err = *why;
	redisround_cancel(round);
	done(arg, err.kind == ERR_NONE ? NULL : &err);
}

static void on_reply(void *arg, const struct redis_reply *reply, const struct err *err)
{
	struct try *t = arg;
	struct redisround *round = t->round;
	struct err refused = { 0 };

	t->call = NULL;
	round->under_way--;
	if (!err && round->accept(round->arg, t->endpoint, reply, &refused) == 0) {
		finish(round, NULL);
		return;
	}
	/* A server's refusal tells more than that another server cannot be reached. */
	if (round->err.kind == ERR_NONE || round->err.kind == ERR_TEMPORARY)
		round->err = err ? *err : refused;
	if (round->next < round->count)
		ask_next(round);
	else if (round->under_way == 0)
		finish(round, &round->err);
}

/*
 * Picks servers in random order; those whose last connection failed just now only if there are too
 * few others.
 */
static void choose(struct redisround *round, struct redisendpoint *const *endpoints, size_t count)
{
	size_t *order = mem_array(count, sizeof(*order)), chosen = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = 0; i < count; i++) {
		size_t other = i + (size_t)(fingerprint_random() % (count - i)), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	for (int resting = 0; resting < 2; resting++) {
		for (size_t i = 0; i < count && chosen < round->count; i++) {
			if (pool_backs_off(round->pool, &endpoints[order[i]]->base) == (resting > 0))
				round->tries[chosen++] = (struct try){ .round = round,
					.endpoint = redisendpoint_ref(endpoints[order[i]]) };
		}
	}
	free(order);
}

struct redisround *redisround_start(struct loop *loop, struct pool *pool, struct redisendpoint *const *endpoints,
	size_t count, int argc, const char *const *argv, int64_t timeout_ms, redisround_accept_fn accept,
	redisround_done_fn done, void *arg)
{
	struct redisround *round = mem_zalloc(sizeof(*round));

	round->loop = loop;
	round->pool = pool;
	round->argc = argc < ARGS_MAX ? argc : ARGS_MAX;
	memcpy(round->argv, argv, (size_t)round->argc * sizeof(*argv));
	round->timeout_ms = timeout_ms;
	round->accept = accept;
	round->done = done;
	round->arg = arg;
	round->count = count < REDISROUND_TRIES_MAX ? count : REDISROUND_TRIES_MAX;
	loop_timer_init(&round->slow, loop, ask_next, round);
	choose(round, endpoints, count);
	ask_next(round);
	return round;
}

void redisround_cancel(struct redisround *round)
{
	if (!round)
		return;
	for (size_t i = 0; i < round->count; i++) {
		redis_cancel(round->tries[i].call);
		redisendpoint_unref(round->tries[i].endpoint);
	}
	loop_timer_done(&round->slow);
	free(round);
}
