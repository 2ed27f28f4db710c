/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

/* What we know, in one place: handed to control and serve, which never see each other. The daemon makes and frees its parts. */

#include "base/counters.h"
#include "cache/leadership.h"
#include "cache/readings.h"
#include "cache/scalers.h"
#include "cache/store.h"
#include "cache/targets.h"

struct cache {
	struct loop *loop;
	struct counters *counters;
	struct store *store;
	struct targets *targets;
	struct scalers *scalers;
	struct readings *readings;
	struct leadership leadership;
};

#endif
