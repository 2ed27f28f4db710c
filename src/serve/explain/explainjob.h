/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINJOB_H
#define SERVE_EXPLAIN_EXPLAINJOB_H

/* The part of serve/explain that is about one ScaledJob. */

#include "cache/cache.h"
#include "serve/jsonout.h"

/* The members of an item of the list; whole: those of an explanation, too. */
void explainjob_write(struct jsonout *j, struct cache *cache, struct object *o, bool whole);

#endif
