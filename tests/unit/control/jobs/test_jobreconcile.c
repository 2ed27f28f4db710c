/* SPDX-License-Identifier: Apache-2.0 */
/* From the ScaledJob to actions: conditions, Events, the loop's life. */
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

#define WORKER    SCALEDJOB("worker")
#define POLL_MS   10000
#define MINUTE_MS 60000
#define PAUSED    "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'true'}}}"
#define UNPAUSED  "{'metadata':{'annotations':null}}"

static void queue(const char *source, double items)
{
	fakesource_answer(source, items);
	fakesource_look(source);
	world_pass(1000);
}

static void a_good_one_gets_ready_and_is_polled_at_once(void **state)
{
	(void)state;
	fakesource_answer("worker", 2);
	jobs_scaledjob("worker", "");
	world_pass(500);
	assert_int_equal(jobs_count("worker"), 2);
	jobs_expect("worker", "Ready", "True ScaledJobReady ScaledJob is defined correctly and is ready ");
	jobs_expect("worker", "Paused", "False");
	assert_int_equal(fakecluster_events_sent("ScaledJobReady", "ScaledJob is ready for scaling"), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScalersStarted", "Started scalers watch"), 1);
	assert_string_equal(fakecluster_text(WORKER, "status.externalMetricNames.0"), "s0-scripted-worker");
	assert_string_equal(fakecluster_text(WORKER, "status.triggersTypes"), "scripted");
	/* Written in one go. */
	assert_in_range(fakecluster_calls(KUBE_MERGE_PATCH, "/scaledjobs/worker/status?fieldManager=kscaled"), 1, 2);
}

static void jobs_are_watched_only_when_there_is_a_scaledjob_and_we_lead(void **state)
{
	(void)state;
	assert_int_equal(fakecluster_watches("/jobs"), 0);
	world_ready_object("web", 0, "");
	assert_int_equal(fakecluster_watches("/jobs"), 0);
	jobs_ready("worker", "");
	assert_int_equal(fakecluster_watches("/jobs"), 1);
	world_lead(false);
	world_pass(1000);
	assert_int_equal(fakecluster_watches("/jobs"), 0);
	world_lead(true);
	world_pass(1000);
	assert_int_equal(fakecluster_watches("/jobs"), 1);
}

static void a_wrong_spec_is_reported_and_stops_the_loop(void **state)
{
	unsigned asked;

	(void)state;
	jobs_ready("worker", "");
	jobs_scaledjob("worker", "'triggers':[{'type':'nonsense','metadata':{'source':'worker'}}]");
	world_pass(1000);
	jobs_expect("worker", "Ready", "False ScaledJobCheckFailed ");
	jobs_expect("worker", "Active", "Unknown UnknownState");
	/* In KEDA's words alone, and in ours. */
	assert_int_equal(fakecluster_events_sent("ScaledJobCheckFailed", ""), 2);
	assert_int_equal(fakecluster_events_sent(NULL, "Failed to ensure ScaledJob is correctly created"), 2);
	assert_int_equal(fakecluster_events_sent(NULL, "Failed to ensure ScaledJob is correctly created: "), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScalersStopped", "Stopped scalers watch"), 1);
	asked = fakesource_asked(NULL);
	world_pass(MINUTE_MS);
	assert_int_equal(fakesource_asked(NULL), asked);
	jobs_scaledjob("worker", "");
	queue("worker", 1);
	jobs_expect("worker", "Ready", "True");
	assert_int_equal(jobs_count("worker"), 1);
}

static void faults_name_the_field(void **state)
{
	static const struct {
		const char *spec, *part;
	} faults[] = {
		{ "'jobTargetRef':null", "jobTargetRef" },
		{ "'triggers':[]", "ScaledJob doesn't have correct triggers specification" },
		{ "'triggers':[{'type':'scripted','metricType':'Value','metadata':{'source':'a'}}]", "metricType" },
		{ "'triggers':[{'type':'scripted','metadata':{}}]", "Failed to ensure ScaledJob is correctly created" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		jobs_scaledjob("worker", faults[i].spec);
		world_pass(1000);
		jobs_expect("worker", "Ready", "False ScaledJobCheckFailed");
		if (!strstr(jobs_condition("worker", "Ready"), faults[i].part))
			fail_msg("%s: %s", faults[i].spec, jobs_condition("worker", "Ready"));
	}
}

/* One Event with KEDA's text, which users may look for, and one with the error. */
static void kedas_words_have_an_event_of_their_own(void **state)
{
	static const struct {
		const char *spec, *words, *ours;
	} faults[] = {
		{ "'triggers':[{'type':'cpu','metadata':{'value':'50'}}]",
			"Failed to ensure ScaledJob is correctly created", "cpu" },
		{ "'triggers':[{'type':'scripted','metricType':'Value','metadata':{'source':'a'}}]",
			"Cannot set metricType in ScaledJob triggers", "metricType" },
		{ "'triggers':[]", "ScaledJob doesn't have correct triggers specification", "spec.triggers" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		MEM_AUTO char *both = mem_printf("%s: ", faults[i].words);

		jobs_scaledjob("worker", faults[i].spec);
		world_pass(1000);
		jobs_expect("worker", "Ready", "False ScaledJobCheckFailed");
		assert_int_equal(fakecluster_events_sent("ScaledJobCheckFailed", faults[i].words), 2);
		assert_int_equal(fakecluster_events_sent("ScaledJobCheckFailed", both), 1);
		assert_non_null(strstr(jobs_condition("worker", "Ready"), faults[i].ours));
	}
}

/*
 * The Jobs that always run need no trigger: neither one that could be built before, nor one that
 * never could.
 */
static void the_minimum_is_kept_without_triggers(void **state)
{
	static const char spec[] = "'minReplicaCount':2,'triggers':[{'type':'nonsense','metadata':{}}]";

	(void)state;
	jobs_ready("worker", "'minReplicaCount':2");
	assert_int_equal(jobs_count("worker"), 2);
	jobs_scaledjob("worker", spec);
	jobs_scaledjob("another", spec);
	world_pass(1000);
	jobs_expect("worker", "Ready", "False ScaledJobCheckFailed ");
	jobs_expect("another", "Ready", "False ScaledJobCheckFailed ");
	assert_int_equal(jobs_count("another"), 2);
	jobs_finish("worker", 1, "Complete");
	jobs_finish("another", 2, "Failed");
	fakecluster_forget_calls();
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("another"), 4);
	assert_int_equal(jobs_count("worker"), 3);
	/* the loop and reconcile write the same text */
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, "/status"), 0);
	jobs_expect("worker", "Ready", "False ScaledJobCheckFailed ");

	queue("worker", 1);
	jobs_scaledjob("worker", "'minReplicaCount':2");
	world_pass(1000);
	jobs_expect("worker", "Ready", "True");
	assert_int_equal(jobs_count("worker"), 4);
	jobs_scaledjob("worker", "'triggers':[{'type':'nonsense','metadata':{}}]");
	world_pass(1000);
	jobs_finish("worker", 3, "Complete");
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 4);
}

static void paused_it_leaves_its_jobs_alone(void **state)
{
	unsigned asked;

	(void)state;
	jobs_ready("worker", "");
	queue("worker", 3);
	fakecluster_change(WORKER, PAUSED);
	world_pass(1000);
	jobs_expect("worker", "Paused", "True ScaledJobPaused ScaledJob is paused");
	jobs_expect("worker", "Ready", "True ScaledJobReady ScaledJob is paused, skipping reconcile loop");
	assert_int_equal(fakecluster_events_sent("ScaledJobPaused", "ScaledJob is paused"), 1);
	assert_string_equal(journal_get(world_object("scaledjobs/default/worker"))->decision.rule, "paused");
	asked = fakesource_asked("worker");
	queue("worker", 30);
	world_pass(MINUTE_MS);
	assert_int_equal(fakesource_asked("worker"), asked);
	assert_int_equal(jobs_count("worker"), 3);
	fakecluster_change(WORKER, UNPAUSED);
	world_pass(1000);
	jobs_expect("worker", "Paused", "False ScaledJobUnpaused ScaledJob is unpaused");
	assert_int_equal(fakecluster_events_sent("ScaledJobUnpaused", "ScaledJob is unpaused"), 1);
	assert_int_equal(jobs_count("worker"), 30);
}

/* Those of ScaledObjects mean nothing here. */
static void other_annotations_do_not_pause(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_change(WORKER,
		"{'metadata':{'annotations':{'autoscaling.keda.sh/paused-replicas':'1','autoscaling.keda.sh/"
		"paused-scale-out':'true'}}}");
	queue("worker", 2);
	assert_int_equal(jobs_count("worker"), 2);
	jobs_expect("worker", "Paused", "False");
}

static void an_unreadable_annotation_is_reported(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_change(WORKER, "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'yes'}}}");
	world_pass(100);
	queue("worker", 2);
	jobs_expect("worker", "Ready", "False ScaledJobCheckFailed");
	assert_non_null(strstr(jobs_condition("worker", "Ready"), "autoscaling.keda.sh/paused"));
	world_pass(MINUTE_MS);
	assert_int_equal(jobs_count("worker"), 0);
	fakecluster_change(WORKER, UNPAUSED);
	world_pass(1000);
	jobs_expect("worker", "Ready", "True");
	assert_int_equal(jobs_count("worker"), 2);
}

static void kedas_finalizer_is_taken_off(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_change(WORKER, "{'metadata':{'finalizers':['finalizer.keda.sh','example.com/mine']}}");
	world_pass(1000);
	assert_string_equal(fakecluster_text(WORKER, "metadata.finalizers.0"), "example.com/mine");
	assert_null(fakecluster_at(WORKER, "metadata.finalizers.1"));
	jobs_expect("worker", "Ready", "True");
}

static void a_deleted_one_is_released_and_its_jobs_go_with_it(void **state)
{
	(void)state;
	fakecluster_watch_lag(2);
	jobs_ready("worker", "");
	queue("worker", 3);
	world_lead(false);
	fakecluster_change(WORKER, "{'metadata':{'finalizers':['finalizer.keda.sh']}}");
	fakecluster_delete(WORKER);
	assert_non_null(fakecluster_get(WORKER));
	world_lead(true);
	world_pass(3000);
	assert_null(fakecluster_get(WORKER));
	assert_int_equal(fakecluster_events_sent("ScaledJobDeleted", "ScaledJob was deleted"), 1);
	assert_int_equal(jobs_count("worker"), 3);
	fakecluster_collect_garbage();
	assert_int_equal(jobs_count("worker"), 0);
	world_pass(MINUTE_MS);
}

/* A failure during its life, backing off by half a minute, does not delay its deletion. */
static void an_earlier_failure_holds_no_deletion_up(void **state)
{
	(void)state;
	jobs_ready("worker", "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, "/scaledjobs/worker", FAKECLUSTER_ANY, 500);
	fakecluster_change(WORKER, "{'metadata':{'finalizers':['finalizer.keda.sh']}}");
	world_pass(60 * MINUTE_MS);
	fakecluster_forget_calls();
	while (fakecluster_calls(KUBE_MERGE_PATCH, "/scaledjobs/worker?") == 0)
		world_pass(100); /* the next try comes in 24 s or more */
	fakecluster_heal();
	fakecluster_delete(WORKER);
	world_pass(1000);
	assert_null(fakecluster_get(WORKER));
}

static void unlisted_jobs_are_reported(void **state)
{
	(void)state;
	fakecluster_trouble("/jobs", ERR_DENIED, "no right to list them");
	jobs_scaledjob("worker", "'minReplicaCount':2");
	world_pass(MINUTE_MS);
	jobs_expect("worker", "Ready", "False ScaledJobCheckFailed Cannot get list of Jobs owned by this scaledJob");
	assert_int_equal(jobs_count("worker"), 0);
	fakecluster_trouble("/jobs", ERR_DENIED, NULL);
	world_pass(MINUTE_MS);
	jobs_expect("worker", "Ready", "True");
	assert_int_equal(jobs_count("worker"), 2);
}

static void a_changed_spec_is_followed_at_once(void **state)
{
	(void)state;
	jobs_ready("worker", "'maxReplicaCount':2,'pollingInterval':3600");
	queue("worker", 9);
	assert_int_equal(jobs_count("worker"), 2);
	jobs_scaledjob("worker", "'maxReplicaCount':5,'pollingInterval':3600");
	world_pass(1000);
	assert_int_equal(jobs_count("worker"), 5);
}

/* Those that a TriggerAuthentication names. */
static void users_are_listed_by_kind(void **state)
{
	static const char *const auth = "/apis/keda.sh/v1alpha1/namespaces/default/triggerauthentications/redis";

	(void)state;
	fakecluster_apply(auth, "{'spec':{'env':[{'parameter':'x','name':'X'}]}}");
	jobs_scaledjob("worker",
		"'triggers':[{'type':'scripted','metadata':{'source':'a'},'authenticationRef':{'name':'redis'}}]");
	world_pass(1000);
	assert_string_equal(fakecluster_text(auth, "status.scaledjobs"), "worker");
	assert_string_equal(fakecluster_text(auth, "status.scaledobjects"), "");
	world_scaledobject("web",
		"'triggers':[{'type':'scripted','metadata':{'source':'a'},'authenticationRef':{'name':'redis'}}]");
	world_pass(1000);
	assert_string_equal(fakecluster_text(auth, "status.scaledjobs"), "worker");
	assert_string_equal(fakecluster_text(auth, "status.scaledobjects"), "web");
	fakecluster_delete(WORKER);
	world_pass(1000);
	assert_string_equal(fakecluster_text(auth, "status.scaledjobs"), "");
	assert_string_equal(fakecluster_text(auth, "status.scaledobjects"), "web");
	fakecluster_forget_calls();
	world_pass(MINUTE_MS);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, "triggerauthentications"), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_good_one_gets_ready_and_is_polled_at_once),
		CASE(jobs_are_watched_only_when_there_is_a_scaledjob_and_we_lead),
		CASE(a_wrong_spec_is_reported_and_stops_the_loop),
		CASE(faults_name_the_field),
		CASE(kedas_words_have_an_event_of_their_own),
		CASE(the_minimum_is_kept_without_triggers),
		CASE(paused_it_leaves_its_jobs_alone),
		CASE(other_annotations_do_not_pause),
		CASE(an_unreadable_annotation_is_reported),
		CASE(kedas_finalizer_is_taken_off),
		CASE(a_deleted_one_is_released_and_its_jobs_go_with_it),
		CASE(an_earlier_failure_holds_no_deletion_up),
		CASE(unlisted_jobs_are_reported),
		CASE(a_changed_spec_is_followed_at_once),
		CASE(users_are_listed_by_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
