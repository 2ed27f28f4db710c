/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKALEADERS_H
#define NET_KAFKA_KAFKALEADERS_H

/* A question's partitions by the brokers that lead them. Pure. */

#include "net/kafka/kafkamap.h"

struct kafka_place { /* of a partition */
	struct kafkatopic *topic;
	int32_t leader;
};

struct kafka_share { /* of a leader's partitions one */
	int32_t leader;
	uint32_t partition; /* the index of its place */
};

/*
 * Sorted: each leader's partitions lie together. The caller frees it. Once in a try: a cluster may
 * have as many leaders as partitions.
 */
struct kafka_share *kafkaleaders_sort(const struct kafka_place *places, size_t count);

#endif
