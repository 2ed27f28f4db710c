/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKARANGES_H
#define NET_KAFKA_KAFKARANGES_H

/* The partitions of a topic that a question is about. Pure. */

#include "net/kafka/kafkamap.h"

struct kafka_range { /* of partition ids; both inclusive */
	int32_t first, last;
};

struct kafkaranges { /* borrowed; sorted, without overlaps; empty: all partitions */
	const struct kafka_range *list;
	size_t count;
};

bool kafkaranges_have(struct kafkaranges r, int32_t id);
size_t kafkaranges_count(struct kafkaranges r, const struct kafkatopic *t); /* how many of the topic's partitions */

#endif
