/* SPDX-License-Identifier: Apache-2.0 */
/* Every Job is created once, whatever happens to answers, watch and leader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jobs_fixture.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakesource.h"

#include "base/mem.h"

#define POLL_MS     10000
#define DEADLINE_MS 10000
#define MINUTE_MS   60000
#define CREATES_MAX 32

static unsigned creates(void)
{
	return fakecluster_calls(KUBE_CREATE, "/jobs?");
}

static unsigned looks(void)
{
	return fakecluster_calls(KUBE_GET, "/jobs/");
}

/* So many items, and a wake-up. */
static void queue(const char *source, double items)
{
	fakesource_answer(source, items);
	fakesource_look(source);
}

static void each_item_gets_one_job(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 10);
	world_pass(1000);
	assert_int_equal(jobs_count("worker"), 10);
	assert_int_equal(fakecluster_events_sent("KEDAJobsCreated", "Created 10 jobs"), 1);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), 10);
	jobs_expect("worker", "Active", "True ScalerActive");
	assert_int_equal(fakecluster_events_sent("ScaledJobActive", ""), 1);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 10);
	assert_int_equal(creates(), 10);
	jobs_finish("worker", 10, "Complete");
	queue("worker", 0);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 10);
	jobs_expect("worker", "Active", "False ScalerNotActive");
	assert_int_equal(fakecluster_events_sent("ScaledJobInactive", ""), 1);
}

static void a_late_watch_makes_no_duplicates(void **state)
{
	(void)state;
	jobs_ready("worker", "'pollingInterval':1");
	fakecluster_hold_watches(true);
	queue("worker", 10);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 10);
	fakecluster_hold_watches(false);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 10);
	assert_int_equal(creates(), 10);
}

/* Sent is created, as far as the next decisions go: before the answer, before the watch. */
static void slow_answers_make_no_duplicates(void **state)
{
	(void)state;
	jobs_ready("worker", "'pollingInterval':1");
	fakecluster_hold_watches(true);
	fakecluster_answer_lag(5000);
	queue("worker", 10);
	world_pass(4000);
	assert_int_equal(creates(), 10);
	queue("worker", 15);
	world_pass(4500);
	assert_int_equal(creates(), 15);
	fakecluster_answer_lag(1);
	fakecluster_hold_watches(false);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 15);
	assert_int_equal(creates(), 15);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), 15);
}

/* Created, but the answer was lost. */
static void a_lost_answer_then_the_name_is_taken_by_our_own(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_hold_watches(true);
	fakecluster_fail(FAKECLUSTER_LOSE, KUBE_CREATE, "/jobs", 1, 0);
	queue("worker", 3);
	world_pass(DEADLINE_MS - 100);
	assert_int_equal(creates(), 3);
	assert_int_equal(fakecluster_events_sent("KEDAJobsCreated", ""), 0); /* one of them is open */
	world_pass(2000);
	assert_int_equal(creates(), 4);
	assert_int_equal(looks(), 1);
	assert_int_equal(jobs_count("worker"), 3);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), 3);
	assert_int_equal((int)jobs_counted("kscaled_job_create_failures_total", "worker"), 0);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 3);
	assert_int_equal(creates(), 4);
	fakecluster_hold_watches(false);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 3);
}

/* Not done: the same Job is sent again, under the same name. */
static void a_lost_request_is_sent_again_under_its_name(void **state)
{
	char name[64];

	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_CREATE, "/jobs", 1, 0);
	queue("worker", 1);
	world_pass(DEADLINE_MS - 100);
	snprintf(name, sizeof(name), "%s", jobs_sent_name());
	assert_int_equal(jobs_count("worker"), 0);
	world_pass(2000);
	assert_int_equal(creates(), 2);
	assert_string_equal(jobs_sent_name(), name);
	assert_int_equal(looks(), 0);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 1);
	assert_int_equal(creates(), 2);
}

/* Created, but the answer's state is not known: it counts anyway. */
static void an_empty_answer_is_looked_up(void **state)
{
	(void)state;
	jobs_ready("worker", "'pollingInterval':1");
	fakecluster_hold_watches(true);
	fakecluster_fail(FAKECLUSTER_EMPTY, KUBE_CREATE, "/jobs", 2, 0);
	fakecluster_fail(FAKECLUSTER_EMPTY, KUBE_GET, "/jobs/", 1, 0);
	queue("worker", 2);
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), 2);
	assert_int_equal(looks(), 3);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), 2);
	fakecluster_hold_watches(false);
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), 2);
}

/* However long it takes, and however often it is decided meanwhile. */
static void while_it_is_unsure_it_counts(void **state)
{
	(void)state;
	jobs_ready("worker", "'pollingInterval':1");
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_CREATE, "/jobs", FAKECLUSTER_ANY, 0);
	queue("worker", 2);
	world_pass(5 * MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 0);
	fakecluster_heal();
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 2);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), 2);
}

static void the_watch_settles_unsure_jobs(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_LOSE, KUBE_CREATE, "/jobs", 3, 0);
	queue("worker", 3);
	world_pass(DEADLINE_MS + MINUTE_MS);
	assert_int_equal(creates(), 3);
	assert_int_equal(looks(), 0);
	assert_int_equal(jobs_count("worker"), 3);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), 3);
	assert_true(fakecluster_events_sent("KEDAJobsCreated", "Created 3 jobs") == 1);
}

/* The second try is refused: whether the first one made it must be looked up. */
static void a_lost_request_then_a_refusal_is_looked_up(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_CREATE, "/jobs", 1, 0);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", 1, 403);
	queue("worker", 1);
	world_pass(DEADLINE_MS + 2000);
	assert_int_equal(looks(), 1);
	assert_int_equal(jobs_count("worker"), 0);
	assert_int_equal((int)jobs_counted("kscaled_job_create_failures_total", "worker"), 1);
	world_pass(POLL_MS);
	assert_int_equal(jobs_count("worker"), 1);
}

static void a_lost_answer_then_a_refusal_is_looked_up(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_hold_watches(true);
	fakecluster_fail(FAKECLUSTER_LOSE, KUBE_CREATE, "/jobs", 1, 0);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", 1, 403);
	queue("worker", 1);
	world_pass(DEADLINE_MS + MINUTE_MS);
	assert_int_equal(looks(), 1);
	assert_int_equal(creates(), 2);
	assert_int_equal(jobs_count("worker"), 1);
	assert_int_equal((int)jobs_counted("kscaled_job_create_failures_total", "worker"), 0);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), 1);
	fakecluster_hold_watches(false);
	world_pass(1000);
}

/*
 * As an API server answers that was started a moment ago, after it had died with the first answer.
 */
static void a_lost_answer_then_everything_is_refused_for_a_while(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_hold_watches(true);
	fakecluster_fail(FAKECLUSTER_LOSE, KUBE_CREATE, "/jobs", 1, 0);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", 1, 403);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, "/jobs/", 4, 403);
	queue("worker", 1);
	world_pass(DEADLINE_MS + MINUTE_MS);
	assert_int_equal(looks(), 5);
	assert_int_equal(creates(), 2);
	assert_int_equal(jobs_count("worker"), 1);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), 1);
	fakecluster_hold_watches(false);
	world_pass(1000);
}

static void put_another(void)
{
	MEM_AUTO char *path = mem_printf(JOBS "/%s", jobs_sent_name());

	fakecluster_apply(path, "{'metadata':{'labels':{'app':'other'}},'spec':{}}");
}

static void a_name_that_is_taken_is_given_up(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", 1, 409);
	fakecluster_just_before(KUBE_GET, "/jobs/", put_another);
	queue("worker", 1);
	world_pass(1000);
	assert_int_equal(creates(), 2);
	assert_int_equal(looks(), 1);
	assert_int_equal(jobs_count("worker"), 1);
	assert_int_equal(fakecluster_count("/jobs/worker-"), 2);
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), 2);
}

/* As when many write to one quota. */
static void a_conflict_about_something_else_is_tried_again(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", 2, 409);
	queue("worker", 2);
	world_pass(1000);
	assert_int_equal(jobs_count("worker"), 2);
	assert_int_equal(fakecluster_events_sent("KEDAJobCreateFailed", ""), 0);
	/* But not for ever. */
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", FAKECLUSTER_ANY, 409);
	queue("worker", 3);
	world_pass(1000);
	assert_int_equal(creates(), 4 + 5);
	assert_int_equal(fakecluster_events_sent("KEDAJobCreateFailed", ""), 1);
}

static void a_refusal_is_reported_once_and_retried_with_the_next_poll(void **state)
{
	unsigned sent, statuses;

	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", FAKECLUSTER_ANY, 403);
	queue("worker", 10);
	world_pass(500);
	sent = creates();
	assert_int_equal(sent, 10);
	assert_int_equal(jobs_count("worker"), 0);
	assert_int_equal(fakecluster_events_sent("KEDAJobCreateFailed", "Failed to create job worker-"), 1);
	assert_int_equal(fakecluster_events_sent("KEDAJobsCreated", ""), 0);
	assert_int_equal((int)jobs_counted("kscaled_job_create_failures_total", "worker"), 10);
	jobs_expect("worker", "Ready", "False KEDAJobCreateFailed");
	statuses = fakecluster_calls(KUBE_MERGE_PATCH, "/status");
	for (int i = 0; i < 20; i++) {
		fakesource_look("worker");
		world_pass(100);
	}
	assert_int_equal(creates(), sent);
	/* One shows whether it is still so. */
	world_pass(3 * POLL_MS);
	assert_int_equal(creates(), sent + 3);
	jobs_expect("worker", "Ready", "False KEDAJobCreateFailed");
	/*
	 * Each poll had a Job of another name refused, and all of them are one Event and no status.
	 */
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, "/status"), statuses);
	assert_int_equal(fakecluster_events_sent("KEDAJobCreateFailed", ""), 1);
	assert_int_equal(fakecluster_events_repeated("KEDAJobCreateFailed"), 3);
	fakecluster_heal();
	world_pass(POLL_MS);
	assert_int_equal(jobs_count("worker"), 10);
	assert_int_equal(fakecluster_events_sent("KEDAJobsCreated", "Created 10 jobs"), 1);
	world_pass(POLL_MS);
	jobs_expect("worker", "Ready", "True ScaledJobReady");
}

/* As when the webhook is down that the API server asks about Jobs. */
static void a_lasting_error_is_reported(void **state)
{
	unsigned statuses;

	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", FAKECLUSTER_ANY, 500);
	queue("worker", 5);
	world_pass(1000);
	assert_int_equal(fakecluster_events_sent("KEDAJobCreateFailed", ""), 0); /* it may pass */
	world_pass(2 * POLL_MS);
	assert_int_equal(fakecluster_events_sent("KEDAJobCreateFailed", "Failed to create job worker-: HTTP 500"), 1);
	jobs_expect("worker", "Ready", "False KEDAJobCreateFailed Failed to create Jobs: HTTP 500");
	statuses = fakecluster_calls(KUBE_MERGE_PATCH, "/status");
	world_pass(5 * MINUTE_MS);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, "/status"), statuses);
	assert_int_equal(fakecluster_events_sent("KEDAJobCreateFailed", ""), 1);
	fakecluster_heal();
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 5);
	jobs_expect("worker", "Ready", "True ScaledJobReady");
}

/* The Event has the number really created. */
static void a_quota_in_the_middle_keeps_created_jobs(void **state)
{
	(void)state;
	jobs_ready("worker", "'maxReplicaCount':100");
	fakecluster_answer_lag(10);
	queue("worker", 100);
	world_pass(5); /* 32 are under way */
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", FAKECLUSTER_ANY, 403);
	world_pass(1000);
	assert_int_equal(jobs_count("worker"), CREATES_MAX);
	assert_int_equal(fakecluster_events_sent("KEDAJobsCreated", "Created 32 jobs"), 1);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), CREATES_MAX);
	/* The rest of the plan was dropped with the first refusals. */
	assert_true(creates() <= 3 * CREATES_MAX);
	fakecluster_heal();
	world_pass(2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 100);
}

/* Each body is a copy of the template: of large ones few are under way at a time. */
static void large_templates_are_few_at_a_time(void **state)
{
	MEM_AUTO char *large = mem_alloc(600001);
	MEM_AUTO char *spec = NULL;
	unsigned most = 0;

	(void)state;
	memset(large, 'x', 600000);
	large[600000] = '\0';
	spec = mem_printf("'jobTargetRef':{'template':{'spec':{'containers':[{'name':'main','image':'w','args':['%s']}]"
			  "}}}",
		large);
	jobs_ready("worker", spec);
	fakecluster_answer_lag(50);
	queue("worker", 20);
	for (int i = 0; i < 100; i++) {
		world_pass(10);
		if (fakecluster_under_way() > most)
			most = fakecluster_under_way();
	}
	assert_in_range(most, 2, 5); /* 2 MiB of bodies, and the rest */
	assert_int_equal(jobs_count("worker"), 20);
	assert_int_equal(creates(), 20);
}

/* Their answers cross: an earlier success says nothing about later refusals. */
static void answers_of_before_a_refusal_do_not_hide_it(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", 3, 403);
	queue("worker", 20);
	world_pass(500);
	assert_int_equal(jobs_count("worker"), 17);
	jobs_expect("worker", "Ready", "False KEDAJobCreateFailed");
	world_pass(2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 20);
	jobs_expect("worker", "Ready", "True");
}

/* Five of ten fit, and five are enough later on: nothing is wrong any more. */
static void a_refusal_that_does_not_matter_any_more_is_forgiven(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 5);
	world_pass(1000);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", FAKECLUSTER_ANY, 403);
	queue("worker", 10);
	world_pass(1000);
	jobs_expect("worker", "Ready", "False KEDAJobCreateFailed");
	queue("worker", 5);
	world_pass(1000);
	assert_int_equal(jobs_count("worker"), 5);
	jobs_expect("worker", "Ready", "True ScaledJobReady");
}

/* Seen at once, unlike the Jobs. */
static void change_template(void)
{
	jobs_scaledjob("worker",
		"'jobTargetRef':{'template':{'spec':{'containers':[{'name':'main','image':'newer'}]}}}");
	fakecluster_watch_lag(1000);
}

/*
 * The spec is another before the answer is there: it is one of the earlier version, and the rollout
 * did not see it.
 */
static void one_that_was_sent_before_a_change_is_rolled_out_too(void **state)
{
	(void)state;
	jobs_ready("worker", "'pollingInterval':3600");
	fakecluster_answer_lag(300);
	fakecluster_just_before(KUBE_CREATE, "/jobs", change_template);
	queue("worker", 3);
	world_pass(250);
	assert_int_equal(fakecluster_number(SCALEDJOB("worker"), "metadata.generation"), 2);
	assert_int_equal(fakecluster_calls(KUBE_DELETE, "/jobs/"), 0);
	world_pass(5000);
	assert_int_equal(fakecluster_calls(KUBE_DELETE, "/jobs/"), 3);
	world_pass(2 * POLL_MS);
	assert_int_equal(jobs_count("worker"), 3);
}

/* ---- In the middle of a burst ---- */

static void a_leader_that_stops_leaves_the_rest_to_the_next(void **state)
{
	unsigned before;

	(void)state;
	jobs_ready("worker", "");
	fakecluster_answer_lag(20);
	queue("worker", 100);
	world_pass(30);
	before = jobs_count("worker");
	assert_true(before > 0 && before < 100);
	world_lead(false);
	world_pass(MINUTE_MS);
	assert_in_range(jobs_count("worker"), before, before + CREATES_MAX);
	world_lead(true);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 100);
}

static void a_process_that_dies_leaves_no_duplicates(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_answer_lag(20);
	queue("worker", 100);
	for (int i = 0; i < 3; i++) {
		world_pass(30);
		world_restart();
	}
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 100);
}

/* Nothing is decided before the Jobs of the one before are known. */
static void a_new_leader_waits_for_the_list(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	queue("worker", 5);
	world_pass(1000);
	fakecluster_trouble("/jobs", ERR_TEMPORARY, "no answer");
	world_restart();
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), 5);
	jobs_expect("worker", "Ready",
		"False ScaledJobCheckFailed Cannot get list of Jobs owned by this scaledJob: watching jobs: no answer");
	fakecluster_trouble("/jobs", ERR_TEMPORARY, NULL);
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), 5);
	jobs_expect("worker", "Ready", "True");
}

static void a_deleted_one_creates_no_more(void **state)
{
	unsigned sent;

	(void)state;
	jobs_ready("worker", "");
	fakecluster_answer_lag(20);
	queue("worker", 100);
	world_pass(30);
	fakecluster_delete(SCALEDJOB("worker"));
	world_pass(50);
	sent = creates();
	assert_true(sent < 100);
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), sent);
	assert_int_equal(fakecluster_events_sent("ScaledJobDeleted", "ScaledJob was deleted"), 1);
	assert_int_equal((int)jobs_counted("kscaled_jobs_created_total", "worker"), 0);
}

/* Recreated under the same name, it has nothing to do with its predecessor's open creates. */
static void a_recreated_one_starts_afresh(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_CREATE, "/jobs", 3, 0);
	queue("worker", 3);
	world_pass(1000);
	fakecluster_delete(SCALEDJOB("worker"));
	jobs_scaledjob("worker", "");
	world_pass(1000);
	assert_int_equal(jobs_count("worker"), 3);
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 3);
}

static void pause(const char *value)
{
	MEM_AUTO char *text = mem_printf("{'metadata':{'annotations':{'autoscaling.keda.sh/paused':%s}}}", value);

	fakecluster_change(SCALEDJOB("worker"), text);
}

static void a_paused_one_creates_no_more_and_looks_up_open_jobs(void **state)
{
	unsigned sent;

	(void)state;
	jobs_ready("worker", "");
	fakecluster_answer_lag(20);
	fakecluster_fail(FAKECLUSTER_LOSE, KUBE_CREATE, "/jobs", 1, 0);
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_CREATE, "/jobs", 1, 0);
	fakecluster_hold_watches(true);
	queue("worker", 100);
	world_pass(30);
	fakecluster_hold_watches(false);
	pause("'true'");
	world_pass(5);
	fakecluster_hold_watches(true);
	world_pass(100);
	sent = creates();
	assert_true(sent < 100);
	world_pass(MINUTE_MS);
	assert_int_equal(creates(), sent);
	assert_int_equal(jobs_count("worker"), sent - 1);
	assert_true(looks() >= 1);
	jobs_expect("worker", "Paused", "True");
	fakecluster_hold_watches(false);
	pause("null");
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 100);
}

/* The message comes when the loop has stopped: a paused object is not polled. */
static void a_refusal_after_the_pause_wakes_no_one(void **state)
{
	unsigned asked;

	(void)state;
	jobs_ready("worker", "");
	fakecluster_answer_lag(200);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_CREATE, "/jobs", FAKECLUSTER_ANY, 403);
	queue("worker", 1);
	world_pass(50);
	assert_int_equal(creates(), 1);
	pause("'true'");
	world_pass(50);
	asked = fakesource_asked("worker");
	world_pass(MINUTE_MS);
	jobs_expect("worker", "Paused", "True");
	assert_int_equal(fakecluster_events_sent("KEDAJobCreateFailed", ""), 1);
	assert_int_equal(fakesource_asked("worker"), asked);
	assert_int_equal(creates(), 1);
}

/* Jobs planned by an older decision are not added to a newer one. */
static void a_newer_decision_replaces_the_plan(void **state)
{
	(void)state;
	jobs_ready("worker", "'maxReplicaCount':1000");
	fakecluster_answer_lag(100);
	queue("worker", 500);
	world_pass(150);
	queue("worker", 40);
	world_pass(MINUTE_MS);
	assert_in_range(jobs_count("worker"), 40, 160);
}

/* ---- Many ---- */

static unsigned answered(const char *name)
{
	return (unsigned)jobs_counted("kscaled_jobs_created_total", name);
}

#define MANY 200

static void many_objects_get_their_own_jobs(void **state)
{
	(void)state;
	for (int i = 0; i < MANY; i++) {
		MEM_AUTO char *name = mem_printf("w%03d", i);

		jobs_scaledjob(name, "'triggers':[{'type':'scripted','metadata':{'source':'all','threshold':'1'}}]");
	}
	world_pass(5000);
	queue("all", 10);
	world_pass(MINUTE_MS);
	for (int i = 0; i < MANY; i++) {
		MEM_AUTO char *name = mem_printf("w%03d", i);
		MEM_AUTO char *part = mem_printf("/jobs/%s-", name);

		assert_int_equal(fakecluster_count(part), 10);
		assert_int_equal(answered(name), 10);
	}
	assert_int_equal(creates(), 10 * MANY);
}

static void a_big_burst_delays_no_one_and_keeps_to_the_cap(void **state)
{
	unsigned most = 0, under_way;

	(void)state;
	jobs_ready("big", "'maxReplicaCount':1000");
	jobs_ready("small", "");
	fakecluster_answer_lag(10);
	queue("big", 1000);
	world_pass(50);
	queue("small", 20);
	for (int i = 0; i < 200; i++) {
		under_way = creates() - answered("big") - answered("small");
		most = under_way > most ? under_way : most;
		world_pass(1);
	}
	assert_int_equal(most, CREATES_MAX);
	assert_int_equal(answered("small"), 20);
	assert_in_range(answered("big"), 100, 900);
	world_pass(MINUTE_MS);
	assert_int_equal(answered("big"), 1000);
	assert_int_equal(creates(), 1020);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(each_item_gets_one_job),
		CASE(a_late_watch_makes_no_duplicates),
		CASE(slow_answers_make_no_duplicates),
		CASE(a_lost_answer_then_the_name_is_taken_by_our_own),
		CASE(a_lost_request_is_sent_again_under_its_name),
		CASE(an_empty_answer_is_looked_up),
		CASE(while_it_is_unsure_it_counts),
		CASE(the_watch_settles_unsure_jobs),
		CASE(a_lost_request_then_a_refusal_is_looked_up),
		CASE(a_lost_answer_then_a_refusal_is_looked_up),
		CASE(a_lost_answer_then_everything_is_refused_for_a_while),
		CASE(a_name_that_is_taken_is_given_up),
		CASE(a_conflict_about_something_else_is_tried_again),
		CASE(a_refusal_is_reported_once_and_retried_with_the_next_poll),
		CASE(a_lasting_error_is_reported),
		CASE(a_quota_in_the_middle_keeps_created_jobs),
		CASE(large_templates_are_few_at_a_time),
		CASE(answers_of_before_a_refusal_do_not_hide_it),
		CASE(a_refusal_that_does_not_matter_any_more_is_forgiven),
		CASE(one_that_was_sent_before_a_change_is_rolled_out_too),
		CASE(a_leader_that_stops_leaves_the_rest_to_the_next),
		CASE(a_process_that_dies_leaves_no_duplicates),
		CASE(a_new_leader_waits_for_the_list),
		CASE(a_deleted_one_creates_no_more),
		CASE(a_recreated_one_starts_afresh),
		CASE(a_paused_one_creates_no_more_and_looks_up_open_jobs),
		CASE(a_refusal_after_the_pause_wakes_no_one),
		CASE(a_newer_decision_replaces_the_plan),
		CASE(many_objects_get_their_own_jobs),
		CASE(a_big_burst_delays_no_one_and_keeps_to_the_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
