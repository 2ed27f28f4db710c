/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ScaledObject whose trigger takes its source from a Secret: waiting, rotation, deletion, return;
 * Ready, and the source that is asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakesource.h"
#include "../world.h"

#include "base/mem.h"

#define TA      "/apis/keda.sh/v1alpha1/namespaces/default/triggerauthentications/auth"
#define SECRET  "/api/v1/namespaces/default/secrets/creds"
#define WEB     SCALEDOBJECT("web")
#define FAILED  "False ScaledObjectCheckFailed "
#define TRIGGER "failed to ensure HPA is correctly created for ScaledObject: trigger 0 (scripted): "

/* more: fields of the spec, each with a comma behind it */
static void start_with(int replicas, const char *more)
{
	MEM_AUTO char *object = mem_printf("{'spec':{%s'scaleTargetRef':{'name':'web'},'pollingInterval':10,'triggers':"
					   "[{'type':'scripted','metadata':{},'authenticationRef':{'name':'auth'}}]}}",
		more);

	world_deployment("web", replicas);
	fakecluster_apply(TA, "{'spec':{'secretTargetRef':[{'parameter':'source','name':'creds','key':'source'}]}}");
	fakecluster_apply(WEB, object);
	world_pass(1000);
}

static void start(void)
{
	start_with(1, "");
}

static void secret(const char *base64)
{
	char text[100];

	snprintf(text, sizeof(text), "{'data':{'source':'%s'}}", base64);
	fakecluster_apply(SECRET, text);
	world_pass(1000);
}

static void a_missing_secret_is_named_until_it_comes(void **state)
{
	(void)state;
	start();
	world_expect("web", "Ready",
		FAILED TRIGGER
		"TriggerAuthentication default/auth: secretTargetRef parameter \"source\": Secret default/creds ");
	assert_int_equal(fakecluster_count("/horizontalpodautoscalers/"), 0);
	assert_int_equal(fakesource_asked(NULL), 0);
	secret("YQ==");
	world_expect("web", "Ready", "True ScaledObjectReady");
	assert_true(fakesource_asked("a") > 0);
	assert_string_equal(fakecluster_text(TA, "status.scaledobjects"), "web");
	/* The TriggerAuthentication goes, and is named. */
	fakecluster_delete(TA);
	world_pass(1000);
	world_expect("web", "Ready", FAILED TRIGGER "TriggerAuthentication default/auth does not exist");
}

static void a_rotated_secret_is_used_without_an_error(void **state)
{
	unsigned asked;

	(void)state;
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	start();
	world_expect("web", "Ready", "True ScaledObjectReady");
	assert_int_equal(fakecluster_count("/horizontalpodautoscalers/"), 1);
	world_pass(20000);
	asked = fakesource_asked("a");
	assert_int_equal(fakesource_asked("b"), 0);
	fakecluster_forget_calls();
	secret("Yg==");
	assert_true(fakesource_asked("b") > 0); /* at once, not at the next poll */
	world_pass(10000);
	assert_true(fakesource_asked("a") <= asked + 1);
	world_expect("web", "Ready", "True ScaledObjectReady");
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", ""), 0);
}

static void a_lost_key_is_named_and_the_hpa_stays(void **state)
{
	(void)state;
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	start();
	world_expect("web", "Ready", "True ScaledObjectReady");
	fakecluster_apply(SECRET, "{'data':{'other':'YQ=='}}");
	world_pass(1000);
	world_expect("web", "Ready",
		FAILED TRIGGER
		"TriggerAuthentication default/auth: secretTargetRef parameter \"source\": Secret default/creds ");
	assert_non_null(strstr(world_condition("web", "Ready"), "\"source\""));
	assert_int_equal(fakecluster_count("/horizontalpodautoscalers/"), 1);
	secret("");
	world_expect("web", "Ready", FAILED TRIGGER "missing required parameter \"source\" in ");
	assert_non_null(strstr(world_condition("web", "Ready"), "(the authentication gives it, and it is empty)"));
	secret("Yg==");
	world_expect("web", "Ready", "True ScaledObjectReady");
	world_pass(10000);
	assert_true(fakesource_asked("b") > 0);
}

/* A status that we write to the TriggerAuthentication, and a quiet time, cost nothing. */
static void a_quiet_object_costs_no_writes(void **state)
{
	(void)state;
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	start();
	world_pass(5000);
	fakecluster_forget_calls();
	world_pass(120000);
	assert_int_equal(fakecluster_writes(), 0);
}

/* Reading after a restart is not an error: Ready stays as it was. */
static void a_restart_changes_nothing(void **state)
{
	(void)state;
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	start();
	world_pass(5000);
	fakecluster_forget_calls();
	world_restart();
	world_pass(1000);
	world_expect("web", "Ready", "True ScaledObjectReady");
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, "/status"), 0);
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", ""), 0);
}

/* Once the reason why it cannot be read is known, Ready reports it. */
static void unreadable_objects_are_reported(void **state)
{
	(void)state;
	fakecluster_trouble("/secrets", ERR_TEMPORARY, "connection refused");
	start();
	world_pass(5000);
	world_expect("web", "Ready",
		FAILED TRIGGER "TriggerAuthentication default/auth: secretTargetRef parameter \"source\": Secret "
			       "default/creds is not read yet: ");
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	fakecluster_trouble("/secrets", ERR_NONE, NULL);
	world_pass(3000);
	world_expect("web", "Ready", "True ScaledObjectReady");
}

/* ---- Without triggers ---- */

#define MIN     "'minReplicaCount':2,"
#define POLL_MS 10000
#define HPAS    "/horizontalpodautoscalers/"

static unsigned told(const char *reason)
{
	return fakecluster_events_sent(reason, "");
}

static void the_minimum_is_kept_without_triggers(void **state)
{
	const struct journal_object *j;

	(void)state;
	start_with(0, MIN);
	assert_int_equal(world_replicas("web"), 2);
	world_expect("web", "Ready", FAILED TRIGGER);
	assert_int_equal(fakecluster_count(HPAS), 0);
	assert_int_equal(told("KEDAScaleTargetActivated") + told("KEDAScalersStarted"), 0);
	j = journal_get(world_object("default/web"));
	assert_string_equal(j->changes[0].who, "kscaled");
	assert_non_null(strstr(j->changes[0].why, "fewer than minReplicaCount, and no trigger could be asked: "));
	assert_non_null(strstr(j->changes[0].why, "Secret default/creds "));
	/* Somebody takes it down: at the next poll it is up again, and nothing else is written. */
	world_pass(POLL_MS);
	fakecluster_forget_calls();
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':1}}");
	world_pass(POLL_MS);
	assert_int_equal(world_replicas("web"), 2);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, ""), 1);
	/* No scale-in: it is not known whether there is work. */
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':7}}");
	world_pass(60 * POLL_MS);
	assert_int_equal(world_replicas("web"), 7);
	/* Another minimum does not wait for a poll. */
	fakecluster_change(WEB, "{'spec':{'minReplicaCount':9}}");
	world_pass(500);
	assert_int_equal(world_replicas("web"), 9);
	secret("YQ==");
	world_expect("web", "Ready", "True ScaledObjectReady");
	assert_int_equal(fakecluster_count(HPAS), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScalersStarted", "Started scalers watch"), 1);
	assert_true(fakesource_asked("a") > 0);
}

/* The existing HPA stays as it is, and the loop goes on. */
static void a_lost_secret_leaves_the_minimum(void **state)
{
	unsigned asked;

	(void)state;
	fakecluster_apply(SECRET, "{'data':{'source':'YQ=='}}");
	start_with(0, MIN);
	world_expect("web", "Ready", "True ScaledObjectReady");
	fakecluster_delete(SECRET);
	world_pass(1000);
	world_expect("web", "Ready", FAILED TRIGGER);
	assert_int_equal(told("KEDAScalersStopped"), 1);
	asked = fakesource_asked("a");
	fakecluster_forget_calls();
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':0}}");
	world_pass(3 * POLL_MS);
	assert_int_equal(world_replicas("web"), 2);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, HPAS), 0);
	assert_int_equal(fakesource_asked("a"), asked);
	assert_int_equal(told("KEDAScalersStopped"), 1);
	/* Without a minimum the loop ends; it was reported already. */
	fakecluster_change(WEB, "{'spec':{'minReplicaCount':0}}");
	world_pass(1000);
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':0}}");
	world_pass(3 * POLL_MS);
	assert_int_equal(world_replicas("web"), 0);
	assert_int_equal(told("KEDAScalersStopped"), 1);
}

static void replicas_raised_without_triggers_are_restored(void **state)
{
	(void)state;
	start_with(0, MIN "'advanced':{'restoreToOriginalReplicaCount':true},");
	assert_int_equal(world_replicas("web"), 2);
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(world_replicas("web"), 0);
}

static void nothing_else_is_done_without_triggers(void **state)
{
	static const struct {
		const char *spec, *annotations;
		int replicas;
	} cases[] = {
		{ "", "", 0 },
		{ "'minReplicaCount':0,", "", 0 },
		{ MIN "'idleReplicaCount':0,", "", 0 },
		{ "'fallback':{'failureThreshold':1,'replicas':3},", "", 0 },
		{ MIN "'fallback':{'failureThreshold':1,'replicas':3},", "", 2 },
		{ MIN "'maxReplicaCount':1,", "", 0 },
		{ MIN, "'autoscaling.keda.sh/paused':'true'", 0 },
		{ MIN, "'autoscaling.keda.sh/paused-scale-out':'true'", 0 },
		{ MIN, "'autoscaling.keda.sh/paused':'perhaps'", 0 },
		{ "", "'autoscaling.keda.sh/force-activation':'true'", 1 },
		{ MIN, "'autoscaling.keda.sh/force-activation':'true'", 2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *says = mem_printf("{'metadata':{'annotations':{%s}}}", cases[i].annotations);

		world_teardown(state);
		world_setup(state);
		fakecluster_apply(WEB, says);
		start_with(0, cases[i].spec);
		fakecluster_change(WEB, says);
		fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':0}}");
		world_pass(5 * POLL_MS);
		if (world_replicas("web") != cases[i].replicas)
			fail_msg("%s %s: %d", cases[i].spec, cases[i].annotations, world_replicas("web"));
		assert_int_equal(fakecluster_count(HPAS), 0);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_missing_secret_is_named_until_it_comes),
		CASE(a_rotated_secret_is_used_without_an_error),
		CASE(a_lost_key_is_named_and_the_hpa_stays),
		CASE(a_quiet_object_costs_no_writes),
		CASE(a_restart_changes_nothing),
		CASE(unreadable_objects_are_reported),
		CASE(the_minimum_is_kept_without_triggers),
		CASE(a_lost_secret_leaves_the_minimum),
		CASE(replicas_raised_without_triggers_are_restored),
		CASE(nothing_else_is_done_without_triggers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
