/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBCONDITIONS_H
#define DECIDE_JOBS_JOBCONDITIONS_H

/*
 * The status a ScaledJob should have: KEDA's condition types, reasons and messages (keda-core.md
 * 4.1, 4.4), with the cause behind the message. As decide/conditions: takes the status as stored,
 * gives the status as wanted. Pure.
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
	 * NULL: all is set up. Its message already has KEDA's step text in front, and says which
	 * trigger, field or Job
	 */
	const struct err *err;
	bool paused_known, paused; /* not known: the annotation cannot be read, Paused stays */
	/*
	 * external ones in trigger order, for externalMetricNames; NULL (on an error, or when not
	 * known yet) keeps the stored ones
	 */
	const char *const *metric_names;
	size_t metric_count;
};

/*
 * First sight sets Ready and Active (Unknown) and Paused (False). Paused True `ScaledJobPaused`
 * "ScaledJob is paused", False `ScaledJobUnpaused` "ScaledJob is unpaused" after a pause. Ready
 * True `ScaledJobReady` ("ScaledJob is defined correctly and is ready to scaling"; while paused
 * "ScaledJob is paused, skipping reconcile loop"), or False `ScaledJobCheckFailed` with the error's
 * text (Active Unknown `UnknownState` "ScaledJob check failed"); a Ready that the loop lowered is
 * left to the loop while reconcile finds nothing wrong. triggersTypes, authenticationsTypes,
 * externalMetricNames.
 */
void jobconditions_after_reconcile(const struct scaledjob *sj, const struct job_outcome *o, int64_t now_unix_ms,
	struct scaledobject_status *status);

/*
 * The same after a tick: Ready (with what fails first and why, when something does;
 * `KEDAJobCreateFailed` while the API server refuses the Jobs), Active, triggersActivity,
 * lastActiveTime (only when first active and on the edge active -> inactive, design 6). Nothing
 * when the decision was that the object is paused.
 */
void jobconditions_after_tick(const struct scaledjob *sj, const struct jobs_facts *facts, const struct jobs_decision *d,
	int64_t now_unix_ms, struct scaledobject_status *status);

#endif
