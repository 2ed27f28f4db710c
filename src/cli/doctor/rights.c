/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/rights.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/host/pruning.h"
#include "cli/manifestobjects.h"

/*
 * Kubernetes' own roles, which the manifests bind but do not define
 * (plugin/pkg/auth/authorizer/rbac/bootstrappolicy).
 */
#define TEXT_OF(...) #__VA_ARGS__
static const char roles_of_kubernetes[] = TEXT_OF({
	"system:auth-delegator" : {
		"rules" : [
			{
				"apiGroups" : ["authentication.k8s.io"],
				"resources" : ["tokenreviews"],
				"verbs" : ["create"]
			},
			{
				"apiGroups" : ["authorization.k8s.io"],
				"resources" : ["subjectaccessreviews"],
				"verbs" : ["create"]
			}
		]
	},
	"extension-apiserver-authentication-reader" : {
		"rules" : [ {
			"apiGroups" : [""],
			"resources" : ["configmaps"],
			"resourceNames" : ["extension-apiserver-authentication"],
			"verbs" : [ "get", "watch" ]
		} ]
	}
});

/* ---- Needed rights ---- */

struct needs {
	json_t *list; /* grows */
	const char *account, *role, *namespace_ /* "": the cluster */;
};

static void add(const struct needs *n, const char *group, const char *resource, const char *name, const char *verb)
{
	const char *slash = strchr(resource, '/');
	MEM_AUTO char *plural = slash ? mem_dupn(resource, (size_t)(slash - resource)) : mem_dup(resource);
	json_t *attributes = json_pack("{s:s, s:s, s:s}", "verb", verb, "group", group, "resource", plural);

	if (slash)
		json_object_set_new(attributes, "subresource", json_string(slash + 1));
	if (name)
		json_object_set_new(attributes, "name", json_string(name));
	if (*n->namespace_)
		json_object_set_new(attributes, "namespace", json_string(n->namespace_));
	json_array_append_new(n->list,
		json_pack("{s:s, s:s, s:o}", "account", n->account, "role", n->role, "attributes", attributes));
}

static void add_named(const struct needs *n, const char *group, const char *resource, const json_t *names,
	const char *verb)
{
	const json_t *name;
	size_t i;

	if (json_array_size(names) == 0)
		add(n, group, resource, NULL, verb);
	json_array_foreach(names, i, name) add(n, group, resource, json_string_value(name), verb);
}

static void add_rule(const struct needs *n, const json_t *rule)
{
	const json_t *group, *resource, *verb;
	size_t i, j, k;

	json_array_foreach(json_object_get(rule, "apiGroups"), i, group)
	{
		json_array_foreach(json_object_get(rule, "resources"), j, resource)
		{
			json_array_foreach(json_object_get(rule, "verbs"), k, verb)
			{
				add_named(n, json_string_value(group), json_string_value(resource),
					json_object_get(rule, "resourceNames"), json_string_value(verb));
			}
		}
	}
}

static const json_t *role_named(const struct documents *d, const json_t *ref, const char *namespace_)
{
	const char *kind = json_str_or_empty(ref, "kind"), *name = json_str_or_empty(ref, "name");

	for (size_t i = 0; i < d->count; i++) {
		const json_t *role = d->list[i].json;

		if (json_str_is(role, "kind", kind) && fields_is(role, "metadata.name", name) &&
			(strcmp(kind, "ClusterRole") == 0 || strcmp(fields_namespace(role), namespace_) == 0))
			return role;
	}
	return NULL;
}

/* The chart can rename the account (serviceAccount.operator.name). */
static const char *account_name(const struct doctor_setup *setup, const json_t *subject)
{
	bool is_own = setup->account && json_str_is(subject, "name", "kscaled") &&
		json_str_is(subject, "namespace", setup->manifests.namespace_);

	return is_own ? setup->account : json_str_or_empty(subject, "name");
}

static void add_binding(json_t *list, const struct doctor_setup *setup, const struct documents *d,
	const json_t *binding, const json_t *of_kubernetes)
{
	const json_t *ref = json_object_get(binding, "roleRef"), *subject = fields_at(binding, "subjects.0"), *role,
		     *rule;
	MEM_AUTO char *account = mem_printf("system:serviceaccount:%s:%s", json_str_or_empty(subject, "namespace"),
		account_name(setup, subject));
	struct needs needs = { list, account, json_str_or_empty(ref, "name"), fields_namespace(binding) };
	size_t i;

	role = json_object_get(of_kubernetes, needs.role);
	role = role ? role : role_named(d, ref, needs.namespace_);
	json_array_foreach(json_object_get(role, "rules"), i, rule) add_rule(&needs, rule);
}

struct documents *rights_manifests(const struct doctor_setup *setup, struct err *err)
{
	struct manifests_params params = setup->manifests;

	/* Options of Pods need no rights. */
	params.image = params.priority_class = params.monitor = NULL;
	params.replicas = 0;
	params.network_policy = false;
	/* Outside the cluster kscaled needs one more right, at any address. */
	if (!params.host && setup->outside)
		params.host = "kscaled.invalid:8443";
	return manifestobjects_make(&params, err);
}

json_t *rights_needed(const struct doctor_setup *setup, struct err *err)
{
	struct documents *d = rights_manifests(setup, err);
	json_t *list = d ? json_array() : NULL, *of_kubernetes = json_loads(roles_of_kubernetes, 0, NULL);

	for (size_t i = 0; d && i < d->count; i++)
		if (json_str_is(d->list[i].json, "kind", "RoleBinding") ||
			json_str_is(d->list[i].json, "kind", "ClusterRoleBinding"))
			add_binding(list, setup, d, d->list[i].json, of_kubernetes);
	json_decref(of_kubernetes);
	documents_free(d);
	return list;
}

/* ---- The check ---- */

/* The option that omits or narrows a role; NULL: none. */
static const char *option_of(const char *role)
{
	static const struct {
		const char *role, *option;
	} options[] = {
		{ "kscaled-jobs", "--no-scaledjobs" },
		{ "kscaled-scale", "--scale-kinds" },
		{ "kscaled-secrets", "--restrict-secret-access" },
		{ "kscaled-tokens", "--service-account-tokens" },
	};

	for (size_t i = 0; i < MEM_COUNT(options); i++)
		if (strcmp(options[i].role, role) == 0)
			return options[i].option;
	return NULL;
}

/* "list jobs.batch in shop", "get configmaps \"x\"" */
static void put_right(const json_t *attributes, struct buf *out)
{
	const char *group = json_str_or_empty(attributes, "group"), *sub = json_str_or_empty(attributes, "subresource"),
		   *name = json_str_or_empty(attributes, "name"), *ns = json_str_or_empty(attributes, "namespace");

	buf_printf(out, "%s%s %s", out->len > 0 ? ", " : "", json_str_or_empty(attributes, "verb"),
		json_str_or_empty(attributes, "resource"));
	if (*group)
		buf_printf(out, ".%s", group);
	if (*sub)
		buf_printf(out, "/%s", sub);
	if (*name)
		buf_printf(out, " \"%s\"", name);
	if (*ns)
		buf_printf(out, " in %s", ns);
}

static size_t count_of(const json_t *list, const json_t *of)
{
	const json_t *one;
	size_t i, count = 0;

	json_array_foreach(list, i, one)
	{
		count += json_str_is(one, "role", json_str_or_empty(of, "role")) &&
			json_str_is(one, "account", json_str_or_empty(of, "account"));
	}
	return count;
}

/*
 * Whether the lack may be intended: the role is one that an option omits or narrows, and the roles
 * could not be listed.
 */
static bool may_be_meant(const struct facts *c, const json_t *missing, const json_t *one)
{
	const json_t *needed = json_object_get(facts_object(c, "rights"), "needed");

	if (c->setup->knows_roles || !needed || !option_of(json_str_or_empty(one, "role")))
		return false;
	if (json_str_is(one, "role", "kscaled-scale"))
		return !c->setup->manifests.scale_kinds;
	return count_of(missing, one) == count_of(needed, one);
}

static char *mend_rights(const struct facts *c, const char *account)
{
	MEM_AUTO char *apply = facts_apply(c);

	if (!c->setup->no_roles || c->setup->installer != DOCTOR_HELM)
		return mem_dup(apply);
	return mem_printf("the release creates no roles (rbac.create=false): grant %s these rights, or `%s --set "
			  "rbac.create=true`",
		account, apply);
}

/* One finding per role and account, at its first missing right. */
static void check_role(const struct facts *c, const json_t *missing, size_t first)
{
	const json_t *one = json_array_get(missing, first), *other;
	const char *role = json_str_or_empty(one, "role"), *account = json_str_or_empty(one, "account"),
		   *option = option_of(role);
	struct buf rights = BUF_INIT(2000);
	bool hinted = option && !c->setup->in_pod;
	size_t i;

	json_array_foreach(missing, i, other)
	{
		if (!json_str_is(other, "role", role) || !json_str_is(other, "account", account))
			continue;
		if (i < first) {
			buf_done(&rights);
			return; /* already reported */
		}
		put_right(json_object_get(other, "attributes"), &rights);
	}
	if (may_be_meant(c, missing, one))
		facts_skip(c, "role %s is incomplete, as with %s; cannot tell if that is intended: needs list on roles",
			role, option);
	else
		facts_error(c, mend_rights(c, account), "%s may not %s: role %s%s%s%s", account, buf_text(&rights),
			role, hinted ? " (if that is intended: kscaled doctor " : "", hinted ? option : "",
			hinted ? ")" : "");
	buf_done(&rights);
}

/* Deletes a superfluous binding. plural: "rolebindings". */
static char *drop(const struct facts *c, const char *plural, const json_t *binding)
{
	const char *ns = fields_namespace(binding);
	char *join = facts_join(c);

	if (join) /* it removes what the options do not call for */
		return join;
	return mem_printf("kubectl %s%s%sdelete %s %s", *ns ? "-n " : "", ns, *ns ? " " : "", plural,
		fields_name(binding));
}

/*
 * Leftovers of an earlier installation with more rights, which a leaked token would have. Bindings
 * only: a role without a binding grants nothing.
 */
static void check_excess(const struct facts *c)
{
	static const struct {
		const char *kind, *plural;
	} kinds[] = { { "ClusterRoleBinding", "clusterrolebindings" }, { "RoleBinding", "rolebindings" } };
	struct documents *wanted = rights_manifests(c->setup, NULL);
	const json_t *one;
	size_t i;

	facts_known(c, "roles");
	for (size_t k = 0; wanted && k < MEM_COUNT(kinds); k++)
		json_array_foreach(facts_object(c, "roles"), i, one)
		{
			const char *ns = fields_namespace(one), *name = fields_name(one), *option = option_of(name);

			if (!json_str_is(one, "kind", kinds[k].kind) ||
				!pruning_is_superfluous(wanted, kinds[k].kind, one))
				continue;
			facts_warn(c, drop(c, kinds[k].plural, one),
				"%s %s%s%s grants more than the options call for%s%s%s", kinds[k].plural, ns,
				*ns ? "/" : "", name, option ? ": see " : "", option ? option : "",
				option ? ", also an option of kscaled doctor" : "");
		}
	documents_free(wanted);
}

void rights_check(const struct facts *c)
{
	const json_t *rights = facts_object(c, "rights"), *missing = json_object_get(rights, "missing");

	if (!rights)
		return;
	for (size_t i = 0; i < json_array_size(missing); i++)
		check_role(c, missing, i);
	if (json_array_size(missing) == 0)
		facts_ok(c, "%s has all %d rights", json_str_or_empty(rights, "account"),
			(int)json_integer_value(json_object_get(rights, "asked")));
	if (json_array_size(json_object_get(rights, "not_asked")) > 0)
		facts_skip(c,
			"%zu rights of other accounts not checked: needs create on "
			"subjectaccessreviews.authorization.k8s.io",
			json_array_size(json_object_get(rights, "not_asked")));
	check_excess(c);
}
