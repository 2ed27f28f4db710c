/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_ANSWERS_H
#define NET_ANSWERS_H

/*
 * Limits the bytes of unfinished answers in memory, over all protocols, in shares by namespace
 * (base/shares). Each answer has a limit of its own, but a thousand servers that each send half an
 * answer and stop would still use a thousand times that. An answer of up to ANSWERS_SMALL is not
 * counted, and nearly all are that small. The reader of an answer reports its size as it grows.
 */

#include <stddef.h>

#include "base/err.h"
#include "base/shares.h"

#define ANSWERS_SMALL 4096               /* an answer up to this is not counted */
#define ANSWERS_STEP  16384              /* the unit in which larger ones are counted */
#define ANSWERS_BYTES ((size_t)16 << 20) /* of all namespaces */
#define ANSWERS_FEW   ((size_t)1 << 18)  /* how much of the reserve one namespace may take */

/* What one answer holds; a member of its reader. */
struct answers_hold {
	const char *namespace_; /* borrowed; NULL or "" for several or none */
	struct shares_hold share;
};

/*
 * Reports that the answer has `bytes` bytes now, more or fewer than before. of: the shares of
 * struct network. -1 with ERR_TEMPORARY: the share is used up; the answer must be dropped.
 */
int answers_hold(struct shares *of, struct answers_hold *h, size_t bytes, struct err *err);
void answers_release(struct answers_hold *h); /* fine when it holds nothing */

#endif
