/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaledjob.h"

#include "given.h"

#define TEMPLATE_TEXT "{\"template\":{\"spec\":{\"containers\":[{\"image\":\"w:1\",\"name\":\"main\"}]}}}"

static void test_all_fields(void **state)
{
	struct scaledjob *sj = given_scaledjob(
		"{'metadata':{'name':'work','namespace':'shop','uid':'u-2','generation':3},'spec':{" GIVEN_TEMPLATE ","
		"'pollingInterval':5,'successfulJobsHistoryLimit':0,'failedJobsHistoryLimit':7,'minReplicaCount':2,'"
		"maxReplicaCount':9,"
		"'rollout':{'strategy':'gradual','propagationPolicy':'foreground'},'envSourceContainerName':'main',"
		"'scalingStrategy':{'strategy':'custom','customScalingQueueLengthDeduction':-1,'"
		"customScalingRunningJobPercentage':'0.5','pendingPodConditions':['Ready','A'],'"
		"multipleScalersCalculation':'sum'}," GIVEN_TRIGGERS
		"},'status':{'lastActiveTime':'2026-01-02T03:04:05Z','Paused':'x','triggersTypes':'redis','"
		"authenticationsTypes':'ta','externalMetricNames':['s0-redis-jobs'],"
		"'triggersActivity':{'s0-redis-jobs':{'isActive':true}},'conditions':[{'type':'Ready','status':'True','"
		"reason':'ScaledJobReady'}]}}");
	const struct scaledjob_spec *s = &sj->spec;

	(void)state;
	assert_null(sj->spec_err);
	assert_int_equal(sj->meta.generation, 3);
	assert_string_equal(s->template_text, TEMPLATE_TEXT);
	assert_int_equal(scaledjob_polling_interval_s(s), 5);
	assert_int_equal(scaledjob_successful_history(s), 0);
	assert_int_equal(scaledjob_failed_history(s), 7);
	assert_int_equal(s->min_jobs, 2);
	assert_int_equal(s->max_jobs, 9);
	assert_string_equal(s->rollout_strategy, "gradual");
	assert_string_equal(s->propagation_policy, "foreground");
	assert_string_equal(s->env_source_container, "main");
	assert_string_equal(s->strategy, "custom");
	assert_int_equal(s->queue_length_deduction, -1);
	assert_string_equal(s->running_job_percentage, "0.5");
	assert_int_equal(s->pending_condition_count, 2);
	assert_string_equal(s->pending_conditions[0], "Ready");
	assert_string_equal(s->pending_conditions[1], "A");
	assert_string_equal(s->calculation, "sum");
	assert_int_equal(s->trigger_count, 1);
	assert_string_equal(s->triggers[0].type, "redis");
	assert_true(sj->status.last_active_unix_ms == 1767323045000);
	assert_string_equal(sj->status.triggers_types, "redis");
	assert_string_equal(sj->status.authentications_types, "ta");
	assert_int_equal(sj->status.external_metric_count, 1);
	assert_int_equal(sj->status.activity_count, 1);
	assert_true(sj->status.activity[0].active);
	assert_int_equal(sj->status.original_replicas, INT32_UNSET);
	scaledjob_free(sj);
	scaledjob_free(NULL);
}

/* Only required fields; empty words count as absent. */
static void test_defaults(void **state)
{
	static const char *const specs[] = {
		GIVEN_TEMPLATE "," GIVEN_TRIGGERS,
		GIVEN_TEMPLATE ",'scalingStrategy':{},'rollout':{}," GIVEN_TRIGGERS,
		GIVEN_TEMPLATE ",'scalingStrategy':null,'rollout':null,'minReplicaCount':null," GIVEN_TRIGGERS,
		GIVEN_TEMPLATE
		",'rolloutStrategy':'','rollout':{'strategy':'','propagationPolicy':''},'envSourceContainerName':'','"
		"scalingStrategy':{'strategy':'','customScalingRunningJobPercentage':'',"
		"'multipleScalersCalculation':'','pendingPodConditions':[]}," GIVEN_TRIGGERS,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'work'},'spec':{%s}}", specs[i]);
		struct scaledjob *sj = given_scaledjob(text);
		const struct scaledjob_spec *s = &sj->spec;

		assert_null(sj->spec_err);
		assert_int_equal(scaledjob_polling_interval_s(s), 30);
		assert_int_equal(scaledjob_successful_history(s), 100);
		assert_int_equal(scaledjob_failed_history(s), 100);
		assert_int_equal(scaledjob_min(s), 0);
		assert_int_equal(scaledjob_max(s), 100);
		assert_int_equal(s->queue_length_deduction, INT32_UNSET);
		assert_null(s->rollout_strategy);
		assert_null(s->propagation_policy);
		assert_null(s->env_source_container);
		assert_null(s->strategy);
		assert_null(s->running_job_percentage);
		assert_null(s->calculation);
		assert_int_equal(s->pending_condition_count, 0);
		scaledjob_free(sj);
		free(text);
	}
}

/* doc/keda.md 4.2 */
static void test_bounds(void **state)
{
	static const struct {
		int32_t min, max, wanted_min, wanted_max;
	} cases[] = {
		{ INT32_UNSET, INT32_UNSET, 0, 100 },
		{ 0, INT32_UNSET, 0, 100 },
		{ 5, INT32_UNSET, 5, 100 }, /* not subtracted from the default maximum */
		{ 500, INT32_UNSET, 500, 100 },
		{ INT32_UNSET, 10, 0, 10 },
		{ 3, 10, 3, 7 },
		{ 10, 10, 10, 0 },
		{ 11, 10, 10, 10 },
		{ INT32_MAX, 1, 1, 1 },
		{ 0, INT32_MAX, 0, INT32_MAX },
		{ INT32_MAX, INT32_MAX, INT32_MAX, 0 },
		/* values that validation refuses create nothing, and do not overflow */
		{ -5, 10, 0, 10 },
		{ -INT32_MAX, INT32_MAX, 0, INT32_MAX },
		{ 3, -1, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct scaledjob_spec s = { .min_jobs = cases[i].min,
			.max_jobs = cases[i].max,
			.successful_history = -1,
			.failed_history = -7 };

		if (scaledjob_min(&s) != cases[i].wanted_min || scaledjob_max(&s) != cases[i].wanted_max)
			fail_msg("min %d, max %d: %d and %d", (int)cases[i].min, (int)cases[i].max,
				(int)scaledjob_min(&s), (int)scaledjob_max(&s));
		assert_int_equal(scaledjob_successful_history(&s), 100);
		assert_int_equal(scaledjob_failed_history(&s), 100);
	}
}

static void test_rollout_strategy(void **state)
{
	static const struct {
		const char *spec, *wanted;
	} cases[] = {
		{ "'rolloutStrategy':'immediate','rollout':{'strategy':'gradual'}", "immediate" },
		{ "'rolloutStrategy':'','rollout':{'strategy':'gradual'}", "gradual" },
		{ "'rolloutStrategy':null,'rollout':{'strategy':'gradual'}", "gradual" },
		{ "'rolloutStrategy':'gradual'", "gradual" },
		{ "'rollout':{'strategy':'immediate'}", "immediate" },
		{ "'rollout':{'propagationPolicy':'foreground'}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'work'},'spec':{" GIVEN_TEMPLATE ",%s}}", cases[i].spec);
		struct scaledjob *sj = given_scaledjob(text);

		assert_null(sj->spec_err);
		if (cases[i].wanted != NULL)
			assert_string_equal(sj->spec.rollout_strategy, cases[i].wanted);
		else
			assert_null(sj->spec.rollout_strategy);
		scaledjob_free(sj);
		free(text);
	}
}

/* An error names its path; the object, its status and the rest of its spec are decoded anyway. */
static void test_wrong(void **state)
{
	static const struct {
		const char *spec, *message;
	} cases[] = {
		{ "'jobTargetRef':'x'", "spec.jobTargetRef: must be an object, not a string" },
		{ "'jobTargetRef':[]", "spec.jobTargetRef: must be an object, not an array" },
		{ "'pollingInterval':'5'", "spec.pollingInterval: must be a whole number, not a string" },
		{ "'minReplicaCount':-2147483648", "spec.minReplicaCount: is out of range" },
		{ "'maxReplicaCount':2147483648", "spec.maxReplicaCount: must be from" },
		{ "'successfulJobsHistoryLimit':1.5", "spec.successfulJobsHistoryLimit: must be a whole number" },
		{ "'failedJobsHistoryLimit':true",
			"spec.failedJobsHistoryLimit: must be a whole number, not a boolean" },
		{ "'rolloutStrategy':1", "spec.rolloutStrategy: must be a string, not a number" },
		{ "'rollout':'gradual'", "spec.rollout: must be an object, not a string" },
		{ "'rollout':{'strategy':[]}", "spec.rollout.strategy: must be a string, not an array" },
		{ "'rollout':{'propagationPolicy':{}}",
			"spec.rollout.propagationPolicy: must be a string, not an object" },
		{ "'rolloutStrategy':1,'rollout':2", "spec.rolloutStrategy: must be a string, not a number" },
		{ "'envSourceContainerName':0", "spec.envSourceContainerName: must be a string, not a number" },
		{ "'scalingStrategy':'eager'", "spec.scalingStrategy: must be an object, not a string" },
		{ "'scalingStrategy':{'strategy':true}",
			"spec.scalingStrategy.strategy: must be a string, not a boolean" },
		{ "'scalingStrategy':{'customScalingQueueLengthDeduction':'1'}",
			"spec.scalingStrategy.customScalingQueueLengthDeduction: must be a whole number, not a "
			"string" },
		{ "'scalingStrategy':{'customScalingRunningJobPercentage':0.5}",
			"spec.scalingStrategy.customScalingRunningJobPercentage: must be a string, not a number" },
		{ "'scalingStrategy':{'multipleScalersCalculation':1}",
			"spec.scalingStrategy.multipleScalersCalculation: must be a string, not a number" },
		{ "'scalingStrategy':{'pendingPodConditions':'Ready'}",
			"spec.scalingStrategy.pendingPodConditions: must be an array, not a string" },
		{ "'scalingStrategy':{'pendingPodConditions':['Ready',1]}",
			"spec.scalingStrategy.pendingPodConditions[1]: must be a string, the type of a Pod's "
			"condition" },
		{ "'scalingStrategy':{'pendingPodConditions':['a\\u0000b']}",
			"spec.scalingStrategy.pendingPodConditions[0]: must be a string, the type of a Pod's "
			"condition" },
		{ "'triggers':[{'type':'a','metadata':{'n':5}}]",
			"spec.triggers[0].metadata.n: must be a string, not a number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'work'},'spec':{%s},'status':{'triggersTypes':'kept'}}",
			cases[i].spec);
		struct scaledjob *sj = given_scaledjob(text);

		assert_non_null(sj->spec_err);
		assert_int_equal(sj->spec_err->kind, ERR_INVALID);
		assert_has(sj->spec_err->msg, cases[i].message);
		assert_string_equal(sj->meta.name, "work");
		assert_string_equal(sj->status.triggers_types, "kept");
		scaledjob_free(sj);
		free(text);
	}
}

static void test_no_spec(void **state)
{
	static const struct {
		const char *object, *message;
	} cases[] = {
		{ "{'metadata':{'name':'work'}}", "spec: missing" },
		{ "{'metadata':{'name':'work'},'spec':null}", "spec: missing" },
		{ "{'metadata':{'name':'work'},'spec':[]}", "spec: must be an object, not an array" },
	};
	json_t *nameless = given_json("{'metadata':{},'spec':{}}");
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob *sj = given_scaledjob(cases[i].object);

		assert_has(sj->spec_err->msg, cases[i].message);
		assert_int_equal(sj->spec.min_jobs, INT32_UNSET);
		assert_null(sj->spec.template_text);
		scaledjob_free(sj);
	}
	assert_null(scaledjob_decode(nameless, &err));
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, "metadata.name: missing");
	json_decref(nameless);
}

/* The first error is reported, and everything readable is read. */
static void test_partly_wrong(void **state)
{
	struct scaledjob *sj = given_scaledjob(GIVEN_SJ("",
		"'minReplicaCount':'x','maxReplicaCount':7,'scalingStrategy':3,'rollout':{'strategy':'gradual'}"
		"," GIVEN_TEMPLATE "," GIVEN_TRIGGERS));

	(void)state;
	assert_has(sj->spec_err->msg, "spec.minReplicaCount");
	assert_int_equal(sj->spec.max_jobs, 7);
	assert_string_equal(sj->spec.rollout_strategy, "gradual");
	assert_string_equal(sj->spec.template_text, TEMPLATE_TEXT);
	assert_int_equal(sj->spec.trigger_count, 1);
	scaledjob_free(sj);
}

static struct scaledjob *with_template(json_t *template)
{
	json_t *object = json_pack("{s:{s:s}, s:{s:o}}", "metadata", "name", "work", "spec", "jobTargetRef", template);
	struct scaledjob *sj = scaledjob_decode(object, NULL);

	json_decref(object);
	assert_non_null(sj);
	return sj;
}

/*
 * The order of the keys does not matter; everything else does. The fingerprint of a text never
 * changes: Jobs carry it from one version of kscaled to the next.
 */
static void test_fingerprint(void **state)
{
	static const char base[] = "{'template':{'spec':{'containers':[{'name':'main','image':'w:1'}]}}}";
	static const struct {
		const char *template;
		bool same;
	} cases[] = {
		{ "{'template':{'spec':{'containers':[{'image':'w:1','name':'main'}]}}}", true },
		{ "{ 'template' : {'spec':{'containers':[{'image':'w:1','name':'main'}]}} }", true },
		{ "{'template':{'spec':{'containers':[{'image':'w:2','name':'main'}]}}}", false },
		{ "{'template':{'spec':{'containers':[{'image':'w:1','name':'main'}]}},'parallelism':1}", false },
		{ "{'template':{'spec':{'containers':[{'image':'w:1','name':'main'},{'name':'b'}]}}}", false },
		{ "{}", false },
	};
	struct scaledjob *of_base = with_template(given_json(base));

	(void)state;
	assert_string_equal(of_base->spec.template_print, "f58693991d96ea17");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledjob *sj = with_template(given_json(cases[i].template));

		assert_int_equal(strlen(sj->spec.template_print), 16);
		if ((strcmp(sj->spec.template_print, of_base->spec.template_print) == 0) != cases[i].same)
			fail_msg("%s: %s", cases[i].template, sj->spec.template_print);
		scaledjob_free(sj);
	}
	scaledjob_free(of_base);
}

/* {"x":"vvv"}: eight bytes around the value */
static struct scaledjob *with_template_of(size_t bytes)
{
	char *value = mem_zalloc(bytes - 8 + 1);
	struct scaledjob *sj;

	memset(value, 'v', bytes - 8);
	sj = with_template(json_pack("{s:s}", "x", value));
	free(value);
	return sj;
}

static void test_template_too_long(void **state)
{
	struct scaledjob *sj = with_template_of(SCALEDJOB_TEMPLATE_BYTES_MAX);

	(void)state;
	assert_null(sj->spec_err);
	assert_int_equal(strlen(sj->spec.template_text), SCALEDJOB_TEMPLATE_BYTES_MAX);
	scaledjob_free(sj);
	sj = with_template_of(SCALEDJOB_TEMPLATE_BYTES_MAX + 1);
	assert_string_equal(sj->spec_err->msg, "spec.jobTargetRef: too long: 1048577 bytes, at most 1048576");
	assert_int_equal(sj->spec_err->kind, ERR_INVALID);
	assert_null(sj->spec.template_text);
	assert_string_equal(sj->spec.template_print, "");
	scaledjob_free(sj);
}

static void test_too_many_conditions(void **state)
{
	json_t *list = json_array(), *object;
	struct scaledjob *sj;

	(void)state;
	for (size_t i = 0; i <= SCALEDJOB_CONDITIONS_MAX; i++)
		json_array_append_new(list, json_string("Ready"));
	object = json_pack("{s:{s:s}, s:{s:{s:o}}}", "metadata", "name", "work", "spec", "scalingStrategy",
		"pendingPodConditions", list);
	sj = scaledjob_decode(object, NULL);
	assert_string_equal(sj->spec_err->msg,
		"spec.scalingStrategy.pendingPodConditions: 101 entries are too many: at most 100");
	assert_int_equal(sj->spec.pending_condition_count, 0);
	scaledjob_free(sj);
	json_array_remove(json_object_get(json_object_get(json_object_get(object, "spec"), "scalingStrategy"),
				  "pendingPodConditions"),
		0);
	sj = scaledjob_decode(object, NULL);
	assert_null(sj->spec_err);
	assert_int_equal(sj->spec.pending_condition_count, 100);
	scaledjob_free(sj);
	json_decref(object);
}

/* The environment of its own Pods. */
static void test_workload(void **state)
{
	struct scaledjob *sj = given_scaledjob(GIVEN_SJ(",'generation':4,'resourceVersion':'9'",
		"'jobTargetRef':{'parallelism':3,'template':{'spec':{'containers':[{'name':'main','env':[{'name':'HOST'"
		",'value':'redis'}]},{'name':'side'}]}}}"));
	struct workload *w = scaledjob_workload(sj);

	(void)state;
	assert_string_equal(w->namespace_, "shop");
	assert_string_equal(w->name, "work");
	assert_string_equal(w->uid, "u-2");
	assert_string_equal(w->resource_version, "9");
	assert_int_equal(w->generation, 4);
	assert_int_equal(w->container_count, 2);
	assert_string_equal(w->containers[0].env[0].name, "HOST");
	assert_string_equal(w->containers[0].env[0].value, "redis");
	workload_free(w);
	scaledjob_free(sj);
}

static void test_no_workload(void **state)
{
	static const char *const empty[] = { "{}", "{'template':null}", "{'template':[]}", "{'template':{'spec':7}}",
		"{'template':{'spec':{'containers':{}}}}" };
	struct scaledjob *sj = given_scaledjob(GIVEN_SJ("", GIVEN_TRIGGERS));

	(void)state;
	assert_null(scaledjob_workload(sj));
	scaledjob_free(sj);
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		struct workload *w;

		sj = with_template(given_json(empty[i]));
		w = scaledjob_workload(sj);
		assert_int_equal(w->container_count, 0);
		workload_free(w);
		scaledjob_free(sj);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_rollout_strategy),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_no_spec),
		cmocka_unit_test(test_partly_wrong),
		cmocka_unit_test(test_fingerprint),
		cmocka_unit_test(test_template_too_long),
		cmocka_unit_test(test_too_many_conditions),
		cmocka_unit_test(test_workload),
		cmocka_unit_test(test_no_workload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
