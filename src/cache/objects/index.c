/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"

#define SIZE_MIN 16

struct index_slot {
	uint64_t mark;
	char *key; /* owned; NULL: empty */
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

static void place(struct index *x, struct index_slot slot)
{
	size_t at = home(x, slot.mark);

	while (x->slots[at].key)
		at = (at + 1) & (x->size - 1);
	x->slots[at] = slot;
}

/* At most three quarters are used, so every search ends at an empty slot. */
static void grow(struct index *x)
{
	struct index old = *x;

	x->size = old.size ? 2 * old.size : SIZE_MIN;
	x->slots = mem_array(x->size, sizeof(*x->slots));
	for (size_t i = 0; i < old.size; i++)
		if (old.slots[i].key)
			place(x, old.slots[i]);
	free(old.slots);
}

void index_add(struct index *x, uint64_t mark, const char *key)
{
	if (4 * (x->count + 1) > 3 * x->size)
		grow(x);
	place(x, (struct index_slot){ mark, mem_dup(key) });
	x->count++;
}

/* Entries after an emptied slot may have been displaced by it. */
static void close_gap(struct index *x, size_t at)
{
	for (at = (at + 1) & (x->size - 1); x->slots[at].key; at = (at + 1) & (x->size - 1)) {
		struct index_slot slot = x->slots[at];

		x->slots[at].key = NULL;
		place(x, slot);
	}
}

void index_remove(struct index *x, uint64_t mark, const char *key)
{
	if (!x->size)
		return;
	for (size_t at = home(x, mark); x->slots[at].key; at = (at + 1) & (x->size - 1)) {
		if (x->slots[at].mark != mark || strcmp(x->slots[at].key, key) != 0)
			continue;
		free(x->slots[at].key);
		x->slots[at].key = NULL;
		x->count--;
		close_gap(x, at);
		return;
	}
}

const char *index_next(const struct index *x, uint64_t mark, size_t *at)
{
	while (x->size) {
		const struct index_slot *slot = &x->slots[(home(x, mark) + *at) & (x->size - 1)];

		if (!slot->key)
			break;
		(*at)++;
		if (slot->mark == mark)
			return slot->key;
	}
	return NULL;
}

void index_done(struct index *x)
{
	for (size_t i = 0; i < x->size; i++)
		free(x->slots[i].key);
	free(x->slots);
	*x = (struct index){ 0 };
}
