/* SPDX-License-Identifier: Apache-2.0 */
#include "net/descriptors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HOLDS_MAX 4096

static struct descriptors_hold holds[HOLDS_MAX];
static size_t held;

static int setup(void **state)
{
	memset(holds, 0, sizeof(holds));
	held = 0;
	*state = descriptors_new();
	return 0;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < held; i++)
		descriptors_give(&holds[i], 0);
	assert_int_equal(0, descriptors_taken(*state));
	descriptors_free(*state);
	return 0;
}

/* One by one, until none is to be had or there are so many. */
static size_t take_all(struct descriptors *d, const char *namespace_, size_t most, struct err *err)
{
	size_t count = 0;

	for (; count < most && held < HOLDS_MAX; count++) {
		holds[held].namespace_ = namespace_;
		if (descriptors_take(d, &holds[held], err))
			break;
		held++;
	}
	return count;
}

static void without_a_limit_all_is_given(void **state)
{
	struct err err;

	assert_int_equal(HOLDS_MAX, take_all(*state, "a", HOLDS_MAX, &err));
	assert_int_equal(HOLDS_MAX, descriptors_taken(*state));
}

static void each_leaves_others_something(void **state)
{
	struct err err = { 0 };

	descriptors_set_total(*state, 640);
	assert_int_equal(240, take_all(*state, "first", 1000, &err)); /* half of what is not kept */
	assert_int_equal(ERR_TEMPORARY, err.kind);
	assert_string_equal("namespace \"first\" has as many connections to servers of triggers as there are for it: "
			    "name "
			    "fewer servers, or raise what kscaled has for all namespaces, 640 (ulimit -n, "
			    "--max-source-connections)",
		err.msg);
	assert_int_equal(120, take_all(*state, "second", 1000, &err));
	assert_int_equal(60, take_all(*state, "third", 1000, &err));
	assert_int_equal(30, take_all(*state, NULL, 1000, &err));
	assert_non_null(strstr(err.msg, "several namespaces together have as many"));
}

static void who_has_few_gets_some_beside_twenty(void **state)
{
	char names[21][8];
	struct err err;

	descriptors_set_total(*state, 640);
	for (int i = 0; i < 20; i++) {
		snprintf(names[i], sizeof(names[i]), "bad-%d", i);
		assert_true(take_all(*state, names[i], 1000, &err) >= DESCRIPTORS_FEW);
	}
	assert_int_equal(DESCRIPTORS_FEW, take_all(*state, "good", 1000, &err));
}

static void what_is_given_back_is_there_again(void **state)
{
	struct descriptors_hold big = { .namespace_ = "a", .wants = 4 }, other = { .namespace_ = "b", .wants = 5 };
	struct err err;

	descriptors_set_total(*state, 16); /* 12 and 4 */
	assert_int_equal(0, descriptors_take(*state, &big, &err));
	assert_int_equal(0, descriptors_take(*state, &big, &err)); /* it has them */
	assert_int_equal(4, descriptors_taken(*state));
	assert_int_equal(-1, descriptors_take(*state, &other, &err));
	assert_true(other.refused);
	descriptors_give(&big, 1);
	assert_int_equal(1, descriptors_taken(*state));
	assert_int_equal(0, descriptors_take(*state, &other, &err));
	assert_false(other.refused);
	descriptors_give(&big, 1); /* has no more */
	assert_int_equal(6, descriptors_taken(*state));
	descriptors_give(&big, 0);
	descriptors_give(&big, 0);
	descriptors_give(&other, 0);
}

static void the_plan_follows_the_limit(void **state)
{
	struct descriptors_plan plan = descriptors_plan(1024, 2048);

	(void)state;
	assert_int_equal(128, plan.accepted);
	assert_int_equal(640, plan.sources);
	plan = descriptors_plan(524288, 2048);
	assert_int_equal(512, plan.accepted);
	assert_int_equal(2048, plan.sources);
	plan = descriptors_plan(64, 2048);
	assert_int_equal(8, plan.accepted);
	assert_int_equal(16, plan.sources);
}

/* In a process of its own, as a limit that was raised stays. */
static void the_soft_limit_is_raised(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		struct rlimit limit;
		size_t hard;

		getrlimit(RLIMIT_NOFILE, &limit);
		hard = (size_t)limit.rlim_max;
		limit.rlim_cur = 64;
		setrlimit(RLIMIT_NOFILE, &limit);
		_exit(hard > 64 && descriptors_raise() == (hard < 1 << 20 ? hard : 1 << 20) ? 0 : 1);
	}
	assert_int_equal(child, waitpid(child, &status, 0));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_limit_all_is_given, setup, teardown),
		cmocka_unit_test_setup_teardown(each_leaves_others_something, setup, teardown),
		cmocka_unit_test_setup_teardown(who_has_few_gets_some_beside_twenty, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_given_back_is_there_again, setup, teardown),
		cmocka_unit_test(the_plan_follows_the_limit),
		cmocka_unit_test(the_soft_limit_is_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
