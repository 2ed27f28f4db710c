/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_GRPC_GRPCTURNS_H
#define NET_GRPC_GRPCTURNS_H

/*
 * Whose call begins next. A server is asked so many at once, a namespace has so many under way over
 * all servers, and so many begin in one turn of the loop, as each costs some time and, while it is
 * under way, some ten kilobytes. What is beyond waits: namespaces take turns, and so do the servers
 * that one asks; calls of one namespace to one server begin in the order in which they came. Who
 * waits for a server that is busy holds up nobody who asks another.
 *
 * A server that hangs keeps its calls. So of what a namespace may have one server has no more than
 * is left for others; and at a server where others have all there is, a namespace that has none may
 * have one. For net/grpc/grpc.c.
 */

#include <stdbool.h>
#include <stddef.h>

#include "net/loop.h"

#define GRPCTURNS_OF_SERVER    200
#define GRPCTURNS_EXTRA        100 /* beside these, each of another namespace */
#define GRPCTURNS_OF_NAMESPACE 100
#define GRPCTURNS_AT_ONCE      20 /* in one turn of the loop */

struct grpcturns;

struct grpcturns_server { /* lives inside its owner, who ends its calls before itself */
	size_t under_way;
};

struct grpcturn { /* lives inside the call; zero: it is not in here */
	struct grpcturns_share *share;
	struct grpcturns_server *server;
	struct grpcturns_lane *lane;
	bool waits;
	struct grpcturn *prev, *next;
};

/* It is its turn: under way until grpcturns_leave, which may come from inside. */
typedef void (*grpcturns_fn)(struct grpcturn *turn);

struct grpcturns *grpcturns_new(struct loop *loop, grpcturns_fn begin);
void grpcturns_free(struct grpcturns *t); /* when all have left; NULL is fine */

/* Begins at the end of this turn of the loop at the earliest. The namespace is copied. */
void grpcturns_join(struct grpcturns *t, struct grpcturn *turn, struct grpcturns_server *server,
	const char *namespace_);
void grpcturns_leave(struct grpcturn *turn); /* waiting or under way; fine when it is neither */

size_t grpcturns_under_way(const struct grpcturns *t);

#endif
