/* SPDX-License-Identifier: Apache-2.0 */
/* A tick of a ScaledJob: counting, the order of reads, and reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jobs_fixture.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakesource.h"

#include "base/mem.h"

#define POLL_MS   10000
#define MINUTE_MS 60000
#define TWO_TRIGGERS                                                                                                   \
	"'triggers':[{'type':'scripted','metadata':{'source':'a','threshold':'1'}},{'type':'scripted','metadata':{'"   \
	"source':'b','threshold':'1'}}]"

static unsigned pod_lists(void)
{
	return fakecluster_calls(KUBE_LIST, "/pods");
}

static void queue(const char *source, double items)
{
	fakesource_answer(source, items);
	fakesource_look(source);
	world_pass(1000);
}

static void the_default_strategy_fills_up_and_reads_no_pods(void **state)
{
	(void)state;
	jobs_ready("worker", "'maxReplicaCount':7");
	queue("worker", 3);
	assert_int_equal(jobs_count("worker"), 3);
	queue("worker", 5);
	assert_int_equal(jobs_count("worker"), 5);
	queue("worker", 100);
	assert_int_equal(jobs_count("worker"), 7);
	jobs_finish("worker", 2, "Complete");
	jobs_finish("worker", 1, "Failed");
	world_pass(2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 10);
	assert_int_equal(pod_lists(), 0);
}

static void the_minimum_runs_without_work(void **state)
{
	(void)state;
	jobs_ready("worker", "'minReplicaCount':2");
	assert_int_equal(jobs_count("worker"), 2);
	jobs_finish("worker", 1, "Complete");
	world_pass(2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 3);
}

/*
 * accurate: the queue has only entries that no Job has taken, so only pending Jobs are subtracted.
 */
static void accurate_subtracts_the_pending_ones(void **state)
{
	(void)state;
	jobs_ready("worker", "'scalingStrategy':{'strategy':'accurate'}");
	assert_int_equal(pod_lists(), 0);
	queue("worker", 3);
	assert_int_equal(jobs_count("worker"), 3);
	/* No Pods, and Pods that are pending, are the same. */
	world_pass(2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 3);
	jobs_pods("worker", "Pending");
	world_pass(2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 3);
	assert_true(pod_lists() > 0);
	jobs_pods("worker", "Running");
	queue("worker", 2);
	assert_int_equal(jobs_count("worker"), 5);
	queue("worker", 2);
	assert_int_equal(jobs_count("worker"), 5);
}

/* The queue was read once: it creates no further Jobs when those have begun. */
static void an_answer_that_is_kept_gives_jobs_once(void **state)
{
	(void)state;
	jobs_ready("worker", "'scalingStrategy':{'strategy':'accurate'}");
	fakesource_rest("worker", 2 * MINUTE_MS);
	queue("worker", 3);
	assert_int_equal(jobs_count("worker"), 3);
	jobs_pods("worker", "Running");
	fakesource_answer("worker", 7);
	world_pass(MINUTE_MS + 2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 3);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 10);
}

static void only_jobs_that_run_are_asked_about(void **state)
{
	(void)state;
	jobs_ready("worker", "'scalingStrategy':{'strategy':'accurate'}");
	queue("worker", 2);
	jobs_pods("worker", "Running");
	fakesource_answer("worker", 0);
	jobs_finish("worker", 2, "Complete");
	world_pass(2 * POLL_MS);
	fakecluster_forget_calls();
	world_pass(MINUTE_MS);
	assert_int_equal(pod_lists(), 0);
}

/* Created after the Pods were read: their Pods are unknown, so they are pending. */
static void a_job_created_during_the_look_is_pending(void **state)
{
	(void)state;
	jobs_ready("worker", "'scalingStrategy':{'strategy':'accurate'}");
	queue("worker", 1);
	jobs_pods("worker", "Running");
	fakecluster_hold_watches(true);
	fakecluster_answer_lag(300);
	fakesource_answer("worker", 4);
	for (int i = 0; i < 20; i++) {
		fakesource_look("worker");
		world_pass(100);
	}
	fakecluster_answer_lag(1);
	assert_int_equal(jobs_count("worker"), 5);
	fakecluster_hold_watches(false);
	world_pass(2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 5);
}

static void pods_that_cannot_be_read_create_nothing(void **state)
{
	(void)state;
	jobs_ready("worker", "'scalingStrategy':{'strategy':'eager'},'maxReplicaCount':5");
	queue("worker", 1);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_LIST, "/pods", FAKECLUSTER_ANY, 403);
	jobs_pods("worker", "Running");
	queue("worker", 3);
	assert_int_equal(jobs_count("worker"), 1);
	jobs_expect("worker", "Ready", "True");
	world_pass(3 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 1);
	jobs_expect("worker", "Ready", "False ErrorGettingPods");
	fakecluster_heal();
	world_pass(2 * POLL_MS);
	assert_true(jobs_count("worker") > 1);
	jobs_expect("worker", "Ready", "True");
}

/*
 * The Job took its item away after the queue was read: the item is in the answer, and the Job not
 * among those that run.
 */
static void one_that_ends_after_the_question_counts(void **state)
{
	(void)state;
	jobs_ready("worker", TWO_TRIGGERS);
	queue("a", 3);
	assert_int_equal(jobs_count("worker"), 3);
	fakesource_hang("b");
	fakesource_look("a");
	world_pass(1000); /* a has answered, b has not */
	jobs_finish("worker", 1, "Complete");
	fakesource_answer("a", 2);
	world_pass(4000);
	assert_int_equal(jobs_count("worker"), 3);
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", "trigger 1 (scripted)"), 1);
	fakesource_answer("b", 0);
	world_pass(2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 3);
}

/* Nor is it there any more. */
static void one_that_ends_and_goes_after_the_question_counts(void **state)
{
	(void)state;
	jobs_ready("worker", TWO_TRIGGERS);
	queue("a", 1);
	assert_int_equal(jobs_count("worker"), 1);
	fakesource_hang("b");
	fakesource_look("a");
	world_pass(1000);
	jobs_finish("worker", 1, "Complete");
	world_pass(10);
	fakecluster_delete(jobs_path("worker", 0));
	fakesource_answer("a", 0);
	world_pass(4000);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, "/jobs"), 1);
}

static void failing_triggers_are_reported_and_counted(void **state)
{
	(void)state;
	jobs_ready("worker", TWO_TRIGGERS);
	fakesource_fail("b", "connection refused");
	queue("a", 2);
	world_pass(POLL_MS);
	assert_int_equal(jobs_count("worker"), 2);
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", "trigger 1 (scripted)"), 1);
	jobs_expect("worker", "Ready", "True");
	world_pass(2 * POLL_MS);
	jobs_expect("worker", "Ready", "Unknown PartialTriggerError");
	assert_true((int)jobs_counted("keda_scaled_job_errors_total", "worker") >= 1);
	assert_int_equal((int)world_errors_counted("worker"), 0);
	fakesource_fail("a", "connection refused");
	world_pass(2 * POLL_MS);
	jobs_expect("worker", "Ready", "False TriggerError");
	assert_int_equal(jobs_count("worker"), 2);
	fakecluster_delete(SCALEDJOB("worker"));
	world_pass(1000);
	assert_int_equal((int)jobs_counted("keda_scaled_job_errors_total", "worker"), 0);
}

static void the_journal_has_the_reason(void **state)
{
	const struct journal_object *j;

	(void)state;
	jobs_ready("worker", "");
	queue("worker", 4);
	j = journal_get(world_object("scaledjobs/default/worker"));
	assert_non_null(j);
	assert_true(j->decided);
	assert_int_equal(j->change_count, 1);
	assert_int_equal(j->changes[0].from, 0);
	assert_int_equal(j->changes[0].to, 4);
	assert_string_equal(j->changes[0].who, "kscaled");
	assert_non_null(strstr(j->changes[0].why, "4"));
	queue("worker", 6);
	j = journal_get(world_object("scaledjobs/default/worker"));
	assert_int_equal(j->change_count, 2);
	assert_int_equal(j->changes[1].from, 4);
	assert_int_equal(j->changes[1].to, 6);
}

/* Both kinds under one name do not touch each other. */
static void a_scaledobject_of_the_same_name_is_another(void **state)
{
	(void)state;
	world_ready_object("worker", 0, "");
	jobs_ready("worker", "'triggers':[{'type':'scripted','metadata':{'source':'jobs','threshold':'1'}}]");
	queue("jobs", 2);
	assert_int_equal(jobs_count("worker"), 2);
	assert_int_equal(world_replicas("worker"), 0);
	queue("worker", 7);
	assert_int_equal(world_replicas("worker"), 1);
	assert_int_equal(jobs_count("worker"), 2);
	fakecluster_delete(SCALEDJOB("worker"));
	world_pass(MINUTE_MS);
	world_expect("worker", "Ready", "True");
	assert_int_equal(fakesource_watched("worker"), 1);
	assert_int_equal(fakesource_watched("jobs"), 0);
}

static void a_quiet_one_costs_no_writes(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 2);
	world_pass(POLL_MS);
	fakecluster_forget_calls();
	world_pass(60 * MINUTE_MS);
	assert_int_equal(fakecluster_writes(), 0);
	world_restart();
	world_pass(MINUTE_MS);
	assert_int_equal(fakecluster_writes(), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(the_default_strategy_fills_up_and_reads_no_pods),
		CASE(the_minimum_runs_without_work),
		CASE(accurate_subtracts_the_pending_ones),
		CASE(an_answer_that_is_kept_gives_jobs_once),
		CASE(only_jobs_that_run_are_asked_about),
		CASE(a_job_created_during_the_look_is_pending),
		CASE(pods_that_cannot_be_read_create_nothing),
		CASE(one_that_ends_after_the_question_counts),
		CASE(one_that_ends_and_goes_after_the_question_counts),
		CASE(failing_triggers_are_reported_and_counted),
		CASE(the_journal_has_the_reason),
		CASE(a_scaledobject_of_the_same_name_is_another),
		CASE(a_quiet_one_costs_no_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
