/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FIELDS_H
#define CLI_FIELDS_H

/*
 * Fields of Kubernetes objects in JSON by their dotted path, "spec.ports.0.name". The path of an
 * absent object or field leads to NULL, "", 0 or false. Results are borrowed.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

const json_t *fields_at(const json_t *object, const char *path);
const char *fields_text(const json_t *object, const char *path);
bool fields_is(const json_t *object, const char *path, const char *text); /* a text that equals this one */
json_int_t fields_number(const json_t *object, const char *path);
int64_t fields_time(const json_t *object, const char *path); /* "2026-01-02T03:04:05Z" in ms since 1970 */

const char *fields_namespace(const json_t *object); /* metadata.namespace */
const char *fields_name(const json_t *object);      /* metadata.name */

/* The first entry of a list that has this text at key; NULL: none. */
const json_t *fields_entry(const json_t *list, const char *key, const char *text);

/* The condition of this type in status.conditions; NULL: none. Whether its status is True. */
const json_t *fields_condition(const json_t *object, const char *type);
bool fields_has_condition(const json_t *object, const char *type);

#endif
