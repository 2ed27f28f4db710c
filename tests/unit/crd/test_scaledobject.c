/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaledobject.h"

#include "given.h"

static void test_all_fields(void **state)
{
	struct scaledobject *so = given_scaledobject(GIVEN_SO(",'generation':3",
		"'scaleTargetRef':{'apiVersion':'apps/"
		"v1','kind':'StatefulSet','name':'db','envSourceContainerName':'main'},"
		"'pollingInterval':5,'cooldownPeriod':0,'initialCooldownPeriod':7,'idleReplicaCount':0,'"
		"minReplicaCount':2,'maxReplicaCount':2147483647,"
		"'advanced':{'restoreToOriginalReplicaCount':true,'horizontalPodAutoscalerConfig':{'name':'mine','"
		"behavior':{'scaleUp':{'tolerance':0.1}}},"
		"'scalingModifiers':{'formula':'a+b','target':'2'}},"
		"'fallback':{'failureThreshold':3,'replicas':6,'behavior':'static'},"
		"'triggers':[{'type':'redis','name':'one','metricType':'Value','useCachedMetrics':true,'metadata':{'b':"
		"'2','a':'1'},'authenticationRef':{'name':'ta','kind':'ClusterTriggerAuthentication'}},"
		"{'type':'cron','metadata':{}}]"));
	const struct scaledobject_spec *s = &so->spec;
	struct err err = { 0 };
	char group[254], version[254], name[300];

	(void)state;
	assert_null(so->spec_err);
	assert_int_equal(so->meta.generation, 3);
	assert_string_equal(s->env_source_container, "main");
	assert_int_equal(s->polling_interval_s, 5);
	assert_int_equal(scaledobject_polling_interval_s(s), 5);
	assert_int_equal(scaledobject_cooldown_s(s), 0);
	assert_int_equal(s->initial_cooldown_s, 7);
	assert_int_equal(s->idle_replicas, 0);
	assert_int_equal(scaledobject_min(s), 2);
	assert_int_equal(scaledobject_hpa_min(s), 2);
	assert_int_equal(scaledobject_hpa_max(s), INT32_MAX);
	assert_true(s->restore_to_original);
	assert_string_equal(s->hpa_behavior, "{\"scaleUp\":{\"tolerance\":\"0.1\"}}");
	assert_string_equal(s->modifiers->formula, "a+b");
	assert_null(s->modifiers->metric_type);
	assert_int_equal(s->fallback->failure_threshold, 3);
	assert_int_equal(s->fallback->replicas, 6);
	assert_int_equal(s->trigger_count, 2);
	assert_string_equal(s->triggers[0].name, "one");
	assert_string_equal(s->triggers[0].metric_type, "Value");
	assert_true(s->triggers[0].use_cached_metrics);
	assert_string_equal(s->triggers[0].auth_name, "ta");
	assert_string_equal(s->triggers[0].auth_kind, "ClusterTriggerAuthentication");
	assert_string_equal(strmap_get(&s->triggers[0].metadata, "a"), "1");
	assert_string_equal(s->triggers[1].type, "cron");
	assert_null(s->triggers[1].name);
	assert_string_equal(scaledobject_target_kind(s), "StatefulSet");
	assert_int_equal(scaledobject_target_gv(s, group, version, sizeof(group), &err), 0);
	assert_string_equal(group, "apps");
	assert_string_equal(version, "v1");
	assert_string_equal(scaledobject_hpa_name(so, name, sizeof(name)), "mine");
	scaledobject_free(so);
	scaledobject_free(NULL);
}

static void test_defaults(void **state)
{
	struct scaledobject *so = given_scaledobject(GIVEN_SO("",
		GIVEN_TARGET ",'minReplicaCount':null,'advanced':{'horizontalPodAutoscalerConfig':{'name':''},'"
			     "scalingModifiers':{'formula':''}}," GIVEN_TRIGGERS));
	const struct scaledobject_spec *s = &so->spec;
	char group[254], version[254], name[300];

	(void)state;
	assert_null(so->spec_err);
	assert_int_equal(s->min_replicas, INT32_UNSET);
	assert_int_equal(s->idle_replicas, INT32_UNSET);
	assert_int_equal(s->initial_cooldown_s, INT32_UNSET);
	assert_int_equal(scaledobject_polling_interval_s(s), 30);
	assert_int_equal(scaledobject_cooldown_s(s), 300);
	assert_int_equal(scaledobject_min(s), 0);
	assert_int_equal(scaledobject_hpa_min(s), 1);
	assert_int_equal(scaledobject_hpa_max(s), 100);
	assert_null(s->modifiers);
	assert_null(s->fallback);
	assert_null(s->hpa_behavior);
	assert_string_equal(scaledobject_target_kind(s), "Deployment");
	assert_int_equal(scaledobject_target_gv(s, group, version, sizeof(group), NULL), 0);
	assert_string_equal(group, "apps");
	assert_string_equal(version, "v1");
	assert_string_equal(scaledobject_hpa_name(so, name, sizeof(name)), "keda-hpa-web");
	assert_int_equal(so->status.original_replicas, INT32_UNSET);
	assert_int_equal(so->status.paused_replicas, INT32_UNSET);
	scaledobject_free(so);
}

static void test_target_gv(void **state)
{
	static const struct {
		const char *api_version, *group, *version;
	} good[] = {
		{ "", "apps", "v1" },
		{ "v1", "", "v1" },
		{ "argoproj.io/v1alpha1", "argoproj.io", "v1alpha1" },
		{ NULL, "apps", "v1" },
	};
	static const char *const bad[] = { "/v1", "apps/", "apps/v1/x", "a b/v1", "../v1", "apps/..", "apps/v1?x",
		"Apps/v1", "/", "apps/v1\n" };
	char group[254], version[254], longer[400];
	struct scaledobject_spec s = { 0 };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		s.target_api_version = good[i].api_version != NULL ? mem_dup(good[i].api_version) : NULL;
		assert_int_equal(scaledobject_target_gv(&s, group, version, sizeof(group), &err), 0);
		assert_string_equal(group, good[i].group);
		assert_string_equal(version, good[i].version);
		free(s.target_api_version);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		s.target_api_version = mem_dup(bad[i]);
		assert_int_equal(scaledobject_target_gv(&s, group, version, sizeof(group), &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_has(err.msg, "spec.scaleTargetRef.apiVersion: ");
		free(s.target_api_version);
	}
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	s.target_api_version = longer;
	assert_int_equal(scaledobject_target_gv(&s, group, version, sizeof(group), &err), -1);
	longer[300] = '/';
	assert_int_equal(scaledobject_target_gv(&s, group, version, sizeof(group), &err), -1);
}

/* An error names its path; the object is decoded anyway. */
static void test_wrong(void **state)
{
	static const struct {
		const char *spec, *message;
	} cases[] = {
		{ "'triggers':[{'type':'a','metadata':{}},{'type':'b'},{'type':'c','metadata':{'listName':['x']}}]",
			"spec.triggers[2].metadata.listName: must be a string, not an array" },
		{ "'triggers':{}", "spec.triggers: must be an array, not an object" },
		{ "'triggers':[7]", "spec.triggers[0]: must be an object, not a number" },
		{ "'triggers':[null]", "spec.triggers[0].type: missing" },
		{ "'triggers':[{'type':'a','metadata':[]}]",
			"spec.triggers[0].metadata: must be an object, not an array" },
		{ "'triggers':[{'type':'a','metadata':{'n':5}}]",
			"spec.triggers[0].metadata.n: must be a string, not a number" },
		{ "'triggers':[{'type':'a','metadata':{'n':'a\\u0000b'}}]",
			"spec.triggers[0].metadata.n: must not contain a NUL" },
		{ "'triggers':[{'type':true}]", "spec.triggers[0].type: must be a string, not a boolean" },
		{ "'triggers':[{'type':'a','useCachedMetrics':'true'}]",
			"spec.triggers[0].useCachedMetrics: must be true or false" },
		{ "'triggers':[{'type':'a','authenticationRef':'x'}]",
			"spec.triggers[0].authenticationRef: must be an object" },
		{ "'triggers':[{'type':'a','authenticationRef':{}}]",
			"spec.triggers[0].authenticationRef.name: missing" },
		{ "'scaleTargetRef':'web'", "spec.scaleTargetRef: must be an object, not a string" },
		{ "'scaleTargetRef':{'name':3}", "spec.scaleTargetRef.name: must be a string, not a number" },
		{ "'minReplicaCount':10000000000", "spec.minReplicaCount: must be from" },
		{ "'minReplicaCount':1e10", "spec.minReplicaCount: must be from" },
		{ "'maxReplicaCount':1e300", "spec.maxReplicaCount: must be from" },
		{ "'maxReplicaCount':1.5", "spec.maxReplicaCount: must be a whole number" },
		{ "'maxReplicaCount':'5'", "spec.maxReplicaCount: must be a whole number, not a string" },
		{ "'idleReplicaCount':-2147483648", "spec.idleReplicaCount: is out of range" },
		{ "'pollingInterval':-2147483649", "spec.pollingInterval: must be from" },
		{ "'cooldownPeriod':[]", "spec.cooldownPeriod: must be a whole number, not an array" },
		{ "'advanced':[]", "spec.advanced: must be an object, not an array" },
		{ "'advanced':{'restoreToOriginalReplicaCount':1}",
			"spec.advanced.restoreToOriginalReplicaCount: must be true or false" },
		{ "'advanced':{'horizontalPodAutoscalerConfig':true}",
			"spec.advanced.horizontalPodAutoscalerConfig: must be an object, not a boolean" },
		{ "'advanced':{'horizontalPodAutoscalerConfig':{'name':[]}}",
			"spec.advanced.horizontalPodAutoscalerConfig.name: must be a string" },
		{ "'advanced':{'horizontalPodAutoscalerConfig':{'behavior':'fast'}}",
			"spec.advanced.horizontalPodAutoscalerConfig.behavior: must be an object, not a string" },
		{ "'advanced':{'scalingModifiers':[]}", "spec.advanced.scalingModifiers: must be an object" },
		{ "'advanced':{'scalingModifiers':{'target':2}}",
			"spec.advanced.scalingModifiers.target: must be a string" },
		{ "'fallback':[]", "spec.fallback: must be an object" },
		{ "'fallback':{'replicas':1}", "spec.fallback.failureThreshold: missing" },
		{ "'fallback':{'failureThreshold':1}", "spec.fallback.replicas: missing" },
		{ "'fallback':{'failureThreshold':1,'replicas':1,'behavior':{}}",
			"spec.fallback.behavior: must be a string" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'web'},'spec':{%s},'status':{'hpaName':'kept'}}",
			cases[i].spec);
		struct scaledobject *so = given_scaledobject(text);

		assert_int_equal(so->spec_err->kind, ERR_INVALID);
		assert_has(so->spec_err->msg, cases[i].message);
		assert_string_equal(so->meta.name, "web");
		assert_string_equal(so->status.hpa_name, "kept");
		scaledobject_free(so);
		free(text);
	}
}

static void test_no_spec(void **state)
{
	static const struct {
		const char *object, *message;
	} cases[] = {
		{ "{'metadata':{'name':'web'}}", "spec: missing" },
		{ "{'metadata':{'name':'web'},'spec':null}", "spec: missing" },
		{ "{'metadata':{'name':'web'},'spec':'x'}", "spec: must be an object, not a string" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *so = given_scaledobject(cases[i].object);

		assert_has(so->spec_err->msg, cases[i].message);
		assert_int_equal(so->spec.min_replicas, INT32_UNSET);
		scaledobject_free(so);
	}
}

/*
 * The first error is reported, and everything readable is read: a finalizer must be able to restore
 * replicas of an object whose triggers are broken.
 */
static void test_partly_wrong(void **state)
{
	struct scaledobject *so = given_scaledobject(GIVEN_SO("",
		"'scaleTargetRef':{'name':'web'},'minReplicaCount':'x','maxReplicaCount':7,'advanced':{'"
		"restoreToOriginalReplicaCount':true},'triggers':3"));

	(void)state;
	assert_has(so->spec_err->msg, "spec.minReplicaCount");
	assert_string_equal(so->spec.target_name, "web");
	assert_int_equal(so->spec.max_replicas, 7);
	assert_true(so->spec.restore_to_original);
	scaledobject_free(so);
}

static json_t *object_with_triggers(json_t *triggers)
{
	return json_pack("{s:{s:s}, s:{s:{s:s}, s:o}}", "metadata", "name", "web", "spec", "scaleTargetRef", "name",
		"web", "triggers", triggers);
}

static struct scaledobject *decode_taking(json_t *object)
{
	struct scaledobject *so = scaledobject_decode(object, NULL);

	json_decref(object);
	assert_non_null(so);
	return so;
}

static struct scaledobject *decode_triggers(size_t count)
{
	json_t *triggers = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(triggers,
			json_pack("{s:s, s:{s:s}}", "type", "redis", "metadata", "listName", "jobs"));
	return decode_taking(object_with_triggers(triggers));
}

static void test_too_many_triggers(void **state)
{
	struct scaledobject *so = decode_triggers(10000);

	(void)state;
	assert_string_equal(so->spec_err->msg, "spec.triggers: 10000 entries are too many: at most 1000");
	assert_int_equal(so->spec.trigger_count, 0);
	scaledobject_free(so);
	so = decode_triggers(1000);
	assert_null(so->spec_err);
	assert_int_equal(so->spec.trigger_count, 1000);
	scaledobject_free(so);
}

static struct scaledobject *decode_metadata(size_t keys, const char *key_end, size_t value_len, size_t triggers)
{
	char *value = mem_zalloc(value_len + 1);
	json_t *list = json_array();

	memset(value, 'v', value_len);
	for (size_t t = 0; t < triggers; t++) {
		json_t *metadata = json_object();

		for (size_t i = 0; i < keys; i++) {
			char key[32];

			snprintf(key, sizeof(key), "k%zu%s", i, key_end);
			json_object_set_new(metadata, key, json_string(value));
		}
		json_array_append_new(list, json_pack("{s:s, s:o}", "type", "redis", "metadata", metadata));
	}
	free(value);
	return decode_taking(object_with_triggers(list));
}

static void test_huge_metadata(void **state)
{
	static const struct {
		size_t keys, value_len, triggers;
		const char *message, *key_end;
	} cases[] = {
		{ 1, 4 * 1024 * 1024, 1,
			"spec.triggers[0].metadata: too long: all triggers together may have 524288 bytes of "
			"metadata",
			"" },
		{ 1, 524287, 1, "spec.triggers[0].metadata: too long", "" },
		{ 1, 524286, 1, NULL, "" }, /* and two bytes of key */
		{ 1, 100000, 6, "spec.triggers[5].metadata: too long", "" },
		{ 1000, 1, 1, NULL, "" },
		{ 1001, 1, 1, "spec.triggers[0].metadata: 1001 keys are too many: at most 1000", "" },
		{ 1000, 1, 5, NULL, "FromEnv" },
		{ 1000, 1, 6,
			"spec.triggers[5].metadata: too many parameters that name a variable (...FromEnv): at most "
			"5000 in all triggers together",
			"FromEnv" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *so = decode_metadata(cases[i].keys, cases[i].key_end, cases[i].value_len,
			cases[i].triggers);

		if (cases[i].message != NULL)
			assert_has(so->spec_err->msg, cases[i].message);
		else
			assert_null(so->spec_err);
		scaledobject_free(so);
	}
}

static void test_huge_behavior(void **state)
{
	json_t *behavior = json_array(), *object = object_with_triggers(json_array());
	struct scaledobject *so;

	(void)state;
	for (int i = 0; i < 40000; i++)
		json_array_append_new(behavior, json_integer(1));
	json_object_set_new(json_object_get(object, "spec"), "advanced",
		json_pack("{s:{s:{s:o}}}", "horizontalPodAutoscalerConfig", "behavior", "x", behavior));
	so = decode_taking(object);
	assert_has(so->spec_err->msg,
		"spec.advanced.horizontalPodAutoscalerConfig.behavior: too long: at most 65536 bytes");
	assert_null(so->spec.hpa_behavior);
	scaledobject_free(so);
}

/* As deep as the parser lets it get. */
static void test_deep(void **state)
{
	struct buf {
		char *text;
		size_t len;
	} b = { mem_zalloc(20000), 0 };
	json_t *value = NULL;
	struct scaledobject *so;

	(void)state;
	for (size_t depth = 2000; depth > 0 && value == NULL; depth -= 10) {
		b.len = (size_t)sprintf(b.text,
			"{\"metadata\":{\"name\":\"x\"},\"spec\":{\"advanced\":{\"horizontalPodAutoscalerConfig\":{"
			"\"behavior\":{\"a\":");
		memset(b.text + b.len, '[', depth);
		memset(b.text + b.len + depth, ']', depth);
		b.len += 2 * depth;
		b.len += (size_t)sprintf(b.text + b.len, "}}}}}");
		value = json_parse(b.text, b.len, NULL);
	}
	assert_non_null(value);
	so = decode_taking(value);
	assert_non_null(so->spec.hpa_behavior);
	scaledobject_free(so);
	free(b.text);
}

static void test_not_an_object(void **state)
{
	static const char *const cases[] = { "null", "[]", "3", "'x'", "{}", "{'metadata':{'name':5}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *value = given_json(cases[i]);
		struct err err = { 0 };

		assert_null(scaledobject_decode(value, &err));
		assert_int_equal(err.kind, ERR_INVALID);
		json_decref(value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_target_gv),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_no_spec),
		cmocka_unit_test(test_partly_wrong),
		cmocka_unit_test(test_too_many_triggers),
		cmocka_unit_test(test_huge_metadata),
		cmocka_unit_test(test_huge_behavior),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_not_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
