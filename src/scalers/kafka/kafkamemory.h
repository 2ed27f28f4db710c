/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKAMEMORY_H
#define SCALERS_KAFKA_KAFKAMEMORY_H

/*
 * For excludePersistentLag: what a group had committed at the poll before. A partition whose offset
 * has not moved since is stuck: nobody gets on with it, so more replicas would not, either.
 *
 * KEDA compares with the last look, whoever looked, and keeps that in the scaler. So a look of the
 * HPA between two polls makes a healthy partition stuck, and each rebuild forgets. Here looks
 * between two polls compare with what those polls compare with, and the memory is kept outside of
 * the triggers, by what they ask. It has a limit; what is forgotten counts in full once more.
 * Nothing is known of a partition at first, after a restart, or when nobody has asked for an hour.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/kafka/kafka.h"
#include "scalers/sources.h"

#define KAFKAMEMORY_PARTITIONS_MAX 300000 /* in shares by namespace; what it has of the reserve: */
#define KAFKAMEMORY_PARTITIONS_FEW 10000
#define KAFKAMEMORY_FORGET_MS      3600000

struct kafkamemory;

struct kafkamemory *kafkamemory_new(void);
void kafkamemory_free(struct kafkamemory *m); /* NULL is fine */

/*
 * Sets stuck for each partition. key: what is asked. poll_ms: how often, 0 for unknown, which takes
 * each look for a poll. now_ms: loop clock. namespace_: in whose share it is remembered; for lack
 * of room what the namespace used longest ago is forgotten, or this.
 */
void kafkamemory_compare(struct kafkamemory *m, const char *key, const char *namespace_, int64_t poll_ms,
	int64_t now_ms, const struct kafka_partition *partitions, size_t count, bool *stuck);

extern const struct sources_part kafkamemory_part; /* scaler_sources.kafka_memory */

#endif
