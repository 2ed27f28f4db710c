/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/index.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/fingerprint.h"
#include "base/mem.h"

#define SIZE_MIN 16

/* One key under a mark. One namespace may put ten thousand under one mark: each costs the same. */
struct index_entry {
	struct index_entry *next;
	char key[];
};

struct index_slot {
	uint64_t mark;
	struct index_entry *first; /* owned; NULL: empty */
};

uint64_t index_mark(const char *namespace_, const char *kind, const char *name)
{
	MEM_AUTO char *text = mem_printf("%s %s/%s", kind, namespace_, name);

	return fingerprint_fast(text, strlen(text));
}

static size_t home(const struct index *x, uint64_t mark)
{
	return (size_t)mark & (x->size - 1);
}

/* The slot of the mark, or an empty one. At most three quarters are used, so one exists. */
static struct index_slot *slot_of(const struct index *x, uint64_t mark)
{
	size_t at = home(x, mark);

	while (x->slots[at].first && x->slots[at].mark != mark)
		at = (at + 1) & (x->size - 1);
	return &x->slots[at];
}

static void grow(struct index *x)
{
	struct index old = *x;

	x->size = old.size ? 2 * old.size : SIZE_MIN;
	x->slots = mem_array(x->size, sizeof(*x->slots));
	for (size_t i = 0; i < old.size; i++)
		if (old.slots[i].first)
			*slot_of(x, old.slots[i].mark) = old.slots[i];
	free(old.slots);
}

void index_add(struct index *x, uint64_t mark, const char *key)
{
	size_t size = strlen(key) + 1;
	struct index_entry *entry = mem_alloc(sizeof(*entry) + size);
	struct index_slot *slot;

	if (4 * (x->marks + 1) > 3 * x->size)
		grow(x);
	slot = slot_of(x, mark);
	memcpy(entry->key, key, size);
	entry->next = slot->first;
	x->marks += !slot->first;
	*slot = (struct index_slot){ mark, entry };
	x->count++;
}

/* Slots after an emptied one may have been displaced by it. */
static void close_gap(struct index *x, size_t at)
{
	for (at = (at + 1) & (x->size - 1); x->slots[at].first; at = (at + 1) & (x->size - 1)) {
		struct index_slot slot = x->slots[at];

		x->slots[at].first = NULL;
		*slot_of(x, slot.mark) = slot;
	}
}

void index_remove(struct index *x, uint64_t mark, const char *key)
{
	struct index_slot *slot = x->size ? slot_of(x, mark) : NULL;
	struct index_entry **at = slot ? &slot->first : NULL, *entry;

	while (at && *at && strcmp((*at)->key, key) != 0)
		at = &(*at)->next;
	if (!at || !*at)
		return;
	entry = *at;
	*at = entry->next;
	free(entry);
	x->count--;
	if (slot->first)
		return;
	x->marks--;
	close_gap(x, (size_t)(slot - x->slots));
}

const char *index_next(const struct index *x, uint64_t mark, const struct index_entry **at)
{
	*at = *at ? (*at)->next : x->size ? slot_of(x, mark)->first : NULL;
	return *at ? (*at)->key : NULL;
}

void index_done(struct index *x)
{
	for (size_t i = 0; i < x->size; i++) {
		struct index_entry *entry, *next;

		LL_FOREACH_SAFE (x->slots[i].first, entry, next)
			free(entry);
	}
	free(x->slots);
	*x = (struct index){ 0 };
}
