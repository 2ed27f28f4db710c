/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBPODS_H
#define DECIDE_JOBS_JOBPODS_H

/* When a Job is no longer pending (keda-core.md 4.3). Pure. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Whether this Pod takes its Job out of the pending ones: without conditions when its phase is
 * Running or Succeeded; with conditions (scalingStrategy.pendingPodConditions) when each of these
 * types is True in its status.conditions. What cannot be read counts as not started.
 */
bool jobpods_started(const json_t *pod, const char *const *conditions, size_t condition_count);

#endif
