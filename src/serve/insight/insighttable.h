/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_INSIGHT_INSIGHTTABLE_H
#define SERVE_INSIGHT_INSIGHTTABLE_H

/*
 * The insight API's objects as rows of a Table (meta.k8s.io/v1), which kubectl and `kscaled get`
 * print: names and descriptions of the columns, and an object's cells. Columns of priority 1 are
 * shown with -o wide only; an unknown cell is null.
 */

#include "cache/cache.h"
#include "serve/jsonout.h"

void insighttable_columns(struct jsonout *j, enum scaled_kind kind); /* the member columnDefinitions */
void insighttable_cells(struct jsonout *j, const struct cache *cache, const struct object *o); /* the member cells */

#endif
