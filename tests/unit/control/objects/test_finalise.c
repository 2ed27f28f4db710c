/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of an object: what is restored, what it waits for, and that nothing waits for us
 * needlessly.
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
#define WEB_HPA HPA("keda-hpa-web")
#define SCALE   "/deployments/web/scale"
#define RESTORE "'advanced':{'restoreToOriginalReplicaCount':true}"
#define POLL_MS 10000
#define HOUR_MS 3600000

static size_t finalizers(void)
{
	return json_array_size(fakecluster_at(WEB, "metadata.finalizers"));
}

static void without_anything_to_restore_nothing_waits(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	assert_int_equal(finalizers(), 0);
	fakesource_answer("web", 7);
	world_pass(POLL_MS);
	fakecluster_forget_calls();
	fakecluster_delete(WEB);
	assert_null(fakecluster_get(WEB));
	world_pass(HOUR_MS);
	fakecluster_collect_garbage();
	world_pass(1000);
	assert_null(fakecluster_get(WEB_HPA));
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(world_replicas("web"), 1); /* left as it is */
	assert_int_equal(fakecluster_events_sent("ScaledObjectDeleted",
				 "Warning ScaledObject default/web uid-2: ScaledObject was deleted"),
		1);
	assert_int_equal(store_count(world.cache->store, SCALED_OBJECT), 0);
}

static void the_original_replicas_are_restored(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	assert_string_equal(fakecluster_text(WEB, "metadata.finalizers.0"), "kscaled.io/restore");
	world_pass(POLL_MS);
	assert_int_equal(world_replicas("web"), 0);
	fakecluster_forget_calls();
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_null(fakecluster_get(WEB_HPA));
	assert_int_equal(world_replicas("web"), 3);
	assert_int_equal(fakecluster_calls(KUBE_DELETE, ""), 1);
	assert_int_equal(fakecluster_writes(), 3); /* the HPA, the replicas, the finalizer */
	assert_int_equal(fakecluster_events_sent("ScaledObjectDeleted", ""), 1);
	assert_int_equal(fakecluster_events_repeated("ScaledObjectDeleted"), 0);
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(store_count(world.cache->store, SCALED_OBJECT), 0);
}

static void switching_it_on_and_off_moves_the_finalizer(void **state)
{
	(void)state;
	world_ready_object("web", 3, "");
	assert_int_equal(finalizers(), 0);
	fakecluster_change(WEB, "{'metadata':{'finalizers':['others.io/x']}}");
	world_pass(1000);
	fakecluster_change(WEB, "{'spec':{'advanced':{'restoreToOriginalReplicaCount':true}}}");
	world_pass(1000);
	assert_int_equal(finalizers(), 2);
	assert_string_equal(fakecluster_text(WEB, "metadata.finalizers.0"), "others.io/x");
	assert_string_equal(fakecluster_text(WEB, "metadata.finalizers.1"), "kscaled.io/restore");
	fakecluster_change(WEB, "{'spec':{'advanced':null}}");
	world_pass(1000);
	assert_int_equal(finalizers(), 1);
	assert_string_equal(fakecluster_text(WEB, "metadata.finalizers.0"), "others.io/x");
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
}

static void kedas_finalizer_is_released_at_once(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 0);
	world_scaledobject("web", "");
	fakecluster_change(WEB, "{'metadata':{'finalizers':['finalizer.keda.sh','others.io/x']}}");
	world_lead(true);
	world_pass(1000);
	assert_int_equal(finalizers(), 1);
	assert_string_equal(fakecluster_text(WEB, "metadata.finalizers.0"), "others.io/x");
	world_expect("web", "Ready", "True");
}

static void kedas_finalizer_is_removed(void **state)
{
	(void)state;
	world_lead(false);
	world_deployment("web", 2);
	world_scaledobject("web", "'minReplicaCount':-1"); /* invalid: never adopted by us */
	fakecluster_change(WEB, "{'metadata':{'finalizers':['finalizer.keda.sh']}}");
	fakecluster_delete(WEB);
	world_lead(true);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(world_replicas("web"), 2);
}

static void others_finalizers_are_not_ours(void **state)
{
	(void)state;
	world_ready_object("web", 0, "");
	fakecluster_change(WEB, "{'metadata':{'finalizers':['others.io/x']}}");
	world_pass(1000);
	fakecluster_delete(WEB);
	fakecluster_forget_calls();
	fakesource_answer("web", 9);
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(finalizers(), 1);
	assert_int_equal(world_replicas("web"), 0);
	fakecluster_change(WEB, "{'metadata':{'finalizers':null}}");
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(fakecluster_events_sent("ScaledObjectDeleted", ""), 1);
}

/* ---- Failures ---- */

static void a_target_that_is_gone_needs_no_restoring(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	fakecluster_delete(DEPLOYMENT("web"));
	world_pass(1000);
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
}

static void a_target_that_goes_under_the_write(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, SCALE, FAKECLUSTER_ANY, 404);
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
}

static void an_hpa_that_is_gone_already_holds_nothing_up(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_DELETE, "/keda-hpa-web", 1, 404);
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(world_replicas("web"), 3);
}

/* While it exists, the HPA would undo the restore. */
static void nothing_is_restored_before_the_hpa_is_gone(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	world_pass(POLL_MS);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_DELETE, "/keda-hpa-web", FAKECLUSTER_ANY, 500);
	fakecluster_forget_calls();
	fakecluster_delete(WEB);
	world_pass(60000);
	assert_in_range(fakecluster_calls(KUBE_DELETE, ""), 4, 10);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, SCALE), 0);
	assert_int_equal(finalizers(), 1);
	fakecluster_heal();
	world_pass(31000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(world_replicas("web"), 3);
}

/* Also when a new process does not know it yet. */
static void nothing_is_restored_before_the_hpas_are_known(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		MEM_AUTO char *path = mem_printf(HPA("other-%d"), i);

		fakecluster_apply(path, "{'metadata':{'labels':{'kscaled.io/managed':'true'}}}");
	}
	world_ready_object("web", 3, RESTORE); /* its HPA comes last in lists */
	world_pass(POLL_MS);
	world_lead(false);
	fakecluster_delete(WEB);
	fakecluster_page(1, 500);
	fakecluster_forget_calls();
	world_restart_leading();
	world_pass(20000);
	assert_int_equal(fakecluster_calls(KUBE_DELETE, "/keda-hpa-web"), 1);
	assert_int_equal(world_replicas("web"), 3);
	assert_null(fakecluster_get(WEB));
}

/* A failure during its life, backing off by half a minute, does not delay its deletion. */
static void an_earlier_failure_holds_no_deletion_up(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	world_pass(POLL_MS);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_UPDATE, "/horizontalpodautoscalers", FAKECLUSTER_ANY, 500);
	world_scaledobject("web", RESTORE ",'maxReplicaCount':7");
	world_pass(HOUR_MS);
	world_expect("web", "Ready", "False");
	fakecluster_forget_calls();
	while (fakecluster_calls(KUBE_UPDATE, "/horizontalpodautoscalers") == 0)
		world_pass(100); /* the next try comes in 24 s or more */
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_null(fakecluster_get(WEB_HPA));
	assert_int_equal(world_replicas("web"), 3);
}

static void a_restore_that_fails_and_then_works(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	world_pass(POLL_MS);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, SCALE, 2, 500);
	fakecluster_delete(WEB);
	world_pass(5000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(world_replicas("web"), 3);
}

static void a_restore_that_never_works_lets_the_object_go(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	world_pass(POLL_MS);
	fakecluster_forget_calls();
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, SCALE, FAKECLUSTER_ANY, 403);
	fakecluster_delete(WEB);
	world_pass(60000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, SCALE), 5);
}

static void another_finalizer(void)
{
	fakecluster_change(WEB, "{'metadata':{'finalizers':['kscaled.io/restore','others.io/x']}}");
}

/* An answer says it is gone already, and the watch does not show it. */
static void a_release_that_was_not_found_is_looked_at_again(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	fakecluster_delete(HPA("keda-hpa-web"));
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, "/scaledobjects/web", 1, 404);
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_int_equal(finalizers(), 1);
	world_pass(2000);
	assert_null(fakecluster_get(WEB));
}

/* Others hold the object; our own work on it ends anyway. */
static void a_deleted_object_is_neither_scaled_nor_reported(void **state)
{
	(void)state;
	world_ready_object("web", 0, "'pollingInterval':1");
	fakecluster_change(WEB, "{'metadata':{'finalizers':['others.io/x']}}");
	world_pass(1000);
	fakecluster_fail(FAKECLUSTER_HANG, KUBE_MERGE_PATCH, SCALE, FAKECLUSTER_ANY, 0);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, "/status", FAKECLUSTER_ANY, 500);
	fakesource_answer("web", 9);
	world_pass(5000);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, SCALE), 1);
	fakecluster_delete(WEB);
	world_pass(100);
	assert_int_equal(fakecluster_under_way(), 0);
	fakecluster_forget_calls();
	fakecluster_heal();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivationFailed", ""), 0);
}

static void a_finalizer_that_was_added_meanwhile_is_kept(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	fakecluster_just_before(KUBE_MERGE_PATCH, "/scaledobjects/web", another_finalizer);
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_int_equal(finalizers(), 1);
	assert_string_equal(fakecluster_text(WEB, "metadata.finalizers.0"), "others.io/x");
}

static void the_deletion_comes_while_writes_are_under_way(void **state)
{
	(void)state;
	for (int64_t wait_ms = 0; wait_ms < 40; wait_ms++) {
		fakecluster_answer_lag(5);
		world_deployment("web", 3);
		world_scaledobject("web", RESTORE);
		world_pass(wait_ms);
		fakecluster_delete(WEB);
		world_pass(5000);
		assert_null(fakecluster_get(WEB));
		assert_int_equal(store_count(world.cache->store, SCALED_OBJECT), 0);
		assert_int_equal(fakecluster_under_way(), 0);
		fakecluster_collect_garbage();
		world_pass(100);
	}
}

/* An invalid name, inserted before the deletion, must not change the path. */
static void a_hostile_name_is_only_a_name(void **state)
{
	(void)state;
	world_ready_object("web", 3, RESTORE);
	world_pass(POLL_MS);
	fakecluster_forget_calls();
	fakecluster_change(WEB, "{'spec':{'scaleTargetRef':{'name':'../../../kube-system/deployments/dns'}}}");
	fakecluster_delete(WEB);
	world_pass(1000);
	assert_null(fakecluster_get(WEB));
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH,
				 "/deployments/..%2F..%2F..%2Fkube-system%2Fdeployments%2Fdns/scale"),
		1);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, "/namespaces/default/"),
		fakecluster_calls(FAKECLUSTER_ANY, ""));
}

/*
 * Percent-encoding leaves "." and ".." as they are, and a server takes them for steps: nothing is
 * written there, and the object goes.
 */
static void a_step_in_a_path_is_no_name(void **state)
{
	static const char *const changes[] = {
		"{'spec':{'scaleTargetRef':{'name':'.'}}}",
		"{'spec':{'scaleTargetRef':{'name':'..'}}}",
		"{'status':{'scaleTargetGVKR':{'resource':'.'}}}",
		"{'status':{'scaleTargetGVKR':{'resource':'..'}}}",
		"{'status':{'scaleTargetGVKR':{'version':'..'}}}",
		"{'status':{'scaleTargetGVKR':{'group':'..'}}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		world_ready_object("web", 3, RESTORE);
		world_pass(POLL_MS);
		assert_int_equal(world_replicas("web"), 0);
		fakecluster_forget_calls();
		fakecluster_change(WEB, changes[i]);
		fakecluster_delete(WEB);
		world_pass(1000);
		assert_null(fakecluster_get(WEB));
		if (fakecluster_calls(KUBE_MERGE_PATCH, "") !=
			fakecluster_calls(KUBE_MERGE_PATCH, "/scaledobjects/web"))
			fail_msg("%s: something was scaled", changes[i]);
		fakecluster_collect_garbage();
		world_pass(1000);
	}
}

static void deleted_and_recreated_under_the_same_name(void **state)
{
	(void)state;
	world_ready_object("web", 2, "'minReplicaCount':2");
	fakecluster_delete(WEB);
	world_scaledobject("web", "'minReplicaCount':3");
	world_pass(1000);
	world_expect("web", "Ready", "True");
	/* The old one's HPA is taken over, not waited for. */
	assert_string_equal(fakecluster_text(WEB_HPA, "metadata.ownerReferences.0.uid"),
		fakecluster_text(WEB, "metadata.uid"));
	assert_int_equal(json_array_size(fakecluster_at(WEB_HPA, "metadata.ownerReferences")), 1);
	assert_int_equal(world_replicas("web"), 3);
	fakecluster_collect_garbage();
	world_pass(1000);
	assert_non_null(fakecluster_get(WEB_HPA));
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
}

/* The watch was held up: only the new one is seen, while the old one's poll is under way. */
static void recreated_unseen(void **state)
{
	unsigned asked;

	(void)state;
	world_ready_object("web", 2, "'minReplicaCount':2");
	fakecluster_hold_watches(true);
	fakesource_hang("web");
	asked = fakesource_asked("web");
	for (int ms = 0; fakesource_asked("web") == asked; ms += 100) {
		assert_in_range(ms, 0, POLL_MS);
		world_pass(100);
	}
	fakecluster_delete(WEB);
	world_scaledobject("web", "'minReplicaCount':3");
	fakecluster_collect_garbage();
	fakesource_answer("web", 7);
	fakecluster_hold_watches(false);
	fakecluster_relist("");
	world_pass(2000);
	world_expect("web", "Ready", "True");
	assert_string_equal(fakecluster_text(WEB_HPA, "metadata.ownerReferences.0.uid"),
		fakecluster_text(WEB, "metadata.uid"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(without_anything_to_restore_nothing_waits),
		CASE(the_original_replicas_are_restored),
		CASE(switching_it_on_and_off_moves_the_finalizer),
		CASE(kedas_finalizer_is_released_at_once),
		CASE(kedas_finalizer_is_removed),
		CASE(others_finalizers_are_not_ours),
		CASE(a_target_that_is_gone_needs_no_restoring),
		CASE(a_target_that_goes_under_the_write),
		CASE(an_hpa_that_is_gone_already_holds_nothing_up),
		CASE(nothing_is_restored_before_the_hpa_is_gone),
		CASE(nothing_is_restored_before_the_hpas_are_known),
		CASE(an_earlier_failure_holds_no_deletion_up),
		CASE(a_restore_that_fails_and_then_works),
		CASE(a_restore_that_never_works_lets_the_object_go),
		CASE(a_release_that_was_not_found_is_looked_at_again),
		CASE(a_deleted_object_is_neither_scaled_nor_reported),
		CASE(a_finalizer_that_was_added_meanwhile_is_kept),
		CASE(the_deletion_comes_while_writes_are_under_way),
		CASE(a_hostile_name_is_only_a_name),
		CASE(a_step_in_a_path_is_no_name),
		CASE(deleted_and_recreated_under_the_same_name),
		CASE(recreated_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
