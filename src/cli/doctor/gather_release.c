/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How kscaled was installed: the first part of gather.h, because the other requests depend on it.
 */
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/doctor/checks.h"
#include "cli/doctor/gather_parts.h"
#include "cli/doctor/release.h"
#include "control/certs/certs.h"

/* Our APIService may have been pointed to another adapter. */
static bool is_our_service(const struct gatherer *g, const json_t *service)
{
	MEM_AUTO char *path = mem_printf("/api/v1/namespaces/%s/services/%s", json_str_or_empty(service, "namespace"),
		json_str_or_empty(service, "name"));
	json_t *there = service ? cluster_get(g->cluster, path, NULL) : NULL;
	bool is_ours = release_is_ours(there);

	json_decref(there);
	return is_ours;
}

/*
 * If not given: the namespace of the APIService's Service, or of a Deployment with kscaled's label.
 */
static void find_namespace(const struct gatherer *g)
{
	struct manifests_params *m = &g->setup->manifests;
	const json_t *apiservice = fields_at(g->facts, "apiservice.object"),
		     *service = fields_at(apiservice, "spec.service");
	json_t *deployments, *first;

	if (!g->setup->guessed_namespace)
		return;
	if (release_is_ours(apiservice) && is_our_service(g, service)) {
		m->namespace_ = json_str_or_empty(service, "namespace");
		if (!g->setup->given || !g->setup->given->manifests.service_name)
			m->service_name = json_str_or_empty(service, "name");
		return;
	}
	deployments = cluster_get(g->cluster, "/apis/apps/v1/deployments?limit=1&" CLUSTER_OURS, NULL);
	first = json_array_get(json_object_get(deployments, "items"), 0);
	if (first) {
		gather_put(g->facts, "found", json_incref(first));
		m->namespace_ = fields_namespace(first);
	}
	json_decref(deployments);
}

static void list_roles(const struct gatherer *g)
{
	static const struct {
		const char *kind, *plural;
	} kinds[] = { { "Role", "roles" }, { "RoleBinding", "rolebindings" }, { "ClusterRole", "clusterroles" },
		{ "ClusterRoleBinding", "clusterrolebindings" } };
	json_t *found = json_array();
	struct err err = { 0 };

	for (size_t i = 0; err.kind == ERR_NONE && i < MEM_COUNT(kinds); i++) {
		struct cluster_list list = { .cluster = g->cluster,
			.api = CLUSTER_RBAC,
			.plural = kinds[i].plural,
			.query = CLUSTER_OURS };
		const json_t *one;

		while ((one = cluster_next(&list)) != NULL) {
			json_t *copy = json_copy((json_t *)(uintptr_t)one);

			/* Items of a list have no kind. */
			json_object_set_new(copy, "kind", json_string(kinds[i].kind));
			json_array_append_new(found, copy);
		}
		cluster_list_done(&list, &err);
	}
	gather_put_answer(g, "roles", "list on roles and their bindings",
		err.kind == ERR_NONE ? json_incref(found) : NULL, &err);
	json_decref(found);
}

/* Whether a PodMonitor or ServiceMonitor exists: "pod", "service". */
static void find_monitors(const struct gatherer *g)
{
	static const char *const kinds[] = { "pod", "service" };
	json_t *found = json_array();

	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		MEM_AUTO char *path = mem_printf("/apis/monitoring.coreos.com/v1/namespaces/%s/%smonitors/kscaled",
			g->setup->manifests.namespace_, kinds[i]);

		if (cluster_call(g->cluster, KUBE_GET, path, NULL, NULL, NULL) == 0)
			json_array_append_new(found, json_string(kinds[i]));
	}
	gather_put(g->facts, "monitors", found);
}

/* Inside kscaled's container, if the Deployment cannot be read: the daemon's arguments. */
static void read_command(const struct gatherer *g)
{
	struct buf text = BUF_INIT(GATHER_FILE_MAX);
	json_t *arguments = json_array();

	if (!g->setup->kubeconfig && file_read("/proc/1/cmdline", FILE_ANY, NULL, &text, NULL) == 0)
		for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1)
			json_array_append_new(arguments, json_string(text.data + at));
	if (json_array_size(arguments) > 1 && strcmp(json_string_value(json_array_get(arguments, 1)), "run") == 0)
		gather_put(g->facts, "command", json_incref(arguments));
	json_decref(arguments);
	buf_done(&text);
}

static void get_definitions(const struct gatherer *g)
{
	for (const char *const *plural = definitions_plurals; *plural; plural++) {
		MEM_AUTO char *fact = mem_printf("crd %s", *plural), *name = mem_printf("%s.keda.sh", *plural);
		const struct gather_row row = { fact, "/apis/apiextensions.k8s.io/v1", "customresourcedefinitions",
			.name = name };

		gather_rows(g, &row, 1);
	}
}

void gather_release(const struct gatherer *g)
{
	const char *own;
	const struct gather_row pointers[] = {
		{ "apiservice", "/apis/apiregistration.k8s.io/v1", "apiservices", .name = CERTS_APISERVICE,
			.by_list = true },
		{ "webhooks", "/apis/admissionregistration.k8s.io/v1", "validatingwebhookconfigurations",
			.name = CERTS_WEBHOOKS, .by_list = true },
	};

	gather_rows(g, pointers, MEM_COUNT(pointers));
	find_namespace(g);
	own = g->setup->manifests.namespace_;
	const struct gather_row deployment = { "deployment", "/apis/apps/v1", "deployments", own, .name = "kscaled" };
	const struct gather_row of_deployment[] = {
		{ "pods", "/api/v1", "pods", own, .query = "?" CLUSTER_OURS },
		{ "networkpolicy", "/apis/networking.k8s.io/v1", "networkpolicies", own, .name = "kscaled" },
	};

	gather_rows(g, &deployment, 1);
	if (fields_at(g->facts, "deployment.object")) {
		gather_rows(g, of_deployment, MEM_COUNT(of_deployment));
		find_monitors(g);
	} else {
		read_command(g);
	}
	get_definitions(g);
	list_roles(g);
	release_read(g->setup, g->facts);
}
