/* SPDX-License-Identifier: Apache-2.0 */
#include "net/timerheap.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

/* Places count from 1; 0 means none, and the parent of n is n / 2. */

static bool is_before(const struct timerheap_entry *a, const struct timerheap_entry *b)
{
	return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void put_at(struct timerheap *h, size_t place, struct timerheap_entry entry)
{
	h->entries[place - 1] = entry;
	*entry.place = place;
}

/* Moves the entry up or down from a free place to its position. */
static void sift(struct timerheap *h, size_t place, struct timerheap_entry entry)
{
	for (; place > 1 && is_before(&entry, &h->entries[place / 2 - 1]); place /= 2)
		put_at(h, place, h->entries[place / 2 - 1]);
	for (size_t child; (child = 2 * place) <= h->count; place = child) {
		if (child < h->count && is_before(&h->entries[child], &h->entries[child - 1]))
			child++;
		if (!is_before(&h->entries[child - 1], &entry))
			break;
		put_at(h, place, h->entries[child - 1]);
	}
	put_at(h, place, entry);
}

void timerheap_put(struct timerheap *h, size_t *place, int64_t due_ms)
{
	size_t from = *place;

	if (!from && h->count == h->room) {
		h->room = h->room ? 2 * h->room : 64;
		h->entries = mem_resize(h->entries, h->room, sizeof(*h->entries));
	}
	if (!from)
		from = ++h->count;
	sift(h, from, (struct timerheap_entry){ due_ms, h->orders++, place });
}

void timerheap_take(struct timerheap *h, size_t *place)
{
	size_t from = *place;

	if (!from)
		return;
	*place = 0;
	if (from < h->count--)
		sift(h, from, h->entries[h->count]);
}

const struct timerheap_entry *timerheap_first(const struct timerheap *h)
{
	return h->count > 0 ? &h->entries[0] : NULL;
}

void timerheap_done(struct timerheap *h)
{
	free(h->entries);
	*h = (struct timerheap){ .entries = NULL };
}
