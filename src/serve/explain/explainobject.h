/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINOBJECT_H
#define SERVE_EXPLAIN_EXPLAINOBJECT_H

/* The part of serve/explain about one ScaledObject. */

#include "cache/cache.h"
#include "decide/annotations.h"
#include "serve/jsonout.h"

/* Whether it is paused at a number of replicas. */
bool explainobject_at_number(const struct annotations *a);

/* The members target to forced. */
void explainobject_write_spec(struct jsonout *j, const struct object *o, const struct annotations *a);
void explainobject_write_hpa(struct jsonout *j, const struct cache *cache, const struct scaledobject *so);

#endif
