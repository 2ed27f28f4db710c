/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_JOBS_JOBLOOP_H
#define CONTROL_JOBS_JOBLOOP_H

/* A tick of a ScaledJob. */

#include <stdbool.h>

#include "cache/survey.h"
#include "crd/scaledjob.h"

struct work;

bool jobloop_prepare(struct work *work); /* reads the Pods of its Jobs if the strategy needs them */
void jobloop_unprepare(struct work *work);
void jobloop_decide(struct work *work, const struct survey_result *result);
/* writes the pause to the journal */
void jobloop_paused(struct work *work, const struct scaledjob *sj);
void jobloop_note(struct work *work); /* one of its Jobs was created, changed or deleted (cache/objects/jobs) */
void jobloop_stop(struct work *work);

#endif
