/* SPDX-License-Identifier: Apache-2.0 */

/* Cached metadata: brokers by id and by address, and their limit. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/kafka/kafkamap.h"

static bool put(struct kafkamap *map, int32_t id, const char *host, uint16_t port)
{
	MEM_AUTO char *copy = mem_dup(host);

	return kafkamap_put_broker(map, &(struct kafkamessages_broker){ id, copy, port });
}

static int32_t at(const struct kafkamap *map, const char *address)
{
	const struct kafkamap_broker *b = kafkamap_broker_at(map, address);

	return b ? b->id : -1;
}

static void by_address(void **state)
{
	struct kafkamap map = { 0 };

	(void)state;
	assert_true(put(&map, 1, "a", 9092));
	assert_false(put(&map, 1, "a", 9092));
	assert_true(put(&map, 2, "::1", 9093));
	assert_int_equal(at(&map, "a:9092"), 1);
	assert_int_equal(at(&map, "[::1]:9093"), 2);
	assert_int_equal(at(&map, "a:9093"), -1);
	/* The broker moves. */
	assert_true(put(&map, 1, "b", 9092));
	assert_int_equal(at(&map, "a:9092"), -1);
	assert_int_equal(at(&map, "b:9092"), 1);
	assert_string_equal(kafkamap_broker(&map, 1)->host, "b");
	/*
	 * Two brokers at one address: one is found by it; removing the other leaves that as it is.
	 */
	assert_true(put(&map, 3, "b", 9092));
	assert_int_equal(at(&map, "b:9092"), 1);
	assert_true(put(&map, 3, "c", 9092));
	assert_int_equal(at(&map, "b:9092"), 1);
	assert_int_equal(at(&map, "c:9092"), 3);
	kafkamap_done(&map);
}

/* Each coordinator may add a broker. */
static void brokers_are_limited(void **state)
{
	struct kafkamap map = { 0 };

	(void)state;
	for (int32_t id = 0; id < KAFKAMAP_BROKERS_MAX; id++)
		assert_true(put(&map, id, "a", (uint16_t)(id + 1)));
	assert_false(put(&map, KAFKAMAP_BROKERS_MAX, "b", 1));
	assert_null(kafkamap_broker(&map, KAFKAMAP_BROKERS_MAX));
	assert_true(put(&map, 5, "b", 1)); /* a known one may still move */
	assert_int_equal(at(&map, "b:1"), 5);
	kafkamap_done(&map);
}

/* The next metadata replaces all. */
static void metadata(void **state)
{
	struct kafkamessages_broker brokers[] = { { 7, (char[]){ "x" }, 1 }, { 8, (char[]){ "x" }, 1 } };
	struct kafkamessages_metadata m = { .brokers = brokers, .broker_count = 2 };
	struct kafkamap map = { 0 };

	(void)state;
	put(&map, 1, "a", 9092);
	kafkamap_take(&map, &m, NULL, 0, 1);
	assert_null(kafkamap_broker(&map, 1));
	assert_int_equal(at(&map, "a:9092"), -1);
	assert_int_equal(at(&map, "x:1"), 7);
	m.broker_count = 0; /* ignored */
	kafkamap_take(&map, &m, NULL, 0, 1);
	assert_int_equal(at(&map, "x:1"), 7);
	kafkamap_done(&map);
}

/* A topic's metadata is good for a minute; a missing or stale topic is not. */
static void topics(void **state)
{
	static const char *const asked[] = { "absent", "t" };
	struct kafkamessages_topic said = { .name = mem_dup("t") };
	struct kafkamessages_metadata m = { .topics = &said, .topic_count = 1 };
	struct kafkamap map = { 0 };
	struct kafkatopic *t;

	(void)state;
	assert_false(kafkamap_is_good(kafkamap_topic(&map, "t"), 1000));
	kafkamap_take(&map, &m, asked, 2, 1000);
	t = kafkamap_topic(&map, "t");
	assert_true(kafkamap_is_good(t, 1000));
	assert_true(kafkamap_is_good(t, 1000 + 59999));
	assert_false(kafkamap_is_good(t, 1000 + 60000));
	assert_int_equal(kafkamap_topic(&map, "absent")->error, KAFKA_UNKNOWN_TOPIC);
	assert_false(kafkamap_is_good(kafkamap_topic(&map, "absent"), 1000));
	t->stale = true;
	assert_false(kafkamap_is_good(t, 1000));
	kafkamap_forget_old(&map, 1000 + KAFKAMAP_FORGET_MS);
	assert_non_null(kafkamap_topic(&map, "t"));
	kafkamap_forget_old(&map, 1001 + KAFKAMAP_FORGET_MS);
	assert_null(kafkamap_topic(&map, "t"));
	kafkamap_done(&map);
}

/* Beyond the share nothing is cached; forgotten topics give their share back. */
static void shares(void **state)
{
	struct shares known = { .total = 1000, .few = 0 }, brokers = { .total = 100, .few = 0 };
	struct kafkamap map = { .known = &known, .known_brokers = &brokers, .namespace_ = "shop" };
	static const char *const asked[] = { "a", "b" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct kafkamessages_topic *said = mem_array(2, sizeof(*said));
		struct kafkamessages_metadata m = { .topics = said, .topic_count = 2 };

		for (int t = 0; t < 2; t++)
			said[t] = (struct kafkamessages_topic){ .name = mem_dup(asked[t]),
				.partitions = mem_array(200, sizeof(*said->partitions)),
				.count = 200 };
		kafkamap_take(&map, &m, asked, 2, 1000 + i);
		kafkamessages_metadata_done(&m);
		/* A namespace that is alone gets three eighths, 375; each topic counts as 32. */
		assert_int_equal(kafkamap_topic(&map, "a")->count, 200);
		assert_true(kafkamap_is_good(kafkamap_topic(&map, "a"), 1000 + i));
		assert_int_equal(kafkamap_topic(&map, "b")->count, 0);
		assert_true(kafkamap_topic(&map, "b")->too_many);
		assert_false(kafkamap_is_good(kafkamap_topic(&map, "b"), 1000 + i));
		assert_int_equal(known.taken, 232);
	}
	for (int32_t id = 0; id < 100; id++)
		assert_int_equal(put(&map, id, "h", 1), id < 37);
	assert_true(map.too_many_brokers);
	assert_int_equal(brokers.taken, 37);
	kafkamap_done(&map);
	assert_int_equal(known.taken + brokers.taken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_address),
		cmocka_unit_test(brokers_are_limited),
		cmocka_unit_test(metadata),
		cmocka_unit_test(topics),
		cmocka_unit_test(shares),
	};

	return cmocka_run_group_tests_name("net/kafka/kafkamap", tests, NULL, NULL);
}
