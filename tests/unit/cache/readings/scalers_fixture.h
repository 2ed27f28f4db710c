/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CACHE_READINGS_SCALERS_FIXTURE_H
#define TESTS_UNIT_CACHE_READINGS_SCALERS_FIXTURE_H

/*
 * The room as far as the built scalers, on a cluster, sources and time that are made up. One at a
 * time.
 */

#include "cache/cache.h"
#include "scalers/sources.h"

struct scalers_fixture {
	struct loop *loop;
	struct scaler_sources sources;
	struct counters *counters;
	struct cache *cache;
	const char *key; /* of the one object there is: "shop/web" until the test sets another */
	unsigned told;   /* how often an input was reported as changed */
};

void scalers_fixture_start(struct scalers_fixture *f); /* everything has been listed when it returns */
void scalers_fixture_end(struct scalers_fixture *f);
struct object *scalers_fixture_object(const struct scalers_fixture *f); /* NULL */
/* scalers_get of the object, or of a missing one */
int scalers_fixture_get(const struct scalers_fixture *f, struct built *out, struct err *err);

#endif
