/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

/*
 * All cached state in one struct, used by control and serve, which do not see each other. The cache
 * creates, starts and frees its parts, and routes events between them.
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

struct cache_config { /* read by cache_new; what it points to outlives the cache */
	struct kube *kube;
	struct counters *counters;
	struct scaler_sources *sources;
	struct vault_pool *vault; /* NULL: references to Vault are refused */
	struct lookups_config lookups;
	struct readings_config readings;
	size_t watches_max; /* cap on push watches */
};

/*
 * Creates all parts and connects them: each gets the others' events, in the order given in
 * cache/cache.c. Nothing is watched before cache_start.
 */
struct cache *cache_new(const struct cache_config *config);

/* Drops all objects and frees the parts; listeners are not called. NULL is fine. */
void cache_free(struct cache *c);

/*
 * Starts the watches of these namespaces; count 0: of all. The names must outlive the cache. Jobs
 * are read only after jobs_open.
 */
void cache_start(struct cache *c, const char *const *namespaces, size_t count);

/*
 * Adds a listener, called after the parts, in order of registration; for the life of the cache; at
 * most CACHE_LISTENERS_MAX.
 */
void cache_listen(struct cache *c, const struct store_events *events, void *arg);

#endif
