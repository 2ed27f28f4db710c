/* SPDX-License-Identifier: Apache-2.0 */
#include "net/descriptors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void a_refusal_has_advice(void **state)
{
	struct shares s = { .total = 16, .few = 4 };
	struct descriptors_hold big = { .namespace_ = "a", .wants = 4 }, other = { .namespace_ = "b", .wants = 5 },
				nobody = { .wants = 9 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(0, descriptors_take(&s, &big, &err));
	assert_int_equal(0, descriptors_take(&s, &big, &err)); /* it has them */
	assert_int_equal(4, s.taken);
	assert_int_equal(-1, descriptors_take(&s, &other, &err));
	assert_true(other.refused);
	assert_int_equal(ERR_TEMPORARY, err.kind);
	assert_string_equal("namespace \"b\" has used up the share of connections to servers of triggers: name fewer "
			    "servers, or raise the limit for all namespaces, 16 (ulimit -n, --max-source-connections)",
		err.msg);
	assert_int_equal(-1, descriptors_take(&s, &nobody, &err));
	assert_non_null(strstr(err.msg, "several namespaces together have used up"));
	descriptors_give(&big, 1);
	assert_int_equal(1, s.taken);
	assert_int_equal(0, descriptors_take(&s, &other, &err));
	assert_false(other.refused);
	descriptors_give(&big, 1); /* has no more */
	assert_int_equal(6, s.taken);
	descriptors_give(&big, 0);
	descriptors_give(&big, 0);
	descriptors_give(&other, 0);
	assert_int_equal(0, s.taken);
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
		cmocka_unit_test(a_refusal_has_advice),
		cmocka_unit_test(the_plan_follows_the_limit),
		cmocka_unit_test(the_soft_limit_is_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
