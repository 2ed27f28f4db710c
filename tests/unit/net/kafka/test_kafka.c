/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Questions to a cluster of fake brokers: batching, moved leaders and coordinators, malformed
 * answers.
 */

#include "../fixture.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "fakebrokers.h"
#include "net/kafka/kafka.h"
#include "net/kafka/kafkaendpoint.h"

#define DEADLINE_MS 3000

struct world {
	struct fixture *f;
	struct fakebrokers brokers;
	struct kafka_pool *pool;
	struct kafkaendpoint *endpoint;
	int64_t deadline_ms; /* of a question */
};

static struct kafkaendpoint *endpoint_of(const char *const *servers, size_t count)
{
	struct err err = { 0 };
	struct kafkaendpoint *e =
		kafkaendpoint_new(&(struct kafkaendpoint_config){ .servers = servers, .count = count }, &err);

	if (!e)
		fail_msg("%s", err.msg);
	return e;
}

static int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	char address[64];
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	w->deadline_ms = DEADLINE_MS;
	fakebrokers_start(&w->brokers, w->f->loop);
	w->pool = kafka_pool_new(w->f->loop, NULL, NULL);
	snprintf(address, sizeof(address), "127.0.0.1:%u", w->brokers.brokers[0].port);
	w->endpoint = endpoint_of((const char *[]){ address }, 1);
	*state = w;
	return 0;
}

static int world_teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	kafka_pool_free(w->pool);
	endpoint_unref(w->endpoint);
	fakebrokers_end(&w->brokers);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

/* ---- Asking ---- */

struct outcome {
	int times;
	size_t count;
	int64_t lag;
	struct kafka_partition partitions[FAKE_PARTITIONS];
	struct err err;
};

static void on_answer(void *arg, const struct kafka_answer *answer, const struct err *err)
{
	struct outcome *o = arg;

	o->times++;
	o->count = 0;
	o->lag = 0;
	if (err) {
		o->err = *err;
		return;
	}
	o->err.kind = ERR_NONE;
	o->count = answer->count;
	for (size_t i = 0; i < answer->count; i++) {
		o->partitions[i] = answer->partitions[i];
		o->lag += answer->partitions[i].end - answer->partitions[i].committed;
	}
}

static const char *const topics[] = { "t" };
static const struct kafka_question about_t = { .group = "g", .topics = topics, .topic_count = 1 };

static struct kafka_call *ask(struct world *w, const struct kafka_question *q, struct outcome *o)
{
	return kafka_ask(w->pool, w->endpoint, q, loop_now_ms(w->f->loop) + w->deadline_ms, on_answer, o);
}

static void ask_and_wait(struct world *w, const struct kafka_question *q, struct outcome *o)
{
	*o = (struct outcome){ 0 };
	ask(w, q, o);
	assert_int_equal(o->times, 0);
	UNTIL(w->f, o->times);
	assert_int_equal(o->times, 1);
}

static void assert_lag(struct world *w, int64_t lag)
{
	struct outcome o;

	ask_and_wait(w, &about_t, &o);
	if (o.err.kind)
		fail_msg("%s", o.err.msg);
	assert_int_equal(o.lag, lag);
}

static void assert_error(struct world *w, const struct kafka_question *q, const char *words)
{
	struct outcome o;

	ask_and_wait(w, q, &o);
	if (!o.err.kind || !strstr(o.err.msg, words))
		fail_msg("%d: %s", o.err.kind, o.err.msg);
}

/* ---- Tests ---- */

static void lag_of_a_group(void **state)
{
	struct world *w = *state;
	struct outcome o;

	ask_and_wait(w, &about_t, &o);
	assert_int_equal(o.count, 4);
	for (int32_t p = 0; p < 4; p++) {
		assert_int_equal(o.partitions[p].id, p);
		assert_int_equal(o.partitions[p].committed, 90 + p);
		assert_true(o.partitions[p].has_end);
		assert_int_equal(o.partitions[p].end, 100);
		assert_int_equal(o.partitions[p].start, KAFKA_OFFSET_NONE);
	}
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_METADATA), 1);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_COORDINATOR), 1);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_COMMITTED), 1);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_OFFSETS), 2);
	/* Cached metadata is not fetched again; there is one connection per broker. */
	assert_lag(w, 34);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_METADATA), 1);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_COORDINATOR), 1);
	assert_int_equal(w->brokers.brokers[0].accepted, 1);
	assert_int_equal(w->brokers.brokers[1].accepted, 1);
	assert_int_equal(fixture_descriptors(w->f), 2);
}

/* 100 questions about 10 groups, all at once. */
static void questions_are_batched(void **state)
{
	static struct outcome outcomes[100];
	static char groups[10][8];
	struct kafka_question questions[10];
	struct world *w = *state;
	int told = 0;

	for (size_t i = 0; i < 10; i++) {
		snprintf(groups[i], sizeof(groups[i]), "g%zu", i);
		questions[i] = (struct kafka_question){ .group = groups[i], .topics = topics, .topic_count = 1 };
	}
	memset(outcomes, 0, sizeof(outcomes));
	for (size_t i = 0; i < 100; i++)
		ask(w, &questions[i % 10], &outcomes[i]);
	UNTIL(w->f, (told = 0, ({
		for (size_t i = 0; i < 100; i++)
			told += outcomes[i].times;
		told == 100;
	})));
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(outcomes[i].lag, 34);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_METADATA), 1);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_COORDINATOR), 10);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_COMMITTED), 10);
	/* A few more for groups whose coordinator is found in a later turn. */
	assert_in_range(fakebrokers_asked(&w->brokers, FAKE_OFFSETS), 2, 20);
}

/* One answer about thousands of topics, perhaps with many partitions, would be too large. */
static void many_topics_are_split(void **state)
{
	enum { COUNT = 600 };
	static struct outcome outcomes[COUNT];
	static char names[COUNT][8];
	static const char *lists[COUNT];
	static struct kafka_question questions[COUNT];
	struct world *w = *state;
	int told = 0;

	w->deadline_ms = 30000;
	memset(outcomes, 0, sizeof(outcomes));
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(names[i], sizeof(names[i]), "t%zu", i);
		lists[i] = names[i];
		questions[i] = (struct kafka_question){ .group = "g", .topics = &lists[i], .topic_count = 1 };
		ask(w, &questions[i], &outcomes[i]);
	}
	UNTIL(w->f, (told = 0, ({
		for (size_t i = 0; i < COUNT; i++)
			told += outcomes[i].times;
		told == COUNT;
	})));
	for (size_t i = 0; i < COUNT; i++)
		assert_non_null(strstr(outcomes[i].err.msg, "UNKNOWN_TOPIC_OR_PARTITION"));
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_METADATA), 2);
}

static void some_partitions(void **state)
{
	static const struct kafka_range ranges[] = { { 1, 1 }, { 3, 9 } }, none[] = { { 7, 9 } };
	struct kafka_question q = about_t;
	struct world *w = *state;
	struct outcome o;

	q.ranges = ranges;
	q.range_count = 2;
	w->brokers.leaders[0] = -1; /* nobody asks about it */
	ask_and_wait(w, &q, &o);
	assert_int_equal(o.count, 2);
	assert_int_equal(o.lag, 9 + 7);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_OFFSETS), 1); /* only the second broker leads these */
	q.ranges = none;
	q.range_count = 1;
	assert_error(w, &q, "expected at least one active partition within the topic 't'");
}

static void starts_where_nothing_is_committed(void **state)
{
	struct kafka_question q = about_t;
	struct world *w = *state;
	struct outcome o;

	q.starts = true;
	w->brokers.committed[2] = -1;
	w->brokers.starts[2] = 60;
	ask_and_wait(w, &q, &o);
	assert_int_equal(o.partitions[2].committed, KAFKA_OFFSET_NONE);
	assert_int_equal(o.partitions[2].start, 60);
	assert_int_equal(o.partitions[0].start, KAFKA_OFFSET_NONE);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_OFFSETS), 3);
	w->brokers.committed[2] = 95;
	ask_and_wait(w, &q, &o);
	assert_int_equal(o.partitions[2].start, KAFKA_OFFSET_NONE);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_OFFSETS), 5);
}

static void all_topics_of_a_group(void **state)
{
	static const struct kafka_question q = { .group = "g" }, empty = { .group = "empty" };
	struct world *w = *state;
	struct outcome o;

	ask_and_wait(w, &q, &o);
	assert_int_equal(o.count, 4);
	assert_int_equal(o.lag, 34);
	/* In KEDA: all topics of the cluster. */
	ask_and_wait(w, &empty, &o);
	assert_int_equal(o.err.kind, ERR_NONE);
	assert_int_equal(o.count, 0);
}

static void leaders_move(void **state)
{
	struct world *w = *state;

	assert_lag(w, 34);
	w->brokers.leaders[0] = 2;
	w->brokers.leaders[1] = 1;
	assert_lag(w, 34);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_METADATA), 2);
	/* A recreated topic: its former leader does not know it. */
	w->brokers.offset_error = 3;
	w->brokers.offset_errors = 1;
	assert_lag(w, 34);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_METADATA), 3);
	w->brokers.offset_error = 6;
	w->brokers.offset_errors = 1000;
	assert_error(w, &about_t, "topic t: NOT_LEADER");
}

static void coordinators_move(void **state)
{
	struct world *w = *state;

	w->brokers.coordinator_error = 15; /* as on a cluster that has just begun */
	w->brokers.coordinator_errors = 2;
	assert_lag(w, 34);
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_COORDINATOR), 3);
	w->brokers.coordinator = 2;
	w->brokers.group_error = 16;
	w->brokers.group_errors = 1;
	assert_lag(w, 34);
	assert_int_equal(w->brokers.brokers[1].asked[FAKE_COMMITTED], 1);
	w->brokers.group_error = 30;
	w->brokers.group_errors = 1;
	assert_error(w, &about_t, "committed offsets of group g: GROUP_AUTHORIZATION_FAILED");
	w->brokers.group_error = 14;
	w->brokers.group_errors = 1000;
	assert_error(w, &about_t, "COORDINATOR_LOAD_IN_PROGRESS");
}

/*
 * No room for one more broker, which coordinates the group of two waiting requests: both fail and
 * are retried.
 */
static void a_coordinator_too_many(void **state)
{
	enum { GROUPS = 1000 };
	static struct outcome outcomes[GROUPS], last[2];
	static char names[GROUPS][16];
	static struct kafka_question questions[GROUPS];
	const struct kafka_question of_topic = { .group = "last", .topics = topics, .topic_count = 1 };
	const struct kafka_question of_all = { .group = "last" };
	struct world *w = *state;
	unsigned told;

	w->deadline_ms = 30000; /* not tested here */
	w->brokers.strangers = 1000 - FAKE_BROKERS;
	w->brokers.renames_coordinator = true;
	for (int i = 0; i < GROUPS; i++) {
		snprintf(names[i], sizeof(names[i]), "g%d", i);
		questions[i] = (struct kafka_question){ .group = names[i], .topics = topics, .topic_count = 1 };
		ask(w, &questions[i], &outcomes[i]);
	}
	for (int i = 0; i < GROUPS; i++) {
		UNTIL(w->f, outcomes[i].times);
		assert_int_equal(outcomes[i].err.kind, ERR_NONE);
	}
	told = fakebrokers_asked(&w->brokers, FAKE_METADATA);
	alarm(2 * PATIENCE_MS / 1000); /* only an endless loop would still be there */
	ask(w, &of_topic, &last[0]);
	ask(w, &of_all, &last[1]);
	UNTIL(w->f, last[0].times && last[1].times);
	alarm(0);
	for (int i = 0; i < 2; i++) {
		if (last[i].err.kind)
			fail_msg("%s", last[i].err.msg);
		assert_int_equal(last[i].lag, 34);
	}
	/* The stale metadata was refreshed, and there is room again. */
	assert_int_equal(fakebrokers_asked(&w->brokers, FAKE_METADATA), told + 1);
}

static void topics_with_errors(void **state)
{
	static const char *const names[] = { "t", "absent" };
	const struct kafka_question absent = { .group = "g", .topics = names, .topic_count = 2 };
	struct world *w = *state;

	assert_error(w, &absent, "topic absent: UNKNOWN_TOPIC_OR_PARTITION");
	w->brokers.topic_error = 29;
	w->brokers.topic_errors = 1;
	assert_lag(w, 34); /* t was cached before, although the other topic was missing */
	w->brokers.topic_errors = 0;
	w->brokers.leaders[3] = -1;
	w->brokers.offset_error = 5;
	w->brokers.offset_errors = 1;
	assert_error(w, &about_t, "partition 3 of topic t has no leader");
}

static void omitted_partitions(void **state)
{
	struct world *w = *state;
	struct outcome o;

	w->brokers.leaves_out_ends = true;
	ask_and_wait(w, &about_t, &o);
	assert_int_equal(o.count, 4);
	assert_false(o.partitions[0].has_end);
	assert_true(o.partitions[2].has_end);
	w->brokers.leaves_out_ends = false;
	w->brokers.leaves_out_committed = true;
	assert_error(w, &about_t, "error finding offset block for topic t and partition 0");
}

static void malformed_answers(void **state)
{
	static const int apis[] = { FAKE_METADATA, FAKE_COORDINATOR, FAKE_COMMITTED, FAKE_OFFSETS, 18 };
	struct world *w = *state;

	for (size_t i = 0; i < MEM_COUNT(apis); i++) {
		kafka_pool_free(w->pool);
		w->pool = kafka_pool_new(w->f->loop, NULL, NULL);
		w->brokers.lies_about = apis[i];
		assert_error(w, &about_t, "makes no sense");
	}
	kafka_pool_free(w->pool);
	w->pool = kafka_pool_new(w->f->loop, NULL, NULL);
	w->brokers.says_nothing = true;
	assert_error(w, &about_t, "makes no sense");
}

static void invalid_brokers(void **state)
{
	struct world *w = *state;

	w->brokers.closes = true;
	assert_error(w, &about_t, "ApiVersions: the server closed the connection (is TLS needed here?");
	w->brokers.closes = false;
	w->brokers.old = true;
	assert_error(w, &about_t, "the broker speaks versions 7 to 9 of Metadata");
}

/* The usual mistake: a broker advertises another address than the one that leads to it. */
static void an_unreachable_advertised_address(void **state)
{
	struct world *w = *state;
	char words[128];

	w->brokers.advertised[1] = fixture_dead_port();
	snprintf(words, sizeof(words),
		"broker 2 advertises 127.0.0.1:%u, which cannot be reached: connecting: Connection refused",
		w->brokers.advertised[1]);
	assert_error(w, &about_t, words);
	w->brokers.advertised[1] = 0;
	assert_lag(w, 34);
}

/* A frozen broker delays only questions that need it. */
static void a_silent_broker(void **state)
{
	static const struct kafka_range first = { 0, 0 };
	struct kafka_question q = about_t;
	struct world *w = *state;
	struct outcome hung = { 0 }, o;

	q.ranges = &first;
	q.range_count = 1;
	assert_lag(w, 34);
	w->deadline_ms = 1500;
	w->brokers.brokers[1].silent = true;
	ask(w, &about_t, &hung);
	for (int i = 0; i < 3; i++) {
		ask_and_wait(w, &q, &o);
		assert_int_equal(o.err.kind, ERR_NONE);
		assert_int_equal(o.lag, 10);
	}
	assert_int_equal(hung.times, 0);
	UNTIL(w->f, hung.times);
	assert_non_null(strstr(hung.err.msg, "broker 2 at 127.0.0.1:"));
	assert_non_null(strstr(hung.err.msg, "ListOffsets: the broker did not answer in time"));
	w->brokers.brokers[1].silent = false;
	assert_lag(w, 34);
}

/*
 * Other brokers take over from a frozen one. No error and no lost connection reveals that: the
 * question that waited for it fails, and the next one goes to the new leaders, although the
 * metadata is still fresh.
 */
static void a_frozen_broker_is_replaced(void **state)
{
	struct world *w = *state;

	w->brokers.coordinator = 2;
	assert_lag(w, 34);
	w->deadline_ms = 600;
	w->brokers.brokers[1].silent = true;
	assert_error(w, &about_t, "OffsetFetch: the broker did not answer in time");
	w->brokers.coordinator = 1;
	assert_error(w, &about_t, "broker 2 at 127.0.0.1:"); /* it leads still */
	assert_int_equal(w->brokers.brokers[0].asked[FAKE_COMMITTED], 1);
	w->brokers.leaders[1] = w->brokers.leaders[3] = 1;
	assert_lag(w, 34);
}

static void a_lost_connection(void **state)
{
	struct world *w = *state;

	assert_lag(w, 34);
	for (size_t i = 0; i < FAKE_BROKERS; i++)
		fakebrokers_hang_up(&w->brokers.brokers[i]);
	fixture_linger(w->f, 50);
	assert_int_equal(fixture_descriptors(w->f), 0); /* idle: closed without a word */
	assert_lag(w, 34);
}

/*
 * Brokers close a connection with an expired login at the next request (connections.max.reauth.ms),
 * and all connections expire together.
 */
static void expired_logins(void **state)
{
	static const struct kafka_question q = { .group = "g" };
	struct world *w = *state;
	struct outcome o;

	assert_lag(w, 34);
	for (size_t i = 0; i < FAKE_BROKERS; i++)
		w->brokers.brokers[i].cuts = true;
	assert_lag(w, 34);
	for (size_t i = 0; i < FAKE_BROKERS; i++)
		w->brokers.brokers[i].cuts = true;
	ask_and_wait(w, &q, &o);
	if (o.err.kind)
		fail_msg("%s", o.err.msg);
	assert_int_equal(o.lag, 34);
}

/*
 * As many leaders as partitions: the work must grow linearly; if it were quadratic, this would take
 * minutes.
 */
static void many_leaders(void **state)
{
	struct kafka_question starts = about_t;
	struct world *w = *state;
	struct outcome o;
	clock_t begun = clock();

	w->deadline_ms = 30000; /* not measured here */
	w->brokers.crowd = 90000;
	assert_error(w, &about_t, "is not among the brokers that the cluster names");
	starts.starts = true;
	assert_error(w, &starts, "is not among the brokers that the cluster names");
	assert_true((clock() - begun) / CLOCKS_PER_SEC < 20);
	/* Only partitions within the limits are asked about. */
	starts.ranges = (const struct kafka_range[]){ { 0, 1 }, { 3, 3 } };
	starts.range_count = 2;
	ask_and_wait(w, &starts, &o);
	assert_int_equal(o.err.kind, ERR_NONE);
	assert_int_equal(o.count, 3);
	assert_int_equal(o.partitions[2].id, 3);
}

static struct kafkaendpoint *endpoint_for(struct world *w, const char *namespace_)
{
	char address[64];
	struct err err = { 0 };

	snprintf(address, sizeof(address), "127.0.0.1:%u", w->brokers.brokers[0].port);
	return kafkaendpoint_new(
		&(struct kafkaendpoint_config){
			.namespace_ = namespace_,
			.servers = (const char *[]){ address },
			.count = 1,
			.username = namespace_, /* they share no connections */
		},
		&err);
}

static struct kafka_call *ask_for(struct world *w, struct kafkaendpoint *e, const struct kafka_question *q,
	int64_t left_ms, struct outcome *o)
{
	return kafka_ask(w->pool, e, q, loop_now_ms(w->f->loop) + left_ms, on_answer, o);
}

#define COMMITTED_OF(w) fakebrokers_asked(&(w)->brokers, FAKE_COMMITTED)

/*
 * A namespace has no more partitions in flight than its share: its further questions wait, others'
 * do not.
 */
static void partitions_by_namespace(void **state)
{
	struct world *w = *state;
	struct kafkaendpoint *noisy = endpoint_for(w, "noisy"), *shop = endpoint_for(w, "shop");
	const struct kafka_question second = { .group = "h", .topics = topics, .topic_count = 1 };
	const struct kafka_question some = { .group = "g",
		.topics = topics,
		.topic_count = 1,
		.ranges = (const struct kafka_range[]){ { 0, FAKE_PARTITIONS - 1 } },
		.range_count = 1 };
	struct outcome first = { 0 }, waits = { 0 }, late = { 0 }, beside = { 0 };
	struct kafka_call *call, *waiting;

	w->brokers.crowd = 90000; /* a namespace that is alone gets three eighths of 300,000 */
	w->brokers.silent_about = FAKE_COMMITTED;
	call = ask_for(w, noisy, &about_t, PATIENCE_MS, &first);
	UNTIL(w->f, COMMITTED_OF(w) == 1);
	waiting = ask_for(w, noisy, &second, PATIENCE_MS, &waits);
	ask_for(w, noisy, &second, 300, &late);
	UNTIL(w->f, late.times);
	assert_int_equal(late.err.kind, ERR_TEMPORARY);
	assert_non_null(strstr(late.err.msg,
		"namespace \"noisy\" has used its share of the 300000 partitions that may be asked about at a time; "
		"ask about fewer topics, limit the partitions (partitionLimitation), or poll less often"));
	assert_int_equal(COMMITTED_OF(w), 1);
	w->brokers.silent_about = 0;
	ask_for(w, shop, &some, PATIENCE_MS, &beside);
	UNTIL(w->f, beside.times);
	assert_int_equal(beside.err.kind, ERR_NONE);
	assert_int_equal(beside.count, FAKE_PARTITIONS);
	assert_int_equal(COMMITTED_OF(w), 2);
	assert_int_equal(waits.times, 0);
	/* A share given back goes to the next question. */
	w->brokers.silent_about = FAKE_COMMITTED;
	kafka_cancel(call);
	UNTIL(w->f, COMMITTED_OF(w) == 3);
	call = ask_for(w, noisy, &about_t, PATIENCE_MS, &first);
	fixture_linger(w->f, 100);
	kafka_cancel(call); /* while it waits */
	kafka_cancel(waiting);
	assert_int_equal(first.times + waits.times, 0);
	endpoint_unref(noisy);
	endpoint_unref(shop);
}

/* One cluster with one set of connections, however the list is written. */
static void one_cluster_under_many_names(void **state)
{
	struct world *w = *state;
	char one[32], two[32], shouted[32];
	const char *lists[][3] = { { one, two, "" }, { two, one, one }, { two, "", shouted }, { one, two, shouted } };
	struct outcome o;

	snprintf(one, sizeof(one), "localhost:%u", w->brokers.brokers[0].port);
	snprintf(two, sizeof(two), "localhost:%u", w->brokers.brokers[1].port);
	snprintf(shouted, sizeof(shouted), "LOCALHOST:%u", w->brokers.brokers[0].port);
	for (size_t i = 0; i < MEM_COUNT(lists); i++) {
		struct kafkaendpoint *e = endpoint_of(lists[i], 3);

		assert_int_equal(e->count, 2);
		o = (struct outcome){ 0 };
		ask_for(w, e, &about_t, DEADLINE_MS, &o);
		UNTIL(w->f, o.times);
		assert_int_equal(o.lag, 34);
		assert_int_equal(fixture_descriptors(w->f), 2);
		endpoint_unref(e);
	}
	/* and the bootstrap connection */
	assert_int_equal(w->brokers.brokers[0].accepted + w->brokers.brokers[1].accepted, 3);
}

static void bootstrap_servers_in_turn(void **state)
{
	struct world *w = *state;
	char dead[32], alive[32];
	struct kafkaendpoint *both;
	struct outcome o = { 0 };

	snprintf(dead, sizeof(dead), "127.0.0.1:%u", fixture_dead_port());
	snprintf(alive, sizeof(alive), "localhost:%u", w->brokers.brokers[1].port);
	both = endpoint_of((const char *[]){ dead, alive }, 2);
	kafka_ask(w->pool, both, &about_t, loop_now_ms(w->f->loop) + DEADLINE_MS, on_answer, &o);
	UNTIL(w->f, o.times);
	if (o.err.kind)
		fail_msg("%s", o.err.msg);
	assert_int_equal(o.lag, 34);
	/* "localhost" is not an advertised address: the bootstrap connection is closed. */
	assert_int_equal(fixture_descriptors(w->f), 2);
	endpoint_unref(both);
}

/* Cancels at each step, and frees the pool with questions in flight. */
static void cancelled(void **state)
{
	struct world *w = *state;
	struct outcome never = { 0 }, o = { 0 };
	struct kafka_call *call;

	for (unsigned turns = 0; turns < 40; turns++) {
		if (turns % 10 == 0) {
			kafka_pool_free(w->pool);
			w->pool = kafka_pool_new(w->f->loop, NULL, NULL);
		}
		call = ask(w, &about_t, &never);
		for (unsigned i = 0; i < turns && !never.times; i++)
			loop_turn(w->f->loop);
		if (never.times)
			break;
		kafka_cancel(call);
	}
	ask(w, &about_t, &o);
	UNTIL(w->f, o.times);
	assert_int_equal(o.lag, 34);
	for (unsigned turns = 0; turns < 20; turns++) {
		struct outcome lost = { 0 };

		ask(w, &about_t, &lost);
		for (unsigned i = 0; i < turns && !lost.times; i++)
			loop_turn(w->f->loop);
		kafka_pool_free(w->pool);
		w->pool = kafka_pool_new(w->f->loop, NULL, NULL);
	}
	kafka_cancel(NULL);
}

int main(void)
{
#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		WORLD_TEST(lag_of_a_group),
		WORLD_TEST(questions_are_batched),
		WORLD_TEST(many_topics_are_split),
		WORLD_TEST(some_partitions),
		WORLD_TEST(starts_where_nothing_is_committed),
		WORLD_TEST(all_topics_of_a_group),
		WORLD_TEST(leaders_move),
		WORLD_TEST(coordinators_move),
		WORLD_TEST(a_coordinator_too_many),
		WORLD_TEST(topics_with_errors),
		WORLD_TEST(omitted_partitions),
		WORLD_TEST(malformed_answers),
		WORLD_TEST(invalid_brokers),
		WORLD_TEST(an_unreachable_advertised_address),
		WORLD_TEST(a_silent_broker),
		WORLD_TEST(a_frozen_broker_is_replaced),
		WORLD_TEST(a_lost_connection),
		WORLD_TEST(expired_logins),
		WORLD_TEST(many_leaders),
		WORLD_TEST(partitions_by_namespace),
		WORLD_TEST(one_cluster_under_many_names),
		WORLD_TEST(bootstrap_servers_in_turn),
		WORLD_TEST(cancelled),
	};

	return cmocka_run_group_tests_name("net/kafka/kafka", tests, NULL, NULL);
}
