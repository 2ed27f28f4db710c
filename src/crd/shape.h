/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SHAPE_H
#define CRD_SHAPE_H

/*
 * What the decoders of this room ask of a value before they read it: that it is an object, or a
 * list of a bearable length. Knows nothing of what is inside.
 */

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/* 0 for an object and for what is absent; else -1, ERR_INVALID with the path. */
int shape_object(const struct json_at *at, struct err *err);

/*
 * 0 and the length for an array of at most `max`, 0 and length 0 for what is absent; else -1,
 * ERR_INVALID with the path, the count and the cap; *count is 0 then.
 */
int shape_array(const struct json_at *at, size_t max, size_t *count, struct err *err);

/* -1 with ERR_INVALID "<path of at>.<key>: missing". */
int shape_missing(const struct json_at *at, const char *key, struct err *err);

#endif
