/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_INDEX_H
#define CACHE_OBJECTS_INDEX_H

/*
 * An index from a thing to the objects related to it: the HPAs of an owner, the ScaledObjects that
 * name a target. Things are identified by a mark, a hash of their text, so two may collide: the
 * caller must check the object. Owns copies of the keys; unordered.
 */

#include <stddef.h>
#include <stdint.h>

struct index_slot;
struct index_entry;
struct index {                    /* a value; empty when zeroed */
	struct index_slot *slots; /* owned; open addressing, one for each mark */
	size_t size, marks;       /* number of slots, a power of 2 or 0, and of used ones */
	size_t count;             /* keys */
};

uint64_t index_mark(const char *namespace_, const char *kind, const char *name);

void index_add(struct index *x, uint64_t mark, const char *key);
/* removes one entry of that key, if there is one */
void index_remove(struct index *x, uint64_t mark, const char *key);
/*
 * Iterates over the keys of a mark; `at` is NULL at first; NULL at the end. Borrowed; the index
 * must not change meanwhile.
 */
const char *index_next(const struct index *x, uint64_t mark, const struct index_entry **at);
void index_done(struct index *x);

#endif
