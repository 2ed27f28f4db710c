/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/optional.h"

int optional_int32(const struct json_at *at, const char *key, int32_t *out, struct err *err)
{
	struct json_at field = json_field(at, key);
	int32_t value = 0;

	if (json_get_int32(at, key, &value, err) < 0)
		return -1;
	if (field.value == NULL)
		return 0;
	if (value == INT32_UNSET)
		return json_wrong(&field, err, "is out of range");
	*out = value;
	return 0;
}

int optional_int32s(const struct json_at *at, const struct optional_field *fields, size_t count, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		if (optional_int32(at, fields[i].key, fields[i].out, rc == 0 ? err : NULL) < 0)
			rc = -1;
	return rc;
}

int32_t optional_or(int32_t value, int32_t otherwise)
{
	return value != INT32_UNSET ? value : otherwise;
}
