/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_LEADINGNUMBER_H
#define SCALERS_VALUES_LEADINGNUMBER_H

/*
 * The number that a text begins with, as Go's Sscanf reads it with %f and %d: "12abc" is 12, and so
 * is "12 of 40". Leading white space is skipped, and whatever follows the number is ignored. Pure.
 *
 * As with Sscanf, words that it scans but cannot convert are errors: "1_000", "0x1f", "12e". NaN,
 * infinity and binary exponents ("1p3"), which it accepts, are errors, too.
 */

#include <stdbool.h>
#include <stddef.h>

/* False: the text does not begin with a number, or the number is too large. */
bool leadingnumber_decimal(const char *text, size_t len, double *out);
/* Digits only: "12.7" and "12e3" are 12. False also outside of the range of 64 bits. */
bool leadingnumber_whole(const char *text, size_t len, double *out);

#endif
