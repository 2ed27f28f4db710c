/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_LASTPOLL_H
#define CACHE_READINGS_LASTPOLL_H

/*
 * What the last timed poll of an object brought, for its triggers with useCachedMetrics: the HPA is
 * answered with it until the next one (keda-core.md 3.8). The readings cannot say it: objects that
 * ask the same question share one, and a wake-up or another object's request makes it newer.
 * cache/survey alone puts and reads.
 */

#include <stdint.h>

#include "cache/objects/object.h"
#include "cache/readings/readings.h"

/*
 * An answer, or a failure (err is not NULL, and of *answer only the times count). What the object
 * has from before since_ms (loop clock) is forgotten.
 */
void lastpoll_put(struct object *o, struct question *q, const struct answer *answer, const struct err *err,
	int64_t since_ms);

/*
 * What was put for this question, if it was answered since then; *answer and *err as in
 * readings_peek.
 */
enum readings_found lastpoll_peek(const struct object *o, const struct question *q, int64_t since_ms,
	struct answer *answer, struct err *err);

/* All of it; the object is gone, or the process ends. */
void lastpoll_forget(struct object *o);

#endif
