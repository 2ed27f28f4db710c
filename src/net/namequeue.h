/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_NAMEQUEUE_H
#define NET_NAMEQUEUE_H

/*
 * Names that are to be asked for: namespaces take turns, and of the queries that are under way at
 * once each has a share (base/shares), so that one with a thousand names that nobody answers for
 * keeps only itself waiting. For net/names.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/shares.h"

struct namequeue_lane;

struct namequeue {            /* a value, with a total */
	struct shares shares; /* of the queries under way */
	struct namequeue_lane *lanes, *by_namespace;
};

/* Lives inside its owner; zero neither waits nor is under way. */
struct namequeue_entry {
	struct namequeue_lane *lane; /* NULL: it does not wait */
	struct shares_hold share;    /* while it is under way */
	struct namequeue_entry *prev, *next;
};

/*
 * It waits, as one of the namespace ("": of nobody in particular). One that waits already, for
 * another namespace, goes to where fewer wait.
 */
void namequeue_put(struct namequeue *q, struct namequeue_entry *e, const char *namespace_);
void namequeue_leave(struct namequeue_entry *e); /* it waits no longer; fine when it does not */

/* The next that may be asked for, which is under way then, until namequeue_answered. NULL: none. */
struct namequeue_entry *namequeue_take(struct namequeue *q);
void namequeue_answered(struct namequeue_entry *e);

#endif
