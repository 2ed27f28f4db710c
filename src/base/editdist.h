/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_EDITDIST_H
#define BASE_EDITDIST_H

/*
 * Edit distance of two names, for "did you mean": the number of letters to insert, delete, replace
 * or transpose (optimal string alignment), ignoring case. Pure; the cap on the length of names
 * bounds its time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EDITDIST_LENGTH_MAX 64
#define EDITDIST_FAR        SIZE_MAX /* a name is too long; editdist_near: not similar */

size_t editdist_between(const char *a, const char *b);

/*
 * The distance of similar names: at most 2, or 1 if one has fewer than five letters; otherwise
 * EDITDIST_FAR.
 */
size_t editdist_near(const char *a, const char *b);

/*
 * The nearest of the names offered for `wanted`; if none is similar, the one with the fewest extra
 * letters that begins or ends with `wanted`, or the other way round (at least four letters).
 */
struct editdist_best {
	const char *wanted;
	const char *name; /* borrowed; NULL: none is similar */
	size_t distance, affix;
};
struct editdist_best editdist_best_of(const char *wanted);
bool editdist_offer(struct editdist_best *best, const char *name); /* true if it is the nearest so far */

#endif
