/* SPDX-License-Identifier: Apache-2.0 */
#include "fakeobjects.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cache/objects/store.h"

#define OBJECTS_MAX 1100

static struct object *objects[OBJECTS_MAX];
static size_t count;

struct object *fakeobject(const char *key)
{
	static char uid[] = "";
	const char *path = store_key_kind(key) == SCALED_JOB ? strchr(key, '/') + 1 : key, *slash = strchr(path, '/');
	MEM_AUTO char *namespace_ = mem_dupn(path, slash ? (size_t)(slash - path) : 0);
	MEM_AUTO char *name = mem_dup(slash ? slash + 1 : path);
	MEM_AUTO char *prefix = mem_dupn(key, (size_t)(path - key));
	struct meta meta = { .namespace_ = namespace_, .name = name, .uid = uid };
	struct scaled of = { .kind = store_key_kind(key), .meta = &meta };

	for (size_t i = 0; i < count; i++)
		if (strcmp(objects[i]->key, key) == 0)
			return objects[i];
	if (count == OBJECTS_MAX || !slash)
		abort();
	objects[count++] = object_new(&of, prefix);
	objects[count - 1]->of = (struct scaled){ .kind = of.kind };
	return objects[count - 1];
}

void fakeobjects_end(void)
{
	while (count > 0)
		object_unref(objects[--count]);
}
