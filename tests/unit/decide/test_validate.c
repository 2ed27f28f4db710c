/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/validate.h"

#include "../crd/given.h"

typedef int (*validate_fn)(const struct scaledobject *so, struct err *err);

static void check_passes(validate_fn validate, const char *object)
{
	struct scaledobject *so = given_scaledobject(object);
	struct err err = { 0 };

	if (validate(so, &err) != 0)
		fail_msg("%s: %s", object, err.msg);
	scaledobject_free(so);
}

static void check_refused(validate_fn validate, const char *object, const char *message)
{
	struct scaledobject *so = given_scaledobject(object);
	struct err err = { 0 };

	if (validate(so, &err) != -1)
		fail_msg("%s: not refused", object);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, message);
	assert_int_equal(validate(so, NULL), -1);
	scaledobject_free(so);
}

#define SPEC(fields) GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS "," fields)
#define TRIGGER(fields) GIVEN_SO("", GIVEN_TARGET ",'triggers':[{" fields "}]")
#define TARGET(fields) GIVEN_SO("", "'scaleTargetRef':{" fields "}," GIVEN_TRIGGERS)
#define ADVANCED(fields) SPEC("'advanced':{" fields "}")
#define ANNOTATED(annotations) GIVEN_SO(",'annotations':{" annotations "}", GIVEN_TARGET "," GIVEN_TRIGGERS)
#define NAME63 "a23456789012345678901234567890123456789012345678901234567890123"

static void test_good(void **state)
{
	static const char *const cases[] = {
		GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS),
		SPEC("'minReplicaCount':0,'maxReplicaCount':1"),
		SPEC("'minReplicaCount':3,'maxReplicaCount':3,'idleReplicaCount':2"),
		SPEC("'minReplicaCount':0,'idleReplicaCount':0"), /* KEDA accepts it when the minimum is written */
		SPEC("'minReplicaCount':100"),
		SPEC("'pollingInterval':1,'cooldownPeriod':0,'initialCooldownPeriod':0"),
		TARGET("'name':'a.b-c.1'"),
		TRIGGER("'type':'redis','metricType':'Value'"),
		TRIGGER("'type':'cpu','metricType':'Utilization'"),
		GIVEN_SO("", GIVEN_TARGET ",'triggers':[{'type':'a','name':'x'},{'type':'a','name':'y'},{'type':'a'},{'type':'a','name':''},{'type':'a','name':''}]"),
		ADVANCED("'horizontalPodAutoscalerConfig':{'name':'" NAME63 "'}"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_passes(validate_scaledobject, cases[i]);
}

static void test_refused(void **state)
{
	static const struct { const char *object, *message; } cases[] = {
		{ GIVEN_SO("", GIVEN_TARGET ",'triggers':[{'type':3}]"), "spec.triggers[0].type: must be a string, not a number" },
		{ GIVEN_SO("", GIVEN_TRIGGERS), "spec.scaleTargetRef.name: missing: name the workload to scale" },
		{ TARGET("'name':''"), "spec.scaleTargetRef.name: missing: name the workload to scale" },
		{ TARGET("'name':'../secrets/x'"), "spec.scaleTargetRef.name: \"../secrets/x\" cannot be the name of a workload: lower case letters, digits, '-' and '.' are allowed" },
		{ TARGET("'name':'a.-b'"), "spec.scaleTargetRef.name: \"a.-b\" cannot be the name of a workload: lower case letters, digits, '-' and '.' are allowed" },
		{ TARGET("'name':'web','kind':'a/b'"), "spec.scaleTargetRef.kind: \"a/b\" is not a kind, like Deployment" },
		{ TARGET("'name':'web','apiVersion':'apps/v1/x'"), "spec.scaleTargetRef.apiVersion: \"apps/v1/x\" is not a group and version, like apps/v1" },
		{ SPEC("'minReplicaCount':5,'maxReplicaCount':4"), "spec.minReplicaCount: 5 is more than maxReplicaCount 4: lower one or raise the other" },
		{ SPEC("'minReplicaCount':101"), "spec.minReplicaCount: 101 is more than maxReplicaCount 100 (the default): lower one or raise the other" },
		{ SPEC("'minReplicaCount':2,'idleReplicaCount':2"), "spec.idleReplicaCount: 2 must be less than minReplicaCount 2" },
		{ SPEC("'idleReplicaCount':0"), "spec.idleReplicaCount: 0 must be less than minReplicaCount 0 (the default)" },
		{ SPEC("'minReplicaCount':-1"), "spec.minReplicaCount: -1 is too small: at least 0" },
		{ SPEC("'maxReplicaCount':0"), "spec.maxReplicaCount: 0 is too small: at least 1" },
		{ SPEC("'idleReplicaCount':-1"), "spec.idleReplicaCount: -1 is too small: at least 0" },
		{ SPEC("'pollingInterval':0"), "spec.pollingInterval: 0 is too small: at least 1" },
		{ SPEC("'cooldownPeriod':-1"), "spec.cooldownPeriod: -1 is too small: at least 0" },
		{ SPEC("'initialCooldownPeriod':-7"), "spec.initialCooldownPeriod: -7 is too small: at least 0" },
		{ SPEC("'fallback':{'replicas':-1,'failureThreshold':1}"), "spec.fallback.replicas: -1 is too small: at least 0" },
		{ GIVEN_SO("", GIVEN_TARGET), "spec.triggers: no triggers defined in the ScaledObject: at least one is needed" },
		{ GIVEN_SO("", GIVEN_TARGET ",'triggers':[]"), "spec.triggers: no triggers defined in the ScaledObject: at least one is needed" },
		{ TRIGGER("'metadata':{}"), "spec.triggers[0].type: missing: say what kind of source it is, like redis" },
		{ TRIGGER("'type':'cron','useCachedMetrics':true"), "spec.triggers[0].useCachedMetrics: property \"useCachedMetrics\" is not supported for cron scaler: remove it" },
		{ TRIGGER("'type':'redis','metricType':'Sum'"), "spec.triggers[0].metricType: \"Sum\" is unknown: AverageValue, Value or, for cpu and memory, Utilization" },
		{ TRIGGER("'type':'redis','metricType':'Utilization'"), "spec.triggers[0].metricType: Utilization is for cpu and memory only: redis needs AverageValue or Value" },
		{ GIVEN_SO("", GIVEN_TARGET ",'triggers':[{'type':'a','name':'x'},{'type':'b','name':'y'},{'type':'c','name':'x'}]"), "spec.triggers: the name \"x\" is used twice: each trigger needs a name of its own" },
		{ "{'metadata':{'name':'" NAME63 "4'},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS "}}", "metadata.name: \"" NAME63 "4\" has 64 characters: at most 63, as it becomes the value of a label" },
		{ "{'metadata':{'name':'" NAME63 "'},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS "}}",
		  "the name of the HorizontalPodAutoscaler \"keda-hpa-" NAME63 "\" has 72 characters: at most 63: set spec.advanced.horizontalPodAutoscalerConfig.name or shorten metadata.name" },
		{ ADVANCED("'horizontalPodAutoscalerConfig':{'name':'My_HPA'}"),
		  "spec.advanced.horizontalPodAutoscalerConfig.name: \"My_HPA\" cannot be the name of an object: lower case letters, digits, '-' and '.' are allowed" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(validate_scaledobject, cases[i].object, cases[i].message);
}

static void test_supported(void **state)
{
	static const char *const cases[] = {
		GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS),
		TARGET("'name':'db','kind':'StatefulSet','apiVersion':'apps/v1'"),
		TARGET("'name':'web','envSourceContainerName':'main'"),
		SPEC("'idleReplicaCount':0,'minReplicaCount':2,'initialCooldownPeriod':4"),
		ADVANCED("'restoreToOriginalReplicaCount':true,'horizontalPodAutoscalerConfig':{'name':'x','behavior':{'scaleUp':{}}},'scalingModifiers':{}"),
		TRIGGER("'type':'nobody-knows-this-one'"), /* types are for the scalers' registry to know */
		ANNOTATED("'scaledobject.keda.sh/hpa-excluded-labels':'a,b','example.com/x':'y','validations.keda.sh/hpa-ownership':'true'"),
		ANNOTATED("'autoscaling.keda.sh/paused':'false','autoscaling.keda.sh/paused-scale-in':'0','autoscaling.keda.sh/paused-scale-out':'F','autoscaling.keda.sh/force-activation':'False',"
			  "'scaledobject.keda.sh/transfer-hpa-ownership':'false'"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_passes(validate_supported, cases[i]);
}

#define YET " is not supported by this version of kscaled: "

static void test_not_supported(void **state)
{
	static const struct { const char *object, *message; } cases[] = {
		{ TARGET("'name':'x','kind':'Rollout','apiVersion':'argoproj.io/v1alpha1'"), "spec.scaleTargetRef: argoproj.io/v1alpha1 Rollout" YET "apps/v1 Deployment and StatefulSet are" },
		{ TARGET("'name':'x','apiVersion':'apps/v1','kind':'ReplicaSet'"), "spec.scaleTargetRef: apps/v1 ReplicaSet" YET "apps/v1 Deployment and StatefulSet are" },
		{ TARGET("'name':'x','apiVersion':'v1','kind':'ReplicationController'"), "spec.scaleTargetRef: v1 ReplicationController" YET "apps/v1 Deployment and StatefulSet are" },
		{ TARGET("'name':'x','apiVersion':'extensions/v1beta1'"), "spec.scaleTargetRef: extensions/v1beta1 Deployment" YET "apps/v1 Deployment and StatefulSet are" },
		{ SPEC("'fallback':{'failureThreshold':3,'replicas':6}"), "spec.fallback" YET "remove it (while a trigger fails, nothing is scaled in)" },
		{ ADVANCED("'scalingModifiers':{'formula':'a'}"), "spec.advanced.scalingModifiers" YET "remove it" },
		{ ADVANCED("'scalingModifiers':{'metricType':'Value'}"), "spec.advanced.scalingModifiers" YET "remove it" },
		{ TRIGGER("'type':'redis','useCachedMetrics':true"), "spec.triggers[0].useCachedMetrics" YET "remove it (readings are shared between all who ask anyway)" },
		{ GIVEN_SO("", GIVEN_TARGET ",'triggers':[{'type':'a'},{'type':'redis','authenticationRef':{'name':'ta'}}]"),
		  "spec.triggers[1].authenticationRef" YET "give the credentials by ...FromEnv from plain values of the workload's environment" },
		{ ANNOTATED("'autoscaling.keda.sh/paused':'true'"), "metadata.annotations[autoscaling.keda.sh/paused]" YET "remove the annotation" },
		{ ANNOTATED("'autoscaling.keda.sh/paused':'no'"), "metadata.annotations[autoscaling.keda.sh/paused]" YET "remove the annotation" }, /* unreadable: true for KEDA */
		{ ANNOTATED("'autoscaling.keda.sh/paused':''"), "metadata.annotations[autoscaling.keda.sh/paused]" YET "remove the annotation" },
		{ ANNOTATED("'autoscaling.keda.sh/paused-replicas':'0'"), "metadata.annotations[autoscaling.keda.sh/paused-replicas]" YET "remove the annotation" }, /* a number, not a false */
		{ ANNOTATED("'autoscaling.keda.sh/paused-scale-in':'true'"), "metadata.annotations[autoscaling.keda.sh/paused-scale-in]" YET "remove the annotation" },
		{ ANNOTATED("'autoscaling.keda.sh/paused-scale-out':'1'"), "metadata.annotations[autoscaling.keda.sh/paused-scale-out]" YET "remove the annotation" },
		{ ANNOTATED("'autoscaling.keda.sh/force-activation':'t'"), "metadata.annotations[autoscaling.keda.sh/force-activation]" YET "remove the annotation" },
		{ ANNOTATED("'autoscaling.keda.sh/of-tomorrow':'x'"), "metadata.annotations[autoscaling.keda.sh/of-tomorrow]" YET "remove the annotation" },
		{ ANNOTATED("'scaledobject.keda.sh/transfer-hpa-ownership':'true'"), "metadata.annotations[scaledobject.keda.sh/transfer-hpa-ownership]" YET "remove the annotation" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_refused(validate_supported, cases[i].object, cases[i].message);
}

/* KEDA's step texts in front. */
static void test_for_reconcile(void **state)
{
	(void)state;
	check_passes(validate_for_reconcile, GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS));
	check_refused(validate_for_reconcile, GIVEN_SO("", GIVEN_TRIGGERS), "ScaledObject doesn't have correct scaleTargetRef specification: spec.scaleTargetRef.name: missing: name the workload to scale");
	check_refused(validate_for_reconcile, SPEC("'maxReplicaCount':0"), "ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification: spec.maxReplicaCount: 0 is too small: at least 1");
	check_refused(validate_for_reconcile, GIVEN_SO("", GIVEN_TARGET), "ScaledObject doesn't have correct triggers specification: spec.triggers: no triggers defined in the ScaledObject: at least one is needed");
	check_refused(validate_for_reconcile, GIVEN_SO("", GIVEN_TARGET ",'triggers':3"), "spec.triggers: must be an array, not a number");
	check_refused(validate_for_reconcile, ADVANCED("'scalingModifiers':{'formula':'a'}"), "spec.advanced.scalingModifiers" YET "remove it");
}

/* A name of any length and any bytes gives a message, not an overflow. */
static void test_long_texts(void **state)
{
	size_t len = 100000;
	char *name = mem_zalloc(len + 1), *text;

	(void)state;
	memset(name, 'x', len);
	text = mem_printf("{'metadata':{'name':'web','annotations':{'autoscaling.keda.sh/%s':''}},'spec':{'scaleTargetRef':{'name':'%s','kind':'%s','apiVersion':'%s/v1'},'advanced':{'horizontalPodAutoscalerConfig':{'name':'%s'}},"
			  "'triggers':[{'type':'%s','name':'%s','metricType':'%s'}]}}", name, name, name, name, name, name, name, name);
	{
		struct scaledobject *so = given_scaledobject(text);
		struct err err = { 0 };

		assert_int_equal(validate_scaledobject(so, &err), -1);
		free(so->spec.target_name);
		so->spec.target_name = mem_dup("web");
		assert_int_equal(validate_scaledobject(so, &err), -1);
		assert_has(err.msg, "kind");
		free(so->spec.target_kind);
		so->spec.target_kind = NULL;
		assert_int_equal(validate_scaledobject(so, &err), -1);
		assert_has(err.msg, "apiVersion");
		free(so->spec.target_api_version);
		so->spec.target_api_version = NULL;
		assert_int_equal(validate_scaledobject(so, &err), -1);
		assert_has(err.msg, "metricType");
		free(so->spec.triggers[0].metric_type);
		so->spec.triggers[0].metric_type = NULL;
		assert_int_equal(validate_scaledobject(so, &err), -1);
		assert_has(err.msg, "HorizontalPodAutoscaler");
		assert_int_equal(validate_supported(so, &err), -1);
		assert_has(err.msg, "metadata.annotations[autoscaling.keda.sh/xxx");
		scaledobject_free(so);
	}
	free(text);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_supported),
		cmocka_unit_test(test_not_supported),
		cmocka_unit_test(test_for_reconcile),
		cmocka_unit_test(test_long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
