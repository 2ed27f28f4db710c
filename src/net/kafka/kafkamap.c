/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkamap.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "net/kafka/kafkashares.h"

struct kafkatopic *kafkatopic_ref(struct kafkatopic *t)
{
	t->refs++;
	return t;
}

void kafkatopic_unref(struct kafkatopic *t)
{
	if (!t || --t->refs > 0)
		return;
	shares_give(&t->share, t->share.has);
	free(t->name);
	free(t->partitions);
	free(t);
}

static void drop_topic(struct kafkamap *map, struct kafkatopic *t)
{
	HASH_DEL(map->topics, t);
	kafkatopic_unref(t);
}

struct kafkatopic *kafkamap_topic(const struct kafkamap *map, const char *name)
{
	struct kafkatopic *t;

	HASH_FIND_STR(map->topics, name, t);
	return t;
}

static bool take_share(const struct kafkamap *map, struct shares *of, struct shares_hold *h, size_t amount)
{
	return !of || shares_take(of, h, map->namespace_ ? map->namespace_ : "", amount);
}

/* Takes over name and partitions. */
static void put_topic(struct kafkamap *map, struct kafkamessages_topic *from, int64_t now_ms)
{
	struct kafkatopic *old = kafkamap_topic(map, from->name), *t = mem_zalloc(sizeof(*t));

	if (old)
		drop_topic(map, old);
	t->refs = 1;
	t->name = from->name;
	t->error = from->error;
	t->too_many = !take_share(map, map->known, &t->share, KAFKASHARES_TOPIC + from->count);
	if (!t->too_many) {
		t->partitions = from->partitions;
		t->count = from->count;
		from->partitions = NULL;
	}
	t->fetched_ms = now_ms;
	from->name = NULL;
	HASH_ADD_KEYPTR(hh, map->topics, t->name, strlen(t->name), t);
}

static void leave_address(struct kafkamap *map, struct kafkamap_broker *b)
{
	if (b->is_first)
		HASH_DELETE(by_address, map->at, b);
	b->is_first = false;
	free(b->address);
	free(b->host);
}

static void free_broker(struct kafkamap *map, struct kafkamap_broker *b)
{
	HASH_DEL(map->brokers, b);
	leave_address(map, b);
	shares_give(&b->share, b->share.has);
	free(b);
}

bool kafkamap_put_broker(struct kafkamap *map, const struct kafkamessages_broker *broker)
{
	MEM_AUTO char *address = hostport_join(broker->host, broker->port);
	struct kafkamap_broker *b;

	HASH_FIND_INT(map->brokers, &broker->id, b);
	if (b ? strcmp(b->address, address) == 0 : HASH_COUNT(map->brokers) >= KAFKAMAP_BROKERS_MAX)
		return false;
	if (!b) {
		b = mem_zalloc(sizeof(*b));
		map->too_many_brokers = !take_share(map, map->known_brokers, &b->share, 1);
		if (map->too_many_brokers) {
			free(b);
			return false;
		}
		b->id = broker->id;
		HASH_ADD_INT(map->brokers, id, b);
	}
	leave_address(map, b);
	b->host = mem_dup(broker->host);
	b->port = broker->port;
	b->address = mem_dup(address);
	b->is_first = !kafkamap_broker_at(map, address);
	if (b->is_first)
		HASH_ADD_KEYPTR(by_address, map->at, b->address, strlen(b->address), b);
	return true;
}

static int compare_names(const void *name, const void *element)
{
	return strcmp(name, *(const char *const *)element);
}

void kafkamap_take(struct kafkamap *map, struct kafkamessages_metadata *m, const char *const *asked, size_t count,
	int64_t now_ms)
{
	struct kafkamap_broker *b, *next;
	struct kafkatopic *t;

	/* Ignore an empty list: a broker that has just started does not know the others yet. */
	map->too_many_brokers = false;
	if (m->broker_count > 0)
		HASH_ITER (hh, map->brokers, b, next)
			free_broker(map, b);
	for (size_t i = 0; i < m->broker_count; i++)
		kafkamap_put_broker(map, &m->brokers[i]);
	for (size_t i = 0; i < m->topic_count; i++)
		if (m->topics[i].name && bsearch(m->topics[i].name, asked, count, sizeof(*asked), compare_names))
			put_topic(map, &m->topics[i], now_ms);
	for (size_t i = 0; i < count; i++) {
		t = kafkamap_topic(map, asked[i]);
		if (!t || t->stale || t->fetched_ms != now_ms)
			put_topic(map,
				&(struct kafkamessages_topic){ .name = mem_dup(asked[i]),
					.error = KAFKA_UNKNOWN_TOPIC },
				now_ms);
	}
}

const struct kafkamap_broker *kafkamap_broker(const struct kafkamap *map, int32_t id)
{
	struct kafkamap_broker *b;

	HASH_FIND_INT(map->brokers, &id, b);
	return b;
}

const struct kafkamap_broker *kafkamap_broker_at(const struct kafkamap *map, const char *address)
{
	struct kafkamap_broker *b;

	HASH_FIND(by_address, map->at, address, strlen(address), b);
	return b;
}

/* A topic with an error is asked about again each time. */
bool kafkamap_is_good(const struct kafkatopic *t, int64_t now_ms)
{
	return t && !t->error && !t->too_many && !t->stale && now_ms - t->fetched_ms < KAFKAMAP_GOOD_MS;
}

void kafkamap_forget_old(struct kafkamap *map, int64_t now_ms)
{
	struct kafkatopic *t, *next;

	HASH_ITER (hh, map->topics, t, next)
		if (now_ms - t->fetched_ms > KAFKAMAP_FORGET_MS)
			drop_topic(map, t);
}

void kafkamap_done(struct kafkamap *map)
{
	struct kafkamap_broker *b, *next_broker;
	struct kafkatopic *t, *next_topic;

	HASH_ITER (hh, map->brokers, b, next_broker)
		free_broker(map, b);
	HASH_ITER (hh, map->topics, t, next_topic)
		drop_topic(map, t);
}
