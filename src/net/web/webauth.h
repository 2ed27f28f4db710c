/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBAUTH_H
#define NET_WEB_WEBAUTH_H

/*
 * An exchange (net/web/exchange) as the identity of its access: before each request its credential
 * is had of net/web/webtoken, and sent, or signs; one that a server refuses because it is over is
 * replaced once for each request. Requests may name the Google project of the identity, which is
 * known with its credential. Without an identity it is an exchange like any other.
 */

#include <stdbool.h>

#include "net/web/exchange.h"
#include "net/web/webtoken.h"

struct webauth {
	/* its loop, client, options, steps_max and pieces are filled in by its owner */
	struct exchange exchange;
	struct webtoken_store *tokens; /* borrowed */
	bool needs_project;            /* the first request cannot be made without the identity's */
	/* ---- To read ---- */
	char *project; /* owned; NULL: the identity has none, or it was not needed */
	/* ---- Of webauth.c alone ---- */
	const struct exchange_kind *kind;
	void *arg;
	struct webtoken_wait *wait;   /* NULL */
	struct credential credential; /* for the next request; the exchange's options have it, or NULL */
	bool knows_project;
	bool renewed; /* for this request */
};

/*
 * The kind needs no `late`. Errors of a credential begin with its name, "Entra ID token: ", and are
 * told to read as a lost request.
 */
void webauth_start(struct webauth *a, const struct exchange_kind *kind, void *arg);
void webauth_done(struct webauth *a); /* as exchange_done */

#endif
