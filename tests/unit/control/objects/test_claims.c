/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership of an HPA and a target: a user's own HPA, two objects with the same claim, and the end
 * of the first.
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

#define WEB      SCALEDOBJECT("web")
#define MINE     HPA("mine")
#define NAMED    "'advanced':{'horizontalPodAutoscalerConfig':{'name':'mine'}}"
#define HPAS     "/horizontalpodautoscalers"
#define HOUR_MS  3600000
#define FAILED   "False ScaledObjectCheckFailed "
#define HPA_STEP FAILED "failed to ensure HPA is correctly created for ScaledObject: "

static void annotate(const char *path, const char *annotations)
{
	MEM_AUTO char *text = mem_printf("{'metadata':{'annotations':%s}}", annotations);

	fakecluster_change(path, text);
	world_pass(1000);
}

/* ---- A user's own HPA ---- */

static void a_users_hpa_is_taken_over_only_with_the_annotation(void **state)
{
	(void)state;
	fakecluster_apply(MINE, "{'metadata':{'labels':{'team':'a'}},'spec':{'maxReplicas':9}}");
	world_deployment("web", 1);
	world_scaledobject("web", NAMED);
	world_pass(1000);
	world_expect("web", "Ready",
		HPA_STEP "the HPA mine exists already and belongs to nobody, not to this ScaledObject: delete it, or "
			 "choose another name in "
			 "spec.advanced.horizontalPodAutoscalerConfig.name, or let it be taken over with that name "
			 "written there and the annotation scaledobject.keda.sh/transfer-hpa-ownership: \"true\"");
	assert_int_equal(fakecluster_number(MINE, "metadata.generation"), 1);
	world_pass(HOUR_MS);
	fakecluster_change(WEB, "{'metadata':{'annotations':{'scaledobject.keda.sh/transfer-hpa-ownership':'true'}}}");
	world_pass(100); /* the back-off was about something else */
	world_expect("web", "Ready", "True");
	assert_int_equal(fakecluster_number(MINE, "spec.maxReplicas"), 100);
	assert_string_equal(fakecluster_text(MINE, "metadata.labels.team"), "a");
	assert_string_equal(fakecluster_text(MINE, "metadata.ownerReferences.0.uid"),
		fakecluster_text(WEB, "metadata.uid"));
	assert_string_equal(fakecluster_text(WEB, "status.hpaName"), "mine");
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	/* It is ours from now on, whatever the annotation says. */
	annotate(WEB, "null");
	world_expect("web", "Ready", "True");
	assert_int_equal(fakecluster_calls(KUBE_DELETE, ""), 0);
}

static void another_controllers_hpa_is_taken_over_as_well(void **state)
{
	(void)state;
	fakecluster_apply(MINE,
		"{'metadata':{'ownerReferences':[{'apiVersion':'x/"
		"v1','kind':'Rollout','name':'web','uid':'x','controller':true}]},'spec':{'maxReplicas':9}}");
	world_deployment("web", 1);
	world_scaledobject("web", NAMED);
	world_pass(1000);
	world_expect("web", "Ready",
		HPA_STEP "the HPA mine exists already and belongs to Rollout web, not to this ScaledObject");
	annotate(WEB, "{'scaledobject.keda.sh/transfer-hpa-ownership':'true'}");
	world_pass(31000);
	world_expect("web", "Ready", "True");
	assert_int_equal(json_array_size(fakecluster_at(MINE, "metadata.ownerReferences")), 1);
	assert_string_equal(fakecluster_text(MINE, "metadata.ownerReferences.0.kind"), "ScaledObject");
}

/* The default name was never chosen for a foreign HPA. */
static void without_the_name_written_nothing_is_taken(void **state)
{
	(void)state;
	fakecluster_apply(HPA("keda-hpa-web"), "{'spec':{'maxReplicas':9}}");
	world_deployment("web", 1);
	world_scaledobject("web", "");
	annotate(WEB, "{'scaledobject.keda.sh/transfer-hpa-ownership':'true'}");
	world_pass(HOUR_MS);
	world_expect("web", "Ready", HPA_STEP "the HPA keda-hpa-web exists already and belongs to nobody");
	assert_int_equal(fakecluster_number(HPA("keda-hpa-web"), "spec.maxReplicas"), 9);
}

static void no_hpa_is_written_without_scalers(void **state)
{
	(void)state;
	world_ready_object("web", 1, "");
	fakecluster_forget_calls();
	world_scaledobject("web",
		"'maxReplicaCount':7,'triggers':[{'type':'scripted','metadata':{'source':'web'}},{'type':'unheard-of','"
		"metadata':{}}]");
	world_pass(HOUR_MS);
	world_expect("web", "Ready", HPA_STEP "trigger 1: no scaler found");
	assert_int_equal(fakecluster_calls(KUBE_UPDATE, HPAS), 0);
	assert_int_equal(fakecluster_number(HPA("keda-hpa-web"), "spec.maxReplicas"), 100);
}

/* ---- Two objects ---- */

#define SAME_TARGET                                                                                                    \
	FAILED "spec.scaleTargetRef: the workload 'web' of type 'apps/v1.Deployment' is already managed by the "       \
	       "ScaledObject 'web'"

static void rival(const char *spec)
{
	MEM_AUTO char *all = mem_printf("'scaleTargetRef':{'name':'web'}%s%s", *spec ? "," : "", spec);

	world_scaledobject("rival", all);
	world_pass(1000);
}

static void the_later_one_of_two_is_refused_until_the_first_goes(void **state)
{
	(void)state;
	world_ready_object("web", 1, "");
	world_pass(2000);
	fakecluster_forget_calls();
	rival("");
	world_expect("rival", "Ready", SAME_TARGET);
	assert_null(fakecluster_get(HPA("keda-hpa-rival")));
	assert_int_equal(fakesource_asked("rival"), 0);
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 1);
	world_expect("web", "Ready", "True");
	fakecluster_delete(WEB);
	world_pass(1000);
	world_expect("rival", "Ready", "True");
	assert_non_null(fakecluster_get(HPA("keda-hpa-rival")));
}

/* A list comes in pages: the first that is read need not be the first that was there. */
static void precedence_is_not_judged_from_half_a_list(void **state)
{
	(void)state;
	world_deployment("web", 1);
	/* first in lists, second by name */
	world_scaledobject("zebra", "'scaleTargetRef':{'name':'web'}");
	world_scaledobject("web", "");
	world_pass(2000);
	world_expect("zebra", "Ready", SAME_TARGET);
	fakecluster_page(1, 3000); /* targets wait a second for the whole of it, and no more */
	fakecluster_forget_calls();
	world_restart_leading();
	world_pass(60000);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 0);
	world_expect("zebra", "Ready", SAME_TARGET);
	world_expect("web", "Ready", "True");
}

/* It never scaled that target: its stored replicas belong to another's. */
static void a_refused_one_restores_nothing(void **state)
{
	(void)state;
	world_ready_object("web", 3, "'minReplicaCount':3");
	world_ready_object("rival", 0, "'advanced':{'restoreToOriginalReplicaCount':true}");
	world_pass(20000);
	fakecluster_change(SCALEDOBJECT("rival"), "{'spec':{'scaleTargetRef':{'name':'web'}}}");
	world_pass(2000);
	world_expect("rival", "Ready", SAME_TARGET);
	fakecluster_forget_calls();
	fakecluster_delete(SCALEDOBJECT("rival"));
	world_pass(10000);
	assert_null(fakecluster_get(SCALEDOBJECT("rival")));
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, DEPLOYMENT("web")), 0);
	assert_int_equal(world_replicas("web"), 3);
}

/* The loop still runs while a write keeps reconcile from looking at the new target. */
static void a_refused_one_scales_nothing_either(void **state)
{
	(void)state;
	world_ready_object("web", 3, "'minReplicaCount':3");
	world_ready_object("rival", 0, "");
	fakesource_answer("rival", 0);
	world_pass(20000);
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_UPDATE, HPA("keda-hpa-rival"), FAKECLUSTER_ANY, 0);
	fakecluster_change(SCALEDOBJECT("rival"), "{'spec':{'maxReplicaCount':7}}");
	world_pass(100);
	fakecluster_change(SCALEDOBJECT("rival"), "{'spec':{'scaleTargetRef':{'name':'web'}}}");
	world_pass(30000);
	fakecluster_heal();
	world_pass(60000);
	world_expect("rival", "Ready", SAME_TARGET);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, DEPLOYMENT("web")), 0);
	assert_int_equal(world_replicas("web"), 3);
}

/*
 * Its pause concerns only itself: it releases its target, and does not touch one that another
 * scales.
 */
static void a_refused_one_keeps_no_replicas(void **state)
{
	(void)state;
	world_ready_object("web", 3, "'minReplicaCount':3");
	world_pass(2000);
	rival("");
	fakecluster_forget_calls();
	annotate(SCALEDOBJECT("rival"), "{'autoscaling.keda.sh/paused-replicas':'0'}");
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, DEPLOYMENT("web")), 0);
	assert_int_equal(world_replicas("web"), 3);
	world_expect("rival", "Ready",
		FAILED "failed to scale target to paused replica count: spec.scaleTargetRef: the workload 'web' of "
		       "type 'apps/v1.Deployment' is already managed by the ScaledObject 'web'");
	fakecluster_delete(WEB);
	world_pass(5000);
	world_expect("rival", "Ready", "True");
	assert_int_equal(world_replicas("web"), 0);
}

static void it_is_taken_up_when_the_first_one_goes_elsewhere(void **state)
{
	(void)state;
	world_deployment("other", 1);
	world_ready_object("web", 1, "");
	world_pass(2000);
	rival("");
	world_expect("rival", "Ready", SAME_TARGET);
	world_scaledobject("web", "'scaleTargetRef':{'name':'other'}");
	world_pass(1000);
	world_expect("rival", "Ready", "True");
	world_expect("web", "Ready", "True");
}

/* An older object may take a younger one's target; two HPAs on one target would stop each other. */
static void an_older_one_that_comes_back_displaces_the_younger(void **state)
{
	(void)state;
	world_deployment("other", 1);
	world_ready_object("web", 1, "'scaleTargetRef':{'name':'other'}");
	world_pass(2000);
	rival("");
	world_expect("rival", "Ready", "True");
	fakesource_answer("rival", 7);
	world_scaledobject("web", "");
	world_pass(1000);
	world_expect("rival", "Ready", SAME_TARGET);
	world_expect("web", "Ready", "True");
	assert_null(fakecluster_get(HPA("keda-hpa-rival")));
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
}

static void an_hpa_that_cannot_be_removed_is_tried_again_in_peace(void **state)
{
	(void)state;
	world_deployment("other", 1);
	world_ready_object("web", 1, "'scaleTargetRef':{'name':'other'}");
	world_pass(2000);
	rival("");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_DELETE, HPAS, FAKECLUSTER_ANY, 403);
	world_scaledobject("web", "");
	world_pass(600000);
	world_expect("rival", "Ready", SAME_TARGET);
	assert_in_range(fakecluster_calls(KUBE_DELETE, HPAS), 10, 40);
	fakecluster_heal();
	world_pass(40000);
	assert_null(fakecluster_get(HPA("keda-hpa-rival")));
}

static void one_hpa_name_is_for_one_object(void **state)
{
	(void)state;
	world_ready_object("web", 1, NAMED);
	world_pass(2000);
	world_deployment("rival", 1);
	world_scaledobject("rival", NAMED);
	annotate(SCALEDOBJECT("rival"), "{'scaledobject.keda.sh/transfer-hpa-ownership':'true'}");
	world_expect("rival", "Ready",
		FAILED "spec.advanced.horizontalPodAutoscalerConfig.name: the HPA 'mine' is already managed by the "
		       "ScaledObject 'web'");
	assert_string_equal(fakecluster_text(MINE, "metadata.ownerReferences.0.name"), "web");
	world_scaledobject("web", "");
	world_pass(2000);
	world_expect("rival", "Ready", "True");
	assert_string_equal(fakecluster_text(MINE, "metadata.ownerReferences.0.name"), "rival");
	world_expect("web", "Ready", "True");
}

/* creationTimestamp has whole seconds. */
static void one_at_work_is_not_displaced_by_a_newcomer_of_the_same_second(void **state)
{
	(void)state;
	world_deployment("web", 0);
	world_scaledobject("web", "");
	world_pass(400);
	world_expect("web", "Ready", "True");
	world_scaledobject("aaa", "'scaleTargetRef':{'name':'web'}");
	assert_string_equal(fakecluster_text(SCALEDOBJECT("aaa"), "metadata.creationTimestamp"),
		fakecluster_text(WEB, "metadata.creationTimestamp"));
	fakesource_answer("web", 7);
	world_pass(20000);
	world_expect("aaa", "Ready", SAME_TARGET);
	world_expect("web", "Ready", "True");
	assert_int_equal(world_replicas("web"), 1);
	world_restart();
	world_pass(20000);
	world_expect("aaa", "Ready", SAME_TARGET);
	world_expect("web", "Ready", "True");
}

static void a_restart_does_not_turn_them_round(void **state)
{
	(void)state;
	world_ready_object("web", 1, "");
	world_pass(2000);
	rival("");
	fakecluster_forget_calls();
	world_restart();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	world_expect("web", "Ready", "True");
	world_expect("rival", "Ready", SAME_TARGET);
}

static void objects_of_other_namespaces_are_no_rivals(void **state)
{
	(void)state;
	world_ready_object("web", 1, "");
	fakecluster_apply("/apis/apps/v1/namespaces/shop/deployments/web",
		"{'apiVersion':'apps/"
		"v1','kind':'Deployment','spec':{'replicas':1,'template':{'spec':{'containers':[{'name':'x'}]}}}}");
	fakecluster_apply("/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web",
		"{'spec':{'scaleTargetRef':{'name':'web'},'triggers':[{'type':'scripted','metadata':{'source':'x'}}]}"
		"}");
	world_pass(1000);
	assert_string_equal(fakecluster_text("/apis/keda.sh/v1alpha1/namespaces/shop/scaledobjects/web",
				    "status.conditions.0.reason"),
		"ScaledObjectReady");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_users_hpa_is_taken_over_only_with_the_annotation),
		CASE(another_controllers_hpa_is_taken_over_as_well),
		CASE(without_the_name_written_nothing_is_taken),
		CASE(no_hpa_is_written_without_scalers),
		CASE(the_later_one_of_two_is_refused_until_the_first_goes),
		CASE(precedence_is_not_judged_from_half_a_list),
		CASE(a_refused_one_restores_nothing),
		CASE(a_refused_one_scales_nothing_either),
		CASE(a_refused_one_keeps_no_replicas),
		CASE(it_is_taken_up_when_the_first_one_goes_elsewhere),
		CASE(an_older_one_that_comes_back_displaces_the_younger),
		CASE(an_hpa_that_cannot_be_removed_is_tried_again_in_peace),
		CASE(one_hpa_name_is_for_one_object),
		CASE(one_at_work_is_not_displaced_by_a_newcomer_of_the_same_second),
		CASE(a_restart_does_not_turn_them_round),
		CASE(objects_of_other_namespaces_are_no_rivals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
