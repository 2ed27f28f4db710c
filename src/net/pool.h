/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_POOL_H
#define NET_POOL_H

/*
 * Connections of a wire protocol, shared by all users of an endpoint, and the queue in front of
 * them. Handles deadlines, back-off, idle close, limits and callbacks; a protocol adds a codec, a
 * login, and the table below.
 *
 * The window is the number of calls that may be in flight on a connection.
 *   1: a query occupies its connection until it is answered. There is one connection, and a second
 *      one while the oldest query has waited 50 ms behind another.
 *   n or POOL_UNLIMITED: calls are pipelined on one connection, and answered in the order in which
 *      they were sent.
 * If connections have channels, each channel is a lane with its own window. A lane that the server
 * closes because of a call restarts with a window of 1, which doubles with each answer.
 *
 * A connection is opened when first needed, closed after 60 idle seconds, and reopened after
 * failures with back-off and jitter (net/dial.h). Calls queued meanwhile wait for it, and fail at
 * their deadline with the last error, or with the step that is taking too long.
 *
 * A cancelled call in flight keeps its place until its answer arrives. So does an expired one,
 * unless it is the oldest of its lane: then the connection is considered hung, it is closed, and
 * its calls fail. Callbacks run at the end of the turn.
 *
 * Users of an endpoint may be several namespaces, so each query must find the session in its
 * initial state: the protocol resets it after each query, or reports the connection as unusable.
 *
 * The life of a call: pool_ask, open (if needed), pool_opened, send, pool_finished, tell, done.
 * pool_lost can replace pool_opened or pool_finished; with lanes, so can pool_refused.
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
 * The first member of the protocol's call. The protocol allocates the call zeroed; the pool frees
 * it.
 */
struct pool_call {
	struct pool *pool;
	struct pool_server *server; /* while queued or in flight */
	struct pool_slot *slot;     /* while in flight */
	unsigned lane;              /* of that slot */
	struct pool_call *prev, *next;
	const char *what; /* what the call is, for messages; a constant, or NULL */
	char *query;      /* owned; NULL: none, or already sent */
	size_t bytes;     /* of the query */
	int64_t asked_ms; /* send may reset it, for pool_oldest_ms */
	int64_t deadline_ms;
	bool cancelled; /* in flight, but nobody waits for the answer */
	bool retried;
	struct err *err; /* owned; set by the protocol for a bad answer; in tell(): why there is no answer; NULL */
};

#define POOL_UNLIMITED UINT_MAX

struct pool_protocol {
	const char *name; /* "mysql": with the endpoint's name, the prefix of messages */
	/* Adds a prefix of the protocol's own instead; arg: pool_new's. May be NULL. */
	void (*locate)(void *arg, struct err *err);
	const char *calls; /* "queries": the word for calls in messages */
	size_t call_size;  /* of the protocol's call */
	unsigned window;   /* see above */
	unsigned lanes;    /* per connection; 0: one, ready as soon as the connection is */
	/* Limits per server, for queued and in-flight calls together. */
	size_t waiting_max;
	size_t waiting_bytes_max; /* 0: no limit */
	size_t query_max;         /* bytes of one query; 0: no limit */
	const char *overdue;      /* message: the oldest call in flight was not answered in time */
	const char *crowded;      /* message: a call behind it */
	/*
	 * Opens a connection, for the call `first`: a new one, or the one that close kept
	 * (pool_slot_connection). pool_opened or pool_lost follows, never before open has returned.
	 */
	void *(*open)(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first);
	/*
	 * For a call that expires while the connection is opening: returns -1 with err, the step
	 * that takes too long. 0: the connection is open, but no lane is; it is then considered
	 * hung.
	 */
	int (*opening)(const void *connection, struct err *err);
	/*
	 * Sends the query, on call->lane. pool_finished, pool_refused or pool_lost follows, never
	 * before send has returned. -1: the connection is broken.
	 */
	int (*send)(void *connection, struct pool_call *call, struct err *err);
	void (*close)(void *connection); /* in any state; without `free` also frees it */
	/* NULL: close frees it. Never called while functions of the connection are on the stack. */
	void (*free)(void *connection);
	/*
	 * Returns whether a query whose connection was lost may be sent once more; if so, drops
	 * what it has received of the answer. NULL: never.
	 */
	bool (*again)(struct pool_call *call);
	void (*tell)(struct pool_call *call); /* calls the callback */
	void (*done)(struct pool_call *call); /* frees the protocol's own fields; may be NULL */
};

struct pool *pool_new(struct loop *loop, const struct pool_protocol *protocol, void *arg);
void pool_free(struct pool *p); /* NULL is fine; calls end without callbacks; may be called from a callback */
size_t pool_connections(const struct pool *p); /* open or being opened */
/* Whether the endpoint is in back-off: a call would wait for the next connection attempt. */
bool pool_backs_off(const struct pool *p, struct endpoint *e);

/* Takes ownership of call and query. bytes: length of the query. deadline_ms: loop clock. */
void pool_ask(struct pool *p, struct endpoint *e, char *query, size_t bytes, int64_t deadline_ms,
	struct pool_call *call);
void pool_cancel(struct pool_call *call); /* no callback follows; NULL is fine */

/* ---- For owners of one pool per server ---- */

size_t pool_waiting(const struct pool *p);    /* calls queued or in flight */
int64_t pool_oldest_ms(const struct pool *p); /* asked_ms of the call to be answered next; 0: none */
bool pool_is_quiet(const struct pool *p);     /* no connection, no call, no callback due */
void pool_close_idle(struct pool *p);         /* closes connections at once, unless there are calls */

/* ---- For the protocol, called from the loop; lanes are numbered from 0 ---- */

void pool_opened(struct pool_slot *slot, unsigned lane); /* calls may be sent on this lane */
/*
 * The oldest call of its lane is answered, or call->err says what is wrong with the answer. usable:
 * the connection can serve another query; otherwise it is closed, and the calls behind are
 * requeued.
 */
void pool_finished(struct pool_call *call, bool usable);
/*
 * The server refused the oldest call of a lane, closed the lane, and dropped the calls behind,
 * which are requeued ahead of all later ones. pool_opened follows.
 */
void pool_refused(struct pool_call *call, const struct err *why);
void pool_lost(struct pool_slot *slot, const struct err *why);                 /* in any state; closes the connection */
struct pool_call *pool_slot_call(const struct pool_slot *slot, unsigned lane); /* the oldest in flight, or NULL */
void *pool_slot_connection(const struct pool_slot *slot);
struct loop *pool_slot_loop(const struct pool_slot *slot);
void *pool_slot_arg(const struct pool_slot *slot); /* pool_new's */
bool *pool_slot_note(struct pool_slot *slot);      /* a flag for the protocol's use, per endpoint; initially false */

#endif
