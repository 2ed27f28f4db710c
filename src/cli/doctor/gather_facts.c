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

void gather_put_answer(const struct gatherer *g, const char *fact, const char *wanted, json_t *object,
	const struct err *err)
{
	if (object)
		gather_put(g->facts, fact, object);
	else
		gather_put_error(g->facts, fact, wanted, err);
}

void gather_get(const struct gatherer *g, const char *fact, const char *wanted, const char *path)
{
	struct err err = { 0 };

	gather_put_answer(g, fact, wanted, cluster_get(g->cluster, path, &err), &err);
}

static void get_by_list(const struct gatherer *g, const struct gather_row *row, const char *wanted,
	const char *collection)
{
	MEM_AUTO char *path = mem_printf("%s?fieldSelector=metadata.name%%3D%s", collection, row->name);
	struct err err = { 0 };
	json_t *list = cluster_get(g->cluster, path, &err), *first = json_array_get(json_object_get(list, "items"), 0);

	if (list && !first)
		err_set(&err, ERR_MISSING, "%s: not found", row->name);
	gather_put_answer(g, row->fact, wanted, json_incref(first), &err);
	json_decref(list);
}

void gather_rows(const struct gatherer *g, const struct gather_row *rows, size_t count)
{
	for (const struct gather_row *row = rows; row < rows + count; row++) {
		const char *ns = row->namespace_ ? row->namespace_ : "", *name = row->name ? row->name : "";
		MEM_AUTO char *wanted = mem_printf("%s on %s %s%s%s", *name && !row->by_list ? "get" : "list",
			row->resource, ns, *ns && *name ? "/" : "", name);
		MEM_AUTO char *collection = mem_printf("%s%s%s/%s", row->api, *ns ? "/namespaces/" : "", ns,
			row->resource);
		MEM_AUTO char *path = mem_printf("%s%s%s%s", collection, *name ? "/" : "", name,
			row->query ? row->query : "");

		if (row->by_list)
			get_by_list(g, row, wanted, collection);
		else if (!row->namespace_ || *ns)
			gather_get(g, row->fact, wanted, path);
	}
}
