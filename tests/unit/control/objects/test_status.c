/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing .status: differences only, once, under the object's version, whatever the server makes of
 * it.
 */
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

#include "base/json.h"
#include "base/mem.h"

#define WEB     SCALEDOBJECT("web")
#define STATUS  "/scaledobjects/web/status"
#define POLL_MS 10000
#define HOUR_MS 3600000

static unsigned status_writes(void)
{
	return fakecluster_calls(FAKECLUSTER_ANY, STATUS);
}

static void only_the_difference_is_written_under_its_version(void **state)
{
	MEM_AUTO char *begins = NULL;

	(void)state;
	world_ready_object("web", 0, "");
	assert_non_null(strstr(fakecluster_last_body(KUBE_MERGE_PATCH, STATUS), "\"hpaName\":\"keda-hpa-web\""));
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, STATUS "?fieldManager=kscaled"), 1);
	begins = mem_printf("{\"metadata\":{\"resourceVersion\":\"%s\"},\"status\":{",
		fakecluster_text(WEB, "metadata.resourceVersion"));
	fakesource_answer("web", 7);
	world_pass(POLL_MS + 1000);
	assert_memory_equal(fakecluster_last_body(KUBE_MERGE_PATCH, STATUS), begins, strlen(begins));
	assert_null(strstr(fakecluster_last_body(KUBE_MERGE_PATCH, STATUS), "hpaName"));
	assert_int_equal(status_writes(), 2);
}

/* KEDA's own CRD keeps neither times nor generations of conditions. */
static void prune_times(json_t *status)
{
	json_t *condition;
	size_t i;

	json_array_foreach(json_object_get(status, "conditions"), i, condition)
	{
		json_object_del(condition, "lastTransitionTime");
		json_object_del(condition, "observedGeneration");
	}
}

static void pruned_times_cause_no_endless_writes(void **state)
{
	(void)state;
	fakecluster_on_status(prune_times);
	world_ready_object("web", 0, "");
	fakecluster_relist("");
	world_pass(HOUR_MS);
	assert_int_equal(status_writes(), 1);
	world_scaledobject("web", "'maxReplicaCount':7");
	world_pass(HOUR_MS);
	assert_int_equal(status_writes(), 1);
	fakesource_answer("web", 7);
	world_pass(HOUR_MS);
	assert_int_equal(status_writes(), 2);
	world_expect("web", "Active", "True");
}

/* An older CRD does not know the field. */
static void prune_activity(json_t *status)
{
	json_object_del(status, "triggersActivity");
}

static void fields_that_are_not_kept_cause_no_endless_writes(void **state)
{
	(void)state;
	fakecluster_on_status(prune_activity);
	world_ready_object("web", 0, "");
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_in_range(status_writes(), 0, 1);
	fakesource_answer("web", 7);
	world_pass(HOUR_MS);
	world_expect("web", "Active", "True");
	assert_in_range(status_writes(), 1, 4);
}

/*
 * Those that KEDA wrote have no times under our CRD either; that does not mean that it prunes them.
 */
static void conditions_that_keda_left_get_their_times(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	fakecluster_change(WEB,
		"{'status':{'conditions':[{'type':'Ready','status':'True','reason':'ScaledObjectReady','message':'x'},{"
		"'type':'Active','status':'False'},"
		"{'type':'Fallback','status':'False'},{'type':'Paused','status':'Unknown'}]}}");
	world_lead(true);
	world_pass(1000);
	fakesource_answer("web", 7);
	world_pass(POLL_MS + 1000);
	world_expect("web", "Active", "True");
	assert_int_equal(status_writes(), 2);
	world_scaledobject("web", "'maxReplicaCount':7");
	world_pass(1000);
	/* Still compared, so the new generation is written. */
	assert_int_equal(fakecluster_number(WEB, "status.conditions.0.observedGeneration"), 2);
}

static void keep_nothing(void)
{
	fakecluster_change(WEB, "{'status':null}");
}

/*
 * A writer that removes everything each time, against one that writes everything again, but no
 * faster than it sees the changes.
 */
static void removed_fields_are_written_again(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	for (int i = 0; i < 5; i++) {
		keep_nothing();
		world_pass(1000);
		world_expect("web", "Ready", "True");
	}
	assert_int_equal(status_writes(), 6);
	assert_int_equal(fakecluster_events_sent("ScaledObjectReady", ""), 1);
}

static void label_it(void)
{
	fakecluster_change(WEB, "{'metadata':{'labels':{'x':'y'}}}");
}

static void unlabel_it(void)
{
	fakecluster_change(WEB, "{'metadata':{'labels':null}}");
}

static void a_conflict_is_tried_again_with_the_newer_version(void **state)
{
	(void)state;
	fakecluster_just_before(KUBE_MERGE_PATCH, STATUS, label_it);
	world_ready_object("web", 0, "");
	assert_int_equal(status_writes(), 2);
	/* Also when the watch is late: not at the speed of the answers. */
	fakecluster_watch_lag(5000);
	fakesource_answer("web", 7);
	fakecluster_just_before(KUBE_MERGE_PATCH, STATUS, unlabel_it);
	world_pass(POLL_MS + 5000 + 60000);
	world_expect("web", "Active", "True");
	assert_in_range(status_writes(), 4, 16);
}

static void failing_writes_are_backed_off_whatever_the_polls_say(void **state)
{
	static const int statuses[] = { 403, 422, 500, 0 };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		fakecluster_fail(statuses[i] ? FAKECLUSTER_REFUSE : FAKECLUSTER_HANG, KUBE_MERGE_PATCH, STATUS,
			FAKECLUSTER_ANY, statuses[i]);
		world_deployment("web", 0);
		world_scaledobject("web", "'pollingInterval':1");
		world_pass(HOUR_MS);
		assert_in_range(status_writes(), 50, 75); /* at last one in a minute */
		assert_true(fakesource_asked("web") > 3500);
		assert_int_equal(fakecluster_events_sent("ScaledObjectUpdateFailed",
					 "Its status could not be written: "),
			1);
		assert_int_equal(fakecluster_events_repeated("ScaledObjectUpdateFailed"), 0);
		fakecluster_heal();
		world_pass(61000);
		world_expect("web", "Ready", "True");
		world_teardown(state);
		world_setup(state);
	}
}

/* Written, but the answer was lost: the watch shows it, and nothing is left to write. */
static void a_lost_answer_is_found_out_by_the_watch(void **state)
{
	(void)state;
	fakecluster_fail(FAKECLUSTER_LOSE, KUBE_MERGE_PATCH, STATUS, 1, 0);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	world_pass(HOUR_MS);
	world_expect("web", "Ready", "True");
	assert_int_equal(status_writes(), 1);
}

static void ready_does_not_flap_over_a_restart(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakesource_answer("web", 7);
	world_pass(POLL_MS);
	fakecluster_forget_calls();
	world_restart();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakecluster_events_sent("ScaledObjectReady", ""), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScalersStarted", "Started scalers watch"), 1);
}

static void the_hpas_word_is_mirrored(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	assert_string_equal(world_condition("web", "HPAActive"), "");
	fakecluster_change(HPA("keda-hpa-web"),
		"{'status':{'conditions':[{'type':'ScalingActive','status':'False','reason':'FailedGetExternalMetric','"
		"message':'no metrics'}]}}");
	world_pass(POLL_MS + 1000);
	world_expect("web", "HPAActive", "False FailedGetExternalMetric HPA is not actively scaling: no metrics");
	world_expect("web", "Ready", "True");
	fakecluster_change(HPA("keda-hpa-web"),
		"{'status':{'conditions':[{'type':'ScalingActive','status':'True','reason':'ValidMetricFound','message'"
		":'x'}]}}");
	world_pass(POLL_MS + 1000);
	world_expect("web", "HPAActive", "True HPAActive");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(only_the_difference_is_written_under_its_version),
		CASE(pruned_times_cause_no_endless_writes),
		CASE(fields_that_are_not_kept_cause_no_endless_writes),
		CASE(conditions_that_keda_left_get_their_times),
		CASE(removed_fields_are_written_again),
		CASE(a_conflict_is_tried_again_with_the_newer_version),
		CASE(failing_writes_are_backed_off_whatever_the_polls_say),
		CASE(a_lost_answer_is_found_out_by_the_watch),
		CASE(ready_does_not_flap_over_a_restart),
		CASE(the_hpas_word_is_mirrored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
