/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/release.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

static const struct doctor_setup usual = { .manifests = { .namespace_ = "kscaled", .service_name = "kscaled" },
	.kubeconfig = "k",
	.lease_name = "operator.keda.sh",
	.keda_namespace = "keda" };

/* Quotes are apostrophes. */
static json_t *facts_of(const char *text)
{
	MEM_AUTO char *copy = mem_dup(text);
	json_t *facts;

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	facts = json_parse(copy, strlen(copy), NULL);
	assert_non_null(facts);
	return facts;
}

#define LACKS "{'error': 'missing', 'message': 'no'}"
#define HELM                                                                                                           \
	"'deployment': {'object': {'metadata': {'labels': {'app.kubernetes.io/name': 'kscaled', "                      \
	"'app.kubernetes.io/version': '7', 'app.kubernetes.io/managed-by': 'Helm'}, 'annotations': "                   \
	"{'meta.helm.sh/release-name': 'mine', 'meta.helm.sh/release-namespace': 'kscaled'}}, 'spec': {'template': "   \
	"{'spec': {'serviceAccountName': 'other', 'containers': [{'name': 'kscaled', 'args': ['run', "                 \
	"'--service-name=metrics', '--webhook=false'], 'env': [{'name': 'KSCALED_LEASE_NAME', 'value': 'mine'}], "     \
	"'resources': {'requests': {'cpu': '20m'}, 'limits': {'memory': '96Mi'}}}]}}}}}"
#define ROLE(kind, name, more) "{'kind': '" kind "', 'metadata': {'name': '" name "'" more "}}"

/* From the objects of an installation. */
static void reads_how_it_was_installed(void **state)
{
	struct doctor_setup s = usual, given = { .given = NULL };
	json_t *facts;

	(void)state;
	facts = facts_of("{" HELM ", 'roles': {'object': [" ROLE("Role", "kscaled-workloads",
		", 'namespace': 'shop'") ", {'kind': "
					 "'Role', 'metadata': {'name': 'kscaled-scale'}, 'rules': [{'apiGroups': "
					 "['apps'], 'resources': "
					 "['deployments']}, {'apiGroups': ['apps'], 'resources': "
					 "['deployments/scale']}, {'apiGroups': "
					 "['argoproj.io'], 'resources': ['rollouts/scale']}]}]}}");
	release_read(&s, facts);
	assert_int_equal(s.installer, DOCTOR_HELM);
	assert_string_equal(s.release, "mine");
	assert_string_equal(s.account, "other");
	assert_string_equal(s.manifests.service_name, "metrics");
	assert_string_equal(s.lease_name, "mine");
	assert_string_equal(s.manifests.scale_kinds, "deployments,rollouts.argoproj.io");
	assert_true(s.manifests.no_scaledjobs && s.manifests.no_webhook && !s.manifests.service_account_tokens &&
		!s.manifests.restrict_secrets);
	json_decref(facts);

	/* In kscaled's container, without the right to read the Deployment. */
	s = usual;
	facts = facts_of("{'command': {'object': ['kscaled', 'run', '--watch-namespace=shop', '--webhook=false', "
			 "'--restrict-secret-access']}}");
	release_read(&s, facts);
	assert_string_equal(s.manifests.watch_namespaces, "shop");
	assert_true(s.manifests.no_webhook && s.manifests.restrict_secrets);
	json_decref(facts);

	/* On a host, only from its roles. The command line takes precedence. */
	s = usual;
	facts = facts_of(
		"{'deployment': " LACKS
		", 'roles': {'object': [{'kind': 'Role', 'metadata': {'name': 'kscaled', 'labels': "
		"{'app.kubernetes.io/name': 'kscaled'}, 'managedFields': [{'manager': 'kscaled-join'}]}, 'rules': "
		"[{'resources': ['serviceaccounts/token'], 'verbs': ['create']}]}, " ROLE("Role", "kscaled-workloads",
			", 'namespace': 'a'") ", " ROLE("Role", "kscaled-workloads",
			", 'namespace': 'b'") ", " ROLE("Role", "kscaled-jobs", "") ", " ROLE("ClusterRole",
			"kscaled-scale-targets", "") "]}}");
	release_read(&s, facts);
	assert_int_equal(s.installer, DOCTOR_JOIN);
	assert_string_equal(s.manifests.watch_namespaces, "a,b");
	assert_null(s.manifests.scale_kinds);
	assert_true(!s.manifests.no_scaledjobs && s.manifests.service_account_tokens && s.manifests.restrict_secrets &&
		!s.manifests.no_webhook);
	s = usual;
	s.manifests.namespace_ = NULL;
	json_object_set_new(facts, "joined",
		json_pack("{s:s}", "object",
			"--kubeconfig='/a b' --namespace=scaling --watch-namespace=shop --scale-kinds='*' "
			"--no-webhook --config-dir=/x"));
	release_read_kubeconfig(&s, facts);
	assert_string_equal(s.manifests.namespace_, "scaling");
	assert_string_equal(s.manifests.watch_namespaces, "shop");
	assert_string_equal(s.manifests.scale_kinds, "*");
	assert_true(s.manifests.no_webhook && !s.manifests.no_scaledjobs && !s.manifests.restrict_secrets);
	s = usual;
	s.manifests.watch_namespaces = "c";
	given.manifests.watch_namespaces = "c";
	s.given = &given;
	release_read(&s, facts);
	assert_string_equal(s.manifests.watch_namespaces, "c");
	json_decref(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_how_it_was_installed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
