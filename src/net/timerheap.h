/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TIMERHEAP_H
#define NET_TIMERHEAP_H

/*
 * The pending timers of net/loop, ordered by due time: a binary heap in one array, which costs 24
 * bytes per timer and no libevent event. Of a timer it knows only the field that holds its index.
 */

#include <stddef.h>
#include <stdint.h>

struct timerheap_entry {
	int64_t due_ms;
	uint64_t order; /* timers with the same due time fire in the order in which they were set */
	size_t *place;  /* the timer's index field; from 1 */
};

struct timerheap { /* zeroed: empty */
	struct timerheap_entry *entries;
	size_t count, room;
	uint64_t orders; /* the order of the next entry */
};

void timerheap_put(struct timerheap *h, size_t *place, int64_t due_ms); /* adds it if *place is 0, otherwise moves it */
void timerheap_take(struct timerheap *h, size_t *place);                /* does nothing when *place is 0 */
/* Valid until the next put or take; NULL: empty. */
const struct timerheap_entry *timerheap_first(const struct timerheap *h);
void timerheap_done(struct timerheap *h);

#endif
