/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_NETWORK_H
#define NET_NETWORK_H

/*
 * The network policy of connections to triggers' servers: allowed addresses, the namespaces' shares
 * of descriptors and of answer bytes, and the cache of names. Each loop has one, which allows
 * everything until the daemon sets limits.
 */

#include "base/shares.h"
#include "net/loop.h"
#include "net/sourcerules.h"

struct names;

struct network {
	struct sourcerules rules;
	struct shares descriptors; /* of connections: net/descriptors */
	struct shares answers;     /* of bytes of unfinished answers: net/answers */
	struct names *names;       /* NULL until network_names */
};

/* Borrowed from the loop, which frees it; made at the first call. */
struct network *network_of(struct loop *loop);

/* Borrowed, for net/dns; made at the first call. */
struct names *network_names(struct loop *loop);

#endif
