/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/shape.h"

#include <stdarg.h>

#define PATH_TEXT 256

int shape_wrong(const struct json_at *at, struct err *err, const char *fmt, ...)
{
	char path[PATH_TEXT];
	va_list ap;

	va_start(ap, fmt);
	err_vset(err, ERR_INVALID, fmt, ap);
	va_end(ap);
	return err_wrap(err, "%s", json_path(at, path, sizeof(path)));
}

int shape_object(const struct json_at *at, struct err *err)
{
	if (at->value == NULL || json_is_object(at->value))
		return 0;
	return json_wrong_kind(at, err, "an object");
}

int shape_required_object(const struct json_at *at, struct err *err)
{
	return at->value == NULL ? json_wrong(at, err, "missing") : shape_object(at, err);
}

int shape_array(const struct json_at *at, size_t max, size_t *count, struct err *err)
{
	*count = 0;
	if (at->value == NULL)
		return 0;
	if (!json_is_array(at->value))
		return json_wrong_kind(at, err, "an array");
	if (json_array_size(at->value) > max)
		return shape_wrong(at, err, "%zu entries are too many: at most %zu", json_array_size(at->value), max);
	*count = json_array_size(at->value);
	return 0;
}

int shape_missing(const struct json_at *at, const char *key, struct err *err)
{
	struct json_at field = { .value = NULL, .parent = at, .key = key, .index = 0 };

	return json_wrong(&field, err, "missing");
}
