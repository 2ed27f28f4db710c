/* SPDX-License-Identifier: Apache-2.0 */
/* Unknown facts, answers that were used before, and the conditions. */
#include "decide/jobs/jobs.h"

#include "../../crd/given.h"
#include "jobs_letters.h"

static const struct err waiting = { .kind = ERR_WAITING, .msg = "not listed yet" };

struct scene { /* one trigger, a letter as in struct lettered, queue 5, maxReplicaCount 10 */
	const char *strategy, *calculation;
	int32_t min;
	const char *letters;
	int32_t running;
	const struct err *jobs_err, *pods_err;
	const char *create_trouble;
	enum jobs_rule rule;
	int32_t create;
	bool active, failing;
	const char *ready, *active_said, *failure; /* NULL: stays */
};

#define READY    "True ScaledJobReady: ScaledJob is defined correctly and is ready for scaling"
#define PARTIAL  "Unknown PartialTriggerError: Some triggers defined in ScaledJob are not working correctly"
#define ERROR    "False TriggerError: Triggers defined in ScaledJob are not working correctly"
#define NO_JOBS  "False ErrorGettingJobs: Error getting the Jobs of the ScaledJob"
#define NO_PODS  "False ErrorGettingPods: Error getting the Pods of the Jobs, which scalingStrategy.strategy needs"
#define REFUSED  "False KEDAJobCreateFailed: Failed to create Jobs"
#define ACTIVE   "True ScalerActive: Scaling is performed because triggers are active"
#define INACTIVE "False ScalerNotActive: Scaling is not performed because triggers are not active"
#define DOWN     "s0-redis-a: connection refused"
#define QUOTA    "exceeded quota"

static const struct scene scenes[] = {
	{ NULL, NULL, UNSET, "A", 0, NULL, NULL, NULL, JOBS_RULE_CREATE, 5, true, false, READY, ACTIVE, NULL },
	{ NULL, NULL, UNSET, "i", 0, NULL, NULL, NULL, JOBS_RULE_INACTIVE, 0, false, false, READY, INACTIVE, NULL },
	{ NULL, NULL, UNSET, "i", 3, NULL, NULL, NULL, JOBS_RULE_INACTIVE, 0, false, false, READY, INACTIVE, NULL },
	{ NULL, NULL, UNSET, "E", 0, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, false, true, ERROR, INACTIVE, DOWN },
	{ NULL, NULL, UNSET, "Ei", 0, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, false, true, ERROR, INACTIVE, DOWN },
	{ NULL, NULL, UNSET, "EA", 0, NULL, NULL, NULL, JOBS_RULE_CREATE, 5, true, true, PARTIAL, ACTIVE, DOWN },
	{ NULL, "min", UNSET, "EA", 0, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, true, true, PARTIAL, ACTIVE, DOWN },
	{ NULL, NULL, UNSET, "", 0, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, false, true, NULL, INACTIVE, NULL },
	/* the minimum is kept, and makes it active, whatever the triggers say */
	{ NULL, NULL, 2, "i", 0, NULL, NULL, NULL, JOBS_RULE_BELOW_MIN, 2, true, false, READY, ACTIVE, NULL },
	{ NULL, NULL, 2, "i", 2, NULL, NULL, NULL, JOBS_RULE_INACTIVE, 0, true, false, READY, ACTIVE, NULL },
	{ NULL, NULL, 2, "E", 1, NULL, NULL, NULL, JOBS_RULE_BELOW_MIN, 1, true, true, PARTIAL, ACTIVE, DOWN },
	{ NULL, NULL, 2, "E", 2, NULL, NULL, NULL, JOBS_RULE_ERROR_HOLD, 0, true, true, PARTIAL, ACTIVE, DOWN },
	{ NULL, NULL, 2, "", 0, NULL, NULL, NULL, JOBS_RULE_BELOW_MIN, 2, true, true, NULL, ACTIVE, NULL },
	/* Jobs */
	{ NULL, NULL, UNSET, "A", 0, &lettered_failure, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, true, true, NO_JOBS,
		NULL, "connection refused" },
	{ NULL, NULL, 2, "A", 0, &lettered_failure, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, true, true, NO_JOBS, NULL,
		"connection refused" },
	{ NULL, NULL, UNSET, "E", 0, &lettered_failure, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, false, true, NO_JOBS,
		NULL, "connection refused" },
	{ NULL, NULL, UNSET, "A", 0, &waiting, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, true, false, READY, NULL, NULL },
	{ NULL, NULL, UNSET, "E", 0, &waiting, NULL, NULL, JOBS_RULE_JOBS_UNKNOWN, 0, false, true, ERROR, NULL, DOWN },
	/* Pods */
	{ "accurate", NULL, UNSET, "A", 0, NULL, &lettered_failure, NULL, JOBS_RULE_PODS_UNKNOWN, 0, true, true,
		NO_PODS, ACTIVE, "connection refused" },
	{ "eager", NULL, UNSET, "A", 0, NULL, &lettered_failure, NULL, JOBS_RULE_PODS_UNKNOWN, 0, true, true, NO_PODS,
		ACTIVE, "connection refused" },
	{ "eager", NULL, UNSET, "A", 0, NULL, &waiting, NULL, JOBS_RULE_PODS_UNKNOWN, 0, true, false, READY, ACTIVE,
		NULL },
	{ "eager", NULL, UNSET, "i", 0, NULL, &lettered_failure, NULL, JOBS_RULE_INACTIVE, 0, false, true, NO_PODS,
		INACTIVE, "connection refused" },
	{ "eager", NULL, 2, "A", 0, NULL, &lettered_failure, NULL, JOBS_RULE_BELOW_MIN, 2, true, true, NO_PODS, ACTIVE,
		"connection refused" },
	{ "default", NULL, UNSET, "A", 0, NULL, &lettered_failure, NULL, JOBS_RULE_CREATE, 5, true, false, READY,
		ACTIVE, NULL },
	{ "custom", NULL, UNSET, "A", 0, NULL, &lettered_failure, NULL, JOBS_RULE_CREATE, 5, true, false, READY, ACTIVE,
		NULL },
	/* refused Jobs are tried again; nothing is wrong when none is wanted any more */
	{ NULL, NULL, UNSET, "A", 0, NULL, NULL, QUOTA, JOBS_RULE_CREATE, 5, true, false, REFUSED, ACTIVE, QUOTA },
	{ NULL, NULL, UNSET, "EA", 0, NULL, NULL, QUOTA, JOBS_RULE_CREATE, 5, true, true, REFUSED, ACTIVE, QUOTA },
	{ NULL, NULL, 2, "i", 0, NULL, NULL, QUOTA, JOBS_RULE_BELOW_MIN, 2, true, false, REFUSED, ACTIVE, QUOTA },
	{ NULL, NULL, UNSET, "i", 0, NULL, NULL, QUOTA, JOBS_RULE_INACTIVE, 0, false, false, READY, INACTIVE, NULL },
	{ NULL, NULL, UNSET, "E", 0, NULL, NULL, QUOTA, JOBS_RULE_ERROR_HOLD, 0, false, true, ERROR, INACTIVE, DOWN },
	{ NULL, NULL, UNSET, "A", 0, &lettered_failure, NULL, QUOTA, JOBS_RULE_JOBS_UNKNOWN, 0, true, true, NO_JOBS,
		NULL, "connection refused" },
};

/* facts.triggers is the caller's room for four. */
static void set_scene(const struct scene *scene, struct scaledjob_spec *spec, struct jobs_trigger *triggers,
	struct jobs_facts *facts)
{
	struct lettered g[LETTERED_MAX] = { { .letter = 0 } };

	for (int i = 0; scene->letters[i] != '\0'; i++) {
		g[i].index = i;
		g[i].queue = 5;
		g[i].target = 1;
		g[i].letter = scene->letters[i];
	}
	*spec = lettered_spec(scene->strategy, scene->min, 10);
	spec->calculation = (char *)(uintptr_t)scene->calculation;
	*facts = (struct jobs_facts){ .spec = spec,
		.now_unix_ms = T,
		.triggers = triggers,
		.trigger_count = lettered_triggers(g, triggers),
		.running = scene->running,
		.jobs_err = scene->jobs_err,
		.pods_err = scene->pods_err,
		.create_trouble = scene->create_trouble,
		.last_active_unix_ms = T - 5000 };
}

static void check_said(size_t scene, const struct jobs_words *words, const char *wanted)
{
	char said[256] = "";

	if (words != NULL)
		snprintf(said, sizeof(said), "%s %s: %s", condition_status_name(words->status), words->reason,
			words->message);
	if (strcmp(said, wanted != NULL ? wanted : "") != 0)
		fail_msg("scene %zu: %s", scene, said);
}

static void test_scenes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		const struct scene *scene = &scenes[i];
		struct scaledjob_spec spec;
		struct jobs_trigger triggers[4];
		struct jobs_facts facts;
		struct jobs_decision d;
		char failure[ERR_MSG_MAX] = "";

		set_scene(scene, &spec, triggers, &facts);
		d = jobs_decide(&facts);
		if (d.rule != scene->rule || d.create != scene->create || d.active != scene->active ||
			d.failing != scene->failing)
			fail_msg("scene %zu: %s creates %d, active %d, failing %d", i, jobs_rule_name(d.rule),
				(int)d.create, d.active, d.failing);
		check_said(i, d.ready_words, scene->ready);
		check_said(i, d.active_words, scene->active_said);
		if (d.last_active_unix_ms != (scene->active ? T : T - 5000))
			fail_msg("scene %zu: active at %lld", i, (long long)d.last_active_unix_ms);
		if (jobs_failure(&facts, failure, sizeof(failure)) != (scene->failure != NULL) ||
			strcmp(failure, scene->failure != NULL ? scene->failure : "") != 0)
			fail_msg("scene %zu: %s", i, failure);
		d.ready_words = NULL; /* not ready, whatever the scene */
		assert_true((jobs_ready_look(&facts, &d).cause != 0) == (scene->failure != NULL));
	}
}

static void test_first_trigger(void **state)
{
	static const struct {
		const char *letters;
		int trigger;
	} cases[] = { { "iA", 1 }, { "EA", 1 }, { "AE", 0 }, { "iE", 1 }, { "ii", -1 }, { "", -1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene = { .letters = cases[i].letters, .min = UNSET };
		struct scaledjob_spec spec;
		struct jobs_trigger triggers[4];
		struct jobs_facts facts;

		set_scene(&scene, &spec, triggers, &facts);
		assert_int_equal(jobs_decide(&facts).trigger, cases[i].trigger);
	}
}

static void test_last_active(void **state)
{
	struct scaledjob_spec spec = lettered_spec(NULL, UNSET, 10);
	struct jobs_facts facts = { .spec = &spec, .now_unix_ms = T };

	(void)state;
	assert_int_equal(jobs_decide(&facts).last_active_unix_ms, 0); /* never */
	facts.last_active_unix_ms = T + 1000;
	assert_int_equal(jobs_decide(&facts).last_active_unix_ms, T); /* another replica's clock */
	facts.last_active_unix_ms = T - 1000;
	assert_int_equal(jobs_decide(&facts).last_active_unix_ms, T - 1000);
}

static void test_paused(void **state)
{
	struct scaledjob_spec spec = lettered_spec(NULL, 3, 10);
	struct jobs_trigger trigger = { .metric_name = "s0-redis-a", .queue = 5, .target = 1, .active = true };
	struct jobs_facts facts = { .spec = &spec,
		.now_unix_ms = T,
		.triggers = &trigger,
		.trigger_count = 1,
		.paused = true,
		.last_active_unix_ms = T - 5000 };
	struct jobs_decision d = jobs_decide(&facts);

	(void)state;
	assert_int_equal(d.rule, JOBS_RULE_PAUSED);
	assert_int_equal(d.create, 0);
	assert_false(d.active);
	assert_int_equal(d.last_active_unix_ms, T - 5000);
	assert_null(d.ready_words);
	assert_null(d.active_words);
}

static void test_needs_pods(void **state)
{
	static const struct {
		const char *strategy;
		bool needs;
	} cases[] = { { "accurate", true }, { "eager", true }, { "custom", false }, { "default", false },
		{ NULL, false }, { "other", false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob_spec spec = lettered_spec(cases[i].strategy, UNSET, UNSET);

		assert_int_equal(jobs_needs_pods(&spec), cases[i].needs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenes),
		cmocka_unit_test(test_first_trigger),
		cmocka_unit_test(test_last_active),
		cmocka_unit_test(test_paused),
		cmocka_unit_test(test_needs_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
