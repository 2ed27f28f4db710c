/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPC_H
#define NET_GRPC_GRPC_H

/*
 * A gRPC client on net/http/httpc: unary calls, and calls that receive a stream. All calls to one
 * endpoint (address, TLS, certificates) share one HTTP/2 connection, and use another when the
 * server accepts no more streams on it. The connection is opened for the first call and closed
 * after a minute without calls. Names are resolved by libcurl's resolver thread, once per
 * connection. A dead link is noticed by TCP (options of net/dial), a server that does not answer by
 * the deadline of each unary call. Only calls that HTTP/2 reports as not processed are retried.
 *
 * Unary calls are scheduled (net/grpc/grpcturns) with limits per server and per namespace; their
 * deadlines run while they wait. Streams do not count. While a server is lost (net/probe) unary
 * calls wait for the next attempt to connect, or their deadline; the owner of a stream has a
 * back-off of its own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"

struct grpc_pool;
struct grpcendpoint; /* net/grpc/grpcendpoint.h */
struct grpc_call;

struct grpc_pool *grpc_pool_new(struct loop *loop); /* allocates nothing more before the first call */
/* Ends all calls without callbacks. Not from inside a callback. */
void grpc_pool_free(struct grpc_pool *p);

/*
 * The response message, or err (bytes NULL), such as `GetMetrics: UNAVAILABLE: no workers`, with a
 * kind from net/grpc/grpcstatus. Called exactly once, never before grpc_unary has returned, never
 * after grpc_cancel.
 */
typedef void (*grpc_fn)(void *arg, const void *bytes, size_t len, const struct err *err);

#define GRPC_METADATA_MAX 2

struct grpc_request {
	const char *method;     /* "/package.Service/Method", a literal */
	const char *namespace_; /* the namespace that asks; borrowed for grpc_unary only */
	/*
	 * Writes the request message, at most 4 MiB, when the call starts, so that a waiting call
	 * holds none. Never called after grpc_fn or grpc_cancel.
	 */
	void (*put)(void *arg, struct buf *message);
	/*
	 * headers, "name: value", NULL-terminated, GRPC_METADATA_MAX at most; copied and wiped;
	 * NULL: none
	 */
	const char *const *metadata;
	int64_t deadline_ms; /* loop clock; sent to the server, too */
	grpc_fn fn;
	void *arg;
};
struct grpc_call *grpc_unary(struct grpc_pool *p, struct grpcendpoint *e, const struct grpc_request *request);

struct grpc_stream_events {
	void (*on_open)(void *arg); /* optional: the server has accepted the call */
	void (*on_message)(void *arg, const void *bytes, size_t len);
	void (*on_end)(void *arg, const struct err *err); /* once; err NULL: the server ended it with OK */
};
/*
 * No deadline: it runs until it ends or is cancelled. metadata: as in struct grpc_request; message:
 * borrowed for this call only, at most 4 MiB. Our side of the stream is closed after it.
 */
struct grpc_call *grpc_stream(struct grpc_pool *p, struct grpcendpoint *e, const char *method,
	const char *const *metadata, const void *message, size_t len, const struct grpc_stream_events *events,
	void *arg);

void grpc_cancel(struct grpc_call *call); /* no callback any more; also from inside its callbacks; NULL is fine */

#endif
