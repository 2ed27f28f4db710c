/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINJOB_H
#define SERVE_EXPLAIN_EXPLAINJOB_H

/* The part of serve/explain that is about one ScaledJob. */

#include "cache/cache.h"
#include "serve/jsonout.h"

/* The members min to paused; why_paused: "paused", left alone when it is not. */
void explainjob_write_spec(struct jsonout *j, const struct scaledjob *sj, char *why_paused);
void explainjob_write_jobs(struct jsonout *j, const struct cache *cache, const struct object *o);

#endif
