/* SPDX-License-Identifier: Apache-2.0 */
/* Targets of other kinds than Deployment, and objects that change to another. */
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

#define WEB            SCALEDOBJECT("web")
#define GADGET         "/apis/example.com/v1/namespaces/default/gadgets/web"
#define STATEFULSET    "/apis/apps/v1/namespaces/default/statefulsets/web"
#define OF_GADGET      "'scaleTargetRef':{'apiVersion':'example.com/v1','kind':'Gadget','name':'web'}"
#define OF_STATEFULSET "'scaleTargetRef':{'kind':'StatefulSet','name':'web'}"
#define POLL_MS        10000

static void gadgets(void)
{
	fakecluster_serve("/apis/example.com/v1",
		"{'kind':'APIResourceList','groupVersion':'example.com/v1','resources':["
		"{'name':'gadgets','singularName':'gadget','namespaced':true,'kind':'Gadget','verbs':['get','list','"
		"watch']},"
		"{'name':'gadgets/"
		"scale','namespaced':true,'group':'autoscaling','version':'v1','kind':'Scale','verbs':['get','patch']}]"
		"}");
	fakecluster_apply(GADGET, "{'apiVersion':'example.com/v1','kind':'Gadget','spec':{'replicas':2}}");
}

static void any_kind_is_scaled_paused_and_restored(void **state)
{
	(void)state;
	gadgets();
	world_scaledobject("web", OF_GADGET ",'cooldownPeriod':0,'advanced':{'restoreToOriginalReplicaCount':true}");
	world_pass(3000);
	world_expect("web", "Ready", "True");
	assert_string_equal(fakecluster_text(WEB, "status.scaleTargetKind"), "example.com/v1.Gadget");
	assert_string_equal(fakecluster_text(HPA("keda-hpa-web"), "spec.scaleTargetRef.kind"), "Gadget");
	world_pass(POLL_MS);
	assert_int_equal(fakecluster_number(GADGET, "spec.replicas"), 0);
	fakesource_answer("web", 7);
	world_pass(POLL_MS);
	assert_int_equal(fakecluster_number(GADGET, "spec.replicas"), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivated", "Scaled Gadget default/web from 0 to 1"),
		1);
	fakecluster_change(WEB, "{'metadata':{'annotations':{'autoscaling.keda.sh/paused-replicas':'5'}}}");
	world_pass(1000);
	assert_int_equal(fakecluster_number(GADGET, "spec.replicas"), 5);
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(fakecluster_number(GADGET, "spec.replicas"), 2);
}

static void a_kind_without_scale_has_kedas_event_too(void **state)
{
	(void)state;
	fakecluster_serve("/apis/example.com/v1",
		"{'kind':'APIResourceList','groupVersion':'example.com/v1','resources':[{'name':'gadgets',"
		"'singularName':'gadget','namespaced':true,'kind':'Gadget','verbs':['get','list']}]}");
	world_scaledobject("web", OF_GADGET);
	world_pass(3000);
	world_expect("web", "Ready",
		"False ScaledObjectCheckFailed ScaledObject doesn't have correct scaleTargetRef "
		"specification: kind Gadget of example.com/v1 has no scale subresource");
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", ""), 2);
	assert_int_equal(fakecluster_events_sent(NULL, "Target resource doesn't expose /scale subresource"), 1);
	assert_int_equal(fakecluster_events_sent(NULL, "specification: kind Gadget of example.com/v1 has no scale"), 1);
}

/* Deleted while its kind cannot be looked up any more: the status knows where its target was. */
static void a_restore_does_not_wait_for_discovery(void **state)
{
	(void)state;
	gadgets();
	world_scaledobject("web", OF_GADGET ",'cooldownPeriod':0,'advanced':{'restoreToOriginalReplicaCount':true}");
	world_pass(POLL_MS * 2);
	assert_int_equal(fakecluster_number(GADGET, "spec.replicas"), 0);
	world_lead(false);
	fakecluster_delete(WEB);
	fakecluster_serve("/apis/example.com/v1", NULL);
	world_restart();
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(fakecluster_number(GADGET, "spec.replicas"), 2);
}

static void another_kind_is_followed_and_the_old_target_left_as_it_is(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 3, "");
	fakecluster_apply(STATEFULSET,
		"{'apiVersion':'apps/"
		"v1','kind':'StatefulSet','spec':{'replicas':0,'template':{'spec':{'containers':[{'name':'main'}]}}}}");
	world_scaledobject("web", OF_STATEFULSET);
	world_pass(1000);
	world_expect("web", "Ready", "True");
	assert_int_equal(fakecluster_number(STATEFULSET, "spec.replicas"), 1);
	assert_int_equal(world_replicas("web"), 3);
	assert_string_equal(fakecluster_text(WEB, "status.scaleTargetKind"), "apps/v1.StatefulSet");
	assert_string_equal(fakecluster_text(WEB, "status.scaleTargetGVKR.resource"), "statefulsets");
	assert_int_equal(fakecluster_number(WEB, "status.originalReplicaCount"), 3); /* once */
	assert_string_equal(fakecluster_text(HPA("keda-hpa-web"), "spec.scaleTargetRef.kind"), "StatefulSet");
}

/* An answer about the old target must not be taken for the new one's. */
static void a_write_to_the_old_target_does_not_count_for_the_new(void **state)
{
	(void)state;
	fakecluster_apply(STATEFULSET,
		"{'apiVersion':'apps/"
		"v1','kind':'StatefulSet','spec':{'replicas':0,'template':{'spec':{'containers':[{'name':'main'}]}}}}");
	world_ready_object("web", 0, "");
	fakesource_answer("web", 7);
	fakecluster_answer_lag(15000);
	while (fakecluster_calls(KUBE_MERGE_PATCH, "/deployments/web/scale") == 0)
		world_pass(100);
	world_scaledobject("web", OF_STATEFULSET);
	world_pass(20000);
	fakecluster_answer_lag(1);
	world_pass(60000);
	assert_int_equal(fakecluster_number(STATEFULSET, "spec.replicas"), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivated", "StatefulSet default/web"), 1);
	world_expect("web", "Ready", "True");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(any_kind_is_scaled_paused_and_restored),
		CASE(a_kind_without_scale_has_kedas_event_too),
		CASE(a_restore_does_not_wait_for_discovery),
		CASE(another_kind_is_followed_and_the_old_target_left_as_it_is),
		CASE(a_write_to_the_old_target_does_not_count_for_the_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
