/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/mem.h"
#include "cli/doctor/gather_parts.h"

void gather_put(json_t *facts, const char *fact, json_t *object)
{
	json_object_set_new(facts, fact, json_pack("{s:o}", "object", object));
}

void gather_put_error(json_t *facts, const char *fact, const char *wanted, const struct err *err)
{
	json_object_set_new(facts, fact,
		json_pack("{s:s, s:s, s:s}", "error", err_kind_name(err->kind), "message", err->msg, "wanted", wanted));
}

void gather_get(const struct gatherer *g, const char *fact, const char *wanted, const char *path)
{
	struct err err = { 0 };
	json_t *object = NULL;

	if (cluster_call(g->cluster, KUBE_GET, path, NULL, &object, &err) == 0)
		gather_put(g->facts, fact, object ? object : json_object());
	else
		gather_put_error(g->facts, fact, wanted, &err);
}

void gather_list_one(const struct gatherer *g, const char *fact, const char *collection, const char *name)
{
	MEM_AUTO char *path = mem_printf("%s?fieldSelector=metadata.name%%3D%s", collection, name);
	MEM_AUTO char *wanted = mem_printf("list on %s %s", strrchr(collection, '/') + 1, name);
	json_t *list = NULL, *first;
	struct err err = { 0 };

	if (cluster_call(g->cluster, KUBE_LIST, path, NULL, &list, &err) == 0) {
		first = json_array_get(json_object_get(list, "items"), 0);
		if (first)
			gather_put(g->facts, fact, json_incref(first));
		else
			err_set(&err, ERR_MISSING, "%s: not found", name);
	}
	if (err.kind != ERR_NONE)
		gather_put_error(g->facts, fact, wanted, &err);
	json_decref(list);
}
