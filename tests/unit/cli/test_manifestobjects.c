/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manifestobjects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

static void paths_of_kinds(void **state)
{
	static const struct {
		const char *version, *kind, *namespace_, *path, *title;
	} rows[] = {
		{ "v1", "Namespace", NULL, "/api/v1/namespaces/x", "Namespace x" },
		{ "v1", "Service", "n", "/api/v1/namespaces/n/services/x", "Service n/x" },
		{ "v1", "Endpoints", "n", "/api/v1/namespaces/n/endpoints/x", "Endpoints n/x" },
		{ "discovery.k8s.io/v1", "EndpointSlice", "n",
			"/apis/discovery.k8s.io/v1/namespaces/n/endpointslices/x", "EndpointSlice n/x" },
		{ "networking.k8s.io/v1", "NetworkPolicy", "n",
			"/apis/networking.k8s.io/v1/namespaces/n/networkpolicies/x", "NetworkPolicy n/x" },
		{ "networking.k8s.io/v1", "Ingress", "n", "/apis/networking.k8s.io/v1/namespaces/n/ingresses/x",
			"Ingress n/x" },
		{ "apiregistration.k8s.io/v1", "APIService", NULL, "/apis/apiregistration.k8s.io/v1/apiservices/x",
			"APIService x" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		json_t *object = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", rows[i].version, "kind", rows[i].kind,
			"metadata", "name", "x");

		if (rows[i].namespace_)
			json_object_set_new(json_object_get(object, "metadata"), "namespace",
				json_string(rows[i].namespace_));
		MEM_AUTO char *path = manifestobjects_path(object), *title = manifestobjects_title(object);

		assert_string_equal(path, rows[i].path);
		assert_string_equal(title, rows[i].title);
		json_decref(object);
	}
}

static void converts_all_manifests(void **state)
{
	struct manifests_params params = { .host = "10.0.0.7:8443" };
	struct err err = { 0 };
	struct documents *objects = manifestobjects_make(&params, &err);
	bool has_slice = false;

	(void)state;
	assert_non_null(objects);
	assert_true(objects->count > 20);
	assert_true(json_str_is(objects->list[0].json, "kind", "Namespace"));
	for (size_t i = 0; i < objects->count; i++) {
		MEM_AUTO char *path = manifestobjects_path(objects->list[i].json);

		assert_null(strstr(path, "//"));
		assert_true(path[strlen(path) - 1] != '/');
		has_slice = has_slice || json_str_is(objects->list[i].json, "kind", "EndpointSlice");
	}
	assert_true(has_slice);
	documents_free(objects);
	params.host = "nowhere";
	assert_null(manifestobjects_make(&params, &err));
	assert_int_equal(err.kind, ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_kinds),
		cmocka_unit_test(converts_all_manifests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
