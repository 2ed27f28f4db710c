/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/lease.h"

#include "given.h"

static void test_round_trip(void **state)
{
	json_t *object = given_json("{'apiVersion':'coordination.k8s.io/"
				    "v1','kind':'Lease','metadata':{'name':'operator.keda.sh','resourceVersion':'9'},'"
				    "spec':{'holderIdentity':'host-1','leaseDurationSeconds':15,"
				    "'acquireTime':'2026-01-02T03:04:05.678000Z','renewTime':'2026-01-02T03:04:15."
				    "000001Z','leaseTransitions':4}}");
	struct lease l;
	struct err err = { 0 };
	char *text, *wanted;

	(void)state;
	assert_int_equal(lease_decode(object, &l, &err), 0);
	json_decref(object);
	assert_string_equal(l.holder, "host-1");
	assert_string_equal(l.resource_version, "9");
	assert_int_equal(l.duration_s, 15);
	assert_int_equal(l.acquired_unix_ms, 1767323045678);
	assert_int_equal(l.renewed_unix_ms, 1767323055000);
	assert_int_equal(l.transitions, 4);
	text = lease_encode("kscaled", "operator.keda.sh", &l);
	wanted = given_text("{'metadata':{'namespace':'kscaled','name':'operator.keda.sh','resourceVersion':'9'},'"
			    "apiVersion':'coordination.k8s.io/v1','kind':'Lease',"
			    "'spec':{'holderIdentity':'host-1','leaseDurationSeconds':15,'acquireTime':'2026-01-02T03:"
			    "04:05.678000Z','renewTime':'2026-01-02T03:04:15.000000Z','leaseTransitions':4}}");
	{
		json_t *a = json_parse(text, strlen(text), NULL), *b = json_parse(wanted, strlen(wanted), NULL);

		assert_true(json_equal(a, b));
		json_decref(a);
		json_decref(b);
	}
	free(text);
	free(wanted);
	lease_done(&l);
	lease_done(&l);
}

static void test_create(void **state)
{
	struct lease l = { .duration_s = 15 };
	char *text = lease_encode("ns", "n", &l);

	(void)state;
	assert_null(strstr(text, "resourceVersion"));
	assert_null(strstr(text, "Time"));
	assert_has(text, "\"holderIdentity\":\"\"");
	free(text);
}

static void test_no_holder(void **state)
{
	static const char *const cases[] = { "{}", "{'spec':null}", "{'spec':{}}", "{'spec':{'holderIdentity':null}}",
		"{'spec':{'holderIdentity':''}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *object = given_json(cases[i]);
		struct lease l;

		assert_int_equal(lease_decode(object, &l, NULL), 0);
		assert_string_equal(l.holder, "");
		assert_string_equal(l.resource_version, "");
		assert_int_equal(l.renewed_unix_ms, 0);
		lease_done(&l);
		json_decref(object);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *object, *message;
	} cases[] = {
		{ "3", "not a Kubernetes object" },
		{ "{'metadata':[]}", "metadata: must be an object, not an array" },
		{ "{'spec':'x'}", "spec: must be an object, not a string" },
		{ "{'spec':{'holderIdentity':3}}", "spec.holderIdentity: must be a string" },
		{ "{'spec':{'leaseDurationSeconds':'15'}}", "spec.leaseDurationSeconds: must be a whole number" },
		{ "{'spec':{'leaseTransitions':1e300}}", "spec.leaseTransitions: must be from" },
		{ "{'spec':{'holderIdentity':'a','renewTime':'now'}}", "spec.renewTime: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *object = given_json(cases[i].object);
		struct err err = { 0 };
		struct lease l;

		assert_int_equal(lease_decode(object, &l, &err), -1);
		assert_has(err.msg, cases[i].message);
		json_decref(object);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_no_holder),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
