/* SPDX-License-Identifier: Apache-2.0 */

/* The order of salting, and its share of each turn of the loop. */

#include "../fixture.h"

#include <stdio.h>

#include "base/mem.h"
#include "net/sign/salter.h"

#define LOGINS 20

struct login {
	struct salter_turn turn;
	struct scram_memory memory, *shared; /* shared: NULL, or used instead */
	int times;
	uint64_t told_in; /* number of the loop's turn */
	int place;        /* order among all callbacks */
	struct loop *loop;
	int *told;
};

static void on_salted(void *arg)
{
	struct login *l = arg;

	l->times++;
	l->told_in = loop_turns(l->loop);
	l->place = ++*l->told;
}

/* With a server's iterations and a salt of its own. */
static void begin(struct fixture *f, struct salter *s, struct login *l, const char *namespace_, int iterations,
	int *told)
{
	static int salts;
	MEM_AUTO char *message = mem_printf("r=nx,s=%04d,i=%d", l->shared ? 0 : ++salts, iterations);
	struct err err = { 0 };

	l->loop = f->loop;
	l->told = told;
	l->turn = (struct salter_turn){ .scram = scram_new(SCRAM_SHA512, "user", "pencil", "n"),
		.memory = l->shared ? l->shared : &l->memory,
		.fn = on_salted,
		.arg = l };
	assert_int_equal(scram_take(l->turn.scram, message, strlen(message), &err), 0);
	salter_ask(s, &l->turn, namespace_);
	assert_int_equal(l->times, 0);
}

static void done(struct login *l)
{
	salter_leave(&l->turn);
	scram_free(l->turn.scram);
}

/* The maximum of iterations takes many turns, between which other work runs. */
static void salting_spans_many_turns(void **state)
{
	struct fixture *f = *state;
	struct salter *s = salter_new(f->loop);
	struct login l = { .times = 0 };
	int told = 0;
	uint64_t before = loop_turns(f->loop);

	begin(f, s, &l, "shop", SCRAM_ITERATIONS_MAX, &told);
	UNTIL(f, l.times);
	/* 20,000 in a slice at most, and so five slices, each with a pause behind it. */
	assert_true(l.told_in - before >= 5);
	fixture_linger(f, 20);
	assert_int_equal(l.times, 1);
	done(&l);
	salter_free(s);
}

/* A namespace's many logins delay another's only by as many iterations as it has itself. */
static void turns_by_namespace(void **state)
{
	struct fixture *f = *state;
	struct salter *s = salter_new(f->loop);
	struct login many[LOGINS] = { { .times = 0 } }, one = { .times = 0 };
	int told = 0;

	for (int i = 0; i < LOGINS; i++)
		begin(f, s, &many[i], "noisy", 20000, &told);
	begin(f, s, &one, "shop", 4096, &told);
	UNTIL(f, one.times);
	assert_int_equal(one.place, 1);
	UNTIL(f, told == 3);
	assert_int_equal(many[0].place, 2); /* the oldest first */
	assert_int_equal(many[1].place, 3);
	for (int i = 0; i < LOGINS; i++)
		done(&many[i]);
	done(&one);
	salter_free(s);
}

/* The brokers of a cluster: the first computes for all. */
static void equal_salts_are_computed_once(void **state)
{
	struct fixture *f = *state;
	struct salter *s = salter_new(f->loop);
	struct scram_memory memory = { .of = "" };
	struct login many[LOGINS] = { { .times = 0 } }, other = { .times = 0 };
	int told = 0;

	for (int i = 0; i < LOGINS; i++) {
		many[i].shared = &memory;
		begin(f, s, &many[i], "shop", SCRAM_ITERATIONS_MAX, &told);
	}
	UNTIL(f, many[0].times);
	begin(f, s, &other, "other", SCRAM_ITERATIONS_MAX, &told);
	UNTIL(f, other.times);
	assert_int_equal(other.place, LOGINS + 1);
	for (int i = 0; i < LOGINS; i++)
		done(&many[i]);
	done(&other);
	salter_free(s);
}

static void left(void **state)
{
	struct fixture *f = *state;
	struct salter *s = salter_new(f->loop);
	struct login one = { .times = 0 }, other = { .times = 0 };
	int told = 0;

	begin(f, s, &one, "shop", 20000, &told);
	begin(f, s, &other, "shop", 4096, &told);
	done(&one);
	UNTIL(f, other.times);
	assert_int_equal(one.times, 0);
	done(&other);
	begin(f, s, &one, "shop", 20000, &told);
	salter_free(s);
	fixture_linger(f, 20);
	assert_int_equal(one.times, 0);
	done(&one);
	salter_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(salting_spans_many_turns, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(turns_by_namespace, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(equal_salts_are_computed_once, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(left, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("net/sign/salter", tests, NULL, NULL);
}
