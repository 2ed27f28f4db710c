/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations that pause: what stops, what stays, what resumes, and restarts in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../world.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakesource.h"

#include "base/mem.h"

#define WEB     SCALEDOBJECT("web")
#define WEB_HPA HPA("keda-hpa-web")
#define HPAS    "/horizontalpodautoscalers"
#define SCALE   "/deployments/web/scale"
#define HOUR_MS 3600000
#define PAUSED  "True ScaledObjectReady ScaledObject is paused"
#define FAILED  "False ScaledObjectCheckFailed "

static void annotate(const char *annotations)
{
	MEM_AUTO char *text = mem_printf("{'metadata':{'annotations':%s}}", annotations);

	fakecluster_change(WEB, text);
	world_pass(1000);
}

static unsigned scale_writes(void)
{
	return fakecluster_calls(KUBE_MERGE_PATCH, SCALE);
}

static void expect_paused(void)
{
	world_expect("web", "Ready", PAUSED);
	world_expect("web", "Paused", "True ScaledObjectPaused ScaledObject is paused");
	assert_null(fakecluster_get(WEB_HPA));
}

static void expect_running(void)
{
	world_expect("web", "Ready", "True ScaledObjectReady ScaledObject is defined correctly");
	world_expect("web", "Paused", "False");
	assert_non_null(fakecluster_get(WEB_HPA));
	assert_null(fakecluster_at(WEB, "status.pausedReplicaCount"));
}

/* ---- Paused ---- */

/* The HPA's state, and an active fallback, are gone. */
static void a_pause_ends_the_fallback(void **state)
{
	(void)state;
	world_ready_object("web", 3, "'fallback':{'failureThreshold':1,'replicas':6}");
	fakecluster_change(WEB_HPA,
		"{'status':{'conditions':[{'type':'ScalingActive','status':'True','reason':'ValidMetricFound'}]}}");
	fakesource_fail("web", "connection refused");
	world_pass(40000);
	world_expect("web", "Fallback", "True");
	world_expect("web", "HPAActive", "True");
	annotate("{'autoscaling.keda.sh/paused':'true'}");
	expect_paused();
	world_expect("web", "Fallback", "False NoFallbackFound");
	assert_string_equal(world_condition("web", "HPAActive"), "");
	assert_int_equal(fakecluster_events_sent("ScaledObjectFallbackDeactivated", ""), 1);
	annotate("{'autoscaling.keda.sh/paused':null}");
	world_pass(1000);
	world_expect("web", "Fallback", "True");
}

static void a_pause_stops_everything_and_leaves_the_replicas(void **state)
{
	unsigned asked;

	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 3, "");
	fakecluster_forget_calls();
	annotate("{'autoscaling.keda.sh/paused':'true'}");
	expect_paused();
	assert_int_equal(fakecluster_writes(), 2);            /* the HPA and the status */
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 1); /* of the HPA: whose it is */
	assert_int_equal(fakecluster_events_sent("ScaledObjectPaused",
				 "Normal ScaledObject default/web uid-2: ScaledObject is paused"),
		1);
	assert_int_equal(fakecluster_events_sent("KEDAScalersStopped", "Stopped scalers watch"), 1);
	assert_null(fakecluster_at(WEB, "status.pausedReplicaCount"));
	asked = fakesource_asked("web");
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':9}}");
	world_pass(HOUR_MS);
	fakecluster_relist("");
	world_pass(HOUR_MS);
	assert_int_equal(fakesource_asked("web"), asked);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(world_replicas("web"), 9);
	assert_int_equal(fakecluster_events_sent("ScaledObjectPaused", ""), 1);
	assert_int_equal(fakecluster_events_repeated("ScaledObjectPaused"), 0);
}

static void an_end_of_the_pause_brings_all_back(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	annotate("{'autoscaling.keda.sh/paused':'true'}");
	fakesource_answer("web", 7);
	fakecluster_forget_calls();
	annotate("null");
	expect_running();
	world_expect("web", "Paused", "False ScaledObjectUnpaused pause annotation removed for ScaledObject");
	world_expect("web", "Active", "True");
	assert_int_equal(world_replicas("web"), 1);
	assert_int_equal(fakecluster_events_sent("ScaledObjectUnpaused",
				 "Normal ScaledObject default/web uid-2: pause annotation removed for ScaledObject"),
		1);
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakecluster_events_repeated("ScaledObjectUnpaused"), 0);
}

static void false_is_no_pause(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	annotate("{'autoscaling.keda.sh/paused':'false','autoscaling.keda.sh/paused-replicas':'4'}");
	expect_running();
	assert_int_equal(world_replicas("web"), 0);
	assert_int_equal(fakecluster_events_sent("ScaledObjectPaused", ""), 0);
	annotate("{'autoscaling.keda.sh/paused':'true','autoscaling.keda.sh/paused-replicas':'4'}");
	expect_paused();
	assert_int_equal(world_replicas("web"), 4);
}

static void a_paused_object_need_not_be_right(void **state)
{
	(void)state;
	world_ready_object("web", 2, "");
	annotate("{'autoscaling.keda.sh/paused':'true'}");
	world_scaledobject("web", "'minReplicaCount':5,'maxReplicaCount':2");
	annotate("{'autoscaling.keda.sh/paused':'true'}");
	world_expect("web", "Ready", PAUSED);
	world_scaledobject("web", "'triggers':[{'type':'scripted','metadata':{'sourceFromEnv':'NOPE'}}]");
	annotate("{'autoscaling.keda.sh/paused':'true'}");
	world_expect("web", "Ready", PAUSED);
	fakecluster_delete(DEPLOYMENT("web"));
	world_pass(1000);
	world_expect("web", "Ready", PAUSED);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 1);
}

/* Made by KEDA, so our watch does not see it. */
static void apply_hpa_of_keda(void)
{
	MEM_AUTO char *hpa = mem_printf("{'metadata':{'ownerReferences':[{'apiVersion':'keda.sh/"
					"v1alpha1','kind':'ScaledObject','name':'web','uid':'%s','controller':true}]},'"
					"spec':{'maxReplicas':9}}",
		fakecluster_text(WEB, "metadata.uid"));

	fakecluster_apply(WEB_HPA, hpa);
}

/* It is looked for. */
static void the_hpa_that_keda_left_goes_too(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 2);
	world_scaledobject("web", "");
	apply_hpa_of_keda();
	annotate("{'autoscaling.keda.sh/paused':'true'}");
	world_lead(true);
	world_pass(1000);
	expect_paused();
	assert_int_equal(fakecluster_number(WEB, "status.originalReplicaCount"), 2);
	/* A user's is not touched. */
	fakecluster_apply(WEB_HPA, "{'spec':{'maxReplicas':9}}");
	annotate("null");
	annotate("{'autoscaling.keda.sh/paused':'true'}");
	world_expect("web", "Ready", PAUSED);
	assert_non_null(fakecluster_get(WEB_HPA));
}

/* KEDA's, and given another name in the spec since. */
static void the_renamed_hpa_that_keda_left_goes_too(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 2);
	world_scaledobject("web", "'advanced':{'horizontalPodAutoscalerConfig':{'name':'mine'}}");
	apply_hpa_of_keda();
	fakecluster_change(WEB, "{'status':{'hpaName':'keda-hpa-web'}}");
	annotate("{'autoscaling.keda.sh/paused':'true'}");
	world_lead(true);
	world_pass(1000);
	expect_paused();
}

static void an_hpa_that_lost_its_owner_goes_too(void **state)
{
	(void)state;
	world_ready_object("web", 2, "");
	fakecluster_hold_watches(true);
	fakecluster_change(WEB_HPA, "{'metadata':{'ownerReferences':null}}");
	fakecluster_change(WEB, "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'true'}}}");
	fakecluster_hold_watches(false);
	world_pass(1000);
	expect_paused();
}

static void a_renamed_hpa_goes_too(void **state)
{
	(void)state;
	world_ready_object("web", 2, "");
	fakecluster_hold_watches(true);
	fakecluster_change(WEB,
		"{'metadata':{'annotations':{'autoscaling.keda.sh/"
		"paused':'true'}},'spec':{'advanced':{'horizontalPodAutoscalerConfig':{'name':'mine'}}}}");
	fakecluster_hold_watches(false);
	world_pass(1000);
	expect_paused();
}

/* ---- Paused at a number ---- */

static void the_target_is_kept_at_its_paused_replicas(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 3, "");
	fakecluster_forget_calls();
	annotate("{'autoscaling.keda.sh/paused-replicas':'5'}");
	expect_paused();
	assert_int_equal(world_replicas("web"), 5);
	assert_int_equal(fakecluster_number(WEB, "status.pausedReplicaCount"), 5);
	assert_int_equal(fakecluster_number(WEB, "status.originalReplicaCount"), 3);
	assert_int_equal(fakecluster_writes(), 3); /* the HPA, the replicas, the status */
	assert_string_equal(journal_get(world_object("default/web"))->text,
		"paused at 5 replicas by annotation autoscaling.keda.sh/paused-replicas");
	assert_string_equal(journal_get(world_object("default/web"))->changes[0].why,
		"scaling from 3 to 5: paused at these by annotation autoscaling.keda.sh/paused-replicas");
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	/* Enforced while it exists. */
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':1}}");
	world_pass(100);
	assert_int_equal(world_replicas("web"), 5);
	assert_int_equal(fakecluster_writes(), 1);
	/* And follows. */
	annotate("{'autoscaling.keda.sh/paused-replicas':'0'}");
	world_pass(2000);
	assert_int_equal(world_replicas("web"), 0);
	assert_int_equal(fakecluster_number(WEB, "status.pausedReplicaCount"), 0);
	assert_int_equal(fakecluster_events_sent("ScaledObjectPaused", "Normal"), 1);
	annotate("null");
	annotate("{'autoscaling.keda.sh/paused-replicas':null}");
	expect_running();
	assert_int_equal(world_replicas("web"), 1);
}

static void two_writers_do_not_fight_at_full_speed(void **state)
{
	(void)state;
	world_ready_object("web", 3, "");
	annotate("{'autoscaling.keda.sh/paused-replicas':'5'}");
	fakecluster_forget_calls();
	for (int i = 0; i < 6000; i++) {
		if (world_replicas("web") == 5)
			fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':1}}");
		world_pass(100);
	}
	/* Ten minutes: not each second, let alone each change; and never given up. */
	assert_in_range(scale_writes(), 15, 60);
	assert_int_equal(fakecluster_events_sent("ScaledObjectPaused",
				 "Warning ScaledObject default/web uid-2: ScaledObject is paused at 5 replicas, but "
				 "somebody scales Deployment default/web"),
		1);
	assert_int_equal(fakecluster_events_repeated("ScaledObjectPaused"), 0);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, "/status"), 0);
	world_pass(60000);
	assert_int_equal(world_replicas("web"), 5);
	/* Much later a single change is answered at once again. */
	world_pass(HOUR_MS);
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':1}}");
	world_pass(100);
	assert_int_equal(world_replicas("web"), 5);
}

static void at_most_one_write_per_second(void **state)
{
	(void)state;
	world_ready_object("web", 3, "");
	annotate("{'autoscaling.keda.sh/paused-replicas':'5'}");
	world_pass(2 * HOUR_MS);
	fakecluster_forget_calls();
	for (int i = 0; i < 9; i++) {
		fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':1}}");
		world_pass(100);
	}
	assert_int_equal(scale_writes(), 1);
}

static void an_object_that_is_born_paused(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 2);
	world_scaledobject("web", "");
	annotate("{'autoscaling.keda.sh/paused-replicas':'6'}");
	world_lead(true);
	world_pass(1000);
	expect_paused();
	assert_int_equal(world_replicas("web"), 6);
	assert_int_equal(fakecluster_number(WEB, "status.originalReplicaCount"), 2); /* as it was before us */
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 0);
	assert_int_equal(fakesource_asked("web"), 0);
	annotate("{'autoscaling.keda.sh/paused-replicas':null}");
	expect_running();
}

static void without_a_target_a_number_cannot_be_kept(void **state)
{
	(void)state;
	world_ready_object("web", 2, "");
	fakecluster_delete(DEPLOYMENT("web"));
	annotate("{'autoscaling.keda.sh/paused-replicas':'6'}");
	world_expect("web", "Ready",
		FAILED "failed to scale target to paused replica count: ScaledObject doesn't have correct "
		       "scaleTargetRef specification: Target resource doesn't exist");
	world_expect("web", "Paused", "True");
	assert_null(fakecluster_get(WEB_HPA));
	world_deployment("web", 1);
	world_pass(1000);
	expect_paused();
	assert_int_equal(world_replicas("web"), 6);
}

/* ---- Paused in one direction ---- */

static void scale_in_paused(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'cooldownPeriod':0");
	annotate("{'autoscaling.keda.sh/paused-scale-in':'true'}");
	world_expect("web", "Ready", "True ScaledObjectReady ScaledObject is defined");
	world_expect("web", "Paused", "True ScaledObjectPaused");
	assert_string_equal(fakecluster_text(WEB_HPA, "spec.behavior.scaleDown.selectPolicy"), "Disabled");
	fakesource_answer("web", 7);
	world_pass(11000);
	assert_int_equal(world_replicas("web"), 1);
	fakesource_answer("web", 0);
	world_pass(HOUR_MS);
	assert_int_equal(world_replicas("web"), 1);
	annotate("null");
	assert_int_equal(world_replicas("web"), 0); /* not only at the next poll */
	world_expect("web", "Paused", "False ScaledObjectUnpaused");
	assert_int_equal(fakecluster_events_sent("ScaledObjectPaused", ""), 1);
	assert_int_equal(fakecluster_events_sent("ScaledObjectUnpaused", ""), 1);
}

static void scale_out_paused(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	annotate("{'autoscaling.keda.sh/paused-scale-out':'true'}");
	assert_string_equal(fakecluster_text(WEB_HPA, "spec.behavior.scaleUp.selectPolicy"), "Disabled");
	fakesource_answer("web", 7);
	world_pass(HOUR_MS);
	assert_int_equal(world_replicas("web"), 0);
	annotate("null");
	assert_int_equal(world_replicas("web"), 1);
}

static void forced_activation(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'cooldownPeriod':0,'pollingInterval':3600");
	annotate("{'autoscaling.keda.sh/force-activation':'true'}");
	assert_int_equal(world_replicas("web"), 1);
	world_expect("web", "Active",
		"True ScalerActive Scaling is performed because activation is being forced by annotation");
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivated",
				 "Scaled Deployment default/web from 0 to 1, caused by forced activation annotation"),
		1);
	annotate("null");
	assert_int_equal(world_replicas("web"), 0);
}

/* ---- On the way ---- */

static void an_unreadable_annotation_scales_nothing_and_leaves_the_hpa(void **state)
{
	unsigned asked;

	(void)state;
	world_ready_object("web", 0, "");
	annotate("{'autoscaling.keda.sh/paused':'yes'}");
	world_expect("web", "Ready",
		FAILED "metadata.annotations[autoscaling.keda.sh/paused]: \"yes\" is neither true nor false");
	world_expect("web", "Paused", "False");
	asked = fakesource_asked("web");
	fakesource_answer("web", 7);
	world_pass(HOUR_MS);
	assert_int_equal(fakesource_asked("web"), asked);
	assert_int_equal(world_replicas("web"), 0);
	assert_non_null(fakecluster_get(WEB_HPA));
	annotate("{'autoscaling.keda.sh/paused':null,'autoscaling.keda.sh/paused-replicas':'many'}");
	world_expect("web", "Ready",
		FAILED "metadata.annotations[autoscaling.keda.sh/paused-replicas]: \"many\" is not a whole number");
	annotate("null");
	expect_running();
}

static void a_pause_survives_a_restart(void **state)
{
	(void)state;
	world_ready_object("web", 3, "");
	annotate("{'autoscaling.keda.sh/paused-replicas':'5'}");
	fakecluster_forget_calls();
	world_restart();
	world_pass(HOUR_MS);
	expect_paused();
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 0);
	assert_int_equal(fakecluster_events_sent("ScaledObjectPaused", ""), 1);
	/* Ended while no leader existed. */
	world_lead(false);
	annotate("null");
	world_restart();
	world_pass(1000);
	expect_running();
	assert_int_equal(fakecluster_events_sent("ScaledObjectUnpaused", ""), 1);
}

/* Killed after each of the writes of a pause, and of its end. */
static void a_restart_in_the_middle_finishes_the_pause(void **state)
{
	(void)state;
	for (int writes = 0; writes < 4; writes++) {
		world_ready_object("web", 3, "");
		fakecluster_forget_calls();
		fakecluster_change(WEB, "{'metadata':{'annotations':{'autoscaling.keda.sh/paused-replicas':'5'}}}");
		for (int ms = 0; ms < 100 && (int)fakecluster_writes() < writes; ms++)
			world_pass(1);
		world_restart();
		world_pass(1000);
		expect_paused();
		assert_int_equal(world_replicas("web"), 5);
		assert_int_equal(fakecluster_number(WEB, "status.pausedReplicaCount"), 5);
		assert_int_equal(fakecluster_number(WEB, "status.originalReplicaCount"), 3);
		fakecluster_forget_calls();
		fakecluster_change(WEB, "{'metadata':{'annotations':null}}");
		for (int ms = 0; ms < 100 && (int)fakecluster_writes() < writes; ms++)
			world_pass(1);
		world_restart();
		world_pass(1000);
		expect_running();
		world_teardown(state);
		world_setup(state);
	}
}

static const struct {
	int verb, http_status;
	const char *part, *says;
} faults[] = {
	{ KUBE_DELETE, 403, HPAS, FAILED "failed to delete HPA for paused ScaledObject: HTTP 403" },
	{ KUBE_MERGE_PATCH, 500, SCALE, FAILED "failed to scale target to paused replica count: HTTP 500" },
};

static void a_failing_pause_is_reported_and_retried(void **state)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		world_ready_object("web", 3, "");
		fakecluster_fail(FAKECLUSTER_REFUSE, faults[i].verb, faults[i].part, FAKECLUSTER_ANY,
			faults[i].http_status);
		annotate("{'autoscaling.keda.sh/paused-replicas':'5'}");
		world_expect("web", "Ready", faults[i].says);
		world_expect("web", "Paused", "True");
		fakecluster_forget_calls();
		world_pass(600000);
		assert_in_range(fakecluster_writes(), 10, 40);
		fakecluster_heal();
		world_pass(40000);
		expect_paused();
		assert_int_equal(world_replicas("web"), 5);
		world_teardown(state);
		world_setup(state);
	}
}

static void others_scale(void)
{
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':8}}");
}

static void a_conflict_at_the_target_is_no_news(void **state)
{
	(void)state;
	world_ready_object("web", 3, "");
	fakecluster_just_before(KUBE_MERGE_PATCH, SCALE, others_scale);
	annotate("{'autoscaling.keda.sh/paused-replicas':'5'}");
	world_pass(2000);
	expect_paused();
	assert_int_equal(world_replicas("web"), 5);
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", ""), 0);
	/* Nor a quarrel: nothing of ours was undone. */
	assert_int_equal(fakecluster_events_sent("ScaledObjectPaused", "Warning"), 0);
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':1}}");
	world_pass(2000);
	assert_int_equal(fakecluster_events_sent("ScaledObjectPaused", "Warning"), 1);
}

static void a_paused_object_that_is_deleted_is_restored(void **state)
{
	(void)state;
	world_ready_object("web", 3, "'advanced':{'restoreToOriginalReplicaCount':true}");
	annotate("{'autoscaling.keda.sh/paused-replicas':'5'}");
	assert_int_equal(world_replicas("web"), 5);
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(world_replicas("web"), 3);
	assert_null(fakecluster_get(WEB_HPA));
}

static void five_hundred_objects_are_paused_and_not(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		MEM_AUTO char *name = mem_printf("web-%d", i);

		world_deployment(name, 1);
		world_scaledobject(name, "");
	}
	world_pass(2000);
	for (int i = 0; i < 500; i++) {
		MEM_AUTO char *path = mem_printf(SCALEDOBJECT("web-%d"), i);

		fakecluster_change(path, "{'metadata':{'annotations':{'autoscaling.keda.sh/paused':'true'}}}");
	}
	fakecluster_forget_calls();
	world_pass(1000);
	assert_int_equal(fakecluster_count(HPAS), 0);
	assert_int_equal(fakecluster_writes(), 1000);
	for (int i = 0; i < 500; i++) {
		MEM_AUTO char *path = mem_printf(SCALEDOBJECT("web-%d"), i);

		fakecluster_change(path, "{'metadata':{'annotations':null}}");
	}
	fakecluster_forget_calls();
	world_pass(1000);
	assert_int_equal(fakecluster_count(HPAS), 500);
	assert_int_equal(fakecluster_writes(), 1000);
	world_expect("web-499", "Ready", "True ScaledObjectReady ScaledObject is defined");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_pause_ends_the_fallback),
		CASE(a_pause_stops_everything_and_leaves_the_replicas),
		CASE(an_end_of_the_pause_brings_all_back),
		CASE(false_is_no_pause),
		CASE(a_paused_object_need_not_be_right),
		CASE(the_hpa_that_keda_left_goes_too),
		CASE(the_renamed_hpa_that_keda_left_goes_too),
		CASE(an_hpa_that_lost_its_owner_goes_too),
		CASE(a_renamed_hpa_goes_too),
		CASE(the_target_is_kept_at_its_paused_replicas),
		CASE(two_writers_do_not_fight_at_full_speed),
		CASE(at_most_one_write_per_second),
		CASE(an_object_that_is_born_paused),
		CASE(without_a_target_a_number_cannot_be_kept),
		CASE(scale_in_paused),
		CASE(scale_out_paused),
		CASE(forced_activation),
		CASE(an_unreadable_annotation_scales_nothing_and_leaves_the_hpa),
		CASE(a_pause_survives_a_restart),
		CASE(a_restart_in_the_middle_finishes_the_pause),
		CASE(a_failing_pause_is_reported_and_retried),
		CASE(a_conflict_at_the_target_is_no_news),
		CASE(a_paused_object_that_is_deleted_is_restored),
		CASE(five_hundred_objects_are_paused_and_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
