/* SPDX-License-Identifier: Apache-2.0 */
#include "poolworld.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fakes/fakeloop.h"
#include "base/mem.h"

struct poolworld w;

/* ---- The wire ---- */

void *wire_open(struct line_connection *c)
{
	struct wire *wire = &w.wires[w.opened++];

	assert_true(w.opened < WIRES_MAX);
	wire->connection = c;
	return wire;
}

int wire_write(void *arg, unsigned lane, const char *query)
{
	struct wire *wire = arg;

	if (w.breaks)
		return -1;
	wire->lines[wire->heard].lane = lane;
	snprintf(wire->lines[wire->heard++].query, sizeof(wire->lines[0].query), "%s", query);
	strncat(w.order, query, sizeof(w.order) - strlen(w.order) - 1);
	return 0;
}

void wire_close(void *arg)
{
	struct wire *wire = arg;

	assert_non_null(wire->connection);
	wire->connection = NULL;
}

/* ---- The tables ---- */

static void close_and_free(void *connection)
{
	line_close(connection);
	free(connection);
}

static void done(struct pool_call *call)
{
	(void)call;
	w.done++;
}

#define PROTOCOL(how_many, how_many_lanes, close_it, free_it)                                                          \
	{                                                                                                              \
		.name = "line", .calls = "queries", .call_size = sizeof(struct line_call), .window = (how_many),       \
		.lanes = (how_many_lanes), .waiting_max = 50, .waiting_bytes_max = 200, .query_max = 8,                \
		.overdue = "overdue", .crowded = "crowded", .open = line_open, .opening = line_opening,                \
		.send = line_send, .close = (close_it), .free = (free_it), .again = line_again, .tell = line_tell,     \
		.done = done,                                                                                          \
	}

const struct pool_protocol one = PROTOCOL(1, 0, close_and_free, NULL), three = PROTOCOL(3, 0, close_and_free, NULL),
			   unlimited = PROTOCOL(POOL_UNLIMITED, 0, line_close, free),
			   lanes = PROTOCOL(4, 2, line_close, free);

static void no_more(struct endpoint *e)
{
	(void)e;
}

int setup(void **state)
{
	memset(&w, 0, sizeof(w));
	w.loop = fakeloop_start();
	w.protocol = *state;
	w.endpoint = endpoint_new(sizeof(*w.endpoint), no_more);
	w.endpoint->key = mem_dup("key");
	w.endpoint->name = mem_dup("db:1");
	w.pool = pool_new(w.loop, w.protocol, &w);
	return 0;
}

int teardown(void **state)
{
	(void)state;
	pool_free(w.pool);
	for (size_t i = 0; i < w.opened; i++)
		assert_null(w.wires[i].connection);
	assert_int_equal(w.endpoint->count, 1);
	endpoint_unref(w.endpoint);
	fakeloop_end();
	return 0;
}

/* ---- The client ---- */

static void on_answer(void *arg, const char *answer, const struct err *err)
{
	struct outcome *o = arg;

	assert_int_equal(answer == NULL, err != NULL);
	o->times++;
	if (err)
		o->err = *err;
	else
		snprintf(o->answer, sizeof(o->answer), "%s", answer);
	if (o->cancels)
		pool_cancel(&o->cancels->base);
	if (o->frees) {
		pool_free(w.pool);
		w.pool = NULL;
	}
}

struct line_call *ask(const char *query, int64_t patience_ms, struct outcome *o)
{
	struct line_call *call = mem_zalloc(sizeof(*call));

	*o = (struct outcome){ .times = 0 };
	call->fn = on_answer;
	call->arg = o;
	pool_ask(w.pool, w.endpoint, mem_dup(query), strlen(query), loop_now_ms(w.loop) + patience_ms, &call->base);
	assert_int_equal(o->times, 0); /* never before it returns */
	return call;
}

void expect_failed(const struct outcome *o, const char *words)
{
	char message[64];

	snprintf(message, sizeof(message), "line at db:1: %s", words);
	assert_int_equal(o->times, 1);
	assert_string_equal(o->err.msg, message);
}

void expect_answered(const struct outcome *o, const char *answer)
{
	if (o->times == 1 && !o->answer[0])
		fail_msg("%s", o->err.msg);
	assert_int_equal(o->times, 1);
	assert_string_equal(o->answer, answer);
}

/* ---- The server ---- */

void say(size_t i, const char *line)
{
	assert_non_null(w.wires[i].connection);
	line_take(w.wires[i].connection, line);
	fakeloop_advance(0);
}

void welcome(size_t i)
{
	assert_ptr_equal(pool_slot_arg(w.wires[i].connection->slot), &w);
	assert_ptr_equal(pool_slot_loop(w.wires[i].connection->slot), w.loop);
	say(i, "welcome");
	say(i, "0 open");
	if (w.protocol->lanes > 1)
		say(i, "1 open");
}

/* Answers the oldest unanswered query, with the query itself or an error. */
void answer(size_t i, const char *error)
{
	struct wire *wire = &w.wires[i];
	size_t n = wire->answered++;
	char line[64];

	assert_true(n < wire->heard);
	snprintf(line, sizeof(line), "%u %c%s", wire->lines[n].lane, error ? '!' : '=',
		error ? error : wire->lines[n].query);
	say(i, line);
}

void answer_all(size_t i)
{
	while (w.wires[i].connection && w.wires[i].answered < w.wires[i].heard)
		answer(i, NULL);
}

void lose(size_t i, enum err_kind kind, const char *why)
{
	struct err err;

	err_set(&err, kind, "%s", why);
	pool_lost(w.wires[i].connection->slot, &err);
	fakeloop_advance(0);
}
