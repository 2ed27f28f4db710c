/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_LINE_H
#define TESTS_UNIT_NET_LINE_H

/*
 * A line protocol on net/pool, to show what a protocol costs: line.c, and a table as in
 * test_pool.c. The server says "welcome" and "0 open". Then each query is a line that starts with
 * its lane's number, and so is its answer: "0 =text", "0 !why" for an error, "0 ,text" for part of
 * an answer. "0 ?why" refuses the oldest query and closes the lane.
 */

#include <stdbool.h>

#include "net/pool.h"

struct line_call {
	struct pool_call base;
	void (*fn)(void *arg, const char *answer, const struct err *err);
	void *arg;
	char answer[16]; /* so far */
};

struct line_connection {
	struct pool_slot *slot;
	bool welcome;
	void *wire;
};

/* Members of a table; line_close keeps the connection for line_open. */
void *line_open(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first);
int line_opening(const void *connection, struct err *err);
int line_send(void *connection, struct pool_call *call, struct err *err);
void line_close(void *connection);
bool line_again(struct pool_call *call);
void line_tell(struct pool_call *call);

void line_take(struct line_connection *c, const char *line); /* from the wire */

/* The wire, implemented by the test. */
void *wire_open(struct line_connection *c);
int wire_write(void *wire, unsigned lane, const char *query); /* -1: broken */
void wire_close(void *wire);

#endif
