/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKAMAP_H
#define NET_KAFKA_KAFKAMAP_H

/*
 * A cluster's cached metadata: its brokers' addresses, and the partition leaders of topics that
 * were asked about. A topic is valid for a minute, unless it is marked stale earlier. No I/O, no
 * clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/shares.h"
#include "net/kafka/kafkamessages.h"

#define KAFKAMAP_GOOD_MS   60000
#define KAFKAMAP_FORGET_MS 300000

/* A topic's metadata at one time. Immutable except for `stale`, reference-counted. */
struct kafkatopic {
	unsigned refs;
	char *name;
	int16_t error;
	struct kafkamessages_partition *partitions; /* sorted by id */
	size_t count;
	int64_t fetched_ms;
	bool stale;
	bool too_many; /* its partitions are left out: the namespace has used its share */
	struct shares_hold share;
	UT_hash_handle hh;
};
struct kafkatopic *kafkatopic_ref(struct kafkatopic *t);
void kafkatopic_unref(struct kafkatopic *t); /* NULL is fine */

#define KAFKAMAP_BROKERS_MAX 2000 /* including those learnt from coordinators */

struct kafkamap_broker {
	int32_t id;
	char *host; /* owned */
	uint16_t port;
	char *address; /* owned; host and port */
	bool is_first; /* in `at`: the first of several brokers at its address */
	struct shares_hold share;
	UT_hash_handle hh, by_address;
};

struct kafkamap {                        /* a value; empty when zeroed */
	struct kafkamap_broker *brokers; /* by id */
	struct kafkamap_broker *at;      /* the same, by address */
	struct kafkatopic *topics;
	struct shares *known, *known_brokers; /* borrowed (net/kafka/kafkashares); NULL: no limit */
	const char *namespace_;               /* borrowed; the namespace that new entries count for */
	bool too_many_brokers;                /* the last new broker exceeded the share */
};

/*
 * Takes the content of m. asked: the topics asked about, sorted, each once. A topic missing from
 * the answer does not exist; one that was not asked about is ignored.
 */
void kafkamap_take(struct kafkamap *map, struct kafkamessages_metadata *m, const char *const *asked, size_t count,
	int64_t now_ms);
/* Returns whether that changed anything; at a limit it does not. */
bool kafkamap_put_broker(struct kafkamap *map, const struct kafkamessages_broker *broker);
const struct kafkamap_broker *kafkamap_broker(const struct kafkamap *map, int32_t id); /* NULL: unknown */
const struct kafkamap_broker *kafkamap_broker_at(const struct kafkamap *map, const char *address);
/* Cached topic metadata, or NULL. kafkamap_is_good: valid, without error and not stale. */
struct kafkatopic *kafkamap_topic(const struct kafkamap *map, const char *name);
bool kafkamap_is_good(const struct kafkatopic *t, int64_t now_ms); /* false for NULL */
void kafkamap_forget_old(struct kafkamap *map, int64_t now_ms);
void kafkamap_done(struct kafkamap *map);

#endif
