/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_POOLWORLD_H
#define TESTS_UNIT_NET_POOLWORLD_H

/*
 * A pool with a protocol of lines (line.h) on a clock of the test's: its client and its server are
 * the test.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "line.h"

#define WIRES_MAX 64

struct wire {
	struct line_connection *connection; /* NULL once closed */
	struct {
		unsigned lane;
		char query[16];
	} lines[128];
	size_t heard, answered;
};

struct outcome {
	int times;
	char answer[16]; /* "": none */
	struct err err;
	struct line_call *cancels; /* set when notified */
	bool frees;                /* the pool, when notified */
};

struct poolworld {
	struct loop *loop;
	struct pool *pool;
	const struct pool_protocol *protocol;
	struct endpoint *endpoint;
	struct wire wires[WIRES_MAX];
	size_t opened, done;
	bool breaks;     /* written next */
	char order[128]; /* queries as they were sent */
};
extern struct poolworld w;

/* The tables, by their windows. */
extern const struct pool_protocol one, three, unlimited, lanes;

int setup(void **state); /* *state: a table */
int teardown(void **state);

/* ---- The client ---- */

struct line_call *ask(const char *query, int64_t patience_ms, struct outcome *o);
void expect_failed(const struct outcome *o, const char *words);
void expect_answered(const struct outcome *o, const char *answer);

/* ---- The server, on the connection that was opened as the i-th ---- */

void say(size_t i, const char *line);
void welcome(size_t i);
void answer(size_t i, const char *error); /* to the oldest query that has none: the query itself, or an error */
void answer_all(size_t i);
void lose(size_t i, enum err_kind kind, const char *why); /* the connection */

#define TEST(test, window)                                                                                             \
	{                                                                                                              \
#test " (" #window ")", test, setup, teardown, (void *)(uintptr_t) & (window)                          \
	}
#define EACH(test) TEST(test, one), TEST(test, three), TEST(test, unlimited), TEST(test, lanes)

#endif
