/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_SCALERS_PARTS_H
#define CACHE_READINGS_SCALERS_PARTS_H

/*
 * Shared by the two files of cache/readings/scalers; no other file includes it.
 *
 *   scalers.c        keeps each object's scalers, and drops them when an input changes
 *   scalers_build.c  builds one object's scalers from its triggers, authentications, environment
 *                    and the metrics that its sources name
 */

#include "cache/readings/scalers.h"

/* One object's scalers, or why there are none. */
struct built_scalers {
	bool built;       /* list or err belongs to the object as stored */
	bool uses_target; /* a parameter comes from the target's environment */
	struct err *err;  /* owned; NULL: list is valid */
	struct scaler *list;
	size_t count;
	size_t described;        /* described metrics in list */
	struct formula *formula; /* NULL without one */
};

struct scalers {
	struct store *store;
	struct lookups *lookups;
	struct descriptions *descriptions;
	struct questions *questions;
	scalers_fn on_built;
	void *on_built_arg;
};

/*
 * Builds into the object's empty struct built_scalers. Fails with an error that holds until the
 * object, its target or an input changes, and so may be cached, or with ERR_WAITING or
 * ERR_TEMPORARY; scalers built so far stay there.
 */
int scalers_build(struct scalers *s, struct object *o, struct err *err);

#endif
