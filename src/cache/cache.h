/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

/*
 * What we know, in one place: handed to control and serve, which never see each other. The daemon
 * makes and frees its parts.
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
#include "cache/readings/lastpoll.h"
#include "cache/readings/pushes.h"
#include "cache/readings/readings.h"
#include "cache/readings/scalers.h"

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
	struct targetref *targetref;
	struct scalers *scalers;
	struct readings *readings;
	struct pushes *pushes;
	struct lastpoll *lastpoll;
	struct health *health;
	struct admit *admit;
	struct journal *journal;
	struct leadership leadership;
};

#endif
