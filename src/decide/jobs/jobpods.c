/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobpods.h"

#include <string.h>

#include "base/json.h"

/* False when the field, or the object, is missing or has another type. */
static bool has_text(const json_t *object, const char *field, const char *text)
{
	return strcmp(json_str_or_empty(object, field), text) == 0;
}

static bool is_true(const json_t *list, const char *type)
{
	const json_t *condition;
	size_t i;

	json_array_foreach(list, i, condition)
	{
		if (has_text(condition, "type", type))
			return has_text(condition, "status", "True");
	}
	return false;
}

bool jobpods_started(const json_t *pod, const char *const *conditions, size_t condition_count)
{
	const json_t *status = json_object_get(pod, "status");

	if (condition_count == 0)
		return has_text(status, "phase", "Running") || has_text(status, "phase", "Succeeded");
	for (size_t i = 0; i < condition_count; i++)
		if (!is_true(json_object_get(status, "conditions"), conditions[i]))
			return false;
	return true;
}
