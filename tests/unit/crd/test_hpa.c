/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/hpa.h"

#include "given.h"

static char *normal_of(const json_t *spec)
{
	json_t *normal = hpa_spec_normal(spec);
	char *text = json_dumps(normal, JSON_SORT_KEYS | JSON_COMPACT);

	json_decref(normal);
	return text;
}

static char *normal(const char *quoted)
{
	json_t *spec = given_json(quoted);
	char *text = normal_of(spec);

	json_decref(spec);
	return text;
}

#define METRIC                                                                                                         \
	"{'type':'External','external':{'metric':{'name':'s0','selector':{'matchLabels':{'a':'b'}}},'target':{'type':" \
	"'AverageValue','averageValue':'5'}}}"
#define BASE                                                                                                           \
	"'scaleTargetRef':{'apiVersion':'apps/"                                                                        \
	"v1','kind':'Deployment','name':'web'},'maxReplicas':10,'metrics':[" METRIC "]"
#define UP_POLICIES                                                                                                    \
	"'policies':[{'type':'Pods','value':4,'periodSeconds':15},{'type':'Percent','value':100,'periodSeconds':15}]"
#define DOWN_POLICIES     "'policies':[{'type':'Percent','value':100,'periodSeconds':15}]"
#define UP                "'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max'," UP_POLICIES "}"
#define DOWN              "'scaleDown':{'selectPolicy':'Max'," DOWN_POLICIES "}"
#define BEHAVED(behavior) "{" BASE ",'minReplicas':1,'behavior':{" behavior "}}"

/* A written spec, and how an API server of 1.36 stores it (pkg/apis/autoscaling/v2/defaults.go). */
static const struct {
	const char *written, *stored;
} equal[] = {
	{ "{" BASE "}", "{" BASE ",'minReplicas':1}" },
	{ "{" BASE ",'minReplicas':null,'behavior':null}", "{" BASE ",'minReplicas':1}" },
	{ BEHAVED(""), BEHAVED(UP "," DOWN) },
	{ BEHAVED("'scaleUp':{}"), BEHAVED(UP "," DOWN) },
	{ BEHAVED("'scaleUp':null,'scaleDown':{'policies':null}"), BEHAVED(UP "," DOWN) },
	{ BEHAVED("'scaleDown':{'stabilizationWindowSeconds':60}"),
		BEHAVED(UP ",'scaleDown':{'stabilizationWindowSeconds':60,'selectPolicy':'Max'," DOWN_POLICIES "}") },
	{ BEHAVED("'scaleDown':{'selectPolicy':'Disabled'}"),
		BEHAVED(UP ",'scaleDown':{'selectPolicy':'Disabled'," DOWN_POLICIES "}") },
	{ BEHAVED("'scaleUp':{'selectPolicy':'Min'}"),
		BEHAVED("'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Min'," UP_POLICIES "}," DOWN) },
	{ BEHAVED("'scaleUp':{'policies':[{'type':'Pods','value':1,'periodSeconds':60}]}"),
		BEHAVED("'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max','policies':[{'type':'Pods','"
			"value':1,'periodSeconds':60}]}," DOWN) },
	{ BEHAVED("'scaleUp':{'stabilizationWindowSeconds':30}," DOWN),
		BEHAVED("'scaleUp':{'stabilizationWindowSeconds':30,'selectPolicy':'Max'," UP_POLICIES "}," DOWN) },
	/* Quantities, in the texts that Kubernetes gives back */
	{ BEHAVED("'scaleUp':{'tolerance':'0.05'}"),
		BEHAVED("'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max','tolerance':'50m'," UP_POLICIES
			"}," DOWN) },
	{ BEHAVED("'scaleUp':{'tolerance':'0.0005'}"),
		BEHAVED("'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max','tolerance':'500u'," UP_POLICIES
			"}," DOWN) },
	{ BEHAVED("'scaleUp':{'tolerance':0}"),
		BEHAVED("'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max','tolerance':'0'," UP_POLICIES
			"}," DOWN) },
	{ BEHAVED("'scaleUp':{'tolerance':0.1}"),
		BEHAVED("'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max','tolerance':'100m'," UP_POLICIES
			"}," DOWN) },
	/* Fields unknown here and there */
	{ BEHAVED("'scaleUp':{'surprise':1},'sideways':{}"), BEHAVED(UP "," DOWN) },
	{ "{" BASE ",'future':{'defaulted':true}}", "{" BASE ",'minReplicas':1}" },
	/* No metrics: the API server puts cpu there */
	{ "{'maxReplicas':3}",
		"{'maxReplicas':3,'minReplicas':1,'metrics':[{'type':'Resource','resource':{'name':'cpu','target':{'"
		"type':'Utilization','averageUtilization':80}}}]}" },
	{ "{'maxReplicas':3,'metrics':[]}",
		"{'maxReplicas':3,'minReplicas':1,'metrics':[{'type':'Resource','resource':{'name':'cpu','target':{'"
		"type':'Utilization','averageUtilization':80}}}]}" },
	/* The order of keys */
	{ "{'maxReplicas':3,'scaleTargetRef':{'name':'a','kind':'b'}}",
		"{'scaleTargetRef':{'kind':'b','name':'a'},'maxReplicas':3}" },
};

static const struct {
	const char *a, *b;
} different[] = {
	{ "{" BASE ",'minReplicas':1}", "{" BASE ",'minReplicas':2}" },
	{ "{" BASE "}", BEHAVED("") },
	{ BEHAVED("'scaleDown':{'stabilizationWindowSeconds':300}"), BEHAVED(DOWN) },
	{ BEHAVED("'scaleUp':{'stabilizationWindowSeconds':1}"), BEHAVED(UP) },
	{ BEHAVED("'scaleUp':{'tolerance':'0.0005'}"), BEHAVED("'scaleUp':{'tolerance':'0.0001'}") },
	{ BEHAVED("'scaleUp':{'tolerance':'0'}"), BEHAVED("'scaleUp':{}") },
	/* Refused by the API server, so it must be tried for its error to be seen */
	{ BEHAVED("'scaleUp':{'policies':[]}"), BEHAVED("") },
	{ BEHAVED("'scaleUp':7"), BEHAVED("") },
	{ "{" BASE "}",
		"{'scaleTargetRef':{'apiVersion':'apps/"
		"v1','kind':'Deployment','name':'web'},'maxReplicas':10,'metrics':[" METRIC "," METRIC "]}" },
};

static void test_equal(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(equal) / sizeof(equal[0]); i++) {
		char *written = normal(equal[i].written), *stored = normal(equal[i].stored);

		assert_string_equal(written, stored);
		free(written);
		free(stored);
	}
}

static void test_different(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++) {
		char *a = normal(different[i].a), *b = normal(different[i].b);

		assert_string_not_equal(a, b);
		free(a);
		free(b);
	}
}

/* Word by word, so that a rule that is wrong on both sides shows. */
static void test_golden(void **state)
{
	char *text = normal("{'maxReplicas':4,'metrics':[" METRIC
			    "],'behavior':{'scaleDown':{'policies':[{'value':1,'type':'Pods','periodSeconds':9}]}}}");
	char *wanted = given_text(
		"{'behavior':{'scaleDown':{'policies':[{'periodSeconds':9,'type':'Pods','value':1}],'selectPolicy':'"
		"Max'},"
		"'scaleUp':{'policies':[{'periodSeconds':15,'type':'Pods','value':4},{'periodSeconds':15,'type':'"
		"Percent','value':100}],'selectPolicy':'Max','stabilizationWindowSeconds':0}},"
		"'maxReplicas':4,'metrics':[{'external':{'metric':{'name':'s0','selector':{'matchLabels':{'a':'b'}}},'"
		"target':{'averageValue':'5','type':'AverageValue'}},'type':'External'}],'minReplicas':1}");

	(void)state;
	assert_string_equal(text, wanted);
	free(text);
	free(wanted);
}

static char *normal_target(const char *quantity)
{
	json_t *spec = json_pack("{s:[{s:{s:{s:s}}}]}", "metrics", "external", "target", "averageValue", quantity);
	char *text = normal_of(spec), *start, *value;

	json_decref(spec);
	start = strstr(text, "averageValue\":\"") + strlen("averageValue\":\"");
	value = mem_dupn(start, strcspn(start, "\""));
	free(text);
	return value;
}

static void test_quantities(void **state)
{
	static const struct {
		const char *text, *normal;
	} cases[] = {
		{ "5", "5" },
		{ "+5", "5" },
		{ "05", "5" },
		{ "5000m", "5" },
		{ "5.0", "5" },
		{ ".5", "500m" },
		{ "5.", "5" },
		{ "2.5", "2500m" },
		{ "1000", "1k" },
		{ "1e3", "1k" },
		{ "1E3", "1k" },
		{ "1Ki", "1024" },
		{ "1Gi", "1073741824" },
		{ "1024Mi", "1073741824" },
		{ "0.5Ki", "512" },
		{ "1e-3", "1m" },
		{ "100u", "100000n" },
		{ "0.0001", "100000n" },
		{ "1n", "1n" },
		{ "0.1n", "1n" },
		{ "0", "0" },
		{ "0.000", "0" },
		{ "-5", "-5" },
		{ "-0.0001", "-100000n" },
		{ "1M", "1M" },
		{ "1500m", "1500m" },
		{ "1.5k", "1500" },
		{ "0.00000000000000000000000000000000000001", "1n" },
		{ "99999999999999999999999999999999999999999999", "9223372036854775807m" },
		{ "1e999", "9223372036854775807m" },
		{ "1e-999", "1n" },
		/* no quantities: left as they are, for the API server to refuse */
		{ "", "" },
		{ "-", "-" },
		{ ".", "." },
		{ "5x", "5x" },
		{ "1e", "1e" },
		{ "1e99999999999999999999", "1e99999999999999999999" },
		{ "1.2.3", "1.2.3" },
		{ "abc", "abc" },
		{ " 5", " 5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = normal_target(cases[i].text);

		if (strcmp(text, cases[i].normal) != 0)
			fail_msg("%s: %s instead of %s", cases[i].text, text, cases[i].normal);
		free(text);
	}
}

static void test_odd_specs(void **state)
{
	static const char *const cases[] = { "[]", "3", "null", "{'metrics':7}",
		"{'metrics':[7,null,[],{'external':[]}]}", "{'behavior':[]}",
		"{'behavior':{'scaleUp':{'policies':{}}}}",
		"{'behavior':{'scaleUp':{'policies':[1]},'scaleDown':'x'}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = normal(cases[i]);

		assert_true(strlen(text) > 0);
		free(text);
	}
	{
		char *text = normal_of(NULL), *empty = normal("{}");

		assert_string_equal(text, empty);
		free(text);
		free(empty);
	}
}

/* Text to keep: a number with no digit more than was written. */
static void test_behavior_text(void **state)
{
	static const struct {
		const char *behavior, *text;
	} cases[] = {
		{ "{'scaleUp':{'tolerance':0.1}}", "{'scaleUp':{'tolerance':'0.1'}}" },
		{ "{'scaleUp':{'tolerance':0.30000000000000004}}", "{'scaleUp':{'tolerance':'0.30000000000000004'}}" },
		{ "{'scaleDown':{'tolerance':2,'selectPolicy':'Max'}}",
			"{'scaleDown':{'tolerance':'2','selectPolicy':'Max'}}" },
		{ "{'scaleDown':{'tolerance':'0.05'}}", "{'scaleDown':{'tolerance':'0.05'}}" },
		{ "{'scaleDown':{'tolerance':{}}}", "{'scaleDown':{'tolerance':{}}}" },
		{ "{}", "{}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *behavior = given_json(cases[i].behavior);
		char *text = hpa_behavior_text(behavior), *wanted = given_text(cases[i].text);

		assert_string_equal(text, wanted);
		free(text);
		free(wanted);
		json_decref(behavior);
	}
}

static void test_decode(void **state)
{
	json_t *object = given_json(
		"{'metadata':{'name':'keda-hpa-web','namespace':'shop'},'spec':{" BASE
		"},'status':{'currentReplicas':3,'desiredReplicas':4,'lastScaleTime':'2026-01-02T03:04:05Z','"
		"conditions':["
		"{'type':'AbleToScale','status':'True','reason':'ReadyForNewScale','message':'as "
		"usual'},{'type':'ScalingLimited','status':'True','reason':'TooManyReplicas','message':'more than the "
		"maximum'},{'type':'ScalingActive','status':'False','reason':'ScalingDisabled','message':'scaling is "
		"disabled'}]}}");
	struct err err = { 0 };
	struct hpa *h = hpa_decode(object, &err);

	(void)state;
	assert_non_null(h);
	assert_string_equal(h->meta.name, "keda-hpa-web");
	assert_int_equal(h->current_replicas, 3);
	assert_int_equal(h->desired_replicas, 4);
	assert_string_equal(h->scaling_active_status, "False");
	assert_string_equal(h->scaling_active_reason, "ScalingDisabled");
	assert_string_equal(h->scaling_active_message, "scaling is disabled");
	assert_int_equal(h->able_to_scale.status, CONDITION_TRUE);
	assert_string_equal(h->able_to_scale.reason, "ReadyForNewScale");
	assert_null(h->able_to_scale.message);
	assert_int_equal(h->scaling_limited.status, CONDITION_TRUE);
	assert_string_equal(h->scaling_limited.reason, "TooManyReplicas");
	assert_string_equal(h->scaling_limited.message, "more than the maximum");
	assert_int_equal(h->last_scale_unix_ms, 1767323045000);
	assert_true(h->spec_fingerprint == hpa_spec_fingerprint(json_object_get(object, "spec")));
	json_object_set_new(json_object_get(object, "spec"), "maxReplicas", json_integer(11));
	assert_false(h->spec_fingerprint == hpa_spec_fingerprint(json_object_get(object, "spec")));
	hpa_free(h);
	hpa_free(NULL);
	json_decref(object);
}

static void test_externals(void **state)
{
	static const char text[] = "{\"metadata\":{\"name\":\"h\",\"namespace\":\"n\"},\"spec\":{\"metrics\":["
				   "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"s0-a\"},\"target\":{"
				   "\"type\":\"AverageValue\",\"averageValue\":\"2500m\"}}},"
				   "{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":{\"type\":"
				   "\"Utilization\",\"averageUtilization\":50}}},"
				   "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"s1-b\"},\"target\":{"
				   "\"type\":\"Value\",\"value\":\"3\"}}},"
				   "{\"type\":\"External\",\"external\":{\"metric\":{\"name\":\"s2-c\"},\"target\":{"
				   "\"value\":\"x\"}}},7,{\"external\":[]}]}}";
	json_t *object = json_loads(text, 0, NULL);
	struct hpa *h = hpa_decode(object, NULL);

	(void)state;
	assert_non_null(h);
	assert_int_equal(h->external_count, 2);
	assert_string_equal(h->externals[0].name, "s0-a");
	assert_int_equal(h->externals[0].target.milli, 2500);
	assert_string_equal(h->externals[1].name, "s1-b");
	assert_int_equal(h->externals[1].target.milli, 3000);
	hpa_free(h);
	json_decref(object);
}

static void test_decode_odd(void **state)
{
	static const char *const cases[] = { "{'metadata':{'name':'x'}}",
		"{'metadata':{'name':'x'},'spec':[],'status':[]}",
		"{'metadata':{'name':'x'},'status':{'currentReplicas':'x','conditions':{}}}",
		"{'metadata':{'name':'x'},'status':{'conditions':[null,3,{'type':3},{'type':'ScalingActive'}]}}",
		"{'metadata':{'name':'x'},'status':{'conditions':[{'type':'ScalingActive','status':1}]}}" };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *object = given_json(cases[i]);
		struct hpa *h = hpa_decode(object, &err);

		assert_non_null(h);
		assert_string_equal(h->scaling_active_status, "");
		assert_int_equal(h->current_replicas, 0);
		assert_null(h->able_to_scale.reason);
		assert_int_equal(h->last_scale_unix_ms, 0);
		hpa_free(h);
		json_decref(object);
	}
	assert_null(hpa_decode(NULL, &err));
	assert_int_equal(err.kind, ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_different),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_quantities),
		cmocka_unit_test(test_odd_specs),
		cmocka_unit_test(test_behavior_text),
		cmocka_unit_test(test_decode),
		cmocka_unit_test(test_externals),
		cmocka_unit_test(test_decode_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
