/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/inherit.h"

#include <stdbool.h>
#include <string.h>

#define OWNER_API_VERSION "keda.sh/v1alpha1"

static bool in_list(const char *list, const char *key)
{
	size_t len = strlen(key);

	for (const char *part = list; part; part = strchr(part, ','), part = part ? part + 1 : NULL)
		if (strcspn(part, ",") == len && strncmp(part, key, len) == 0)
			return true;
	return false;
}

void inherit_labels(const struct meta *from, const char *version, const char *exclusion, struct strmap *labels)
{
	const char *excluded = strmap_get(&from->annotations, exclusion);

	strmap_set(labels, "app.kubernetes.io/version", version);
	strmap_set(labels, "app.kubernetes.io/part-of", from->name);
	strmap_set(labels, "app.kubernetes.io/managed-by", "kscaled");
	for (size_t i = 0; i < from->labels.count; i++)
		if (!in_list(excluded, from->labels.pairs[i].key))
			strmap_set(labels, from->labels.pairs[i].key, from->labels.pairs[i].value);
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
