/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_HEALTH_H
#define CACHE_HEALTH_H

/*
 * How often in a row each metric of each object could not be read: what fallback goes by
 * (keda-core.md 3.6). Counted on the leader, in memory, once per completed question however many
 * asked, in polls and metric requests only: however often a failing source wakes us, fallback comes
 * no sooner than failureThreshold of these. status.health, as stored, is where a new leader goes on
 * from and what a standby reads, which never counts (design 7).
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
 * A question was answered (ok) or failed at completed_at_ms (loop clock; 0: this asker gave up
 * waiting, which counts nothing). The same completion is counted once, and one older than what is
 * counted not at all. Returns the failures in a row; 0 when it is ok.
 */
int32_t health_note(struct health *h, struct object *o, const char *metric, bool ok, int64_t completed_at_ms);
int32_t health_failures(const struct health *h, const struct object *o, const char *metric);

/* The object has these metrics now: counts of others are forgotten (keda-core.md 1.2). */
void health_keep(struct object *o, const struct metric_spec *metrics, size_t count);
/*
 * Another process may count from here on: what was counted here is forgotten, status.health goes
 * on.
 */
void health_forget(struct health *h);
void health_forget_object(struct object *o); /* it is gone */

/*
 * One listener is told when a count that fallback goes by passed its threshold, either way: the
 * status should say so.
 */
typedef void (*health_fn)(void *arg, struct object *o);
void health_listen(struct health *h, health_fn fn, void *arg);

#endif
