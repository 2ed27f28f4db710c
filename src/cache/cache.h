/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

/*
 * What we know, in one place: handed to control and serve, which never see each other. The daemon
 * makes and frees its parts.
 */

#include "base/counters.h"
#include "cache/admit.h"
#include "cache/descriptions.h"
#include "cache/health.h"
#include "cache/jobs.h"
#include "cache/journal.h"
#include "cache/kinds.h"
#include "cache/lastpoll.h"
#include "cache/leadership.h"
#include "cache/lookups.h"
#include "cache/pushes.h"
#include "cache/readings.h"
#include "cache/references.h"
#include "cache/scalers.h"
#include "cache/store.h"
#include "cache/targetref.h"
#include "cache/targets.h"

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
