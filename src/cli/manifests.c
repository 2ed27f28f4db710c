/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manifests.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/dnsname.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/deleteorder.h"
#include "cli/manifests_text.h"
#include "cli/outsidehost.h"
#include "config.h"
#include "decide/validate/validate.h"

/* One more than the longest valid name, so that a cut one is still too long. */
#define LABEL_SIZE 64
#define KIND_SIZE  (63 + 1 + 253 + 1)

/* One leads, all answer: more than a few make no sense. */
#define REPLICAS_MAX 16

/* A word between @ signs in the templates, and its replacement. */
struct word {
	const char *name;
	const char *value;
};

/* The checked parameters, with defaults, and what follows from them. */
struct plan {
	struct manifests_params params; /* scale_kinds is NULL for "*" */
	const char *namespace_selector; /* of the webhooks */
	const char *own_service_rules;  /* "" unless params.host is set */
	const char *pod_priority;       /* a line of the Deployment, or "" */
	struct outsidehost host;        /* where params.host is set */
	FILE *out;
};

static int check_service_name(const char *text, struct err *err)
{
	if (text[0] >= '0' && text[0] <= '9')
		return err_set(err, ERR_INVALID,
			"--service-name: \"%s\" begins with a digit, which is not allowed for a Service", text);
	return 0;
}

static int check_image(const char *text, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@";

	if (*text == '\0')
		return err_set(err, ERR_INVALID, "--image: the reference is empty");
	if (text[strspn(text, allowed)] != '\0' || strlen(text) > 1024)
		return err_set(err, ERR_INVALID, "--image: \"%.80s\" is not an image reference", text);
	return 0;
}

/*
 * Copies the next item of a comma-separated list to out, which has room for len_max bytes and a
 * NUL; false at the end. A longer item is cut to a length that the checks refuse.
 */
static bool next_item(const char **rest, char *out, size_t len_max)
{
	size_t len = strcspn(*rest, ",");
	size_t kept = len < len_max ? len : len_max;

	if (**rest == '\0')
		return false;
	memcpy(out, *rest, kept);
	out[kept] = '\0';
	*rest += len + ((*rest)[len] == ',');
	return true;
}

static int check_list_end(const char *option, const char *list, struct err *err)
{
	size_t len = strlen(list);

	if (len > 0 && list[len - 1] == ',')
		return err_set(err, ERR_INVALID, "--%s: the list ends with a comma", option);
	return 0;
}

static int check_watch_namespaces(const char *list, struct err *err)
{
	char label[LABEL_SIZE + 1];

	if (check_list_end("watch-namespace", list, err) < 0)
		return -1;
	while (next_item(&list, label, LABEL_SIZE))
		if (!dnsname_is_label(label, strlen(label)))
			return err_set(err, ERR_INVALID,
				"--watch-namespace: \"%.80s\" is not a Kubernetes name: lower-case letters, digits and "
				"-",
				label);
	return 0;
}

/* ---- Kinds of scale targets: "rollouts.argoproj.io" ---- */

/*
 * Splits "resource.group", as kubectl writes it: cuts text after the resource; *group is in text,
 * or a constant where the group was omitted, "" for the core group.
 */
static int split_kind(char *text, const char **group, struct err *err)
{
	static const struct {
		const char *resource, *group;
	} known[] = { { "deployments", "apps" }, { "statefulsets", "apps" }, { "replicasets", "apps" },
		{ "replicationcontrollers", "" } };
	char *dot = strchr(text, '.');

	for (size_t i = 0; !dot && i < MEM_COUNT(known); i++) {
		if (strcmp(text, known[i].resource) != 0)
			continue;
		*group = known[i].group;
		return 0;
	}
	if (dot)
		*dot = '\0';
	if (!dot || !dnsname_is_label(text, strlen(text)) || !dnsname_is_subdomain(dot + 1, strlen(dot + 1))) {
		if (dot)
			*dot = '.';
		return err_set(err, ERR_INVALID,
			"--scale-kinds: \"%.80s\" is not a kind of scale target: give its plural and API group, such "
			"as \"rollouts.argoproj.io\"; the group may be omitted for deployments, statefulsets, "
			"replicasets "
			"and replicationcontrollers",
			text);
	}
	*group = dot + 1;
	return 0;
}

static int check_scale_kinds(const char *list, struct err *err)
{
	char kind[KIND_SIZE + 1];
	const char *group;

	if (!list)
		return 0;
	if (*list == '\0')
		return err_set(err, ERR_INVALID, "--scale-kinds: the list is empty: \"*\" means every kind");
	if (check_list_end("scale-kinds", list, err) < 0)
		return -1;
	while (next_item(&list, kind, KIND_SIZE))
		if (split_kind(kind, &group, err) < 0)
			return -1;
	return 0;
}

/* ---- Options of the Deployment ---- */

/* Options of the Pods, which --host excludes. */
static int check_not_of_a_pod(const struct manifests_params *p, struct err *err)
{
	const struct {
		const char *option;
		bool given;
	} of_pods[] = {
		{ "replicas", p->replicas > 0 },
		{ "priority-class", p->priority_class != NULL },
		{ "monitor", p->monitor != NULL },
		{ "network-policy", p->network_policy },
	};

	for (size_t i = 0; i < MEM_COUNT(of_pods); i++)
		if (of_pods[i].given)
			return err_set(err, ERR_INVALID,
				"--%s is for kscaled in Pods and --host for kscaled outside the cluster: give only one "
				"of them",
				of_pods[i].option);
	return 0;
}

/* Each text, as its option declares it. */
static int check_texts(const struct manifests_params *p, struct err *err)
{
	struct option o;

	for (size_t i = 0; commandline_option(&cli_manifests_line, i, &o); i++) {
		const char *const *text = (const char *const *)((const char *)p + o.offset);

		if (o.kind <= OPTION_LABELS && *text && commandline_check(&o, *text, err) < 0)
			return err_wrap(err, "--%s", o.name);
	}
	return 0;
}

static int check(const struct manifests_params *params, struct plan *plan, struct err *err)
{
	struct manifests_params *p = &plan->params;

	*p = *params;
	p->namespace_ = p->namespace_ ? p->namespace_ : "kscaled";
	p->service_name = p->service_name ? p->service_name : "kscaled";
	p->image = p->image ? p->image : "kscaled:" PACKAGE_VERSION;
	p->watch_namespaces = p->watch_namespaces ? p->watch_namespaces : "";
	if (p->scale_kinds && strcmp(p->scale_kinds, "*") == 0)
		p->scale_kinds = NULL;
	p->replicas = p->replicas > 0 ? p->replicas : 1;
	if (check_texts(p, err) < 0 || check_service_name(p->service_name, err) < 0 || check_image(p->image, err) < 0 ||
		check_watch_namespaces(p->watch_namespaces, err) < 0 || check_scale_kinds(p->scale_kinds, err) < 0 ||
		(p->host && check_not_of_a_pod(params, err) < 0))
		return -1;
	if (p->host && outsidehost_parse(p->host, &plan->host, err) < 0)
		return err_wrap(err, "--host");
	return 0;
}

/*
 * The value of the word at text, after an @; NULL: none. *len: its length, including the closing @.
 */
static const char *value_at(const struct word *words, const char *text, size_t *len)
{
	size_t name_len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	if (text[name_len] != '@')
		return NULL;
	*len = name_len + 1;
	for (; words->name; words++)
		if (strlen(words->name) == name_len && strncmp(words->name, text, name_len) == 0)
			return words->value;
	return NULL;
}

static void print_text(FILE *out, const struct word *words, const char *text)
{
	while (*text) {
		size_t plain = strcspn(text, "@"), len;
		const char *value;

		fwrite(text, 1, plain, out);
		text += plain;
		if (*text == '\0')
			return;
		value = value_at(words, text + 1, &len);
		fputs(value ? value : "@", out);
		text += value ? 1 + len : 1;
	}
}

static void print_document(FILE *out, const struct word *words, const char *text)
{
	fputs("---\n", out);
	print_text(out, words, text);
}

/* ---- Rights ---- */

/* The first words of the table, which differ per role. */
enum { WORD_ROLE, WORD_BOUND, WORD_ROLE_NAME, WORD_IN_NAMESPACE };

/* The rules of the role kscaled-scale, whose document is printed. */
static void print_scale_rules(const struct plan *plan)
{
	const char *rest = plan->params.scale_kinds, *group;
	char kind[KIND_SIZE + 1];
	struct err err;

	if (!rest)
		fputs(manifests_rules_scale_all, plan->out);
	while (rest && next_item(&rest, kind, KIND_SIZE) && split_kind(kind, &group, &err) == 0) {
		const struct word words[] = { { "SCALE_GROUP", group }, { "SCALE_RESOURCE", kind }, { NULL, NULL } };

		print_text(plan->out, words, manifests_rules_scale_kind);
	}
}

/*
 * The roles for workloads, in one namespace, or cluster-wide if it is NULL. The aggregated role is
 * always a ClusterRole, and printed once.
 */
static void print_roles(const struct plan *plan, struct word *words, const char *namespace_)
{
	const struct {
		const char *name, *text; /* NULL: the role is printed elsewhere */
		bool wanted;
	} roles[] = {
		{ "kscaled-workloads", manifests_rbac_workloads, true },
		{ "kscaled-scale", manifests_rbac_scale, true },
		{ "kscaled-jobs", manifests_rbac_jobs, !plan->params.no_scaledjobs },
		{ "kscaled-secrets", manifests_rbac_secrets, !plan->params.restrict_secrets },
		{ "kscaled-tokens", manifests_rbac_tokens, plan->params.service_account_tokens },
		{ "kscaled-scale-targets", NULL, !plan->params.scale_kinds },
	};
	MEM_AUTO char *in_namespace = namespace_ ? mem_printf("\n  namespace: \"%s\"", namespace_) : mem_dup("");

	words[WORD_IN_NAMESPACE].value = in_namespace;
	words[WORD_ROLE].value = namespace_ ? "Role" : "ClusterRole";
	for (size_t i = 0; i < MEM_COUNT(roles); i++) {
		if (!roles[i].wanted)
			continue;
		words[WORD_ROLE_NAME].value = roles[i].name;
		words[WORD_BOUND].value = roles[i].text ? words[WORD_ROLE].value : "ClusterRole";
		if (roles[i].text)
			print_document(plan->out, words, roles[i].text);
		if (roles[i].text == manifests_rbac_scale)
			print_scale_rules(plan);
		print_document(plan->out, words, manifests_rbac_binding);
	}
	words[WORD_IN_NAMESPACE].value = "";
}

static void print_rights(const struct plan *plan, struct word *words)
{
	const char *rest = plan->params.watch_namespaces;
	char label[LABEL_SIZE + 1];
	bool in_default = *rest == '\0';

	print_document(plan->out, words, manifests_serviceaccount);
	print_document(plan->out, words, manifests_rbac);
	if (!plan->params.scale_kinds)
		print_document(plan->out, words, manifests_rbac_scale_targets);
	if (*rest == '\0')
		print_roles(plan, words, NULL);
	while (next_item(&rest, label, LABEL_SIZE)) {
		print_roles(plan, words, label);
		in_default = in_default || strcmp(label, "default") == 0;
	}
	if (!in_default)
		print_document(plan->out, words, manifests_rbac_events);
	print_document(plan->out, words, manifests_rbac_own);
	print_document(plan->out, words, manifests_rbac_aggregated);
}

static const char *service_text(const struct plan *plan)
{
	if (!plan->params.host)
		return manifests_service_pod;
	return plan->host.kind == OUTSIDEHOST_NAME ? manifests_service_name : manifests_service_address;
}

static void print_crds(const struct plan *plan, const struct word *words)
{
	print_document(plan->out, words, manifests_crd_scaledobjects);
	print_document(plan->out, words, manifests_crd_scaledjobs);
	print_document(plan->out, words, manifests_crd_triggerauthentications);
	print_document(plan->out, words, manifests_crd_clustertriggerauthentications);
}

/* The Deployment and its companions. */
static void print_deployment(const struct plan *plan, const struct word *words)
{
	const char *monitor = plan->params.monitor;

	print_document(plan->out, words, manifests_deployment);
	if (plan->params.replicas > 1)
		print_document(plan->out, words, manifests_poddisruptionbudget);
	if (plan->params.network_policy)
		print_document(plan->out, words, manifests_networkpolicy);
	if (monitor)
		print_document(plan->out, words,
			strcmp(monitor, "pod") == 0 ? manifests_monitor_pod : manifests_monitor_service);
}

static void print_all(const struct plan *plan)
{
	/*
	 * Namespaces that every cluster has are not printed, or `kubectl delete -f` would delete
	 * them.
	 */
	static const char *const of_kubernetes[] = { "default", "kube-system", "kube-public", "kube-node-lease", NULL };
	char port[16], replicas[16];
	bool by_service = plan->params.monitor && strcmp(plan->params.monitor, "service") == 0;
	struct word words[] = {
		[WORD_ROLE] = { "ROLE", "" },
		[WORD_BOUND] = { "BOUND", "" },
		[WORD_ROLE_NAME] = { "ROLE_NAME", "" },
		[WORD_IN_NAMESPACE] = { "IN_NAMESPACE", "" },
		{ "NAMESPACE", plan->params.namespace_ },
		{ "SERVICE_NAME", plan->params.service_name },
		{ "IMAGE", plan->params.image },
		{ "WATCH_NAMESPACES", plan->params.watch_namespaces },
		{ "VERSION", PACKAGE_VERSION },
		{ "HOST", plan->host.host },
		{ "PORT", port },
		/* The aggregator uses the APIService's port for an ExternalName. */
		{ "SERVICE_PORT", plan->params.host && plan->host.kind == OUTSIDEHOST_NAME ? port : "443" },
		{ "WEBHOOK_RULES", plan->params.no_webhook ? "" : manifests_rules_webhook },
		{ "LIMITRANGE_RULES", plan->params.no_webhook ? "" : manifests_rules_limitranges },
		{ "OWN_TOKEN_RULES",
			plan->params.service_account_tokens ? manifests_rules_tokens
				: plan->params.host         ? manifests_rules_own_token
							    : "" },
		{ "OWN_SERVICE_RULES", plan->own_service_rules },
		{ "RELEASE_RULES", plan->params.host ? manifests_rules_release : "" },
		{ "RESTRICT_SECRETS", plan->params.restrict_secrets ? "true" : "false" },
		{ "WEBHOOK", plan->params.no_webhook ? "false" : "true" },
		{ "NAMESPACE_SELECTOR", plan->namespace_selector },
		{ "REPLICAS", replicas },
		{ "POD_PRIORITY", plan->pod_priority },
		{ "POD_SPREAD", plan->params.replicas > 1 ? manifests_pod_spread : "" },
		{ "STATUS_PORT", by_service ? manifests_service_status_port : "" },
		{ "FAMILY", plan->host.kind == OUTSIDEHOST_IPV6 ? "IPv6" : "IPv4" },
		{ NULL, NULL },
	};

	snprintf(port, sizeof(port), "%d", plan->host.port);
	snprintf(replicas, sizeof(replicas), "%d", (int)plan->params.replicas);
	if (!text_is_one_of(plan->params.namespace_, of_kubernetes))
		print_document(plan->out, words, manifests_namespace);
	if (!plan->params.no_crds)
		print_crds(plan, words);
	print_rights(plan, words);
	print_document(plan->out, words, service_text(plan));
	print_document(plan->out, words, manifests_apiservice);
	if (!plan->params.no_webhook)
		print_document(plan->out, words, manifests_webhook);
	if (!plan->params.host)
		print_deployment(plan, words);
}

/* Limits the webhooks to the watched namespaces. In YAML's flow style; the caller owns it. */
static char *namespace_selector(const char *watch_namespaces)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	char label[LABEL_SIZE + 1];

	if (*watch_namespaces == '\0')
		return mem_dup("{}");
	buf_puts(&out, "{matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [");
	for (const char *separator = ""; next_item(&watch_namespaces, label, LABEL_SIZE); separator = ", ")
		buf_printf(&out, "%s\"%s\"", separator, label);
	buf_puts(&out, "]}]}");
	return buf_take(&out);
}

/* Expands a template for a word, because words in values are not replaced. The caller owns it. */
static char *own_service_rules(const struct plan *plan)
{
	const struct word words[] = { { "SERVICE_NAME", plan->params.service_name }, { NULL, NULL } };
	char *text = NULL;
	size_t len = 0;
	FILE *out = plan->params.host ? open_memstream(&text, &len) : NULL;

	if (!out)
		return mem_dup("");
	print_text(out, words, manifests_rules_own_service);
	fclose(out);
	return text;
}

/* As print_all, but in the order of deletion. */
static int print_reversed(struct plan *plan, struct err *err)
{
	MEM_AUTO char *text = NULL;
	FILE *out = plan->out;
	size_t len;

	plan->out = open_memstream(&text, &len);
	if (!plan->out)
		return err_set(err, ERR_TEMPORARY, "printing the manifests: %s", strerror(errno));
	print_all(plan);
	if (fclose(plan->out) != 0)
		return err_set(err, ERR_TEMPORARY, "printing the manifests: %s", strerror(errno));
	plan->out = out;
	deleteorder_print(text, out);
	return 0;
}

int manifests_print(const struct manifests_params *params, FILE *out, struct err *err)
{
	struct plan plan = { .out = out };
	MEM_AUTO char *selector = NULL, *service_rules = NULL, *priority = NULL;

	if (check(params, &plan, err) < 0)
		return -1;
	plan.namespace_selector = selector = namespace_selector(plan.params.watch_namespaces);
	plan.own_service_rules = service_rules = own_service_rules(&plan);
	priority = plan.params.priority_class
		? mem_printf("      priorityClassName: \"%s\"\n", plan.params.priority_class)
		: mem_dup("");
	plan.pod_priority = priority;
	if (!plan.params.delete_order)
		print_all(&plan);
	else if (print_reversed(&plan, err) < 0)
		return -1;
	if (fflush(out) != 0 || ferror(out))
		return err_set(err, ERR_TEMPORARY, "writing the manifests: %s", strerror(errno));
	return 0;
}

/* ---- The command line ---- */

#define AT(member) .offset = offsetof(struct manifests_params, member)
const struct option manifests_name_options[] = {
	{ "namespace", OPTION_LABEL, AT(namespace_), "NS", "namespace of kscaled (default: kscaled)" },
	{ "service-name", OPTION_LABEL, AT(service_name), "NAME", "Service behind the APIService (default: kscaled)" },
	{ .name = NULL },
};

const struct option manifests_rights_options[] = {
	{ "watch-namespace", OPTION_TEXT, AT(watch_namespaces), "NS[,NS]",
		"limit the rights on workloads to these namespaces, which must exist (default: all)" },
	{ "scale-kinds", OPTION_TEXT, AT(scale_kinds), "KIND[,KIND]",
		"kinds of workloads to scale, such as deployments,rollouts.argoproj.io (default: *)" },
	{ "no-scaledjobs", OPTION_SWITCH, AT(no_scaledjobs), NULL, "no rights on Jobs: ScaledJobs are ignored" },
	{ "restrict-secret-access", OPTION_SWITCH, AT(restrict_secrets), NULL,
		"read Secrets only in the namespace of kscaled (default: in those it watches)" },
	{ "service-account-tokens", OPTION_SWITCH, AT(service_account_tokens), NULL,
		"let it request tokens of service accounts, for boundServiceAccountToken and Vault" },
	{ "no-webhook", OPTION_SWITCH, AT(no_webhook), NULL, "do not check objects before they are stored" },
	{ .name = NULL },
};

static const char *const monitors[] = { "pod", "service", NULL };

static const struct option options[] = {
	{ "host", OPTION_TEXT, AT(host), "HOST:PORT",
		"where the API server reaches kscaled outside the cluster: a DNS name, an IPv4 address, or an IPv6 "
		"address in brackets" },
	{ "image", OPTION_TEXT, AT(image), "REF", "container image (default: kscaled:" PACKAGE_VERSION ")" },
	{ "no-crds", OPTION_SWITCH, AT(no_crds), NULL,
		"print no CustomResourceDefinitions, because they are installed" },
	{ "replicas", OPTION_COUNT, AT(replicas), "N", "number of Pods; one leads, all answer (default: 1)", .least = 1,
		.most = REPLICAS_MAX },
	{ "priority-class", OPTION_SUBDOMAIN, AT(priority_class), "NAME",
		"PriorityClass of the Pods, such as system-cluster-critical" },
	{ "network-policy", OPTION_SWITCH, AT(network_policy), NULL, "a NetworkPolicy that opens only the two ports" },
	{ "monitor", OPTION_WORD, AT(monitor), "pod|service",
		"a PodMonitor or a ServiceMonitor for the Prometheus operator", .words = monitors },
	{ "delete-order", OPTION_SWITCH, AT(delete_order), NULL, "print the documents in the order of deletion" },
	{ .name = NULL },
};
#undef AT

static int run_manifests(void *arguments, char **operands, int count, struct err *err)
{
	(void)operands;
	(void)count;
	if (manifests_print(arguments, stdout, err) == 0)
		return 0;
	return err->kind == ERR_INVALID ? COMMANDLINE_WRONG : 1;
}

const struct commandline cli_manifests_line = {
	.name = "manifests",
	.summary = "prints the objects that a cluster needs, for kubectl apply -f -",
	.usage = "[OPTION]...",
	.text = "Print the objects that a cluster needs for kscaled, as YAML:\n"
		"    kscaled manifests | kubectl apply -f -",
	.tables = { { .options = options }, { .options = manifests_name_options },
		{ .options = manifests_rights_options } },
	.size = sizeof(struct manifests_params),
	.run = run_manifests,
};
