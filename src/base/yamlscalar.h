/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_YAMLSCALAR_H
#define BASE_YAMLSCALAR_H

/*
 * One YAML scalar as a JSON value. A plain scalar is resolved as by kubectl (YAML 1.1: yes, on and
 * y are true, 010 is 8, 1_000 is 1000, ~ and an empty one are null); a quoted or block scalar is a
 * string. Dates remain strings, and so do .nan and .inf, which JSON does not have. Pure.
 */

#include <jansson.h>
#include <yaml.h>

/*
 * The caller owns the value. NULL: the tag is not one of !!str, !!int, !!float, !!bool and !!null,
 * or the text is not of its type.
 */
json_t *yamlscalar_read(const yaml_event_t *scalar);

/* The scalar's text, whatever its tag; a plain ~, null or empty one is null. The caller owns it. */
json_t *yamlscalar_text(const yaml_event_t *scalar);

#endif
