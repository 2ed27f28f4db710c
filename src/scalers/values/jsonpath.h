/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_JSONPATH_H
#define SCALERS_VALUES_JSONPATH_H

/*
 * The location of a number in a JSON text, as KEDA's users write it: the subset of GJSON paths
 * (github.com/tidwall/gjson) that selects one value. Compiled once when the trigger is built, so
 * that syntax errors are reported then and not at each poll. Called by metrics-api,
 * kubernetes-resource and elasticsearch.
 *
 *   a.b.0            fields and elements; `\.` is a dot in a name, so are `\*`, `\?`, `\|`, `\#`,
 *                    `\@`, `\\`
 *   a.ch*.n?me       the first field that matches and contains the rest of the path
 *   a.#              the number of elements
 *   a.#.b            the b of each element that has one: a list, so only `a.#.b|0` or `a.#.b|#`
 *                    give a number
 *   a.#(k=="v").b    of the first element that matches; #(...)# all: `a.#(k=="v")#|#` counts them.
 *                    ==, =, !=, <, <=, >, >=, % and !% (patterns with *, ?); without operator: that
 *                    the field exists. The left side is a path itself
 *   a|b              as a.b, but after # and #(...)# it applies to the list, not to each element
 *   @this @reverse @values @keys @flatten
 *
 * Differences from GJSON: the whole text must be JSON, and no object may have a duplicate name; a
 * number compared with a non-numeric text satisfies only != (GJSON takes the text for 0); @keys and
 * @values of an absent value, and @keys of a value other than an object, are absent (in GJSON they
 * are empty, so their # is 0); false >= false and true <= true hold; `\*` in a pattern is an
 * asterisk. Multipaths, literals, JSON lines, `~true`, other modifiers and arguments of modifiers
 * are refused.
 */

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"
#include "scalers/values/metricvalue.h"

#define JSONPATH_LENGTH_MAX 1024
#define JSONPATH_STEPS_MAX  64 /* of one path; paths in conditions count separately */
#define JSONPATH_NESTED_MAX 8  /* depth of nested conditions */

struct jsonpath;

/* ERR_INVALID `position 3: ...`, counted from 1. The caller owns the path. */
struct jsonpath *jsonpath_compile(const char *text, struct err *err);
void jsonpath_free(struct jsonpath *p); /* NULL is fine */

/*
 * Reads the number at the path. ERR_INVALID: not JSON, or not a number; the message names the kind
 * of the value, not its content. The text may have at most JSON_FOREIGN_VALUES_MAX values, and
 * evaluation stops after five million steps (100,000 visited values; some 20 ms).
 */
int jsonpath_read(const struct jsonpath *p, const char *text, size_t len, metricvalue_fn read, double *out,
	struct err *err);
/* The same in two steps, to read further values from the text. The caller owns the tree. */
json_t *jsonpath_load(const char *text, size_t len, struct err *err);
int jsonpath_read_in(const struct jsonpath *p, json_t *tree, metricvalue_fn read, double *out, struct err *err);
/* By metricvalue_of_json. */
int jsonpath_number(const struct jsonpath *p, const char *answer, size_t len, double *out, struct err *err);

#endif
