/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_TURNS_H
#define CACHE_READINGS_TURNS_H

/*
 * Limits how many queries begin in one turn of the loop: starting one takes time, and thousands
 * that are due together must not delay everything else. The others begin in the following turns,
 * namespaces in rotation. How long a query runs is not limited here. For cache/readings/readings.
 */

#include <stdbool.h>

#include "base/fairqueue.h"
#include "net/loop.h"

#define TURNS_BEGIN_MAX 64 /* in one turn of the loop */

struct turns;

struct turns *turns_new(struct loop *loop);
void turns_free(struct turns *t); /* those that wait get no callback; NULL is fine */

/* A query that is to begin; a member of its owner, who sets fn and arg. */
struct turns_wait {
	void (*fn)(void *arg);
	void *arg;
	struct fairqueue_entry entry;
};

/*
 * True: it may begin now. False: it waits, and fn is called when it may. namespace_: its owner's;
 * copied; "" if it belongs to several.
 */
bool turns_begin(struct turns *t, struct turns_wait *w, const char *namespace_);
void turns_give_up(struct turns_wait *w); /* cancels the wait, if there is one */

#endif
