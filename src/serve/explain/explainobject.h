/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINOBJECT_H
#define SERVE_EXPLAIN_EXPLAINOBJECT_H

/* The part of serve/explain that is about one ScaledObject. */

#include "cache/cache.h"
#include "serve/jsonout.h"

/* The members of an item of the list; whole: those of an explanation, too. */
void explainobject_write(struct jsonout *j, struct cache *cache, struct object *o, bool whole);

#endif
