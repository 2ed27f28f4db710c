/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_SCALERS_H
#define CACHE_SCALERS_H

/*
 * The built scalers of each ScaledObject, made when somebody first asks (a poll on the leader, a metric request on any replica) and dropped when the object's spec or the environment they were built from
 * changes. Building checks parameters only: a source that is down is a failing reading, not a failing build.
 */

#include <stddef.h>

#include "base/err.h"
#include "cache/store.h"
#include "cache/targets.h"
#include "scalers/scaler.h"

struct scalers;

struct built { /* borrowed until the loop turns */
	const struct scaler *list;
	size_t count;
};

struct scalers *scalers_new(struct store *store, struct targets *targets);
void scalers_free(struct scalers *s);

/* The scalers of one object, in trigger order. ERR_MISSING: no such object; ERR_INVALID: the object or a trigger cannot be built (the same text as in its Ready condition); ERR_TEMPORARY: its target was not read yet. */
int scalers_get(struct scalers *s, const char *key, struct built *out, struct err *err);

/* One metric of one object; names are compared without regard to case (keda-core.md 5.2). ERR_MISSING says which of object and metric is unknown. */
int scalers_find(struct scalers *s, const char *key, const char *metric, const struct scaler **out, struct err *err);

/* group, version and resource of an object's target; ERR_INVALID for kinds that cannot be scaled here. Buffers of 254 bytes. */
int scalers_target_ref(const struct scaledobject *so, char *group, char *version, char *resource, struct err *err);

#endif
