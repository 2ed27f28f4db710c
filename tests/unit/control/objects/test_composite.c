/* SPDX-License-Identifier: Apache-2.0 */
/* scalingModifiers and resources: one metric made of several, and triggers that are not polled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../world.h"

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "../../fakes/fakesource.h"

#include "base/json.h"
#include "base/mem.h"
#include "cache/survey.h"

#define WEB     SCALEDOBJECT("web")
#define WEB_HPA HPA("keda-hpa-web")
#define POLL_MS 10000
#define HOUR_MS 3600000
#define A_AND_B                                                                                                        \
	"'triggers':[{'type':'scripted','name':'a','metadata':{'source':'a'}},{'type':'scripted','name':'b','"         \
	"metadata':{'source':'b'}}]"
#define MODIFIERS(formula)                                                                                             \
	"'advanced':{'scalingModifiers':{'formula':'" formula "','target':'2.5','activationTarget':'10'}}"
#define CPU "{'type':'cpu','metricType':'Utilization','metadata':{'value':'60'}}"

static char said[ERR_MSG_MAX];

static void on_survey(void *arg, const struct survey_result *r)
{
	(void)arg;
	if (r->err)
		snprintf(said, sizeof(said), "%s", r->err->msg);
	else if (r->composite)
		snprintf(said, sizeof(said), r->composite->failing ? "failing: %.0f%s" : "%g%s", r->composite->value,
			r->composite->failing ? r->composite->err.msg : "");
	else
		snprintf(said, sizeof(said), "%s %g", r->triggers[0].metric_name, r->triggers[0].reading.value);
}

/* What the HPA controller gets. */
static const char *get_metric(const char *metric)
{
	struct survey_terms terms = { .metric = metric,
		.max_age_ms = 1000,
		.cached = true,
		.deadline_ms = loop_now_ms(world.loop) + 3000 };

	said[0] = '\0';
	if (!survey_peek(world.cache, world_object("default/web"), &terms, on_survey, NULL))
		survey_start(world.cache, world_object("default/web"), &terms, on_survey, NULL);
	world_pass(10);
	return said;
}

/* ---- The composite ---- */

static void one_metric_is_made_of_two(void **state)
{
	(void)state;
	fakesource_answer("a", 4);
	fakesource_answer("b", 5);
	world_ready_object("web", 0, A_AND_B "," MODIFIERS("a + b"));
	assert_int_equal(json_array_size(fakecluster_at(WEB_HPA, "spec.metrics")), 1);
	assert_string_equal(fakecluster_text(WEB_HPA, "spec.metrics.0.external.metric.name"), "composite-metric");
	assert_string_equal(fakecluster_text(WEB_HPA, "spec.metrics.0.external.target.averageValue"), "2500m");
	assert_string_equal(fakecluster_text(WEB, "status.compositeScalerName"), "composite-metric");
	assert_string_equal(fakecluster_text(WEB, "status.externalMetricNames.1"), "s1-scripted-b");
	assert_string_equal(get_metric("composite-metric"), "9");
	assert_string_equal(get_metric("Composite-Metric"), "9");
	assert_string_equal(get_metric("s1-scripted-b"), "s1-scripted-b 5");
	/* Each is active by itself; the composite is not above its activationTarget. */
	world_pass(POLL_MS);
	assert_int_equal(world_replicas("web"), 0);
	fakesource_answer("b", 6.5);
	world_pass(POLL_MS + 1000);
	assert_int_equal(world_replicas("web"), 1);
	assert_int_equal(fakecluster_events_sent("KEDAScaleTargetActivated",
				 "Scaled Deployment default/web from 0 to 1, triggered by composite-metric"),
		1);
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(fakecluster_writes(), 0);
}

static void a_failing_part_fails_the_whole(void **state)
{
	(void)state;
	fakesource_answer("a", 40);
	world_ready_object("web", 0, A_AND_B "," MODIFIERS("a + b") ",'cooldownPeriod':0");
	assert_int_equal(world_replicas("web"), 1);
	fakesource_fail("b", "connection refused");
	world_pass(HOUR_MS);
	assert_int_equal(world_replicas("web"), 1);
	world_expect("web", "Ready", "False TriggerError");
	assert_int_equal(fakecluster_events_sent("KEDAMetricSourceFailed",
				 "Warning ScaledObject default/web uid-2: trigger 1 (scripted): source b: connection "
				 "refused"),
		1);
	assert_int_equal(fakecluster_events_sent("KEDAMetricSourceFailed", "composite-metric"), 0);
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed", ""), 0);
	assert_non_null(
		strstr(get_metric("composite-metric"), "failing: 0s1-scripted-b: source b: connection refused"));
	assert_string_equal(get_metric("s0-scripted-a"), "s0-scripted-a 40");
}

static void fallback_replaces_the_whole(void **state)
{
	(void)state;
	fakesource_answer("a", 4);
	world_ready_object("web", 0, A_AND_B "," MODIFIERS("a + b") ",'fallback':{'failureThreshold':1,'replicas':6}");
	fakesource_fail("b", "connection refused");
	world_pass(POLL_MS * 3);
	world_expect("web", "Fallback", "True");
	assert_string_equal(get_metric("composite-metric"), "15"); /* 6 x 2.5 */
	assert_int_equal(world_replicas("web"), 1);
}

static void a_wrong_formula_is_reported_before_anything_scales(void **state)
{
	(void)state;
	world_deployment("web", 0);
	world_scaledobject("web", A_AND_B "," MODIFIERS("a + bad("));
	world_pass(1000);
	world_expect("web", "Ready", "False ScaledObjectCheckFailed spec.advanced.scalingModifiers.formula: column ");
	assert_null(fakecluster_get(WEB_HPA));
	assert_int_equal(fakesource_asked(NULL), 0);
	world_scaledobject("web", A_AND_B "," MODIFIERS("a + b"));
	world_pass(1000);
	world_expect("web", "Ready", "True");
}

static void modifiers_may_come_and_go(void **state)
{
	(void)state;
	fakesource_answer("a", 4);
	world_ready_object("web", 1, A_AND_B);
	assert_int_equal(json_array_size(fakecluster_at(WEB_HPA, "spec.metrics")), 2);
	assert_non_null(strstr(get_metric("composite-metric"), "has no metric composite-metric"));
	world_scaledobject("web", A_AND_B "," MODIFIERS("a + b"));
	world_pass(1000);
	assert_string_equal(fakecluster_text(WEB_HPA, "spec.metrics.0.external.metric.name"), "composite-metric");
	assert_string_equal(get_metric("composite-metric"), "4");
	world_scaledobject("web", A_AND_B);
	world_pass(1000);
	assert_int_equal(json_array_size(fakecluster_at(WEB_HPA, "spec.metrics")), 2);
	assert_null(fakecluster_at(WEB, "status.compositeScalerName"));
}

/* ---- Resources ---- */

static void cpu_alone_keeps_the_object_active(void **state)
{
	(void)state;
	world_ready_object("web", 3, "'minReplicaCount':1,'triggers':[" CPU "]");
	assert_string_equal(fakecluster_text(WEB_HPA, "spec.metrics.0.type"), "Resource");
	assert_int_equal(fakecluster_number(WEB_HPA, "spec.metrics.0.resource.target.averageUtilization"), 60);
	assert_string_equal(fakecluster_text(WEB, "status.resourceMetricNames.0"), "cpu");
	assert_null(fakecluster_at(WEB, "status.externalMetricNames.0"));
	world_expect("web", "Active", "True ScalerActive");
	assert_non_null(strstr(get_metric("cpu"), "has no metric cpu"));
	fakecluster_forget_calls();
	world_pass(HOUR_MS);
	assert_int_equal(world_replicas("web"), 3);
	assert_int_equal(fakecluster_writes(), 0);
	assert_int_equal(fakesource_asked(NULL), 0);
	/* Someone scales it to 0: that does not change the metric. */
	fakecluster_change(DEPLOYMENT("web"), "{'spec':{'replicas':0}}");
	world_pass(POLL_MS);
	assert_int_equal(world_replicas("web"), 1);
}

static void beside_another_cpu_does_not_keep_it_active(void **state)
{
	(void)state;
	world_ready_object("web", 1,
		"'cooldownPeriod':0,'triggers':[" CPU ",{'type':'scripted','metadata':{'source':'web'}}]");
	world_pass(POLL_MS);
	assert_int_equal(world_replicas("web"), 0);
	assert_int_equal(json_array_size(fakecluster_at(WEB_HPA, "spec.metrics")), 2);
	assert_string_equal(fakecluster_text(WEB, "status.externalMetricNames.0"), "s1-scripted-web");
	fakesource_fail("web", "connection refused");
	world_pass(POLL_MS * 2);
	assert_int_equal(fakecluster_events_sent("KEDAScalerFailed",
				 "trigger 1 (scripted): source web: connection refused"),
		1);
}

/* ---- UseCachedMetrics ---- */

static void a_cached_metric_is_the_last_polls(void **state)
{
	unsigned asked;

	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 1,
		"'pollingInterval':300,'triggers':[{'type':'scripted','useCachedMetrics':true,'metadata':{'source':'"
		"web'}}]");
	asked = fakesource_asked("web");
	fakesource_answer("web", 8);
	for (int i = 0; i < 9; i++) {
		assert_string_equal(get_metric("s0-scripted-web"), "s0-scripted-web 7");
		world_pass(15000);
	}
	assert_int_equal(fakesource_asked("web"), asked);
	/* Every poll brings it up to date, the HPA never asks. */
	world_pass(300000);
	asked = fakesource_asked("web");
	assert_string_equal(get_metric("s0-scripted-web"), "s0-scripted-web 8");
	assert_int_equal(fakesource_asked("web"), asked);
	/*
	 * A replica that does not lead polls nothing; it asks by itself, no more often than a poll
	 * would.
	 */
	world_lead(false);
	asked = fakesource_asked("web");
	fakesource_answer("web", 9);
	for (int i = 0; i < 240; i++) {
		get_metric("s0-scripted-web");
		world_pass(15000);
	}
	assert_string_equal(get_metric("s0-scripted-web"), "s0-scripted-web 9");
	assert_in_range(fakesource_asked("web") - asked, 10, 13);
}

#define CACHED_AND_FAR                                                                                                 \
	"'pollingInterval':300,'triggers':[{'type':'scripted','useCachedMetrics':true,'metadata':{'source':'web'}}]"

/* A wake-up raises from zero; the HPA gets another value. */
static void a_wake_up_activates_without_changing_the_hpas_value(void **state)
{
	(void)state;
	world_ready_object("web", 0, CACHED_AND_FAR);
	world_pass(1000);
	fakesource_answer("web", 9);
	fakesource_look("web");
	world_pass(100);
	assert_int_equal(world_replicas("web"), 1);
	for (int i = 0; i < 8; i++) {
		assert_string_equal(get_metric("s0-scripted-web"), "s0-scripted-web 0");
		world_pass(15000);
		fakesource_look("web");
	}
	world_pass(300000);
	assert_string_equal(get_metric("s0-scripted-web"), "s0-scripted-web 9");
}

/* Looks that no pollingInterval led to: the end of a cooldown. A change of the object is a poll. */
static void only_a_timed_poll_is_for_the_hpa(void **state)
{
	unsigned asked;

	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 1, CACHED_AND_FAR ",'cooldownPeriod':20");
	fakesource_answer("web", 0);
	fakesource_look("web");
	asked = fakesource_asked("web");
	fakesource_answer("web", -1);
	world_pass(30000);
	assert_true(fakesource_asked("web") > asked);
	assert_int_equal(world_replicas("web"), 0);
	assert_string_equal(get_metric("s0-scripted-web"), "s0-scripted-web 7");
	fakesource_answer("web", 8);
	fakecluster_change(WEB, "{'spec':{'maxReplicaCount':9}}");
	world_pass(1000);
	assert_string_equal(get_metric("s0-scripted-web"), "s0-scripted-web 8");
}

/* A poll is due while other looks are under way; the first one's answer is not too old yet. */
static void no_poll_is_lost_to_other_looks(void **state)
{
	(void)state;
	fakesource_answer("web", 7);
	world_ready_object("web", 1, CACHED_AND_FAR);
	fakesource_hang("web");
	for (int i = 0; i < 590; i++) {
		fakesource_look("web");
		world_pass(500);
	}
	fakesource_answer("web", 8);
	world_pass(8000); /* 303 s: the second poll was due, whatever the phase */
	assert_string_equal(get_metric("s0-scripted-web"), "s0-scripted-web 8");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(one_metric_is_made_of_two),
		CASE(a_failing_part_fails_the_whole),
		CASE(fallback_replaces_the_whole),
		CASE(a_wrong_formula_is_reported_before_anything_scales),
		CASE(modifiers_may_come_and_go),
		CASE(cpu_alone_keeps_the_object_active),
		CASE(beside_another_cpu_does_not_keep_it_active),
		CASE(a_cached_metric_is_the_last_polls),
		CASE(a_wake_up_activates_without_changing_the_hpas_value),
		CASE(only_a_timed_poll_is_for_the_hpa),
		CASE(no_poll_is_lost_to_other_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
