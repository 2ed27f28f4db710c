/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_EDITDIST_H
#define BASE_EDITDIST_H

/*
 * Edit distance of two names, for "did you mean": the letters that must be put in, left out,
 * replaced or exchanged with their neighbour (optimal string alignment); upper and lower case are
 * alike. Pure; its time is bounded by the cap on names.
 */

#include <stddef.h>
#include <stdint.h>

#define EDITDIST_LENGTH_MAX 64
#define EDITDIST_FAR        SIZE_MAX /* one of the names is longer than that, or (near) they are two names */

size_t editdist_between(const char *a, const char *b);

/*
 * The distance, where one may be meant by the other: at most 2, and 1 in names of less than five
 * letters.
 */
size_t editdist_near(const char *a, const char *b);

/* Of names that are offered one after the other the nearest to `wanted`. */
struct editdist_best {
	const char *wanted;
	const char *name; /* borrowed; NULL: none is near */
	size_t distance;
};
struct editdist_best editdist_best_of(const char *wanted);
void editdist_offer(struct editdist_best *best, const char *name);

#endif
