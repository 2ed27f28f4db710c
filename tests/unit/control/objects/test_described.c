/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HPA of triggers whose source names its metrics itself: when it comes later, when it is away,
 * when it changes its mind.
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

#define WEB       SCALEDOBJECT("web")
#define WEB_HPA   HPA("keda-hpa-web")
#define HPAS      "/horizontalpodautoscalers"
#define TELLING   "{'type':'telling','metadata':{'source':'a'}}"
#define BESIDE    ",{'type':'scripted','metadata':{'source':'b'}}"
#define METRIC(n) "spec.metrics." #n ".external.metric.name"
#define TARGET(n) "spec.metrics." #n ".external.target.averageValue"

static void source_is_up(const char *metrics)
{
	fakesource_describe("a", metrics);
	fakesource_answer("a", 3);
}

static void source_is_down(void)
{
	fakesource_describe("a", NULL);
	fakesource_fail("a", "down");
}

static void object(const char *spec)
{
	world_deployment("web", 1);
	world_scaledobject("web", spec);
	world_pass(15000);
}

static void the_hpa_has_the_described_metrics(void **state)
{
	(void)state;
	source_is_up("queue:5,load:2");
	object("'triggers':[" TELLING BESIDE "]");
	world_expect("web", "Ready", "True");
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(0)), "s0-queue");
	assert_string_equal(fakecluster_text(WEB_HPA, TARGET(0)), "5");
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(1)), "s0-load");
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(2)), "s1-scripted-b");
	assert_string_equal(fakecluster_text(WEB, "status.externalMetricNames.1"), "s0-load");
	source_is_up("load:9");
	world_pass(20000);
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(0)), "s0-load");
	assert_string_equal(fakecluster_text(WEB_HPA, TARGET(0)), "9");
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(1)), "s1-scripted-b");
}

static void a_source_that_comes_later_gets_its_metrics_then(void **state)
{
	(void)state;
	source_is_down();
	object("'triggers':[" TELLING BESIDE "]");
	world_expect("web", "Ready", "False TriggerError");
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(0)), "s1-scripted-b");
	assert_null(fakecluster_at(WEB_HPA, METRIC(1)));
	assert_true(fakecluster_events_sent("KEDAScalerFailed", "trigger 0 (telling): source a: down") > 0);
	source_is_up("queue:5");
	world_pass(20000);
	world_expect("web", "Ready", "True");
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(0)), "s0-queue");
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(1)), "s1-scripted-b");
}

static void without_any_metric_there_is_no_hpa(void **state)
{
	(void)state;
	source_is_down();
	object("'triggers':[" TELLING "]");
	world_expect("web", "Ready", "False TriggerError");
	assert_null(fakecluster_get(WEB_HPA));
	assert_int_equal(world_replicas("web"), 1);
	source_is_up("queue:5");
	world_pass(20000);
	world_expect("web", "Ready", "True");
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(0)), "s0-queue");
}

static void fallback_has_an_hpa_to_speak_to(void **state)
{
	(void)state;
	source_is_down();
	object("'fallback':{'failureThreshold':1,'replicas':4},'triggers':[" TELLING "]");
	world_pass(30000);
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(0)), "s0-telling");
	world_expect("web", "Fallback", "True FallbackExists");
	source_is_up("queue:5");
	world_pass(20000);
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(0)), "s0-queue");
	assert_null(fakecluster_at(WEB_HPA, METRIC(1)));
	world_expect("web", "Fallback", "False");
}

static void an_hpa_outlives_a_restart_while_the_source_is_away(void **state)
{
	(void)state;
	source_is_up("queue:5,load:2");
	object("'triggers':[" TELLING "]");
	source_is_down();
	world_restart();
	fakecluster_forget_calls();
	world_lead(true);
	world_pass(60000);
	world_expect("web", "Ready", "False TriggerError");
	assert_int_equal(fakecluster_calls(KUBE_UPDATE, HPAS) + fakecluster_calls(KUBE_DELETE, HPAS) +
			fakecluster_calls(KUBE_CREATE, HPAS),
		0);
	world_scaledobject("web", "'maxReplicaCount':7,'triggers':[" TELLING "]");
	world_pass(20000);
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.maxReplicas"), 7);
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(0)), "s0-queue");
	assert_string_equal(fakecluster_text(WEB_HPA, METRIC(1)), "s0-load");
	source_is_up("queue:6");
	world_pass(30000);
	world_expect("web", "Ready", "True");
	assert_string_equal(fakecluster_text(WEB_HPA, TARGET(0)), "6");
	assert_null(fakecluster_at(WEB_HPA, METRIC(1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_hpa_has_the_described_metrics, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(a_source_that_comes_later_gets_its_metrics_then, world_setup,
			world_teardown),
		cmocka_unit_test_setup_teardown(without_any_metric_there_is_no_hpa, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(fallback_has_an_hpa_to_speak_to, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(an_hpa_outlives_a_restart_while_the_source_is_away, world_setup,
			world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
