/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_STATUSPARTS_H
#define DECIDE_STATUSPARTS_H

/* The parts that the statuses of ScaledObjects and ScaledJobs share. Pure. */

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
	const char *const *lowered; /* reasons of a Ready that the scale loop set to False; NULL-terminated */
};

/*
 * The status to change, the time of the change, and the generation of the object that it describes.
 */
struct statusparts {
	const struct statusparts_words *words;
	struct scaledobject_status *status;
	int64_t now_unix_ms, generation;
};

/* ---- Conditions ---- */

void statusparts_say(const struct statusparts *p, const char *type, enum condition_status status, const char *reason,
	const char *message);
/*
 * Like statusparts_say; stands: keeps the stored message if status and reason are the same. A
 * message that varies at each poll (times, ports, "refused" and then "timed out") would cause a
 * write at each poll.
 */
void statusparts_say_once(const struct statusparts *p, const char *type, enum condition_status status,
	const char *reason, const char *message, bool stands);
/* Adds the condition with this status if it is absent. */
void statusparts_first_sight(const struct statusparts *p, const char *type, enum condition_status status);
void statusparts_pause(const struct statusparts *p, bool paused);
/*
 * Ready after a reconcile; err NULL: success. After a success, a Ready that the scale loop set to
 * False, for what only a poll can see, is left to the loop.
 */
void statusparts_reconciled(const struct statusparts *p, const struct err *err, bool paused);
/*
 * Whether reconcile made Ready False. Then only reconcile may make it True, not a scale loop that
 * still runs with an older spec.
 */
bool statusparts_is_refused(const struct statusparts *p);

/* ---- Triggers and their metrics ---- */

/* triggersTypes and authenticationsTypes. */
void statusparts_triggers(const struct trigger *triggers, size_t count, struct scaledobject_status *status);

/* Whether it is in externalMetricNames; at: as for statusparts_active_fn. */
bool statusparts_has_metric(const struct scaledobject_status *status, const char *name, size_t *at);
/* Removes entries of health and triggersActivity whose metric is gone (doc/keda.md 1.2). */
void statusparts_prune(struct scaledobject_status *status);

/*
 * triggersActivity: one entry for each of externalMetricNames. was: as reported so far. at: where
 * the callback found the last metric, 0 at first. Metrics and triggers have about the same order,
 * so it continues from there.
 */
typedef bool (*statusparts_active_fn)(const void *arg, const char *metric, bool was, size_t *at);
void statusparts_activity(statusparts_active_fn active, const void *arg, struct scaledobject_status *status);

/*
 * lastActiveTime; called before the condition Active is set. KEDA writes it at every active poll,
 * kscaled on the edges: when the object becomes active (says_active: this tick sets Active) it
 * becomes now; with the first inactive poll it becomes the last activity, `last_unix_ms`.
 */
void statusparts_last_active(const struct statusparts *p, bool active, bool says_active, int64_t last_unix_ms);

#endif
