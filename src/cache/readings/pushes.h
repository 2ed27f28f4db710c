/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_READINGS_PUSHES_H
#define CACHE_READINGS_PUSHES_H

/*
 * Push: sources that request a poll before the next one is due. The loop that works on an object
 * (on the leader) holds it; the questions of held objects are watched, one watch per question key
 * however many objects share it, and a notification of the source is delivered for every holder. On
 * a standby nothing is held, so nothing is watched. When an object's scalers are rebuilt, watches
 * of unchanged questions continue. Notifications are delivered at most once per PUSHES_PACE_MS and
 * question: the first at once, and the last is never lost. What the listener does, how soon and how
 * often per object, is up to it. Lost or forged notifications do no harm, as polling continues.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"
#include "cache/readings/scalers.h"
#include "scalers/scaler.h"

#define PUSHES_PACE_MS 10
/*
 * Cap on watched questions, in shares by namespace; reports of questions beyond it say so, and so
 * does an Event.
 */
#define PUSHES_WATCHES_MAX 20000

struct pushes;

/*
 * Borrows all arguments; registers as listener of scalers for life. watches_max: of all namespaces.
 */
struct pushes *pushes_new(struct scaler_sources *sources, struct scalers *scalers, struct counters *counters,
	size_t watches_max);
void pushes_free(struct pushes *p);

/*
 * The listener: poll this object now, with readings requested from now on. Called at the end of a
 * turn; may hold and release.
 */
typedef void (*pushes_fn)(void *arg, struct object *o);
void pushes_listen(struct pushes *p, pushes_fn fn, void *arg);

/*
 * Holds and releases an object; not counted. Watches begin at the end of the turn, or as soon as
 * its scalers can be built. Without effect when there is nothing to do.
 */
void pushes_hold(struct pushes *p, struct object *o);
void pushes_release(struct object *o);

enum pushes_state {
	PUSHES_NONE,     /* this question has no push */
	PUSHES_UNHELD,   /* it may have push, but the object is not held: a standby, or a paused object */
	PUSHES_REPORTED, /* see *report; its text is valid until the next report */
};
enum pushes_state pushes_report(const struct question *q, struct watch_report *report);

struct pushes_stats {
	size_t held;
	size_t watches[WATCH_FAILING + 1]; /* by enum watch_state */
	uint64_t wakes;                    /* notifications delivered */
};
struct pushes_stats pushes_stats(const struct pushes *p);

#endif
