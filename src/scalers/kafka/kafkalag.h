/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_KAFKA_KAFKALAG_H
#define SCALERS_KAFKA_KAFKALAG_H

/*
 * KEDA's rules for the lag of a consumer group: how each partition counts, how the sum is bounded
 * by the number of partitions (more consumers than partitions would be idle), and which partitions
 * a trigger is about. Pure.
 *
 * Unlike in KEDA, no partition counts less than 0, which would offset the lag of others.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/kafka/kafka.h"

struct kafkalag_rules {
	int64_t threshold; /* lag per replica; above 0 */
	/* For a partition without a committed offset: */
	bool from_start;      /* offsetResetPolicy earliest: all its messages count; otherwise it counts 1 */
	bool zero_on_invalid; /* it counts 0 */
	/* Bounds: */
	bool idle;         /* more replicas than partitions are allowed */
	bool only_lagging; /* at most one replica per partition with a lag */
	bool even;         /* the number of replicas divides that of the partitions */
};

struct kafkalag {
	int64_t value; /* for the HPA */
	int64_t load;  /* the whole lag, for the activation */
};

/* stuck: per partition, whether the value excludes its lag; NULL: never. */
struct kafkalag kafkalag_count(const struct kafkalag_rules *rules, const struct kafka_partition *partitions,
	const bool *stuck, size_t count);

/* Parses "1,3-5"; the caller owns *out. ERR_INVALID with KEDA's text. */
#define KAFKALAG_RANGES_MAX 1000
int kafkalag_read_ranges(const char *text, struct kafka_range **out, size_t *count, struct err *err);

#endif
