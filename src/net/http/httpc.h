/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPC_H
#define NET_HTTP_HTTPC_H

/*
 * HTTP requests out, on libcurl's multi socket interface. One `struct httpc` is one connection pool
 * (a curl multi): the Kubernetes room has two, one for watches and one for short calls, so that
 * neither waits behind the other. Every request has a deadline and a cap on its answer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/httpterms.h"
#include "net/loop.h"

struct httpc;
struct httpc_call;

struct httpc_config {
	int max_connections_per_host; /* 0: no limit */
	int max_streams;              /* HTTP/2 streams per connection; 0: libcurl's default (100) */
	/* open for later, over all hosts; 0: libcurl's default (four per transfer under way) */
	int max_connections_kept;
	/*
	 * strangers say where requests lead: only where a trigger's server may be
	 * (net/sourcerules); and of what they send only so much is handed on in one turn of the
	 * loop
	 */
	bool foreign;
};
struct httpc *httpc_new(struct loop *loop, const struct httpc_config *config, struct err *err);
void httpc_free(struct httpc *c); /* cancels what is under way, without callbacks; safe from inside callbacks */

struct httpc_response {
	int status;
	const char *body; /* borrowed, NUL-terminated; "" when on_data took it */
	size_t len;
	const char *content_type; /* "" when absent */
	const char *location; /* where a 3xx leads, as an absolute URL; "" when it does not. Nothing is followed here */
	int64_t retry_after_ms; /* of Retry-After in seconds; 0 when absent */
	int64_t took_ms;
};

struct httpc_events {
	/*
	 * Optional: it has its connection, its own or a share of one, and is about to be sent; not
	 * of a call that is late. It only takes note: it neither starts nor cancels.
	 */
	void (*on_connected)(void *arg, bool http2);
	/* Optional: the status came (once, before on_data). */
	void (*on_status)(void *arg, int status);
	/*
	 * Optional: one header or trailer, "name: value" without its line's end; trailers come
	 * after the body. Those of the answer proper only.
	 */
	void (*on_header)(void *arg, const char *line, size_t len);
	/*
	 * Optional: takes a 2xx body piece by piece; others are still collected for on_done.
	 * Returns false to end the call with ERR_INVALID.
	 */
	bool (*on_data)(void *arg, const char *bytes, size_t len);
	/*
	 * Exactly once: an answer with any status (err NULL), or err (temporary: network, time-out,
	 * TLS; invalid: the request, an answer that is too large or refused). `response` NULL on
	 * err.
	 */
	void (*on_done)(void *arg, const struct httpc_response *response, const struct err *err);
};

/* Starts a request; bad arguments are reported through on_done like everything else. NULL never. */
struct httpc_call *httpc_start(struct httpc *c, const struct httpc_request *request, const struct httpc_events *events,
	void *arg);
void httpc_cancel(struct httpc_call *call); /* no callback any more; safe from inside callbacks; NULL is fine */

/*
 * The next requests use new connections (the server's certificate or our credentials changed, a
 * link went silent). Transfers under way go on.
 */
void httpc_drop_connections(struct httpc *c);

/*
 * What a status that is no answer means to whoever waits: 401 and 403 denied, 404 missing, 408, 429
 * and 5xx temporary, the rest invalid.
 */
enum err_kind httpc_status_kind(int status);

#endif
