/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/inherit.h"

#include <stdbool.h>
#include <string.h>

#define OWNER_API_VERSION "keda.sh/v1alpha1"

static bool in_list(const char *list, const char *key)
{
	size_t len = strlen(key);

	for (const char *part = list; part != NULL; part = strchr(part, ','), part = part != NULL ? part + 1 : NULL)
		if (strcspn(part, ",") == len && strncmp(part, key, len) == 0)
			return true;
	return false;
}

void inherit_labels(const struct meta *from, const char *exclusion, struct strmap *labels)
{
	const char *excluded = strmap_get(&from->annotations, exclusion);

	for (size_t i = 0; i < from->labels.count; i++)
		if (!in_list(excluded, from->labels.pairs[i].key))
			strmap_set(labels, from->labels.pairs[i].key, from->labels.pairs[i].value);
}

json_t *inherit_owners(const char *kind, const struct meta *owner)
{
	json_t *list = json_array(), *one = json_object();

	json_object_set_new(one, "apiVersion", json_string(OWNER_API_VERSION));
	json_object_set_new(one, "kind", json_string(kind));
	json_object_set_new(one, "name", json_string(owner->name));
	json_object_set_new(one, "uid", json_string(owner->uid));
	json_object_set_new(one, "controller", json_true());
	json_object_set_new(one, "blockOwnerDeletion", json_true());
	json_array_append_new(list, one);
	return list;
}

json_t *inherit_map(const struct strmap *map)
{
	json_t *object = json_object();

	for (size_t i = 0; i < map->count; i++)
		json_object_set_new(object, map->pairs[i].key, json_string(map->pairs[i].value));
	return object;
}
