/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_EXCHANGE_H
#define NET_WEB_EXCHANGE_H

/*
 * An exchange with servers over HTTP: requests, one after the other, that lead to one result. Its
 * kind says which request is next and what its response means, both without I/O; the exchange sends
 * and counts them (net/web/webclient), keeps the deadlines, can be ended at any time, and shows no
 * words of a server that repeat what was sent to log in.
 *
 *   next -> SEND -> read -> NEXT -> next ... -> DONE or FAILED -> end
 *           WAIT -> exchange_resume, which sends the request if there is one, else calls next
 *
 * An exchange is a member of its owner, who fills in the first part before exchange_start. It runs
 * under net/web/webtoken (identities), net/web/webauth (trigger types, secret managers) and
 * net/vault.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/webrequest.h"
#include "net/loop.h"
#include "net/web/webclient.h"

struct exchange_kind {
	/* Makes the next request in *out, which is empty: SEND, WAIT, DONE or FAILED. */
	enum exchange_verdict (*next)(void *arg, struct webrequest *out, struct err *err);
	/* Judges a response of any status, or of none (0): NEXT, SEND, WAIT, DONE or FAILED. */
	enum exchange_verdict (*read)(void *arg, const struct webresponse *response, struct err *err);
	/*
	 * With pieces: takes the body of each 2xx response as on_piece of webclient_options, and
	 * read is given no body then. False with err ends the exchange.
	 */
	bool (*piece)(void *arg, const char *bytes, size_t len, size_t *kept, struct err *err);
	/*
	 * The deadline has passed in a wait: says in *err what did not come, and calls the wait
	 * off. NULL: waits have no end.
	 */
	void (*late)(void *arg, struct err *err);
	/*
	 * The end, err NULL after DONE. Called exactly once, never before exchange_start has
	 * returned, never after exchange_done. The exchange may be freed or started again in it.
	 */
	void (*end)(void *arg, const struct err *err);
};

struct exchange {
	struct loop *loop;        /* borrowed */
	struct webclient *client; /* borrowed */
	/*
	 * of each request; access and texts are borrowed until the end. deadline_ms is that of the
	 * whole exchange
	 */
	struct webclient_options options;
	unsigned steps_max; /* requests in all */
	bool pieces;
	/* ---- To read ---- */
	struct webrequest request; /* the last one; empty before the first */
	int64_t span_ms;           /* the time that it had */
	/* ---- Of exchange.c alone ---- */
	const struct exchange_kind *kind; /* NULL: not started, or ended */
	void *arg;
	unsigned step; /* requests answered or lost */
	int64_t began_ms;
	struct webclient_call *call; /* NULL: none is under way */
	struct loop_timer late;
	struct loop_task ending; /* ends it after exchange_start has returned: with err, or without */
	struct err *err;         /* owned; also why a piece was refused; NULL */
};

void exchange_start(struct exchange *x, const struct exchange_kind *kind, void *arg);
/*
 * Ends a wait. err: what it waited for is not to be had: a request that was made is lost, and read
 * is told, else the exchange has failed; NULL: it goes on. Never inside next or read.
 */
void exchange_resume(struct exchange *x, const struct err *err);
/* Ends it without a callback, in any state, and wipes its request; fine when it never began. */
void exchange_done(struct exchange *x);

#endif
