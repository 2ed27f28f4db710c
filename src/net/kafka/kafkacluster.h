/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKACLUSTER_H
#define NET_KAFKA_KAFKACLUSTER_H

/*
 * One Kafka cluster: the connections to its brokers (net/kafka/kafkabrokers), its cached metadata
 * (net/kafka/kafkamap), and the coordinators of consumer groups. Requests made in one turn of the
 * loop are batched: one Metadata for all topics, one OffsetFetch per group, one ListOffsets per
 * broker. net/kafka/kafka builds a trigger's answer from these.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/kafka/kafkaendpoint.h"
#include "net/kafka/kafkalink.h"
#include "net/kafka/kafkamap.h"
#include "net/kafka/kafkamessages.h"
#include "net/loop.h"

struct kafkacluster;
struct kafkabatch;
struct kafkashares;

/* terms: only loop, tokens and salter are used. shares: borrowed. */
struct kafkacluster *kafkacluster_new(const struct kafkalink_terms *terms, struct kafkaendpoint *endpoint,
	struct kafkashares *shares);
void kafkacluster_free(struct kafkacluster *c); /* waiters get no callback; must not be called from one */

/* Call from time to time: forgets unused groups, connections and topics. */
void kafkacluster_tidy(struct kafkacluster *c);

const struct kafkamap *kafkacluster_map(const struct kafkacluster *c);
/* Has the group's coordinator looked up again. (For a topic, set `stale` in struct kafkatopic.) */
void kafkacluster_forget_coordinator(struct kafkacluster *c, const char *group);

/* Why there is no answer: may a retry help? */
enum kafkacluster_failure {
	KAFKACLUSTER_FINAL, /* no */
	KAFKACLUSTER_MOVED, /* yes: leader or coordinator has moved, or an old connection was closed */
	KAFKACLUSTER_LOST,  /* perhaps: no connection, or no answer in time */
};

struct kafkawaiter;

/*
 * answer: borrowed; NULL with err, and for metadata, which is in the map. Called exactly once,
 * never before the asking function has returned.
 */
typedef void kafkawaiter_fn(struct kafkawaiter *w, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_failure failure);

/* A member of a batch, waiting for one of the answers below; part of its owner. Zeroed: idle. */
struct kafkawaiter {
	kafkawaiter_fn *fn;
	void *arg;
	struct kafkabatch *batch; /* NULL: idle */
	struct kafkawaiter *prev, *next;
};
void kafkacluster_leave(struct kafkawaiter *w); /* no callback follows; fine when idle */

/* A partition to ask about. A batch holds a reference to the topic. */
struct kafka_partition_ref {
	struct kafkatopic *topic;
	int32_t partition;
};

/* Fetches metadata of topics into the map. deadline_ms, here and below: loop clock. */
void kafkacluster_describe(struct kafkacluster *c, const char *const *topics, size_t count, int64_t deadline_ms,
	struct kafkawaiter *w);
/* Fetches committed offsets of a group; refs NULL: of all topics in which it has any. */
void kafkacluster_committed(struct kafkacluster *c, const char *group, const struct kafka_partition_ref *refs,
	size_t count, int64_t deadline_ms, struct kafkawaiter *w);
/* Fetches ends (KAFKA_END) or starts (KAFKA_START) of partitions that broker `node` leads. */
void kafkacluster_offsets(struct kafkacluster *c, int32_t node, int64_t which, const struct kafka_partition_ref *refs,
	size_t count, int64_t deadline_ms, struct kafkawaiter *w);

#endif
