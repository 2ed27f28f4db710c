/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_POOL_H
#define NET_POOL_H

/*
 * Connections shared by all who ask the same endpoint, for protocols in which a connection answers
 * one question at a time: one connection, and a second one while the oldest question has waited 50
 * ms behind another. Questions wait in a queue with a cap, oldest first.
 *
 * A connection is made when it is first needed, closed after 60 idle seconds, and made again with
 * back-off and jitter after failures; questions that come meanwhile wait for it (net/dial.h). A
 * question past its deadline fails, and its connection is closed: these protocols have no other way
 * to take a question back. Answers and failures are told at the end of the turn.
 *
 * The protocol (net/pg/pg, net/mysql/mysqlpool) brings a table of what it can do. Redis does not
 * come here: there a question is written as soon as it is asked, behind those that are unanswered,
 * on a single connection, so nothing waits in a queue, and a question that was given up keeps its
 * place until its answer has come. What it shares is the back-off of net/dial.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/endpoint.h"
#include "net/loop.h"

struct pool;
struct pool_server; /* what all questions to one endpoint share */
struct pool_slot;   /* a place for a connection */

/*
 * A question. The first member of the protocol's call, which the protocol allocates zeroed and the
 * pool frees.
 */
struct pool_call {
	struct pool *pool;
	struct pool_server *server; /* while it waits or is asked */
	struct pool_slot *slot;     /* while it is asked */
	struct pool_call *prev, *next;
	char *query; /* owned; outlives the connection's work at it */
	int64_t asked_ms, deadline_ms;
	bool cancelled; /* asked, but nobody waits for the answer */
	bool retried;
	struct err *err; /* owned; set by the protocol: what is wrong with the answer; in tell(): why none */
};

struct pool_protocol {
	const char *name; /* "mysql": begins each message */
	size_t waiting_max;
	size_t query_max;    /* bytes; 0: any */
	const char *overdue; /* the question under way did not end in time */
	const char *crowded; /* nor did the one that waited behind it */
	/*
	 * Starts a connection; first: the question that it is for. pool_opened or pool_lost
	 * follows, not before this returns.
	 */
	void *(*open)(struct pool_slot *slot, struct endpoint *e, const struct pool_call *first);
	/*
	 * Of one that is being opened, or NULL for none: what took too long, for an overdue
	 * question.
	 */
	const char *(*opening)(const void *connection);
	/*
	 * On an open connection that is free: pool_finished or pool_lost follows, not before this
	 * returns. -1: it is broken.
	 */
	int (*send)(void *connection, struct pool_call *call, struct err *err);
	void (*close)(void *connection); /* in any state; frees it */
	/*
	 * Whether a question whose connection was lost may be asked once more: forgets what had
	 * come of its answer. NULL: never.
	 */
	bool (*again)(struct pool_call *call);
	void (*tell)(struct pool_call *call); /* calls whoever asked back */
	void (*done)(struct pool_call *call); /* frees what the protocol added to the call; NULL: nothing */
};

struct pool *pool_new(struct loop *loop, const struct pool_protocol *protocol, void *arg);
void pool_free(struct pool *p); /* NULL is fine; questions end without callbacks; safe from inside them */
size_t pool_connections(const struct pool *p); /* open or being opened */

/* deadline_ms: loop clock. Takes the call, copies the query. */
void pool_ask(struct pool *p, struct endpoint *e, const char *query, int64_t deadline_ms, struct pool_call *call);
void pool_cancel(struct pool_call *call); /* no callback any more; NULL is fine */

/* ---- For the protocol, from the loop; the last two may close the connection ---- */

void pool_opened(struct pool_slot *slot);
/* The question's answer is complete, or call->err says what is wrong. usable: for the next one. */
void pool_finished(struct pool_slot *slot, bool usable);
void pool_lost(struct pool_slot *slot, const struct err *why);  /* in any state */
struct pool_call *pool_slot_call(const struct pool_slot *slot); /* the question under way; NULL */
void *pool_slot_connection(const struct pool_slot *slot);
struct loop *pool_slot_loop(const struct pool_slot *slot);
void *pool_slot_arg(const struct pool_slot *slot); /* pool_new's */
bool *pool_slot_note(struct pool_slot *slot);      /* the protocol's own, one per server; at first false */

#endif
