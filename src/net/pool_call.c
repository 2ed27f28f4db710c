/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <utlist.h>

#include "base/mem.h"
#include "net/pool_parts.h"

void pool_call_free(struct pool_call *call)
{
	if (call->pool->protocol->done)
		call->pool->protocol->done(call);
	free(call->query);
	free(call->err);
	free(call);
}

void pool_calls_free(struct pool_call *list)
{
	struct pool_call *call, *next;

	DL_FOREACH_SAFE (list, call, next)
		pool_call_free(call);
}

static void leave_place(struct pool_call *call)
{
	struct pool_slot *slot = call->slot;

	if (!slot) {
		DL_DELETE(call->server->queue, call);
		return;
	}
	DL_DELETE(slot->lanes[call->lane].sent, call);
	slot->lanes[call->lane].under_way--;
	slot->under_way--;
	call->slot = NULL;
}

void pool_call_leave(struct pool_call *call)
{
	leave_place(call);
	call->server->waiting--;
	call->server->waiting_bytes -= call->bytes;
}

void pool_call_tell(struct pool_server *s, struct pool_call *call, const struct err *why)
{
	struct pool *p = s->pool;

	if (call->cancelled) {
		pool_call_free(call);
		return;
	}
	if (why)
		err_keep(&call->err, why);
	call->server = NULL;
	DL_APPEND(p->told, call);
	loop_task_queue(p->loop, &p->tell);
}

void pool_call_fail(struct pool_call *call, const struct err *why)
{
	pool_call_leave(call);
	pool_call_tell(call->server, call, why);
}

/* A cancelled copy stays in the lane, so that later answers find their calls. */
void pool_call_expire(struct pool_call *call, const struct err *why)
{
	struct pool_server *s = call->server;
	struct pool_call *place;

	if (!call->slot) {
		pool_call_fail(call, why);
		return;
	}
	place = mem_zalloc(s->pool->protocol->call_size);
	*place = *call;
	place->cancelled = true;
	place->err = NULL;
	call->query = NULL;
	DL_REPLACE_ELEM(call->slot->lanes[call->lane].sent, call, place);
	call->slot = NULL;
	pool_call_tell(s, call, why);
}

void pool_calls_requeue(struct pool_server *s, struct pool_lane *lane)
{
	while (lane->sent) {
		struct pool_call *call = lane->sent->prev; /* the youngest first */

		if (call->cancelled) {
			pool_call_leave(call);
			pool_call_free(call);
		} else {
			leave_place(call);
			DL_PREPEND(s->queue, call);
		}
	}
}
