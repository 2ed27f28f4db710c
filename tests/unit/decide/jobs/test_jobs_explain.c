/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobs.h"

#include "../../crd/given.h"
#include "jobs_letters.h"

struct told {
	const char *strategy, *percentage, *calculation;
	int32_t deduction, min, max;
	struct lettered of[LETTERED_MAX];
	int32_t running, pending;
	const struct err *jobs_err, *pods_err;
	const char *create_trouble, *text;
};

static struct jobs_decision tell(const struct told *t, struct scaledjob_spec *spec, struct jobs_trigger *triggers,
	struct jobs_facts *facts)
{
	*spec = lettered_spec(t->strategy, t->min, t->max);
	spec->calculation = (char *)(uintptr_t)t->calculation;
	spec->running_job_percentage = (char *)(uintptr_t)t->percentage;
	spec->queue_length_deduction = t->deduction;
	*facts = (struct jobs_facts){ .spec = spec,
		.now_unix_ms = T,
		.triggers = triggers,
		.trigger_count = lettered_triggers(t->of, triggers),
		.running = t->running,
		.pending = t->pending,
		.jobs_err = t->jobs_err,
		.pods_err = t->pods_err,
		.create_trouble = t->create_trouble };
	return jobs_decide(facts);
}

static void test_explain(void **state)
{
	static const struct told cases[] = {
		{ NULL, NULL, NULL, UNSET, UNSET, 20, { { 0, 10, 1, 'A' } }, 7, 0, NULL, NULL, NULL,
			"creates 3 Jobs: 10 waiting in s0-redis-a, 7 Jobs run, at most 20" },
		{ NULL, NULL, NULL, UNSET, UNSET, 20, { { 0, 1, 1, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates 1 Job: 1 waiting in s0-redis-a, no Job runs, at most 20" },
		{ NULL, NULL, NULL, UNSET, 2, 20, { { 0, 12, 5, 'A' } }, 3, 0, NULL, NULL, NULL,
			"creates 2 Jobs: 12 waiting in s0-redis-a (5 for each Job), 3 Jobs run (2 for "
			"minReplicaCount), at most 20" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 20, 1, 'A' } }, 7, 0, NULL, NULL, NULL,
			"creates 3 Jobs, as many as maxReplicaCount allows: 20 waiting in s0-redis-a, 7 Jobs run, at "
			"most 10" },
		{ NULL, NULL, NULL, UNSET, UNSET, 1, { { 0, 20, 1, 'A' } }, 1, 0, NULL, NULL, NULL,
			"creates no Job, held by maxReplicaCount: 20 waiting in s0-redis-a, 1 Job runs, at most 1" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 1, 'A' } }, 3, 0, NULL, NULL, NULL,
			"creates no Job: 3 waiting in s0-redis-a, 3 Jobs run, at most 10" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 0, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: 3 waiting in s0-redis-a (without a target, which asks for no Job), no Job "
			"runs, at most 10" },
		/* strategies */
		{ "accurate", NULL, NULL, UNSET, UNSET, 10, { { 0, 5, 1, 'A' } }, 4, 3, NULL, NULL, NULL,
			"creates 2 Jobs: 5 waiting in s0-redis-a, 4 Jobs run, accurate: 3 Jobs are pending, at most "
			"10" },
		{ "eager", NULL, NULL, UNSET, UNSET, 10, { { 0, 6, 1, 'A' } }, 3, 1, NULL, NULL, NULL,
			"creates 6 Jobs: 6 waiting in s0-redis-a, 3 Jobs run, eager: 1 Job is pending, at most 10" },
		{ "custom", "0.5", NULL, 1, UNSET, 100, { { 0, 10, 1, 'A' } }, 4, 0, NULL, NULL, NULL,
			"creates 7 Jobs: 10 waiting in s0-redis-a, 4 Jobs run, custom: less 1 and less 2 for Jobs that "
			"run, at most 100" },
		/* several triggers */
		{ NULL, NULL, "sum", UNSET, UNSET, 20, { { 0, 10, 1, 'A' }, { 1, 2, 5, 'A' }, { 2, 0, 5, 'i' } }, 0, 0,
			NULL, NULL, NULL,
			"creates 11 Jobs: sum of 2 triggers 12 for 11 Jobs (s0-redis-a 10, s1-redis-b 2 of 5), no Job "
			"runs, at most 20" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 10, 1, 'A' }, { 1, 2, 5, 'i' } }, 0, 0, NULL, NULL, NULL,
			"creates 10 Jobs: 10 waiting in s0-redis-a, no Job runs, at most 10" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 6, 2, 'A' }, { 0, 9, 4, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates 2 Jobs: 6 waiting in s0-redis-a (3 for each Job), no Job runs, at most 10" },
		{ NULL, NULL, "avg", UNSET, UNSET, 10, { { 0, 0, 0, 'E' }, { 1, 2, 1, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates 1 Job: avg of 2 triggers 1 for 1 Job (s1-redis-b 2), no Job runs, at most 10; "
			"failing: s0-redis-a (connection refused)" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 2, 1, 'A' }, { 1, 2, 1, 'A' }, { 1, 0, 0, 'E' } }, 0, 0,
			NULL, NULL, NULL,
			"creates 2 Jobs: 2 waiting in s0-redis-a, no Job runs, at most 10; failing: s2-redis-c "
			"(connection refused)" },
		/* nothing to do, or nothing known */
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 0, 5, 'i' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: no trigger is active (s0-redis-a 0 of 5), no Job runs" },
		{ NULL, NULL, NULL, UNSET, 2, 10, { { 0, 0, 1, 'i' } }, 2, 0, NULL, NULL, NULL,
			"creates no Job: no trigger is active (s0-redis-a 0), 2 Jobs run (2 for minReplicaCount)" },
		{ NULL, NULL, NULL, UNSET, 3, 10, { { 0, 0, 1, 'i' } }, 1, 0, NULL, NULL, NULL,
			"creates 2 Jobs: 1 Job runs (1 for minReplicaCount), of at least 3" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 0, 0, 'E' }, { 1, 0, 1, 'i' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: no trigger is active (s1-redis-b 0); failing: s0-redis-a (connection "
			"refused)" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 0, 0, 'E' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: no trigger is active; failing: s0-redis-a (connection refused)" },
		{ NULL, NULL, "min", UNSET, UNSET, 10, { { 0, 0, 0, 'E' }, { 1, 3, 1, 'A' } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: without all triggers their min is not known (s1-redis-b 3); failing: "
			"s0-redis-a (connection refused)" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0 } }, 0, 0, NULL, NULL, NULL,
			"creates no Job: no trigger could be asked" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 1, 'A' } }, 0, 0, &lettered_failure, NULL, NULL,
			"creates no Job: which Jobs run is not known (connection refused)" },
		{ "eager", NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 1, 'A' } }, 0, 0, NULL, &lettered_failure, NULL,
			"creates no Job: 3 waiting in s0-redis-a, but which Jobs are pending is not known (connection "
			"refused)" },
		{ NULL, NULL, NULL, UNSET, UNSET, 10, { { 0, 3, 1, 'A' } }, 0, 0, NULL, NULL, "exceeded quota",
			"creates 3 Jobs: 3 waiting in s0-redis-a, no Job runs, at most 10; the last Job could not be "
			"created: exceeded quota" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob_spec spec;
		struct jobs_trigger triggers[4];
		struct jobs_facts facts;
		struct jobs_decision d = tell(&cases[i], &spec, triggers, &facts);
		char text[1024];

		assert_ptr_equal(jobs_explain(&facts, &d, text, sizeof(text)), text);
		assert_string_equal(text, cases[i].text);
	}
}

static void test_explain_answered(void **state)
{
	struct scaledjob_spec spec = lettered_spec("accurate", UNSET, 10);
	struct jobs_trigger trigger = { .metric_name = "s0-redis-a", .queue = 3, .target = 1, .active = true };
	struct jobs_facts facts = { .spec = &spec,
		.triggers = &trigger,
		.trigger_count = 1,
		.running = 3,
		.answered = true };
	struct jobs_decision d = jobs_decide(&facts);
	char text[512];

	(void)state;
	assert_string_equal(jobs_explain(&facts, &d, text, sizeof(text)),
		"creates no Job: 3 waiting in s0-redis-a, 3 Jobs run, accurate: no Job is pending, at most 10; Jobs "
		"were created for that already, and the source was not asked again");
}

static void test_explain_paused(void **state)
{
	struct scaledjob_spec spec = lettered_spec(NULL, UNSET, UNSET);
	struct jobs_facts facts = { .spec = &spec, .paused = true };
	struct jobs_decision d = jobs_decide(&facts);
	char text[128];

	(void)state;
	assert_string_equal(jobs_explain(&facts, &d, text, sizeof(text)),
		"paused by annotation autoscaling.keda.sh/paused");
}

/* More triggers than a sentence can name, and a sentence without room. */
static void test_explain_many(void **state)
{
	struct scaledjob_spec spec = lettered_spec(NULL, UNSET, 10);
	struct jobs_trigger triggers[9];
	struct jobs_facts facts = { .spec = &spec, .triggers = triggers, .trigger_count = 9 };
	struct jobs_decision d;
	char text[512], exact[512];

	(void)state;
	for (int i = 0; i < 9; i++)
		triggers[i] = (struct jobs_trigger){ .index = i, .metric_name = "\xc3\xa9", .queue = i, .target = 1 };
	d = jobs_decide(&facts);
	jobs_explain(&facts, &d, exact, sizeof(exact));
	assert_string_equal(exact,
		"creates no Job: no trigger is active (\xc3\xa9 0, \xc3\xa9 1, \xc3\xa9 2, \xc3\xa9 3, \xc3\xa9 4 and "
		"4 more), no Job runs");
	for (size_t size = 1; size <= strlen(exact); size++) {
		memset(text, 'x', sizeof(text));
		jobs_explain(&facts, &d, text, size);
		assert_true(strlen(text) == size - 1 || strlen(text) == size - 2);
		assert_memory_equal(text, exact, strlen(text));
		assert_true(strlen(text) == size - 1 || (unsigned char)exact[strlen(text)] == 0xc3);
	}
	jobs_explain(&facts, &d, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_explain_answered),
		cmocka_unit_test(test_explain_paused),
		cmocka_unit_test(test_explain_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
