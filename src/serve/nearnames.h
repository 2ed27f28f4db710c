/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_NEARNAMES_H
#define SERVE_NEARNAMES_H

/* Which known objects somebody may have meant who asked for one that is not known: the same name elsewhere, and names that differ by a slip of the fingers. */

#include "base/buf.h"
#include "cache/store.h"

/*
 * The sentence for people, appended to out: `no ScaledObject "shop/wbe" is known; near it: shop/web`; with nothing near, the namespaces that have some; before the objects were read, that.
 */
void nearnames_explain(const struct store *store, const char *namespace_, const char *name, struct buf *out);

/* Whether two names differ by at most two letters put in, left out, or taken for others (or two neighbours changed over), or one begins with or holds the other. Pure. */
bool nearnames_near(const char *a, const char *b);

#endif
