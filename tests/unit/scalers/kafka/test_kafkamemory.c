/* SPDX-License-Identifier: Apache-2.0 */

/* excludePersistentLag: partitions are stuck by polls, not by queries between them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/kafka/kafkamemory.h"

#define POLL_MS 30000

static struct scaler_sources sources;

/* Two partitions with these committed offsets, as "stuck" bits: 1 the first, 2 the second. */
static unsigned look(struct kafkamemory *m, const char *key, int64_t now_ms, int64_t a, int64_t b)
{
	const struct kafka_partition partitions[] = { { .topic = "t", .id = 0, .committed = a },
		{ .topic = "t", .id = 1, .committed = b } };
	bool stuck[2];

	kafkamemory_compare(m, key, "shop", POLL_MS, now_ms, partitions, 2, stuck);
	return (unsigned)stuck[0] | (unsigned)stuck[1] << 1;
}

static struct kafkamemory *begun(void)
{
	kafkamemory_part.begin(&sources);
	return sources.kafka_memory;
}

static void polls(void **state)
{
	struct kafkamemory *m = begun();

	(void)state;
	assert_int_equal(look(m, "g", 1000, 5, 7), 0);                /* never seen before */
	assert_int_equal(look(m, "g", 1000 + POLL_MS, 5, 8), 1);      /* the first has not moved */
	assert_int_equal(look(m, "g", 1000 + 2 * POLL_MS, 6, 8), 2);  /* the second */
	assert_int_equal(look(m, "g", 1000 + 3 * POLL_MS, 6, 8), 3);  /* both */
	assert_int_equal(look(m, "h", 1000 + 3 * POLL_MS, 6, 8), 0);  /* nothing is known of another group */
	assert_int_equal(look(m, "g", 1000 + 4 * POLL_MS, -1, 8), 2); /* no committed offsets any more */
	assert_int_equal(look(m, "g", 1000 + 5 * POLL_MS, 6, 8), 2);
	kafkamemory_part.end(&sources);
}

/* Extra queries do not make a healthy consumer that commits once a minute stuck. */
static void queries_between_polls(void **state)
{
	struct kafkamemory *m = begun();

	(void)state;
	assert_int_equal(look(m, "g", 1000, 5, 7), 0);
	assert_int_equal(look(m, "g", 1000 + POLL_MS / 2, 5, 7), 0);
	assert_int_equal(look(m, "g", 1000 + POLL_MS, 6, 7), 2);
	for (int i = 1; i < 5; i++) /* as at the poll, until the next one */
		assert_int_equal(look(m, "g", 1000 + POLL_MS + i * 5000, 6, 7), 2);
	/* A partition that moves meanwhile is no longer stuck. */
	assert_int_equal(look(m, "g", 1000 + POLL_MS + 20000, 6, 9), 0);
	/* A query slightly before the interval counts as a poll. */
	assert_int_equal(look(m, "g", 900 + 2 * POLL_MS, 6, 9), 1);
	kafkamemory_part.end(&sources);
}

/* So many partitions that a namespace has room for three such groups. */
#define MANY (KAFKAMEMORY_PARTITIONS_MAX / 8)

static bool all_stuck(struct kafkamemory *m, const char *key, const char *namespace_, int64_t now_ms)
{
	struct kafka_partition *partitions = mem_array(MANY, sizeof(*partitions));
	bool *stuck = mem_array(MANY, sizeof(*stuck)), all = true;

	for (size_t i = 0; i < MANY; i++)
		partitions[i] = (struct kafka_partition){ .topic = "t", .id = (int32_t)i, .committed = 1 };
	kafkamemory_compare(m, key, namespace_, POLL_MS, now_ms, partitions, MANY, stuck);
	for (size_t i = 0; i < MANY; i++)
		all = all && stuck[i];
	mem_free_ptr(&partitions);
	mem_free_ptr(&stuck);
	return all;
}

static void limits(void **state)
{
	struct kafkamemory *m = begun();
	char key[16];

	(void)state;
	assert_int_equal(look(m, "first", 1000, 5, 7), 0); /* of namespace "shop" */
	for (int i = 0; i < 4; i++) {
		snprintf(key, sizeof(key), "g%d", i);
		assert_false(all_stuck(m, key, "shop", 1000));
	}
	/* A few more than three are too many: the oldest is forgotten, and counts in full once. */
	assert_int_equal(look(m, "first", 1000 + POLL_MS, 5, 7), 0);
	assert_true(all_stuck(m, "g3", "shop", 1000 + POLL_MS));
	/* Groups not asked about for an hour are forgotten, too. */
	assert_int_equal(look(m, "other", 1000 + 2 * KAFKAMEMORY_FORGET_MS, 5, 7), 0);
	assert_false(all_stuck(m, "g3", "shop", 1000 + 2 * KAFKAMEMORY_FORGET_MS + POLL_MS));
	kafkamemory_part.end(&sources);
}

/* One namespace at its limit does not displace another's offsets. */
static void namespaces(void **state)
{
	struct kafkamemory *m = begun();
	char key[16];

	(void)state;
	assert_int_equal(look(m, "first", 1000, 5, 7), 0); /* of namespace "shop" */
	assert_false(all_stuck(m, "mine", "shop", 1000));
	for (int i = 0; i < 20; i++) {
		snprintf(key, sizeof(key), "g%d", i);
		assert_false(all_stuck(m, key, "noisy", 1000));
	}
	assert_int_equal(look(m, "first", 1000 + POLL_MS, 5, 7), 3);
	assert_true(all_stuck(m, "mine", "shop", 1000 + POLL_MS));
	assert_true(all_stuck(m, "g19", "noisy", 1000 + POLL_MS));
	kafkamemory_part.end(&sources);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(polls),
		cmocka_unit_test(queries_between_polls),
		cmocka_unit_test(limits),
		cmocka_unit_test(namespaces),
	};

	return cmocka_run_group_tests_name("scalers/kafka/kafkamemory", tests, NULL, NULL);
}
