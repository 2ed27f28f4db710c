/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_SCHEMA_H
#define CLI_CHECK_SCHEMA_H

/*
 * Validates a value against an OpenAPI v3 schema of a CustomResourceDefinition, as the API server
 * does with the strict field validation of `kubectl apply`: types, required and unknown fields,
 * enum, bounds of numbers, lengths. Not `pattern`, nor CEL rules, which decide/validate has.
 * Reports all errors, not only the first. Pure; recursion is limited by the schema.
 *
 * A message shows a value only if the schema has an enum: others may be secret.
 */

#include <jansson.h>

#include "base/json.h"

/* path: as base/json.h writes it; "": the value itself. message: what follows "path: ". */
typedef void (*schema_fn)(void *arg, const char *path, const char *message);

void schema_check(const json_t *schema, const json_t *value, schema_fn fn, void *arg);

#endif
