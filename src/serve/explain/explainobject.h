/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINOBJECT_H
#define SERVE_EXPLAIN_EXPLAINOBJECT_H

/* The part of serve/explain that is about one ScaledObject. */

#include "cache/cache.h"
#include "serve/jsonout.h"

#define EXPLAINOBJECT_PAUSED_MAX 64
/*
 * The members target to forced; why_paused: "paused at 3 replicas", left alone when it is not.
 */
void explainobject_write_spec(struct jsonout *j, const struct object *o, char *why_paused);
void explainobject_write_hpa(struct jsonout *j, const struct cache *cache, const struct scaledobject *so);

#endif
