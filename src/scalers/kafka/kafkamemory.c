/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/kafka/kafkamemory.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/shares.h"

/* A query counts as a poll after this part of the interval: polls come a little early or late. */
#define OF_INTERVAL(ms) ((ms) / 4 * 3)

struct offset_memory {
	uint64_t where;      /* topic and partition, hashed */
	int64_t before, now; /* committed at the last poll but one (KAFKA_OFFSET_NONE: unknown), and at the last */
};

struct group_memory {
	char *key, *namespace_;
	int64_t polled_ms, used_ms;
	struct offset_memory *offsets; /* sorted by where */
	size_t count;
	struct shares_hold share; /* as many as count */
	UT_hash_handle hh;
};

struct kafkamemory {
	struct group_memory *groups; /* least recently used first */
	struct shares partitions;
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

static const struct offset_memory *find_offset(const struct group_memory *g, uint64_t where)
{
	const struct offset_memory wanted = { .where = where };

	return g->count > 0 ? bsearch(&wanted, g->offsets, g->count, sizeof(wanted), compare_where) : NULL;
}

static void forget_group(struct kafkamemory *m, struct group_memory *g)
{
	HASH_DEL(m->groups, g);
	shares_give(&g->share, g->share.has);
	free(g->offsets);
	free(g->key);
	free(g->namespace_);
	free(g);
}

/* Finds or makes the entry, and moves it to the end, as the most recently used. */
static struct group_memory *take_group(struct kafkamemory *m, const char *key, const char *namespace_, bool *is_new)
{
	struct group_memory *g;

	HASH_FIND_STR(m->groups, key, g);
	*is_new = !g;
	if (g) {
		HASH_DEL(m->groups, g);
	} else {
		g = mem_zalloc(sizeof(*g));
		g->key = mem_dup(key);
		g->namespace_ = mem_dup(namespace_);
	}
	HASH_ADD_KEYPTR(hh, m->groups, g->key, strlen(g->key), g);
	return g;
}

/* Forgets the least recently used other entry of the namespace; false: there is none. */
static bool forget_another(struct kafkamemory *m, const struct group_memory *used)
{
	struct group_memory *g, *next;

	HASH_ITER (hh, m->groups, g, next) {
		if (g != used && g->share.has > 0 && strcmp(g->namespace_, used->namespace_) == 0) {
			forget_group(m, g);
			return true;
		}
	}
	return false;
}

static bool has_room(struct kafkamemory *m, struct group_memory *g, size_t count)
{
	shares_give(&g->share, g->share.has);
	while (!shares_take(&m->partitions, &g->share, g->namespace_, count))
		if (!forget_another(m, g))
			return false;
	return true;
}

/* A poll: the current offsets become the previous ones. */
static void record_poll(struct kafkamemory *m, struct group_memory *g, const struct kafka_partition *partitions,
	size_t count)
{
	struct offset_memory *offsets = mem_array(count, sizeof(*offsets));
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t where = where_of(&partitions[i]);
		const struct offset_memory *old = find_offset(g, where);

		/* A partition without a committed offset cannot be stuck. */
		if (partitions[i].committed != KAFKA_OFFSET_NONE)
			offsets[kept++] = (struct offset_memory){ where, old ? old->now : KAFKA_OFFSET_NONE,
				partitions[i].committed };
	}
	if (!has_room(m, g, kept))
		kept = 0;
	if (kept > 1)
		qsort(offsets, kept, sizeof(*offsets), compare_where);
	free(g->offsets);
	g->offsets = offsets;
	g->count = kept;
}

static void forget_old(struct kafkamemory *m, int64_t now_ms)
{
	struct group_memory *g, *next;

	HASH_ITER (hh, m->groups, g, next) {
		if (now_ms - g->used_ms <= KAFKAMEMORY_FORGET_MS)
			break;
		forget_group(m, g);
	}
}

void kafkamemory_compare(struct kafkamemory *m, const char *key, const char *namespace_, int64_t poll_ms,
	int64_t now_ms, const struct kafka_partition *partitions, size_t count, bool *stuck)
{
	bool is_new;
	struct group_memory *g = take_group(m, key, namespace_, &is_new);

	if (is_new || now_ms - g->polled_ms >= OF_INTERVAL(poll_ms)) {
		record_poll(m, g, partitions, count);
		g->polled_ms = now_ms;
	}
	g->used_ms = now_ms;
	for (size_t i = 0; i < count; i++) {
		const struct offset_memory *known = find_offset(g, where_of(&partitions[i]));

		stuck[i] = known && known->before != KAFKA_OFFSET_NONE && known->before == partitions[i].committed;
	}
	forget_old(m, now_ms);
}

static void begin_part(struct scaler_sources *s)
{
	s->kafka_memory = mem_zalloc(sizeof(*s->kafka_memory));
	s->kafka_memory->partitions = (struct shares){ .total = KAFKAMEMORY_PARTITIONS_MAX,
		.few = KAFKAMEMORY_PARTITIONS_FEW };
}

static void end_part(struct scaler_sources *s)
{
	struct kafkamemory *m = s->kafka_memory;
	struct group_memory *g, *next;

	HASH_ITER (hh, m->groups, g, next)
		forget_group(m, g);
	free(m);
}

const struct sources_part kafkamemory_part = { begin_part, end_part };
