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
#include "cli/host/ownership.h"

#define NAME_LABEL "app.kubernetes.io/name"
#define JOINER     "kscaled-join" /* the field manager of `kscaled join` */
#define HELM       "meta.helm.sh/release-"

bool release_is_ours(const json_t *object)
{
	return json_str_is(facts_at(object, "metadata.labels"), NAME_LABEL, "kscaled");
}

static json_t *object_of(const json_t *facts, const char *fact)
{
	return json_object_get(json_object_get(facts, fact), "object");
}

/* Stores text in the facts, so that the setup can borrow it. Takes text. */
static const char *keep(json_t *facts, const char *key, char *text)
{
	json_t *kept = object_of(facts, "release");

	if (!kept) {
		json_object_set_new(facts, "release", json_pack("{s:{}}", "object"));
		kept = object_of(facts, "release");
	}
	json_object_set_new(kept, key, json_string(text));
	free(text);
	return json_string_value(json_object_get(kept, key));
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

enum option_kind { TEXT, TEXT_OR_NONE /* "" is NULL */, FLAG, FLAG_NOT };

static const struct {
	const char *name;
	enum option_kind kind;
	size_t at;
	unsigned given; /* the doctor's option that overrides it */
} options[] = {
	{ "service-name", TEXT, offsetof(struct doctor_setup, service_name), DOCTOR_GIVEN_SERVICE },
	{ "lease-name", TEXT, offsetof(struct doctor_setup, lease_name), 0 },
	{ "keda-namespace", TEXT_OR_NONE, offsetof(struct doctor_setup, keda_namespace), DOCTOR_GIVEN_KEDA },
	{ "watch-namespace", TEXT_OR_NONE, offsetof(struct doctor_setup, watch_namespaces), DOCTOR_GIVEN_WATCH },
	{ "tls-cert-file", TEXT_OR_NONE, offsetof(struct doctor_setup, tls_cert_file), 0 },
	{ "webhook", FLAG, offsetof(struct doctor_setup, webhook), 0 },
	{ "restrict-secret-access", FLAG, offsetof(struct doctor_setup, restrict_secrets), 0 },
	{ "take-over", FLAG, offsetof(struct doctor_setup, take_over), 0 },
	{ "leader-elect", FLAG_NOT, offsetof(struct doctor_setup, no_lease), 0 },
};

static void read_options(struct doctor_setup *s, const json_t *arguments, const json_t *environment)
{
	for (size_t i = 0; i < MEM_COUNT(options); i++) {
		const char *value = option_value(arguments, environment, options[i].name);
		void *place = (char *)s + options[i].at;

		if (!value || (s->given & options[i].given))
			continue;
		if (options[i].kind <= TEXT_OR_NONE)
			*(const char **)place = *value || options[i].kind == TEXT ? value : NULL;
		else if (strcmp(options[i].name, "webhook") == 0)
			s->webhook = s->webhook && strcmp(value, "true") == 0; /* --no-webhook may be given */
		else if (strcmp(options[i].name, "restrict-secret-access") == 0)
			s->restrict_secrets = s->restrict_secrets || strcmp(value, "true") == 0;
		else
			*(bool *)place = (strcmp(value, "true") == 0) == (options[i].kind == FLAG);
	}
}

/* ---- What installed it ---- */

static bool is_applied_by(const json_t *object, const char *manager)
{
	const json_t *one;
	size_t i;

	json_array_foreach(facts_at(object, "metadata.managedFields"), i, one)
	{
		if (json_str_is(one, "manager", manager))
			return true;
	}
	return false;
}

static void read_installer(struct doctor_setup *s, json_t *facts)
{
	static const char *const by[] = { "deployment", "apiservice", "webhooks", "roles" };

	for (size_t i = 0; i < MEM_COUNT(by) && s->installer == DOCTOR_MANIFESTS; i++) {
		const json_t *found = object_of(facts, by[i]),
			     *object = json_is_array(found) ? json_array_get(found, 0) : found;
		const json_t *notes = facts_at(object, "metadata.annotations");
		MEM_AUTO char *others = object && release_is_ours(object) ? ownership_of_others(object) : NULL;

		if (others && *json_str_or_empty(notes, HELM "name")) {
			s->installer = DOCTOR_HELM;
			s->release = json_str_or_empty(notes, HELM "name");
			s->release_namespace = json_str_or_empty(notes, HELM "namespace");
		} else if (others) {
			s->installer = DOCTOR_OTHERS;
			s->release = keep(facts, "maker", mem_dup(others));
		} else if (object && is_applied_by(object, JOINER)) {
			s->installer = DOCTOR_JOIN;
		}
		if (object && release_is_ours(object) && !s->version)
			s->version = json_string_value(
				json_object_get(facts_at(object, "metadata.labels"), "app.kubernetes.io/version"));
	}
}

/* The value of an option in the noted call of `kscaled join`; NULL: not given. */
static const char *call_value(json_t *facts, const char *call, const char *option)
{
	MEM_AUTO char *word = mem_printf(" --%s", option);
	const char *at = strstr(call, word), *value = at ? at + strlen(word) : NULL;
	bool quoted = value && value[0] == '=' && value[1] == '\'';

	if (!value || (*value && *value != '=' && *value != ' '))
		return NULL;
	value += *value == '=';
	value += quoted;
	return keep(facts, option, mem_dupn(value, strcspn(value, quoted ? "'" : " ")));
}

/* Takes what the command line did not give from the call of `kscaled join`. */
static void read_call(struct doctor_setup *s, json_t *facts, const char *call)
{
	const char *namespace_ = call_value(facts, call, "namespace"),
		   *service = call_value(facts, call, "service-name"),
		   *watched = call_value(facts, call, "watch-namespace"),
		   *kinds = call_value(facts, call, "scale-kinds");

	s->namespace_ = s->namespace_ ? s->namespace_ : namespace_;
	s->service_name = service && !(s->given & DOCTOR_GIVEN_SERVICE) ? service : s->service_name;
	s->watch_namespaces = watched && !(s->given & DOCTOR_GIVEN_WATCH) ? watched : s->watch_namespaces;
	s->scale_kinds = s->scale_kinds ? s->scale_kinds : kinds;
	s->no_scaledjobs |= call_value(facts, call, "no-scaledjobs") != NULL;
	s->restrict_secrets |= call_value(facts, call, "restrict-secret-access") != NULL;
	s->service_account_tokens |= call_value(facts, call, "service-account-tokens") != NULL;
	s->webhook = s->webhook && !call_value(facts, call, "no-webhook");
}

void release_read_kubeconfig(struct doctor_setup *s, json_t *facts)
{
	const char *joined = json_string_value(object_of(facts, "joined"));

	if (!joined)
		return;
	s->installer = DOCTOR_JOIN;
	s->joined = *joined ? joined : NULL;
	read_call(s, facts, joined);
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
			strcmp(facts_name_of(one), name) == 0)
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
		const char *group = json_string_value(json_array_get(json_object_get(rule, "apiGroups"), 0)),
			   *resource = json_string_value(json_array_get(json_object_get(rule, "resources"), 0)),
			   *slash = resource ? strstr(resource, "/scale") : NULL;

		if (!group || !slash || *resource == '*')
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
		if (!json_str_is(one, "kind", "Role") || strcmp(facts_name_of(one), name) != 0)
			continue;
		buf_printf(&out, "%s%s", out.len > 0 ? "," : "", facts_namespace_of(one));
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
	const json_t *roles = object_of(facts, "roles"), *own = role_there(roles, "Role", "kscaled"),
		     *scale = role_there(roles, "", "kscaled-scale");
	char *kinds;

	s->knows_roles = roles != NULL;
	/* Without any, rights are granted by other means (the chart's rbac.create=false). */
	s->no_roles = roles && !role_there(roles, "", "kscaled-workloads") && !own;
	if (!roles || s->no_roles)
		return;
	s->no_scaledjobs |= !role_there(roles, "", "kscaled-jobs");
	s->service_account_tokens |= has_rule(own, "serviceaccounts/token", false);
	kinds = kinds_of(scale);
	s->lost_kinds = !s->scale_kinds && !*kinds && !role_there(roles, "", "kscaled-scale-targets") &&
		!has_rule(scale, "*/scale", false);
	if (!s->scale_kinds && (*kinds || s->lost_kinds))
		s->scale_kinds = keep(facts, "kinds", mem_dup(*kinds ? kinds : "deployments"));
	free(kinds);
	if (s->in_pod)
		return;
	if (!s->watch_namespaces && !(s->given & DOCTOR_GIVEN_WATCH) &&
		!role_there(roles, "ClusterRole", "kscaled-workloads") &&
		!role_there(roles, "ClusterRoleBinding", "kscaled-workloads")) {
		char *watched = namespaces_of(roles, "kscaled-workloads");

		s->watch_namespaces = watched ? keep(facts, "watched", watched) : NULL;
	}
	s->restrict_secrets |= !role_there(roles, "", "kscaled-secrets");
	s->webhook = s->webhook &&
		(!role_there(roles, "ClusterRole", "kscaled") ||
			has_rule(role_there(roles, "ClusterRole", "kscaled"), "validatingwebhookconfigurations", true));
}

/* ---- Other options of `kscaled manifests` ---- */

static void read_pod(struct doctor_setup *s, json_t *facts)
{
	const json_t *deployment = object_of(facts, "deployment"), *pod = facts_at(deployment, "spec.template.spec");
	json_int_t replicas = json_integer_value(facts_at(deployment, "spec.replicas"));
	const char *image = json_str_or_empty(facts_container(object_of(facts, "deployment")), "image");

	s->account = json_string_value(json_object_get(pod, "serviceAccountName"));
	s->image = *image && strcmp(image, "kscaled:" PACKAGE_VERSION) != 0 ? image : NULL;
	s->priority_class = json_string_value(json_object_get(pod, "priorityClassName"));
	if (replicas > 1)
		s->replicas = keep(facts, "replicas", mem_printf("%d", (int)replicas));
	s->network_policy = object_of(facts, "networkpolicy") != NULL;
	s->monitor = json_string_value(json_array_get(object_of(facts, "monitors"), 0));
}

void release_read(struct doctor_setup *s, json_t *facts)
{
	const json_t *container = facts_container(object_of(facts, "deployment")),
		     *command = object_of(facts, "command");

	s->in_pod = object_of(facts, "deployment") != NULL;
	read_options(s, container ? json_object_get(container, "args") : command, json_object_get(container, "env"));
	read_installer(s, facts);
	read_roles(s, facts);
	if (s->in_pod)
		read_pod(s, facts);
	for (const char *const *plural = (const char *const[]){ "crd scaledobjects", "crd scaledjobs", NULL }; *plural;
		plural++)
		s->others_crds |= object_of(facts, *plural) && !release_is_ours(object_of(facts, *plural));
}

/* ---- The check ---- */

bool release_is_there(const struct facts *c)
{
	const json_t *apiservice = facts_object(c, "apiservice");
	bool names_us = json_str_is(facts_at(apiservice, "spec.service"), "namespace", c->setup->namespace_) &&
		json_str_is(facts_at(apiservice, "spec.service"), "name", c->setup->service_name);

	return names_us || !facts_lacks(c, "deployment") || !facts_lacks(c, "service") ||
		(!apiservice && !facts_lacks(c, "apiservice"));
}

static void check_missing(const struct facts *c)
{
	const json_t *apiservice = facts_object(c, "apiservice");
	const char *ns = facts_text_at(apiservice, "spec.service.namespace"),
		   *name = facts_text_at(apiservice, "spec.service.name");
	MEM_AUTO char *others = *ns && release_is_ours(apiservice)
		? mem_printf("; it is in namespace %s: run kscaled doctor --namespace %s --service-name %s", ns, ns,
			  name)
		: *ns ? mem_printf("; the external metrics are served by Service %s/%s", ns, name)
		      : mem_dup("");

	facts_error(c, NULL, "kscaled is not installed in namespace %s of this cluster%s%s", c->setup->namespace_,
		others,
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
			s->release_namespace, s->release, s->namespace_);
	else if (s->installer == DOCTOR_HELM)
		facts_ok(c, "Helm release %s/%s, in Pods", s->release_namespace, s->release);
	else if (s->installer == DOCTOR_JOIN)
		facts_ok(c, "by kscaled join, %s", place);
	else if (s->installer == DOCTOR_OTHERS)
		facts_ok(c, "in namespace %s, %s; %s", s->namespace_, place, s->release);
	else if (!facts_object(c, "deployment") && !facts_lacks(c, "deployment") && s->kubeconfig)
		facts_ok(c, "in namespace %s", s->namespace_);
	else
		facts_ok(c, "in namespace %s, %s, from manifests", s->namespace_,
			s->in_pod || !s->kubeconfig ? "in Pods" : place);
}
