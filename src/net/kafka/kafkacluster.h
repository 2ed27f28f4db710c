/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKACLUSTER_H
#define NET_KAFKA_KAFKACLUSTER_H

/*
 * One Kafka cluster: its brokers with one connection each (net/kafka/kafkalink), what its metadata
 * said (net/kafka/kafkamap), and who coordinates which group. What is asked in one turn of the loop
 * is asked together: one Metadata for all topics, one OffsetFetch per group, one ListOffsets per
 * broker, whoever refs how much of it. net/kafka/kafka puts a trigger's answer together from
 * these.
 *
 * The bootstrap servers are asked first, in turn when one fails; then the brokers that the metadata
 * names, each at the address that it advertises, and the bootstrap connection is closed if it is
 * none of theirs. Addresses come from the network: each is judged when it is dialled
 * (net/sourcerules), and TLS and credentials are the endpoint's for all of them.
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

/* terms: loop, tokens and salter of them. shares: borrowed. */
struct kafkacluster *kafkacluster_new(const struct kafkalink_terms *terms, struct kafkaendpoint *endpoint,
	struct kafkashares *shares);
void kafkacluster_free(struct kafkacluster *c); /* who waits gets no callback; not from inside one */

size_t kafkacluster_connections(const struct kafkacluster *c);
void kafkacluster_tidy(struct kafkacluster *c); /* from time to time: forgets what nobody uses */

const struct kafkamap *kafkacluster_map(const struct kafkacluster *c);
/* Another look is due at who coordinates a group. (Of a topic: struct kafkatopic, doubted.) */
void kafkacluster_forget_coordinator(struct kafkacluster *c, const char *group);

/* Why there is no answer: whether another try may help. */
enum kafkacluster_failure {
	KAFKACLUSTER_FINAL, /* no */
	KAFKACLUSTER_MOVED, /* what was known is old: leaders, coordinators, or the connection */
	KAFKACLUSTER_LOST,  /* there is no connection, or no answer: perhaps because of that */
};

/*
 * Somebody who waits for one of the answers below; a member of its owner. Zeroed it waits for none.
 */
struct kafkawaiter {
	/*
	 * answer: borrowed; NULL of metadata, which is in the map, and when err is not. Never
	 * called before the asking function has returned, exactly once.
	 */
	void (*fn)(struct kafkawaiter *w, const struct kafkamessages_offsets *answer, const struct err *err,
		enum kafkacluster_failure failure);
	void *arg;
	struct kafkabatch *batch; /* NULL: it does not wait */
	struct kafkawaiter *prev, *next;
};
void kafkacluster_leave(struct kafkawaiter *w); /* no callback any more; fine when it does not wait */

/*
 * A partition that somebody refs to know about; the topic gets a reference while that is needed.
 */
struct kafka_partition_ref {
	struct kafkatopic *topic;
	int32_t partition;
};

/* Metadata of topics, into the map. deadline_ms, in all: loop clock. */
void kafkacluster_describe(struct kafkacluster *c, const char *const *topics, size_t count, int64_t deadline_ms,
	struct kafkawaiter *w);
/* Committed offsets of a group; refs NULL: of all topics in which it has some. */
void kafkacluster_committed(struct kafkacluster *c, const char *group, const struct kafka_partition_ref *refs,
	size_t count, int64_t deadline_ms, struct kafkawaiter *w);
/* Ends (KAFKA_END) or starts (KAFKA_START) of partitions, asked of the broker that leads them. */
void kafkacluster_offsets(struct kafkacluster *c, int32_t node, int64_t which, const struct kafka_partition_ref *refs,
	size_t count, int64_t deadline_ms, struct kafkawaiter *w);

#endif
