/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICVALUE_H
#define SCALERS_METRICVALUE_H

/*
 * What counts as a number in an answer of metrics-api, whatever its format, and what is said when
 * there is none: always what kind of thing there is, never its content, which is somebody's page.
 * An absent value, a null, a NaN or an infinity is an error, never 0. Pure.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A Kubernetes quantity ("500m", "1Ki", "12.5"), with all its digits. False when it is none. */
bool metricvalue_of_text(const char *text, size_t len, double *out);

/*
 * A number, or a string that is a quantity. ERR_INVALID `must point to a numeric value or a string
 * parseable as a Quantity, got ...`; NULL is "nothing".
 */
int metricvalue_of_json(const json_t *value, double *out, struct err *err);

/* The same words for what other formats found: "an element with elements inside". Returns -1. */
int metricvalue_none(const char *got, struct err *err);
#define METRICVALUE_NO_QUANTITY "String: a text that is no quantity like 5, 1.5, 100m or 2Gi"

/* Why an answer is no JSON: jansson's own words quote it. Returns -1. */
int metricvalue_bad_json(const json_error_t *where, struct err *err);

#endif
