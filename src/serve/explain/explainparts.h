/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINPARTS_H
#define SERVE_EXPLAIN_EXPLAINPARTS_H

/*
 * What serve/explain tells of ScaledObjects and of ScaledJobs alike, as explain.h has it; what one
 * kind alone has is in explainobject.h and explainjob.h.
 */

#include "cache/cache.h"
#include "serve/jsonout.h"

void explainparts_leader(struct jsonout *j, const struct leadership *l);

/* The members of an item of the list; whole: those of an explanation, too. */
void explainparts_write(struct jsonout *j, struct cache *cache, struct object *o, bool whole);

#endif
