/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SLIPS_H
#define BASE_SLIPS_H

/*
 * How far one name is from another, for "did you mean": the letters that must be put in, left out, replaced or exchanged with their neighbour (optimal string alignment); upper and lower case are alike.
 * Pure; its time is bounded by the cap on names.
 */

#include <stddef.h>
#include <stdint.h>

#define SLIPS_LENGTH_MAX 64
#define SLIPS_FAR SIZE_MAX /* one of the names is longer than that: near to none */

size_t slips_between(const char *a, const char *b);

#endif
