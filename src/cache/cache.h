/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

/*
 * What we know, in one place: handed to control and serve, which never see each other. The daemon
 * makes and frees its parts; what one learns and others must know goes through here.
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
 * From now on the parts hear what changed, in the order that cache/cache.c says; they outlive the
 * watches.
 */
void cache_connect(struct cache *c);

/* After the parts, in the order of listening; for the life of the cache; a handful. */
void cache_listen(struct cache *c, const struct store_events *events, void *arg);

/*
 * All objects are gone, so that the parts let go of what they keep of them; before these are freed.
 * Who listened is not told.
 */
void cache_forget(struct cache *c);

#endif
