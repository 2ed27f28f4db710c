/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How kscaled was installed: the first part of gather.h, because the other requests depend on it.
 */
#include <stdint.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/doctor/definitions.h"
#include "cli/doctor/gather_parts.h"
#include "cli/doctor/release.h"
#include "control/certs/certs.h"

#define FILE_SIZE_MAX (1 << 20)

/* Our APIService may have been pointed to another adapter. */
static bool is_our_service(const struct gatherer *g, const json_t *service)
{
	MEM_AUTO char *path = mem_printf("/api/v1/namespaces/%s/services/%s", json_str_or_empty(service, "namespace"),
		json_str_or_empty(service, "name"));
	json_t *there = NULL;
	bool is_ours = service && cluster_call(g->cluster, KUBE_GET, path, NULL, &there, NULL) == 0 &&
		release_is_ours(there);

	json_decref(there);
	return is_ours;
}

/*
 * If not given: the namespace of the APIService's Service, or of a Deployment with kscaled's label.
 */
static void find_namespace(const struct gatherer *g)
{
	const json_t *service, *apiservice = json_object_get(json_object_get(g->facts, "apiservice"), "object");
	json_t *deployments = NULL, *first;

	if (!g->setup->guessed_namespace)
		return;
	service = facts_at(apiservice, "spec.service");
	if (release_is_ours(apiservice) && is_our_service(g, service)) {
		g->setup->namespace_ = json_str_or_empty(service, "namespace");
		if (!(g->setup->given & DOCTOR_GIVEN_SERVICE))
			g->setup->service_name = json_str_or_empty(service, "name");
		return;
	}
	if (cluster_call(g->cluster, KUBE_LIST, "/apis/apps/v1/deployments?limit=1&" CLUSTER_OURS, NULL, &deployments,
		    NULL) < 0)
		return;
	first = json_array_get(json_object_get(deployments, "items"), 0);
	if (first) {
		gather_put(g->facts, "found", json_incref(first));
		g->setup->namespace_ = facts_namespace_of(first);
	}
	json_decref(deployments);
}

/* Items of a list have no kind: this one adds it. */
struct role_list {
	json_t *items;
	const char *kind;
};

static void keep_role(void *arg, const char *path, const char *title, const json_t *object)
{
	struct role_list *list = arg;
	json_t *copy = json_copy((json_t *)(uintptr_t)object);

	(void)path;
	(void)title;
	json_object_set_new(copy, "kind", json_string(list->kind));
	json_array_append_new(list->items, copy);
}

static void list_roles(const struct gatherer *g)
{
	static const struct {
		const char *kind, *plural;
	} kinds[] = { { "Role", "roles" }, { "RoleBinding", "rolebindings" }, { "ClusterRole", "clusterroles" },
		{ "ClusterRoleBinding", "clusterrolebindings" } };
	struct role_list list = { .items = json_array() };
	struct err err = { 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < MEM_COUNT(kinds); i++) {
		list.kind = kinds[i].kind;
		rc = cluster_each(g->cluster, CLUSTER_RBAC, NULL, kinds[i].plural, CLUSTER_OURS, keep_role, &list,
			&err);
	}
	if (rc == 0)
		gather_put(g->facts, "roles", json_incref(list.items));
	else
		gather_put_error(g->facts, "roles", "list on roles and their bindings", &err);
	json_decref(list.items);
}

/* Whether a PodMonitor or ServiceMonitor exists: "pod", "service". */
static void find_monitors(const struct gatherer *g)
{
	static const char *const kinds[] = { "pod", "service" };
	json_t *found = json_array();

	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		MEM_AUTO char *path = mem_printf("/apis/monitoring.coreos.com/v1/namespaces/%s/%smonitors/kscaled",
			g->setup->namespace_, kinds[i]);

		if (cluster_call(g->cluster, KUBE_GET, path, NULL, NULL, NULL) == 0)
			json_array_append_new(found, json_string(kinds[i]));
	}
	gather_put(g->facts, "monitors", found);
}

/* Inside kscaled's container, if the Deployment cannot be read: the daemon's arguments. */
static void read_command(const struct gatherer *g)
{
	struct buf text = BUF_INIT(FILE_SIZE_MAX);
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
		MEM_AUTO char *fact = mem_printf("crd %s", *plural),
			      *path = mem_printf("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/%s.keda.sh",
				      *plural),
			      *wanted = mem_printf("get on customresourcedefinitions %s.keda.sh", *plural);

		gather_get(g, fact, wanted, path);
	}
}

void gather_release(const struct gatherer *g)
{
	const struct doctor_setup *s = g->setup;

	gather_list_one(g, "apiservice", "/apis/apiregistration.k8s.io/v1/apiservices", CERTS_APISERVICE);
	gather_list_one(g, "webhooks", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
		CERTS_WEBHOOKS);
	find_namespace(g);
	MEM_AUTO char *deployment = mem_printf("/apis/apps/v1/namespaces/%s/deployments/kscaled", s->namespace_);
	MEM_AUTO char *policy = mem_printf("/apis/networking.k8s.io/v1/namespaces/%s/networkpolicies/kscaled",
		s->namespace_);
	MEM_AUTO char *pods = mem_printf("/api/v1/namespaces/%s/pods?%s", s->namespace_, CLUSTER_OURS);

	gather_get(g, "deployment", "get on deployments", deployment);
	if (json_object_get(json_object_get(g->facts, "deployment"), "object")) {
		gather_get(g, "pods", "list on pods", pods);
		gather_get(g, "networkpolicy", "get on networkpolicies", policy);
		find_monitors(g);
	} else {
		read_command(g);
	}
	get_definitions(g);
	list_roles(g);
	release_read(g->setup, g->facts);
}
