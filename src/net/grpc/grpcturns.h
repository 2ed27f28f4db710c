/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCTURNS_H
#define NET_GRPC_GRPCTURNS_H

/*
 * Schedules unary gRPC calls. Limits the calls in progress per server and per namespace over all
 * servers, and the calls that start in one turn of the loop, as each costs time and, while in
 * progress, some ten kilobytes. Further calls wait: namespaces take turns, and within a namespace
 * its servers; calls of one namespace to one server start in order of arrival. A busy server does
 * not delay calls to others.
 *
 * A hanging server occupies its calls for long. So one server gets at most half of a namespace's
 * limit; and at a server whose limit others have used up, a namespace without calls there may still
 * start one. For net/grpc/grpc.c.
 */

#include <stdbool.h>
#include <stddef.h>

#include "net/loop.h"

#define GRPCTURNS_OF_SERVER    200
#define GRPCTURNS_EXTRA        100 /* further ones, each of another namespace */
#define GRPCTURNS_OF_NAMESPACE 100
#define GRPCTURNS_AT_ONCE      20 /* in one turn of the loop */

struct grpcturns;

struct grpcturns_server { /* a member of its owner, which ends its calls first */
	size_t under_way;
};

struct grpcturn { /* a member of the call; zeroed: not joined */
	struct grpcturns_share *share;
	struct grpcturns_server *server;
	struct grpcturns_lane *lane;
	bool waits;
	struct grpcturn *prev, *next;
};

/* Starts the call, which is in progress until grpcturns_leave; that may be called from inside. */
typedef void (*grpcturns_fn)(struct grpcturn *turn);

struct grpcturns *grpcturns_new(struct loop *loop, grpcturns_fn begin);
void grpcturns_free(struct grpcturns *t); /* after all have left; NULL is fine */

/*
 * Queues the call, which starts at the end of this turn of the loop at the earliest. The namespace
 * is copied.
 */
void grpcturns_join(struct grpcturns *t, struct grpcturn *turn, struct grpcturns_server *server,
	const char *namespace_);
void grpcturns_leave(struct grpcturn *turn); /* waiting, in progress or neither */

#endif
