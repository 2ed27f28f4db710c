/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_LEADINGNUMBER_H
#define SCALERS_VALUES_LEADINGNUMBER_H

/*
 * The number that a text begins with, as Go's Sscanf reads it with %f and %d: "12abc" is 12, and so
 * is "12 of 40". White space before it is skipped, what follows it is nobody's business. Pure.
 *
 * What a scan there takes as one word and cannot convert is an error here, too: "1_000", "0x1f",
 * "12e". So are NaN, infinity and binary exponents ("1p3"), which it reads.
 */

#include <stdbool.h>
#include <stddef.h>

/* False: it begins with no number, or with one that is too large. */
bool leadingnumber_decimal(const char *text, size_t len, double *out);
/* Digits alone: "12.7" and "12e3" are 12. False also beyond the whole numbers of 64 bits. */
bool leadingnumber_whole(const char *text, size_t len, double *out);

#endif
