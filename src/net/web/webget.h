/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBGET_H
#define NET_WEB_WEBGET_H

/*
 * HTTP requests for all scalers, mostly GET, over one pool of connections. Connections and requests
 * under way are limited per server (scheme, host, port); further requests wait for their turn while
 * their deadline runs. Connections are kept and, with HTTP/2, shared: 1,000 triggers of one server
 * use a handful. A server that refuses connections fails at once; one that hangs delays only its
 * own requests.
 *
 * What an access's identity stands for is exchanged once and shared (net/web/webtoken): tokens are
 * sent, AWS keys sign (net/sign/sigv4). Requests of an exchange go out like all others; where
 * whoever runs kscaled named the address (struct webrequest, own), over connections of their
 * own, to which the rules for triggers' servers do not apply.
 *
 * Proxies come from the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY). Names are resolved on the
 * loop (net/dns), or by the proxy. At most ten redirects are followed; credentials and headers are
 * sent on only to the same server, or to the same host by TLS.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "net/http/webrequest.h"
#include "net/loop.h"
#include "net/web/webaccess.h"

struct webget;
struct webget_call;
struct webtoken_store;

/* Sets up nothing before the first request. timeout_ms: the default time-out. */
struct webget *webget_new(struct loop *loop, int64_t timeout_ms);
/* Whether identities may ask the machine's metadata server; at first they may not. */
void webget_allow_metadata(struct webget *w, bool allowed);
/*
 * Called for each exchange with a server, of a redirected request for every one. status 0: no
 * response came, or the server is known to be unreachable and nothing was sent. took_ms: since the
 * request was sent; waits for a token do not count, nor, if there is a response, the wait for a
 * turn.
 */
typedef void (*webget_exchange_fn)(void *arg, const char *asker, int status, int64_t took_ms);
void webget_watch(struct webget *w, webget_exchange_fn fn, void *arg);
void webget_free(struct webget *w); /* requests under way end without callbacks; may be called from inside one */

struct webget_request {
	const char *url;              /* http or https, without user and password (httpurl_split_user); copied */
	const struct strmap *headers; /* copied; NULL for none */
	struct webaccess *access;     /* takes a reference of its own; NULL: no credentials, the system's roots */
	/* from now to the last byte, with waiting, token and redirects; 0: the default */
	int64_t timeout_ms;
	int64_t deadline_ms; /* loop clock: an earlier limit; 0: none */
	size_t max_body;     /* limit of the response's size; 0: 1 MiB */
	bool spare;          /* few connections will do for this server (HTTPHOST_FEW) */
	/*
	 * the name that webget_watch reports (of a trigger type, a constant text); NULL: not
	 * reported
	 */
	const char *asker;
	const char *namespace_; /* the namespace that asks, for turns (net/http/httphost); copied; NULL: none */
	/*
	 * NULL; else receives the body of a 2xx response in pieces, and there is no body at the
	 * end. False ends the request with ERR_INVALID. It must not cancel anything. *kept, at
	 * first 0, is to be set to the number of bytes that it keeps in memory.
	 */
	bool (*on_piece)(void *arg, const char *bytes, size_t len, size_t *kept);
	/*
	 * NULL; else what is sent, with its media type; redirects are not followed then, as what
	 * they make of a body differs. Copied and wiped.
	 */
	const char *body, *content_type;
	const char *method; /* constant; NULL: GET, or POST with a body */
	/*
	 * constant: the name of a header whose value is in the answer, or of several with blanks
	 * between; NULL: none
	 */
	const char *wanted_header;
};
/*
 * Either answer or err is NULL. ERR_TEMPORARY: network, time-out, TLS; ERR_INVALID: URL, or a
 * response that is too large; ERR_DENIED: no credential. Messages begin with the server's origin
 * and hold no secret. Called exactly once, never before webget_start has returned.
 */
typedef void (*webget_fn)(void *arg, const struct webresponse *answer, const struct err *err);

/* Never NULL. */
struct webget_call *webget_start(struct webget *w, const struct webget_request *request, webget_fn fn, void *arg);
void webget_cancel(struct webget_call *call); /* no callback any more; NULL is fine */

/* The OAuth 2 tokens, for those who send them otherwise than over HTTP; borrowed. */
struct webtoken_store *webget_tokens(struct webget *w);

#endif
