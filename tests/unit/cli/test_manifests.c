/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/manifests.h"
#include "yamldocs.h"

/*
 * kubectl stores the whole object as JSON in an annotation; this is the limit for all annotations
 * of an object (apimachinery: TotalAnnotationSizeLimitB).
 */
#define ANNOTATIONS_MAX 262144

struct printed {
	char *text;
	size_t len;
	struct yamldocs docs;
};

static void print(struct printed *p, const struct manifests_params *params)
{
	struct err err = { 0 };
	FILE *out = open_memstream(&p->text, &p->len);

	assert_non_null(out);
	if (manifests_print(params, out, &err) < 0)
		fail_msg("%s", err.msg);
	fclose(out);
	yamldocs_parse(&p->docs, p->text, p->len);
}

static void done(struct printed *p)
{
	yamldocs_done(&p->docs);
	free(p->text);
}

static void assert_text(struct printed *p, const char *kind, const char *name, const char *path, const char *expected)
{
	const char *got = yamldocs_text(yamldocs_find(&p->docs, kind, name), path);

	if (strcmp(got, expected) != 0)
		fail_msg("%s %s: %s is \"%s\", not \"%s\"", kind, name, path, got, expected);
}

static bool has(struct printed *p, const char *kind)
{
	for (size_t i = 0; i < p->docs.count; i++)
		if (strcmp(yamldocs_text(&p->docs.docs[i], "kind"), kind) == 0)
			return true;
	return false;
}

static const struct manifests_params variants[] = {
	{ 0 },
	{ .host = "localhost:8443" },
	{ .host = "10.0.0.7:9443" },
	{ .host = "[fd00::7]:8443" },
	{ .namespace_ = "123",
		.service_name = "null",
		.image = "registry.example.com:5000/a/kscaled@sha256:00",
		.watch_namespaces = "123,no" },
	{ .scale_kinds = "deployments,widgets.1.example",
		.watch_namespaces = "default,a",
		.no_scaledjobs = true,
		.no_webhook = true,
		.service_account_tokens = true,
		.restrict_secrets = true },
	{ .namespace_ = "0x1f", .service_name = "e1", .host = "1e3.5:80" },
	{ .replicas = 3,
		.priority_class = "1e3.system-cluster-critical",
		.network_policy = true,
		.monitor = "service",
		.no_crds = true },
	{ .monitor = "pod", .delete_order = true },
};

#define EACH_VARIANT(p)                                                                                                \
	for (size_t variant = 0;                                                                                       \
		variant < sizeof(variants) / sizeof(variants[0]) && (print(&(p), &variants[variant]), 1);              \
		variant++, done(&(p)))

/* "@WORD@" or "%include": placeholders that were not replaced. */
static const char *left_over(const char *text)
{
	for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
		size_t word = strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

		if (word > 0 && at[1 + word] == '@')
			return at;
	}
	return strstr(text, "%include");
}

static void every_placeholder_is_replaced(void **state)
{
	struct printed p;

	(void)state;
	EACH_VARIANT(p)
	if (left_over(p.text))
		fail_msg("variant %zu: %.40s", variant, left_over(p.text));
}

static void every_document_has_labels(void **state)
{
	struct printed p;

	(void)state;
	EACH_VARIANT(p)
	{
		for (size_t i = 0; i < p.docs.count; i++) {
			yaml_document_t *doc = &p.docs.docs[i];

			assert_string_not_equal(yamldocs_text(doc, "apiVersion"), "");
			assert_string_not_equal(yamldocs_text(doc, "kind"), "");
			assert_string_not_equal(yamldocs_text(doc, "metadata|name"), "");
			assert_string_equal(yamldocs_text(doc, "metadata|labels|app.kubernetes.io/name"), "kscaled");
		}
	}
}

static void assert_quoted(yaml_document_t *doc, const char *path)
{
	yaml_node_t *node = yamldocs_node(doc, path);

	assert_non_null(node);
	assert_int_not_equal(node->data.scalar.style, YAML_PLAIN_SCALAR_STYLE);
}

/* The namespace 123 is a string for Kubernetes, but a number in YAML. */
static void numeric_names_stay_strings(void **state)
{
	struct printed p;

	(void)state;
	print(&p, &variants[4]);
	assert_quoted(yamldocs_find(&p.docs, "Namespace", "123"), "metadata|name");
	assert_quoted(yamldocs_find(&p.docs, "ServiceAccount", "kscaled"), "metadata|namespace");
	assert_quoted(yamldocs_find(&p.docs, "ClusterRoleBinding", "kscaled"), "subjects|0|namespace");
	assert_quoted(yamldocs_find(&p.docs, "RoleBinding", "kscaled-workloads"), "metadata|namespace");
	assert_quoted(yamldocs_find(&p.docs, "Service", "null"), "metadata|name");
	assert_quoted(yamldocs_find(&p.docs, "APIService", "v1beta1.external.metrics.k8s.io"), "spec|service|name");
	assert_quoted(yamldocs_find(&p.docs, "APIService", "v1beta1.external.metrics.k8s.io"),
		"spec|service|namespace");
	done(&p);
	print(&p, &variants[6]);
	assert_quoted(yamldocs_find(&p.docs, "Service", "e1"), "spec|externalName");
	done(&p);
}

static void in_the_cluster(void **state)
{
	const struct manifests_params params = { .namespace_ = "scaling",
		.image = "example.com/k:7",
		.service_name = "metrics" };
	struct printed p;

	(void)state;
	print(&p, &params);
	assert_text(&p, "Namespace", "scaling", "apiVersion", "v1");
	assert_text(&p, "Service", "metrics", "spec|type", "ClusterIP");
	assert_text(&p, "Service", "metrics", "spec|selector|app.kubernetes.io/name", "kscaled");
	assert_text(&p, "Service", "metrics", "spec|ports|0|port", "443");
	assert_text(&p, "Service", "metrics", "spec|ports|0|targetPort", "https");
	assert_text(&p, "APIService", "v1beta1.external.metrics.k8s.io", "spec|service|name", "metrics");
	assert_text(&p, "APIService", "v1beta1.external.metrics.k8s.io", "spec|service|namespace", "scaling");
	assert_text(&p, "APIService", "v1beta1.external.metrics.k8s.io", "spec|service|port", "443");
	assert_text(&p, "APIService", "v1.insight.kscaled.io", "spec|service|name", "metrics");
	assert_text(&p, "APIService", "v1.insight.kscaled.io", "spec|service|namespace", "scaling");
	assert_text(&p, "Deployment", "kscaled", "metadata|namespace", "scaling");
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|image", "example.com/k:7");
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|args|1", "--service-name=metrics");
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|ports|0|name", "https");
	assert_text(&p, "Deployment", "kscaled",
		"spec|template|spec|containers|0|securityContext|readOnlyRootFilesystem", "true");
	assert_false(has(&p, "EndpointSlice"));
	done(&p);
}

static void one_replica_has_no_spread(void **state)
{
	struct printed p;

	(void)state;
	print(&p, &variants[0]);
	assert_text(&p, "Deployment", "kscaled", "spec|replicas", "1");
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|resources|requests|cpu", "20m");
	assert_null(yamldocs_node(yamldocs_find(&p.docs, "Deployment", "kscaled"), "spec|template|spec|affinity"));
	assert_null(yamldocs_node(yamldocs_find(&p.docs, "Deployment", "kscaled"),
		"spec|template|spec|topologySpreadConstraints"));
	assert_null(
		yamldocs_node(yamldocs_find(&p.docs, "Deployment", "kscaled"), "spec|template|spec|priorityClassName"));
	assert_text(&p, "Service", "kscaled", "spec|ports|1|name", "");
	assert_false(has(&p, "PodDisruptionBudget"));
	assert_false(has(&p, "NetworkPolicy"));
	assert_false(has(&p, "PodMonitor"));
	assert_false(has(&p, "ServiceMonitor"));
	done(&p);
}

#define POD  "spec|template|spec|"
#define TERM POD "affinity|podAntiAffinity|preferredDuringSchedulingIgnoredDuringExecution|0|podAffinityTerm|"

static void several_replicas_are_spread(void **state)
{
	static const struct {
		const char *kind, *path, *expected;
	} cases[] = {
		{ "Deployment", "spec|replicas", "3" },
		{ "Deployment", POD "priorityClassName", "1e3.system-cluster-critical" },
		{ "Deployment", TERM "topologyKey", "kubernetes.io/hostname" },
		{ "Deployment", TERM "labelSelector|matchLabels|app.kubernetes.io/name", "kscaled" },
		{ "Deployment", POD "topologySpreadConstraints|0|topologyKey", "topology.kubernetes.io/zone" },
		{ "Deployment", POD "topologySpreadConstraints|0|whenUnsatisfiable", "ScheduleAnyway" },
		{ "Deployment", POD "securityContext|runAsNonRoot", "true" },
		{ "PodDisruptionBudget", "spec|maxUnavailable", "1" },
		{ "PodDisruptionBudget", "spec|selector|matchLabels|app.kubernetes.io/name", "kscaled" },
		{ "NetworkPolicy", "spec|podSelector|matchLabels|app.kubernetes.io/name", "kscaled" },
		{ "NetworkPolicy", "spec|policyTypes|0", "Ingress" },
		{ "NetworkPolicy", "spec|policyTypes|1", "" },
		{ "NetworkPolicy", "spec|ingress|0|from", "" },
		{ "NetworkPolicy", "spec|ingress|0|ports|0|port", "8443" },
		{ "NetworkPolicy", "spec|ingress|0|ports|1|port", "8080" },
		{ "Service", "spec|ports|0|name", "status" },
		{ "Service", "spec|ports|1|name", "https" },
		{ "ServiceMonitor", "spec|endpoints|0|port", "status" },
		{ "ServiceMonitor", "spec|selector|matchLabels|app.kubernetes.io/name", "kscaled" },
	};
	struct printed p;

	(void)state;
	print(&p, &variants[7]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_text(&p, cases[i].kind, "kscaled", cases[i].path, cases[i].expected);
	assert_quoted(yamldocs_find(&p.docs, "Deployment", "kscaled"), POD "priorityClassName");
	assert_false(has(&p, "PodMonitor"));
	assert_false(has(&p, "CustomResourceDefinition"));
	done(&p);
	print(&p, &variants[8]);
	assert_text(&p, "PodMonitor", "kscaled", "spec|podMetricsEndpoints|0|port", "status");
	assert_text(&p, "Service", "kscaled", "spec|ports|0|name", "https");
	assert_false(has(&p, "ServiceMonitor"));
	done(&p);
}

/* The same documents, with these first and last. */
static void the_order_of_deletion(void **state)
{
	static const struct manifests_params there = { .replicas = 2 }, back = { .replicas = 2, .delete_order = true };
	struct printed p, reversed;

	(void)state;
	print(&p, &there);
	print(&reversed, &back);
	assert_int_equal(reversed.docs.count, p.docs.count);
	assert_int_equal(reversed.len, p.len);
	for (size_t i = 0; i < p.docs.count; i++) {
		const char *kind = yamldocs_text(&p.docs.docs[i], "kind");

		assert_non_null(yamldocs_find(&reversed.docs, kind, yamldocs_text(&p.docs.docs[i], "metadata|name")));
	}
	assert_string_equal(yamldocs_text(&reversed.docs.docs[0], "kind"), "ValidatingWebhookConfiguration");
	assert_string_equal(yamldocs_text(&reversed.docs.docs[1], "kind"), "APIService");
	assert_string_equal(yamldocs_text(&reversed.docs.docs[p.docs.count - 1], "kind"), "Namespace");
	done(&p);
	done(&reversed);
}

static void on_a_host_with_a_name(void **state)
{
	const struct manifests_params params = { .host = "node.example.com:9443" };
	struct printed p;

	(void)state;
	print(&p, &params);
	assert_text(&p, "Service", "kscaled", "spec|type", "ExternalName");
	assert_text(&p, "Service", "kscaled", "spec|externalName", "node.example.com");
	assert_text(&p, "Service", "kscaled", "spec|ports|0|name", "https");
	assert_text(&p, "Service", "kscaled", "spec|ports|0|port", "9443");
	assert_text(&p, "APIService", "v1beta1.external.metrics.k8s.io", "spec|service|port", "9443");
	assert_text(&p, "APIService", "v1.insight.kscaled.io", "spec|service|port", "9443");
	assert_false(has(&p, "Deployment"));
	assert_false(has(&p, "EndpointSlice"));
	assert_false(has(&p, "Endpoints"));
	done(&p);
}

static void on_a_host_with_an_address(void **state)
{
	static const struct {
		const char *host, *address, *family;
	} cases[] = {
		{ "10.0.0.7:9443", "10.0.0.7", "IPv4" },
		{ "[fd00:0::7]:9443", "fd00::7", "IPv6" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct manifests_params params = { .host = cases[i].host, .service_name = "ks" };
		struct printed p;

		print(&p, &params);
		assert_text(&p, "Service", "ks", "spec|type", "ClusterIP");
		assert_null(yamldocs_node(yamldocs_find(&p.docs, "Service", "ks"), "spec|selector"));
		assert_text(&p, "Service", "ks", "spec|ipFamilies|0", cases[i].family);
		assert_text(&p, "Service", "ks", "spec|ports|0|name", "https");
		assert_text(&p, "Service", "ks", "spec|ports|0|port", "443");
		assert_text(&p, "EndpointSlice", "ks-host", "metadata|labels|kubernetes.io/service-name", "ks");
		assert_text(&p, "EndpointSlice", "ks-host", "addressType", cases[i].family);
		assert_text(&p, "EndpointSlice", "ks-host", "endpoints|0|addresses|0", cases[i].address);
		assert_text(&p, "EndpointSlice", "ks-host", "ports|0|name", "https");
		assert_text(&p, "EndpointSlice", "ks-host", "ports|0|port", "9443");
		assert_text(&p, "Endpoints", "ks", "metadata|labels|endpointslice.kubernetes.io/skip-mirror", "true");
		assert_text(&p, "Endpoints", "ks", "subsets|0|addresses|0|ip", cases[i].address);
		assert_text(&p, "Endpoints", "ks", "subsets|0|ports|0|name", "https");
		assert_text(&p, "Endpoints", "ks", "subsets|0|ports|0|port", "9443");
		assert_text(&p, "APIService", "v1beta1.external.metrics.k8s.io", "spec|service|port", "443");
		assert_false(has(&p, "Deployment"));
		done(&p);
	}
}

/* kscaled injects the bundle: applying a field would remove it again. */
static void apiservices_have_no_bundle(void **state)
{
	static const char *const names[] = { "v1beta1.external.metrics.k8s.io", "v1.insight.kscaled.io" };
	struct printed p;

	(void)state;
	EACH_VARIANT(p)
	{
		for (size_t i = 0; i < 2; i++) {
			yaml_document_t *doc = yamldocs_find(&p.docs, "APIService", names[i]);

			assert_non_null(doc);
			assert_null(yamldocs_node(doc, "spec|caBundle"));
			assert_null(yamldocs_node(doc, "spec|insecureSkipTLSVerify"));
		}
	}
}

/* Viewers of a namespace may read the insight API there. */
static void viewers_may_read_the_insight_api(void **state)
{
	static const char *const roles[] = { "view", "edit", "admin" };
	struct printed p;

	(void)state;
	EACH_VARIANT(p)
	{
		yaml_document_t *role = yamldocs_find(&p.docs, "ClusterRole", "kscaled-insight-reader");

		assert_non_null(role);
		for (size_t i = 0; i < 3; i++) {
			char label[128];

			snprintf(label, sizeof(label), "metadata|labels|rbac.authorization.k8s.io/aggregate-to-%s",
				roles[i]);
			assert_string_equal(yamldocs_text(role, label), "true");
		}
		assert_string_equal(yamldocs_text(role, "rules|0|apiGroups|0"), "insight.kscaled.io");
		assert_string_equal(yamldocs_text(role, "rules|0|resources|0"), "scaledobjectinsights");
		assert_string_equal(yamldocs_text(role, "rules|0|resources|1"), "scaledjobinsights");
	}
}

static void namespaces_of_kubernetes_are_not_created(void **state)
{
	const struct manifests_params params = { .namespace_ = "kube-system" };
	struct printed p;

	(void)state;
	print(&p, &params);
	assert_false(has(&p, "Namespace"));
	assert_text(&p, "Deployment", "kscaled", "metadata|namespace", "kube-system");
	done(&p);
}

static void rights_follow_the_watched_namespaces(void **state)
{
	const struct manifests_params params = { .watch_namespaces = "first,second" };
	size_t bindings = 0;
	struct printed p;

	(void)state;
	print(&p, &params);
	for (size_t i = 0; i < p.docs.count; i++) {
		yaml_document_t *doc = &p.docs.docs[i];

		if (strcmp(yamldocs_text(doc, "roleRef|name"), "kscaled-workloads") != 0)
			continue;
		assert_string_equal(yamldocs_text(doc, "kind"), "RoleBinding");
		assert_string_equal(yamldocs_text(doc, "roleRef|kind"), "Role");
		assert_string_equal(yamldocs_text(doc, "metadata|namespace"), bindings == 0 ? "first" : "second");
		bindings++;
	}
	assert_int_equal(bindings, 2);
	assert_text(&p, "RoleBinding", "kscaled-scale-targets", "metadata|namespace", "first");
	assert_text(&p, "RoleBinding", "kscaled-scale-targets", "roleRef|kind", "ClusterRole");
	assert_text(&p, "Role", "kscaled-secrets", "metadata|namespace", "first");
	/* Events about cluster-wide objects. */
	assert_text(&p, "Role", "kscaled-events", "metadata|namespace", "default");
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|args|4",
		"--watch-namespace=first,second");
	done(&p);

	print(&p, &variants[0]);
	assert_text(&p, "ClusterRoleBinding", "kscaled-workloads", "roleRef|name", "kscaled-workloads");
	assert_text(&p, "ClusterRoleBinding", "kscaled-workloads", "roleRef|kind", "ClusterRole");
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|env|2|name",
		"KSCALED_INSIGHT_SOCKET");
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|env|2|value",
		"/var/lib/kscaled/insight.sock");
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|env|3|value", "");
	done(&p);
}

static bool lists(yaml_document_t *doc, yaml_node_t *list, const char *text)
{
	if (!list)
		return false;
	for (yaml_node_item_t *item = list->data.sequence.items.start; item < list->data.sequence.items.top; item++)
		if (strcmp(yamldocs_scalar(yaml_document_get_node(doc, *item)), text) == 0)
			return true;
	return false;
}

struct rule {
	yaml_document_t *doc;
	yaml_node_t *node;
};

static bool rule_has(const struct rule *r, const char *key, const char *text)
{
	return lists(r->doc, yamldocs_below(r->doc, r->node, key), text);
}

static size_t each_rule(struct printed *p, void (*fn)(const struct rule *rule))
{
	size_t count = 0;

	for (size_t i = 0; i < p->docs.count; i++) {
		yaml_document_t *doc = &p->docs.docs[i];
		yaml_node_t *list = yamldocs_node(doc, "rules");

		for (yaml_node_item_t *item = list ? list->data.sequence.items.start : NULL;
			list && item < list->data.sequence.items.top; item++, count++)
			fn(&(struct rule){ doc, yaml_document_get_node(doc, *item) });
	}
	return count;
}

/*
 * No verb is a wildcard; Secrets are written only in kscaled's namespace, by name except for
 * creation; others are only read.
 */
static void check_rule(const struct rule *r)
{
	static const char *const writes[] = { "create", "update", "patch", "delete", "deletecollection" };
	/*
	 * The only objects that are updated whole, and one right that an admission plugin requires.
	 */
	static const char *const updated[] = { "horizontalpodautoscalers", "leases", "scaledobjects/finalizers",
		"scaledjobs/finalizers" };
	bool named = yamldocs_below(r->doc, r->node, "resourceNames") != NULL;

	assert_non_null(yamldocs_below(r->doc, r->node, "verbs"));
	assert_false(rule_has(r, "verbs", "*"));
	assert_false(rule_has(r, "resources", "*/*"));
	if (rule_has(r, "verbs", "update")) {
		bool known = false;

		for (size_t i = 0; i < sizeof(updated) / sizeof(updated[0]); i++)
			known = known || rule_has(r, "resources", updated[i]);
		assert_true(known);
		assert_false(rule_has(r, "verbs", "patch"));
	}
	if (rule_has(r, "resources", "leases"))
		assert_true(named || rule_has(r, "verbs", "create"));
	/* Pods are only listed, Jobs created and deleted, never changed. */
	if (rule_has(r, "resources", "pods"))
		assert_false(rule_has(r, "verbs", "get") || rule_has(r, "verbs", "create") ||
			rule_has(r, "verbs", "delete"));
	if (rule_has(r, "resources", "jobs"))
		assert_false(rule_has(r, "verbs", "update") || rule_has(r, "verbs", "patch") ||
			rule_has(r, "verbs", "deletecollection"));
	if (!rule_has(r, "resources", "secrets"))
		return;
	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		if (!rule_has(r, "verbs", writes[i]))
			continue;
		assert_string_equal(yamldocs_text(r->doc, "kind"), "Role");
		assert_true(named || strcmp(writes[i], "create") == 0);
	}
}

/* Rights on cluster-wide objects, and aggregated ones, stay in a ClusterRole. */
static void limited_rights_are_roles(void **state)
{
	static const char *const cluster_wide[] = { "kscaled", "kscaled-scale-targets",
		"kscaled-scale-targets-rollouts", "kscaled-external-metrics-reader", "kscaled-insight-reader", NULL };
	const struct manifests_params params = { .watch_namespaces = "first,second", .service_account_tokens = true };
	size_t roles = 0;
	struct printed p;

	(void)state;
	print(&p, &params);
	for (size_t i = 0; i < p.docs.count; i++) {
		yaml_document_t *doc = &p.docs.docs[i];

		if (strcmp(yamldocs_text(doc, "kind"), "ClusterRole") == 0)
			assert_true(text_is_one_of(yamldocs_text(doc, "metadata|name"), cluster_wide));
		roles += strcmp(yamldocs_text(doc, "kind"), "Role") == 0;
	}
	assert_int_equal(roles, 2 * 5 + 2);
	done(&p);
}

static struct {
	size_t secrets_everywhere, secrets_here, config_maps, tokens_everywhere, tokens_here, tokens_named, jobs,
		job_owners, webhooks, limit_ranges, every_scale, scales, kinds;
} counted;

static void count_rule(const struct rule *r)
{
	bool here = strcmp(yamldocs_text(r->doc, "kind"), "Role") == 0;

	if (rule_has(r, "resources", "secrets") && rule_has(r, "verbs", "watch"))
		*(here ? &counted.secrets_here : &counted.secrets_everywhere) += 1;
	if (rule_has(r, "resources", "configmaps") && rule_has(r, "verbs", "watch"))
		counted.config_maps++;
	if (rule_has(r, "resources", "jobs") && rule_has(r, "verbs", "create") && rule_has(r, "verbs", "delete") &&
		rule_has(r, "verbs", "watch"))
		counted.jobs++;
	counted.job_owners += rule_has(r, "resources", "scaledjobs/finalizers");
	counted.webhooks += rule_has(r, "resources", "validatingwebhookconfigurations");
	counted.limit_ranges += rule_has(r, "resources", "limitranges");
	counted.every_scale += rule_has(r, "resources", "*/scale");
	counted.scales += rule_has(r, "resources", "deployments/scale") || rule_has(r, "resources", "widgets/scale") ||
		rule_has(r, "resources", "replicationcontrollers/scale");
	counted.kinds += rule_has(r, "apiGroups", "apps") || rule_has(r, "apiGroups", "1.example");
	if (rule_has(r, "resources", "serviceaccounts/token"))
		*(here ? &counted.tokens_here : &counted.tokens_everywhere) += 1;
	if (rule_has(r, "resources", "serviceaccounts/token") && rule_has(r, "resourceNames", "kscaled"))
		counted.tokens_named++;
}

static void count_rules(const struct manifests_params *params)
{
	struct printed p;

	memset(&counted, 0, sizeof(counted));
	print(&p, params);
	assert_in_range(each_rule(&p, check_rule), 10, 40);
	each_rule(&p, count_rule);
	done(&p);
}

static void rights_are_minimal(void **state)
{
	static const struct manifests_params restricted = { .restrict_secrets = true },
					     tokens = { .service_account_tokens = true },
					     outside = { .host = "k.example:8443" },
					     no_jobs = { .no_scaledjobs = true }, no_webhook = { .no_webhook = true };

	(void)state;
	/* A host requests its own token; a Pod has it in a volume. */
	count_rules(&outside);
	assert_int_equal(counted.tokens_everywhere, 0);
	assert_int_equal(counted.tokens_here, 1);
	assert_int_equal(counted.tokens_named, 1);
	count_rules(&variants[0]);
	assert_int_equal(counted.secrets_everywhere, 1);
	assert_int_equal(counted.secrets_here, 1);
	assert_int_equal(counted.config_maps, 2);
	assert_int_equal(counted.jobs, 1);
	assert_int_equal(counted.tokens_everywhere + counted.tokens_here, 0);
	assert_int_equal(counted.job_owners, 1);
	assert_int_equal(counted.webhooks, 1);
	assert_int_equal(counted.limit_ranges, 1);
	assert_int_equal(counted.every_scale, 1);
	count_rules(&no_jobs);
	assert_int_equal(counted.jobs + counted.job_owners, 0);
	count_rules(&no_webhook);
	assert_int_equal(counted.webhooks + counted.limit_ranges, 0);
	count_rules(&restricted);
	assert_int_equal(counted.secrets_everywhere, 0);
	assert_int_equal(counted.secrets_here, 1);
	assert_int_equal(counted.config_maps, 2);
	count_rules(&tokens);
	assert_int_equal(counted.tokens_everywhere, 1);
	assert_int_equal(counted.tokens_here, 1);
}

static void scale_kinds_limit_rights(void **state)
{
	static const struct manifests_params named = {
		.scale_kinds = "deployments,widgets.1.example,replicationcontrollers"
	};
	static const struct manifests_params every = { .scale_kinds = "*" };
	struct printed p;

	(void)state;
	count_rules(&named);
	assert_int_equal(counted.every_scale, 0);
	assert_int_equal(counted.scales, 3);
	assert_int_equal(counted.kinds, 4); /* each can be read, and its scale */
	print(&p, &named);
	assert_text(&p, "ClusterRole", "kscaled-scale", "rules|0|apiGroups|0", "apps");
	assert_text(&p, "ClusterRole", "kscaled-scale", "rules|0|resources|0", "deployments");
	assert_text(&p, "ClusterRole", "kscaled-scale", "rules|3|apiGroups|0", "1.example");
	assert_text(&p, "ClusterRole", "kscaled-scale", "rules|3|resources|0", "widgets/scale");
	assert_text(&p, "ClusterRole", "kscaled-scale", "rules|4|apiGroups|0", "");
	assert_quoted(yamldocs_find(&p.docs, "ClusterRole", "kscaled-scale"), "rules|3|apiGroups|0");
	for (size_t i = 0; i < p.docs.count; i++) /* others are added by name, not by label */
		assert_null(strstr(yamldocs_text(&p.docs.docs[i], "metadata|name"), "scale-targets"));
	done(&p);
	count_rules(&every);
	assert_int_equal(counted.every_scale, 1);
}

static void deployment_has_the_options(void **state)
{
	static const struct manifests_params restricted = { .restrict_secrets = true };
	struct printed p;

	(void)state;
	print(&p, &restricted);
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|args|5",
		"--restrict-secret-access=true");
	done(&p);
	print(&p, &variants[0]);
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|args|5",
		"--restrict-secret-access=false");
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|args|6", "--webhook=true");
	done(&p);
	print(&p, &variants[5]);
	assert_text(&p, "Deployment", "kscaled", "spec|template|spec|containers|0|args|6", "--webhook=false");
	done(&p);
}

/* Users add kinds of targets by labelled roles. */
static void other_kinds_of_targets_are_added_by_label(void **state)
{
	static const char label[] = "rbac.kscaled.io/aggregate-to-scale-targets";
	char path[128];
	struct printed p;

	(void)state;
	print(&p, &variants[0]);
	snprintf(path, sizeof(path), "aggregationRule|clusterRoleSelectors|0|matchLabels|%s", label);
	assert_text(&p, "ClusterRole", "kscaled-scale-targets", path, "true");
	/* the controller's */
	assert_null(yamldocs_node(yamldocs_find(&p.docs, "ClusterRole", "kscaled-scale-targets"), "rules"));
	snprintf(path, sizeof(path), "metadata|labels|%s", label);
	assert_text(&p, "ClusterRole", "kscaled-scale-targets-rollouts", path, "true");
	assert_text(&p, "ClusterRole", "kscaled-scale-targets-rollouts", "rules|0|resources|0", "rollouts");
	assert_text(&p, "ClusterRoleBinding", "kscaled-scale-targets", "roleRef|name", "kscaled-scale-targets");
	done(&p);
}

#define WEBHOOKS "ValidatingWebhookConfiguration", "kscaled-admission"

static void webhook_is_optional(void **state)
{
	static const struct {
		const char *name, *resource;
	} webhooks[] = {
		{ "vscaledobject.kscaled.io", "scaledobjects" },
		{ "vscaledjob.kscaled.io", "scaledjobs" },
		{ "vstriggerauthentication.kscaled.io", "triggerauthentications" },
		{ "vsclustertriggerauthentication.kscaled.io", "clustertriggerauthentications" },
	};
	static const struct manifests_params without = { .no_webhook = true };
	struct printed p;

	(void)state;
	EACH_VARIANT(p)
	{
		const char *namespace_ = variants[variant].namespace_ ? variants[variant].namespace_ : "kscaled";

		if (variants[variant].no_webhook)
			continue;

		for (size_t i = 0; i < sizeof(webhooks) / sizeof(webhooks[0]); i++) {
			const struct {
				const char *path, *expected;
			} fields[] = {
				{ "name", webhooks[i].name },
				{ "clientConfig|service|path", "" },
				{ "clientConfig|service|namespace", namespace_ },
				{ "rules|0|resources|0", webhooks[i].resource },
				{ "rules|0|operations|0", "CREATE" },
				{ "rules|0|operations|1", "UPDATE" },
				{ "rules|0|operations|2", "" },
				{ "failurePolicy", "Ignore" },
				{ "sideEffects", "None" },
				{ "timeoutSeconds", "10" },
				{ "admissionReviewVersions|0", "v1" },
				/* kscaled injects it: an applied field would take it away again */
				{ "clientConfig|caBundle", "" },
			};

			for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]); k++) {
				char path[128];

				snprintf(path, sizeof(path), "webhooks|%zu|%s", i, fields[k].path);
				assert_text(&p, WEBHOOKS, path, fields[k].expected);
			}
		}
	}
	print(&p, &variants[1]); /* the port for an ExternalName */
	assert_text(&p, WEBHOOKS, "webhooks|0|clientConfig|service|port", "8443");
	done(&p);
	print(&p, &variants[2]);
	assert_text(&p, WEBHOOKS, "webhooks|0|clientConfig|service|port", "443");
	done(&p);
	print(&p, &variants[4]); /* of the watched namespaces */
	assert_text(&p, WEBHOOKS, "webhooks|0|namespaceSelector|matchExpressions|0|key", "kubernetes.io/metadata.name");
	assert_text(&p, WEBHOOKS, "webhooks|1|namespaceSelector|matchExpressions|0|values|0", "123");
	assert_text(&p, WEBHOOKS, "webhooks|2|namespaceSelector|matchExpressions|0|values|1", "no");
	assert_quoted(yamldocs_find(&p.docs, WEBHOOKS), "webhooks|0|namespaceSelector|matchExpressions|0|values|1");
	done(&p);
	print(&p, &without);
	assert_false(has(&p, "ValidatingWebhookConfiguration"));
	done(&p);
}

static const char *const crds[] = { "scaledobjects", "scaledjobs", "triggerauthentications",
	"clustertriggerauthentications" };
#define CRD_COUNT (sizeof(crds) / sizeof(crds[0]))
#define SCHEMA    "spec|versions|0|schema|openAPIV3Schema"

static yaml_document_t *find_crd(struct printed *p, const char *plural)
{
	char name[80];

	snprintf(name, sizeof(name), "%s.keda.sh", plural);
	return yamldocs_find(&p->docs, "CustomResourceDefinition", name);
}

/*
 * Structural: every node of the schema has a type, or declares that it has none. Returns the number
 * of nodes.
 */
static size_t walk_schema(yaml_document_t *doc, yaml_node_t *schema, const char *path, size_t *defaults)
{
	yaml_node_t *properties = yamldocs_below(doc, schema, "properties");
	yaml_node_t *inner;
	size_t seen = 1;

	if (!yamldocs_below(doc, schema, "type") && !yamldocs_below(doc, schema, "x-kubernetes-int-or-string"))
		fail_msg("%s: no type", path);
	*defaults += yamldocs_below(doc, schema, "default") != NULL;
	for (yaml_node_pair_t *pair = properties ? properties->data.mapping.pairs.start : NULL;
		properties && pair < properties->data.mapping.pairs.top; pair++)
		seen += walk_schema(doc, yaml_document_get_node(doc, pair->value),
			yamldocs_scalar(yaml_document_get_node(doc, pair->key)), defaults);
	inner = yamldocs_below(doc, schema, "items");
	if (inner)
		seen += walk_schema(doc, inner, path, defaults);
	inner = yamldocs_below(doc, schema, "additionalProperties");
	if (inner)
		seen += walk_schema(doc, inner, path, defaults);
	return seen;
}

static void schemas_are_structural_and_complete(void **state)
{
	/*
	 * The CRDs' own defaults are fallback.behavior and oauth2.type; keys of map lists in the
	 * Pod template also need defaults.
	 */
	static const struct {
		size_t least, defaults;
	} expected[CRD_COUNT] = { { 90, 1 }, { 900, 4 }, { 110, 1 }, { 110, 1 } };
	struct printed p;

	(void)state;
	print(&p, &variants[0]);
	for (size_t i = 0; i < CRD_COUNT; i++) {
		yaml_document_t *doc = find_crd(&p, crds[i]);
		size_t defaults = 0;
		size_t seen = walk_schema(doc, yamldocs_node(doc, SCHEMA), crds[i], &defaults);

		if (seen < expected[i].least || defaults != expected[i].defaults)
			fail_msg("%s: %zu nodes, %zu defaults", crds[i], seen, defaults);
	}
	done(&p);
}

static void crds_carry_names_columns_and_rules(void **state)
{
	static const struct {
		const char *plural, *path, *expected;
	} cases[] = {
		{ "scaledobjects", "spec|names|shortNames|0", "so" },
		{ "scaledjobs", "spec|names|shortNames|0", "sj" },
		{ "triggerauthentications", "spec|names|shortNames|0", "ta" },
		{ "triggerauthentications", "spec|names|shortNames|1", "triggerauth" },
		{ "triggerauthentications", "spec|scope", "Namespaced" },
		{ "clustertriggerauthentications", "spec|names|shortNames|0", "cta" },
		{ "clustertriggerauthentications", "spec|names|shortNames|1", "clustertriggerauth" },
		{ "clustertriggerauthentications", "spec|scope", "Cluster" },
		{ "scaledobjects", "spec|versions|0|additionalPrinterColumns|10|name", "Age" },
		{ "scaledjobs", "spec|versions|0|additionalPrinterColumns|7|name", "Age" },
		{ "triggerauthentications", "spec|versions|0|additionalPrinterColumns|5|jsonPath",
			".status.scaledjobs" },
		{ "clustertriggerauthentications", "spec|versions|0|additionalPrinterColumns|3|name", "FilePath" },
		{ "scaledobjects", SCHEMA "|properties|spec|x-kubernetes-validations|0|message",
			"minReplicaCount must be less than or equal to maxReplicaCount" },
		{ "scaledobjects", SCHEMA "|properties|spec|properties|fallback|properties|behavior|default",
			"static" },
		{ "scaledobjects",
			SCHEMA "|properties|spec|properties|advanced|properties|horizontalPodAutoscalerConfig|"
			       "properties|behavior|properties|scaleDown"
			       "|properties|stabilizationWindowSeconds|maximum",
			"3600" },
		{ "scaledobjects",
			SCHEMA "|properties|status|properties|conditions|items|properties|lastTransitionTime|format",
			"date-time" },
		{ "scaledobjects", SCHEMA "|properties|spec|properties|triggers|items|properties|metricType|type",
			"string" },
		{ "scaledjobs", SCHEMA "|properties|spec|properties|triggers|items|properties|metricType|type",
			"string" },
		{ "scaledjobs", SCHEMA "|x-kubernetes-validations|0|rule", "size(self.metadata.name) <= 63" },
		{ "scaledjobs", SCHEMA "|properties|status|properties|Paused|type", "string" },
		{ "scaledjobs", SCHEMA "|properties|status|properties|externalMetricNames|items|type", "string" },
		{ "scaledjobs",
			SCHEMA "|properties|spec|properties|jobTargetRef|properties|template|properties|metadata|x-"
			       "kubernetes-preserve-unknown-fields",
			"true" },
		{ "triggerauthentications", SCHEMA "|properties|spec|properties|oauth2|properties|type|default",
			"clientCredentials" },
	};
	struct printed p;

	(void)state;
	print(&p, &variants[0]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = yamldocs_text(find_crd(&p, cases[i].plural), cases[i].path);

		if (strcmp(got, cases[i].expected) != 0)
			fail_msg("%s: %s is \"%s\"", cases[i].plural, cases[i].path, got);
	}
	for (size_t i = 0; i < CRD_COUNT; i++) {
		assert_non_null(yamldocs_node(find_crd(&p, crds[i]), "spec|versions|0|subresources|status"));
		assert_null(yamldocs_node(find_crd(&p, crds[i]), "spec|versions|0|subresources|scale"));
	}
	done(&p);
}

/*
 * The YAML of each document is longer than compact JSON, so it bounds the size of kubectl's
 * annotation.
 */
static void every_object_fits_a_client_side_apply(void **state)
{
	struct printed p;

	(void)state;
	EACH_VARIANT(p)
	{
		const char *at = p.text;

		while (*at) {
			const char *next = strstr(at + 1, "\n---\n");
			size_t len = next ? (size_t)(next - at) : strlen(at);

			assert_true(len < ANNOTATIONS_MAX);
			at += len + (next != NULL);
		}
	}
}

static void bad_parameters_print_nothing(void **state)
{
	static const struct {
		struct manifests_params params;
		const char *why;
	} cases[] = {
		{ { .namespace_ = "" }, "--namespace" },
		{ { .namespace_ = "Big" }, "--namespace: \"Big\"" },
		{ { .namespace_ = "a.b" }, "--namespace" },
		{ { .namespace_ = "a\nkind: Secret" }, "--namespace" },
		{ { .service_name = "" }, "--service-name" },
		{ { .service_name = "1a" }, "begins with a digit" },
		{ { .service_name = "a_b" }, "--service-name" },
		{ { .image = "" }, "--image" },
		{ { .image = "a b" }, "--image" },
		{ { .image = "a\"" }, "--image" },
		{ { .image = "a\n" }, "--image" },
		{ { .watch_namespaces = "," }, "--watch-namespace" },
		{ { .watch_namespaces = "a," }, "ends with a comma" },
		{ { .watch_namespaces = "a,,b" }, "--watch-namespace" },
		{ { .watch_namespaces = "a, b" }, "--watch-namespace" },
		{ { .watch_namespaces = "a,0123456789012345678901234567890123456789012345678901234567890123456789" },
			"--watch-namespace" },
		{ { .scale_kinds = "" }, "--scale-kinds" },
		{ { .scale_kinds = "deployments," }, "--scale-kinds: the list ends with a comma" },
		{ { .scale_kinds = "deployments,,statefulsets" }, "--scale-kinds" },
		{ { .scale_kinds = "deployments, statefulsets" }, "--scale-kinds" },
		{ { .scale_kinds = "Deployment" }, "--scale-kinds: \"Deployment\" is not a kind" },
		{ { .scale_kinds = "rollouts" }, "--scale-kinds: \"rollouts\"" },
		{ { .scale_kinds = "rollouts." }, "--scale-kinds: \"rollouts.\"" },
		{ { .scale_kinds = ".argoproj.io" }, "--scale-kinds" },
		{ { .scale_kinds = "rollouts.argoproj.io/scale" }, "--scale-kinds" },
		{ { .scale_kinds = "rollouts.\"" }, "--scale-kinds" },
		{ { .scale_kinds = "*,deployments" }, "--scale-kinds" },
		{ { .priority_class = "" }, "--priority-class" },
		{ { .priority_class = "High" }, "--priority-class: \"High\"" },
		{ { .priority_class = "a\"" }, "--priority-class" },
		{ { .monitor = "pods" }, "--monitor: \"pods\" is not pod or service" },
		{ { .host = "k.example:1", .replicas = 1 }, "--replicas is for kscaled in Pods" },
		{ { .host = "k.example:1", .priority_class = "a" }, "--priority-class is for kscaled in Pods" },
		{ { .host = "k.example:1", .network_policy = true }, "--network-policy is for kscaled in Pods" },
		{ { .host = "k.example:1", .monitor = "pod" }, "--monitor is for kscaled in Pods" },
		{ { .host = "" }, "--host" },
		{ { .host = "localhost:0" }, "--host" },
		{ { .host = "fd00::1:8443" }, "brackets" },
		{ { .host = "127.0.0.1:8443" }, "loopback" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };
		char *text;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		if (manifests_print(&cases[i].params, out, &err) == 0)
			fail_msg("case %zu is accepted", i);
		fclose(out);
		assert_int_equal(len, 0);
		free(text);
		assert_int_equal(err.kind, ERR_INVALID);
		if (!strstr(err.msg, cases[i].why))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, err.msg, cases[i].why);
	}
}

static void a_full_disk_is_an_error(void **state)
{
	const struct manifests_params params = { 0 };
	struct err err = { 0 };
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(manifests_print(&params, out, &err), -1);
	assert_int_equal(err.kind, ERR_TEMPORARY);
	fclose(out);
}

/*
 * Runs the sub-command with standard output redirected (it carries TAP) and counts what was
 * printed.
 */
static int run(long *printed, int argc, char **argv)
{
	int keep = dup(STDOUT_FILENO), status;
	FILE *aside = tmpfile();

	assert_non_null(aside);
	fflush(stdout);
	dup2(fileno(aside), STDOUT_FILENO);
	status = commandline_run(&cli_manifests_line, argc, argv);
	fflush(stdout);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	fseek(aside, 0, SEEK_END);
	*printed = ftell(aside);
	fclose(aside);
	return status;
}

static void the_sub_command(void **state)
{
	static const struct {
		const char *arguments[4];
		int status;
		bool prints;
	} cases[] = {
		{ { NULL }, 0, true },
		{ { "--help" }, 0, true },
		{ { "--host", "localhost:8443", "--namespace=x" }, 0, true },
		{ { "--host=localhost" }, 2, false },
		{ { "--watch-namespace=a,b", "--image=i", "--service-name=s" }, 0, true },
		{ { "--restrict-secret-access", "--service-account-tokens", "--no-webhook" }, 0, true },
		{ { "--replicas=2", "--network-policy", "--monitor=pod", "--delete-order" }, 0, true },
		{ { "--priority-class", "a", "--no-crds" }, 0, true },
		{ { "--replicas=two" }, 2, false },
		{ { "--replicas=" }, 2, false },
		{ { "--replicas=0" }, 2, false },
		{ { "--replicas=17" }, 2, false },
		{ { "--replicas=-1" }, 2, false },
		{ { "--replicas=2x" }, 2, false },
		{ { "--replicas=4294967297" }, 2, false },
		{ { "--no-webhook=1" }, 2, false },
		{ { "--nonsense" }, 2, false },
		{ { "--host" }, 2, false },
		{ { "extra" }, 2, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *argv[6] = { strdup("manifests") };
		char *owned[6] = { argv[0] };
		int argc = 1;
		long printed;

		for (size_t k = 0; k < 4 && cases[i].arguments[k]; k++, argc++)
			owned[argc] = argv[argc] = strdup(cases[i].arguments[k]);
		assert_int_equal(run(&printed, argc, argv), cases[i].status);
		assert_int_equal(printed > 0, cases[i].prints);
		while (argc > 0)
			free(owned[--argc]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_placeholder_is_replaced),
		cmocka_unit_test(every_document_has_labels),
		cmocka_unit_test(numeric_names_stay_strings),
		cmocka_unit_test(in_the_cluster),
		cmocka_unit_test(one_replica_has_no_spread),
		cmocka_unit_test(several_replicas_are_spread),
		cmocka_unit_test(the_order_of_deletion),
		cmocka_unit_test(on_a_host_with_a_name),
		cmocka_unit_test(on_a_host_with_an_address),
		cmocka_unit_test(apiservices_have_no_bundle),
		cmocka_unit_test(viewers_may_read_the_insight_api),
		cmocka_unit_test(namespaces_of_kubernetes_are_not_created),
		cmocka_unit_test(rights_follow_the_watched_namespaces),
		cmocka_unit_test(rights_are_minimal),
		cmocka_unit_test(limited_rights_are_roles),
		cmocka_unit_test(scale_kinds_limit_rights),
		cmocka_unit_test(deployment_has_the_options),
		cmocka_unit_test(other_kinds_of_targets_are_added_by_label),
		cmocka_unit_test(webhook_is_optional),
		cmocka_unit_test(schemas_are_structural_and_complete),
		cmocka_unit_test(crds_carry_names_columns_and_rules),
		cmocka_unit_test(every_object_fits_a_client_side_apply),
		cmocka_unit_test(bad_parameters_print_nothing),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(the_sub_command),
	};

	return cmocka_run_group_tests_name("cli/manifests", tests, NULL, NULL);
}
