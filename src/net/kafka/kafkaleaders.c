/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkaleaders.h"

#include <stdlib.h>

#include "base/mem.h"

static int compare_shares(const void *a, const void *b)
{
	const struct kafka_share *x = a, *y = b;
	int order = (x->leader > y->leader) - (x->leader < y->leader);

	return order ? order : (x->partition > y->partition) - (x->partition < y->partition);
}

struct kafka_share *kafkaleaders_sort(const struct kafka_place *places, size_t count)
{
	struct kafka_share *shares = mem_array(count, sizeof(*shares));

	for (size_t i = 0; i < count; i++)
		shares[i] = (struct kafka_share){ places[i].leader, (uint32_t)i };
	if (count > 1)
		qsort(shares, count, sizeof(*shares), compare_shares);
	return shares;
}
