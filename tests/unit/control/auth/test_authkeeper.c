/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of TriggerAuthentications lists their users: correctly, also without any, and written
 * only on changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../world.h"

#include "base/mem.h"

#define TA(name)  "/apis/keda.sh/v1alpha1/namespaces/default/triggerauthentications/" name
#define CTA(name) "/apis/keda.sh/v1alpha1/clustertriggerauthentications/" name
#define AUTH_SPEC "{'spec':{'secretTargetRef':[{'parameter':'x','name':'creds','key':'x'}]}}"

/* ScaledObject `name` with triggers that refer to these: JSON of authenticationRefs. */
static void scaledobject(const char *name, const char *refs)
{
	MEM_AUTO char *path = mem_printf(SCALEDOBJECT("%s"), name);
	MEM_AUTO char *text = mem_printf("{'spec':{'scaleTargetRef':{'name':'%s'},'triggers':[%s]}}", name, refs);

	fakecluster_apply(path, text);
}

#define REF(name) "{'type':'scripted','metadata':{'source':'a'},'authenticationRef':{'name':'" name "'}}"
#define CLUSTER_REF(name)                                                                                              \
	"{'type':'scripted','metadata':{'source':'a'},'authenticationRef':{'name':'" name                              \
	"','kind':'ClusterTriggerAuthentication'}}"

static void expect_users(const char *path, const char *users)
{
	const char *is = fakecluster_text(path, "status.scaledobjects");

	if (strcmp(is, users) != 0)
		fail_msg("%s is used by \"%s\", not \"%s\"", path, is, users);
}

/* ---- Status ---- */

static void users_are_listed_sorted_and_once(void **state)
{
	(void)state;
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	fakecluster_apply(CTA("redis"), AUTH_SPEC);
	scaledobject("web", REF("redis") "," REF("redis") "," REF("other"));
	scaledobject("api", REF("redis") "," CLUSTER_REF("redis"));
	world_pass(600);
	expect_users(TA("redis"), "api,web");
	expect_users(CTA("redis"), "default/api");
	/* A trigger that stops using it is off the list; the last one, too. */
	scaledobject("web", REF("other"));
	world_pass(600);
	expect_users(TA("redis"), "api");
	fakecluster_delete(SCALEDOBJECT("api"));
	world_pass(600);
	expect_users(TA("redis"), "");
	expect_users(CTA("redis"), "");
}

static void a_correct_status_is_not_written(void **state)
{
	(void)state;
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	scaledobject("web", REF("redis"));
	world_pass(600);
	fakecluster_forget_calls();
	fakecluster_change(SCALEDOBJECT("web"), "{'metadata':{'labels':{'a':'b'}}}");
	fakecluster_change(TA("redis"), "{'metadata':{'labels':{'a':'b'}}}");
	world_pass(2000);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, "triggerauthentications"), 0);
	world_restart();
	world_pass(2000);
	assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, "triggerauthentications"), 0);
}

/*
 * Left over from before; also if only some namespaces are watched, none of which is the cluster's.
 */
static void users_of_long_ago_are_taken_off(void **state)
{
	static const char *const watched[] = { "default", "shop" };

	(void)state;
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	fakecluster_apply(CTA("redis"), AUTH_SPEC);
	fakecluster_change(TA("redis"), "{'status':{'scaledobjects':'old','scaledjobs':'old'}}");
	fakecluster_change(CTA("redis"), "{'status':{'scaledobjects':'default/old','scaledjobs':'default/old'}}");
	world_restart_watching(watched, 2);
	world_pass(600);
	expect_users(TA("redis"), "");
	expect_users(CTA("redis"), "");
	assert_string_equal(fakecluster_text(TA("redis"), "status.scaledjobs"), "");
	assert_string_equal(fakecluster_text(CTA("redis"), "status.scaledjobs"), "");
}

static void a_burst_is_one_write(void **state)
{
	(void)state;
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	for (int i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "web-%03d", i);
		scaledobject(name, REF("redis"));
	}
	world_pass(1500);
	assert_true(fakecluster_calls(KUBE_MERGE_PATCH, TA("redis")) <= 3);
	assert_int_equal(strlen(fakecluster_text(TA("redis"), "status.scaledobjects")), 1000 * 8 - 1);
}

static void a_long_list_is_cut_and_counted(void **state)
{
	const char *text;

	(void)state;
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	for (int i = 0; i < 200; i++) {
		char name[260];

		snprintf(name, sizeof(name), "a%0240d", i);
		scaledobject(name, REF("redis"));
	}
	world_pass(3000);
	text = fakecluster_text(TA("redis"), "status.scaledobjects");
	assert_true(strlen(text) <= AUTHKEEPER_LIST_MAX);
	assert_true(strlen(text) > AUTHKEEPER_LIST_MAX - 300);
	assert_non_null(strstr(text, ", and 65 more"));
}

static void a_write_that_fails_is_tried_again(void **state)
{
	(void)state;
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_MERGE_PATCH, TA("redis"), 3, 500);
	scaledobject("web", REF("redis"));
	world_pass(600);
	expect_users(TA("redis"), "");
	world_pass(10000);
	expect_users(TA("redis"), "web");
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, TA("redis")), 4);
}

static void drop_users(json_t *status)
{
	json_object_del(status, "scaledobjects");
}

/* A schema without the field drops it: once is enough. */
static void a_write_that_is_not_kept_is_not_repeated(void **state)
{
	(void)state;
	fakecluster_on_status(drop_users);
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	scaledobject("web", REF("redis"));
	for (int i = 0; i < 20; i++) {
		fakecluster_change(TA("redis"),
			i % 2 ? "{'metadata':{'labels':{'a':'b'}}}" : "{'metadata':{'labels':{'a':'c'}}}");
		world_pass(1000);
	}
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, TA("redis")), 1);
	scaledobject("api", REF("redis"));
	world_pass(1000);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, TA("redis")), 2);
}

static void only_the_leader_writes_and_only_when_it_knows(void **state)
{
	(void)state;
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	scaledobject("web", REF("redis"));
	world_pass(1000);
	fakecluster_forget_calls();
	world_lead(false);
	scaledobject("api", REF("redis"));
	world_pass(3000);
	expect_users(TA("redis"), "web");
	/* Leading before the lists came must not take the users off the list. */
	fakecluster_page(1, 400);
	world_restart_leading();
	world_pass(10000);
	expect_users(TA("redis"), "api,web");
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, TA("redis")), 1);
}

/* ---- Finalizers ---- */

static void kedas_finalizer_is_taken_off(void **state)
{
	(void)state;
	fakecluster_apply(TA("redis"), "{'metadata':{'finalizers':['other','finalizer.keda.sh']},'spec':{}}");
	fakecluster_apply(CTA("redis"), "{'metadata':{'finalizers':['finalizer.keda.sh']},'spec':{}}");
	world_pass(1000);
	assert_string_equal(fakecluster_text(TA("redis"), "metadata.finalizers.0"), "other");
	assert_null(fakecluster_at(TA("redis"), "metadata.finalizers.1"));
	assert_null(fakecluster_at(CTA("redis"), "metadata.finalizers.0"));
	/* Also from one that is being deleted, which is gone then. */
	fakecluster_apply(TA("old"), "{'metadata':{'finalizers':['finalizer.keda.sh']},'spec':{}}");
	fakecluster_delete(TA("old"));
	world_pass(1000);
	assert_null(fakecluster_get(TA("old")));
	world_pass(10000);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, TA("old")), 1);
}

static void add_finalizer(const char *path, json_t *object)
{
	json_t *list = json_array();

	if (!strstr(path, "triggerauthentications/redis")) {
		json_decref(list);
		return;
	}
	json_array_append_new(list, json_string("finalizer.keda.sh"));
	json_object_set_new(json_object_get(object, "metadata"), "finalizers", list);
}

static void a_reverted_finalizer_is_left_alone(void **state)
{
	(void)state;
	fakecluster_on_admission(add_finalizer);
	fakecluster_apply(TA("redis"), "{'metadata':{'finalizers':['finalizer.keda.sh']},'spec':{}}");
	scaledobject("web", REF("redis"));
	world_pass(20000);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, TA("redis") "?"), 1);
	expect_users(TA("redis"), "web");
}

static void touch(void)
{
	fakecluster_change(TA("redis"), "{'metadata':{'finalizers':['finalizer.keda.sh','newer']}}");
}

static void a_finalizer_that_comes_meanwhile_stays(void **state)
{
	(void)state;
	fakecluster_just_before(KUBE_MERGE_PATCH, TA("redis"), touch);
	fakecluster_apply(TA("redis"), "{'metadata':{'finalizers':['finalizer.keda.sh']},'spec':{}}");
	world_pass(5000);
	assert_string_equal(fakecluster_text(TA("redis"), "metadata.finalizers.0"), "newer");
	assert_null(fakecluster_at(TA("redis"), "metadata.finalizers.1"));
}

/* ---- Events ---- */

static void creation_change_and_deletion_are_reported(void **state)
{
	(void)state;
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	fakecluster_apply(CTA("redis"), AUTH_SPEC);
	world_pass(100);
	assert_int_equal(fakecluster_events_sent("TriggerAuthenticationAdded",
				 "Normal TriggerAuthentication default/redis uid-"),
		1);
	assert_int_equal(fakecluster_events_sent("TriggerAuthenticationAdded", "New TriggerAuthentication configured"),
		1);
	assert_int_equal(fakecluster_events_sent("ClusterTriggerAuthenticationAdded",
				 "New ClusterTriggerAuthentication configured"),
		1);
	fakecluster_change(TA("redis"), "{'metadata':{'labels':{'a':'b'}}}");
	world_pass(100);
	assert_int_equal(fakecluster_events_sent("TriggerAuthenticationUpdated", ""), 0);
	fakecluster_change(TA("redis"), "{'spec':{'podIdentity':{'provider':'none'}}}");
	fakecluster_change(CTA("redis"), "{'spec':{'podIdentity':{'provider':'none'}}}");
	world_pass(100);
	assert_int_equal(fakecluster_events_sent("TriggerAuthenticationUpdated",
				 "TriggerAuthentication redis is updated"),
		1);
	assert_int_equal(fakecluster_events_sent("ClusterTriggerAuthenticationUpdated",
				 "ClusterTriggerAuthentication redis is updated"),
		1);
	/* Not once more after a restart. */
	world_restart();
	world_pass(1000);
	assert_int_equal(fakecluster_events_repeated("TriggerAuthenticationAdded"), 0);
	fakecluster_delete(TA("redis"));
	fakecluster_delete(CTA("redis"));
	world_pass(100);
	assert_int_equal(fakecluster_events_sent("TriggerAuthenticationDeleted",
				 "TriggerAuthentication redis was deleted"),
		1);
	assert_int_equal(fakecluster_events_sent("ClusterTriggerAuthenticationDeleted",
				 "ClusterTriggerAuthentication redis was deleted"),
		1);
}

static void create_it_again(void)
{
	fakecluster_delete(TA("redis"));
	fakecluster_apply(TA("redis"), AUTH_SPEC);
}

/*
 * The answer to the write is about the new one, before the watch has shown that the old one is
 * gone.
 */
static void one_that_is_created_again_during_a_write_is_another(void **state)
{
	(void)state;
	fakecluster_apply(TA("redis"), AUTH_SPEC);
	scaledobject("web", REF("redis"));
	fakecluster_just_before(KUBE_MERGE_PATCH, TA("redis"), create_it_again);
	world_pass(5000);
	expect_users(TA("redis"), "web");
	assert_int_equal(fakecluster_events_sent("TriggerAuthenticationDeleted",
				 "TriggerAuthentication redis was deleted"),
		1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(users_are_listed_sorted_and_once),
		CASE(a_correct_status_is_not_written),
		CASE(users_of_long_ago_are_taken_off),
		CASE(a_burst_is_one_write),
		CASE(a_long_list_is_cut_and_counted),
		CASE(a_write_that_fails_is_tried_again),
		CASE(a_write_that_is_not_kept_is_not_repeated),
		CASE(only_the_leader_writes_and_only_when_it_knows),
		CASE(kedas_finalizer_is_taken_off),
		CASE(a_reverted_finalizer_is_left_alone),
		CASE(a_finalizer_that_comes_meanwhile_stays),
		CASE(creation_change_and_deletion_are_reported),
		CASE(one_that_is_created_again_during_a_write_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
