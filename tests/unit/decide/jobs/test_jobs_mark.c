/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobs.h"

#include "../../crd/given.h"
#include "jobs_letters.h"

/* Another sentence has another mark, and all else has the same. */
static void test_mark(void **state)
{
	static const struct err other = { .kind = ERR_TEMPORARY, .msg = "timed out" };
	struct scaledjob_spec specs[5];
	struct jobs_trigger triggers[4][2];
	struct jobs_facts all[18];
	uint64_t marks[18];
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < 5; i++)
		specs[i] = lettered_spec(i == 1 ? "eager" : NULL, i == 2 ? 1 : UNSET, i == 3 ? 11 : 10);
	specs[4].calculation = (char *)(uintptr_t) "sum";
	for (size_t i = 0; i < 4; i++)
		for (int t = 0; t < 2; t++)
			triggers[i][t] = (struct jobs_trigger){ .index = t,
				.metric_name = "s0-redis-a",
				.queue = 5 + (i == 1),
				.target = 1 + (i == 2),
				.active = true,
				.err = i == 3 ? &lettered_failure : NULL };
	for (; count < 18; count++)
		all[count] = (struct jobs_facts){ .spec = &specs[0],
			.now_unix_ms = T,
			.triggers = triggers[0],
			.trigger_count = 2,
			.running = 2 };
	for (size_t i = 1; i < 5; i++)
		all[i].spec = &specs[i];
	for (size_t i = 1; i < 4; i++)
		all[4 + i].triggers = triggers[i];
	all[8].trigger_count = 1;
	all[9].running = 3;
	all[10] = all[1];
	all[10].pending = 1;
	all[11].jobs_err = &lettered_failure;
	all[12].jobs_err = &other;
	all[13] = all[1];
	all[13].pods_err = &lettered_failure;
	all[14].create_trouble = "quota";
	all[15].create_trouble = "another quota";
	all[16].paused = true;
	all[17].trigger_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct jobs_decision d = jobs_decide(&all[i]);

		marks[i] = jobs_mark(&all[i], &d);
		all[i].now_unix_ms += 5000;
		d = jobs_decide(&all[i]);
		assert_true(jobs_mark(&all[i], &d) == marks[i]);
		for (size_t k = 0; k < i; k++)
			if (marks[i] == marks[k])
				fail_msg("%zu and %zu", i, k);
	}
}

static uint64_t failure_mark(const struct jobs_facts *facts)
{
	return jobs_ready_look(facts, &(struct jobs_decision){ 0 }).cause;
}

/* Which failures count as the same although their words change, and which do not. */
static void test_failure_mark(void **state)
{
	static const struct err late = { .kind = ERR_TEMPORARY, .msg = "timed out after 17 ms" },
				later = { .kind = ERR_TEMPORARY, .msg = "timed out after 18 ms" },
				password = { .kind = ERR_DENIED, .msg = "WRONGPASS" };
	struct scaledjob_spec spec = lettered_spec(NULL, UNSET, 10);
	struct jobs_trigger trigger = { .metric_name = "s0-redis-a", .err = &lettered_failure },
			    other = { .metric_name = "s1-redis-b", .err = &lettered_failure },
			    active = { .metric_name = "s0-redis-a", .queue = 1, .target = 1, .active = true };
	struct jobs_facts facts = { .spec = &spec, .triggers = &trigger, .trigger_count = 1 };
	uint64_t first = failure_mark(&facts), second;

	(void)state;
	trigger.err = &late;
	assert_true(failure_mark(&facts) != first);
	first = failure_mark(&facts);
	trigger.err = &later;
	assert_true(failure_mark(&facts) == first);
	trigger.err = &password;
	assert_true(failure_mark(&facts) != first);
	facts.triggers = &other;
	assert_true(failure_mark(&facts) != first);
	facts.jobs_err = &lettered_failure;
	assert_true(failure_mark(&facts) != first);
	facts.jobs_err = NULL;
	facts.triggers = &active;
	facts.create_trouble =
		"jobs.batch \"print-x7k2p\" is forbidden: exceeded quota: few, used: count/jobs.batch=10";
	first = failure_mark(&facts);
	facts.create_trouble = "jobs.batch \"print-b0b1c\" is forbidden: exceeded quota: few, used: count/jobs.batch=9";
	assert_true(failure_mark(&facts) == first);
	facts.create_trouble = "jobs.batch is forbidden: User cannot create resource";
	second = failure_mark(&facts);
	assert_true(second != first && second != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_failure_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
