/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPC_H
#define NET_HTTP_HTTPC_H

/*
 * An HTTP client on libcurl's multi socket interface. A `struct httpc` is one connection pool (a
 * curl multi): the Kubernetes client has two, one for watches and one for short requests, so that
 * neither waits for the other. Each request limits its time and the size of its response.
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
	/*
	 * idle connections kept, over all hosts; 0: libcurl's default (four per transfer under way)
	 */
	int max_connections_kept;
	/*
	 * URLs come from namespaced objects: only addresses that net/sourcerules allows, and a cap
	 * on the response bytes handed on per turn of the loop
	 */
	bool foreign;
	/*
	 * All requests go to one server, so a dead connection is left by leaving all of them:
	 * further requests use new ones, and requests without a deadline fail.
	 */
	bool one_server;
};
struct httpc *httpc_new(struct loop *loop, const struct httpc_config *config, struct err *err);
void httpc_free(struct httpc *c); /* requests under way end without callbacks; may be called from inside one */

struct httpc_response {
	int status;
	const char *body; /* borrowed, NUL-terminated; "" when on_data took it */
	size_t len;
	const char *content_type; /* "" when absent */
	const char *location;     /* target of a 3xx as an absolute URL, not followed here; otherwise "" */
	int64_t retry_after_ms;   /* from Retry-After in seconds; 0 when absent */
	int64_t took_ms;
};

struct httpc_events {
	/*
	 * Optional: the request has a connection, new or shared, and is about to be sent. Not
	 * called once the deadline has passed. It must not start or cancel requests.
	 */
	void (*on_connected)(void *arg, bool http2);
	/* Optional: the status has come; once, before on_data. */
	void (*on_status)(void *arg, int status);
	/*
	 * Optional: one header or trailer of the final response, "name: value" without the line
	 * end; trailers come after the body.
	 */
	void (*on_header)(void *arg, const char *line, size_t len);
	/*
	 * Optional: receives the body of a 2xx response in pieces; other bodies are collected for
	 * on_done. False ends the request with ERR_INVALID.
	 */
	bool (*on_data)(void *arg, const char *bytes, size_t len);
	/*
	 * Called exactly once: with a response of any status (err NULL), or with err and no
	 * response. ERR_TEMPORARY: network, time-out, TLS; ERR_INVALID: the request, or a response
	 * that is too large or was refused.
	 */
	void (*on_done)(void *arg, const struct httpc_response *response, const struct err *err);
};

/* Starts a request. Invalid arguments are reported by on_done, too. Never NULL. */
struct httpc_call *httpc_start(struct httpc *c, const struct httpc_request *request, const struct httpc_events *events,
	void *arg);
void httpc_cancel(struct httpc_call *call); /* no callback any more; safe from inside callbacks; NULL is fine */

/*
 * Cancels a call whose time is over by the caller's own clock: if nothing came on its connection
 * meanwhile, that is not used again. A deadline_ms does so by itself.
 */
void httpc_cancel_late(struct httpc_call *call);

/*
 * Further requests use new connections (after a change of certificate or credentials, or if a
 * connection is dead). Transfers under way continue.
 */
void httpc_drop_connections(struct httpc *c);

#endif
