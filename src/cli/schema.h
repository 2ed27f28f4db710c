/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SCHEMA_H
#define CLI_SCHEMA_H

/*
 * Whether a value has the shape that an OpenAPI v3 schema of a CustomResourceDefinition asks for,
 * as the API server judges it with `kubectl apply`'s strict validation: types, required and unknown
 * fields, enum, bounds of numbers, lengths. `pattern` and rules in CEL are not judged here (the
 * latter are decide/validate's). All that is wrong is told, not only the first. Pure;
 * depth is the schema's.
 *
 * Values of fields are shown where the schema lists the words that may stand there, and nowhere
 * else: anything else may be a secret.
 */

#include <jansson.h>

#include "base/json.h"

/* `path` as base/json.h writes it, "" for the value itself; the message goes behind "path: ". */
typedef void (*schema_fn)(void *arg, const char *path, const char *message);

void schema_check(const json_t *schema, const json_t *value, schema_fn fn, void *arg);

#endif
