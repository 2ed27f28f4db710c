/* SPDX-License-Identifier: Apache-2.0 */
/* The order of calls, and their limits. */
#include "../fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net/grpc/grpcturns.h"

#define CALLS   600
#define SERVERS 7
/* each server with half of the rest */
#define ALL_OF_NAMESPACE (GRPCTURNS_OF_NAMESPACE * SERVERS / (SERVERS + 1))

struct one { /* a call */
	struct grpcturn turn;
	char name;
	bool begun, leaves; /* from within the callback */
};

static struct {
	struct fixture *f;
	struct grpcturns *turns;
	struct grpcturns_server servers[SERVERS];
	struct one calls[CALLS];
	size_t count;
	char begun[CALLS + 1]; /* names of started calls, in order */
	size_t begun_count;
} w;

static void on_begin(struct grpcturn *turn)
{
	struct one *one = (struct one *)turn;

	assert_false(one->begun);
	one->begun = true;
	w.begun[w.begun_count++] = one->name;
	if (one->leaves)
		grpcturns_leave(turn);
}

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	memset(&w, 0, sizeof(w));
	w.f = *state;
	w.turns = grpcturns_new(w.f->loop, on_begin);
	return 0;
}

static size_t under_way(void)
{
	size_t count = 0;

	for (size_t i = 0; i < MEM_COUNT(w.servers); i++)
		count += w.servers[i].under_way;
	return count;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < w.count; i++)
		grpcturns_leave(&w.calls[i].turn);
	assert_int_equal(under_way(), 0);
	grpcturns_free(w.turns);
	return fixture_teardown(state);
}

static struct one *join(char name, size_t server, const char *namespace_)
{
	struct one *one = &w.calls[w.count++];

	assert_true(w.count <= CALLS);
	one->name = name;
	grpcturns_join(w.turns, &one->turn, &w.servers[server], namespace_);
	return one;
}

static void join_many(size_t count, char name, size_t server, const char *namespace_)
{
	for (size_t i = 0; i < count; i++)
		join(name, server, namespace_);
}

/* Runs until no further call starts. */
static void settle(void)
{
	size_t before;

	do {
		before = w.begun_count;
		fixture_linger(w.f, 5);
	} while (w.begun_count != before);
}

static void calls_start_in_order(void **state)
{
	(void)state;
	for (char c = 'a'; c <= 'j'; c++)
		join(c, 0, "shop");
	assert_int_equal(w.begun_count, 0); /* not before the end of the turn */
	settle();
	assert_string_equal(w.begun, "abcdefghij");
}

static void starts_per_turn_of_the_loop_are_limited(void **state)
{
	(void)state;
	for (size_t i = 0; i < 70; i++)
		join('a', 0, "shop")->leaves = true;
	for (size_t turn = 1; w.begun_count < 70; turn++) {
		size_t before = w.begun_count;

		loop_turn(w.f->loop);
		if (w.begun_count - before > GRPCTURNS_AT_ONCE)
			fail_msg("turn %zu: %zu", turn, w.begun_count - before);
		assert_true(turn < 20); /* it only waits for the next turn */
	}
}

static void a_namespaces_calls_are_limited(void **state)
{
	(void)state;
	for (size_t server = 0; server < SERVERS; server++)
		join_many(80, 'a', server, "shop");
	settle();
	assert_in_range(w.begun_count, ALL_OF_NAMESPACE, GRPCTURNS_OF_NAMESPACE);
	assert_int_equal(under_way(), w.begun_count);
	join_many(30, 'c', 0, "other");
	settle();
	assert_in_range(w.begun_count, ALL_OF_NAMESPACE + 30, GRPCTURNS_OF_NAMESPACE + 30);
}

/* Calls that one server occupies leave room for the namespace's other servers. */
static void one_server_gets_half_of_a_namespaces_limit(void **state)
{
	(void)state;
	join_many(100, 'a', 0, "shop");
	settle();
	assert_int_equal(w.begun_count, GRPCTURNS_OF_NAMESPACE / 2);
	join_many(100, 'b', 1, "shop");
	settle();
	assert_int_equal(w.begun_count, GRPCTURNS_OF_NAMESPACE * 3 / 4);
	join_many(1, 'c', 2, "shop");
	settle();
	assert_int_equal(w.begun[w.begun_count - 1], 'c');
	for (size_t i = 0; i < GRPCTURNS_OF_NAMESPACE / 2; i++)
		grpcturns_leave(&w.calls[i].turn);
	settle();
	assert_in_range(w.servers[0].under_way, 25, 35);
	assert_in_range(w.servers[1].under_way, 35, 45);
}

static void a_servers_calls_are_limited(void **state)
{
	static const char *const namespaces[] = { "one", "two", "three", "four" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(namespaces); i++)
		join_many(60, 'a', 0, namespaces[i]);
	settle();
	assert_int_equal(w.begun_count, GRPCTURNS_OF_SERVER);
	/* Calls that wait for a server delay no calls to others, even of the same namespace. */
	join_many(10, 'd', 1, "three");
	join_many(10, 'e', 2, "five");
	settle();
	assert_int_equal(w.begun_count, GRPCTURNS_OF_SERVER + 20);
	grpcturns_leave(&w.calls[0].turn);
	settle();
	assert_int_equal(w.begun_count, GRPCTURNS_OF_SERVER + 21);
	/* A namespace without calls there may start one at a time. */
	join_many(3, 'f', 0, "six");
	settle();
	assert_int_equal(w.begun_count, GRPCTURNS_OF_SERVER + 22);
	assert_int_equal(w.begun[w.begun_count - 1], 'f');
}

static void namespaces_take_turns_and_their_servers_too(void **state)
{
	(void)state;
	join_many(6, 'a', 0, "one");
	join_many(6, 'b', 1, "one");
	join_many(3, 'c', 0, "two");
	settle();
	assert_string_equal(w.begun, "acbcacbabababab");
}

static void a_call_that_leaves_does_not_start(void **state)
{
	struct one *second;

	(void)state;
	join('a', 0, "shop");
	second = join('b', 0, "shop");
	join('c', 0, "shop");
	grpcturns_leave(&second->turn);
	grpcturns_leave(&second->turn);
	settle();
	assert_string_equal(w.begun, "ac");
}

static void leaving_from_the_callback_makes_room(void **state)
{
	(void)state;
	for (size_t i = 0; i < 300; i++)
		join('a', 0, "shop")->leaves = true;
	settle();
	assert_int_equal(w.begun_count, 300);
	assert_int_equal(under_way(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_start_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(starts_per_turn_of_the_loop_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(a_namespaces_calls_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(one_server_gets_half_of_a_namespaces_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(a_servers_calls_are_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(namespaces_take_turns_and_their_servers_too, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_that_leaves_does_not_start, setup, teardown),
		cmocka_unit_test_setup_teardown(leaving_from_the_callback_makes_room, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
