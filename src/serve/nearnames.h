/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_NEARNAMES_H
#define SERVE_NEARNAMES_H

/*
 * Suggestions for an unknown name: objects of the same kind and namespace with a similar name. No
 * others are named, because the client was authorized for this kind in this namespace alone.
 */

#include "base/buf.h"
#include "cache/objects/store.h"

/*
 * Appends the sentence for people to out: `no ScaledObject "shop/wbe" is known; near it: web, wb`;
 * without similar names, whether there are any objects.
 */
void nearnames_explain(const struct store *store, enum scaled_kind kind, const char *namespace_, const char *name,
	struct buf *out);

/*
 * Whether two names differ by at most two letters inserted, deleted or replaced (or two neighbours
 * swapped), or one contains the other. Pure.
 */
bool nearnames_near(const char *a, const char *b);

#endif
