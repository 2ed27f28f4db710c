/* SPDX-License-Identifier: Apache-2.0 */
/* The explanation of a ScaledObject, without asking a source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "decide/verdict.h"
#include "explained.h"

#define OBJECT(meta, spec, status)                                                                                     \
	"{'metadata':{'namespace':'shop','name':'web','generation':3" meta                                             \
	"},'spec':{'scaleTargetRef':{'name':'web'},'triggers':[{'type':'redis','metadata':{}}]" spec                   \
	"},'status':{" status "}}"

static json_t *explained(void)
{
	return ask_explanation(OBJECTS "/web");
}

static void the_whole(void **state)
{
	struct workload workload = { .replicas = 3, .ready_replicas = 2 };
	char hpa_name[] = "keda-hpa-web", yes[] = "True", valid[] = "ValidMetricFound",
	     message[] = "the HPA was able to", many[] = "TooManyReplicas", limit[] = "more than the maximum",
	     able[] = "ReadyForNewScale";
	struct hpa hpa = {
		.meta.name = hpa_name,
		.scaling_active_status = yes,
		.scaling_active_reason = valid,
		.scaling_active_message = message,
		.current_replicas = 3,
		.desired_replicas = 4,
		.able_to_scale = { CONDITION_TRUE, able, NULL },
		.scaling_limited = { CONDITION_TRUE, many, limit },
		.last_scale_unix_ms = 1767323045000,
	};
	char text[] = "active: the HPA scales", before[] = "scaling from 0 to 1", who[] = "kscaled",
	     why[] = "s0-redis-jobs", other[] = "kubectl-scale", by_hand[] = "by hand";
	struct journal_decision decisions[] = { { 1767323000000, "activate", 1, before },
		{ 1767323050000, "active", 3, text } };
	struct journal_change changes[] = { { 1767323001000, 0, 1, who, why },
		{ 1767323002000, 1, 3, other, by_hand } };
	struct journal_object journal = {
		.decided = true,
		.decided_at_unix_ms = 1767323050000,
		.text = text,
		.decision = { .rule = "active", .replicas = 3, .active = true, .until_unix_ms = 1767323060000 },
		.decisions = decisions,
		.decision_count = 2,
		.changes = changes,
		.change_count = 2,
	};
	struct scaledobject *so = given(OBJECT("", ",'minReplicaCount':0,'maxReplicaCount':4,'idleReplicaCount':0",
		"'conditions':[" CONDITION("Ready", "True", "ScaledObjectReady",
			"fine") "],'triggersTypes':'redis,cpu'"));
	json_t *o;

	(void)state;
	room.cache->workload = &workload;
	room.cache->hpa = &hpa;
	room.cache->journal = &journal;
	room.cache->memory = FAKE_ANSWER;
	room.cache->value = 12;
	room.cache->age_ms = 1500;
	room.cache->rest_ms = 10000;
	room.cache->resource_trigger = true;
	room.cache->cache.leadership.leading = true;
	strcpy(room.cache->cache.leadership.holder, "pod-1");
	o = explained();
	assert_string_equal(room.last.content_type, "application/json");
	expect_text(o, "leader.holder", "pod-1");
	assert_true(json_is_true(at(o, "leader.leading")));
	expect_text(o, "namespace", "shop");
	expect_text(o, "name", "web");
	expect_text(o, "target.kind", "Deployment");
	expect_text(o, "target.apiVersion", "apps/v1");
	expect_text(o, "target.state", "present");
	expect_int(o, "target.replicas", 3);
	expect_int(o, "target.ready", 2);
	expect_int(o, "min", 0);
	expect_int(o, "max", 4);
	expect_int(o, "idle", 0);
	expect_int(o, "generation", 3);
	assert_true(json_is_false(at(o, "paused")));
	expect_text(o, "ready", "True");
	assert_null(at(o, "active"));
	expect_text(o, "triggersTypes", "redis,cpu");
	expect_text(o, "hpa.name", "keda-hpa-web");
	expect_int(o, "hpa.min", 1);
	expect_int(o, "hpa.max", 4);
	expect_int(o, "hpa.desired", 4);
	expect_text(o, "hpa.lastScaleTime", "2026-01-02T03:04:05.000Z");
	expect_text(o, "hpa.conditions.0.type", "ScalingActive");
	expect_text(o, "hpa.conditions.1.reason", "ReadyForNewScale");
	assert_null(at(o, "hpa.conditions.1.message"));
	expect_text(o, "hpa.conditions.2.message", "more than the maximum");
	expect_text(o, "rule", "active");
	expect_text(o, "reason", "active: the HPA scales");
	assert_null(at(o, "trouble"));
	assert_int_equal(json_array_size(at(o, "triggers")), 2);
	expect_text(o, "triggers.0.type", "redis");
	expect_text(o, "triggers.0.metric", "s0-redis-jobs");
	expect_text(o, "triggers.0.metricType", "AverageValue");
	expect_text(o, "triggers.0.target", "5");
	assert_true(json_real_value(at(o, "triggers.0.activation")) == 2.5);
	assert_true(json_number_value(at(o, "triggers.0.value")) == 12);
	assert_in_range((int)(json_number_value(at(o, "triggers.0.ageSeconds")) * 1000), 1500, 10000);
	assert_true(json_is_true(at(o, "triggers.0.active")));
	assert_null(at(o, "triggers.0.error"));
	expect_text(o, "triggers.0.pause",
		"redis 192.0.2.1:6379 asked to be left alone (Retry-After): for another 9 s; its answer stands");
	expect_int(o, "triggers.0.failures", 0);
	expect_text(o, "triggers.0.push.state", "off");
	expect_text(o, "triggers.0.push.why", "turn it on");
	assert_null(at(o, "triggers.1.push"));
	expect_text(o, "triggers.1.type", "cpu");
	expect_text(o, "triggers.1.metricType", "Utilization");
	assert_int_equal(json_object_size(at(o, "triggers.1")), 9);
	assert_null(at(o, "composite"));
	expect_text(o, "decision.rule", "active");
	expect_text(o, "decision.text", "active: the HPA scales");
	expect_int(o, "decision.replicas", 3);
	expect_text(o, "decision.until", "2026-01-02T03:04:20.000Z");
	expect_text(o, "decision.decidedAt", "2026-01-02T03:04:10.000Z");
	expect_text(o, "conditions.0.message", "fine");
	expect_text(o, "changes.0.who", "kubectl-scale");
	expect_int(o, "changes.0.from", 1);
	expect_int(o, "changes.1.from", 0);
	expect_text(o, "decisions.0.rule", "active");
	expect_text(o, "decisions.1.text", "scaling from 0 to 1");
	assert_int_equal(room.cache->asked, 0); /* no source */
	json_decref(o);
	scaledobject_free(so);
}

static void a_standby_explains_what_it_knows(void **state)
{
	struct scaledobject *so = given(OBJECT("", "",
		"'conditions':[" CONDITION("Ready", "True", "ScaledObjectReady", "fine") "," CONDITION("Active",
			"False", "ScalerNotActive", "Scaling is not performed because triggers are not active") "]"));
	json_t *o;

	(void)state;
	strcpy(room.cache->cache.leadership.holder, "pod-1");
	strcpy(room.cache->cache.leadership.why_not, "pod-1 holds the Lease");
	room.cache->target_trouble = "watching apps/v1/deployments: forbidden";
	o = explained();
	assert_true(json_is_false(at(o, "leader.leading")));
	expect_text(o, "leader.whyNot", "pod-1 holds the Lease");
	expect_text(o, "target.state", "unread");
	expect_text(o, "target.trouble", "watching apps/v1/deployments: forbidden");
	assert_null(at(o, "target.replicas"));
	assert_null(at(o, "hpa"));
	assert_null(at(o, "rule"));
	assert_null(at(o, "decision"));
	expect_text(o, "reason", "Scaling is not performed because triggers are not active");
	assert_null(at(o, "triggers.0.value"));
	assert_null(at(o, "triggers.0.active"));
	assert_null(at(o, "triggers.0.ageSeconds"));
	assert_int_equal(json_array_size(at(o, "changes")), 0);
	json_decref(o);
	scaledobject_free(so);
}

/* The leader decides otherwise by now. */
static void decisions_before_the_lead_was_lost_are_history(void **state)
{
	char text[] = "active: the HPA scales";
	struct journal_decision decisions[] = {
		{ .at_unix_ms = 1767323050000, .rule = "active", .replicas = 3, .text = text }
	};
	struct journal_object journal = { .decided = true,
		.decision = { .rule = "active", .replicas = 3 },
		.text = text,
		.decisions = decisions,
		.decision_count = 1 };
	struct scaledobject *so = given(OBJECT("", "",
		"'conditions':[" CONDITION("Ready", "True", "ScaledObjectReady", "fine") "," CONDITION("Active",
			"False", "ScalerNotActive", "Scaling is not performed because triggers are not active") "]"));
	json_t *o;

	(void)state;
	room.cache->journal = &journal;
	o = explained();
	assert_null(at(o, "rule"));
	assert_null(at(o, "decision"));
	expect_text(o, "reason", "Scaling is not performed because triggers are not active");
	expect_text(o, "decisions.0.rule", "active");
	json_decref(o);
	scaledobject_free(so);
}

static void failures_and_fallbacks(void **state)
{
	json_t *o;

	(void)state;
	room.cache->memory = FAKE_FAILURE;
	room.cache->failures = 4;
	room.cache->no_fallback = "the target has no ready pods";
	o = explained();
	expect_text(o, "triggers.0.error", "redis 192.0.2.1:6379: connection refused");
	expect_text(o, "triggers.0.noFallback", "the target has no ready pods");
	expect_int(o, "triggers.0.failures", 4);
	assert_null(at(o, "triggers.0.value"));
	assert_true(json_is_false(at(o, "triggers.0.fallingBack")));
	json_decref(o);
	room.cache->no_fallback = NULL;
	room.cache->falls_back = true;
	room.cache->value = 30;
	o = explained();
	expect_text(o, "triggers.0.error", "redis 192.0.2.1:6379: connection refused");
	assert_true(json_number_value(at(o, "triggers.0.value")) == 30);
	assert_true(json_is_true(at(o, "triggers.0.active")));
	assert_true(json_is_true(at(o, "triggers.0.fallingBack")));
	json_decref(o);
	/* A trigger that is nil in the formula has no value, whatever its reading. */
	room.cache->fallback_replicas = -1;
	room.cache->value = -1;
	o = explained();
	assert_null(at(o, "triggers.0.value"));
	assert_null(at(o, "triggers.0.active"));
	assert_true(json_is_true(at(o, "triggers.0.fallingBack")));
	json_decref(o);
}

static void scalers_that_cannot_be_built(void **state)
{
	struct scaledobject *so = given(OBJECT("", "",
		"'conditions':[" CONDITION("Ready", "False", "ScaledObjectCheckFailed", "listName is missing") "]"));
	json_t *o;

	(void)state;
	room.cache->build_error = ERR_INVALID;
	o = explained();
	expect_text(o, "trouble", "trigger 0 (redis): listName is missing");
	assert_int_equal(json_array_size(at(o, "triggers")), 0);
	expect_text(o, "reason", "listName is missing");
	json_decref(o);
	scaledobject_free(so);
}

static void the_composite(void **state)
{
	struct scaledobject *so = given(OBJECT("",
		",'advanced':{'scalingModifiers':{'formula':'a*2','target':'7.5','activationTarget':'1','metricType':'"
		"Value'}}",
		""));
	struct composite composite = { .value = 24, .active = true };
	json_t *o;

	(void)state;
	room.cache->memory = FAKE_ANSWER;
	room.cache->value = 12;
	room.cache->composite = &composite;
	o = explained();
	expect_text(o, "composite.metric", "composite-metric");
	expect_text(o, "composite.metricType", "Value");
	expect_text(o, "composite.target", "7500m");
	assert_true(json_number_value(at(o, "composite.activation")) == 1);
	assert_true(json_number_value(at(o, "composite.value")) == 24);
	assert_true(json_is_true(at(o, "composite.active")));
	json_decref(o);
	composite.failing = true;
	err_set(&composite.err, ERR_INVALID, "the formula gives nil");
	o = explained();
	expect_text(o, "composite.error", "the formula gives nil");
	assert_null(at(o, "composite.value"));
	json_decref(o);
	room.cache->memory = FAKE_NOTHING;
	o = explained();
	assert_null(at(o, "composite.value"));
	json_decref(o);
	scaledobject_free(so);
}

static void annotations(void **state)
{
	static const struct {
		const char *annotations, *reason;
		bool paused, in, out, forced;
		int replicas;
	} cases[] = {
		{ "'autoscaling.keda.sh/paused':'true'", "paused", true, false, false, false, -1 },
		{ "'autoscaling.keda.sh/paused-replicas':'3'", "paused at 3 replicas", true, false, false, false, 3 },
		{ "'autoscaling.keda.sh/paused-scale-in':'true'", NULL, false, true, false, false, -1 },
		{ "'autoscaling.keda.sh/paused-scale-out':'true','autoscaling.keda.sh/force-activation':'true'", NULL,
			false, false, true, true, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *text = mem_printf("{'metadata':{'namespace':'shop','name':'web','annotations':{%s}},'"
						 "spec':{'scaleTargetRef':{'name':'web'},'triggers':[]}}",
			cases[i].annotations);
		struct scaledobject *so = given(text);
		json_t *o = explained();

		assert_int_equal(json_is_true(at(o, "paused")), cases[i].paused);
		assert_int_equal(json_is_true(at(o, "pausing.scaleIn")), cases[i].in);
		assert_int_equal(json_is_true(at(o, "pausing.scaleOut")), cases[i].out);
		assert_int_equal(json_is_true(at(o, "forced")), cases[i].forced);
		if (cases[i].replicas >= 0)
			expect_int(o, "pausing.replicas", cases[i].replicas);
		else
			assert_null(at(o, "pausing.replicas"));
		if (cases[i].reason)
			expect_text(o, "reason", cases[i].reason);
		json_decref(o);
		scaledobject_free(so);
	}
}

/* The summary has its beginning, and nothing of the rest. */
static void in_short(void **state)
{
	json_t *body = room_body(ask(OBJECTS "/web")), *summary = json_object_get(body, "summary"),
	       *explanation = json_object_get(body, "explanation");
	const char *key;
	json_t *value;

	(void)state;
	assert_int_equal(json_object_size(summary), 17);
	json_object_foreach(summary, key, value) assert_true(json_equal(value, json_object_get(explanation, key)));
	assert_false(has(summary, "triggers") || has(summary, "leader"));
	json_decref(body);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_whole),
		TEST(a_standby_explains_what_it_knows),
		TEST(decisions_before_the_lead_was_lost_are_history),
		TEST(failures_and_fallbacks),
		TEST(scalers_that_cannot_be_built),
		TEST(the_composite),
		TEST(annotations),
		TEST(in_short),
	};

	return cmocka_run_group_tests_name("serve/explain", tests, NULL, NULL);
}
