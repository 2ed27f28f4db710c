/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobconditions.h"

#include "../../crd/given.h"
#include "../said.h"

#define T          1767323045000 /* 2026-01-02T03:04:05Z */
#define GENERATION ",'generation':4"

static const char *const metrics[] = { "s0-redis-jobs", "s1-redis-mail" };

static const struct job_outcome all_set_up = { .paused_known = true, .metric_names = metrics, .metric_count = 2 };

static struct scaledjob *job_with(const char *status)
{
	char *text = mem_printf("{'metadata':{'name':'print','namespace':'shop','uid':'u'" GENERATION
				"},'spec':{'jobTargetRef':{'template':{}},"
				"'triggers':[{'type':'redis','metadata':{},'authenticationRef':{'name':'one'}},{'type':"
				"'redis','metadata':{}},{'type':'cron','metadata':{},'authenticationRef':{'name':'two'}"
				"}]},'status':%s}",
		status);
	struct scaledjob *sj = given_scaledjob(text);

	free(text);
	return sj;
}

#define SET_UP       "True ScaledJobReady: ScaledJob is defined correctly and is ready to scaling"
#define READY        "True ScaledJobReady: ScaledJob is defined correctly and is ready for scaling"
#define READY_PAUSED "True ScaledJobReady: ScaledJob is paused, skipping reconcile loop"
#define PAUSED       "True ScaledJobPaused: ScaledJob is paused"
#define UNPAUSED     "False ScaledJobUnpaused: ScaledJob is unpaused"
#define ACTIVE       "True ScalerActive: Scaling is performed because triggers are active"
#define INACTIVE     "False ScalerNotActive: Scaling is not performed because triggers are not active"
#define PARTIAL      "Unknown PartialTriggerError: Some triggers defined in ScaledJob are not working correctly: "
#define ERROR        "False TriggerError: Triggers defined in ScaledJob are not working correctly: "
#define NO_JOBS      "False ErrorGettingJobs: Error getting the Jobs of the ScaledJob: "

/* ---- After a reconcile ---- */

static void test_first_reconcile(void **state)
{
	struct scaledjob *sj = job_with("null");
	json_t *encoded, *wanted;

	(void)state;
	jobconditions_after_reconcile(sj, &all_set_up, T, &sj->status);
	encoded = scaledobject_status_encode(&sj->status);
	wanted = given_json(
		"{'externalMetricNames':['s0-redis-jobs','s1-redis-mail'],'triggersTypes':'redis,cron','"
		"authenticationsTypes':'one,two','conditions':["
		"{'type':'Ready','status':'True','reason':'ScaledJobReady','message':'ScaledJob is defined correctly "
		"and is ready to scaling','lastTransitionTime':'2026-01-02T03:04:05Z','observedGeneration':4},"
		"{'type':'Active','status':'Unknown','lastTransitionTime':'2026-01-02T03:04:05Z','observedGeneration':"
		"4},"
		"{'type':'Paused','status':'False','lastTransitionTime':'2026-01-02T03:04:05Z','observedGeneration':4}]"
		"}");
	if (!json_equal(encoded, wanted))
		fail_msg("%s", json_text(encoded));
	json_decref(encoded);
	json_decref(wanted);
	scaledjob_free(sj);
}

static void test_reconcile_again_changes_nothing(void **state)
{
	struct scaledjob *sj = job_with("null");
	struct scaledobject_status again = { 0 };

	(void)state;
	jobconditions_after_reconcile(sj, &all_set_up, T, &sj->status);
	scaledobject_status_copy(&again, &sj->status);
	jobconditions_after_reconcile(sj, &all_set_up, T + 60000, &again);
	assert_null(scaledobject_status_patch(&sj->status, &again, true));
	scaledobject_status_done(&again);
	scaledjob_free(sj);
}

static void test_reconcile_failed(void **state)
{
	struct scaledjob *sj = job_with(
		"{'externalMetricNames':['s0-redis-jobs'],'triggersActivity':{'s0-redis-jobs':{'isActive':true}}}");
	struct err err = { .kind = ERR_INVALID,
		.msg = "ScaledJob doesn't have correct triggers specification: trigger 1: no such type" };
	struct job_outcome failed = { .err = &err };

	(void)state;
	jobconditions_after_reconcile(sj, &failed, T, &sj->status);
	assert_string_equal(said(&sj->status, "Ready"),
		"False ScaledJobCheckFailed: ScaledJob doesn't have correct triggers specification: trigger 1: no such "
		"type");
	assert_string_equal(said(&sj->status, "Active"), "Unknown UnknownState: ScaledJob check failed");
	assert_string_equal(said(&sj->status, "Paused"), "False : ");
	assert_string_equal(said(&sj->status, "Fallback"), ""); /* does not exist for ScaledJobs */
	/* known values stay */
	assert_int_equal(sj->status.external_metric_count, 1);
	assert_int_equal(sj->status.activity_count, 1);
	assert_string_equal(sj->status.triggers_types, "redis,cron");
	/* and when it is valid again, Ready says so; Active waits for a tick */
	jobconditions_after_reconcile(sj, &all_set_up, T, &sj->status);
	assert_string_equal(said(&sj->status, "Ready"), SET_UP);
	assert_string_equal(said(&sj->status, "Active"), "Unknown UnknownState: ScaledJob check failed");
	scaledjob_free(sj);
}

static void test_reconcile_prunes(void **state)
{
	struct scaledjob *sj = job_with("{'externalMetricNames':['s0-redis-jobs','s1-old'],'triggersActivity':{'s1-old'"
					":{'isActive':true},'s0-redis-jobs':{'isActive':true}}}");

	(void)state;
	jobconditions_after_reconcile(sj, &all_set_up, T, &sj->status);
	assert_int_equal(sj->status.external_metric_count, 2);
	assert_string_equal(sj->status.external_metric_names[1], "s1-redis-mail");
	assert_int_equal(sj->status.activity_count, 1);
	assert_string_equal(sj->status.activity[0].metric, "s0-redis-jobs");
	assert_true(sj->status.activity[0].active);
	scaledjob_free(sj);
}

/* A successful reconcile does not hide the loop's findings, but replaces anything else. */
static void test_reconcile_leaves_the_loops_ready(void **state)
{
	static const struct {
		const char *ready, *after;
	} cases[] = {
		{ "'False','reason':'TriggerError','message':'m'", "False TriggerError: m" },
		{ "'Unknown','reason':'PartialTriggerError','message':'m'", "Unknown PartialTriggerError: m" },
		{ "'False','reason':'ErrorGettingJobs','message':'m'", "False ErrorGettingJobs: m" },
		{ "'False','reason':'ErrorGettingPods','message':'m'", "False ErrorGettingPods: m" },
		{ "'False','reason':'KEDAJobCreateFailed','message':'m'", "False KEDAJobCreateFailed: m" },
		{ "'False','reason':'ScaledJobCheckFailed','message':'m'", SET_UP },
		{ "'Unknown'", SET_UP },
		{ "'True','reason':'ScaledJobReady','message':'ScaledJob is paused, skipping reconcile loop'", SET_UP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *status = mem_printf("{'conditions':[{'type':'Ready','status':%s,'observedGeneration':1},{'type':'"
					  "Paused','status':'False','observedGeneration':1}]}",
			cases[i].ready);
		struct scaledjob *sj = job_with(status);

		jobconditions_after_reconcile(sj, &all_set_up, T, &sj->status);
		assert_string_equal(said(&sj->status, "Ready"), cases[i].after);
		assert_int_equal(conditions_get(&sj->status.conditions, "Ready")->observed_generation, 4);
		assert_int_equal(conditions_get(&sj->status.conditions, "Paused")->observed_generation, 4);
		scaledjob_free(sj);
		free(status);
	}
}

static void test_broken_spec(void **state)
{
	struct scaledjob *sj = given_scaledjob(
		"{'metadata':{'name':'print'},'spec':{'triggers':[3]},'status':{'triggersTypes':'redis'}}");
	struct job_outcome failed = { .err = sj->spec_err };

	(void)state;
	assert_non_null(sj->spec_err);
	jobconditions_after_reconcile(sj, &failed, T, &sj->status);
	assert_string_equal(sj->status.triggers_types, "redis");
	scaledjob_free(sj);
}

static void test_pause(void **state)
{
	static const struct err wrong = { .kind = ERR_INVALID, .msg = "wrong" };
	static const struct {
		struct job_outcome o;
		const char *paused, *ready;
	} steps[] = {
		{ { .paused_known = true, .paused = true }, PAUSED, READY_PAUSED },
		{ { .paused_known = true, .paused = true, .err = &wrong }, PAUSED,
			"False ScaledJobCheckFailed: wrong" },
		{ { .paused_known = true, .paused = true }, PAUSED, READY_PAUSED },
		/* the annotation is unreadable: unknown */
		{ { .err = &wrong }, PAUSED, "False ScaledJobCheckFailed: wrong" },
		{ { .paused_known = true }, UNPAUSED, SET_UP },
		{ { .paused_known = true }, UNPAUSED, SET_UP },
	};
	struct scaledjob *sj = job_with(
		"{'conditions':[{'type':'Ready','status':'False','reason':'TriggerError','message':'m'}]}");

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		jobconditions_after_reconcile(sj, &steps[i].o, T, &sj->status);
		assert_string_equal(said(&sj->status, "Paused"), steps[i].paused);
		assert_string_equal(said(&sj->status, "Ready"), steps[i].ready);
	}
	scaledjob_free(sj);
}

/* ---- After a tick ---- */

struct tick {
	struct jobs_trigger triggers[2];
	struct jobs_facts facts;
	struct jobs_decision d;
};

static const struct err source_down = { .kind = ERR_TEMPORARY, .msg = "down" };

/* letters: Active, inactive, Error; an E in front of both: the Jobs cannot be read */
static void tick(const struct scaledjob *sj, const char *letters, int64_t last_active, int64_t now,
	struct scaledobject_status *status, struct tick *t)
{
	*t = (struct tick){ .facts = { .spec = &sj->spec,
				    .now_unix_ms = now,
				    .triggers = t->triggers,
				    .trigger_count = 2,
				    .last_active_unix_ms = last_active } };
	if (strlen(letters) == 3)
		t->facts.jobs_err = &source_down;
	letters += strlen(letters) - 2;
	for (int i = 0; i < 2; i++)
		t->triggers[i] = (struct jobs_trigger){ .index = i,
			.metric_name = metrics[i],
			.queue = 1,
			.target = 1,
			.active = letters[i] != 'i',
			.err = letters[i] == 'E' ? &source_down : NULL };
	t->d = jobs_decide(&t->facts);
	jobconditions_after_tick(sj, &t->facts, &t->d, now, status);
}

static struct scaledjob *reconciled(void)
{
	struct scaledjob *sj = job_with("null");

	jobconditions_after_reconcile(sj, &all_set_up, T, &sj->status);
	return sj;
}

/*
 * A life: quiet, active for long, failing for a moment, quiet again. Each step has the expected
 * writes.
 */
static void test_life(void **state)
{
	static const struct {
		const char *letters;
		int64_t after_ms;
		int64_t last_active_ms;
		bool written;
		const char *ready, *active;
		int64_t stored_ms;
	} steps[] = {
		/* reconcile's text of Ready is as good as the loop's */
		{ "ii", 0, 0, true, SET_UP, INACTIVE, 0 },
		{ "ii", 5000, 0, false, SET_UP, INACTIVE, 0 },
		{ "iA", 10000, 0, true, SET_UP, ACTIVE, 10000 },
		{ "iA", 15000, 10000, false, SET_UP, ACTIVE, 10000 },
		{ "iA", 600000, 595000, false, SET_UP, ACTIVE, 10000 },
		{ "EA", 605000, 600000, true, PARTIAL "s0-redis-jobs: down", ACTIVE, 10000 },
		{ "iA", 610000, 605000, true, READY, ACTIVE, 10000 },
		{ "ii", 615000, 610000, true, READY, INACTIVE, 610000 },
		{ "ii", 620000, 610000, false, READY, INACTIVE, 610000 },
		{ "iE", 625000, 610000, true, ERROR "s1-redis-mail: down", INACTIVE, 610000 },
		{ "iE", 630000, 610000, false, ERROR "s1-redis-mail: down", INACTIVE, 610000 },
		{ "ii", 635000, 610000, true, READY, INACTIVE, 610000 },
		{ "Eii", 640000, 610000, true, NO_JOBS "down", INACTIVE, 610000 },
		/* the triggers' activity, but no time at each tick */
		{ "EAA", 645000, 610000, true, NO_JOBS "down", INACTIVE, 610000 },
		{ "EAA", 650000, 645000, false, NO_JOBS "down", INACTIVE, 0 },
		{ "ii", 655000, 650000, true, READY, INACTIVE, 650000 },
	};
	struct scaledjob *sj = reconciled();

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct scaledobject_status before = { 0 };
		struct tick t;
		char *patch;

		scaledobject_status_copy(&before, &sj->status);
		tick(sj, steps[i].letters, steps[i].last_active_ms ? T + steps[i].last_active_ms : 0,
			T + steps[i].after_ms, &sj->status, &t);
		patch = scaledobject_status_patch(&before, &sj->status, true);
		if ((patch != NULL) != steps[i].written)
			fail_msg("step %zu: %s", i, patch != NULL ? patch : "nothing is written");
		assert_string_equal(said(&sj->status, "Ready"), steps[i].ready);
		assert_string_equal(said(&sj->status, "Active"), steps[i].active);
		if (steps[i].written)
			assert_int_equal(sj->status.last_active_unix_ms,
				steps[i].stored_ms ? T + steps[i].stored_ms : 0);
		free(patch);
		scaledobject_status_done(&before);
	}
	scaledjob_free(sj);
}

static void test_activity(void **state)
{
	struct scaledjob *sj = reconciled();
	struct tick t;

	(void)state;
	tick(sj, "AE", 0, T, &sj->status, &t);
	assert_int_equal(sj->status.activity_count, 2);
	assert_string_equal(sj->status.activity[0].metric, "s0-redis-jobs");
	assert_true(sj->status.activity[0].active);
	assert_false(sj->status.activity[1].active); /* failing: its value does not count */
	/* a tick without answers knows nothing of the triggers or of Ready */
	t.facts.trigger_count = 0;
	t.d = jobs_decide(&t.facts);
	jobconditions_after_tick(sj, &t.facts, &t.d, T, &sj->status);
	assert_true(sj->status.activity[0].active);
	assert_string_equal(said(&sj->status, "Ready"), PARTIAL "s1-redis-mail: down");
	scaledjob_free(sj);
}

/*
 * A text that differs at each poll would be a write at each poll: the cause is repeated only when
 * it is new.
 */
static void test_cause(void **state)
{
	static const struct err late = { .kind = ERR_TEMPORARY, .msg = "timed out after 17 ms" },
				password = { .kind = ERR_DENIED, .msg = "WRONGPASS" };
	struct scaledjob *sj = reconciled();
	struct tick t;

	(void)state;
	tick(sj, "Ei", 0, T, &sj->status, &t);
	assert_string_equal(said(&sj->status, "Ready"), ERROR "s0-redis-jobs: down");
	t.triggers[0].err = &late;
	jobconditions_after_tick(sj, &t.facts, &t.d, T, &sj->status);
	assert_string_equal(said(&sj->status, "Ready"), ERROR "s0-redis-jobs: down");
	t.triggers[0].err = &password;
	t.facts.cause_is_news = true;
	jobconditions_after_tick(sj, &t.facts, &t.d, T, &sj->status);
	assert_string_equal(said(&sj->status, "Ready"), ERROR "s0-redis-jobs: WRONGPASS");
	tick(sj, "ii", 0, T, &sj->status, &t);
	assert_string_equal(said(&sj->status, "Ready"), READY);
	scaledjob_free(sj);
}

/* While the API server refuses the Jobs, until it takes one. */
static void test_refused(void **state)
{
	static const char refused[] = "False KEDAJobCreateFailed: Failed to create Jobs: jobs.batch \"print-x7k2p\" is "
				      "forbidden: exceeded quota";
	struct scaledjob *sj = reconciled();
	struct tick t;

	(void)state;
	tick(sj, "Ai", 0, T, &sj->status, &t);
	t.facts.create_trouble = "jobs.batch \"print-x7k2p\" is forbidden: exceeded quota";
	t.facts.cause_is_news = true;
	t.d = jobs_decide(&t.facts);
	jobconditions_after_tick(sj, &t.facts, &t.d, T, &sj->status);
	assert_string_equal(said(&sj->status, "Ready"), refused);
	assert_string_equal(said(&sj->status, "Active"), ACTIVE);
	t.facts.create_trouble = "jobs.batch \"print-b0b1c\" is forbidden: exceeded quota";
	t.facts.cause_is_news = false;
	jobconditions_after_tick(sj, &t.facts, &t.d, T, &sj->status);
	assert_string_equal(said(&sj->status, "Ready"), refused);
	/* a reconcile between two ticks knows nothing better */
	jobconditions_after_reconcile(sj, &all_set_up, T, &sj->status);
	assert_string_equal(said(&sj->status, "Ready"), refused);
	t.facts.create_trouble = NULL;
	t.d = jobs_decide(&t.facts);
	jobconditions_after_tick(sj, &t.facts, &t.d, T, &sj->status);
	assert_string_equal(said(&sj->status, "Ready"), READY);
	scaledjob_free(sj);
}

/*
 * A loop that still runs with the last valid spec neither hides a failed reconcile nor writes at
 * each tick.
 */
static void test_tick_beside_failed_check(void **state)
{
	struct scaledjob *sj = reconciled();
	struct err err = { .kind = ERR_INVALID, .msg = "wrong" };
	struct job_outcome failed = { .err = &err };
	struct scaledobject_status before = { 0 };
	struct tick t;

	(void)state;
	jobconditions_after_reconcile(sj, &failed, T, &sj->status);
	tick(sj, "AA", 0, T + 5000, &sj->status, &t);
	assert_string_equal(said(&sj->status, "Ready"), "False ScaledJobCheckFailed: wrong");
	assert_string_equal(said(&sj->status, "Active"), "Unknown UnknownState: ScaledJob check failed");
	scaledobject_status_copy(&before, &sj->status);
	tick(sj, "AA", T + 5000, T + 10000, &sj->status, &t);
	assert_null(scaledobject_status_patch(&before, &sj->status, true));
	scaledobject_status_done(&before);
	scaledjob_free(sj);
}

static void test_paused_tick(void **state)
{
	struct scaledjob *sj = reconciled();
	struct scaledobject_status before = { 0 };
	struct tick t;

	(void)state;
	tick(sj, "AA", 0, T, &sj->status, &t);
	scaledobject_status_copy(&before, &sj->status);
	t.facts.paused = true;
	t.facts.jobs_err = &source_down;
	t.facts.last_active_unix_ms = T + 1000;
	t.triggers[0].active = false;
	t.facts.now_unix_ms = T + 5000;
	t.d = jobs_decide(&t.facts);
	jobconditions_after_tick(sj, &t.facts, &t.d, T + 5000, &sj->status);
	assert_null(scaledobject_status_patch(&before, &sj->status, true));
	scaledobject_status_done(&before);
	scaledjob_free(sj);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_reconcile),
		cmocka_unit_test(test_reconcile_again_changes_nothing),
		cmocka_unit_test(test_reconcile_failed),
		cmocka_unit_test(test_reconcile_prunes),
		cmocka_unit_test(test_reconcile_leaves_the_loops_ready),
		cmocka_unit_test(test_broken_spec),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_activity),
		cmocka_unit_test(test_cause),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_tick_beside_failed_check),
		cmocka_unit_test(test_paused_tick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
