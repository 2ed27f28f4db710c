/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FAIRQUEUE_H
#define BASE_FAIRQUEUE_H

/*
 * A fair queue: namespaces take turns, and within a namespace the oldest entry is first. Each
 * namespace may have only its share of what is under way at once (base/shares), so a namespace with
 * a thousand entries that never end delays only itself. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/shares.h"

struct fairqueue_lane;

struct fairqueue {            /* a value */
	struct shares shares; /* of what is under way; total 0: no limit */
	struct fairqueue_lane *lanes, *by_namespace;
};

/* A member of its owner; zeroed, it neither waits nor is under way. */
struct fairqueue_entry {
	struct fairqueue_lane *lane; /* NULL: not waiting */
	struct shares_hold share;    /* while it is under way */
	struct fairqueue_entry *prev, *next;
};

/*
 * Queues e under namespace_ ("": shared). If it is queued under another one already, moves it to
 * the shorter of the two queues.
 */
void fairqueue_put(struct fairqueue *q, struct fairqueue_entry *e, const char *namespace_);
void fairqueue_leave(struct fairqueue_entry *e); /* removes it if it waits */
void fairqueue_clear(struct fairqueue *q);       /* removes all entries */

/*
 * Takes the next entry that may begin; it counts as under way until fairqueue_end (not needed
 * without a limit). NULL: none may begin.
 */
struct fairqueue_entry *fairqueue_take(struct fairqueue *q);
/*
 * The oldest entry of the namespace whose turn it is; the entry stays queued. For work in pieces:
 * the next piece is the next namespace's. Ignores shares. NULL: the queue is empty.
 */
struct fairqueue_entry *fairqueue_turn(struct fairqueue *q);
void fairqueue_end(struct fairqueue_entry *e);

#endif
