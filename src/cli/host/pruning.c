/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/pruning.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/fields.h"
#include "cli/host/ownership.h"
#include "cli/host/steps.h"

static bool is_wanted(const struct documents *wanted, const char *kind, const json_t *there)
{
	for (size_t i = 0; i < wanted->count; i++) {
		const json_t *one = wanted->list[i].json;

		if (json_str_is(one, "kind", kind) && fields_is(one, "metadata.name", fields_name(there)) &&
			strcmp(fields_namespace(one), fields_namespace(there)) == 0)
			return true;
	}
	return false;
}

bool pruning_is_superfluous(const struct documents *wanted, const char *kind, const json_t *object)
{
	MEM_AUTO char *others = ownership_of_others(object);

	return !others && !is_wanted(wanted, kind, object);
}

json_t *pruning_find(struct cluster *c, const struct documents *wanted, struct err *err)
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
	json_t *found = json_array();

	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		struct cluster_list list = { .cluster = c,
			.api = kinds[i].api,
			.plural = kinds[i].plural,
			.query = CLUSTER_OURS };
		const json_t *object;

		while ((object = cluster_next(&list)) != NULL)
			if (pruning_is_superfluous(wanted, kinds[i].kind, object))
				json_array_append_new(found,
					json_pack("{s:s, s:s, s:O}", "path", list.path, "title", list.title, "object",
						object));
		if (cluster_list_done(&list, err) == 0)
			continue;
		json_decref(found);
		return NULL;
	}
	return found;
}

static int prune_one(struct cluster *c, const json_t *one, bool dry_run, struct err *err)
{
	const char *title = json_str_or_empty(one, "title");

	if (!dry_run && cluster_delete(c, json_str_or_empty(one, "path"), err) < 0)
		return err_wrap(err, "deleting %s", title);
	steps_report("%s %s: no longer needed with these options", dry_run ? "would delete" : "deleted", title);
	return 0;
}

int pruning_run(struct cluster *c, const struct documents *wanted, bool dry_run, struct err *err)
{
	json_t *found = pruning_find(c, wanted, err);
	int failed = found ? 0 : -1;

	for (size_t i = 0; !failed && i < json_array_size(found); i++)
		failed = prune_one(c, json_array_get(found, i), dry_run, err);
	json_decref(found);
	return failed;
}
