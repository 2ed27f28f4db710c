/* SPDX-License-Identifier: Apache-2.0 */
/* Which Jobs are deleted, when, and how: the history, and the earlier version after a change. */
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

#define POLL_MS        10000
#define MINUTE_MS      60000
#define DELETES_MAX    16
#define OTHER_TEMPLATE "'jobTargetRef':{'template':{'spec':{'containers':[{'name':'main','image':'newer'}]}}}"

static unsigned deletes(void)
{
	return fakecluster_calls(KUBE_DELETE, "/jobs/");
}

static void queue(const char *source, double items)
{
	fakesource_answer(source, items);
	fakesource_look(source);
	world_pass(1000);
}

/* ---- History ---- */

static void the_history_is_kept_short_as_jobs_finish(void **state)
{
	(void)state;
	jobs_ready("worker", "'successfulJobsHistoryLimit':2,'failedJobsHistoryLimit':1");
	queue("worker", 6);
	fakesource_answer("worker", 0);
	world_pass(POLL_MS);
	/* Not only at polls. */
	jobs_finish("worker", 3, "Complete");
	world_pass(100);
	assert_int_equal(jobs_count("worker"), 5);
	jobs_finish("worker", 3, "Failed");
	world_pass(100);
	assert_int_equal(jobs_count("worker"), 3);
	assert_int_equal(deletes(), 3);
	assert_non_null(strstr(fakecluster_last_body(KUBE_DELETE, "/jobs/"), "\"propagationPolicy\":\"Background\""));
	assert_non_null(strstr(fakecluster_last_body(KUBE_DELETE, "/jobs/"), "\"preconditions\":{\"uid\":\"uid-"));
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 3);
	assert_int_equal(fakecluster_events_sent("ScaledJobRolloutCleanupStarted", ""), 0);
	jobs_expect("worker", "Ready", "True");
}

static void delete_them(void)
{
	while (jobs_count("worker") > 0)
		fakecluster_delete(jobs_path("worker", 0));
}

/* Nor is it deleted again and again until the watch shows the result. */
static void a_job_that_is_gone_is_not_a_failure(void **state)
{
	(void)state;
	jobs_ready("worker", "'successfulJobsHistoryLimit':0");
	queue("worker", 2);
	fakesource_answer("worker", 0);
	world_pass(POLL_MS);
	fakecluster_just_before(KUBE_DELETE, "/jobs/", delete_them);
	jobs_finish("worker", 2, "Complete");
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 2);
	jobs_expect("worker", "Ready", "True");
}

/* As from a proxy: a running Job counts. */
static void a_404_alone_makes_no_job_go(void **state)
{
	(void)state;
	jobs_ready("worker", "'pollingInterval':1");
	queue("worker", 3);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_DELETE, "/jobs/", FAKECLUSTER_ANY, 404);
	jobs_scaledjob("worker", "'pollingInterval':1," OTHER_TEMPLATE);
	world_pass(2 * MINUTE_MS);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, "/jobs"), 3);
	assert_in_range(deletes(), 9, 30);
	fakecluster_heal();
	world_pass(2 * MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 3);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, "/jobs"), 6);
}

static void a_history_that_cannot_be_deleted_is_tried_again_slower(void **state)
{
	(void)state;
	jobs_ready("worker", "'successfulJobsHistoryLimit':0");
	queue("worker", 1);
	fakesource_answer("worker", 0);
	world_pass(POLL_MS);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_DELETE, "/jobs/", FAKECLUSTER_ANY, 500);
	jobs_finish("worker", 1, "Complete");
	world_pass(10 * MINUTE_MS);
	assert_in_range(deletes(), 8, 20);
	jobs_expect("worker", "Ready", "True"); /* it still does its work */
	fakecluster_heal();
	world_pass(2 * MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 0);
}

/* Its item may still be in the answers that are awaited: it counts until they are there. */
static void a_job_that_ends_during_a_look_is_kept_until_its_end(void **state)
{
	(void)state;
	jobs_ready("worker",
		"'successfulJobsHistoryLimit':0,'triggers':[{'type':'scripted','metadata':{'source':'a','threshold':'1'"
		"}},"
		"{'type':'scripted','metadata':{'source':'b','threshold':'1'}}]");
	queue("a", 3);
	fakesource_hang("b");
	fakesource_look("a");
	world_pass(1000);
	jobs_finish("worker", 1, "Complete");
	fakesource_answer("a", 2);
	world_pass(1000);
	assert_int_equal(deletes(), 0);
	world_pass(3000);
	assert_int_equal(deletes(), 1);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, "/jobs"), 3);
}

static void deletes_keep_to_the_cap(void **state)
{
	unsigned most = 0;

	(void)state;
	jobs_ready("a", "'successfulJobsHistoryLimit':0");
	jobs_ready("b", "'successfulJobsHistoryLimit':0");
	queue("a", 60);
	queue("b", 60);
	fakesource_answer("a", 0);
	fakesource_answer("b", 0);
	world_pass(2 * POLL_MS);
	fakecluster_hold_watches(true);
	jobs_finish("a", 60, "Complete");
	jobs_finish("b", 60, "Complete");
	fakecluster_hold_watches(false);
	fakecluster_answer_lag(10);
	for (int i = 0; i < 300; i++) {
		world_pass(1);
		most = fakecluster_under_way() > most ? fakecluster_under_way() : most;
	}
	world_pass(POLL_MS);
	assert_int_equal(most, DELETES_MAX);
	assert_int_equal(deletes(), 120);
	assert_int_equal(jobs_count("a") + jobs_count("b"), 0);
}

/* ---- Rollout ---- */

static void another_template_replaces_the_jobs_that_run(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 5);
	jobs_finish("worker", 2, "Complete");
	queue("worker", 3);
	jobs_scaledjob("worker", OTHER_TEMPLATE);
	world_pass(2000);
	/* Three ran and are replaced; those that had finished are history. */
	assert_int_equal(deletes(), 3);
	assert_int_equal(jobs_count("worker"), 5);
	assert_int_equal(fakecluster_events_sent("ScaledJobRolloutCleanupStarted",
				 "Deleting 3 jobs owned by the previous version of the scaledJob"),
		1);
	assert_int_equal(fakecluster_events_sent("ScaledJobRolloutCleanupCompleted", "Deleted 3 jobs"), 1);
	assert_non_null(strstr(fakecluster_last_body(KUBE_DELETE, "/jobs/"), "\"propagationPolicy\":\"Background\""));
	jobs_expect("worker", "Ready", "True");
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 3);
}

static void the_spec_decides_the_propagation(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 2);
	jobs_scaledjob("worker", OTHER_TEMPLATE ",'rollout':{'strategy':'gradual'}");
	world_pass(2000);
	assert_int_equal(deletes(), 0);
	jobs_scaledjob("worker", OTHER_TEMPLATE ",'rollout':{'strategy':'immediate','propagationPolicy':'foreground'}");
	world_pass(2000);
	assert_int_equal(deletes(), 2);
	assert_non_null(strstr(fakecluster_last_body(KUBE_DELETE, "/jobs/"), "\"propagationPolicy\":\"Foreground\""));
}

#define WORKER        SCALEDJOB("worker")
#define SERVED(limit) "'jobTargetRef':{'backoffLimit':" #limit "}"
#define HISTORY       "/scaledjobs?fieldSelector=metadata.name%3Dworker&resourceVersion="

/* Another CRD fills in a field; that is first seen with a change of something else. */
static void a_template_served_differently_is_the_same(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 3);
	fakecluster_earlier(WORKER, "{'spec':{" SERVED(6) "}}");
	fakecluster_change(WORKER, "{'spec':{'maxReplicaCount':7," SERVED(6) "}}");
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 0);
	assert_int_equal(fakecluster_calls(KUBE_LIST, HISTORY),
		2); /* the previous one, and that there is none before it */
	/* Changed back, and changed again at once: Jobs of both versions are known. */
	fakecluster_change(WORKER, "{'spec':{'maxReplicaCount':8,'jobTargetRef':{'backoffLimit':null}}}");
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 0);
	assert_int_equal(fakecluster_calls(KUBE_LIST, HISTORY), 2);
	/* A change is a change. */
	fakecluster_earlier(WORKER, "{}");
	fakecluster_change(WORKER, "{'spec':{" SERVED(5) "}}");
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 3);
	assert_int_equal(jobs_count("worker"), 3);
	jobs_expect("worker", "Ready", "True");
}

/* It sees that this generation was reconciled, and etcd has forgotten the versions before it. */
static void the_next_leader_uses_the_status(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 3);
	fakecluster_earlier(WORKER, "{'spec':{" SERVED(6) "}}");
	fakecluster_change(WORKER, "{'spec':{'maxReplicaCount':7," SERVED(6) "}}");
	world_pass(MINUTE_MS);
	fakecluster_earlier(WORKER, "{'metadata':{'uid':'another'}}");
	world_restart();
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 0);
	jobs_expect("worker", "Ready", "True");
}

static void an_unseen_change(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 3);
	world_lead(false);
	fakecluster_earlier(WORKER, "{}");
	fakecluster_change(WORKER, "{'spec':{" SERVED(5) "}}");
	world_restart();
	world_lead(true);
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 3);
}

/* A server that cannot list the old versions: jobTargetRef counts as changed. */
static void old_versions_cannot_be_listed(void **state)
{
	static const int statuses[] = { 410, 403, 400, 500 };

	(void)state;
	jobs_ready("worker", "");
	queue("worker", 3);
	for (size_t i = 0; i < MEM_COUNT(statuses); i++) {
		MEM_AUTO char *change = mem_printf("{'spec':{'jobTargetRef':{'backoffLimit':%zu}}}", i);

		fakecluster_forget_calls();
		fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_LIST, HISTORY, FAKECLUSTER_ANY, statuses[i]);
		fakecluster_change(WORKER, change);
		world_pass(MINUTE_MS);
		assert_int_equal(deletes(), 3);
		assert_int_equal(fakecluster_calls(KUBE_LIST, HISTORY), statuses[i] == 500 ? 5 : 1);
		fakecluster_heal();
	}
}

/* Jobs that wait for their Pods are deleted once, and still count as running. */
static void those_that_are_being_deleted_still_run(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 2);
	fakecluster_change(jobs_path("worker", 0), "{'metadata':{'finalizers':['foregroundDeletion']}}");
	fakecluster_change(jobs_path("worker", 1), "{'metadata':{'finalizers':['foregroundDeletion']}}");
	world_pass(100);
	jobs_scaledjob("worker", OTHER_TEMPLATE ",'rollout':{'propagationPolicy':'foreground'}");
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 2);
	assert_int_equal(jobs_count("worker"), 2);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, "/jobs"), 2);
	fakecluster_change(jobs_path("worker", 1), "{'metadata':{'finalizers':null}}");
	fakecluster_change(jobs_path("worker", 0), "{'metadata':{'finalizers':null}}");
	world_pass(2 * POLL_MS);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, "/jobs"), 4);
	assert_int_equal(jobs_count("worker"), 2);
}

static void a_failing_rollout_is_reported_and_retried(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 1);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_DELETE, "/jobs/", FAKECLUSTER_ANY, 403);
	jobs_scaledjob("worker", OTHER_TEMPLATE);
	world_pass(5 * MINUTE_MS);
	jobs_expect("worker", "Ready", "False ScaledJobCheckFailed Not able to delete job: worker-");
	assert_in_range(deletes(), 5, 15);
	assert_int_equal(fakecluster_events_sent("ScaledJobRolloutCleanupFailed", "Not able to delete job: worker-"),
		1);
	assert_int_equal(fakecluster_events_sent("ScaledJobRolloutCleanupCompleted", ""), 0);
	fakecluster_heal();
	world_pass(2 * MINUTE_MS);
	jobs_expect("worker", "Ready", "True");
	assert_int_equal(jobs_count("worker"), 1);
}

/* Whichever answer comes first: the words are the same each time, and written once. */
static void of_many_that_fail_the_same_is_named(void **state)
{
	unsigned statuses;

	(void)state;
	jobs_ready("worker", "'pollingInterval':3600");
	queue("worker", 40);
	jobs_scaledjob("worker", "'pollingInterval':3600," OTHER_TEMPLATE);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_DELETE, "/jobs/", FAKECLUSTER_ANY, 403);
	world_pass(1000);
	jobs_expect("worker", "Ready", "False ScaledJobCheckFailed Not able to delete job: worker-");
	statuses = fakecluster_calls(KUBE_MERGE_PATCH, "/status");
	for (unsigned i = 0; i < 40; i++) { /* another Job of the list changes each time */
		fakecluster_change(jobs_path("worker", i), "{'metadata':{'annotations':{'a':'b'}}}");
		world_pass(MINUTE_MS);
	}
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, "/status"), statuses);
	assert_int_equal(fakecluster_events_sent("ScaledJobRolloutCleanupFailed", ""), 1);
}

static void nothing_is_deleted_while_paused(void **state)
{
	(void)state;
	jobs_ready("worker", "'successfulJobsHistoryLimit':0");
	queue("worker", 3);
	fakecluster_change(SCALEDJOB("worker"),
		"{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'true'}},'spec':{" OTHER_TEMPLATE "}}");
	world_pass(1000);
	jobs_finish("worker", 1, "Complete");
	world_pass(MINUTE_MS);
	assert_int_equal(deletes(), 0);
	fakecluster_change(SCALEDJOB("worker"), "{'metadata':{'annotations':null}}");
	world_pass(5000);
	assert_int_equal(deletes(), 3);
}

/* An object that is deleted with all deletes under way passes its turn to the others. */
static void a_stopped_one_delays_no_one(void **state)
{
	(void)state;
	jobs_ready("a", "'pollingInterval':3600");
	jobs_ready("b", "'pollingInterval':3600");
	queue("a", DELETES_MAX);
	queue("b", 2);
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_DELETE, "/jobs/a-", FAKECLUSTER_ANY, 0);
	jobs_scaledjob("a", "'pollingInterval':3600," OTHER_TEMPLATE);
	world_pass(10);
	jobs_scaledjob("b", "'pollingInterval':3600," OTHER_TEMPLATE);
	world_pass(10);
	assert_int_equal(deletes(), DELETES_MAX);
	fakecluster_change(SCALEDJOB("a"), "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'true'}}}");
	world_pass(5000);
	assert_int_equal(deletes(), DELETES_MAX + 2);
	jobs_expect("b", "Ready", "True");
}

static void a_follower_deletes_nothing(void **state)
{
	(void)state;
	jobs_ready("worker", "'successfulJobsHistoryLimit':0");
	queue("worker", 40);
	fakesource_answer("worker", 0);
	world_pass(POLL_MS);
	fakecluster_answer_lag(50);
	jobs_finish("worker", 40, "Complete");
	world_pass(10);
	world_lead(false);
	world_pass(MINUTE_MS);
	assert_true(deletes() <= DELETES_MAX);
	world_lead(true);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(the_history_is_kept_short_as_jobs_finish),
		CASE(a_job_that_is_gone_is_not_a_failure),
		CASE(a_404_alone_makes_no_job_go),
		CASE(a_history_that_cannot_be_deleted_is_tried_again_slower),
		CASE(a_job_that_ends_during_a_look_is_kept_until_its_end),
		CASE(deletes_keep_to_the_cap),
		CASE(another_template_replaces_the_jobs_that_run),
		CASE(the_spec_decides_the_propagation),
		CASE(a_template_served_differently_is_the_same),
		CASE(the_next_leader_uses_the_status),
		CASE(an_unseen_change),
		CASE(old_versions_cannot_be_listed),
		CASE(those_that_are_being_deleted_still_run),
		CASE(a_failing_rollout_is_reported_and_retried),
		CASE(of_many_that_fail_the_same_is_named),
		CASE(nothing_is_deleted_while_paused),
		CASE(a_stopped_one_delays_no_one),
		CASE(a_follower_deletes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
