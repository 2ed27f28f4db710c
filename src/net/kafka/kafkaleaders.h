/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKALEADERS_H
#define NET_KAFKA_KAFKALEADERS_H

/* Sorts a question's partitions by leader. Pure. */

#include "net/kafka/kafkamap.h"

struct kafka_place { /* a partition's topic and leader */
	struct kafkatopic *topic;
	int32_t leader;
};

struct kafka_share { /* one of a leader's partitions */
	int32_t leader;
	uint32_t partition; /* index of its kafka_place */
};

/*
 * Sorted, so that each leader's partitions are contiguous. The caller frees it. Called once per
 * try, as a cluster may have as many leaders as partitions.
 */
struct kafka_share *kafkaleaders_sort(const struct kafka_place *places, size_t count);

#endif
