/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/kafka/kafkalag.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/params.h"

/* Offsets come from the network: overflows saturate. */
static int64_t sum(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_add_overflow(a, b, &out) ? INT64_MAX : out;
}

static int64_t product(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

static int64_t distance(int64_t from, int64_t to)
{
	int64_t out;

	if (__builtin_sub_overflow(to, from, &out))
		return to > from ? INT64_MAX : 0;
	return out > 0 ? out : 0;
}

static int64_t lag_of(const struct kafkalag_rules *rules, const struct kafka_partition *p)
{
	if (p->committed != KAFKA_OFFSET_NONE)
		return distance(p->committed, p->end);
	if (rules->zero_on_invalid)
		return 0;
	if (!rules->from_start)
		return 1;
	return distance(p->start != KAFKA_OFFSET_NONE ? p->start : 0, p->end);
}

/*
 * The smallest divisor d of the number of partitions with threshold x d >= total; else all of them.
 */
static int64_t even_replicas(int64_t total, int64_t threshold, int64_t partitions)
{
	int64_t f = 1;

	while (f < partitions && (partitions % f != 0 || product(f, threshold) < total))
		f++;
	return partitions > 0 ? f : 0;
}

struct kafkalag kafkalag_count(const struct kafkalag_rules *rules, const struct kafka_partition *partitions,
	const bool *stuck, size_t count)
{
	struct kafkalag all = { 0, 0 };
	int64_t listed = 0, lagging = 0, bound;

	for (size_t i = 0; i < count; i++) {
		int64_t lag;

		/* The broker omits idle partitions, as Azure Event Hubs does. */
		if (!partitions[i].has_end)
			continue;
		listed++;
		lag = lag_of(rules, &partitions[i]);
		all.load = sum(all.load, lag);
		if (lag == 0 || (stuck && stuck[i]))
			continue;
		all.value = sum(all.value, lag);
		lagging++;
	}
	if (rules->idle && !rules->only_lagging && !rules->even)
		return all;
	if (rules->even)
		all.value = product(even_replicas(all.value, rules->threshold, listed), rules->threshold);
	bound = rules->only_lagging ? lagging : listed;
	if (all.value / rules->threshold > bound)
		all.value = product(bound, rules->threshold);
	return all;
}

/* ---- partitionLimitation ---- */

static bool read_id(const char *text, int32_t *out)
{
	MEM_AUTO char *plain = params_trimmed(text);
	char *end;
	long long value;

	if (!plain || plain[strspn(plain, "0123456789")] || strlen(plain) > 10)
		return false;
	value = strtoll(plain, &end, 10);
	*out = (int32_t)value;
	return value <= INT32_MAX;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct kafka_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Sorts the ranges and joins adjacent ones, as net/kafka requires. */
static size_t merge_ranges(struct kafka_range *ranges, size_t count)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (size_t i = 1; i < count; i++)
		if (ranges[i].first <= (int64_t)ranges[kept].last + 1)
			ranges[kept].last = ranges[i].last > ranges[kept].last ? ranges[i].last : ranges[kept].last;
		else
			ranges[++kept] = ranges[i];
	return kept + 1;
}

int kafkalag_read_ranges(const char *text, struct kafka_range **out, size_t *count, struct err *err)
{
	MEM_AUTO char *copy = mem_dup(text);
	char *rest = copy, *piece;

	*out = NULL;
	*count = 0;
	while ((piece = strsep(&rest, ",")) != NULL) {
		char *dash = strchr(piece, '-');
		struct kafka_range range;
		bool good;

		if (dash)
			*dash++ = '\0';
		good = read_id(piece, &range.first) && (dash ? read_id(dash, &range.last) : true);
		if (good && !dash)
			range.last = range.first;
		if (!good || range.first > range.last || *count == KAFKALAG_RANGES_MAX) {
			mem_free_ptr(out);
			return err_set_about(err, "partitionLimitation",
				"invalid partition limitation%s: \"%.40s%s%.40s\"", dash ? " range" : "", piece,
				dash ? "-" : "", dash ? dash : "");
		}
		*out = mem_resize(*out, *count + 1, sizeof(**out));
		(*out)[(*count)++] = range;
	}
	*count = merge_ranges(*out, *count);
	return 0;
}
