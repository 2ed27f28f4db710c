/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKAMEMORY_H
#define SCALERS_KAFKA_KAFKAMEMORY_H

/*
 * For excludePersistentLag: the offsets that a group had committed at the previous poll. A
 * partition whose offset has not moved since is stuck: nothing consumes it, so more replicas would
 * not help.
 *
 * KEDA compares with the previous query, whoever made it, and keeps the offsets in the scaler. So a
 * query by the HPA between two polls marks a healthy partition as stuck, and each rebuild forgets
 * all offsets. Here, queries between two polls are compared with the same offsets as the poll
 * before them, and the offsets are kept outside of the triggers, by question. Their number is
 * limited; the lag of a forgotten partition counts in full once. Nothing is known of a partition at
 * first, after a restart, or after an hour without queries.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/kafka/kafka.h"
#include "scalers/sources.h"

#define KAFKAMEMORY_PARTITIONS_MAX 300000 /* total, in shares by namespace; a namespace's share of the reserve: */
#define KAFKAMEMORY_PARTITIONS_FEW 10000
#define KAFKAMEMORY_FORGET_MS      3600000

struct kafkamemory;

/*
 * Sets stuck for each partition. key: the question. poll_ms: the polling interval; 0: unknown, each
 * query counts as a poll. now_ms: loop clock. namespace_: whose share is used; without room, the
 * namespace's least recently used entry is forgotten, or this one.
 */
void kafkamemory_compare(struct kafkamemory *m, const char *key, const char *namespace_, int64_t poll_ms,
	int64_t now_ms, const struct kafka_partition *partitions, size_t count, bool *stuck);

extern const struct sources_part kafkamemory_part; /* scaler_sources.kafka_memory */

#endif
