/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_LASTPOLL_H
#define CACHE_READINGS_LASTPOLL_H

/*
 * The results of an object's last timed poll, for triggers with useCachedMetrics: the HPA gets them
 * until the next poll (doc/keda.md 3.5). The shared readings cannot serve this, because another
 * object with the same question, a push or another request may refresh them. Used by cache/survey
 * only.
 */

#include <stdint.h>

#include "cache/objects/object.h"
#include "cache/readings/readings.h"

/*
 * Stores an answer, or a failure (err not NULL; of *answer only the times are used). Drops the
 * object's results older than since_ms (loop clock).
 */
void lastpoll_put(struct object *o, struct question *q, const struct answer *answer, const struct err *err,
	int64_t since_ms);

/*
 * The result for this question, if it is newer than since_ms; *answer and *err as in readings_peek.
 */
enum readings_found lastpoll_peek(const struct object *o, const struct question *q, int64_t since_ms,
	struct answer *answer, struct err *err);

/* Drops all results: the object is gone, or the process ends. */
void lastpoll_forget(struct object *o);

#endif
