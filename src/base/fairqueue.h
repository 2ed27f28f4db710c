/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FAIRQUEUE_H
#define BASE_FAIRQUEUE_H

/*
 * A fair queue: what waits, by namespace; namespaces take turns, oldest first in each. Of what is
 * under way at once each may have its share (base/shares), so that one with a thousand entries that
 * never end keeps only itself waiting. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/shares.h"

struct fairqueue_lane;

struct fairqueue {            /* a value */
	struct shares shares; /* of what is under way; a total of 0: no limit */
	struct fairqueue_lane *lanes, *by_namespace;
};

/* Lives inside its owner; zero neither waits nor is under way. */
struct fairqueue_entry {
	struct fairqueue_lane *lane; /* NULL: it does not wait */
	struct shares_hold share;    /* while it is under way */
	struct fairqueue_entry *prev, *next;
};

/*
 * It waits, as one of the namespace ("": of nobody in particular). One that waits already, for
 * another namespace, goes to where fewer wait.
 */
void fairqueue_put(struct fairqueue *q, struct fairqueue_entry *e, const char *namespace_);
void fairqueue_leave(struct fairqueue_entry *e); /* it waits no longer; fine when it does not */
void fairqueue_clear(struct fairqueue *q);       /* nothing waits any longer */

/*
 * The next that may begin, which is under way then, until fairqueue_end; without a limit nothing
 * needs to be ended. NULL: none.
 */
struct fairqueue_entry *fairqueue_take(struct fairqueue *q);
/*
 * Of the namespace whose turn it is the oldest, which goes on waiting, for work in pieces: the next
 * piece is the next namespace's. Without regard to shares. NULL: nothing waits.
 */
struct fairqueue_entry *fairqueue_turn(struct fairqueue *q);
void fairqueue_end(struct fairqueue_entry *e);

#endif
