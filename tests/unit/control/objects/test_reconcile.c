/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a ScaledObject to its HPA and its Ready condition: written when something is missing, never
 * otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../world.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakesource.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

#define WEB         SCALEDOBJECT("web")
#define WEB_HPA     HPA("keda-hpa-web")
#define HPAS        "/horizontalpodautoscalers"
#define HOUR_MS     3600000
#define FAILED      "False ScaledObjectCheckFailed "
#define HPA_STEP    FAILED "failed to ensure HPA is correctly created for ScaledObject: "
#define TARGET_STEP FAILED "ScaledObject doesn't have correct scaleTargetRef specification: "

/* ---- The way of an object ---- */

static void a_new_object_gets_its_hpa_and_its_status(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 1);
	assert_string_equal(fakecluster_text(WEB_HPA, "spec.metrics.0.external.metric.name"), "s0-scripted-web");
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.minReplicas"), 1);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 100);
	assert_string_equal(fakecluster_text(WEB_HPA, "metadata.ownerReferences.0.uid"),
		fakecluster_text(WEB, "metadata.uid"));
	assert_string_equal(fakecluster_text(WEB, "status.hpaName"), "keda-hpa-web");
	assert_string_equal(fakecluster_text(WEB, "status.scaleTargetKind"), "apps/v1.Deployment");
	assert_string_equal(fakecluster_text(WEB, "status.externalMetricNames.0"), "s0-scripted-web");
	assert_int_equal(fakecluster_number(WEB, "status.originalReplicaCount"), 0);
	world_expect("web", "Active", "False ScalerNotActive");
	world_expect("web", "Fallback", "False NoFallbackFound");
	world_expect("web", "Paused", "False");
	assert_int_equal(fakecluster_events_sent("ScaledObjectReady", "Normal ScaledObject default/web"), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScalersStarted",
				 "Normal ScaledObject default/web uid-2: Scaler scripted is built"),
		1);
	assert_int_equal(fakecluster_events_sent("KEDAScalersStarted", "Started scalers watch"), 1);
	/*
	 * One for the HPA, one for the status, which waited for the first poll; and nothing was
	 * read.
	 */
	assert_int_equal(fakecluster_writes(), 2);
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 0);
}

static void a_quiet_object_costs_no_writes(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_true(fakesource_asked("web") >= 359);
	fakecluster_relist("");
	world_pass(HOUR_MS);
	/* Echoes of irrelevant changes. */
	fakecluster_change(WEB, "{'metadata':{'annotations':{'note':'x'}}}");
	fakecluster_change(DEPLOYMENT("web"), "{'status':{'observedGeneration':2}}");
	fakecluster_change(WEB_HPA, "{'status':{'currentReplicas':1}}");
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_calls(KUBE_UPDATE, HPAS), 1); /* annotations are mirrored (doc/keda.md 2.2) */
	assert_int_equal(fakecluster_writes(), 1);
}

static void a_changed_spec_is_followed(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_forget_calls();
	world_scaledobject("web", "'maxReplicaCount':7");
	world_pass(1000);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 7);
	assert_int_equal(fakecluster_calls(KUBE_GET, HPAS), 1);
	assert_int_equal(fakecluster_calls(KUBE_UPDATE, HPAS), 1);
	assert_int_equal(fakecluster_number(WEB, "status.conditions.0.observedGeneration"), 2);
	/* HPA and status: the loop and the conditions went on. */
	assert_int_equal(fakecluster_writes(), 2);
	assert_int_equal(fakecluster_events_sent("ScaledObjectReady", ""), 1);
}

static void answers_may_come_before_or_after_the_watch(void **state)
{
	(void)state;
	fakecluster_watch_lag(1);
	fakecluster_answer_lag(50);
	world_ready_object("early", 0, "");
	fakecluster_watch_lag(500);
	fakecluster_answer_lag(1);
	world_deployment("late", 0);
	world_scaledobject("late", "");
	world_pass(5000);
	world_expect("late", "Ready", "True");
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 2);
	assert_int_equal(fakecluster_writes(), 4);
}

/* ---- Writes that fail ---- */

static const struct {
	enum fakecluster_fault fault;
	int http_status;
	const char *says;
} failures[] = {
	{ FAKECLUSTER_REFUSE, 403, HPA_STEP "creating HPA keda-hpa-web: HTTP 403" },
	{ FAKECLUSTER_REFUSE, 500, HPA_STEP "creating HPA keda-hpa-web: HTTP 500" },
	{ FAKECLUSTER_REFUSE, 422, HPA_STEP "creating HPA keda-hpa-web: HTTP 422" },
	{ FAKECLUSTER_HANG, 0, HPA_STEP "creating HPA keda-hpa-web: timed out" },
};

static void a_failing_write_is_reported_and_recovers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		unsigned tries;

		fakecluster_fail(failures[i].fault, KUBE_CREATE, HPAS, FAKECLUSTER_ANY, failures[i].http_status);
		world_deployment("web", 0);
		world_scaledobject("web", "");
		world_pass(11000);
		world_expect("web", "Ready", failures[i].says);
		world_expect("web", "Active", "Unknown");
		fakecluster_forget_calls();
		world_pass(600000);
		tries = fakecluster_calls(KUBE_CREATE, HPAS);
		assert_in_range(tries, 10, 30);
		assert_int_equal(fakesource_asked("web"), 0); /* no HPA, no loop */
		assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, ""), 0);
		fakecluster_heal();
		world_pass(45000);
		world_expect("web", "Ready", "True");
		world_expect("web", "Active", "False ScalerNotActive");
		world_teardown(state);
		world_setup(state);
	}
}

/* Created, but the answer was lost: the existing HPA is recognised as ours. */
static void a_lost_answer_makes_no_second_hpa(void **state)
{
	(void)state;
	fakecluster_fail(FAKECLUSTER_LOSE, KUBE_CREATE, HPAS, 1, 0);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	world_pass(60000);
	world_expect("web", "Ready", "True");
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 1);
}

static void failing_later_leaves_the_loop_running(void **state)
{
	unsigned asked;

	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_UPDATE, HPAS, FAKECLUSTER_ANY, 500);
	world_scaledobject("web", "'maxReplicaCount':7");
	world_pass(1000);
	world_expect("web", "Ready", HPA_STEP "updating HPA keda-hpa-web: HTTP 500");
	asked = fakesource_asked("web");
	world_pass(60000);
	assert_true(fakesource_asked("web") > asked + 4);
	world_expect("web", "Ready", HPA_STEP); /* a poll does not hide it */
	fakecluster_heal();
	world_pass(31000);
	world_expect("web", "Ready", "True");
	world_expect("web", "Active", "False ScalerNotActive");
}

/* A changed status is corrected at once, not by the next poll. */
static void a_recovery_does_not_wait_for_the_poll(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'pollingInterval':3600");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_UPDATE, HPAS, 2, 500);
	fakecluster_change(WEB_HPA, "{'spec':{'maxReplicas':7}}");
	world_pass(1000);
	world_expect("web", "Active", "Unknown");
	world_pass(2000);
	world_expect("web", "Ready", "True");
	world_expect("web", "Active", "False ScalerNotActive");
}

static void touch_hpa(void)
{
	fakecluster_change(WEB_HPA, "{'status':{'desiredReplicas':1}}");
}

/* The HPA controller writes its status between our GET and our PUT. */
static void a_conflict_is_no_news(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_forget_calls();
	fakecluster_just_before(KUBE_UPDATE, HPAS, touch_hpa);
	world_scaledobject("web", "'maxReplicaCount':7");
	world_pass(1000);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 7);
	assert_int_equal(fakecluster_calls(KUBE_UPDATE, HPAS), 2);
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", ""), 0);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, "/status"), 1);
	/* One that never ends is reported. */
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_UPDATE, HPAS, FAKECLUSTER_ANY, 409);
	world_scaledobject("web", "'maxReplicaCount':8");
	world_pass(60000);
	world_expect("web", "Ready", HPA_STEP "updating HPA keda-hpa-web: HTTP 409");
	assert_true(fakecluster_calls(KUBE_UPDATE, HPAS) < 20);
}

/* ---- The target ---- */

static void a_target_that_comes_later_heals(void **state)
{
	unsigned asked;

	(void)state;
	world_scaledobject("web", "");
	world_pass(1000);
	world_expect("web", "Ready", TARGET_STEP "Target resource doesn't exist: Deployment default/web");
	/* In KEDA's words alone, and in ours. */
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", "Target resource doesn't exist"), 2);
	assert_int_equal(fakecluster_events_sent(NULL, "Target resource doesn't exist: Deployment default/web"), 1);
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", "scaleTargetRef specification"), 1);
	assert_null(fakecluster_get(WEB_HPA));
	world_deployment("web", 2);
	world_pass(1000);
	world_expect("web", "Ready", "True");
	assert_int_equal(fakecluster_number(WEB, "status.originalReplicaCount"), 2);
	/* And goes. */
	fakecluster_delete(DEPLOYMENT("web"));
	world_pass(1000);
	world_expect("web", "Ready", TARGET_STEP "Target resource doesn't exist");
	asked = fakesource_asked("web");
	world_pass(HOUR_MS);
	assert_int_equal(fakesource_asked("web"), asked);
	world_deployment("web", 0);
	world_pass(1000);
	world_expect("web", "Ready", "True");
	assert_true(fakesource_asked("web") > asked);
}

static void an_unwatchable_target_is_reported(void **state)
{
	(void)state;
	fakecluster_trouble("/deployments", ERR_DENIED, "deployments.apps is forbidden");
	world_deployment("web", 0);
	world_scaledobject("web", "");
	world_pass(2000);
	world_expect("web", "Ready",
		TARGET_STEP "watching apps/v1/deployments: kscaled may not scale deployments.apps: apply `kscaled "
			    "manifests` with it among the --scale-kinds: deployments.apps is forbidden");
	fakecluster_trouble("/deployments", ERR_NONE, NULL);
	world_pass(2000);
	world_expect("web", "Ready", "True");
}

static void another_target_is_read_before_it_is_judged(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	world_deployment("other", 4);
	world_pass(100);
	fakecluster_forget_calls();
	/* While it is being read, a poll ends. */
	fakecluster_answer_lag(30000);
	world_scaledobject("web", "'scaleTargetRef':{'name':'other'}");
	world_pass(29000);
	assert_int_equal(fakecluster_writes(), 0);
	fakecluster_answer_lag(1);
	world_pass(5000);
	world_expect("web", "Ready", "True");
	assert_string_equal(fakecluster_text(WEB_HPA, "spec.scaleTargetRef.name"), "other");
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", ""), 0);
}

/* ---- Invalid objects ---- */

static const struct {
	const char *spec, *says;
} wrong[] = {
	{ "'scaleTargetRef':{'name':'web','apiVersion':'a/b/c'}", TARGET_STEP },
	{ "'scaleTargetRef':{'name':'../../secrets/web'}",
		TARGET_STEP "spec.scaleTargetRef.name: \"../../secrets/web\"" },
	{ "'minReplicaCount':5,'maxReplicaCount':2",
		FAILED "ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification: "
		       "spec.minReplicaCount: 5" },
	{ "'triggers':[]", FAILED "ScaledObject doesn't have correct triggers specification: " },
	{ "'triggers':'x'", FAILED "spec.triggers: must be" },
	{ "'minReplicaCount':99999999999", FAILED "spec.minReplicaCount: " },
	{ "'fallback':{'failureThreshold':1,'replicas':-1}",
		FAILED "spec.fallback.replicas: -1 is too small: at least 0" },
	{ "'triggers':[{'type':'unheard-of','metadata':{}}]",
		HPA_STEP "trigger 0: no scaler found for type: unheard-of" },
	{ "'triggers':[{'type':'scripted','metadata':{'source':'a','threshold':'many'}}]",
		HPA_STEP "trigger 0 (scripted): unable to set param \"threshold\" value \"many\"" },
	{ "'triggers':[{'type':'scripted','metadata':{'sourceFromEnv':'NOPE'}}]", HPA_STEP "trigger 0 (scripted): " },
};

static void a_wrong_spec_is_refused_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		MEM_AUTO char *name = mem_printf("web-%zu", i);

		world_deployment(name, 0);
		world_scaledobject(name, wrong[i].spec);
		world_pass(1000);
		world_expect(name, "Ready", wrong[i].says);
		world_expect(name, "Active", "Unknown UnknownState");
	}
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 0);
	assert_int_equal(fakecluster_watches("/deployments"), 1);
	assert_int_equal(fakecluster_watches("v1beta2"), 0);
	assert_int_equal(fakesource_asked(NULL), 0);
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 0);
}

static void a_spec_that_becomes_wrong_stops_the_loop_and_leaves_the_hpa(void **state)
{
	unsigned asked;

	(void)state;
	world_ready_object("web", 0, "");
	fakesource_answer("web", 9);
	world_scaledobject("web", "'minReplicaCount':5,'maxReplicaCount':2");
	world_pass(1000);
	asked = fakesource_asked("web");
	world_pass(HOUR_MS);
	assert_int_equal(fakesource_asked("web"), asked);
	assert_int_equal(world_replicas("web"), 0);
	assert_non_null(fakecluster_get(WEB_HPA));
	world_expect("web", "Ready", FAILED);
	world_scaledobject("web", "");
	world_pass(1000);
	world_expect("web", "Ready", "True");
	world_expect("web", "Active", "True ScalerActive");
	assert_int_equal(world_replicas("web"), 1);
}

/* ---- Many ---- */

#define MANY 2000

static void two_thousand_objects_leave_room_for_others(void **state)
{
	(void)state;
	world_lead(false);
	for (int i = 0; i < MANY; i++) {
		MEM_AUTO char *name = mem_printf("web-%d", i);

		world_deployment(name, 0);
		world_scaledobject(name, "'pollingInterval':30");
	}
	world_pass(1000);
	fakecluster_forget_calls();
	world_lead(true);
	world_pass(5000);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), MANY);
	assert_int_equal(fakecluster_writes(), 2 * MANY);
	assert_true(fakecluster_calls(KUBE_CREATE, HPAS) == fakecluster_count(HPAS));
	world_expect("web-1999", "Ready", "True");
}

static void restart_with_200_objects(int64_t page_ms)
{
	for (int i = 0; i < 200; i++) {
		MEM_AUTO char *name = mem_printf("web-%d", i);

		world_deployment(name, 0);
		world_scaledobject(name, "");
	}
	world_pass(5000);
	fakecluster_forget_calls();
	fakecluster_page(20, page_ms);
	world_restart_leading();
	world_pass(20000);
}

/*
 * At a start the objects come before their HPAs: none is made before it is known not to be there.
 */
static void nothing_is_made_before_it_is_known_to_be_missing(void **state)
{
	(void)state;
	restart_with_200_objects(3);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakecluster_calls(KUBE_GET, ""), 0); /* nor is any target read by itself */
	fakecluster_delete(HPA("keda-hpa-web-7"));
	world_pass(1000);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 1);
}

static void slow_lists_are_waited_for(void **state)
{
	(void)state;
	restart_with_200_objects(1000);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", ""), 0);
}

static void unlisted_hpas_are_reported(void **state)
{
	(void)state;
	world_deployment("web", 0);
	fakecluster_trouble(HPAS, ERR_DENIED, "horizontalpodautoscalers.autoscaling is forbidden");
	world_restart_leading();
	world_scaledobject("web", "");
	world_pass(10000);
	world_expect("web", "Ready",
		HPA_STEP "watching horizontalpodautoscalers: horizontalpodautoscalers.autoscaling is forbidden");
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 0);
	fakecluster_trouble(HPAS, ERR_NONE, NULL);
	world_pass(2000);
	world_expect("web", "Ready", "True");
}

static void a_turn_takes_up_no_more_than_64_objects(void **state)
{
	(void)state;
	world_lead(false);
	for (int i = 0; i < 1000; i++) {
		MEM_AUTO char *name = mem_printf("web-%d", i);

		world_deployment(name, 0);
		world_scaledobject(name, "'pollingInterval':30");
	}
	world_pass(1000);
	fakecluster_answer_lag(60000);
	fakecluster_forget_calls();
	world_lead(true);
	world_pass(1000);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 1000);
	assert_in_range(fakecluster_most_calls_per_turn(), 1, 64);
}

static int made_at(const char *hpa)
{
	const char *version = fakecluster_text(hpa, "metadata.resourceVersion");

	assert_true(*version);
	return atoi(version);
}

/* One that comes last does not wait for all of another namespace. */
static void namespaces_take_turns(void **state)
{
	int quiet, before = 0;

	(void)state;
	world_lead(false);
	for (int i = 0; i < 300; i++) {
		MEM_AUTO char *name = mem_printf("web-%d", i);

		world_deployment(name, 0);
		world_scaledobject(name, "'pollingInterval':30");
	}
	fakecluster_apply("/apis/apps/v1/namespaces/quiet/deployments/web", "{'spec':{'replicas':0}}");
	fakecluster_apply("/apis/keda.sh/v1alpha1/namespaces/quiet/scaledobjects/web",
		"{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[{'type':'scripted','metadata':{'source':'q'}}]}"
		"}");
	world_pass(1000);
	fakecluster_answer_lag(60000);
	fakecluster_forget_calls();
	world_lead(true);
	world_pass(1000);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 301);
	quiet = made_at("/apis/autoscaling/v2/namespaces/quiet/horizontalpodautoscalers/keda-hpa-web");
	for (int i = 0; i < 300; i++) {
		MEM_AUTO char *hpa = mem_printf(HPA("keda-hpa-web-%d"), i);

		before += made_at(hpa) < quiet;
	}
	assert_in_range(before, 0, 2);
}

/*
 * A reconcile's cost grows with its triggers: a turn has room for 256, plus those of the last
 * object.
 */
static void a_turn_takes_up_fewer_objects_with_many_triggers(void **state)
{
	enum { OBJECTS = 12, TRIGGERS = 100 };
	struct buf spec = BUF_INIT(1 << 16);

	(void)state;
	world_lead(false);
	buf_puts(&spec, "'pollingInterval':30,'triggers':[");
	for (int i = 0; i < TRIGGERS; i++)
		buf_printf(&spec, "%s{'type':'scripted','metadata':{'source':'s%d'}}", i > 0 ? "," : "", i);
	buf_puts(&spec, "]");
	for (int i = 0; i < OBJECTS; i++) {
		MEM_AUTO char *name = mem_printf("web-%d", i);

		world_deployment(name, 0);
		world_scaledobject(name, buf_text(&spec));
	}
	buf_done(&spec);
	world_pass(1000);
	fakecluster_answer_lag(60000);
	fakecluster_forget_calls();
	world_lead(true);
	world_pass(1000);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), OBJECTS);
	assert_in_range(fakecluster_most_calls_per_turn(), 1, 3);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_new_object_gets_its_hpa_and_its_status),
		CASE(a_quiet_object_costs_no_writes),
		CASE(a_changed_spec_is_followed),
		CASE(answers_may_come_before_or_after_the_watch),
		CASE(a_failing_write_is_reported_and_recovers),
		CASE(a_lost_answer_makes_no_second_hpa),
		CASE(failing_later_leaves_the_loop_running),
		CASE(a_recovery_does_not_wait_for_the_poll),
		CASE(a_conflict_is_no_news),
		CASE(a_target_that_comes_later_heals),
		CASE(an_unwatchable_target_is_reported),
		CASE(another_target_is_read_before_it_is_judged),
		CASE(a_wrong_spec_is_refused_by_name),
		CASE(a_spec_that_becomes_wrong_stops_the_loop_and_leaves_the_hpa),
		CASE(two_thousand_objects_leave_room_for_others),
		CASE(nothing_is_made_before_it_is_known_to_be_missing),
		CASE(slow_lists_are_waited_for),
		CASE(unlisted_hpas_are_reported),
		CASE(namespaces_take_turns),
		CASE(a_turn_takes_up_no_more_than_64_objects),
		CASE(a_turn_takes_up_fewer_objects_with_many_triggers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
