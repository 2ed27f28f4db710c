/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_INDEX_H
#define CACHE_OBJECTS_INDEX_H

/*
 * Which objects stand in one relation to one thing: the HPAs of an owner, the ScaledObjects that
 * name a target. A thing is a mark, the fingerprint of its text, so two things may share one by
 * chance: whoever finds a key here looks at the object before it acts. Owns copies of the keys; no
 * order among them.
 */

#include <stddef.h>
#include <stdint.h>

struct index_slot;
struct index {                    /* a value; zero is empty */
	struct index_slot *slots; /* owned; open addressing */
	size_t size, count;       /* size: a power of 2, or 0 */
};

uint64_t index_mark(const char *namespace_, const char *kind, const char *name);

void index_add(struct index *x, uint64_t mark, const char *key);
void index_remove(struct index *x, uint64_t mark, const char *key); /* one of that key; nothing when there is none */
/* The keys at the mark, of which fn changes none. `at` is 0 at first; NULL at the end. Borrowed. */
const char *index_next(const struct index *x, uint64_t mark, size_t *at);
void index_done(struct index *x);

#endif
