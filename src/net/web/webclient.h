/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_WEB_WEBCLIENT_H
#define NET_WEB_WEBCLIENT_H

/*
 * Sends one HTTP request to a server of a trigger or a cloud and returns the response, over one
 * pool of connections. Connections and requests in progress are limited per server (scheme, host,
 * port); further requests wait for their turn while their deadline runs. Connections are kept and,
 * with HTTP/2, shared: 1,000 triggers of one server use a handful. A server that refuses
 * connections fails at once; one that hangs delays only its own requests. Requests to addresses
 * that the administrator configured (struct webrequest, own) have connections of their own, exempt
 * from the rules for triggers' servers.
 *
 * Several requests that lead to one result are an exchange (net/web/exchange); net/web/webauth adds
 * an identity's credential.
 *
 * Proxies come from the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY). Names are resolved on the
 * loop (net/dns), or by the proxy. At most ten redirects are followed; credentials and headers go
 * on only to the same server, or to the same host over TLS.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/webrequest.h"
#include "net/loop.h"
#include "net/web/webaccess.h"

struct webclient;
struct webclient_call;

/* Does nothing before the first request. timeout_ms: the default time-out. */
struct webclient *webclient_new(struct loop *loop, int64_t timeout_ms);
int64_t webclient_timeout_ms(const struct webclient *w);
/*
 * Called for each request, also for each of a redirect chain. status 0: no response came, or
 * nothing was sent as the server is known to be unreachable. took_ms: since the request was sent,
 * without the wait for a turn; without a response it may be that wait.
 */
typedef void (*webclient_watch_fn)(void *arg, const char *asker, int status, int64_t took_ms);
void webclient_watch(struct webclient *w, webclient_watch_fn fn, void *arg);
void webclient_free(struct webclient *w); /* calls in progress end without callbacks; may be called from inside one */

enum webclient_redirects {
	WEBCLIENT_FOLLOW, /* as above; never with a body */
	/*
	 * At most one, to the same server, with any method; any other is an error. Secret headers
	 * never go to another server.
	 */
	WEBCLIENT_STAY,
};

/* How a request is sent, and for whom. */
struct webclient_options {
	struct webaccess *access; /* takes a reference of its own; NULL: no credentials, the system's roots */
	/*
	 * of the access's identity: its token is sent, its AWS keys sign; borrowed until the
	 * callback, or webclient_cancel; NULL: none
	 */
	const struct credential *credential;
	/* from now to the last byte, with waiting and redirects, unless the request has its own */
	int64_t timeout_ms;
	int64_t deadline_ms; /* loop clock: an earlier limit; 0: none */
	int64_t connect_ms;  /* for connecting, with TLS; 0: nine tenths of the time-out */
	/* the name for webclient_watch (a trigger type's, a constant); NULL: not reported */
	const char *asker;
	const char *namespace_; /* the asking namespace, for fair turns (net/http/httphost); copied; NULL: none */
	/*
	 * NULL, or receives the body of a 2xx response in pieces, instead of a body at the end.
	 * False ends the request with ERR_INVALID. It must not cancel anything. It sets *kept, at
	 * first 0, to the number of bytes that it keeps in memory.
	 */
	bool (*on_piece)(void *arg, const char *bytes, size_t len, size_t *kept);
	enum webclient_redirects redirects;
};

/*
 * Either response or err is NULL. ERR_TEMPORARY: network, time-out, TLS; ERR_INVALID: URL, or a
 * response that is too large. Messages begin with the server's origin and hold no secret. Called
 * exactly once, never before webclient_start has returned.
 */
typedef void (*webclient_fn)(void *arg, const struct webresponse *response, const struct err *err);

/* The request is copied. Never NULL. */
struct webclient_call *webclient_start(struct webclient *w, const struct webrequest *request,
	const struct webclient_options *options, webclient_fn fn, void *arg);
void webclient_cancel(struct webclient_call *call); /* no callback; NULL is fine */

#endif
