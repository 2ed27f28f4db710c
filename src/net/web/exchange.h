/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_EXCHANGE_H
#define NET_WEB_EXCHANGE_H

/*
 * An exchange: HTTP requests, one after the other, that lead to one result. Its kind makes the next
 * request and reads the response, both without I/O; the exchange sends the requests and counts them
 * (net/web/webclient), keeps the deadlines, can be ended at any time, and hides texts of a server
 * that repeat a credential.
 *
 *   next -> SEND -> read -> NEXT -> next ... -> DONE or FAILED -> end
 *           WAIT -> exchange_resume, which sends the request if there is one, else calls next
 *
 * An exchange is a member of its owner, who fills in the first part before exchange_start. Used by
 * net/web/webtoken (identities), net/web/webauth (trigger types, secret managers) and net/vault.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/webrequest.h"
#include "net/loop.h"
#include "net/web/webclient.h"

struct exchange_kind {
	/* Makes the next request in *out, which is empty. Returns SEND, WAIT, DONE or FAILED. */
	enum exchange_verdict (*next)(void *arg, struct webrequest *out, struct err *err);
	/*
	 * Reads a response with any status, or 0 if none came. Returns NEXT, SEND, WAIT, DONE or
	 * FAILED.
	 */
	enum exchange_verdict (*read)(void *arg, const struct webresponse *response, struct err *err);
	/*
	 * With pieces: receives the body of each 2xx response as on_piece of webclient_options;
	 * read then gets no body. False with err ends the exchange.
	 */
	bool (*piece)(void *arg, const char *bytes, size_t len, size_t *kept, struct err *err);
	/*
	 * The deadline has passed during a wait: cancels the wait and sets *err to what was
	 * missing. NULL: waits are unlimited.
	 */
	void (*late)(void *arg, struct err *err);
	/*
	 * The end; err is NULL after DONE. Called exactly once, never before exchange_start has
	 * returned, never after exchange_done. It may free the exchange or start it again.
	 */
	void (*end)(void *arg, const struct err *err);
};

struct exchange {
	struct loop *loop;        /* borrowed */
	struct webclient *client; /* borrowed */
	/*
	 * of each request; access and texts are borrowed until the end. deadline_ms is the whole
	 * exchange's
	 */
	struct webclient_options options;
	unsigned steps_max; /* requests in all */
	bool pieces;
	/* ---- Read-only ---- */
	struct webrequest request; /* the last request; empty before the first */
	int64_t span_ms;           /* its time-out */
	/* ---- Private to exchange.c ---- */
	const struct exchange_kind *kind; /* NULL: not started, or ended */
	void *arg;
	unsigned step; /* requests answered or lost */
	int64_t began_ms;
	struct webclient_call *call; /* NULL: none in progress */
	struct loop_timer late;
	struct loop_task ending; /* ends the exchange after exchange_start has returned */
	struct err *err;         /* owned; of the end, or of a refused piece; NULL */
};

void exchange_start(struct exchange *x, const struct exchange_kind *kind, void *arg);
/*
 * Ends a wait. err NULL: go on. Else the wait has failed: read gets the request as lost if one was
 * made, otherwise the exchange fails. Never inside next or read.
 */
void exchange_resume(struct exchange *x, const struct err *err);
bool exchange_runs(const struct exchange *x);
/* Ends it without a callback, in any state, and wipes its request; fine if it never began. */
void exchange_done(struct exchange *x);

#endif
