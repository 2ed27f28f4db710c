/* SPDX-License-Identifier: Apache-2.0 */
/* The HPA of an object: changes by others, existing HPAs, and renames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../world.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakesource.h"

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

#define WEB      SCALEDOBJECT("web")
#define WEB_HPA  HPA("keda-hpa-web")
#define HPAS     "/horizontalpodautoscalers"
#define HOUR_MS  3600000
#define HPA_STEP "False ScaledObjectCheckFailed failed to ensure HPA is correctly created for ScaledObject: "

/* Keys with dots are no paths. */
static const char *label(const char *path, const char *key)
{
	return json_str_or_empty(fakecluster_at(path, "metadata.labels"), key);
}

/* ---- The HPA under others' hands ---- */

static void a_deleted_hpa_comes_back(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_delete(WEB_HPA);
	world_pass(1000);
	assert_int_equal(fakecluster_calls(KUBE_CREATE, HPAS), 2);
	assert_non_null(fakecluster_get(WEB_HPA));
	world_expect("web", "Ready", "True");
}

static void a_changed_hpa_is_put_right(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_forget_calls();
	fakecluster_change(WEB_HPA,
		"{'spec':{'maxReplicas':50},'metadata':{'labels':{'team':'a'},'annotations':{'seen':'by me'}}}");
	world_pass(1000);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 100);
	assert_string_equal(fakecluster_text(WEB_HPA, "metadata.labels.team"), "a");
	assert_string_equal(fakecluster_text(WEB_HPA, "metadata.annotations.seen"), "by me");
	assert_int_equal(fakecluster_calls(KUBE_GET, HPAS), 1);
	assert_int_equal(fakecluster_calls(KUBE_UPDATE, HPAS), 1);
	assert_int_equal(fakecluster_writes(), 1);
	/* Our label gone: it is the object's all the same. */
	fakecluster_change(WEB_HPA, "{'metadata':{'labels':{'kscaled.io/managed':null}}}");
	world_pass(1000);
	assert_string_equal(label(WEB_HPA, "kscaled.io/managed"), "true");
	world_expect("web", "Ready", "True");
}

static void name_another_hpa(void)
{
	fakecluster_change(WEB, "{'spec':{'advanced':{'horizontalPodAutoscalerConfig':{'name':'own'}}}}");
}

/*
 * The annotation lets the HPA be taken that is named, not the one that was looked at a moment
 * before.
 */
static void an_hpa_is_not_taken_by_the_word_for_another(void **state)
{
	(void)state;
	fakecluster_apply(WEB_HPA, "{'spec':{'maxReplicas':9}}");
	world_deployment("web", 0);
	fakecluster_just_before(KUBE_GET, HPAS, name_another_hpa);
	fakecluster_watch_lag(1);
	fakecluster_answer_lag(50);
	fakecluster_apply(WEB,
		"{'metadata':{'annotations':{'scaledobject.keda.sh/"
		"transfer-hpa-ownership':'true'}},'spec':{'scaleTargetRef':{'name':'web'},"
		"'triggers':[{'type':'scripted','metadata':{'source':'web'}}]}}");
	world_pass(5000);
	world_expect("web", "Ready", "True");
	assert_non_null(fakecluster_get(HPA("own")));
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 9);
	assert_string_equal(fakecluster_text(WEB_HPA, "metadata.ownerReferences.0.uid"), "");
}

/*
 * Two HPAs on one target overrule each other; ours was first and stays, but that is reported once.
 */
/* As KEDA has left it; the admission webhook refuses a new one. */
static void an_hpa_with_a_long_name_works_on(void **state)
{
#define LONG "shop-production-eu-west-order-fulfilment-worker-scaledobj"
	(void)state;
	fakesource_answer(LONG, 7);
	world_ready_object(LONG, 0, "");
	assert_string_equal(fakecluster_text(HPA("keda-hpa-" LONG), "spec.scaleTargetRef.name"), LONG);
	assert_int_equal(world_replicas(LONG), 1);
}

static void a_foreign_hpa_for_the_target_is_reported(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_forget_calls();
	fakecluster_apply(HPA("theirs"),
		"{'spec':{'scaleTargetRef':{'apiVersion':'apps/"
		"v1','kind':'Deployment','name':'web'},'maxReplicas':9}}");
	world_pass(1000);
	assert_int_equal(fakecluster_events_sent("HPAConflict",
				 "the workload 'web' of type 'apps/v1.Deployment' is already managed by the hpa "
				 "'theirs'"),
		1);
	world_expect("web", "Ready", "True");
	fakecluster_change(WEB, "{'metadata':{'annotations':{'a':'b'}}}");
	for (int i = 0; i < 10; i++) {
		MEM_AUTO char *status = mem_printf("{'status':{'desiredReplicas':%d}}", i);

		fakecluster_change(HPA("theirs"), status);
		world_pass(15000);
	}
	assert_int_equal(fakecluster_events_sent("HPAConflict", ""), 1);
	assert_int_equal(fakecluster_events_repeated("HPAConflict"), 0);
	assert_int_equal(fakecluster_writes(), 1); /* the annotation is on our HPA, too */
	fakecluster_delete(HPA("theirs"));
	world_pass(1000);
	fakecluster_apply(HPA("theirs"), "{'spec':{'scaleTargetRef':{'name':'web'}}}");
	world_pass(1000);
	assert_int_equal(fakecluster_events_sent("HPAConflict", "") + fakecluster_events_repeated("HPAConflict"), 2);
}

static void an_hpa_that_lost_its_owner_gets_it_back(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_change(WEB_HPA, "{'metadata':{'ownerReferences':null}}");
	world_pass(1000);
	assert_string_equal(fakecluster_text(WEB_HPA, "metadata.ownerReferences.0.uid"),
		fakecluster_text(WEB, "metadata.uid"));
	world_expect("web", "Ready", "True");
	/* Somebody else took it. */
	fakecluster_change(WEB_HPA,
		"{'metadata':{'ownerReferences':[{'kind':'Deployment','name':'web','uid':'x','controller':true}]}}");
	world_pass(1000);
	assert_string_equal(fakecluster_text(WEB_HPA, "metadata.ownerReferences.0.kind"), "Deployment");
	world_expect("web", "Ready", HPA_STEP "the HPA keda-hpa-web exists already and belongs to Deployment web");
}

/* Nobody's, and not made by us: a user's own. */
static void an_hpa_of_a_user_is_never_written(void **state)
{
	(void)state;
	fakecluster_apply(WEB_HPA, "{'spec':{'maxReplicas':9}}");
	world_deployment("web", 0);
	world_scaledobject("web", "");
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 9);
	assert_int_equal(fakecluster_number(WEB_HPA, "metadata.generation"), 1);
	world_expect("web", "Ready", HPA_STEP "the HPA keda-hpa-web exists already");
}

static void change_what_is_written(const char *path, json_t *object)
{
	if (strstr(path, HPAS))
		json_object_set_new(json_object_get(object, "spec"), "maxReplicas", json_integer(3));
}

static void an_admission_plugin_that_changes_hpas_causes_no_endless_writes(void **state)
{
	(void)state;
	fakecluster_on_admission(change_what_is_written);
	world_ready_object("web", 0, "");
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 2);
	/* Another wish is tried once. */
	world_scaledobject("web", "'maxReplicaCount':7");
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_calls(KUBE_UPDATE, HPAS), 1);
	world_expect("web", "Ready", "True");
}

/* Changes by the API server are left; changes by others are reverted, as often as they come. */
static void under_such_a_plugin_the_edits_of_others_are_put_right(void **state)
{
	(void)state;
	fakecluster_on_admission(change_what_is_written);
	world_ready_object("web", 0, "");
	world_pass(HOUR_MS);
	for (int i = 1; i <= 3; i++) {
		fakecluster_forget_calls();
		fakecluster_change(WEB_HPA, "{'spec':{'minReplicas':2}}");
		world_pass(HOUR_MS);
		assert_int_equal(fakecluster_number(WEB_HPA, "spec.minReplicas"), 1);
		assert_int_equal(fakecluster_calls(KUBE_UPDATE, HPAS), 1);
		assert_int_equal(fakecluster_writes(), 1);
	}
	world_expect("web", "Ready", "True");
}

static unsigned fights_told;

static void on_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	fights_told += level == LOG_LEVEL_WARN && strstr(line, "others keep changing") != NULL;
}

/* Someone undoes each write: it is repeated, later and later, and reported. */
static void a_race_of_writers_slows_down(void **state)
{
	unsigned first, last;

	(void)state;
	fights_told = 0;
	log_set_sink(on_line, NULL);
	world_ready_object("web", 0, "");
	fakecluster_forget_calls();
	for (int i = 0; i < 600; i++) {
		fakecluster_change(WEB_HPA, "{'spec':{'maxReplicas':50}}");
		world_pass(100);
	}
	first = fakecluster_calls(KUBE_UPDATE, HPAS);
	assert_in_range(first, 5, 12);
	for (int i = 0; i < 600; i++) {
		fakecluster_change(WEB_HPA, "{'spec':{'maxReplicas':50}}");
		world_pass(1000);
	}
	last = fakecluster_calls(KUBE_UPDATE, HPAS) - first;
	assert_in_range(last, 1, 8);
	assert_int_equal(fights_told, 1);
	/* It ends with ours, and an edit much later is put right at once. */
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 100);
	fakecluster_change(WEB_HPA, "{'spec':{'maxReplicas':50}}");
	world_pass(100);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 100);
	log_set_sink(NULL, NULL);
}

/* ---- An HPA that is there already ---- */

static void put_hpa(const char *owner_kind, const char *owner_name)
{
	MEM_AUTO char *text = mem_printf("{'metadata':{'labels':{'app.kubernetes.io/"
					 "managed-by':'keda-operator'},'ownerReferences':[{'apiVersion':'keda.sh/"
					 "v1alpha1','kind':'%s','name':'%s',"
					 "'uid':'%s','controller':true}]},'spec':{'maxReplicas':9}}",
		owner_kind, owner_name, fakecluster_text(WEB, "metadata.uid"));

	fakecluster_apply(WEB_HPA, text);
}

/* Field managers as the API server records them, last one that applies all of it. */
static void apply_as(const char *who)
{
	MEM_AUTO char *text = mem_printf("{'metadata':{'managedFields':[{'manager':'kscaled','operation':'Update','"
					 "time':'2026-01-02T03:04:05Z',"
					 "'fieldsV1':{'f:metadata':{'f:labels':{'f:tool':{}}},'f:spec':{}}},{'manager':"
					 "'%s','operation':'Update','time':"
					 "'2026-01-02T03:05:06Z','fieldsV1':{'f:spec':{}}}]},'spec':{'maxReplicas':7}}",
		who);

	fakecluster_change(WEB_HPA, text);
	world_pass(5000);
}

/* A chart that had the ScaledObject has an HPA of that name now. */
static void an_hpa_that_a_chart_applies_is_the_charts(void **state)
{
	(void)state;
	world_ready_object("web", 1, "");
	apply_as("helm");
	assert_null(fakecluster_at(WEB_HPA, "metadata.ownerReferences.0"));
	assert_string_equal(label(WEB_HPA, "kscaled.io/managed"), "");
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 7);
	assert_int_equal(fakecluster_events_sent("HPAConflict", "HPA keda-hpa-web was applied by helm"), 1);
	world_expect("web", "Ready", HPA_STEP "the HPA keda-hpa-web exists already and belongs to nobody");
	fakecluster_delete(WEB);
	world_pass(1000);
	fakecluster_collect_garbage();
	assert_non_null(fakecluster_get(WEB_HPA));
}

/* Nor do we delete it, to restore the replicas or otherwise. */
static void an_hpa_that_was_applied_is_not_deleted(void **state)
{
	(void)state;
	world_ready_object("web", 1, "'advanced':{'restoreToOriginalReplicaCount':true}");
	fakecluster_hold_watches(true);
	apply_as("helm");
	fakecluster_delete(WEB);
	fakecluster_hold_watches(false);
	world_pass(5000);
	assert_null(fakecluster_get(WEB));
	assert_non_null(fakecluster_get(WEB_HPA));
	assert_null(fakecluster_at(WEB_HPA, "metadata.ownerReferences.0"));
}

static void every_edit_is_reverted(void **state)
{
	(void)state;
	world_ready_object("web", 1, "");
	apply_as("kubectl-edit");
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 100);
	world_expect("web", "Ready", "True");
}

static void a_label_that_is_not_wanted_any_more_goes(void **state)
{
	(void)state;
	world_ready_object("web", 1, "");
	fakecluster_change(WEB, "{'metadata':{'labels':{'tool':'x'}}}");
	world_pass(1000);
	assert_string_equal(label(WEB_HPA, "tool"), "x");
	fakecluster_change(WEB_HPA,
		"{'metadata':{'managedFields':[{'manager':'kscaled','operation':'Update','time':'2026-01-02T03:04:05Z',"
		"'fieldsV1':{'f:metadata':{'f:labels':{'f:tool':{}}}}}]}}");
	fakecluster_change(WEB, "{'metadata':{'labels':{'tool':null}}}");
	world_pass(1000);
	assert_string_equal(label(WEB_HPA, "tool"), "");
}

static void kedas_own_hpa_is_adopted(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	put_hpa("ScaledObject", "web");
	world_lead(true);
	world_pass(1000);
	world_expect("web", "Ready", "True");
	assert_int_equal(fakecluster_calls(KUBE_UPDATE, HPAS), 1);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 100);
	assert_string_equal(label(WEB_HPA, "app.kubernetes.io/managed-by"), "kscaled");
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
}

static void a_foreign_hpa_is_never_written(void **state)
{
	MEM_AUTO char *before = NULL;

	(void)state;
	world_lead(false);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	put_hpa("Deployment", "web");
	before = mem_dup(fakecluster_text(WEB_HPA, "metadata.resourceVersion"));
	world_lead(true);
	world_pass(1000);
	world_expect("web", "Ready",
		HPA_STEP "the HPA keda-hpa-web exists already and belongs to Deployment web, not to this ScaledObject: "
			 "delete it, or choose another name");
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", "keda-hpa-web exists already"), 1);
	world_pass(HOUR_MS);
	assert_string_equal(fakecluster_text(WEB_HPA, "metadata.resourceVersion"), before);
	assert_int_equal(fakecluster_events_repeated("ScaledObjectCheckFailed"), 0);
	/* Backed off: at most one try in 30 s, after some in the beginning. */
	assert_true(fakecluster_calls(KUBE_CREATE, HPAS) <= 130);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, "/status"), 1);
	/* It goes away. */
	fakecluster_delete(WEB_HPA);
	world_pass(31000);
	world_expect("web", "Ready", "True");
}

static void a_rename_removes_the_old_hpa(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	world_scaledobject("web", "'advanced':{'horizontalPodAutoscalerConfig':{'name':'mine'}}");
	world_pass(1000);
	assert_null(fakecluster_get(WEB_HPA));
	assert_non_null(fakecluster_get(HPA("mine")));
	assert_string_equal(fakecluster_text(WEB, "status.hpaName"), "mine");
	assert_int_equal(fakecluster_calls(KUBE_DELETE, HPAS), 1);
	world_expect("web", "Ready", "True");
}

/* The name of the one between never got into the status. */
static void renames_in_a_row_leave_one_hpa(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, "/status", FAKECLUSTER_ANY, 500);
	world_scaledobject("web", "'advanced':{'horizontalPodAutoscalerConfig':{'name':'one'}}");
	world_pass(1000);
	assert_non_null(fakecluster_get(HPA("one")));
	world_scaledobject("web", "'advanced':{'horizontalPodAutoscalerConfig':{'name':'two'}}");
	world_pass(1000);
	assert_string_equal(fakecluster_text(WEB, "status.hpaName"), "keda-hpa-web");
	assert_null(fakecluster_get(WEB_HPA));
	assert_null(fakecluster_get(HPA("one")));
	assert_non_null(fakecluster_get(HPA("two")));
}

#define CALLED_MINE "{'spec':{'advanced':{'horizontalPodAutoscalerConfig':{'name':'mine'}}}}"

static void expect_mine_alone(void)
{
	assert_null(fakecluster_get(WEB_HPA));
	assert_non_null(fakecluster_get(HPA("mine")));
	assert_string_equal(fakecluster_text(WEB, "status.hpaName"), "mine");
	world_expect("web", "Ready", "True");
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, HPAS), 0);
}

static void a_rename_while_no_leader_existed(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_change(WEB, CALLED_MINE);
	world_restart();
	world_pass(1000);
	expect_mine_alone();
}

/* Killed between the HPA and the status that has its name. */
static void a_rename_of_an_hpa_that_the_status_does_not_name(void **state)
{
	(void)state;
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, "/status", FAKECLUSTER_ANY, 500);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	world_pass(1000);
	assert_non_null(fakecluster_get(WEB_HPA));
	assert_null(fakecluster_at(WEB, "status.hpaName"));
	fakecluster_change(WEB, CALLED_MINE);
	fakecluster_heal();
	world_restart();
	world_pass(1000);
	expect_mine_alone();
}

/* Our watch does not show it. */
static void a_rename_of_an_hpa_that_keda_made(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	put_hpa("ScaledObject", "web");
	fakecluster_change(WEB, "{'status':{'hpaName':'keda-hpa-web'}}");
	fakecluster_change(WEB, CALLED_MINE);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_DELETE, HPAS, 1, 500);
	world_lead(true);
	world_pass(3000);
	expect_mine_alone();
}

/* Anybody may write a status. */
static void an_hpa_of_others_that_the_status_names_stays(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	fakecluster_apply(HPA("theirs"), "{'spec':{'maxReplicas':9}}");
	fakecluster_change(WEB, "{'status':{'hpaName':'theirs'}}");
	world_lead(true);
	world_pass(1000);
	assert_non_null(fakecluster_get(HPA("theirs")));
	assert_int_equal(fakecluster_calls(KUBE_DELETE, HPAS), 0);
	assert_int_equal(fakecluster_calls(KUBE_GET, "theirs"), 0);
	assert_string_equal(fakecluster_text(WEB, "status.hpaName"), "keda-hpa-web");
	world_expect("web", "Ready", "True");
}

static void delete_hpa(void)
{
	fakecluster_delete(WEB_HPA);
}

static void a_rename_whose_old_hpa_is_gone_already(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_just_before(KUBE_DELETE, HPAS, delete_hpa);
	world_scaledobject("web", "'advanced':{'horizontalPodAutoscalerConfig':{'name':'mine'}}");
	world_pass(1000);
	assert_non_null(fakecluster_get(HPA("mine")));
	world_expect("web", "Ready", "True");
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", ""), 0);
}

static void an_hpa_deleted_during_its_replacement_is_recreated(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_just_before(KUBE_GET, HPAS, delete_hpa);
	world_scaledobject("web", "'maxReplicaCount':7");
	world_pass(1000);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 7);
	world_expect("web", "Ready", "True");
	assert_int_equal(fakecluster_events_sent("ScaledObjectCheckFailed", ""), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_deleted_hpa_comes_back),
		CASE(a_changed_hpa_is_put_right),
		CASE(an_hpa_is_not_taken_by_the_word_for_another),
		CASE(an_hpa_with_a_long_name_works_on),
		CASE(a_foreign_hpa_for_the_target_is_reported),
		CASE(an_hpa_that_lost_its_owner_gets_it_back),
		CASE(an_admission_plugin_that_changes_hpas_causes_no_endless_writes),
		CASE(under_such_a_plugin_the_edits_of_others_are_put_right),
		CASE(a_race_of_writers_slows_down),
		CASE(an_hpa_that_a_chart_applies_is_the_charts),
		CASE(an_hpa_that_was_applied_is_not_deleted),
		CASE(every_edit_is_reverted),
		CASE(a_label_that_is_not_wanted_any_more_goes),
		CASE(kedas_own_hpa_is_adopted),
		CASE(a_foreign_hpa_is_never_written),
		CASE(an_hpa_of_a_user_is_never_written),
		CASE(a_rename_removes_the_old_hpa),
		CASE(a_rename_while_no_leader_existed),
		CASE(a_rename_of_an_hpa_that_the_status_does_not_name),
		CASE(a_rename_of_an_hpa_that_keda_made),
		CASE(an_hpa_of_others_that_the_status_names_stays),
		CASE(renames_in_a_row_leave_one_hpa),
		CASE(a_rename_whose_old_hpa_is_gone_already),
		CASE(an_hpa_deleted_during_its_replacement_is_recreated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
