/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DESCRIPTORS_H
#define NET_DESCRIPTORS_H

/*
 * The process's file descriptors, and the namespaces' shares (base/shares) of those for connections
 * to triggers' servers. What the process itself needs (the API server, listeners and their clients,
 * names, files) is set aside first. A namespace with a thousand servers leaves descriptors to the
 * others.
 *
 * A connection counts for its endpoint's namespace. Connections that several namespaces use
 * together have one share of their own.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/shares.h"

#define DESCRIPTORS_FEW 4 /* how much of the reserve one namespace may take */

/*
 * Raises the soft limit to the hard one and returns it. That is safe, as nothing here uses
 * select(2).
 */
size_t descriptors_raise(void);

struct descriptors_plan {
	size_t sources; /* for connections to triggers' servers */
	int accepted;   /* connections per listener; there are two listeners, and a Unix socket with a few */
};

/* Divides a limit. most: upper bound of sources, to save memory. Pure. */
struct descriptors_plan descriptors_plan(size_t limit, size_t most);

/* The descriptors of one connection; a member of its owner. */
struct descriptors_hold {
	const char *namespace_; /* borrowed until descriptors_take returns; NULL or "" for several or none */
	unsigned wants;         /* how many to take at once; 0 means 1 */
	bool refused;           /* the last descriptors_take failed */
	struct shares_hold share;
};

/*
 * Takes them. of: the shares of struct network. -1 with ERR_TEMPORARY, which says what to do. Does
 * nothing if it holds some already.
 */
int descriptors_take(struct shares *of, struct descriptors_hold *h, struct err *err);
/* Gives back all but `keep`; fine if it holds fewer. */
void descriptors_give(struct descriptors_hold *h, unsigned keep);

#endif
