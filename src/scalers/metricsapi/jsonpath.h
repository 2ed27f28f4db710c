/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_JSONPATH_H
#define SCALERS_METRICSAPI_JSONPATH_H

/*
 * Where a number stands in a JSON answer, as KEDA's users write it: the part of GJSON paths
 * (github.com/tidwall/gjson, SYNTAX.md) that leads to one value. Compiled once, when the trigger is
 * built, so that what is not understood is said then and not at each poll; put to an answer as
 * often as one likes. Called by metricsapi.
 *
 *   a.b.0            fields and elements; `\.` is a dot in a name, so are `\*`, `\?`, `\|`, `\#`,
 *                    `\@`, `\\`
 *   a.ch*.n?me       the first field whose name fits and below which there is what follows
 *   a.#              how many elements
 *   a.#.b            the b of each element that has one: a list, so only `a.#.b|0` or `a.#.b|#`
 *                    lead to a number
 *   a.#(k=="v").b    of the first element that fits; #(...)# all of them: `a.#(k=="v")#|#` counts.
 *                    ==, =, !=, <, <=, >, >=, % and !% (like *, ?); without one: that it is there.
 *                    The left side is a path itself
 *   a|b              as a.b, but behind # and #(...)# it is for the list and not for each element
 *   @this @reverse @values @keys @flatten
 *
 * Not as GJSON: the answer must be JSON from its beginning to its end, and no object may have a
 * name twice; a comparison of a number with a text that is none holds for != alone (there any text
 * is 0); @keys and @values of what is not there, and @keys of what is no object, are not there
 * (there they are empty, and so their # is 0); false is at least false, and true at most true; `\*`
 * in a pattern is an asterisk. Multipaths, literals, JSON lines, `~true`, other modifiers and
 * arguments of modifiers are refused.
 */

#include <stddef.h>

#include "base/err.h"

#define JSONPATH_LENGTH_MAX 1024
#define JSONPATH_STEPS_MAX  64 /* of one path; those of conditions have their own */
#define JSONPATH_NESTED_MAX 8  /* conditions inside of conditions */

struct jsonpath;

/* ERR_INVALID `position 3: ...`, counted from 1. The caller owns the path. */
struct jsonpath *jsonpath_compile(const char *text, struct err *err);
void jsonpath_free(struct jsonpath *p); /* NULL is fine */

/*
 * The number at that place of an answer; a string is read as a Kubernetes quantity. ERR_INVALID:
 * the answer is no JSON, or there is no number; it says what there is, and no content of the
 * answer. It has at most JSON_FOREIGN_VALUES_MAX values, and a path that would take five million
 * steps (100,000 values looked at; some 20 ms) is given up.
 */
int jsonpath_number(const struct jsonpath *p, const char *answer, size_t len, double *out, struct err *err);

#endif
