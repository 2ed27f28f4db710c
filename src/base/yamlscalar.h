/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_YAMLSCALAR_H
#define BASE_YAMLSCALAR_H

/*
 * What one YAML scalar means in JSON: without quotes by its looks, as the reader of kubectl takes
 * it (YAML 1.1: yes, on and y are true, 010 is 8, 1_000 is 1000, ~ and nothing are null); with
 * quotes, or as a block, a text. Dates stay texts, and so do .nan and .inf, which JSON has not.
 * Pure.
 */

#include <jansson.h>
#include <yaml.h>

/*
 * The caller owns the value. NULL when its tag is not one of YAML's own (!!str, !!int, !!float,
 * !!bool, !!null), or the text is not what the tag says.
 */
json_t *yamlscalar_read(const yaml_event_t *scalar);

#endif
