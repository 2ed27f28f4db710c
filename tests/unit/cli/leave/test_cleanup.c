/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/leave/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

/* JSON with ' for ". */
static json_t *json_of(const char *text)
{
	MEM_AUTO char *copy = mem_dup(text);
	json_t *value;

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	value = json_parse(copy, strlen(copy), NULL);
	assert_non_null(value);
	return value;
}

static void removes_only_our_finalizers(void **state)
{
	static const struct {
		const char *object, *patch; /* NULL: there is none */
	} rows[] = {
		{ "{'metadata':{'resourceVersion':'7','finalizers':['finalizer.keda.sh']}}",
			"{'metadata':{'resourceVersion':'7','finalizers':[]}}" },
		{ "{'metadata':{'resourceVersion':'7','finalizers':['a','kscaled.io/restore','b']}}",
			"{'metadata':{'resourceVersion':'7','finalizers':['a','b']}}" },
		{ "{'metadata':{'resourceVersion':'7','finalizers':['a']}}", NULL },
		{ "{'metadata':{'resourceVersion':'7'}}", NULL },
		{ "{}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		json_t *object = json_of(rows[i].object), *wanted = rows[i].patch ? json_of(rows[i].patch) : NULL;
		json_t *patch = cleanup_without_finalizer(object);

		assert_true(wanted ? json_equal(patch, wanted) : !patch);
		json_decref(object);
		json_decref(wanted);
		json_decref(patch);
	}
}

static void points_to_the_service(void **state)
{
	static const struct {
		const char *object;
		bool to_us;
	} rows[] = {
		{ "{'spec':{'service':{'namespace':'n','name':'s'}}}", true },
		{ "{'spec':{'service':{'namespace':'keda','name':'s'}}}", false },
		{ "{'spec':{}}", false },
		{ "{'webhooks':[{'clientConfig':{'service':{'namespace':'n','name':'s'}}}]}", true },
		{ "{'webhooks':[{'clientConfig':{'service':{'namespace':'n','name':'s'}}},{'clientConfig':{'url':'x'}}]"
		  "}",
			false },
		{ "{'webhooks':[]}", true },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		json_t *object = json_of(rows[i].object);

		assert_true(cleanup_leads_to(object, "n", "s") == rows[i].to_us);
		json_decref(object);
	}
}

static void owner_of_an_hpa(void **state)
{
	static const struct {
		const char *hpa;
		const char *owner; /* NULL: none */
		bool ours;
	} rows[] = {
		{ "{'metadata':{'ownerReferences':[{'kind':'ScaledObject','apiVersion':'keda.sh/v1alpha1','name':'a'}],"
		  "'labels':{'app.kubernetes.io/managed-by':'keda-operator'}}}",
			"a", false },
		{ "{'metadata':{'ownerReferences':[{'kind':'ScaledObject','apiVersion':'keda.sh/v1alpha1','name':'b'}],"
		  "'labels':{'kscaled.io/managed':'true'}}}",
			"b", true },
		{ "{'metadata':{'ownerReferences':[{'kind':'ScaledObject','apiVersion':'example.com/v1'}]}}", NULL,
			false },
		{ "{'metadata':{'ownerReferences':[{'kind':'Deployment','apiVersion':'apps/v1'}]}}", NULL, false },
		{ "{'metadata':{'labels':{'app.kubernetes.io/managed-by':'kscaled'}}}", NULL, true },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		json_t *hpa = json_of(rows[i].hpa);

		const char *owner = cleanup_scaledobject_of(hpa);

		assert_true(owner && rows[i].owner ? strcmp(owner, rows[i].owner) == 0 : owner == rows[i].owner);
		assert_true(cleanup_is_our_hpa(hpa) == rows[i].ours);
		json_decref(hpa);
	}
}

#define OBJECT(name, gvkr, count)                                                                                      \
	"{'metadata':{'namespace':'shop'},'spec':{'scaleTargetRef':{'name':'" name                                     \
	"'}},'status':{'scaleTargetGVKR':{" gvkr "},'originalReplicaCount':" count "}}"

static void counts_all_objects(void **state)
{
	static const struct {
		const char *object, *path; /* NULL: unknown */
		int64_t replicas;
	} rows[] = {
		{ OBJECT("web", "'group':'apps','version':'v1','resource':'deployments'", "3"),
			"/apis/apps/v1/namespaces/shop/deployments/web/scale", 3 },
		{ OBJECT("web", "'group':'','version':'v1','resource':'replicationcontrollers'", "0"),
			"/api/v1/namespaces/shop/replicationcontrollers/web/scale", 0 },
		{ OBJECT("web", "'version':'v1','resource':'deployments'", "-1"), NULL, 0 },
		{ OBJECT("web", "'version':'v1','resource':'deployments'", "'3'"), NULL, 0 },
		{ OBJECT("web", "'version':'v1'", "3"), NULL, 0 },
		{ OBJECT("../../x", "'version':'v1','resource':'deployments'", "3"), NULL, 0 },
		{ OBJECT("web", "'group':'a/b','version':'v1','resource':'deployments'", "3"), NULL, 0 },
		{ "{'metadata':{'namespace':'shop'}}", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		json_t *object = json_of(rows[i].object);
		int64_t replicas = 0;
		MEM_AUTO char *path = cleanup_original(object, &replicas);

		if (rows[i].path) {
			assert_non_null(path);
			assert_string_equal(path, rows[i].path);
			assert_int_equal(replicas, rows[i].replicas);
		} else {
			assert_null(path);
		}
		json_decref(object);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(removes_only_our_finalizers),
		cmocka_unit_test(points_to_the_service),
		cmocka_unit_test(owner_of_an_hpa),
		cmocka_unit_test(counts_all_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
