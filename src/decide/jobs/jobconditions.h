/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBCONDITIONS_H
#define DECIDE_JOBS_JOBCONDITIONS_H

/*
 * The status of a ScaledJob after a reconcile or a tick: KEDA's condition types, reasons and
 * messages (doc/keda.md 4.1, 4.4), with the cause appended. As decide/conditions, it changes a copy
 * of the stored status. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/scaledjob.h"
#include "decide/jobs/jobs.h"

/* The outcome of one reconcile. Borrowed. */
struct job_outcome {
	/*
	 * NULL: success. Its message begins with the text of KEDA's step and names the trigger,
	 * field or Job
	 */
	const struct err *err;
	bool paused_known, paused; /* unknown: the annotation is unreadable, Paused stays */
	/*
	 * external ones in trigger order, for externalMetricNames; NULL (an error, or unknown yet):
	 * the stored ones stay
	 */
	const char *const *metric_names;
	size_t metric_count;
};

/*
 * Adds missing conditions: Ready and Active (Unknown), Paused (False). Paused True
 * `ScaledJobPaused` "ScaledJob is paused", False `ScaledJobUnpaused` "ScaledJob is unpaused" after
 * a pause. Ready True `ScaledJobReady` ("ScaledJob is defined correctly and is ready to scaling";
 * while paused "ScaledJob is paused, skipping reconcile loop"), or False `ScaledJobCheckFailed`
 * with the error's text (Active Unknown `UnknownState` "ScaledJob check failed"); a Ready that the
 * loop lowered is left to the loop after a success. triggersTypes, authenticationsTypes,
 * externalMetricNames.
 */
void jobconditions_after_reconcile(const struct scaledjob *sj, const struct job_outcome *o, int64_t now_unix_ms,
	struct scaledobject_status *status);

/*
 * The same after a tick: Ready (with the first failure; `KEDAJobCreateFailed` while the API server
 * refuses the Jobs), Active, triggersActivity, lastActiveTime (only when the object becomes active
 * or inactive). Nothing when the object is paused. While facts->ready_waits, Ready stays, and so
 * does the activity of what cannot be read.
 */
void jobconditions_after_tick(const struct scaledjob *sj, const struct jobs_facts *facts, const struct jobs_decision *d,
	int64_t now_unix_ms, struct scaledobject_status *status);

#endif
