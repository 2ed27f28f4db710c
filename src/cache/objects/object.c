/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/objects/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/jobs/jobtemplate.h"

struct object *object_new(const struct scaled *of, const char *prefix)
{
	struct object *o = mem_zalloc(sizeof(*o));

	o->key = mem_printf("%s%s/%s", prefix, of->meta->namespace_, of->meta->name);
	o->path = o->key + strlen(prefix);
	o->uid = mem_dup(of->meta->uid);
	o->kind = of->kind;
	o->of = *of;
	o->references = 1;
	if (of->sj)
		o->served = mem_zalloc(sizeof(*o->served));
	return o;
}

struct object *object_ref(struct object *o)
{
	o->references++;
	return o;
}

void object_unref(struct object *o)
{
	if (!o || --o->references > 0)
		return;
	free(o->served);
	free(o->uid);
	free(o->key);
	free(o);
}
