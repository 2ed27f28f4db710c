/* SPDX-License-Identifier: Apache-2.0 */
#include "control/objects/work.h"

bool work_says(const struct work *work, const char *type)
{
	const struct condition *c = work->status.known ? conditions_get(&work->status.wanted.conditions, type) : NULL;

	return c && c->status == CONDITION_TRUE;
}
