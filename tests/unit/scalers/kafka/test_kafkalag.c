/* SPDX-License-Identifier: Apache-2.0 */

/* KEDA's rules for a lag (doc/keda.md 8.11, steps 4 and 5), as tables. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "scalers/kafka/kafkalag.h"

#define NONE KAFKA_OFFSET_NONE
#define AT(c, e)                                                                                                       \
	{                                                                                                              \
		"t", 0, (c), true, (e), NONE                                                                           \
	}
#define SINCE(s, e)                                                                                                    \
	{                                                                                                              \
		"t", 0, NONE, true, (e), (s)                                                                           \
	}
#define IDLE(c)                                                                                                        \
	{                                                                                                              \
		"t", 0, (c), false, 0, NONE                                                                            \
	}
#define PLENTY (INT64_MAX - 3)

static const struct {
	const char *what;
	struct kafkalag_rules rules;
	struct kafka_partition partitions[12];
	size_t count;
	bool stuck[12];
	int64_t value, load;
} rows[] = {
	{ "end less committed", { .threshold = 10 }, { AT(3, 10), AT(10, 10), AT(0, 5) }, 3, { 0 }, 12, 12 },
	{ "no partitions", { .threshold = 10 }, { IDLE(0) }, 0, { 0 }, 0, 0 },
	{ "never below 0", { .threshold = 10 }, { AT(100, 10), AT(3, 10) }, 2, { 0 }, 7, 7 },
	{ "latest: 1", { .threshold = 10 }, { AT(NONE, 50), AT(NONE, 0) }, 2, { 0 }, 2, 2 },
	{ "latest, to zero", { .threshold = 10, .zero_on_invalid = true }, { AT(NONE, 50), AT(3, 10) }, 2, { 0 }, 7,
		7 },
	{ "earliest: from the start", { .threshold = 10, .from_start = true, .idle = true }, { SINCE(40, 50) }, 1,
		{ 0 }, 10, 10 },
	{ "earliest: start unknown", { .threshold = 10, .from_start = true, .idle = true }, { SINCE(NONE, 50) }, 1,
		{ 0 }, 50, 50 },
	{ "earliest, to zero", { .threshold = 10, .from_start = true, .zero_on_invalid = true }, { SINCE(0, 50) }, 1,
		{ 0 }, 0, 0 },
	{ "what the broker leaves out", { .threshold = 10 }, { IDLE(3), IDLE(NONE), AT(3, 10) }, 3, { 0 }, 7, 7 },
	/* Bounds; the load is not bounded. */
	{ "no more replicas than partitions", { .threshold = 10 }, { AT(0, 1000), AT(0, 0) }, 2, { 0 }, 20, 1000 },
	{ "just not bounded", { .threshold = 10 }, { AT(0, 29), AT(0, 0) }, 2, { 0 }, 29, 29 },
	{ "idle consumers", { .threshold = 10, .idle = true }, { AT(0, 1000), AT(0, 0) }, 2, { 0 }, 1000, 1000 },
	{ "partitions with lag", { .threshold = 10, .only_lagging = true }, { AT(0, 1000), AT(0, 0) }, 2, { 0 }, 10,
		1000 },
	{ "left out ones are no partitions", { .threshold = 10 }, { AT(0, 1000), IDLE(0) }, 2, { 0 }, 10, 1000 },
	{ "evenly: 2 of 4", { .threshold = 10, .even = true }, { AT(0, 12), AT(0, 0), AT(0, 0), AT(0, 0) }, 4, { 0 },
		20, 12 },
	{ "evenly: 4, not 3, of 4", { .threshold = 10, .even = true }, { AT(0, 25), AT(0, 0), AT(0, 0), AT(0, 0) }, 4,
		{ 0 }, 40, 25 },
	{ "evenly: exactly", { .threshold = 10, .even = true }, { AT(0, 20), AT(0, 0), AT(0, 0), AT(0, 0) }, 4, { 0 },
		20, 20 },
	{ "evenly: all", { .threshold = 10, .even = true }, { AT(0, 500), AT(0, 0), AT(0, 0) }, 3, { 0 }, 30, 500 },
	{ "evenly: nothing, one replica", { .threshold = 10, .even = true }, { AT(0, 0), AT(0, 0) }, 2, { 0 }, 10, 0 },
	{ "evenly, although idle ones are allowed", { .threshold = 10, .even = true, .idle = true },
		{ AT(0, 500), AT(0, 0), AT(0, 0) }, 3, { 0 }, 30, 500 },
	{ "evenly, and no more than have a lag", { .threshold = 10, .even = true, .only_lagging = true },
		{ AT(0, 25), AT(0, 0), AT(0, 0), AT(0, 0) }, 4, { 0 }, 10, 25 },
	{ "evenly: no partitions", { .threshold = 10, .even = true }, { IDLE(0) }, 0, { 0 }, 0, 0 },
	/* Stuck partitions count for the load only, and not as partitions with a lag. */
	{ "stuck", { .threshold = 10 }, { AT(0, 7), AT(0, 5) }, 2, { true }, 5, 12 },
	{ "stuck, no lag", { .threshold = 10, .only_lagging = true }, { AT(0, 700), AT(0, 500) }, 2, { true }, 10,
		1200 },
	/* Impossible offsets. */
	{ "too much", { .threshold = 10, .idle = true }, { AT(0, PLENTY), AT(0, PLENTY) }, 2, { 0 }, INT64_MAX,
		INT64_MAX },
	{ "too much, bounded", { .threshold = PLENTY }, { AT(0, PLENTY), AT(0, PLENTY) }, 2, { 0 }, INT64_MAX,
		INT64_MAX },
	{ "too much, evenly", { .threshold = PLENTY, .even = true }, { AT(0, PLENTY), AT(0, 9), AT(0, 0) }, 3, { 0 },
		INT64_MAX, INT64_MAX },
	{ "nonsense", { .threshold = 10 }, { AT(INT64_MAX, INT64_MIN), AT(5, INT64_MIN) }, 2, { 0 }, 0, 0 },
};

static void lags(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct kafkalag lag = kafkalag_count(&rows[i].rules, rows[i].partitions, rows[i].stuck, rows[i].count);

		if (lag.value != rows[i].value || lag.load != rows[i].load)
			fail_msg("%s: %lld, %lld", rows[i].what, (long long)lag.value, (long long)lag.load);
	}
}

static void limitations(void **state)
{
	static const struct {
		const char *text;
		size_t count;
		struct kafka_range ranges[4];
	} good[] = {
		{ "3", 1, { { 3, 3 } } },
		{ "1,3-5", 2, { { 1, 1 }, { 3, 5 } } },
		{ " 1 , 3 - 5 ,0", 2, { { 0, 1 }, { 3, 5 } } },
		{ "7,5-9,6,1-5,20", 2, { { 1, 9 }, { 20, 20 } } },
		{ "3-3,2147483646-2147483647,2147483647,5", 3, { { 3, 3 }, { 5, 5 }, { INT32_MAX - 1, INT32_MAX } } },
		{ "2147483647", 1, { { INT32_MAX, INT32_MAX } } },
	};
	static const struct {
		const char *text, *error;
	} bad[] = {
		{ "x", "invalid partition limitation: \"x\"" },
		{ "1,,2", "invalid partition limitation: \"\"" },
		{ "5-3", "invalid partition limitation range: \"5-3\"" },
		{ "1-2-3", "invalid partition limitation range: \"1-2-3\"" },
		{ "-1", "invalid partition limitation range" },
		{ "2147483648", "invalid partition limitation" },
		{ "99999999999", "invalid partition limitation" },
		{ "1.5", "invalid partition limitation" },
	};
	struct kafka_range *ranges;
	size_t count;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(good); i++) {
		struct err err = { 0 };

		if (kafkalag_read_ranges(good[i].text, &ranges, &count, &err))
			fail_msg("%s: %s", good[i].text, err.msg);
		assert_int_equal(count, good[i].count);
		assert_memory_equal(ranges, good[i].ranges, count * sizeof(*ranges));
		mem_free_ptr(&ranges);
	}
	for (size_t i = 0; i < MEM_COUNT(bad); i++) {
		struct err err = { 0 };

		assert_int_equal(kafkalag_read_ranges(bad[i].text, &ranges, &count, &err), -1);
		assert_null(ranges);
		if (!strstr(err.msg, bad[i].error))
			fail_msg("%s: %s", bad[i].text, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lags),
		cmocka_unit_test(limitations),
	};

	return cmocka_run_group_tests_name("scalers/kafka/kafkalag", tests, NULL, NULL);
}
