/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static const struct doctor_setup usual = { .manifests = { .namespace_ = "kscaled", .service_name = "kscaled" } };

/*
 * The number of rights of a role with this verb and resource in this namespace ("": the cluster).
 */
static size_t count_of(const struct doctor_setup *s, const char *role, const char *verb, const char *resource,
	const char *namespace_)
{
	struct err err = { 0 };
	json_t *needs = rights_needed(s, &err), *need;
	size_t i, count = 0;

	assert_non_null(needs);
	json_array_foreach(needs, i, need)
	{
		const json_t *attributes = json_object_get(need, "attributes");

		count += json_str_is(need, "role", role) && json_str_is(attributes, "verb", verb) &&
			json_str_is(attributes, "resource", resource) &&
			strcmp(json_str_or_empty(attributes, "namespace"), namespace_) == 0;
	}
	json_decref(needs);
	return count;
}

static void rights_of_all_roles(void **state)
{
	(void)state;
	assert_int_equal(count_of(&usual, "kscaled", "list", "clustertriggerauthentications", ""), 1);
	/* One per name. */
	assert_int_equal(count_of(&usual, "kscaled", "patch", "apiservices", ""), 2);
	assert_int_equal(count_of(&usual, "kscaled", "update", "leases", "kscaled"), 1);
	assert_int_equal(count_of(&usual, "kscaled-jobs", "create", "jobs", ""), 1);
	assert_int_equal(count_of(&usual, "kscaled-secrets", "list", "secrets", ""), 1);
	assert_int_equal(count_of(&usual, "kscaled-events", "create", "events", "default"), 0);
	/* Every kind, and sub-resources. */
	assert_int_equal(count_of(&usual, "kscaled-scale", "patch", "*", ""), 1);
	/* Kubernetes' own roles. */
	assert_int_equal(count_of(&usual, "system:auth-delegator", "create", "subjectaccessreviews", ""), 1);
	assert_int_equal(count_of(&usual, "extension-apiserver-authentication-reader", "get", "configmaps",
				 "kube-system"),
		1);
	/* Of another account. */
	assert_int_equal(count_of(&usual, "kscaled-external-metrics-reader", "list", "*", ""), 1);
}

static void options_change_the_rights(void **state)
{
	struct doctor_setup s = usual;

	(void)state;
	s.manifests.no_scaledjobs = true;
	assert_int_equal(count_of(&s, "kscaled-jobs", "create", "jobs", ""), 0);
	s = usual;
	s.manifests.restrict_secrets = true;
	assert_int_equal(count_of(&s, "kscaled-secrets", "list", "secrets", ""), 0);
	s = usual;
	s.manifests.scale_kinds = "rollouts.argoproj.io";
	assert_int_equal(count_of(&s, "kscaled-scale", "patch", "*", ""), 0);
	assert_int_equal(count_of(&s, "kscaled-scale", "patch", "rollouts", ""), 1);
	s = usual;
	s.manifests.watch_namespaces = "shop,stock";
	assert_int_equal(count_of(&s, "kscaled-workloads", "list", "scaledobjects", ""), 0);
	assert_int_equal(count_of(&s, "kscaled-workloads", "list", "scaledobjects", "shop"), 1);
	assert_int_equal(count_of(&s, "kscaled-workloads", "list", "scaledobjects", "stock"), 1);
	assert_int_equal(count_of(&s, "kscaled-events", "create", "events", "default"), 1);
	s = usual;
	s.manifests.no_webhook = true;
	assert_int_equal(count_of(&s, "kscaled", "patch", "validatingwebhookconfigurations", ""), 0);
	s = usual;
	s.manifests.service_account_tokens = true;
	assert_int_equal(count_of(&s, "kscaled-tokens", "create", "serviceaccounts", ""), 1);
	s = usual;
	s.manifests.host = "host.example:8443";
	assert_int_equal(count_of(&s, "kscaled", "create", "serviceaccounts", "kscaled"), 1);
}

/* The Pod's account has them, whatever its name; other accounts keep theirs. */
static void rights_of_another_account(void **state)
{
	struct doctor_setup s = usual;
	struct err err = { 0 };
	size_t i, own = 0, others = 0;
	json_t *needs, *need;

	(void)state;
	s.account = "mine";
	needs = rights_needed(&s, &err);
	json_array_foreach(needs, i, need)
	{
		assert_false(json_str_is(need, "account", "system:serviceaccount:kscaled:kscaled"));
		own += json_str_is(need, "account", "system:serviceaccount:kscaled:mine");
		others += json_str_is(need, "account", "system:serviceaccount:kube-system:horizontal-pod-autoscaler");
	}
	assert_true(own > 10 && others > 0);
	json_decref(needs);
}

static void invalid_options(void **state)
{
	struct doctor_setup s = usual;
	struct err err = { 0 };

	(void)state;
	s.manifests.host = "host";
	assert_null(rights_needed(&s, &err));
	assert_non_null(strstr(err.msg, "--host"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_of_all_roles),
		cmocka_unit_test(options_change_the_rights),
		cmocka_unit_test(rights_of_another_account),
		cmocka_unit_test(invalid_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
