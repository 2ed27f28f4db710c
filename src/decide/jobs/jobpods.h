/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBPODS_H
#define DECIDE_JOBS_JOBPODS_H

/* Whether a Job is still pending (doc/keda.md 4.3). Pure. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Whether this Pod has started, so that its Job is not pending: its phase is Running or Succeeded;
 * or, with conditions (scalingStrategy.pendingPodConditions), each of these types is True in its
 * status.conditions. A Pod that cannot be read has not started.
 */
bool jobpods_started(const json_t *pod, const char *const *conditions, size_t condition_count);

#endif
