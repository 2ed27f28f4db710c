/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_NEARNAMES_H
#define SERVE_NEARNAMES_H

/*
 * Which known objects somebody may have meant who asked for one that is not known: those of its
 * kind and namespace whose names differ by a slip of the fingers. Of others nothing is told: who
 * asks was allowed to read this kind there, and nothing else.
 */

#include "base/buf.h"
#include "cache/objects/store.h"

/*
 * The sentence for people, appended to out: `no ScaledObject "shop/wbe" is known; near it: web,
 * wb`; with nothing near, whether there are others.
 */
void nearnames_explain(const struct store *store, enum scaled_kind kind, const char *namespace_, const char *name,
	struct buf *out);

/*
 * Whether two names differ by at most two letters put in, left out, or taken for others (or two
 * neighbours changed over), or one begins with or holds the other. Pure.
 */
bool nearnames_near(const char *a, const char *b);

#endif
