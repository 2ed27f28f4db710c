/* SPDX-License-Identifier: Apache-2.0 */
#include "control/objects/object.h"

struct object *object_known(struct control *c, const char *key)
{
	struct object *o;

	HASH_FIND_STR(c->objects, key, o);
	return o;
}

bool object_find(const struct object *o, struct scaled *out)
{
	return store_scaled(o->control->cache->store, o->key, out);
}
