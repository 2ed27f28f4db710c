/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The position of key, or where to insert it; in constant time if keys come in order. */
static size_t position_of(const struct strmap *m, const char *key, bool *found)
{
	size_t low = 0, high = m->count;

	*found = false;
	if (m->count > 0 && strcmp(key, m->pairs[m->count - 1].key) > 0)
		return m->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(key, m->pairs[middle].key);
		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * The allocation for `count` pairs, which is not stored: count rounded up to an even number up to
 * 8, then to a power of two.
 */
static size_t room_of(size_t count)
{
	size_t room = 2;

	while (room < count)
		room += room < 8 ? 2 : room;
	return room;
}

static struct strmap_pair make_pair(const char *key, const char *value)
{
	size_t key_size = strlen(key) + 1;
	size_t value_size = strlen(value) + 1;
	char *both = mem_alloc(key_size + value_size);

	memcpy(both, key, key_size);
	memcpy(both + key_size, value, value_size);
	return (struct strmap_pair){ both, both + key_size };
}

const char *strmap_get(const struct strmap *m, const char *key)
{
	bool found;
	size_t at = position_of(m, key, &found);

	return found ? m->pairs[at].value : NULL;
}

void strmap_set(struct strmap *m, const char *key, const char *value)
{
	bool found;
	size_t at = position_of(m, key, &found);
	struct strmap_pair pair = make_pair(key, value); /* before anything is freed: value may point into the map */

	if (found) {
		free(m->pairs[at].key);
		m->pairs[at] = pair;
		return;
	}
	if (m->count == 0 || m->count == room_of(m->count))
		m->pairs = mem_resize(m->pairs, room_of(m->count + 1), sizeof(*m->pairs));
	memmove(m->pairs + at + 1, m->pairs + at, (m->count - at) * sizeof(*m->pairs));
	m->pairs[at] = pair;
	m->count++;
}

static void wipe(struct strmap_pair *pair)
{
	mem_wipe(pair->key, (size_t)(pair->value - pair->key) + strlen(pair->value));
}

static void remove_pair(struct strmap *m, const char *key, bool secret)
{
	bool found;
	size_t at = position_of(m, key, &found);

	if (!found)
		return;
	if (secret)
		wipe(&m->pairs[at]);
	free(m->pairs[at].key);
	m->count--;
	memmove(m->pairs + at, m->pairs + at + 1, (m->count - at) * sizeof(*m->pairs));
}

void strmap_remove(struct strmap *m, const char *key)
{
	remove_pair(m, key, false);
}

void strmap_remove_secret(struct strmap *m, const char *key)
{
	remove_pair(m, key, true);
}

void strmap_copy(struct strmap *to, const struct strmap *from)
{
	if (from->count == 0)
		return;
	to->pairs = mem_array(room_of(from->count), sizeof(*to->pairs));
	to->count = from->count;
	for (size_t i = 0; i < from->count; i++)
		to->pairs[i] = make_pair(from->pairs[i].key, from->pairs[i].value);
}

void strmap_done(struct strmap *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->pairs[i].key);
	free(m->pairs);
	*m = (struct strmap){ NULL, 0 };
}

void strmap_done_secret(struct strmap *m)
{
	for (size_t i = 0; i < m->count; i++)
		wipe(&m->pairs[i]);
	strmap_done(m);
}

bool strmap_equal(const struct strmap *a, const struct strmap *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->pairs[i].key, b->pairs[i].key) != 0 || strcmp(a->pairs[i].value, b->pairs[i].value) != 0)
			return false;
	return true;
}
