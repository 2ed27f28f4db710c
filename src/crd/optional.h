/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_OPTIONAL_H
#define CRD_OPTIONAL_H

/*
 * Numbers of a spec that may be left out: absent stays apart from zero, until somebody asks for the
 * value with its default.
 */

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

#define INT32_UNSET INT32_MIN

/*
 * As json_get_int32. INT32_UNSET itself, when somebody writes it, is as wrong as any number that
 * does not fit.
 */
int optional_int32(const struct json_at *at, const char *key, int32_t *out, struct err *err);

int32_t optional_or(int32_t value, int32_t otherwise); /* otherwise, when it is INT32_UNSET */

#endif
