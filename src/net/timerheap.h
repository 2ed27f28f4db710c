/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TIMERHEAP_H
#define NET_TIMERHEAP_H

/*
 * The timers of a loop, the next one first: a heap in one array, so that each of the many that wait
 * costs 24 bytes and no event of libevent's. It is net/loop's own, and knows of a timer only where
 * that keeps its place in here.
 */

#include <stddef.h>
#include <stdint.h>

struct timerheap_entry {
	int64_t due_ms;
	uint64_t order; /* of those that are due together who was put first comes first */
	size_t *place;  /* the timer's; from 1 */
};

struct timerheap { /* zeroed: empty */
	struct timerheap_entry *entries;
	size_t count, room;
	uint64_t orders; /* given so far: whoever is put from now on has this, or a larger one */
};

void timerheap_put(struct timerheap *h, size_t *place, int64_t due_ms);   /* *place 0: it is not in; else it is moved */
void timerheap_take(struct timerheap *h, size_t *place);                  /* nothing when it is not in */
const struct timerheap_entry *timerheap_first(const struct timerheap *h); /* NULL; until the next put or take */
void timerheap_done(struct timerheap *h);

#endif
