/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPC_H
#define NET_GRPC_GRPC_H

/*
 * gRPC calls out, over net/http/httpc: unary calls and streams of answers. All calls to one
 * endpoint (address, TLS, certificates) go over one HTTP/2 connection, and over another when the
 * server takes no more streams on it. The connection is made for the first call and closed when
 * nobody called for a minute. Names are looked up by libcurl's resolver thread, once per
 * connection: unlike a Redis connection's (net/dns) its answer is libcurl's own to keep. A
 * half-open link is noticed by TCP (net/dial's options), a server that accepts and says nothing by
 * the deadline that every unary call has. Nothing is retried here but what HTTP/2 says was not
 * processed. Unary calls begin in turns (net/grpc/grpcturns): so many at once to one server, and so
 * many of one namespace; their deadlines run while they wait. Streams do not count. While nobody
 * answers at the address (net/probe, by net/dns) unary calls wait for the next attempt to connect,
 * or their deadline; streams have a back-off of their own, their owner's.
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

struct grpc_pool *grpc_pool_new(struct loop *loop); /* costs nothing before the first call */
/* calls under way are dropped without callbacks; not from inside one */
void grpc_pool_free(struct grpc_pool *p);

/*
 * The one message of the answer, or err (bytes NULL): `GetMetrics: UNAVAILABLE: no workers`, its
 * kind as net/grpc/grpcstatus says. Exactly once, never before the call has returned, never after
 * grpc_cancel.
 */
typedef void (*grpc_fn)(void *arg, const void *bytes, size_t len, const struct err *err);

struct grpc_request {
	const char *method;     /* "/package.Service/Method", a literal */
	const char *namespace_; /* whose call it is; borrowed for the call of grpc_unary only */
	/*
	 * Puts the message, at most 4 MiB, when the call begins: one that waits holds none. Never
	 * after grpc_fn or grpc_cancel.
	 */
	void (*put)(void *arg, struct buf *message);
	int64_t deadline_ms; /* loop clock; the server is told, too */
	grpc_fn fn;
	void *arg;
};
struct grpc_call *grpc_unary(struct grpc_pool *p, struct grpcendpoint *e, const struct grpc_request *request);

struct grpc_stream_events {
	void (*on_open)(void *arg); /* optional: the server has accepted it */
	void (*on_message)(void *arg, const void *bytes, size_t len);
	void (*on_end)(void *arg, const struct err *err); /* once; err NULL: the server ended it well */
};
/*
 * Without a deadline: it lives until it ends or is cancelled. message: borrowed for this call only,
 * at most 4 MiB.
 */
struct grpc_call *grpc_stream(struct grpc_pool *p, struct grpcendpoint *e, const char *method, const void *message,
	size_t len, const struct grpc_stream_events *events, void *arg);

void grpc_cancel(struct grpc_call *call); /* no callback any more; also from inside its callbacks; NULL is fine */

struct grpc_stats {
	size_t links, calls;
	size_t under_way; /* unary calls that have begun */
};
struct grpc_stats grpc_stats(const struct grpc_pool *p);

#endif
