/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/validate/validate.h"

#include "../../crd/given.h"

#define NAME63                 "a23456789012345678901234567890123456789012345678901234567890123"
#define SJ(fields)             GIVEN_SJ("", GIVEN_TEMPLATE "," GIVEN_TRIGGERS "," fields)
#define STRATEGY(fields)       SJ("'scalingStrategy':{" fields "}")
#define TEMPLATE(template)     GIVEN_SJ("", "'jobTargetRef':" template "," GIVEN_TRIGGERS)
#define TRIGGERS(list)         GIVEN_SJ("", GIVEN_TEMPLATE ",'triggers':[" list "]")
#define ANNOTATED(annotations) GIVEN_SJ(",'annotations':{" annotations "}", GIVEN_TEMPLATE "," GIVEN_TRIGGERS)
#define NAMED(name)            "{'metadata':{'name':'" name "'},'spec':{" GIVEN_TEMPLATE "," GIVEN_TRIGGERS "}}"

static void test_good(void **state)
{
	static const char *const cases[] = {
		GIVEN_SJ("", GIVEN_TEMPLATE "," GIVEN_TRIGGERS),
		SJ("'pollingInterval':1,'successfulJobsHistoryLimit':0,'failedJobsHistoryLimit':0,'minReplicaCount':0,'"
		   "maxReplicaCount':1"),
		SJ("'minReplicaCount':5,'maxReplicaCount':2"), /* clamped, as KEDA does */
		/* warned of */
		STRATEGY("'strategy':'somehow','multipleScalersCalculation':'median','"
			 "customScalingQueueLengthDeduction':-3"),
		SJ("'rollout':{'strategy':'slowly','propagationPolicy':'orphan'}"),
		TEMPLATE("{'ttlSecondsAfterFinished':60,'template':{}}"),
		ANNOTATED("'autoscaling.keda.sh/paused':'true','autoscaling.keda.sh/"
			  "paused-replicas':'x','autoscaling.keda.sh/force-activation':'perhaps'"),
		TRIGGERS("{'type':'redis','useCachedMetrics':true},{'type':'cron'}"),
		NAMED(NAME63),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob *sj = given_scaledjob(cases[i]);
		const char *reason = "";
		struct err err = { 0 };

		if (validate_admission(scaled_of_job(sj), &reason, &err) != 0 ||
			validate_for_reconcile(scaled_of_job(sj), NULL, &err) != 0)
			fail_msg("%s: %s", cases[i], err.msg);
		assert_null(reason);
		scaledjob_free(sj);
	}
}

#define TRIGGERS_STEP "ScaledJob doesn't have correct triggers specification: "

static void test_refused(void **state)
{
	static const struct {
		const char *object, *reason, *step, *message;
	} cases[] = {
		{ SJ("'minReplicaCount':'1'"), "incorrect-spec", "",
			"spec.minReplicaCount: must be a whole number, not a string" },
		{ TEMPLATE("'x'"), "incorrect-spec", "", "spec.jobTargetRef: must be an object, not a string" },
		{ "{'metadata':{'name':'work'}}", "incorrect-spec", "", "spec: missing" },
		{ GIVEN_SJ("", GIVEN_TRIGGERS), "missing-job", "ScaledJob.spec.jobTargetRef not found: ",
			"spec.jobTargetRef: missing: say what each Job looks like, as the spec of a batch/v1 Job "
			"does" },
		{ TEMPLATE("null"), "missing-job", "ScaledJob.spec.jobTargetRef not found: ",
			"spec.jobTargetRef: missing: say what each Job looks like, as the spec of a batch/v1 Job "
			"does" },
		{ TEMPLATE("{}"), "incorrect-job", "",
			"spec.jobTargetRef.template: missing: a Job needs the template of its Pods" },
		{ TEMPLATE("{'template':null}"), "incorrect-job", "",
			"spec.jobTargetRef.template: missing: a Job needs the template of its Pods" },
		{ TEMPLATE("{'template':[]}"), "incorrect-job", "",
			"spec.jobTargetRef.template: must be an object: the template of the Job's Pods" },
		{ GIVEN_SJ("", GIVEN_TEMPLATE), "incorrect-triggers", TRIGGERS_STEP,
			"spec.triggers: no triggers defined in the ScaledJob: at least one is needed" },
		{ TRIGGERS("{'type':'a','name':'x'},{'type':'b','name':'x'}"), "incorrect-triggers", TRIGGERS_STEP,
			"spec.triggers: the name \"x\" is used twice: each trigger needs a name of its own" },
		{ TRIGGERS("{'type':'cron','useCachedMetrics':true}"), "incorrect-triggers", TRIGGERS_STEP,
			"spec.triggers[0].useCachedMetrics: property \"useCachedMetrics\" is not supported for "
			"\"cron\" scaler: remove it" },
		{ NAMED(NAME63 "4"), "name-too-long", "",
			"metadata.name: \"" NAME63 "4\" has 64 characters: at most 63, as it becomes the value of a "
			"label: create it anew under a shorter name" },
		{ SJ("'minReplicaCount':-1"), "incorrect-replicas", "",
			"spec.minReplicaCount: -1 is too small: at least 0" },
		{ SJ("'maxReplicaCount':0"), "incorrect-replicas", "",
			"spec.maxReplicaCount: 0 is too small: at least 1" },
		{ SJ("'successfulJobsHistoryLimit':-2"), "incorrect-history", "",
			"spec.successfulJobsHistoryLimit: -2 is too small: at least 0" },
		{ SJ("'failedJobsHistoryLimit':-1"), "incorrect-history", "",
			"spec.failedJobsHistoryLimit: -1 is too small: at least 0" },
		{ SJ("'pollingInterval':0"), "incorrect-periods", "",
			"spec.pollingInterval: 0 is too small: at least 1" },
		{ ANNOTATED("'autoscaling.keda.sh/paused':'yes'"), "incorrect-annotations", "",
			"metadata.annotations[autoscaling.keda.sh/paused]: \"yes\" is neither true nor false" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob *sj = given_scaledjob(cases[i].object);
		char *with_step = mem_printf("%s%s", cases[i].step, cases[i].message);
		const char *reason = "";
		struct err err = { 0 };

		if (validate_admission(scaled_of_job(sj), &reason, &err) != -1)
			fail_msg("%s: not refused", cases[i].object);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_string_equal(err.msg, cases[i].message);
		assert_string_equal(reason, cases[i].reason);
		assert_int_equal(validate_for_reconcile(scaled_of_job(sj), NULL, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_string_equal(err.msg, with_step);
		assert_int_equal(validate_admission(scaled_of_job(sj), NULL, NULL), -1);
		assert_int_equal(validate_for_reconcile(scaled_of_job(sj), NULL, NULL), -1);
		free(with_step);
		scaledjob_free(sj);
	}
}

#define METRIC_TYPE "spec.triggers: metricType cannot be set in a ScaledJob: nothing is scaled until it is removed"

/* KEDA's webhook lets it in, and its reconciler does not. */
static void test_metric_type(void **state)
{
	static const char *const types[] = { "AverageValue", "Value" };
	struct scaledjob *sj;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		char *text = mem_printf(TRIGGERS("{'type':'redis','metricType':''},{'type':'redis','metricType':'%s'}"),
			types[i]);
		char *message = mem_printf("Cannot set metricType in ScaledJob triggers: spec.triggers[1].metricType: "
					   "\"%s\": remove it: a ScaledJob always compares what is to be done with the "
					   "work for one Job (AverageValue)",
			types[i]);
		const char *warnings[VALIDATE_JOB_WARNINGS_MAX];

		sj = given_scaledjob(text);
		assert_int_equal(validate_admission(scaled_of_job(sj), NULL, NULL), 0);
		assert_int_equal(validate_job_warnings(sj, warnings), 1);
		assert_string_equal(warnings[0], METRIC_TYPE);
		assert_int_equal(validate_for_reconcile(scaled_of_job(sj), NULL, &err), -1);
		assert_string_equal(err.msg, message);
		assert_int_equal(err.kind, ERR_INVALID);
		scaledjob_free(sj);
		free(text);
		free(message);
	}
	/* An unknown word is refused at once, and the reconciler does not ask for another one. */
	sj = given_scaledjob(TRIGGERS("{'type':'redis','metricType':'Sum'}"));
	assert_int_equal(validate_admission(scaled_of_job(sj), NULL, &err), -1);
	assert_string_equal(err.msg,
		"spec.triggers[0].metricType: \"Sum\" is unknown: AverageValue, Value or, for cpu and memory, "
		"Utilization");
	assert_int_equal(validate_for_reconcile(scaled_of_job(sj), NULL, &err), -1);
	assert_has(err.msg,
		"Cannot set metricType in ScaledJob triggers: spec.triggers[0].metricType: \"Sum\": remove it");
	scaledjob_free(sj);
}

struct told {
	size_t count;
	char texts[8][ERR_MSG_MAX];
};

static void on_fault(void *arg, const struct err *err)
{
	struct told *told = arg;

	assert_in_range(told->count, 0, 7);
	assert_int_equal(err->kind, ERR_INVALID);
	memcpy(told->texts[told->count++], err->msg, sizeof(err->msg));
}

static void test_every(void **state)
{
	struct scaledjob *sj = given_scaledjob(GIVEN_SJ(",'annotations':{'autoscaling.keda.sh/paused':'x'}",
		"'jobTargetRef':{},'pollingInterval':-1,'minReplicaCount':-1,'maxReplicaCount':-1,'triggers':[{'type':'"
		"a','metricType':'Value'}]"));
	static const char *const wanted[] = { "spec.jobTargetRef.template: missing",
		"spec.triggers[0].metricType: \"Value\": remove it", "spec.minReplicaCount: -1",
		"spec.pollingInterval: -1", "metadata.annotations[autoscaling.keda.sh/paused]" };
	struct told told = { 0 };

	(void)state;
	validate_every(scaled_of_job(sj), on_fault, &told);
	assert_int_equal(told.count, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < told.count; i++)
		assert_has(told.texts[i], wanted[i]);
	scaledjob_free(sj);

	/* undecoded objects are not validated further */
	sj = given_scaledjob(GIVEN_SJ("", "'triggers':3"));
	told.count = 0;
	validate_every(scaled_of_job(sj), on_fault, &told);
	assert_int_equal(told.count, 1);
	assert_has(told.texts[0], "spec.triggers: must be an array");
	scaledjob_free(sj);

	/* no jobTargetRef is one fault, not two */
	sj = given_scaledjob(GIVEN_SJ("", GIVEN_TRIGGERS));
	told.count = 0;
	validate_every(scaled_of_job(sj), on_fault, &told);
	assert_int_equal(told.count, 1);
	scaledjob_free(sj);
}

/*
 * Let in, as KEDA does, and refused by the reconciler, with words that lead somewhere: neither
 * giving it a metricType nor taking it away would help.
 */
static void test_resource_types(void **state)
{
	static const struct {
		const char *object, *message;
	} cases[] = {
		{ TRIGGERS("{'type':'cpu'}"), "spec.triggers[0].type: \"cpu\": remove this trigger" },
		{ TRIGGERS("{'type':'redis'},{'type':'memory','metricType':'Utilization'}"),
			"spec.triggers[1].type: \"memory\": remove this trigger" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob *sj = given_scaledjob(cases[i].object);
		struct told told = { 0 };
		struct err err;

		assert_int_equal(validate_admission(scaled_of_job(sj), NULL, &err), 0);
		assert_int_equal(validate_for_reconcile(scaled_of_job(sj), NULL, &err), -1);
		assert_has(err.msg, cases[i].message);
		validate_every(scaled_of_job(sj), on_fault, &told);
		assert_int_equal(told.count, 1);
		scaledjob_free(sj);
	}
}

/* Each warning by a part of it, in order; parts are separated by '|'. */
static void check_warnings(const char *object, const char *parts)
{
	struct scaledjob *sj = given_scaledjob(object);
	const char *texts[VALIDATE_JOB_WARNINGS_MAX];
	size_t count = validate_job_warnings(sj, texts), wanted = 0;
	char *list = mem_dup(parts), *rest = list;

	for (char *part = strsep(&rest, "|"); part != NULL && *parts != '\0'; part = strsep(&rest, "|"), wanted++) {
		if (wanted >= count)
			fail_msg("%s: no warning \"%s\"", object, part);
		assert_has(texts[wanted], part);
	}
	if (count != wanted)
		fail_msg("%s: also \"%s\"", object, texts[wanted]);
	free(list);
	scaledjob_free(sj);
}

#define PODS      "pendingPodConditions has no effect"
#define CUSTOM    "customScalingRunningJobPercentage have no effect without strategy custom"
#define NO_NUMBER "customScalingRunningJobPercentage is not a number"

static void test_warnings(void **state)
{
	static const struct {
		const char *object, *parts;
	} cases[] = {
		{ GIVEN_SJ("", GIVEN_TEMPLATE "," GIVEN_TRIGGERS), "" },
		{ TEMPLATE("{'ttlSecondsAfterFinished':60,'template':{}}"), "" },
		{ TRIGGERS("{'type':'redis','useCachedMetrics':true}"), "useCachedMetrics has no effect" },
		{ TRIGGERS("{'type':'redis'},{'type':'cpu'}"),
			"cpu and memory cannot be used in a ScaledJob: nothing is scaled until they are removed" },
		/* and not that metricType is the problem */
		{ TRIGGERS("{'type':'memory','metricType':'Utilization'},{'type':'cpu'}"),
			"cpu and memory cannot be used" },
		{ SJ("'minReplicaCount':3,'maxReplicaCount':2"), "minReplicaCount is more than maxReplicaCount" },
		{ SJ("'minReplicaCount':2,'maxReplicaCount':2"), "" },
		{ SJ("'minReplicaCount':200"), "" }, /* nothing is clamped by the default */
		{ STRATEGY("'strategy':'custom','customScalingRunningJobPercentage':'0.5','"
			   "customScalingQueueLengthDeduction':1"),
			"" },
		{ STRATEGY("'strategy':'custom','customScalingRunningJobPercentage':'half'"), NO_NUMBER },
		{ STRATEGY("'strategy':'custom','customScalingRunningJobPercentage':'50%'"), NO_NUMBER },
		{ STRATEGY("'strategy':'custom','customScalingQueueLengthDeduction':1"), NO_NUMBER },
		{ STRATEGY("'strategy':'eager','customScalingQueueLengthDeduction':0"), CUSTOM },
		{ STRATEGY("'customScalingRunningJobPercentage':'0.5'"), CUSTOM },
		{ STRATEGY("'strategy':'accurate','pendingPodConditions':['Ready']"), "" },
		{ STRATEGY("'strategy':'eager','pendingPodConditions':['Ready']"), "" },
		{ STRATEGY("'pendingPodConditions':['Ready']"), PODS },
		{ STRATEGY("'strategy':'custom','customScalingRunningJobPercentage':'1','pendingPodConditions':['Ready'"
			   "]"),
			PODS },
		{ STRATEGY("'strategy':'Eager'"),
			"strategy must be default, custom, accurate or eager: it is taken as default" },
		{ STRATEGY("'multipleScalersCalculation':'median'"),
			"multipleScalersCalculation must be max, min, avg or sum: it is taken as max" },
		{ STRATEGY("'strategy':'default','multipleScalersCalculation':'max'"), "" },
		{ STRATEGY("'multipleScalersCalculation':'sum'"), "" },
		{ SJ("'rolloutStrategy':'default'"), "neither gradual nor immediate: it is taken as immediate" },
		{ SJ("'rollout':{'strategy':'slowly','propagationPolicy':'Foreground'}"),
			"neither gradual nor immediate|neither background nor foreground: it is taken as background" },
		{ SJ("'rollout':{'strategy':'gradual','propagationPolicy':'background'}"), "" },
		{ SJ("'rolloutStrategy':'immediate','rollout':{'propagationPolicy':'foreground'}"), "" },
		{ ANNOTATED("'autoscaling.keda.sh/paused':'true'"), "" },
		{ ANNOTATED("'autoscaling.keda.sh/paused-replicas':'0','autoscaling.keda.sh/"
			    "paused-scale-in':'true','autoscaling.keda.sh/"
			    "paused-scale-out':'false','autoscaling.keda.sh/force-activation':'true'"),
			"annotations[autoscaling.keda.sh/paused-replicas]|annotations[autoscaling.keda.sh/"
			"paused-scale-in]|annotations[autoscaling.keda.sh/"
			"paused-scale-out]|annotations[autoscaling.keda.sh/force-activation]" },
		/* as many as there can be at once */
		{ "{'metadata':{'name':'w','annotations':{'autoscaling.keda.sh/"
		  "paused-replicas':'','autoscaling.keda.sh/paused-scale-in':'','autoscaling.keda.sh/"
		  "paused-scale-out':'','autoscaling.keda.sh/force-activation':''}},'spec':{"
		  "'rollout':{'strategy':'x','propagationPolicy':'x'},'minReplicaCount':2,'maxReplicaCount':1,"
		  "'scalingStrategy':{'strategy':'x','customScalingQueueLengthDeduction':1,'pendingPodConditions':['a']"
		  ",'multipleScalersCalculation':'x'},'triggers':[{'type':'cpu','metricType':'Value','useCachedMetrics'"
		  ":true}]}}",
			"cpu and memory|useCachedMetrics|minReplicaCount|strategy must "
			"be|customScaling|pendingPodConditions|multipleScalersCalculation|rollout.strategy|"
			"propagationPolicy|paused-replicas|scale-in|scale-out|force-activation" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_warnings(cases[i].object, cases[i].parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_metric_type),
		cmocka_unit_test(test_resource_types),
		cmocka_unit_test(test_every),
		cmocka_unit_test(test_warnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
