/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_ANSWERS_H
#define NET_ANSWERS_H

/*
 * How many bytes of servers' answers are in memory before they are whole, over all protocols, in
 * shares by namespace (base/shares): each answer has a limit of its own, but a thousand servers
 * that each send the half of theirs and wait would have as much as that is a thousand times. What
 * fits into ANSWERS_SMALL is not counted, as nearly every answer does. Whoever keeps what came says
 * how much that is each time when something comes.
 */

#include <stddef.h>

#include "base/err.h"
#include "base/shares.h"

#define ANSWERS_SMALL 4096               /* of each answer */
#define ANSWERS_STEP  16384              /* counted in such steps */
#define ANSWERS_BYTES ((size_t)16 << 20) /* in all */
#define ANSWERS_FEW   ((size_t)1 << 18)  /* that a namespace may have of what is kept */

/* Of one answer; lives inside whoever reads it. */
struct answers_hold {
	const char *namespace_; /* borrowed; NULL or "": of several, or nobody's */
	struct shares_hold share;
};

/*
 * It has so many bytes now, more or fewer than before, of the loop's (loop_answers). -1:
 * ERR_TEMPORARY, it is to be given up.
 */
int answers_hold(struct shares *of, struct answers_hold *h, size_t bytes, struct err *err);
void answers_release(struct answers_hold *h); /* fine when it has nothing */

#endif
