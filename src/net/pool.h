/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_POOL_H
#define NET_POOL_H

/*
 * The connections of a wire protocol, shared by all users of an endpoint, and the queue in front of
 * them. Here are deadlines, back-off, idle close, limits and callbacks; a protocol adds a codec, a
 * login, and the table below.
 *
 * The window says how many calls may be under way on a connection at a time.
 *   1: a query occupies its connection until it is answered. There is one connection, and a second
 *      one while the oldest query has waited 50 ms behind another.
 *   n or POOL_UNLIMITED: calls are pipelined on one connection, and answered in the order in which
 *      they were sent.
 * Where a connection has channels, each is a lane with a window of its own. A lane that the server
 * closes because of a call begins again with a window of 1, which doubles with each answer.
 *
 * A connection is opened when first needed, closed after 60 idle seconds, and reopened after
 * failures with back-off and jitter (net/dial.h). Calls that come meanwhile wait for it, and fail
 * at their deadline with the last error, or with the step that takes so long.
 *
 * A call that is under way and cancelled keeps its place until its answer has come; so does one
 * that is past its deadline, unless it is the oldest of its lane: then the connection hangs, is
 * closed, and its calls fail. Callbacks come at the end of the turn.
 *
 * An endpoint's users may be several namespaces': a query finds its session as the connection found
 * it. The protocol resets the session after each query, or says that it is not usable any more.
 *
 * A call's way: pool_ask, open (if need be), pool_opened, send, pool_finished, tell, done. Instead
 * of pool_opened or pool_finished there may be pool_lost; where there are lanes, pool_refused.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/endpoint.h"
#include "net/loop.h"

struct pool;
struct pool_server; /* all connections and calls of one endpoint */
struct pool_slot;   /* one connection, or none */

/*
 * The first member of the protocol's call, which the protocol allocates zeroed and the pool frees.
 */
struct pool_call {
	struct pool *pool;
	struct pool_server *server; /* while it waits or is under way */
	struct pool_slot *slot;     /* while it is under way */
	unsigned lane;              /* there */
	struct pool_call *prev, *next;
	const char *what; /* it is, in messages: a constant; NULL */
	char *query;      /* owned; NULL: none, or not needed any more */
	size_t bytes;     /* of the query */
	int64_t asked_ms; /* send may set it anew, for pool_oldest_ms */
	int64_t deadline_ms;
	bool cancelled; /* under way, but its caller does not wait any more */
	bool retried;
	struct err *err; /* owned; set by the protocol when the answer is wrong; in tell(): why there is none; NULL */
};

#define POOL_UNLIMITED UINT_MAX

struct pool_protocol {
	const char *name; /* "mysql": with the endpoint's name the prefix of messages */
	/* Puts another prefix before a message; gets the arg of pool_new. NULL: there is none. */
	void (*locate)(void *arg, struct err *err);
	const char *calls; /* "queries": what they are called in messages */
	size_t call_size;  /* of the protocol's call */
	unsigned window;   /* see above */
	unsigned lanes;    /* of a connection; 0: one, which is ready with the connection */
	/* Limits of a server, of what waits and what is under way. */
	size_t waiting_max;
	size_t waiting_bytes_max; /* 0: any */
	size_t query_max;         /* bytes of one; 0: any */
	const char *overdue;      /* message: the oldest call under way did not end in time */
	const char *crowded;      /* message: a call that came after it */
	/*
	 * Starts a connection, for the call `first`: a new one, or the one that close left
	 * (pool_slot_connection). pool_opened or pool_lost follows, not before this returns.
	 */
	void *(*open)(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first);
	/*
	 * Of a call that is overdue while this connection is being opened: -1 with err, which says
	 * what takes so long. 0: it is open, only its lanes are not; then it hangs.
	 */
	int (*opening)(const void *connection, struct err *err);
	/*
	 * Sends the query (in call->lane). pool_finished, pool_refused or pool_lost follows, not
	 * before this returns. -1: the connection is broken.
	 */
	int (*send)(void *connection, struct pool_call *call, struct err *err);
	void (*close)(void *connection); /* in any state; without `free` also frees it */
	/* NULL: close does. Not called while functions of the connection are on the stack. */
	void (*free)(void *connection);
	/*
	 * Whether a query whose connection was lost may be sent once more; if so, drops the part of
	 * the answer that had come. NULL: never.
	 */
	bool (*again)(struct pool_call *call);
	void (*tell)(struct pool_call *call); /* calls the callback */
	void (*done)(struct pool_call *call); /* frees the protocol's own fields; NULL: there are none */
};

struct pool *pool_new(struct loop *loop, const struct pool_protocol *protocol, void *arg);
void pool_free(struct pool *p); /* NULL is fine; calls end without callbacks; may be called from inside one */
size_t pool_connections(const struct pool *p); /* how many are open or being opened */
/* Whether the last connection failed just now, so that a call would wait for the next one. */
bool pool_backs_off(const struct pool *p, struct endpoint *e);

/* Takes the call and its query, which has so many bytes. deadline_ms: loop clock. */
void pool_ask(struct pool *p, struct endpoint *e, char *query, size_t bytes, int64_t deadline_ms,
	struct pool_call *call);
void pool_cancel(struct pool_call *call); /* no callback any more; NULL is fine */

/* ---- For one who has a pool for each server, and looks after it ---- */

size_t pool_waiting(const struct pool *p);    /* calls that wait or are under way */
int64_t pool_oldest_ms(const struct pool *p); /* asked_ms of the one that is next to be answered; 0: there is none */
bool pool_is_quiet(const struct pool *p);     /* no connection, and nobody to be told anything */
void pool_close_idle(struct pool *p);         /* now, unless there are calls */

/* ---- For the protocol, from the loop; lanes are numbered from 0 ---- */

void pool_opened(struct pool_slot *slot, unsigned lane); /* calls may be sent there */
/*
 * The oldest call of its lane is answered, or call->err says what is wrong with the answer. usable:
 * the connection can serve another query, else it is closed, and what was behind is asked again.
 */
void pool_finished(struct pool_call *call, bool usable);
/*
 * The server refused the oldest call of a lane, closed the lane, and dropped what was behind the
 * call, which is asked again before all that came later. pool_opened follows.
 */
void pool_refused(struct pool_call *call, const struct err *why);
void pool_lost(struct pool_slot *slot, const struct err *why);                 /* in any state; closes the connection */
struct pool_call *pool_slot_call(const struct pool_slot *slot, unsigned lane); /* the oldest under way; NULL */
void *pool_slot_connection(const struct pool_slot *slot);
struct loop *pool_slot_loop(const struct pool_slot *slot);
void *pool_slot_arg(const struct pool_slot *slot); /* pool_new's */
bool *pool_slot_note(struct pool_slot *slot);      /* a flag for the protocol, one per endpoint; at first false */

#endif
