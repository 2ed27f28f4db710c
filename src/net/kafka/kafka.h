/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKA_H
#define NET_KAFKA_KAFKA_H

/*
 * Kafka as triggers ask it: which offsets has a consumer group committed, and where do the
 * partitions end? One cluster per bootstrap servers, credentials and TLS settings, with one
 * connection per broker, shared by all that use it.
 *
 * A question goes: metadata of its topics (known for a minute), committed offsets of its group,
 * from the group's coordinator, then the ends, from the leaders: in this order, so that what is
 * consumed meanwhile makes the lag smaller and never negative. Questions that come within 50 ms are
 * put together, so that a thousand cost as much as a few: the first of them goes at once, the
 * others wait for the rest of that time. A question keeps pace with its own brokers only; one that
 * does not answer keeps nobody waiting who does not need it.
 *
 * When leaders or coordinators have moved, or a connection was lost, the question is asked again,
 * from the metadata on; a failure after that is the question's. All of it is done by
 * net/kafka/kafkacluster; the protocol is in net/kafka/kafkamessages, by hand, as no library for C
 * both keeps out of the loop's way and asks for ends of many partitions at once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/kafka/kafkaendpoint.h"
#include "net/loop.h"

struct kafka_call;
struct kafka_pool;
struct salter;
struct webtoken_store;

#define KAFKA_OFFSET_NONE (-1)

struct kafka_range { /* of partitions; both inclusive */
	int32_t first, last;
};

/*
 * Bytes of a name, by which callers keep: a request tells of the topics of all who ask. Kafka's own
 * rule for topics is 249, that of Azure Event Hubs 256; for groups there is what the protocol can
 * say.
 */
#define KAFKA_TOPIC_MAX 256
#define KAFKA_GROUP_MAX INT16_MAX

/* Borrowed until the callback, or the cancel. */
struct kafka_question {
	const char *group;
	const char *const *topics; /* none: every topic in which the group has a committed offset */
	size_t topic_count;
	/* of the partitions that matter, sorted, without overlaps; none: all */
	const struct kafka_range *ranges;
	size_t range_count;
	bool starts; /* where nothing is committed, also where the partition begins */
};

/* Borrowed for the callback. In the order of topics and partitions. */
struct kafka_partition {
	const char *topic;
	int32_t id;
	int64_t committed; /* KAFKA_OFFSET_NONE: nothing */
	bool has_end;      /* the broker told it: some leave out what is idle */
	int64_t end;
	int64_t start; /* KAFKA_OFFSET_NONE: not asked for, or not told */
};
struct kafka_answer {
	const struct kafka_partition *partitions;
	size_t count;
};

/* For logins by an identity, and by SCRAM; borrowed for the pool's life; may be NULL in tests. */
struct kafka_pool *kafka_pool_new(struct loop *loop, struct webtoken_store *tokens, struct salter *salter);
void kafka_pool_free(struct kafka_pool *p);                /* questions end without callbacks; NULL is fine */
size_t kafka_pool_connections(const struct kafka_pool *p); /* open or being opened */

/* Either answer or err is NULL. Exactly once, never before kafka_ask has returned. */
typedef void (*kafka_fn)(void *arg, const struct kafka_answer *answer, const struct err *err);
/* deadline_ms: loop clock. */
struct kafka_call *kafka_ask(struct kafka_pool *p, struct kafkaendpoint *e, const struct kafka_question *question,
	int64_t deadline_ms, kafka_fn fn, void *arg);
void kafka_cancel(struct kafka_call *call); /* no callback any more; NULL is fine */

#endif
