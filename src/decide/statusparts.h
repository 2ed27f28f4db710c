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

#include "crd/scaledobject.h"

#define STATUSPARTS_READY  "Ready"
#define STATUSPARTS_ACTIVE "Active"
#define STATUSPARTS_PAUSED "Paused"

/* ---- Conditions ---- */

/* What nobody has said anything about yet is there all the same. */
void statusparts_first_sight(struct conditions *c, const char *type, enum condition_status status, int64_t now_unix_ms,
	int64_t generation);
/* Sets a condition to what it is already, so that its generation moves on. */
void statusparts_confirm(struct conditions *c, const struct condition *was, int64_t now_unix_ms, int64_t generation);
/* The same without a word: what this reconcile has found still to be so. */
void statusparts_looked_at(struct conditions *c, const char *type, int64_t generation);
bool statusparts_ready_is_false(const struct conditions *c, const char *reason);
bool statusparts_is_true(const struct conditions *c, const char *type);

/* ---- Triggers and their metrics ---- */

/* triggersTypes and authenticationsTypes. */
void statusparts_triggers(const struct trigger *triggers, size_t count, struct scaledobject_status *status);

/* A list of names is emptied, then filled; room is how many there will be at most. */
void statusparts_free_names(char ***names, size_t *count);
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
void statusparts_last_active(bool active, bool edge, int64_t last_unix_ms, int64_t now_unix_ms,
	struct scaledobject_status *status);

#endif
