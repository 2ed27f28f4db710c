/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_FORMULA_FORMULA_H
#define DECIDE_FORMULA_FORMULA_H

/*
 * scalingModifiers.formula: the part of the expr-lang language that KEDA users write, over numbers
 * (float64, and integers where expr-lang has them), booleans, nil and arrays of them. Compiled
 * once, checked by types and by a trial run as KEDA does (doc/keda.md 3.4), then evaluated without
 * allocating. Pure; bounded in length, depth, elements and steps, so that no formula can hold up
 * the loop.
 *
 * Literals 1 1.5 1e3 1_000 0x1F true false nil; variables (trigger names); + - * / % ** ^; == != <
 * <= > >=; and && or || not !; in, not in; ?: and ??; if {} else {}; parentheses; arrays [a, b],
 * index a[0], ranges 1..5; `let x = ...; ...`; len min max abs ceil floor round int float sum mean
 * median; count any all none one filter map with a predicate {# > 1} or a bare one; | before a
 * function; comments. Everything else is an error with its position.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct formula;

#define FORMULA_LENGTH_MAX    16384
#define FORMULA_VARIABLES_MAX 1000

/*
 * variables: the names the formula may use, in the order in which formula_evaluate gets their
 * values; not needed afterwards. KEDA's wrapping is done here: without `??` the result must be a
 * number; with it, it may be nil. NULL and ERR_INVALID: `column 9: unknown name "trig_two" (the
 * triggers are trig_one and trig_2)`, with `line 2, ` before it below the first line. The caller
 * owns the result. A name that expr-lang could not write (a-b) cannot be used, which is only an
 * error when the formula needs it.
 */
struct formula *formula_compile(const char *text, const char *const *variables, size_t count, struct err *err);
void formula_free(struct formula *f); /* NULL is fine */

struct formula_value {
	bool nil;
	double number;
};

/*
 * values[i] is the value of variables[i]. -1 and ERR_INVALID if there is no result for these values
 * (an index out of range, too many steps, a result that is not a number: NaN and infinity are
 * errors, too, because they must never reach an HPA). Takes 64 KiB of stack.
 */
int formula_evaluate(const struct formula *f, const struct formula_value *values, struct formula_value *out,
	struct err *err);

#endif
