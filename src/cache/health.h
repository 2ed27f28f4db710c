/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_HEALTH_H
#define CACHE_HEALTH_H

/*
 * Counts consecutive failures of each metric of each object, the input of fallback (doc/keda.md
 * 3.3). The leader counts in memory, for polls and metric requests: once per completed question,
 * however many asked, and at most once per pollingInterval (15 s if that is longer), however often
 * it failed. So neither other readers nor a failing source that triggers polls bring a fallback
 * nearer. The stored status.health is where a new leader continues, and what a standby, which never
 * counts, reads.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/metric.h"
#include "cache/leadership.h"
#include "cache/objects/store.h"

struct health;

struct health *health_new(struct store *store, const struct leadership *leadership); /* borrows both for its life */
void health_free(struct health *h);

/*
 * Records that a question was answered (ok) or failed at completed_at_ms (loop clock; 0: this
 * caller's deadline passed, which is not counted). The same completion is counted once, and older
 * ones are ignored. Returns the consecutive failures; 0 if ok.
 */
int32_t health_note(struct health *h, struct object *o, const char *metric, bool ok, int64_t completed_at_ms);
int32_t health_failures(const struct health *h, const struct object *o, const char *metric);

/* Sets the object's metrics: counts of others are dropped (doc/keda.md 1.2). */
void health_keep(struct object *o, const struct metric_spec *metrics, size_t count);
/* Another process counts from now on: drops the counts and uses status.health again. */
void health_forget(struct health *h);
void health_forget_object(struct object *o); /* it was deleted */

/*
 * One listener, called when a count crosses its threshold in either direction, so that the status
 * is updated.
 */
typedef void (*health_fn)(void *arg, struct object *o);
void health_listen(struct health *h, health_fn fn, void *arg);

#endif
