/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_STATUSPARTS_H
#define DECIDE_STATUSPARTS_H

/*
 * What the statuses of ScaledObjects and ScaledJobs have in common, for decide/conditions and
 * decide/jobs/jobconditions. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/scaledobject.h"

#define STATUSPARTS_READY  "Ready"
#define STATUSPARTS_ACTIVE "Active"
#define STATUSPARTS_PAUSED "Paused"

/* KEDA's reasons and messages for one kind. */
struct statusparts_words {
	const char *ready, *ready_message, *ready_paused_message;
	const char *refused, *refused_message;
	const char *paused, *paused_message, *unpaused, *unpaused_message;
	const char *const *lowered; /* reasons of a Ready that the loop lowered; NULL-terminated */
};

/* Whose status becomes the wanted one, when, and what generation of the object that is about. */
struct statusparts {
	const struct statusparts_words *words;
	struct scaledobject_status *status;
	int64_t now_unix_ms, generation;
};

/* ---- Conditions ---- */

void statusparts_say(const struct statusparts *p, const char *type, enum condition_status status, const char *reason,
	const char *message);
/*
 * stands: the message that was told with this status and reason stays. A text that is another at
 * each poll (times, ports, "refused" and then "timed out") would be a write at each poll.
 */
void statusparts_say_once(const struct statusparts *p, const char *type, enum condition_status status,
	const char *reason, const char *message, bool stands);
/* A condition that nobody has said anything about yet is there all the same. */
void statusparts_first_sight(const struct statusparts *p, const char *type, enum condition_status status);
/* What this reconcile has found still to be so: its generation moves on. */
void statusparts_looked_at(const struct statusparts *p, const char *type);
void statusparts_pause(const struct statusparts *p, bool paused);
/*
 * Ready as a reconcile found it; err NULL: all is set up. What only a poll can see lowers Ready in
 * the loop; while reconcile finds nothing wrong, only a poll can raise it again.
 */
void statusparts_reconciled(const struct statusparts *p, const struct err *err, bool paused);
/*
 * What reconcile found wrong stands until reconcile finds it right: a loop that still runs by an
 * older spec must not hide it, nor flap with it.
 */
bool statusparts_is_refused(const struct statusparts *p);
bool statusparts_is_true(const struct conditions *c, const char *type);

/* ---- Triggers and their metrics ---- */

/* triggersTypes and authenticationsTypes. */
void statusparts_triggers(const struct trigger *triggers, size_t count, struct scaledobject_status *status);

/* Appends a copy to a list that scaledobject_free_names emptied; room: its final size at most. */
void statusparts_add_name(char ***names, size_t *count, size_t room, const char *name);
bool statusparts_has_metric(const struct scaledobject_status *status, const char *name); /* among externalMetricNames */
/* Entries of health and triggersActivity go away with their metrics (keda-core.md 1.2). */
void statusparts_prune(struct scaledobject_status *status);

/* triggersActivity: one entry for each of externalMetricNames. */
typedef bool (*statusparts_active_fn)(const void *arg, const char *metric);
void statusparts_activity(statusparts_active_fn active, const void *arg, struct scaledobject_status *status);

/*
 * lastActiveTime. KEDA writes it at every active poll; we write it on the edges. Becoming active
 * (`edge`: the condition Active is about to become True) stamps now. What was counted in memory
 * while active (`last`) is stamped with the first poll that finds no activity; then it does not
 * move, so there is nothing more to write.
 */
void statusparts_last_active(const struct statusparts *p, bool active, bool edge, int64_t last_unix_ms);

#endif
