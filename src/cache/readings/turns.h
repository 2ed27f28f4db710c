/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_TURNS_H
#define CACHE_READINGS_TURNS_H

/*
 * When a question is put to its source: in one turn of the loop only so many begin, as each costs
 * some time, so that thousands that are due together delay nothing else. What is beyond begins in
 * the next turns; namespaces take turns. Nothing waits for anything to end. For
 * cache/readings/readings.
 */

#include <stdbool.h>

#include "base/fairqueue.h"
#include "net/loop.h"

#define TURNS_BEGIN_MAX 64 /* in one turn of the loop */

struct turns;

struct turns *turns_new(struct loop *loop);
void turns_free(struct turns *t); /* who waits hears nothing any more; NULL is fine */

/* One that is to begin; lives inside its owner, who sets fn and arg. */
struct turns_wait {
	void (*fn)(void *arg);
	void *arg;
	struct fairqueue_entry entry;
};

/*
 * True: it may begin now. False: it waits, and fn is called when it may. namespace_: whose it is;
 * copied; "": of several.
 */
bool turns_begin(struct turns *t, struct turns_wait *w, const char *namespace_);
void turns_give_up(struct turns_wait *w); /* it waits no longer; fine when it does not */

#endif
