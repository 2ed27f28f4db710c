/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCTURNS_H
#define NET_GRPC_GRPCTURNS_H

/*
 * Schedules unary gRPC calls. Calls under way are limited per server, and per namespace over all
 * servers; so is the number that start in one turn of the loop, as each costs time and, while under
 * way, some ten kilobytes. Further calls wait: namespaces take turns, and within a namespace its
 * servers; calls of one namespace to one server start in order of arrival. A busy server delays no
 * calls to others.
 *
 * A server that hangs keeps its calls. So one server gets at most that part of a namespace's limit
 * that leaves as much for its other servers; and at a server whose limit others have used up, a
 * namespace without calls there may still start one. For net/grpc/grpc.c.
 */

#include <stdbool.h>
#include <stddef.h>

#include "net/loop.h"

#define GRPCTURNS_OF_SERVER    200
#define GRPCTURNS_EXTRA        100 /* in addition, each of another namespace */
#define GRPCTURNS_OF_NAMESPACE 100
#define GRPCTURNS_AT_ONCE      20 /* in one turn of the loop */

struct grpcturns;

struct grpcturns_server { /* a member of its owner, who ends its calls first */
	size_t under_way;
};

struct grpcturn { /* a member of the call; zeroed: not joined */
	struct grpcturns_share *share;
	struct grpcturns_server *server;
	struct grpcturns_lane *lane;
	bool waits;
	struct grpcturn *prev, *next;
};

/* The call may start; it is under way until grpcturns_leave, which may be called from inside. */
typedef void (*grpcturns_fn)(struct grpcturn *turn);

struct grpcturns *grpcturns_new(struct loop *loop, grpcturns_fn begin);
void grpcturns_free(struct grpcturns *t); /* after all have left; NULL is fine */

/*
 * Queues the call, which starts at the end of this turn of the loop at the earliest. The namespace
 * is copied.
 */
void grpcturns_join(struct grpcturns *t, struct grpcturn *turn, struct grpcturns_server *server,
	const char *namespace_);
void grpcturns_leave(struct grpcturn *turn); /* whether it waits or is under way; fine when neither */

size_t grpcturns_under_way(const struct grpcturns *t);

#endif
