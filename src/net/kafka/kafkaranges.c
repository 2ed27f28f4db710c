/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkaranges.h"

bool kafkaranges_have(struct kafkaranges r, int32_t id)
{
	size_t low = 0, high = r.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (id >= r.list[middle].first && id <= r.list[middle].last)
			return true;
		if (id > r.list[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return r.count == 0;
}

size_t kafkaranges_count(struct kafkaranges r, const struct kafkatopic *t)
{
	size_t count = 0;

	for (size_t i = 0; r.count > 0 && i < t->count; i++)
		count += kafkaranges_have(r, t->partitions[i].id);
	return r.count > 0 ? count : t->count;
}
