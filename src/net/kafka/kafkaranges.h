/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKARANGES_H
#define NET_KAFKA_KAFKARANGES_H

/* Which partitions of a topic matter to a question. Pure. */

#include "net/kafka/kafkamap.h"

struct kafka_range { /* of partitions; both inclusive */
	int32_t first, last;
};

struct kafkaranges { /* borrows; sorted, without overlaps; none: all */
	const struct kafka_range *list;
	size_t count;
};

bool kafkaranges_have(struct kafkaranges r, int32_t id);
size_t kafkaranges_count(struct kafkaranges r, const struct kafkatopic *t); /* how many of the topic's */

#endif
