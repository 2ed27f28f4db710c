/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_NEARNAME_H
#define CLI_NEARNAME_H

/*
 * "Did you mean ...?": of a few known names the one that a mistyped name is nearest to, by the letters that must be put in, left out, replaced or exchanged with their neighbour; upper and lower case are alike. Pure.
 */

#include <stddef.h>

struct nearname {
	const char *wanted;
	const char *best;  /* borrowed from those that were offered; NULL: none is near */
	size_t distance;
};

struct nearname nearname_of(const char *wanted);
void nearname_offer(struct nearname *n, const char *name); /* a third of its letters may differ, and at most three */

#endif
