/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_OPTIONAL_H
#define CRD_OPTIONAL_H

/*
 * Optional numbers of a spec: absent differs from zero until the value is asked for with its
 * default.
 */

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

#define INT32_UNSET INT32_MIN

/* Like json_get_int32. INT32_UNSET itself is out of range. */
int optional_int32(const struct json_at *at, const char *key, int32_t *out, struct err *err);

struct optional_field {
	const char *key;
	int32_t *out;
};
/* Reads all of them, also those after a wrong one; -1 with the first error. */
int optional_int32s(const struct json_at *at, const struct optional_field *fields, size_t count, struct err *err);

int32_t optional_or(int32_t value, int32_t otherwise); /* value, or otherwise if it is INT32_UNSET */

#endif
