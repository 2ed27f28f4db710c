/* SPDX-License-Identifier: Apache-2.0 */
#include "control/objects/work.h"

#include <string.h>

#include "base/mem.h"

int64_t work_created_unix_ms(struct work *work, int64_t now_unix_ms)
{
	const struct meta *meta = work->object->of.meta;

	if (!work->created_unix_ms)
		work->created_unix_ms = meta->created_unix_ms;
	if (work->created_unix_ms > now_unix_ms)
		work->created_unix_ms = now_unix_ms;
	return work->created_unix_ms;
}

char *work_namespace(const struct work *work)
{
	return mem_dupn(work->object->path, strcspn(work->object->path, "/"));
}

const char *work_name(const struct work *work)
{
	return strchr(work->object->path, '/') + 1;
}

bool work_says(const struct work *work, const char *type)
{
	const struct condition *c = work->status.known ? conditions_get(&work->status.wanted.conditions, type) : NULL;

	return c && c->status == CONDITION_TRUE;
}

bool work_error_lasts(const struct err *err)
{
	return err->kind == ERR_INVALID || err->kind == ERR_MISSING;
}
