/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/shape.h"

#define PATH_MAX_TEXT 256

int shape_object(const struct json_at *at, struct err *err)
{
	if (at->value == NULL || json_is_object(at->value))
		return 0;
	return json_wrong_kind(at, err, "an object");
}

int shape_array(const struct json_at *at, size_t max, size_t *count, struct err *err)
{
	char path[PATH_MAX_TEXT];

	*count = 0;
	if (at->value == NULL)
		return 0;
	if (!json_is_array(at->value))
		return json_wrong_kind(at, err, "an array");
	if (json_array_size(at->value) > max)
		return err_set(err, ERR_INVALID, "%s: %zu entries are too many: at most %zu",
			json_path(at, path, sizeof(path)), json_array_size(at->value), max);
	*count = json_array_size(at->value);
	return 0;
}

int shape_missing(const struct json_at *at, const char *key, struct err *err)
{
	struct json_at field = { .value = NULL, .parent = at, .key = key, .index = 0 };

	return json_wrong(&field, err, "missing");
}
