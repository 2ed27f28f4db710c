/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBAUTH_H
#define NET_WEB_WEBAUTH_H

/*
 * An exchange (net/web/exchange) that authenticates with the identity of its access. Before each
 * request it gets the identity's credential from net/web/webtoken, and sends it or signs with it. A
 * credential that the server refuses is renewed once per request. Requests may contain the
 * identity's Google project, which comes with the credential. Without an identity it is a plain
 * exchange.
 */

#include <stdbool.h>

#include "net/web/exchange.h"
#include "net/web/webtoken.h"

struct webauth {
	/* the owner fills in loop, client, options, steps_max and pieces */
	struct exchange exchange;
	struct webtoken_store *tokens; /* borrowed */
	bool needs_project;            /* the first request needs the identity's */
	/* ---- Read-only ---- */
	char *project; /* owned; NULL: none, or not needed */
	/* ---- Private to webauth.c ---- */
	const struct exchange_kind *kind;
	void *arg;
	struct webtoken_wait *wait;   /* NULL */
	struct credential credential; /* for the next request; options.credential points to it, or is NULL */
	bool knows_project;
	bool renewed; /* the credential, for this request */
};

/*
 * The kind needs no `late`. Errors of a credential begin with its label, "Entra ID token: ", and
 * read gets them as a lost request.
 */
void webauth_start(struct webauth *a, const struct exchange_kind *kind, void *arg);
void webauth_done(struct webauth *a); /* as exchange_done */

#endif
