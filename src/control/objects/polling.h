/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_POLLING_H
#define CONTROL_OBJECTS_POLLING_H

/* When the triggers of an object are asked, and how their failures are reported. */

#include <stdbool.h>
#include <stdint.h>

#include "cache/survey.h"
#include "decide/annotations.h"
#include "decide/readiness.h"

struct work;

/*
 * While no trigger can be built: polls anyway, for what needs none, with a look at once after a
 * change. Events report that the triggers are not watched, unless that passes by itself.
 */
void polling_keep(struct work *work, const struct annotations *says, bool passes);
/*
 * After a successful reconcile: starts polling (with Events after a pause or when the object became
 * ready), looks at once if the spec, the annotations or a credential changed, and writes the
 * status.
 */
void polling_follow(struct work *work, const struct annotations *says, bool became_ready, bool was_paused);
/* looks at the triggers now; cancels a look under way */
void polling_look(struct work *work);
void polling_wake(struct work *work);     /* a source asks for a look: at once or at the end of the wake interval, with
					    readings asked for from now on */
void polling_prepared(struct work *work); /* the kind's prepare() has finished */
/* a look in wait_ms, unless a poll is due before */
void polling_arm_sooner(struct work *work, int64_t wait_ms);
bool polling_busy(const struct work *work); /* a look is under way */
void polling_stop(struct work *work);
void polling_end(struct work *work); /* the same, with an Event */
/*
 * Reports the triggers that failed: by Events and counters, and in the log, where each that begins
 * to fail, or fails for another cause, stands at most once in 30 s; and that all can be read again.
 */
void polling_tell(struct work *work, const struct survey_result *r);
/*
 * What Ready says about this look; in `look` the caller sets what decide/scale and decide/jobs
 * found. Schedules the next look in time for it.
 */
struct readiness_says polling_judge(struct work *work, struct readiness_look *look);
/* The triggers were last active at this time, from which the cooldown counts. */
void polling_note_active(struct work *work, int64_t at_unix_ms);

#endif
