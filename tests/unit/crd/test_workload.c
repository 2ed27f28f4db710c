/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "crd/workload.h"

#include "given.h"

static struct workload *decode(const char *quoted, struct err *err)
{
	json_t *object = given_json(quoted);
	struct workload *w = workload_decode(object, err);

	json_decref(object);
	return w;
}

static void check_account(const char *quoted, const char *account)
{
	struct workload *w = decode(quoted, NULL);
	json_t *object = given_json(quoted);
	struct meta meta = { .namespace_ = (char[]){ "shop" },
		.name = (char[]){ "drain" },
		.uid = (char[]){ "u" },
		.resource_version = (char[]){ "1" } };
	struct workload *of_template = workload_decode_template(&meta, json_object_get(object, "spec"));

	if (account) {
		assert_string_equal(w->service_account, account);
		assert_string_equal(of_template->service_account, account);
	} else {
		assert_null(w->service_account);
		assert_null(of_template->service_account);
	}
	workload_free(w);
	workload_free(of_template);
	json_decref(object);
}

static void test_service_account(void **state)
{
	(void)state;
	check_account("{'metadata':{'name':'web'},'spec':{'template':{'spec':{'serviceAccountName':'worker'}}}}",
		"worker");
	check_account("{'metadata':{'name':'web'},'spec':{'template':{'spec':{'serviceAccountName':''}}}}", NULL);
	check_account("{'metadata':{'name':'web'},'spec':{'template':{'spec':{'serviceAccountName':['x']}}}}", NULL);
	check_account("{'metadata':{'name':'web'},'spec':{'template':{'spec':{}}}}", NULL);
}

/* Of a kind without a Pod template, as Argo's Rollout: a Deployment alone is followed. */
static void test_workload_ref(void **state)
{
#define REF(version, kind, name, more)                                                                                 \
	"{'metadata':{'name':'web'},'spec':{'workloadRef':{'apiVersion':" version ",'kind':" kind ",'name':" name      \
	"}" more "}}"
	static const struct {
		const char *object, *name;
	} cases[] = {
		{ REF("'apps/v1'", "'Deployment'", "'pods'", ""), "pods" },
		{ REF("'apps/v1'", "'Deployment'", "'pods'", ",'template':{'spec':{'containers':[{'name':'c'}]}}"),
			NULL },
		{ REF("'apps/v1'", "'Deployment'", "'pods'", ",'template':{'spec':{}}"), "pods" },
		{ REF("'apps/v1'", "'ReplicaSet'", "'pods'", ""), NULL },
		{ REF("'v1'", "'Deployment'", "'pods'", ""), NULL },
		{ REF("'apps/v1'", "'Deployment'", "''", ""), NULL },
		{ REF("7", "'Deployment'", "'pods'", ""), NULL },
		{ REF("'apps/v1'", "'Deployment'", "['pods']", ""), NULL },
		{ "{'metadata':{'name':'web'},'spec':{'workloadRef':'pods'}}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct workload *w = decode(cases[i].object, NULL);

		if (cases[i].name)
			assert_string_equal(w->template_deployment, cases[i].name);
		else
			assert_null(w->template_deployment);
		workload_free(w);
	}
}

static void test_deployment(void **state)
{
	struct err err = { 0 };
	struct workload *w = decode(
		"{'metadata':{'name':'web','namespace':'shop','uid':'u','resourceVersion':'5','annotations':{'big':'"
		"thing'}},'spec':{'replicas':3,'selector':{'matchLabels':{'app':'web','tier':'x'},"
		"'matchExpressions':[{'key':'a','operator':'In','values':['1','2']},{'key':'b','operator':'Exists'},{'"
		"key':'c','operator':'DoesNotExist'},{'key':'d','operator':'NotIn','values':['3']},{'operator':'Odd'}]}"
		","
		"'template':{'spec':{'containers':[{'name':'main'}]}}},'status':{'replicas':2,'readyReplicas':1}}",
		&err);

	(void)state;
	assert_non_null(w);
	assert_string_equal(w->name, "web");
	assert_string_equal(w->namespace_, "shop");
	assert_string_equal(w->uid, "u");
	assert_string_equal(w->resource_version, "5");
	assert_int_equal(w->replicas, 3);
	assert_int_equal(w->says, WORKLOAD_SAYS_REPLICAS);
	assert_int_equal(w->status_replicas, 2);
	assert_int_equal(w->ready_replicas, 1);
	assert_string_equal(w->selector, "app=web,tier=x,a in (1,2),b,!c,d notin (3)");
	assert_int_equal(w->container_count, 1);
	workload_free(w);
	workload_free(NULL);
}

static void test_replicas(void **state)
{
	static const struct {
		const char *spec;
		int32_t replicas;
		int says, scale; /* of a Scale; -1: it is refused */
	} cases[] = {
		{ "{}", 1, WORKLOAD_SAYS_NOTHING, 0 },
		{ "null", 1, WORKLOAD_SAYS_NOTHING, 0 },
		{ "[]", 1, WORKLOAD_SAYS_NOTHING, 0 },
		{ "'x'", 1, WORKLOAD_SAYS_NOTHING, 0 },
		{ "{'replicas':null}", 1, WORKLOAD_SAYS_NOTHING, 0 },
		{ "{'replicas':0}", 0, WORKLOAD_SAYS_REPLICAS, 0 },
		{ "{'replicas':2147483647}", INT32_MAX, WORKLOAD_SAYS_REPLICAS, INT32_MAX },
		{ "{'replicas':1e10}", 1, WORKLOAD_SAYS_ANOTHER_THING, -1 },
		{ "{'replicas':10000000000}", 1, WORKLOAD_SAYS_ANOTHER_THING, -1 },
		{ "{'replicas':2.5}", 1, WORKLOAD_SAYS_ANOTHER_THING, -1 },
		{ "{'replicas':'3'}", 1, WORKLOAD_SAYS_ANOTHER_THING, -1 },
		{ "{'replicas':{'min':1}}", 1, WORKLOAD_SAYS_ANOTHER_THING, -1 },
		{ "{'replicas':-1}", 1, WORKLOAD_SAYS_ANOTHER_THING, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'web'},'spec':%s}", cases[i].spec);
		struct err err = { 0 };
		struct workload *w = decode(text, &err), *scale;
		json_t *object = given_json(text);

		assert_non_null(w);
		assert_int_equal(w->replicas, cases[i].replicas);
		assert_int_equal(w->says, cases[i].says);
		assert_null(w->selector);
		workload_free(w);
		scale = workload_decode_scale(object, &err);
		assert_int_equal(scale ? scale->replicas : -1, cases[i].scale);
		assert_true(scale || strstr(err.msg, "spec.replicas: must be from 0 to 2147483647"));
		workload_free(scale);
		json_decref(object);
		free(text);
	}
}

#define REPLICAS_OF "'fieldsV1':{'f:spec':{'f:replicas':{}}}"

static void test_replicas_manager(void **state)
{
	static const struct {
		const char *fields, *manager;
		bool by_scale;
	} cases[] = {
		{ "[]", NULL, false },
		{ "3", NULL, false },
		{ "[3,null,{},{'manager':'a'},{'manager':'a','fieldsV1':[]},{'manager':'a','fieldsV1':{'f:spec':3}},{'"
		  "manager':'a','fieldsV1':{'f:spec':{'f:template':{}}}}]",
			NULL, false },
		{ "[{" REPLICAS_OF "}]", NULL, false },
		{ "[{'manager':'', " REPLICAS_OF "}]", NULL, false },
		{ "[{'manager':3, " REPLICAS_OF "}]", NULL, false },
		{ "[{'manager':'kubectl-edit', " REPLICAS_OF "}]", "kubectl-edit", false },
		{ "[{'manager':'kscaled','subresource':'scale', " REPLICAS_OF
		  "},{'manager':'x','subresource':'status','fieldsV1':{'f:status':{'f:replicas':{}}}}]",
			"kscaled", true },
		{ "[{'manager':'a','subresource':'status', " REPLICAS_OF "}]", "a", false },
		{ "[{'manager':'new','time':'2026-01-02T03:04:06Z', " REPLICAS_OF
		  "},{'manager':'old','time':'2026-01-02T03:04:05Z','subresource':'scale', " REPLICAS_OF "}]",
			"new", false },
		{ "[{'manager':'old','time':'2026-01-02T03:04:05Z', " REPLICAS_OF
		  "},{'manager':'none','time':'x', " REPLICAS_OF "}]",
			"old", false },
		{ "[{'manager':'a','time':'2026-01-02T03:04:05Z', " REPLICAS_OF
		  "},{'manager':'b','time':'2026-01-02T03:04:05Z', " REPLICAS_OF "}]",
			"b", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'web','managedFields':%s}}", cases[i].fields);
		struct workload *w = decode(text, NULL);

		assert_non_null(w);
		if (cases[i].manager == NULL)
			assert_null(w->replicas_manager);
		else
			assert_string_equal(w->replicas_manager, cases[i].manager);
		assert_int_equal(w->replicas_by_scale, cases[i].by_scale);
		workload_free(w);
		free(text);
	}
}

static void test_not_a_workload(void **state)
{
	static const char *const cases[] = { "null", "[]", "{}", "{'metadata':[]}", "{'metadata':{'name':3}}",
		"{'metadata':{'name':'x','uid':{}}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };

		assert_null(decode(cases[i], &err));
		assert_int_equal(err.kind, ERR_INVALID);
	}
}

/* ---- Secrets and ConfigMaps. A fake: the cache watches the real ones ---- */

static char looked_up[1024]; /* each with a blank */

static void note(enum keydata_kind kind, const char *name, const char *key)
{
	size_t len = strlen(looked_up);

	snprintf(looked_up + len, sizeof(looked_up) - len, "%s/%s/%s ", kind == KEYDATA_SECRET ? "s" : "c", name, key);
}

static int object_of(enum keydata_kind kind, const char *name, struct err *err)
{
	const char *what = kind == KEYDATA_SECRET ? "Secret" : "ConfigMap";

	if (strcmp(name, "unread") == 0)
		return err_set(err, ERR_WAITING, "waits for %s shop/%s", what, name);
	if (strcmp(name, "denied") == 0)
		return err_set(err, ERR_DENIED, "%s shop/%s: forbidden", what, name);
	return strcmp(name, "creds") == 0 ? 0 : err_set(err, ERR_MISSING, "%s shop/%s does not exist", what, name);
}

/* Secret and ConfigMap "creds" have pw and A. */
static int fake_key(void *arg, enum keydata_kind kind, const char *name, const char *key, const char **value,
	struct err *err)
{
	(void)arg;
	note(kind, name, key);
	if (object_of(kind, name, err))
		return -1;
	*value = kind == KEYDATA_SECRET ? "s3cret" : "configured";
	return strcmp(key, "pw") == 0 || strcmp(key, "A") == 0
		? 0
		: err_set(err, ERR_MISSING, "%s shop/%s has no key \"%s\"",
			  kind == KEYDATA_SECRET ? "Secret" : "ConfigMap", name, key);
}

static int fake_all(void *arg, enum keydata_kind kind, const char *name, const struct strmap **data, struct err *err)
{
	static char a[] = "A", pw[] = "pw";
	static struct strmap_pair secret[] = { { a, "s3cret" }, { pw, "s3cret" } },
				  config[] = { { a, "configured" }, { pw, "configured" } };
	static const struct strmap maps[] = { { secret, 2 }, { config, 2 } };

	(void)arg;
	note(kind, name, "");
	*data = &maps[kind == KEYDATA_CONFIG_MAP];
	return object_of(kind, name, err);
}

static const struct workload_lookup lookup = { .key = fake_key, .all = fake_all };

/* All that the containers name is wanted, and some that they do not. */
static int environment(const struct workload *w, const char *container, struct strmap *known, struct strmap *unresolved,
	struct err *err)
{
	struct strmap wanted = { 0 };
	int result;

	strmap_set(&wanted, "NOWHERE", "");
	for (size_t i = 0; i < w->container_count; i++)
		for (size_t j = 0; j < w->containers[i].env_count; j++)
			strmap_set(&wanted, w->containers[i].env[j].name, "");
	looked_up[0] = '\0';
	result = workload_environment(w, container, &wanted, &lookup, known, unresolved, err);
	strmap_done(&wanted);
	return result;
}

/* Nothing in a pod template may hide the replicas. */
static void test_odd_templates(void **state)
{
	static const char *const cases[] = { "3", "{'spec':[]}", "{'spec':{'containers':{}}}",
		"{'spec':{'containers':[3,null,{'name':5,'env':3,'envFrom':{}}]}}",
		"{'spec':{'containers':[{'env':[3,null,{'name':4,'value':5},{'valueFrom':3}]}]}}",
		"{'spec':{'containers':[{'env':[{'name':'a','valueFrom':{'secretKeyRef':3}}],'envFrom':[3,{}]}]}}",
		"{'spec':{'containers':[{'envFrom':[{'secretRef':[]}]}]}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'web'},'spec':{'replicas':4,'selector':[],'template':%s},'"
					"status':[]}",
			cases[i]);
		struct strmap env = { 0 }, unresolved = { 0 };
		struct err err = { 0 };
		struct workload *w = decode(text, &err);

		assert_non_null(w);
		assert_int_equal(w->replicas, 4);
		environment(w, NULL, &env, &unresolved, &err);
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
	char *text = mem_printf("{'metadata':{'name':'web'},'spec':{'template':{'spec':{'containers':[{'name':'main',%"
				"s},{'name':'side','env':[{'name':'A','value':'side'}]}]}}}}",
		container_fields);
	struct environment e = { .w = decode(text, NULL) };
	struct err err = { 0 };

	free(text);
	assert_non_null(e.w);
	assert_int_equal(environment(e.w, NULL, &e.known, &e.unresolved, &err), 0);
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
	static const struct {
		const char *value, *expanded;
	} cases[] = {
		{ "plain", "plain" },
		{ "$(A)", "one" },
		{ "x$(A)y$(B)z", "xoneytwoz" },
		{ "$$(A)", "$(A)" },
		{ "$$$(A)", "$one" },
		{ "$A", "$A" },
		{ "$(NONE)", "$(NONE)" },
		{ "$(A", "$(A" },
		{ "$()", "$()" },
		{ "$", "$" },
		{ "a$$", "a$" },
		{ "$(LATER)", "$(LATER)" },
		{ "$(A)$(", "one$(" },
		{ "($(A))", "(one)" },
		{ "$(A$(B)", "$(A$(B)" },
		{ "$$$$", "$$" },
		{ "\xC3\xA4$(A)", "\xC3\xA4one" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *fields = mem_printf("'env':[{'name':'A','value':'one'},{'name':'B','value':'two'},{'name':'X','"
					  "value':'%s'},{'name':'LATER','value':'late'}]",
			cases[i].value);
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

#define SECRET(name, secret) "{'name':'" name "','valueFrom':{'secretKeyRef':{'name':'" secret "','key':'pw'}}}"

static void test_unresolved(void **state)
{
	(void)state;
	check_unresolved("'env':[" SECRET("P", "gone") "]", "P", "is not available: Secret shop/gone does not exist");
	check_unresolved("'env':[{'name':'P','value':'','valueFrom':{'configMapKeyRef':{'name':'creds','key':'k'}}}]",
		"P", "is not available: ConfigMap shop/creds has no key \"k\"");
	check_unresolved("'env':[{'name':'P','valueFrom':{'secretKeyRef':{'name':'denied','key':'k','optional':true}}}"
			 "]",
		"P", "is not available: Secret shop/denied: forbidden");
	check_unresolved("'env':[{'name':'P','valueFrom':{'fieldRef':{'fieldPath':'x'}}}]", "P",
		"comes from a field of the pod");
	check_unresolved("'env':[" SECRET("P", "gone") ",{'name':'URL','value':'redis://:$(P)@host'}]", "URL",
		"refers to P, which is not available: Secret shop/gone does not exist");
	check_unresolved("'env':[" SECRET("P", "gone") ",{'name':'U','value':'$(P)'},{'name':'V','value':'$(U)'}]", "V",
		"refers to P, which is not available: Secret shop/gone does not exist");
	check_unresolved("'envFrom':[{'configMapRef':{'name':'creds'}},{'secretRef':{'name':'gone'}}]", "NOWHERE",
		"is not available: Secret shop/gone does not exist");
	check_unresolved("'envFrom':[{'configMapRef':{'name':'gone'}}],'env':[{'name':'U','value':'$(HOST):1'}]", "U",
		"refers to HOST, which is not available: ConfigMap shop/gone does not exist");
	/* of two entries of one name, the later counts */
	check_unresolved("'env':[{'name':'P','value':'plain'}," SECRET("P", "gone") "]", "P",
		"is not available: Secret shop/gone does not exist");
	{
		struct environment e = environment_of("'env':[" SECRET("P",
			"gone") ",{'name':'P','value':'plain'},{'name':'Q'},{'name':'R','value':''}]");

		assert_string_equal(strmap_get(&e.known, "P"), "plain");
		assert_string_equal(strmap_get(&e.known, "Q"), "");
		assert_string_equal(strmap_get(&e.known, "R"), "");
		assert_int_equal(e.unresolved.count, 0);
		assert_string_equal(looked_up, ""); /* unused entries are not looked up */
		environment_done(&e);
	}
}

static void check_resolved(const char *fields, const char *name, const char *value)
{
	struct environment e = environment_of(fields);
	const char *got = strmap_get(&e.known, name);

	if ((got == NULL) != (value == NULL) || (got != NULL && strcmp(got, value) != 0))
		fail_msg("%s: %s is \"%s\" instead of \"%s\"", fields, name, got != NULL ? got : "(absent)",
			value != NULL ? value : "(absent)");
	assert_null(strmap_get(&e.unresolved, name));
	environment_done(&e);
}

static void test_references(void **state)
{
	(void)state;
	check_resolved("'env':[" SECRET("P", "creds") "]", "P", "s3cret");
	check_resolved("'env':[{'name':'P','valueFrom':{'configMapKeyRef':{'name':'creds','key':'pw'}}}]", "P",
		"configured");
	check_resolved("'env':[" SECRET("P", "creds") ",{'name':'URL','value':'redis://:$(P)@host'}]", "URL",
		"redis://:s3cret@host");
	/* A missing optional reference defines no variable, or keeps the earlier one. */
	check_resolved("'env':[{'name':'P','valueFrom':{'secretKeyRef':{'name':'gone','key':'pw','optional':true}}}]",
		"P", NULL);
	check_resolved("'env':[{'name':'P','valueFrom':{'secretKeyRef':{'name':'creds','key':'no','optional':true}}}]",
		"P", NULL);
	check_resolved("'env':[{'name':'P','value':'before'},{'name':'P','valueFrom':{'secretKeyRef':{'name':'gone','"
		       "key':'pw','optional':true}}}]",
		"P", "before");
	check_resolved("'envFrom':[{'secretRef':{'name':'gone','optional':true}}],'env':[{'name':'U','value':'$(A)'}]",
		"U", "$(A)");
	/* envFrom: the later wins, env wins over all, a prefix belongs to the name. */
	check_resolved("'envFrom':[{'secretRef':{'name':'creds'}},{'configMapRef':{'name':'creds'}}],'env':[{'name':'U'"
		       ",'value':'$(pw)'}]",
		"U", "configured");
	check_resolved("'envFrom':[{'configMapRef':{'name':'creds'}},{'secretRef':{'name':'creds'}}],'env':[{'name':'U'"
		       ",'value':'$(pw)'}]",
		"U", "s3cret");
	check_resolved("'envFrom':[{'secretRef':{'name':'creds'}},{'configMapRef':{'name':'gone','optional':true}}],'"
		       "env':[{'name':'U','value':'$(pw)'}]",
		"U", "s3cret");
	check_resolved("'envFrom':[{'prefix':'X_','secretRef':{'name':'creds'}}],'env':[{'name':'U','value':'$(X_pw)$("
		       "pw)'}]",
		"U", "s3cret$(pw)");
	check_resolved("'envFrom':[{'secretRef':{'name':'creds'}}],'env':[{'name':'A','value':'plain'}]", "A", "plain");
	check_resolved("'envFrom':[{'secretRef':{'name':'creds'}}],'env':[{'name':'U','value':'$(A)'},{'name':'A','"
		       "value':'plain'}]",
		"U", "s3cret");
}

/* A container with many Secrets makes us look at those that are needed. */
static void test_only_wanted_variables(void **state)
{
	struct workload *w = decode("{'metadata':{'name':'web'},'spec':{'template':{'spec':{'containers':[{'envFrom':[{"
				    "'prefix':'Y_','secretRef':{'name':'many'}}],'env':[" SECRET("ONE",
					    "one") "," SECRET("P", "creds") "," SECRET("TWO",
					    "two") ",{'name':'URL','value':'$(P)$(Q)'}," SECRET("THREE",
					    "three") "]}]}}}}",
		NULL);
	struct strmap wanted = { 0 }, known = { 0 }, unresolved = { 0 };

	(void)state;
	strmap_set(&wanted, "URL", "");
	strmap_set(&wanted, "", "");
	looked_up[0] = '\0';
	assert_int_equal(workload_environment(w, NULL, &wanted, &lookup, &known, &unresolved, NULL), 0);
	assert_string_equal(strmap_get(&known, "URL"), "s3cret$(Q)");
	assert_string_equal(looked_up, "s/creds/pw ");
	assert_int_equal(unresolved.count, 0);
	strmap_done(&wanted);
	strmap_done(&known);
	workload_free(w);
}

/* An unread reference fails the whole, but all are requested at once. */
static void test_unread(void **state)
{
	struct workload *w =
		decode("{'metadata':{'name':'web'},'spec':{'template':{'spec':{'containers':[{'env':[" SECRET("ONE",
			       "unread") "," SECRET("P", "creds") "]}]}}}}",
			NULL);
	struct strmap known = { 0 }, unresolved = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(environment(w, NULL, &known, &unresolved, &err), -1);
	assert_int_equal(err.kind, ERR_WAITING);
	assert_string_equal(err.msg, "waits for Secret shop/unread");
	assert_string_equal(looked_up, "s/unread/pw s/creds/pw ");
	strmap_done(&known);
	strmap_done(&unresolved);
	workload_free(w);
}

/* More names in one text than anybody needs. */
static void test_too_many_referred(void **state)
{
	struct buf value = BUF_INIT(128 * 1024);
	struct workload_env env = { .source = WORKLOAD_ENV_VALUE };
	struct workload_container container = { .env = &env, .env_count = 1 };
	struct workload w = { .containers = &container, .container_count = 1 };
	struct strmap known = { 0 }, unresolved = { 0 };
	char name[] = "A", web[] = "web";

	(void)state;
	for (int i = 0; i < 3000; i++)
		buf_printf(&value, "$(V%d)", i);
	env.name = name;
	w.name = web;
	env.value = buf_take(&value);
	assert_int_equal(environment(&w, NULL, &known, &unresolved, NULL), 0);
	assert_string_equal(strmap_get(&unresolved, "A"),
		"refers to V2000, which exceeds the limit of referenced variables");
	strmap_done(&known);
	strmap_done(&unresolved);
	free(env.value);
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
	assert_int_equal(environment(e.w, "side", &known, &unresolved, &err), 0);
	assert_string_equal(strmap_get(&known, "A"), "side");
	strmap_done(&known);
	assert_int_equal(environment(e.w, "", &known, &unresolved, &err), 0);
	assert_string_equal(strmap_get(&known, "A"), "main");
	strmap_done(&known);
	assert_int_equal(environment(e.w, "other", &known, &unresolved, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_has(err.msg, "web has no container \"other\"");
	assert_int_equal(known.count, 0);
	/* A kind without a pod template has no environment, which is no error. */
	none.name = web;
	assert_int_equal(environment(&none, "other", &known, &unresolved, &err), 0);
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
	object = json_pack("{s:{s:s}, s:{s:{s:{s:[{s:o}]}}}}", "metadata", "name", "web", "spec", "template", "spec",
		"containers", "env", env);
	w = workload_decode(object, NULL);
	json_decref(object);
	assert_int_equal(environment(w, NULL, &known, &unresolved, NULL), 0);
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
	object = json_pack("{s:{s:s}, s:{s:{s:{s:[{s:o}]}}}}", "metadata", "name", "web", "spec", "template", "spec",
		"containers", "env", env);
	w = workload_decode(object, NULL);
	json_decref(object);
	assert_int_equal(w->containers[0].env_count, WORKLOAD_ENV_MAX);
	assert_int_equal(w->containers[0].env_left_out, 3000);
	assert_int_equal(environment(w, NULL, &known, &unresolved, NULL), 0);
	assert_int_equal(known.count, WORKLOAD_ENV_MAX);
	assert_string_equal(strmap_get(&unresolved, "NOWHERE"),
		"may be one of the variables past the first 2000, which are not read");
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
	assert_int_equal(environment(&w, NULL, &known, &unresolved, NULL), 0);
	assert_string_equal(strmap_get(&known, "A"), value);
	strmap_done(&known);
	free(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workload_ref),
		cmocka_unit_test(test_deployment),
		cmocka_unit_test(test_service_account),
		cmocka_unit_test(test_replicas),
		cmocka_unit_test(test_replicas_manager),
		cmocka_unit_test(test_not_a_workload),
		cmocka_unit_test(test_odd_templates),
		cmocka_unit_test(test_expansion),
		cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_only_wanted_variables),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_too_many_referred),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_unclosed_references),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
