/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKALAG_H
#define SCALERS_KAFKA_KAFKALAG_H

/*
 * KEDA's rules for the lag of a consumer group: what each partition counts, how the sum is bounded
 * by the number of partitions, as more consumers than partitions have nothing to do, and which
 * partitions a trigger is about. Pure.
 *
 * Unlike KEDA, a partition never counts less than 0, which its other ones would make up for.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/kafka/kafka.h"

struct kafkalag_rules {
	int64_t threshold; /* above 0: the lag per replica */
	/* Of a partition in which nothing is committed: */
	bool from_start;      /* offsetResetPolicy earliest: all of it counts; else 1 */
	bool zero_on_invalid; /* it counts 0 */
	/* Bounds: */
	bool idle;         /* more replicas than partitions are fine */
	bool only_lagging; /* no more replicas than partitions with a lag */
	bool even;         /* a number of replicas that divides that of the partitions */
};

struct kafkalag {
	int64_t value; /* for the HPA */
	int64_t load;  /* all that waits, for the activation */
};

/* stuck: for each partition whether its lag is left out of the value; NULL: none is. */
struct kafkalag kafkalag_count(const struct kafkalag_rules *rules, const struct kafka_partition *partitions,
	const bool *stuck, size_t count);

/* "1,3-5"; the caller owns *out. ERR_INVALID with KEDA's words. */
#define KAFKALAG_RANGES_MAX 1000
int kafkalag_read_ranges(const char *text, struct kafka_range **out, size_t *count, struct err *err);

#endif
