/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINJOB_H
#define SERVE_EXPLAIN_EXPLAINJOB_H

/* The part of serve/explain about one ScaledJob. */

#include "cache/cache.h"
#include "serve/jsonout.h"

/* Whether its Jobs are known, and how many; *trouble: why they cannot be known, or NULL. */
bool explainjob_tally(const struct cache *cache, const struct object *o, struct jobs_tally *out, const char **trouble);

void explainjob_write_spec(struct jsonout *j, const struct scaledjob *sj, bool paused); /* the members min to paused */
void explainjob_write_jobs(struct jsonout *j, const struct cache *cache, const struct object *o);

#endif
