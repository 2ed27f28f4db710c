/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void line_take(struct line_connection *c, const char *line)
{
	unsigned lane = (unsigned)(line[0] - '0');
	struct line_call *call = c->welcome ? (struct line_call *)pool_slot_call(c->slot, lane) : NULL;
	const char kind = line[2], *words = line + 3;
	struct err err;

	err_set(&err, ERR_INVALID, "%s", words);
	if (!c->welcome && strcmp(line, "welcome") == 0) {
		c->welcome = true;
	} else if (c->welcome && kind == 'o') {
		pool_opened(c->slot, lane);
	} else if (!call) {
		err_set(&err, ERR_DENIED, "%s", line);
		pool_lost(c->slot, &err);
	} else if (kind == '?') {
		pool_refused(&call->base, &err);
	} else {
		if (kind == '!')
			err_keep(&call->base.err, &err);
		snprintf(call->answer, sizeof(call->answer), "%s", words);
		if (kind != ',')
			pool_finished(&call->base, true);
	}
}

void *line_open(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first)
{
	struct line_connection *c = pool_slot_connection(slot); /* the last one */

	(void)e;
	(void)first;
	if (!c)
		c = mem_zalloc(sizeof(*c));
	*c = (struct line_connection){ .slot = slot, .wire = wire_open(c) };
	return c;
}

int line_opening(const void *connection, struct err *err)
{
	if (((const struct line_connection *)connection)->welcome)
		return 0;
	return err_set(err, ERR_TEMPORARY, "saying hello");
}

int line_send(void *connection, struct pool_call *call, struct err *err)
{
	if (wire_write(((struct line_connection *)connection)->wire, call->lane, call->query))
		return err_set(err, ERR_TEMPORARY, "cannot send");
	return 0;
}

void line_close(void *connection)
{
	wire_close(((struct line_connection *)connection)->wire);
}

bool line_again(struct pool_call *call)
{
	return !((struct line_call *)call)->answer[0]; /* not if part of the answer had arrived */
}

void line_tell(struct pool_call *call)
{
	struct line_call *c = (struct line_call *)call;

	c->fn(c->arg, call->err ? NULL : c->answer, call->err);
}
