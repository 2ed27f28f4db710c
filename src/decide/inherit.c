/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/inherit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define OWNER_API_VERSION "keda.sh/v1alpha1"

/* The parts of a list, sorted: labels and exclusions may both be tens of thousands. */
struct excluded {
	char *text; /* owned; the keys point into it */
	char **keys;
	size_t count;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void excluded_init(struct excluded *e, const char *list)
{
	size_t parts = 1;
	char *rest;

	for (const char *at = list; (at = strchr(at, ',')); at++)
		parts++;
	e->text = rest = mem_dup(list);
	e->keys = mem_array(parts, sizeof(*e->keys));
	for (e->count = 0; rest; e->count++)
		e->keys[e->count] = strsep(&rest, ",");
	qsort(e->keys, e->count, sizeof(*e->keys), by_text);
}

static void excluded_done(struct excluded *e)
{
	free(e->keys);
	free(e->text);
}

void inherit_labels(const struct meta *from, const char *version, const char *exclusion, struct strmap *labels)
{
	const char *list = strmap_get(&from->annotations, exclusion);
	struct excluded excluded;

	excluded_init(&excluded, list ? list : "");
	strmap_set(labels, "app.kubernetes.io/version", version);
	strmap_set(labels, "app.kubernetes.io/part-of", from->name);
	strmap_set(labels, "app.kubernetes.io/managed-by", "kscaled");
	for (size_t i = 0; i < from->labels.count; i++)
		if (!bsearch(&from->labels.pairs[i].key, excluded.keys, excluded.count, sizeof(*excluded.keys),
			    by_text))
			strmap_set(labels, from->labels.pairs[i].key, from->labels.pairs[i].value);
	excluded_done(&excluded);
}

json_t *inherit_owners(const char *kind, const struct meta *owner)
{
	return json_pack("[{s:s, s:s, s:s, s:s, s:b, s:b}]", "apiVersion", OWNER_API_VERSION, "kind", kind, "name",
		owner->name, "uid", owner->uid, "controller", 1, "blockOwnerDeletion", 1);
}

json_t *inherit_map(const struct strmap *map)
{
	json_t *object = json_object();

	for (size_t i = 0; i < map->count; i++)
		json_object_set_new(object, map->pairs[i].key, json_string(map->pairs[i].value));
	return object;
}
