/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_NEARNAMES_H
#define SERVE_NEARNAMES_H

/*
 * Which known objects somebody may have meant who asked for one that is not known: the same name
 * elsewhere or of the other kind, and names that differ by a slip of the fingers.
 */

#include "base/buf.h"
#include "cache/objects/store.h"

enum nearnames_kind { NEARNAMES_ANY, NEARNAMES_SCALEDOBJECT, NEARNAMES_SCALEDJOB }; /* what was asked for */

/*
 * The sentence for people, appended to out: `no ScaledObject "shop/wbe" is known; near it:
 * shop/web, ScaledJob shop/wb`; with nothing near, the namespaces that have some; before the
 * objects were read, that. A near object's kind is told where it is not the one that was asked for,
 * and a ScaledJob's when any was.
 */
void nearnames_explain(const struct store *store, enum nearnames_kind kind, const char *namespace_, const char *name,
	struct buf *out);

/*
 * Whether two names differ by at most two letters put in, left out, or taken for others (or two
 * neighbours changed over), or one begins with or holds the other. Pure.
 */
bool nearnames_near(const char *a, const char *b);

#endif
