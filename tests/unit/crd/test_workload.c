/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/workload.h"

#include "given.h"

static struct workload *decode(const char *quoted, struct err *err)
{
	json_t *object = given_json(quoted);
	struct workload *w = workload_decode(object, err);

	json_decref(object);
	return w;
}

static void test_deployment(void **state)
{
	struct err err = { 0 };
	struct workload *w = decode("{'metadata':{'name':'web','namespace':'shop','uid':'u','resourceVersion':'5','annotations':{'big':'thing'}},'spec':{'replicas':3,'selector':{'matchLabels':{'app':'web','tier':'x'},"
				    "'matchExpressions':[{'key':'a','operator':'In','values':['1','2']},{'key':'b','operator':'Exists'},{'key':'c','operator':'DoesNotExist'},{'key':'d','operator':'NotIn','values':['3']},{'operator':'Odd'}]},"
				    "'template':{'spec':{'containers':[{'name':'main'}]}}},'status':{'replicas':2,'readyReplicas':1}}", &err);

	(void)state;
	assert_non_null(w);
	assert_string_equal(w->name, "web");
	assert_string_equal(w->namespace_, "shop");
	assert_string_equal(w->uid, "u");
	assert_string_equal(w->resource_version, "5");
	assert_int_equal(w->replicas, 3);
	assert_true(w->has_replicas);
	assert_int_equal(w->status_replicas, 2);
	assert_int_equal(w->ready_replicas, 1);
	assert_string_equal(w->selector, "app=web,tier=x,a in (1,2),b,!c,d notin (3)");
	assert_int_equal(w->container_count, 1);
	workload_free(w);
	workload_free(NULL);
}

static void test_replicas(void **state)
{
	static const struct { const char *spec; int32_t replicas; bool has; const char *message; } cases[] = {
		{ "{}", 1, false, NULL },
		{ "null", 1, false, NULL },
		{ "{'replicas':null}", 1, false, NULL },
		{ "{'replicas':0}", 0, true, NULL },
		{ "{'replicas':2147483647}", INT32_MAX, true, NULL },
		{ "{'replicas':1e10}", 0, false, "spec.replicas: must be from" },
		{ "{'replicas':10000000000}", 0, false, "spec.replicas: must be from" },
		{ "{'replicas':2.5}", 0, false, "spec.replicas: must be a whole number" },
		{ "{'replicas':'3'}", 0, false, "spec.replicas: must be a whole number, not a string" },
		{ "{'replicas':-1}", 0, false, "spec.replicas: -1 is negative" },
		{ "[]", 0, false, "spec: must be an object, not an array" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'web'},'spec':%s}", cases[i].spec);
		struct err err = { 0 };
		struct workload *w = decode(text, &err);

		if (cases[i].message != NULL) {
			assert_null(w);
			assert_has(err.msg, cases[i].message);
		} else {
			assert_non_null(w);
			assert_int_equal(w->replicas, cases[i].replicas);
			assert_int_equal(w->has_replicas, cases[i].has);
			assert_null(w->selector);
		}
		workload_free(w);
		free(text);
	}
}

static void test_not_a_workload(void **state)
{
	static const char *const cases[] = { "null", "[]", "{}", "{'metadata':[]}", "{'metadata':{'name':3}}", "{'metadata':{'name':'x','uid':{}}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };

		assert_null(decode(cases[i], &err));
		assert_int_equal(err.kind, ERR_INVALID);
	}
}

/* Nothing in a pod template may hide the replicas. */
static void test_odd_templates(void **state)
{
	static const char *const cases[] = { "3", "{'spec':[]}", "{'spec':{'containers':{}}}", "{'spec':{'containers':[3,null,{'name':5,'env':3,'envFrom':{}}]}}",
					     "{'spec':{'containers':[{'env':[3,null,{'name':4,'value':5},{'valueFrom':3},{'name':'a','valueFrom':{'secretKeyRef':3}}],'envFrom':[3,{},{'secretRef':[]}]}]}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'web'},'spec':{'replicas':4,'selector':[],'template':%s},'status':[]}", cases[i]);
		struct strmap env = { 0 }, unresolved = { 0 };
		struct err err = { 0 };
		struct workload *w = decode(text, &err);

		assert_non_null(w);
		assert_int_equal(w->replicas, 4);
		workload_environment(w, NULL, &env, &unresolved, &err);
		strmap_done(&env);
		strmap_done(&unresolved);
		workload_free(w);
		free(text);
	}
}

/* ---- The environment ---- */

struct environment {
	struct workload *w;
	struct strmap known, unresolved;
};

static struct environment environment_of(const char *container_fields)
{
	char *text = mem_printf("{'metadata':{'name':'web'},'spec':{'template':{'spec':{'containers':[{'name':'main',%s},{'name':'side','env':[{'name':'A','value':'side'}]}]}}}}", container_fields);
	struct environment e = { .w = decode(text, NULL) };
	struct err err = { 0 };

	free(text);
	assert_non_null(e.w);
	assert_int_equal(workload_environment(e.w, NULL, &e.known, &e.unresolved, &err), 0);
	return e;
}

static void environment_done(struct environment *e)
{
	strmap_done(&e->known);
	strmap_done(&e->unresolved);
	workload_free(e->w);
}

/* $(VAR) as the kubelet expands it. */
static void test_expansion(void **state)
{
	static const struct { const char *value, *expanded; } cases[] = {
		{ "plain", "plain" }, { "$(A)", "one" }, { "x$(A)y$(B)z", "xoneytwoz" }, { "$$(A)", "$(A)" }, { "$$$(A)", "$one" }, { "$A", "$A" }, { "$(NONE)", "$(NONE)" }, { "$(A", "$(A" }, { "$()", "$()" },
		{ "$", "$" }, { "a$$", "a$" }, { "$(LATER)", "$(LATER)" }, { "$(A)$(", "one$(" }, { "($(A))", "(one)" }, { "$(A$(B)", "$(A$(B)" }, { "$$$$", "$$" }, { "\xC3\xA4$(A)", "\xC3\xA4one" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *fields = mem_printf("'env':[{'name':'A','value':'one'},{'name':'B','value':'two'},{'name':'X','value':'%s'},{'name':'LATER','value':'late'}]", cases[i].value);
		struct environment e = environment_of(fields);

		assert_string_equal(strmap_get(&e.known, "X"), cases[i].expanded);
		assert_int_equal(e.unresolved.count, 0);
		environment_done(&e);
		free(fields);
	}
}

static void check_unresolved(const char *fields, const char *name, const char *reason)
{
	struct environment e = environment_of(fields);
	const char *got = strmap_get(&e.unresolved, name);

	if (got == NULL || strcmp(got, reason) != 0)
		fail_msg("%s: \"%s\" instead of \"%s\"", name, got != NULL ? got : "(resolved)", reason);
	assert_null(strmap_get(&e.known, name));
	environment_done(&e);
}

#define SECRET(name) "{'name':'" name "','valueFrom':{'secretKeyRef':{'name':'creds','key':'pw'}}}"

static void test_unresolved(void **state)
{
	(void)state;
	check_unresolved("'env':[" SECRET("P") "]", "P", "comes from Secret creds key pw");
	check_unresolved("'env':[{'name':'P','value':'','valueFrom':{'configMapKeyRef':{'name':'cm','key':'k'}}}]", "P", "comes from ConfigMap cm key k");
	check_unresolved("'env':[{'name':'P','valueFrom':{'fieldRef':{'fieldPath':'x'}}}]", "P", "comes from a field of the pod");
	check_unresolved("'env':[" SECRET("P") ",{'name':'URL','value':'redis://:$(P)@host'}]", "URL", "refers to P, which comes from Secret creds key pw");
	check_unresolved("'env':[" SECRET("P") ",{'name':'U','value':'$(P)'},{'name':'V','value':'$(U)'}]", "V", "refers to P, which comes from Secret creds key pw");
	check_unresolved("'envFrom':[{'configMapRef':{'name':'cm'}},{'prefix':'X_','secretRef':{'name':'s'}}]", WORKLOAD_ENV_ANY, "may come from ConfigMap cm or Secret s");
	check_unresolved("'envFrom':[{'configMapRef':{'name':'cm'}}],'env':[{'name':'U','value':'$(HOST):1'}]", "U", "refers to HOST, which may come from ConfigMap cm");
	/* of two entries of one name, the later counts */
	check_unresolved("'env':[{'name':'P','value':'plain'}," SECRET("P") "]", "P", "comes from Secret creds key pw");
	{
		struct environment e = environment_of("'env':[" SECRET("P") ",{'name':'P','value':'plain'},{'name':'Q'},{'name':'R','value':''}]");

		assert_string_equal(strmap_get(&e.known, "P"), "plain");
		assert_string_equal(strmap_get(&e.known, "Q"), "");
		assert_string_equal(strmap_get(&e.known, "R"), "");
		assert_int_equal(e.unresolved.count, 0);
		environment_done(&e);
	}
}

static void test_containers(void **state)
{
	struct environment e = environment_of("'env':[{'name':'A','value':'main'}]");
	struct strmap known = { 0 }, unresolved = { 0 };
	struct workload none = { 0 };
	struct err err = { 0 };
	char web[] = "web";

	(void)state;
	assert_string_equal(strmap_get(&e.known, "A"), "main");
	assert_int_equal(workload_environment(e.w, "side", &known, &unresolved, &err), 0);
	assert_string_equal(strmap_get(&known, "A"), "side");
	strmap_done(&known);
	assert_int_equal(workload_environment(e.w, "", &known, &unresolved, &err), 0);
	assert_string_equal(strmap_get(&known, "A"), "main");
	strmap_done(&known);
	assert_int_equal(workload_environment(e.w, "other", &known, &unresolved, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_has(err.msg, "web has no container \"other\"");
	assert_int_equal(known.count, 0);
	/* A kind without a pod template has no environment, which is no error. */
	none.name = web;
	assert_int_equal(workload_environment(&none, "other", &known, &unresolved, &err), 0);
	environment_done(&e);
}

/* $(A)$(A) in a chain doubles with each link; the sum has a cap, and so has each value. */
static void test_growth(void **state)
{
	json_t *env = json_array(), *object;
	struct strmap known = { 0 }, unresolved = { 0 };
	struct workload *w;
	size_t bytes = 0;

	(void)state;
	json_array_append_new(env, json_pack("{s:s, s:s}", "name", "V0", "value", "0123456789abcdef"));
	for (int i = 1; i < 60; i++) {
		char name[16], value[40];

		snprintf(name, sizeof(name), "V%d", i);
		snprintf(value, sizeof(value), "$(V%d)$(V%d)", i - 1, i - 1);
		json_array_append_new(env, json_pack("{s:s, s:s}", "name", name, "value", value));
	}
	for (int i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "W%d", i);
		json_array_append_new(env, json_pack("{s:s, s:s}", "name", name, "value", "$(V12)"));
	}
	object = json_pack("{s:{s:s}, s:{s:{s:{s:[{s:o}]}}}}", "metadata", "name", "web", "spec", "template", "spec", "containers", "env", env);
	w = workload_decode(object, NULL);
	json_decref(object);
	assert_int_equal(workload_environment(w, NULL, &known, &unresolved, NULL), 0);
	for (size_t i = 0; i < known.count; i++)
		bytes += strlen(known.pairs[i].value);
	assert_true(bytes <= 2048 * 1024);
	assert_int_equal(strlen(strmap_get(&known, "V13")), 16 << 13); /* 128 KiB: the longest that is kept */
	assert_string_equal(strmap_get(&unresolved, "V14"), "is too long");
	assert_string_equal(strmap_get(&unresolved, "V59"), "refers to V14, which is too long");
	assert_string_equal(strmap_get(&unresolved, "W99"), "is too long");
	strmap_done(&known);
	strmap_done(&unresolved);
	workload_free(w);
}

static void test_too_many(void **state)
{
	json_t *env = json_array(), *object;
	struct strmap known = { 0 }, unresolved = { 0 };
	struct workload *w;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "V%d", i);
		json_array_append_new(env, json_pack("{s:s, s:s}", "name", name, "value", "v"));
	}
	object = json_pack("{s:{s:s}, s:{s:{s:{s:[{s:o}]}}}}", "metadata", "name", "web", "spec", "template", "spec", "containers", "env", env);
	w = workload_decode(object, NULL);
	json_decref(object);
	assert_int_equal(w->containers[0].env_count, WORKLOAD_ENV_MAX);
	assert_int_equal(w->containers[0].env_left_out, 3000);
	assert_int_equal(workload_environment(w, NULL, &known, &unresolved, NULL), 0);
	assert_int_equal(known.count, WORKLOAD_ENV_MAX);
	assert_string_equal(strmap_get(&unresolved, WORKLOAD_ENV_ANY), "may be one of the variables past the first 2000, which are not read");
	strmap_done(&known);
	strmap_done(&unresolved);
	workload_free(w);
}

/* A megabyte of "$(" is read once, not once for each. */
static void test_unclosed_references(void **state)
{
	size_t len = 128 * 1024;
	char *value = mem_zalloc(len + 1);
	struct workload_env env = { .source = WORKLOAD_ENV_VALUE, .value = value };
	struct workload_container container = { .env = &env, .env_count = 1 };
	struct workload w = { .containers = &container, .container_count = 1 };
	struct strmap known = { 0 }, unresolved = { 0 };
	char name[] = "A", web[] = "web";

	(void)state;
	env.name = name;
	w.name = web;
	for (size_t i = 0; i < len; i++)
		value[i] = "$("[i % 2];
	assert_int_equal(workload_environment(&w, NULL, &known, &unresolved, NULL), 0);
	assert_string_equal(strmap_get(&known, "A"), value);
	strmap_done(&known);
	free(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deployment),
		cmocka_unit_test(test_replicas),
		cmocka_unit_test(test_not_a_workload),
		cmocka_unit_test(test_odd_templates),
		cmocka_unit_test(test_expansion),
		cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_unclosed_references),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
