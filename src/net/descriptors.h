/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DESCRIPTORS_H
#define NET_DESCRIPTORS_H

/*
 * How many file descriptors there are, and who has those that lead to triggers' servers. The system
 * gives a process so many; what it needs itself (the API server, its listeners and who connects to
 * them, names, files) is put aside, and the rest is for connections to servers that objects name,
 * in shares by namespace (base/shares): whoever names a thousand servers leaves others theirs.
 *
 * A connection is its endpoint's; one that several namespaces use is none's in particular, and
 * those have a share like a namespace's.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/shares.h"

#define DESCRIPTORS_FEW 4 /* that a namespace may have of what is kept */

/*
 * Raises the soft limit to the hard one, which costs nothing: nothing here uses select(2). What the
 * limit is now.
 */
size_t descriptors_raise(void);

struct descriptors_plan {
	size_t sources; /* for connections to triggers' servers */
	int accepted;   /* connections that a listener has at once; there are two, and a Unix socket with a few */
};

/* Of a limit. most: of sources; what memory allows. Pure. */
struct descriptors_plan descriptors_plan(size_t limit, size_t most);

/* Those of one connection; lives inside its owner. */
struct descriptors_hold {
	const char *namespace_; /* borrowed until they are taken; NULL or "": of several, or nobody's */
	unsigned wants;         /* at once; 0 is 1 */
	bool refused;           /* the last time */
	struct shares_hold share;
};

/*
 * From the loop's (loop_descriptors). -1: ERR_TEMPORARY, with what to do. One that has some stays
 * as it is.
 */
int descriptors_take(struct shares *of, struct descriptors_hold *h, struct err *err);
void descriptors_give(struct descriptors_hold *h, unsigned keep); /* back, all but so many; fine when it has less */

#endif
