/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_POOL_PARTS_H
#define NET_POOL_PARTS_H

/*
 * The pool's structs. Only for pool.c (servers, connections, timers) and pool_call.c (a call's
 * place in the queue and lanes, and its end).
 */

#include "base/hash.h"
#include "net/pool.h"

enum slot_state { SLOT_CLOSED, SLOT_OPENING, SLOT_OPEN };

struct pool_lane {
	struct pool_call *sent; /* in flight, oldest first */
	unsigned under_way;     /* in flight */
	unsigned window;        /* most in flight */
	bool ready;
};

struct pool_slot {
	struct pool_server *server;
	void *connection; /* the protocol's; NULL: none, or close freed it */
	enum slot_state state;
	struct pool_lane *lanes;
	unsigned under_way; /* in flight, over all lanes */
	bool served;        /* this connection has given an answer */
	int64_t used_ms;
};

struct pool_server {
	struct pool *pool;
	struct endpoint *endpoint; /* one count */
	UT_hash_handle hh;         /* by the endpoint's key */
	struct pool_slot slots[2]; /* the second one only for a window of 1 */
	size_t slots_count;
	struct pool_call *queue;       /* oldest first */
	size_t waiting, waiting_bytes; /* queued and in flight */
	bool note;
	unsigned failures;
	int64_t retry_ms, grow_ms; /* not before; loop clock */
	int64_t used_ms;           /* last call */
	struct err *last_err;
	struct loop_timer timer;
	int64_t timer_ms; /* due; 0: not set */
};

struct pool {
	struct loop *loop;
	const struct pool_protocol *protocol;
	unsigned lanes; /* of a connection */
	void *arg;
	struct pool_server *servers; /* hash */
	struct pool_server *last;    /* the last one looked up; NULL: freed */
	struct pool_call *told;      /* to be called back at the end of this turn */
	struct loop_task tell;
	bool telling; /* callbacks are on the stack */
	bool freed;   /* by a callback; done once none is on the stack */
};

void pool_call_free(struct pool_call *call);
void pool_calls_free(struct pool_call *list);
/* Takes the call out of its queue or lane, and frees its place. */
void pool_call_leave(struct pool_call *call);
/*
 * Calls back at the end of the turn; frees a cancelled call instead. why: NULL for an answer. The
 * call has left its queue or lane.
 */
void pool_call_tell(struct pool_server *s, struct pool_call *call, const struct err *why);
void pool_call_fail(struct pool_call *call, const struct err *why); /* leaves, then calls back */
/* Fails the call, but keeps its place in a lane, as answers come in order. */
void pool_call_expire(struct pool_call *call, const struct err *why);
/* Puts the lane's calls back at the head of the queue, in their order; frees cancelled ones. */
void pool_calls_requeue(struct pool_server *s, struct pool_lane *lane);

#endif
