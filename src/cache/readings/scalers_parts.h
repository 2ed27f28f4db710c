/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_SCALERS_PARTS_H
#define CACHE_READINGS_SCALERS_PARTS_H

/*
 * What the two files of cache/readings/scalers say to each other; nobody else includes it.
 *
 *   scalers.c        what is kept of each object, and when it is dropped
 *   scalers_build.c  one object's scalers from its triggers, its authentications, its environment
 *                    and what its sources name
 */

#include "cache/readings/scalers.h"

/* One object's scalers, or why there are none. */
struct built_scalers {
	bool built;       /* list or err is what the object as stored gives */
	bool uses_target; /* some parameter comes from the target's environment */
	struct err *err;  /* owned; NULL: the list is good */
	struct scaler *list;
	size_t count;
	size_t described;        /* of list: metrics that sources have named */
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

/* Whether what it says can be followed at all; err may be NULL. */
int scalers_validate(const struct scaled *of, struct err *err);

/*
 * Into what the object has for it, which is empty. Fails with what stays true until the object, its
 * target or what it refers to changes, and so may be remembered, or with ERR_WAITING or
 * ERR_TEMPORARY; what was built before is left there.
 */
int scalers_build(struct scalers *s, struct object *o, struct err *err);

#endif
