/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/kafka/kafkamemory.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/*
 * A look counts as a poll when so much of the interval is over: polls come a little early and late.
 */
#define OF_INTERVAL(ms) ((ms) / 4 * 3)

struct offset_memory {
	uint64_t where;      /* topic and partition, hashed */
	int64_t before, now; /* committed at the poll before the last, KAFKA_OFFSET_NONE: unknown; at the last */
};

struct group_memory {
	char *key;
	int64_t polled_ms, used_ms;
	struct offset_memory *offsets; /* sorted by where */
	size_t count;
	UT_hash_handle hh;
};

struct kafkamemory {
	struct group_memory *groups; /* the one used longest ago first */
	size_t partitions;
};

static int compare_where(const void *a, const void *b)
{
	const struct offset_memory *x = a, *y = b;

	return (x->where > y->where) - (x->where < y->where);
}

static uint64_t where_of(const struct kafka_partition *p)
{
	uint64_t parts[] = { hash_long(p->topic, strlen(p->topic)), (uint64_t)p->id };

	return hash_long(parts, sizeof(parts));
}

static const struct offset_memory *find(const struct group_memory *g, uint64_t where)
{
	const struct offset_memory wanted = { .where = where };

	return g->count > 0 ? bsearch(&wanted, g->offsets, g->count, sizeof(wanted), compare_where) : NULL;
}

static void forget(struct kafkamemory *m, struct group_memory *g)
{
	HASH_DEL(m->groups, g);
	m->partitions -= g->count;
	free(g->offsets);
	free(g->key);
	free(g);
}

/* Moves it to the end of those that are used. */
static struct group_memory *take_group(struct kafkamemory *m, const char *key, bool *is_new)
{
	struct group_memory *g;

	HASH_FIND_STR(m->groups, key, g);
	*is_new = !g;
	if (g) {
		HASH_DEL(m->groups, g);
	} else {
		g = mem_zalloc(sizeof(*g));
		g->key = mem_dup(key);
	}
	HASH_ADD_KEYPTR(hh, m->groups, g->key, strlen(g->key), g);
	return g;
}

/* A poll: what was new is old. */
static void step(struct kafkamemory *m, struct group_memory *g, const struct kafka_partition *partitions, size_t count)
{
	struct offset_memory *offsets = mem_array(count, sizeof(*offsets));
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t where = where_of(&partitions[i]);
		const struct offset_memory *old = find(g, where);

		/* Where nothing is committed nothing can be stuck. */
		if (partitions[i].committed != KAFKA_OFFSET_NONE)
			offsets[kept++] = (struct offset_memory){ where, old ? old->now : KAFKA_OFFSET_NONE,
				partitions[i].committed };
	}
	if (kept > 1)
		qsort(offsets, kept, sizeof(*offsets), compare_where);
	m->partitions += kept - g->count;
	free(g->offsets);
	g->offsets = offsets;
	g->count = kept;
}

static void keep_limits(struct kafkamemory *m, const struct group_memory *used, int64_t now_ms)
{
	struct group_memory *g, *next;

	HASH_ITER (hh, m->groups, g, next) {
		if (g != used &&
			(m->partitions > KAFKAMEMORY_PARTITIONS_MAX || now_ms - g->used_ms > KAFKAMEMORY_FORGET_MS))
			forget(m, g);
		else
			break;
	}
}

void kafkamemory_compare(struct kafkamemory *m, const char *key, int64_t poll_ms, int64_t now_ms,
	const struct kafka_partition *partitions, size_t count, bool *stuck)
{
	bool is_new;
	struct group_memory *g = take_group(m, key, &is_new);

	if (is_new || now_ms - g->polled_ms >= OF_INTERVAL(poll_ms)) {
		step(m, g, partitions, count);
		g->polled_ms = now_ms;
	}
	g->used_ms = now_ms;
	for (size_t i = 0; i < count; i++) {
		const struct offset_memory *known = find(g, where_of(&partitions[i]));

		stuck[i] = known && known->before != KAFKA_OFFSET_NONE && known->before == partitions[i].committed;
	}
	keep_limits(m, g, now_ms);
}

struct kafkamemory *kafkamemory_new(void)
{
	return mem_zalloc(sizeof(struct kafkamemory));
}

void kafkamemory_free(struct kafkamemory *m)
{
	struct group_memory *g, *next;

	if (!m)
		return;
	HASH_ITER (hh, m->groups, g, next)
		forget(m, g);
	free(m);
}
