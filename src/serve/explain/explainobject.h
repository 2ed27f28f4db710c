/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINOBJECT_H
#define SERVE_EXPLAIN_EXPLAINOBJECT_H

/* The part of serve/explain that is about one ScaledObject. */

#include "cache/cache.h"
#include "decide/annotations.h"
#include "serve/jsonout.h"

/* While paused the target is kept at a number. */
bool explainobject_at_number(const struct annotations *a);

/* The members target to forced. */
void explainobject_write_spec(struct jsonout *j, const struct object *o, const struct annotations *a);
void explainobject_write_hpa(struct jsonout *j, const struct cache *cache, const struct scaledobject *so);

#endif
