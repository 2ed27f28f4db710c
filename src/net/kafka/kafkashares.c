/* SPDX-License-Identifier: Apache-2.0 */
#include "net/kafka/kafkashares.h"

#include "base/mem.h"

void kafkashares_init(struct kafkashares *s)
{
	*s = (struct kafkashares){
		.asked = { .total = KAFKASHARES_ASKED, .few = KAFKASHARES_ASKED_FEW },
		.known = { .total = KAFKASHARES_KNOWN, .few = KAFKASHARES_KNOWN_FEW },
		.brokers = { .total = KAFKASHARES_BROKERS, .few = KAFKASHARES_BROKERS_FEW },
	};
}

/* No figures that change: the same reason must always have the same text. */
static void refuse_share(const char *namespace_, const char *what, int total, const char *advice, struct err *err)
{
	MEM_AUTO char *who = *namespace_ ? mem_printf("namespace \"%s\" has used its", namespace_)
					 : mem_dup("several namespaces together have used their");

	err_set(err, ERR_TEMPORARY, "%s share of the %d %s; %s", who, total, what, advice);
}

void kafkashares_refuse_query(const char *namespace_, struct err *err)
{
	refuse_share(namespace_, "partitions that may be asked about at a time", KAFKASHARES_ASKED,
		"ask about fewer topics, limit the partitions (partitionLimitation), or poll less often", err);
}

void kafkashares_refuse_topic(const char *namespace_, struct err *err)
{
	refuse_share(namespace_, "partitions whose metadata may be cached", KAFKASHARES_KNOWN,
		"ask about fewer topics, or topics with fewer partitions", err);
}

void kafkashares_refuse_broker(const char *namespace_, struct err *err)
{
	refuse_share(namespace_, "brokers that may be cached and connected to", KAFKASHARES_BROKERS,
		"ask fewer clusters, and each with the same bootstrapServers and credentials", err);
}
