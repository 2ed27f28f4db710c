/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CACHE_READINGS_SCALERS_FIXTURE_H
#define TESTS_UNIT_CACHE_READINGS_SCALERS_FIXTURE_H

/*
 * The room as far as the built scalers, on a cluster, sources and time that are made up. One at a
 * time.
 */

#include "cache/objects/targetref.h"
#include "cache/readings/scalers.h"
#include "scalers/sources.h"

struct scalers_fixture {
	struct loop *loop;
	struct scaler_sources sources;
	struct store *store;
	struct kinds *kinds;
	struct targets *targets;
	struct references *references;
	struct lookups *lookups;
	struct targetref *targetref;
	struct descriptions *descriptions;
	struct readings *readings;
	struct scalers *scalers;
	const char *key; /* of the one object there is: "shop/web" until the test sets another */
	unsigned told;   /* how often scalers said that they are others */
};

void scalers_fixture_start(struct scalers_fixture *f); /* everything has been listed when it returns */
void scalers_fixture_end(struct scalers_fixture *f);

#endif
