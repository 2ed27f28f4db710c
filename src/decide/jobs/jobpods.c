/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobpods.h"

#include "base/json.h"

static bool is_true(const json_t *list, const char *type)
{
	const json_t *condition;
	size_t i;

	json_array_foreach(list, i, condition)
	{
		if (json_str_is(condition, "type", type))
			return json_str_is(condition, "status", "True");
	}
	return false;
}

bool jobpods_started(const json_t *pod, const char *const *conditions, size_t condition_count)
{
	const json_t *status = json_object_get(pod, "status");

	if (condition_count == 0)
		return json_str_is(status, "phase", "Running") || json_str_is(status, "phase", "Succeeded");
	for (size_t i = 0; i < condition_count; i++)
		if (!is_true(json_object_get(status, "conditions"), conditions[i]))
			return false;
	return true;
}
