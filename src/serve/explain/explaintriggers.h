/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_EXPLAIN_EXPLAINTRIGGERS_H
#define SERVE_EXPLAIN_EXPLAINTRIGGERS_H

/*
 * The part of serve/explain about triggers: the last reading of each, its age, its thresholds and
 * its error. Asks no source: it uses the shared readings, on every replica.
 */

#include "cache/cache.h"
#include "serve/jsonout.h"

/* Writes the members trouble and triggers, and a ScaledObject's composite. */
void explaintriggers_write(struct jsonout *j, struct cache *cache, struct object *o);

/* "starting", "on", "off", "failing": also the label on /metrics. */
const char *explaintriggers_push_word(enum watch_state state);

#endif
