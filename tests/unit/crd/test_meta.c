/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/meta.h"

#include "given.h"

static void test_all_fields(void **state)
{
	json_t *object = given_json(
		"{'metadata':{'name':'web','namespace':'shop','uid':'u-1','resourceVersion':'42','generation':7,"
		"'creationTimestamp':'2026-01-02T03:04:05Z','deletionTimestamp':'2026-01-02T03:05:05Z',"
		"'labels':{'b':'2','a':'1'},'annotations':{'kubectl.kubernetes.io/"
		"last-applied-configuration':'{}','x':'y'},"
		"'finalizers':['finalizer.keda.sh','other'],'managedFields':[{'manager':'x'}],"
		"'ownerReferences':[{'apiVersion':'v1','kind':'A','name':'a','uid':'ua'},{'apiVersion':'keda.sh/"
		"v1alpha1','kind':'ScaledObject','name':'web','uid':'us','controller':true}]}}");
	struct meta m;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(meta_decode(object, &m, &err), 0);
	json_decref(object);
	assert_string_equal(m.name, "web");
	assert_string_equal(m.namespace_, "shop");
	assert_string_equal(m.uid, "u-1");
	assert_string_equal(m.resource_version, "42");
	assert_int_equal(m.generation, 7);
	assert_int_equal(m.created_unix_ms, 1767323045000);
	assert_int_equal(m.deleted_unix_ms, 1767323105000);
	assert_string_equal(strmap_get(&m.labels, "a"), "1");
	assert_int_equal(m.annotations.count, 1);
	assert_string_equal(strmap_get(&m.annotations, "x"), "y");
	assert_true(meta_has_finalizer(&m, "finalizer.keda.sh"));
	assert_true(meta_has_finalizer(&m, "other"));
	assert_false(meta_has_finalizer(&m, "finalizer"));
	assert_int_equal(m.owner_count, 2);
	assert_string_equal(meta_controller(&m)->uid, "us");
	assert_string_equal(m.owners[0].kind, "A");
	meta_done(&m);
	meta_done(&m);
}

static void test_least(void **state)
{
	json_t *object = given_json(
		"{'metadata':{'name':'web','labels':null,'finalizers':null,'ownerReferences':[{}]}}");
	struct meta m;

	(void)state;
	assert_int_equal(meta_decode(object, &m, NULL), 0);
	json_decref(object);
	assert_string_equal(m.namespace_, "");
	assert_string_equal(m.uid, "");
	assert_string_equal(m.resource_version, "");
	assert_int_equal(m.deleted_unix_ms, 0);
	assert_string_equal(m.owners[0].uid, "");
	assert_null(meta_controller(&m));
	meta_done(&m);
}

/* A NUL in a value, which the API server stores: no object is lost because of it. */
static void test_nul(void **state)
{
	json_t *object = given_json(
		"{'metadata':{'name':'web','labels':{'l':'a\\u0000b'},"
		"'annotations':{'autoscaling.keda.sh/paused':'true\\u0000','b':'\\u0000x\\u0000','c':'d'}}}");
	struct meta m;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(meta_decode(object, &m, &err), 0);
	json_decref(object);
	assert_string_equal(strmap_get(&m.annotations, "autoscaling.keda.sh/paused"), "true\xEF\xBF\xBD");
	assert_string_equal(strmap_get(&m.annotations, "b"), "\xEF\xBF\xBDx\xEF\xBF\xBD");
	assert_string_equal(strmap_get(&m.annotations, "c"), "d");
	assert_string_equal(strmap_get(&m.labels, "l"),
		"a\xEF\xBF\xBD"
		"b");
	meta_done(&m);
}

/*
 * As many finalizers and owners as an object has room for: all are kept, as a patch writes them
 * all.
 */
static void test_many(void **state)
{
	json_t *object = given_json("{'metadata':{'name':'web'}}"), *finalizers = json_array(), *owners = json_array(),
	       *meta = json_object_get(object, "metadata"), *patch;
	struct meta m;
	char *body;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		json_array_append_new(finalizers, json_string("a.finalizer/of-somebody"));
		json_array_append_new(owners, json_pack("{s:s, s:s}", "name", "a", "uid", "u"));
	}
	json_object_set_new(json_array_get(owners, 19999), "controller", json_true());
	json_object_set_new(meta, "finalizers", finalizers);
	json_object_set_new(meta, "ownerReferences", owners);
	assert_int_equal(meta_decode(object, &m, NULL), 0);
	assert_int_equal(m.finalizer_count, 20000);
	assert_string_equal(meta_controller(&m)->uid, "u");
	body = meta_finalizers_patch(&m, (const char *const[]){ NULL }, "ours");
	patch = json_parse(body, strlen(body), NULL);
	assert_int_equal(json_array_size(json_object_get(json_object_get(patch, "metadata"), "finalizers")), 20001);
	json_decref(patch);
	free(body);
	json_decref(object);
	meta_done(&m);
}

static void test_refused(void **state)
{
	static const struct {
		const char *object, *message;
	} cases[] = {
		{ "[]", "not a Kubernetes object" },
		{ "null", "not a Kubernetes object" },
		{ "{}", "metadata.name: missing" },
		{ "{'metadata':null}", "metadata.name: missing" },
		{ "{'metadata':{'name':''}}", "metadata.name: missing" },
		{ "{'metadata':7}", "metadata: must be an object, not a number" },
		{ "{'metadata':{'name':['x']}}", "metadata.name: must be a string, not an array" },
		{ "{'metadata':{'name':'x','generation':1e30}}", "metadata.generation: " },
		{ "{'metadata':{'name':'x','creationTimestamp':'yesterday'}}", "metadata.creationTimestamp: " },
		{ "{'metadata':{'name':'x','labels':{'a':1}}}", "metadata.labels.a: must be a string, not a number" },
		{ "{'metadata':{'name':'x','annotations':{'a.b/c':{}}}}",
			"metadata.annotations[a.b/c]: must be a string, not an object" },
		{ "{'metadata':{'name':'x\\u0000y'}}", "metadata.name: must not contain a NUL" },
		{ "{'metadata':{'name':'x','finalizers':{}}}", "metadata.finalizers: must be an array, not an object" },
		{ "{'metadata':{'name':'x','ownerReferences':[{'uid':'u'},3]}}",
			"metadata.ownerReferences[1]: must be an object, not a number" },
		{ "{'metadata':{'name':'x','ownerReferences':[{'uid':3}]}}",
			"metadata.ownerReferences[0].uid: must be a string, not a number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *object = given_json(cases[i].object);
		struct err err = { 0 };
		struct meta m;

		assert_int_equal(meta_decode(object, &m, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_has(err.msg, cases[i].message);
		json_decref(object);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_least),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
