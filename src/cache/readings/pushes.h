/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_PUSHES_H
#define CACHE_READINGS_PUSHES_H

/*
 * Push wake-ups: sources that say "look now" before the next poll is due. Who works an object (its
 * loop, on the leader) holds it; the questions of what it asks are then watched, one watch per
 * question key however many objects ask it, and a look that a source asks for is told for every
 * holder of the question. On a standby nobody holds anything, so nothing is watched.
 *
 * When an object's scalers are built anew the watches follow: those whose question is still asked
 * stay as they are. A source that says "look" a hundred thousand times a second is told on at most
 * once per PUSHES_PACE_MS; the first at once, and the last is never lost. What a look is, how soon,
 * and how often one object may have one, is the listener's business. A lost or forged wake-up does
 * no harm: polls go on.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"
#include "cache/readings/scalers.h"
#include "scalers/scaler.h"

#define PUSHES_PACE_MS 10
/* Questions watched at once, in shares by namespace; of more it is said that they are not. */
#define PUSHES_WATCHES_MAX 20000

struct pushes;

/* borrows all; listens to scalers for life */
struct pushes *pushes_new(struct scaler_sources *sources, struct scalers *scalers, struct counters *counters);
void pushes_free(struct pushes *p);

/*
 * The one who is told: this object is to be looked at now, by a reading that is asked
 * for from now on. At the end of a turn; may hold and release.
 */
typedef void (*pushes_fn)(void *arg, struct object *o);
void pushes_listen(struct pushes *p, pushes_fn fn, void *arg);

/*
 * Held once, however often it is asked; its watches begin at the end of the turn, or as soon as its
 * scalers can be built. Both are no errors when there is nothing to do.
 */
void pushes_hold(struct pushes *p, struct object *o);
void pushes_release(struct object *o);

enum pushes_state {
	PUSHES_NONE,     /* this question has no push */
	PUSHES_UNHELD,   /* it may have, but nobody here works with it: a standby, or a paused object */
	PUSHES_REPORTED, /* *report says it; its text is good until the next report */
};
enum pushes_state pushes_report(const struct question *q, struct watch_report *report);

struct pushes_stats {
	size_t held;
	size_t watches[WATCH_FAILING + 1]; /* by enum watch_state */
	uint64_t wakes;                    /* told, one per object and time */
};
struct pushes_stats pushes_stats(const struct pushes *p);

#endif
