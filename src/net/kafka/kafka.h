/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKA_H
#define NET_KAFKA_KAFKA_H

/*
 * What triggers ask of Kafka: a consumer group's committed offsets, and the end offsets of the
 * partitions. There is one cluster client per set of bootstrap servers, credentials and TLS
 * settings, with one connection per broker, shared by all users.
 *
 * A question runs in steps: metadata of its topics (cached for a minute), the group's committed
 * offsets from its coordinator, then end offsets from the leaders. In this order, messages consumed
 * meanwhile make the lag smaller, never negative. Questions that arrive within 50 ms are batched,
 * so that a thousand cost little more than a few: the first starts at once, the others when the 50
 * ms are over. A question waits only for brokers that it needs.
 *
 * If leaders or coordinators have moved, or a connection was lost, the question is retried a few
 * times, from the metadata on, before it fails. net/kafka/kafkacluster sends the requests. The
 * protocol (net/kafka/kafkamessages) is written by hand, as no C library both works on our event
 * loop and asks for the ends of many partitions at once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/kafka/kafkaendpoint.h"
#include "net/kafka/kafkaranges.h"
#include "net/loop.h"

struct kafka_call;
struct kafka_pool;
struct salter;
struct webtoken_store;

#define KAFKA_OFFSET_NONE (-1)

/*
 * Length limits in bytes that callers must keep, since requests batch the topics of all users.
 * Kafka's own limit for topics is 249, that of Azure Event Hubs 256; a group name is limited by the
 * protocol alone.
 */
#define KAFKA_TOPIC_MAX 256
#define KAFKA_GROUP_MAX INT16_MAX

/* Borrowed until the callback or kafka_cancel. */
struct kafka_question {
	const char *group;
	const char *const *topics; /* none: every topic in which the group has committed offsets */
	size_t topic_count;
	/* partitions to ask about, sorted, without overlaps; none: all */
	const struct kafka_range *ranges;
	size_t range_count;
	bool starts; /* also ask for the start of partitions without a committed offset */
};

/* Borrowed for the callback. Ordered by topic and partition. */
struct kafka_partition {
	const char *topic;
	int32_t id;
	int64_t committed; /* KAFKA_OFFSET_NONE: none */
	bool has_end;      /* the broker returned it; some brokers omit idle partitions */
	int64_t end;
	int64_t start; /* KAFKA_OFFSET_NONE: not asked for, or not returned */
};
struct kafka_answer {
	const struct kafka_partition *partitions;
	size_t count;
};

/*
 * tokens: for logins by an identity; salter: for SCRAM. Both are borrowed, and may be NULL in
 * tests.
 */
struct kafka_pool *kafka_pool_new(struct loop *loop, struct webtoken_store *tokens, struct salter *salter);
void kafka_pool_free(struct kafka_pool *p); /* calls end without callbacks; NULL is fine */

/* Either answer or err is NULL. Called exactly once, never before kafka_ask has returned. */
typedef void (*kafka_fn)(void *arg, const struct kafka_answer *answer, const struct err *err);
/* deadline_ms: loop clock. */
struct kafka_call *kafka_ask(struct kafka_pool *p, struct kafkaendpoint *e, const struct kafka_question *question,
	int64_t deadline_ms, kafka_fn fn, void *arg);
void kafka_cancel(struct kafka_call *call); /* no callback follows; NULL is fine */

#endif
