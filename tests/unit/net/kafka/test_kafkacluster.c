/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of one cluster, their waiters, and what a failure means. */
#include "../fixture.h"

#include <stdio.h>

#include "base/mem.h"
#include "fakebrokers.h"
#include "net/kafka/kafkacluster.h"
#include "net/kafka/kafkashares.h"

#define DEADLINE_MS 20000

static struct {
	struct fixture *f;
	struct fakebrokers brokers;
	struct kafkashares shares;
	struct kafkaendpoint *endpoint;
	struct kafkacluster *cluster;
} w;

static int setup(void **state)
{
	char address[64];
	const char *servers[] = { address };

	memset(&w, 0, sizeof(w));
	if (fixture_setup(state) < 0)
		return -1;
	w.f = *state;
	fakebrokers_start(&w.brokers, w.f->loop);
	snprintf(address, sizeof(address), "127.0.0.1:%u", w.brokers.brokers[0].port);
	w.endpoint = kafkaendpoint_new(&(struct kafkaendpoint_config){ .servers = servers, .count = 1 }, NULL);
	assert_non_null(w.endpoint);
	kafkashares_init(&w.shares);
	w.cluster = kafkacluster_new(&(struct kafkalink_terms){ .loop = w.f->loop }, w.endpoint, &w.shares);
	return 0;
}

static int teardown(void **state)
{
	kafkacluster_free(w.cluster);
	endpoint_unref(w.endpoint);
	fakebrokers_end(&w.brokers);
	return fixture_teardown(state);
}

struct waiting {
	struct kafkawaiter waiter;
	int times;
	bool answered;
	struct err err;
	enum kafkacluster_failure failure;
};

static void on_end(struct kafkawaiter *waiter, const struct kafkamessages_offsets *answer, const struct err *err,
	enum kafkacluster_failure failure)
{
	struct waiting *one = waiter->arg;

	one->times++;
	one->answered = answer != NULL;
	one->err = err ? *err : (struct err){ 0 };
	one->failure = failure;
}

static int64_t deadline(void)
{
	return loop_now_ms(w.f->loop) + DEADLINE_MS;
}

static struct kafkawaiter *begun(struct waiting *one)
{
	*one = (struct waiting){ .waiter = { .fn = on_end, .arg = one } };
	return &one->waiter;
}

static void describe(struct waiting *one)
{
	kafkacluster_describe(w.cluster, (const char *[]){ "t" }, 1, deadline(), begun(one));
	assert_int_equal(one->times, 0);
}

static void ask_committed(struct waiting *one, const char *group)
{
	kafkacluster_committed(w.cluster, group, NULL, 0, deadline(), begun(one));
	assert_int_equal(one->times, 0);
}

static void end_of(struct waiting *one)
{
	UNTIL(w.f, one->times);
	assert_int_equal(one->times, 1);
	assert_null(one->waiter.batch);
}

static void one_request_for_all_of_a_turn(void **state)
{
	struct waiting a[3], b[3];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		describe(&a[i]);
	for (size_t i = 0; i < 3; i++)
		ask_committed(&b[i], i < 2 ? "g" : "h");
	for (size_t i = 0; i < 3; i++) {
		end_of(&a[i]);
		end_of(&b[i]);
		assert_int_equal(a[i].err.kind, ERR_NONE);
		assert_false(a[i].answered); /* it is in the map */
		assert_true(b[i].answered);
	}
	assert_non_null(kafkamap_topic(kafkacluster_map(w.cluster), "t"));
	assert_int_equal(fakebrokers_asked(&w.brokers, FAKE_METADATA), 1);
	assert_int_equal(fakebrokers_asked(&w.brokers, FAKE_COORDINATOR), 2);
	assert_int_equal(fakebrokers_asked(&w.brokers, FAKE_COMMITTED), 2);
}

/* A batch ends with its last waiter; until then the others are answered. */
static void leaving(void **state)
{
	struct waiting a, b, alone;

	(void)state;
	describe(&a);
	describe(&b);
	ask_committed(&alone, "g");
	kafkacluster_leave(&a.waiter);
	kafkacluster_leave(&alone.waiter);
	kafkacluster_leave(&alone.waiter); /* idle: nothing */
	end_of(&b);
	assert_int_equal(a.times + alone.times, 0);
	assert_int_equal(fakebrokers_asked(&w.brokers, FAKE_COORDINATOR), 0);
}

static void a_coordinator_is_kept_until_it_is_forgotten(void **state)
{
	struct waiting one;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		ask_committed(&one, "g");
		end_of(&one);
		assert_int_equal(fakebrokers_asked(&w.brokers, FAKE_COORDINATOR), i < 2 ? 1 : 2);
		if (i == 1)
			kafkacluster_forget_coordinator(w.cluster, "g");
	}
	kafkacluster_forget_coordinator(w.cluster, "unknown");
}

/* Whether a retry may help: not after a refusal, but where the coordinator has moved. */
static void failures_of_a_group(void **state)
{
	static const struct {
		int16_t code;
		enum err_kind kind;
		enum kafkacluster_failure failure;
	} rows[] = {
		{ 30, ERR_DENIED, KAFKACLUSTER_FINAL },    /* GROUP_AUTHORIZATION_FAILED */
		{ 16, ERR_TEMPORARY, KAFKACLUSTER_MOVED }, /* NOT_COORDINATOR */
	};
	struct waiting one;

	(void)state;
	for (size_t i = 0; i < 2 * MEM_COUNT(rows); i++) {
		bool finding = i >= MEM_COUNT(rows);

		w.brokers.group_error = w.brokers.coordinator_error = rows[i % 2].code;
		w.brokers.group_errors = !finding;
		w.brokers.coordinator_errors = finding;
		kafkacluster_forget_coordinator(w.cluster, "g");
		ask_committed(&one, "g");
		end_of(&one);
		assert_int_equal(one.err.kind, rows[i % 2].kind);
		assert_int_equal(one.failure, rows[i % 2].failure);
		assert_non_null(strstr(one.err.msg, "group g: "));
	}
}

static void a_broker_that_is_not_named(void **state)
{
	struct kafka_partition_ref ref = { .partition = 0 };
	struct waiting one;

	(void)state;
	describe(&one);
	end_of(&one);
	ref.topic = kafkamap_topic(kafkacluster_map(w.cluster), "t");
	kafkacluster_offsets(w.cluster, 77, KAFKA_END, &ref, 1, deadline(), begun(&one));
	end_of(&one);
	assert_int_equal(one.failure, KAFKACLUSTER_MOVED);
	assert_non_null(strstr(one.err.msg, "broker 77 is not among the brokers"));
	assert_int_equal(fakebrokers_asked(&w.brokers, FAKE_OFFSETS), 0);
}

/* No callback follows, and the waiters are idle: their owners may leave later. */
static void the_end_with_waiters(void **state)
{
	struct waiting a, b, c;

	(void)state;
	w.brokers.silent_about = FAKE_METADATA;
	describe(&a);
	UNTIL(w.f, fakebrokers_asked(&w.brokers, FAKE_METADATA) == 1);
	describe(&b);
	ask_committed(&c, "g");
	kafkacluster_free(w.cluster);
	w.cluster = NULL;
	assert_int_equal(a.times + b.times + c.times, 0);
	kafkacluster_leave(&a.waiter);
	kafkacluster_leave(&b.waiter);
	kafkacluster_leave(&c.waiter);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(one_request_for_all_of_a_turn),
		TEST(leaving),
		TEST(a_coordinator_is_kept_until_it_is_forgotten),
		TEST(failures_of_a_group),
		TEST(a_broker_that_is_not_named),
		TEST(the_end_with_waiters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
