/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SHAPE_H
#define CRD_SHAPE_H

/*
 * Checks that decoders of this room make before they read a value: it is an object, or an array
 * that is not too long. The decoder checks the content.
 */

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

/* 0 for an object and for an absent value; otherwise -1, ERR_INVALID with the path. */
int shape_object(const struct json_at *at, struct err *err);
int shape_required_object(const struct json_at *at, struct err *err); /* the same, but an absent value is "missing" */

/*
 * 0 and the length for an array of at most `max` elements, 0 and length 0 for an absent value;
 * otherwise -1, ERR_INVALID with the path, the count and the cap, and *count is 0.
 */
int shape_array(const struct json_at *at, size_t max, size_t *count, struct err *err);

/* -1 with ERR_INVALID "<path of at>.<key>: missing". */
int shape_missing(const struct json_at *at, const char *key, struct err *err);

/* -1 with ERR_INVALID "<path of at>: <text>". */
int shape_wrong(const struct json_at *at, struct err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
