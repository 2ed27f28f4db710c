/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBGET_H
#define NET_WEB_WEBGET_H

/*
 * GET, for all scalers that ask over HTTP: one pool of connections for all of them. A server
 * (scheme, host, port) has a cap on its connections and on its requests under way; what is beyond
 * waits its turn, and its time runs meanwhile. Connections are kept and, where the server speaks
 * HTTP/2, shared by many requests: 1,000 triggers on one server use a handful. A server that
 * refuses fails at once; one that hangs delays only who asks it.
 *
 * Proxies are those of the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY). Names are looked up on
 * the loop (net/dns), or by the proxy. Redirects are followed, ten at most; credentials and headers
 * of the request go along only to the same server, or to the same host by TLS. OAuth 2 tokens are
 * fetched once per client and shared (net/web/webtoken).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "net/loop.h"
#include "net/web/webaccess.h"

struct webget;
struct webget_call;

/* Costs nothing until the first request. timeout_ms: of requests that say none. */
struct webget *webget_new(struct loop *loop, int64_t timeout_ms);
/*
 * Tells each exchange with a server: of a redirected request every one. status 0: no answer came,
 * be it that the server is known to be away and nothing was sent. took_ms: from when it was sent;
 * the waits for a token and, of what is answered, for a turn do not count.
 */
typedef void (*webget_exchange_fn)(void *arg, const char *asker, int status, int64_t took_ms);
void webget_watch(struct webget *w, webget_exchange_fn fn, void *arg);
void webget_free(struct webget *w); /* calls under way end without callbacks; safe from inside them */

struct webget_request {
	const char *url;              /* http or https, without user and password (httpurl_split_user); copied */
	const struct strmap *headers; /* copied; NULL for none */
	struct webaccess *access;     /* takes a count of its own; NULL: nothing but the system's roots */
	/* from now to the last byte, waiting, token and redirects included; 0: the pool's */
	int64_t timeout_ms;
	int64_t deadline_ms; /* loop clock: if that comes earlier; 0: none */
	size_t max_body;     /* cap on the answer; 0: 1 MiB */
	/*
	 * whom it is told of by webget_watch; borrowed for ever (the name of a type); NULL: it is
	 * not told
	 */
	const char *asker;
	const char *namespace_; /* whose request it is: turns go round by that (net/http/httphost); copied; NULL:
				   nobody's */
	/*
	 * NULL; else takes an answer with a 2xx status as it comes, and there is no body at the
	 * end. False: no more of it is wanted, and the call fails (invalid). It cancels nothing.
	 * *kept is 0, and to be set to how many of all these bytes it has in memory.
	 */
	bool (*on_piece)(void *arg, const char *bytes, size_t len, size_t *kept);
	/* NULL; else it is POSTed (net/web/webtoken), and nothing is followed. Copied and wiped */
	const char *form;
};

struct webget_answer {
	int status;       /* any but those redirects that were followed */
	const char *body; /* borrowed, NUL-terminated */
	size_t len;
	const char *content_type; /* "" when absent */
	/*
	 * the server said how long the answer is, or marked its end: what is there is all of it.
	 * Without that the end of the connection looks like the answer's
	 */
	bool measured;
};

/*
 * answer NULL exactly when err is not: temporary (network, time, TLS), invalid (URL, too large an
 * answer), denied (no token). Messages start with the server's origin and hold no secret. Exactly
 * once, never before webget_start has returned.
 */
typedef void (*webget_fn)(void *arg, const struct webget_answer *answer, const struct err *err);

/* NULL never */
struct webget_call *webget_start(struct webget *w, const struct webget_request *request, webget_fn fn, void *arg);
void webget_cancel(struct webget_call *call); /* no callback any more; NULL is fine */

#endif
