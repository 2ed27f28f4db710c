/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_METRICVALUE_H
#define SCALERS_VALUES_METRICVALUE_H

/*
 * Reads a number from a text of foreign origin, whatever its format. Errors say what kind of value
 * was found, never its content, which may be confidential. An absent value, null, NaN and infinity
 * are errors, never 0. Pure.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Reads a Kubernetes quantity ("500m", "1Ki", "12.5") in full precision. False: not a quantity. */
bool metricvalue_of_text(const char *text, size_t len, double *out);

/*
 * Reads a text that is a finite decimal number, in the syntax of Go's ParseFloat ("-1", "+.5",
 * "2e3"). False: not a number.
 */
bool metricvalue_float_of_text(const char *text, size_t len, double *out);

/*
 * Reads a JSON number, or a JSON string that is a quantity. ERR_INVALID `must point to a numeric
 * value or a string parseable as a Quantity, got ...`; NULL counts as absent.
 */
int metricvalue_of_json(const json_t *value, double *out, struct err *err);

/* Reads the number from a value that was found. */
typedef int (*metricvalue_fn)(const json_t *value, double *out, struct err *err);

/*
 * Reads a JSON number (not a string) without its fraction. ERR_INVALID also outside of the range of
 * 64 bits.
 */
int metricvalue_whole_of_json(const json_t *value, double *out, struct err *err);

/* Sets the error of metricvalue_of_json. got: "an element with elements inside". Returns -1. */
int metricvalue_none(const char *got, struct err *err);
#define METRICVALUE_NO_QUANTITY "String: a text that is not a quantity like 5, 1.5, 100m or 2Gi"

/*
 * Says why a text is not JSON. jansson's own message quotes it, so it is not used.
 * Returns -1.
 */
int metricvalue_bad_json(const json_error_t *where, struct err *err);

#endif
