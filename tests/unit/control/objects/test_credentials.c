/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ScaledObject whose trigger takes its source from a Secret: waited for, rotated, gone, back;
 * what Ready says, and which source is asked.
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

#define TA      "/apis/keda.sh/v1alpha1/namespaces/default/triggerauthentications/auth"
#define SECRET  "/api/v1/namespaces/default/secrets/creds"
#define WEB     SCALEDOBJECT("web")
#define FAILED  "False ScaledObjectCheckFailed "
#define TRIGGER "failed to ensure HPA is correctly created for ScaledObject: trigger 0 (scripted): "

static void start(void)
{
	world_deployment("web", 1);
	fakecluster_apply(TA, "{'spec':{'secretTargetRef':[{'parameter':'source','name':'creds','key':'source'}]}}");
	fakecluster_apply(WEB,
		"{'spec':{'scaleTargetRef':{'name':'web'},'pollingInterval':10,'triggers':[{'type':'scripted','"
		"metadata':{},'authenticationRef':{'name':'auth'}}]}}");
	world_pass(1000);
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

/* What is read for the first time after a restart is no fault: Ready stays as it was. */
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

/* When it is known why it cannot be read, Ready says so. */
static void what_cannot_be_read_is_told(void **state)
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

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_missing_secret_is_named_until_it_comes),
		CASE(a_rotated_secret_is_used_without_an_error),
		CASE(a_lost_key_is_named_and_the_hpa_stays),
		CASE(a_quiet_object_costs_no_writes),
		CASE(a_restart_changes_nothing),
		CASE(what_cannot_be_read_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
