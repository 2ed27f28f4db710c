/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/replacement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "cli/documents.h"
#include "cli/manifestobjects.h"

/* The object of this kind from `kscaled manifests --host`. The caller owns it; NULL: none. */
static json_t *made(const char *host, const char *kind)
{
	struct manifests_params params = { .host = host };
	struct err err = { 0 };
	struct documents *objects = manifestobjects_make(&params, &err);
	json_t *found = NULL;

	assert_non_null(objects);
	for (size_t i = 0; i < objects->count; i++)
		if (json_str_is(objects->list[i].json, "kind", kind))
			found = json_deep_copy(objects->list[i].json);
	documents_free(objects);
	return found;
}

#define IPV4       "192.0.2.7:8443"
#define OTHER_IPV4 "192.0.2.8:1"
#define IPV6       "[2001:db8::7]:8443"
#define WORD       "scaler.example.com:8443"
#define OTHER_WORD "localhost:1"

static void from_address_to_address(void **state)
{
	static const struct {
		const char *from, *to;
		enum replacement service, slice;
	} rows[] = {
		{ IPV4, IPV4, REPLACEMENT_NONE, REPLACEMENT_NONE },
		{ IPV4, OTHER_IPV4, REPLACEMENT_NONE, REPLACEMENT_NONE },
		{ IPV4, IPV6, REPLACEMENT_CLEAR, REPLACEMENT_DELETE },
		{ IPV6, IPV4, REPLACEMENT_CLEAR, REPLACEMENT_DELETE },
		{ IPV4, WORD, REPLACEMENT_CLEAR, REPLACEMENT_NONE },
		{ WORD, IPV6, REPLACEMENT_CLEAR, REPLACEMENT_NONE },
		{ WORD, OTHER_WORD, REPLACEMENT_NONE, REPLACEMENT_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *service = made(rows[i].from, "Service"), *wanted = made(rows[i].to, "Service");
		json_t *slice = made(rows[i].from, "EndpointSlice"), *wanted_slice = made(rows[i].to, "EndpointSlice");

		assert_true(replacement_is_ours(service));
		if (replacement_for(service, wanted) != rows[i].service)
			fail_msg("Service from %s to %s", rows[i].from, rows[i].to);
		if (wanted_slice && replacement_for(slice, wanted_slice) != rows[i].slice)
			fail_msg("EndpointSlice from %s to %s", rows[i].from, rows[i].to);
		json_decref(service);
		json_decref(wanted);
		json_decref(slice);
		json_decref(wanted_slice);
	}
}

/* A Service as completed by the API server: always with an IP family. */
static void objects_of_others(void **state)
{
	json_t *wanted = made(IPV4, "Service");
	json_t *there = json_pack("{s:s, s:{s:s}, s:{s:s, s:[s, s]}}", "kind", "Service", "metadata", "name", "kscaled",
		"spec", "type", "LoadBalancer", "ipFamilies", "IPv4", "IPv6");

	(void)state;
	assert_false(replacement_is_ours(there));
	assert_int_equal(replacement_for(there, wanted), REPLACEMENT_NONE);
	json_object_set_new(json_object_get(there, "metadata"), "labels",
		json_pack("{s:s}", "app.kubernetes.io/part-of", "another"));
	assert_false(replacement_is_ours(there));
	json_decref(there);
	json_decref(wanted);
}

static void clear_patch_leaves_only_the_name(void **state)
{
	json_t *patch = replacement_clear_patch();

	(void)state;
	assert_non_null(patch);
	assert_int_equal(json_object_size(patch), 1);
	assert_true(json_is_null(json_object_get(json_object_get(patch, "spec"), "ports")));
	assert_true(json_is_null(json_object_get(json_object_get(patch, "spec"), "clusterIPs")));
	json_decref(patch);
}

static void tidy_patch(void **state)
{
	json_t *address = made(IPV6, "Service"), *word = made(WORD, "Service"),
	       *patch = replacement_tidy_patch(address);

	(void)state;
	assert_true(json_is_null(json_object_get(json_object_get(patch, "spec"), "externalName")));
	assert_null(replacement_tidy_patch(word));
	json_decref(patch);
	json_decref(address);
	json_decref(word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_address_to_address),
		cmocka_unit_test(objects_of_others),
		cmocka_unit_test(clear_patch_leaves_only_the_name),
		cmocka_unit_test(tidy_patch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
