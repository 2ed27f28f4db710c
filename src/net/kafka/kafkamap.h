/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKAMAP_H
#define NET_KAFKA_KAFKAMAP_H

/*
 * What a cluster's metadata said: where its brokers are, and who leads the partitions of the topics
 * that were asked about. A topic is good for a minute, and is told again when somebody doubts it.
 * No I/O, no clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/shares.h"
#include "net/kafka/kafkamessages.h"

#define KAFKAMAP_GOOD_MS   60000
#define KAFKAMAP_FORGET_MS 300000

/* What was said of a topic at one time; immutable but for `doubted`, reference-counted. */
struct kafkatopic {
	unsigned refs;
	char *name;
	int16_t error;
	struct kafkamessages_partition *partitions; /* sorted by id */
	size_t count;
	int64_t told_ms;
	bool stale;
	bool too_many; /* its partitions are left out: the namespace has its share */
	struct shares_hold share;
	UT_hash_handle hh;
};
struct kafkatopic *kafkatopic_ref(struct kafkatopic *t);
void kafkatopic_unref(struct kafkatopic *t); /* NULL is fine */

#define KAFKAMAP_BROKERS_MAX 2000 /* those that coordinators add to the metadata's among them */

struct kafkamap_broker {
	int32_t id;
	char *host; /* owned */
	uint16_t port;
	char *address; /* owned; both */
	bool is_first; /* in at: of several at one address one is */
	struct shares_hold share;
	UT_hash_handle hh, by_address;
};

struct kafkamap {                        /* a value; zeroed is empty */
	struct kafkamap_broker *brokers; /* by id */
	struct kafkamap_broker *at;      /* the same, by address */
	struct kafkatopic *topics;
	struct shares *known, *known_brokers; /* borrowed (net/kafka/kafkashares); NULL: no limit */
	const char *namespace_;               /* borrowed; whose share what is told next is of */
	bool too_many_brokers;                /* the last of them was left out for that */
};

/*
 * Takes what is in m. asked: the topics asked about, sorted, each once; one that the answer lacks
 * does not exist, and one that nobody asked about is not kept.
 */
void kafkamap_take(struct kafkamap *map, struct kafkamessages_metadata *m, const char *const *asked, size_t count,
	int64_t now_ms);
/* Whether that changed something. Nothing, when there are as many as there may be. */
bool kafkamap_put_broker(struct kafkamap *map, const struct kafkamessages_broker *broker);
const struct kafkamap_broker *kafkamap_broker(const struct kafkamap *map, int32_t id); /* NULL: unknown */
const struct kafkamap_broker *kafkamap_broker_at(const struct kafkamap *map, const char *address);
/* What was said last; NULL: nothing. And whether that will do, or another look is due. */
struct kafkatopic *kafkamap_topic(const struct kafkamap *map, const char *name);
bool kafkamap_is_good(const struct kafkatopic *t, int64_t now_ms); /* NULL is not */
void kafkamap_forget_old(struct kafkamap *map, int64_t now_ms);
void kafkamap_done(struct kafkamap *map);

#endif
