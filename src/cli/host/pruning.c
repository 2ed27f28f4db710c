/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/pruning.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/host/ownership.h"
#include "cli/host/steps.h"

/* One pass over the cluster. */
struct look {
	const struct documents *wanted;
	const char *kind;
	cluster_fn fn;
	void *arg;
};

static bool is_wanted(const struct documents *wanted, const char *kind, const json_t *there)
{
	const json_t *is = json_object_get(there, "metadata"), *has;

	for (size_t i = 0; i < wanted->count; i++) {
		has = json_object_get(wanted->list[i].json, "metadata");
		if (json_str_is(wanted->list[i].json, "kind", kind) &&
			json_str_is(has, "name", json_str_or_empty(is, "name")) &&
			strcmp(json_str_or_empty(has, "namespace"), json_str_or_empty(is, "namespace")) == 0)
			return true;
	}
	return false;
}

static void on_labelled(void *arg, const char *path, const char *title, const json_t *object)
{
	struct look *look = arg;
	MEM_AUTO char *others = ownership_of_others(object);

	if (!others && !is_wanted(look->wanted, look->kind, object))
		look->fn(look->arg, path, title, object);
}

int pruning_each(struct cluster *c, const struct documents *wanted, cluster_fn fn, void *arg, struct err *err)
{
	static const struct {
		const char *api, *plural, *kind;
	} kinds[] = {
		{ CLUSTER_RBAC, "clusterrolebindings", "ClusterRoleBinding" },
		{ CLUSTER_RBAC, "rolebindings", "RoleBinding" },
		{ CLUSTER_RBAC, "clusterroles", "ClusterRole" },
		{ CLUSTER_RBAC, "roles", "Role" },
		{ "/apis/admissionregistration.k8s.io/v1", "validatingwebhookconfigurations",
			"ValidatingWebhookConfiguration" },
	};
	struct look look = { .wanted = wanted, .fn = fn, .arg = arg };

	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		look.kind = kinds[i].kind;
		if (cluster_each(c, kinds[i].api, NULL, kinds[i].plural, CLUSTER_OURS, on_labelled, &look, err) < 0)
			return -1;
	}
	return 0;
}

struct pruning {
	struct cluster *cluster;
	bool dry_run;
	struct err *err;
	int failed;
};

static void prune_one(void *arg, const char *path, const char *title, const json_t *object)
{
	struct pruning *p = arg;
	struct err err = { 0 };

	(void)object;
	if (p->failed)
		return;
	if (p->dry_run)
		steps_report("would delete %s: no longer needed with these options", title);
	else if (cluster_call(p->cluster, KUBE_DELETE, path, NULL, NULL, &err) == 0)
		steps_report("deleted %s: no longer needed with these options", title);
	else if (err.kind != ERR_MISSING) {
		*p->err = err;
		p->failed = err_wrap(p->err, "deleting %s", title);
	}
}

int pruning_run(struct cluster *c, const struct documents *wanted, bool dry_run, struct err *err)
{
	struct pruning p = { .cluster = c, .dry_run = dry_run, .err = err };

	return pruning_each(c, wanted, prune_one, &p, err) < 0 || p.failed ? -1 : 0;
}
