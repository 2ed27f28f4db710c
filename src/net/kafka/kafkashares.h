/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKASHARES_H
#define NET_KAFKA_KAFKASHARES_H

/*
 * Limits over all clusters, in shares by namespace (base/shares): a cluster may name 100,000
 * partitions and 2,000 brokers, and a tenant may have a thousand clusters, or one under a thousand
 * names. The largest cluster fits into one namespace's share.
 */

#include "base/err.h"
#include "base/shares.h"

/* Partitions asked about at a time: about 100 bytes each. */
#define KAFKASHARES_ASKED     300000
#define KAFKASHARES_ASKED_FEW 10000
/* Cached partitions: 8 bytes each. A topic counts as KAFKASHARES_TOPIC partitions. */
#define KAFKASHARES_KNOWN     1000000
#define KAFKASHARES_KNOWN_FEW 20000
#define KAFKASHARES_TOPIC     32
/* Cached brokers, and links to them, open or closed: a kilobyte each. */
#define KAFKASHARES_BROKERS     12000
#define KAFKASHARES_BROKERS_FEW 50

struct kafkashares {
	struct shares asked, known, brokers;
};
void kafkashares_init(struct kafkashares *s);

/* Each sets err to the limit that was reached, and what to do. namespace_: "" for several. */
void kafkashares_refuse_query(const char *namespace_, struct err *err);
void kafkashares_refuse_topic(const char *namespace_, struct err *err);
void kafkashares_refuse_broker(const char *namespace_, struct err *err);

#endif
