/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

/*
 * All cached state in one struct, used by control and serve, which do not see each other. The
 * daemon creates and frees the parts; events between parts are routed here.
 */

#include "base/counters.h"
#include "cache/admit.h"
#include "cache/auth/lookups.h"
#include "cache/auth/references.h"
#include "cache/health.h"
#include "cache/journal.h"
#include "cache/leadership.h"
#include "cache/objects/jobs.h"
#include "cache/objects/kinds.h"
#include "cache/objects/store.h"
#include "cache/objects/targetref.h"
#include "cache/objects/targets.h"
#include "cache/readings/descriptions.h"
#include "cache/readings/pushes.h"
#include "cache/readings/questions.h"
#include "cache/readings/readings.h"
#include "cache/readings/scalers.h"

#define CACHE_LISTENERS_MAX 6

struct cache {
	struct loop *loop;
	struct counters *counters;
	struct store *store;
	struct jobs *jobs;
	struct kinds *kinds;
	struct targets *targets;
	struct references *references;
	struct lookups *lookups;
	struct descriptions *descriptions;
	struct questions questions;
	struct targetref *targetref;
	struct scalers *scalers;
	struct readings *readings;
	struct pushes *pushes;
	struct health *health;
	struct admit *admit;
	struct leadership leadership;
	struct {
		struct store_events events;
		void *arg;
	} listeners[CACHE_LISTENERS_MAX];
	size_t listener_count;
};

/*
 * Connects the parts: from now on each gets the others' events, in the order given in
 * cache/cache.c. They outlive the watches.
 */
void cache_connect(struct cache *c);

/*
 * Adds a listener, called after the parts, in order of registration; for the life of the cache; at
 * most CACHE_LISTENERS_MAX.
 */
void cache_listen(struct cache *c, const struct store_events *events, void *arg);

/*
 * Drops all objects, so that the parts release what they keep for them; call before freeing the
 * parts. Listeners are not called.
 */
void cache_forget(struct cache *c);

#endif
