/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/release.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <config.h> /* configure's; in quotes it would be the one of another room */

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/host/optiontext.h"
#include "cli/host/ownership.h"

#define NAME_LABEL "app.kubernetes.io/name"
#define JOINER     "kscaled-join" /* the field manager of `kscaled join` */
#define HELM       "meta.helm.sh/release-"

bool release_is_ours(const json_t *object)
{
	return json_str_is(fields_at(object, "metadata.labels"), NAME_LABEL, "kscaled");
}

/* Stores text in the facts, so that the setup can borrow it. Takes text. */
static const char *keep(json_t *facts, const char *key, char *text)
{
	if (!json_object_get(facts, "release"))
		json_object_set_new(facts, "release", json_object());
	json_object_set_new(json_object_get(facts, "release"), key, json_string(text));
	free(text);
	return json_string_value(json_object_get(json_object_get(facts, "release"), key));
}

/* ---- The daemon's options, from its arguments and environment ---- */

/* The last argument wins, then the environment. NULL: not set. */
static const char *option_value(const json_t *arguments, const json_t *environment, const char *option)
{
	MEM_AUTO char *flag = mem_printf("--%s", option), *variable = mem_printf("KSCALED_%s", option);
	const char *found = NULL, *value;
	const json_t *one;
	size_t i;

	for (char *c = variable; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	json_array_foreach(environment, i, one)
	{
		if (json_str_is(one, "name", variable))
			found = json_string_value(json_object_get(one, "value"));
	}
	json_array_foreach(arguments, i, one)
	{
		value = json_is_string(one) ? text_behind(json_string_value(one), flag) : NULL;
		if (value && *value == '=')
			found = value + 1;
		else if (value && !*value)
			found = "true";
	}
	return found;
}

static const struct {
	const char *name;
	enum { TEXT, TEXT_OR_NONE /* "" is NULL */, FLAG, FLAG_NOT } kind;
	size_t at;
} options[] = {
	{ "service-name", TEXT, offsetof(struct doctor_setup, manifests.service_name) },
	{ "lease-name", TEXT, offsetof(struct doctor_setup, lease_name) },
	{ "keda-namespace", TEXT_OR_NONE, offsetof(struct doctor_setup, keda_namespace) },
	{ "watch-namespace", TEXT_OR_NONE, offsetof(struct doctor_setup, manifests.watch_namespaces) },
	{ "tls-cert-file", TEXT_OR_NONE, offsetof(struct doctor_setup, tls_cert_file) },
	{ "webhook", FLAG_NOT, offsetof(struct doctor_setup, manifests.no_webhook) },
	{ "restrict-secret-access", FLAG, offsetof(struct doctor_setup, manifests.restrict_secrets) },
	{ "take-over", FLAG, offsetof(struct doctor_setup, take_over) },
	{ "leader-elect", FLAG_NOT, offsetof(struct doctor_setup, no_lease) },
};

/* Sets a member, unless the command line did. */
static void set_text(struct doctor_setup *s, size_t at, const char *value)
{
	if (!s->given || !*(const char *const *)((const void *)((const char *)s->given + at)))
		*(const char **)((void *)((char *)s + at)) = value;
}

static void set_flag(struct doctor_setup *s, size_t at, bool value)
{
	if (!s->given || !((const char *)s->given)[at])
		*(bool *)((char *)s + at) = value;
}

static void read_options(struct doctor_setup *s, const json_t *arguments, const json_t *environment)
{
	for (size_t i = 0; i < MEM_COUNT(options); i++) {
		const char *value = option_value(arguments, environment, options[i].name);

		if (value && options[i].kind <= TEXT_OR_NONE)
			set_text(s, options[i].at, *value || options[i].kind == TEXT ? value : NULL);
		else if (value)
			set_flag(s, options[i].at, (strcmp(value, "true") == 0) == (options[i].kind == FLAG));
	}
}

/* ---- What installed it ---- */

static void read_installer(struct doctor_setup *s, json_t *facts)
{
	static const char *const by[] = { "deployment.object", "apiservice.object", "webhooks.object",
		"roles.object.0" };

	for (size_t i = 0; i < MEM_COUNT(by) && s->installer == DOCTOR_MANIFESTS; i++) {
		const json_t *object = fields_at(facts, by[i]), *notes = fields_at(object, "metadata.annotations");
		bool is_ours = release_is_ours(object);
		MEM_AUTO char *others = is_ours ? ownership_of_others(object) : NULL;

		if (others && *json_str_or_empty(notes, HELM "name")) {
			s->installer = DOCTOR_HELM;
			s->release = json_str_or_empty(notes, HELM "name");
			s->release_namespace = json_str_or_empty(notes, HELM "namespace");
		} else if (others) {
			s->installer = DOCTOR_OTHERS;
			s->release = keep(facts, "maker", mem_dup(others));
		} else if (fields_entry(fields_at(object, "metadata.managedFields"), "manager", JOINER)) {
			s->installer = DOCTOR_JOIN;
		}
		if (is_ours && !s->version)
			s->version = json_string_value(
				json_object_get(fields_at(object, "metadata.labels"), "app.kubernetes.io/version"));
	}
}

/* Takes what the command line did not give from the call of `kscaled join`. */
void release_read_kubeconfig(struct doctor_setup *s, json_t *facts)
{
	static const struct option *const tables[] = { manifests_name_options, manifests_rights_options };
	const char *joined = json_string_value(fields_at(facts, "joined.object"));

	if (!joined)
		return;
	s->installer = DOCTOR_JOIN;
	s->joined = *joined ? joined : NULL;
	for (size_t i = 0; i < MEM_COUNT(tables); i++)
		for (const struct option *o = tables[i]; o->name; o++) {
			size_t at = offsetof(struct doctor_setup, manifests) + o->offset;
			char *value = optiontext_find(joined, o->name);

			if (value && o->kind != OPTION_SWITCH)
				set_text(s, at, keep(facts, o->name, mem_dup(value)));
			else if (value)
				set_flag(s, at, true);
			free(value);
		}
}

/* ---- Roles ---- */

/* kind: "" matches Role and ClusterRole. */
static const json_t *role_there(const json_t *roles, const char *kind, const char *name)
{
	static const char *const kinds[] = { "Role", "ClusterRole", NULL };
	const json_t *one;
	size_t i;

	json_array_foreach(roles, i, one)
	{
		const char *is = json_str_or_empty(one, "kind");

		if ((*kind ? strcmp(is, kind) == 0 : text_is_one_of(is, kinds)) &&
			fields_is(one, "metadata.name", name))
			return one;
	}
	return NULL;
}

static bool has_entry(const json_t *rule, const char *key, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(rule, key), i, one)
	{
		if (json_is_string(one) && strcmp(json_string_value(one), text) == 0)
			return true;
	}
	return false;
}

/* Whether a rule covers this resource; named: limited to resourceNames or not. */
static bool has_rule(const json_t *role, const char *resource, bool named)
{
	const json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(role, "rules"), i, rule)
	{
		if (has_entry(rule, "resources", resource) && !json_object_get(rule, "resourceNames") == !named)
			return true;
	}
	return false;
}

/* The kinds in a role's rules, in the form of --scale-kinds; "": none. The caller owns it. */
static char *kinds_of(const json_t *role)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	const json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(role, "rules"), i, rule)
	{
		const char *group = fields_text(rule, "apiGroups.0"), *resource = fields_text(rule, "resources.0"),
			   *slash = strstr(resource, "/scale");

		if (!slash || *resource == '*')
			continue;
		buf_printf(&out, "%s%.*s", out.len > 0 ? "," : "", (int)(slash - resource), resource);
		if (*group && strcmp(group, "apps") != 0)
			buf_printf(&out, ".%s", group);
	}
	return buf_take(&out);
}

/* The namespaces with a Role of this name. NULL: none. */
static char *namespaces_of(const json_t *roles, const char *name)
{
	struct buf out = BUF_INIT(SIZE_MAX);
	const json_t *one;
	size_t i;

	json_array_foreach(roles, i, one)
	{
		if (json_str_is(one, "kind", "Role") && fields_is(one, "metadata.name", name))
			buf_printf(&out, "%s%s", out.len > 0 ? "," : "", fields_namespace(one));
	}
	if (out.len > 0)
		return buf_take(&out);
	buf_done(&out);
	return NULL;
}

/*
 * Options that only the roles show. An existing role is taken as intended, bound or not; a binding
 * without its role is a leftover. For kscaled on a host, the daemon's options are inferred from the
 * roles, too.
 */
static void read_roles(struct doctor_setup *s, json_t *facts)
{
	const json_t *roles = fields_at(facts, "roles.object"), *own = role_there(roles, "Role", "kscaled"),
		     *all = role_there(roles, "ClusterRole", "kscaled"),
		     *scale = role_there(roles, "", "kscaled-scale");
	struct manifests_params *m = &s->manifests;
	char *kinds;

	s->knows_roles = roles != NULL;
	/* Without any, rights are granted by other means (the chart's rbac.create=false). */
	s->no_roles = roles && !role_there(roles, "", "kscaled-workloads") && !own;
	if (!roles || s->no_roles)
		return;
	m->no_scaledjobs |= !role_there(roles, "", "kscaled-jobs");
	m->service_account_tokens |= has_rule(own, "serviceaccounts/token", false);
	kinds = kinds_of(scale);
	s->lost_kinds = !m->scale_kinds && !*kinds && !role_there(roles, "", "kscaled-scale-targets") &&
		!has_rule(scale, "*/scale", false);
	if (!m->scale_kinds && (*kinds || s->lost_kinds))
		m->scale_kinds = keep(facts, "kinds", mem_dup(*kinds ? kinds : "deployments"));
	free(kinds);
	if (s->in_pod)
		return;
	if (!m->watch_namespaces && !(s->given && s->given->manifests.watch_namespaces) &&
		!role_there(roles, "ClusterRole", "kscaled-workloads") &&
		!role_there(roles, "ClusterRoleBinding", "kscaled-workloads")) {
		char *watched = namespaces_of(roles, "kscaled-workloads");

		m->watch_namespaces = watched ? keep(facts, "watched", watched) : NULL;
	}
	m->restrict_secrets |= !role_there(roles, "", "kscaled-secrets");
	m->no_webhook |= all && !has_rule(all, "validatingwebhookconfigurations", true);
}

/* ---- Other options of `kscaled manifests` ---- */

static void read_pod(struct doctor_setup *s, json_t *facts)
{
	struct manifests_params *m = &s->manifests;
	const json_t *deployment = fields_at(facts, "deployment.object"),
		     *pod = fields_at(deployment, "spec.template.spec");
	const char *image = json_str_or_empty(facts_container(facts), "image");

	s->account = json_string_value(json_object_get(pod, "serviceAccountName"));
	m->image = *image && strcmp(image, "kscaled:" PACKAGE_VERSION) != 0 ? image : NULL;
	m->priority_class = json_string_value(json_object_get(pod, "priorityClassName"));
	m->replicas = fields_number(deployment, "spec.replicas");
	m->replicas = m->replicas > 1 ? m->replicas : 0;
	m->network_policy = fields_at(facts, "networkpolicy.object") != NULL;
	m->monitor = json_string_value(fields_at(facts, "monitors.object.0"));
}

void release_read(struct doctor_setup *s, json_t *facts)
{
	static const char *const crds[] = { "crd scaledobjects.object", "crd scaledjobs.object" };
	const json_t *container = facts_container(facts), *command = fields_at(facts, "command.object");

	s->in_pod = fields_at(facts, "deployment.object") != NULL;
	s->outside = fields_is(facts, "deployment.error", "missing");
	read_options(s, container ? json_object_get(container, "args") : command, json_object_get(container, "env"));
	read_installer(s, facts);
	read_roles(s, facts);
	if (s->in_pod)
		read_pod(s, facts);
	for (size_t i = 0; i < MEM_COUNT(crds); i++)
		s->manifests.no_crds |= fields_at(facts, crds[i]) && !release_is_ours(fields_at(facts, crds[i]));
}

/* ---- The check ---- */

bool release_is_there(const struct facts *c)
{
	const json_t *apiservice = facts_object(c, "apiservice");
	bool names_us = json_str_is(fields_at(apiservice, "spec.service"), "namespace",
				c->setup->manifests.namespace_) &&
		json_str_is(fields_at(apiservice, "spec.service"), "name", c->setup->manifests.service_name);

	return names_us || !facts_lacks(c, "deployment") || !facts_lacks(c, "service") ||
		(!apiservice && !facts_lacks(c, "apiservice"));
}

static void check_missing(const struct facts *c)
{
	const json_t *apiservice = facts_object(c, "apiservice");
	const char *ns = fields_text(apiservice, "spec.service.namespace"),
		   *name = fields_text(apiservice, "spec.service.name");
	MEM_AUTO char *others = *ns && release_is_ours(apiservice)
		? mem_printf("; it is in namespace %s: run kscaled doctor --namespace %s --service-name %s", ns, ns,
			  name)
		: *ns ? mem_printf("; the external metrics are served by Service %s/%s", ns, name)
		      : mem_dup("");

	facts_error(c, NULL, "kscaled is not installed in namespace %s of this cluster%s%s",
		c->setup->manifests.namespace_, others,
		*ns ? "" : ": install it with kscaled manifests | kubectl apply -f -, helm install or kscaled join");
}

void release_check(const struct facts *c)
{
	const struct doctor_setup *s = c->setup;
	const char *place = s->in_pod ? "in Pods" : "outside the cluster";

	if (!release_is_there(c))
		check_missing(c);
	else if (facts_lacks(c, "deployment") && c->setup->installer == DOCTOR_HELM)
		facts_error(c, facts_apply(c), "Helm release %s/%s has lost its Deployment %s/kscaled",
			s->release_namespace, s->release, s->manifests.namespace_);
	else if (s->installer == DOCTOR_HELM)
		facts_ok(c, "Helm release %s/%s, in Pods", s->release_namespace, s->release);
	else if (s->installer == DOCTOR_JOIN)
		facts_ok(c, "by kscaled join, %s", place);
	else if (s->installer == DOCTOR_OTHERS)
		facts_ok(c, "in namespace %s, %s; %s", s->manifests.namespace_, place, s->release);
	else if (!facts_object(c, "deployment") && !facts_lacks(c, "deployment") && s->kubeconfig)
		facts_ok(c, "in namespace %s", s->manifests.namespace_);
	else
		facts_ok(c, "in namespace %s, %s, from manifests", s->manifests.namespace_,
			s->in_pod || !s->kubeconfig ? "in Pods" : place);
}
