/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_JOBS_JOBHISTORY_H
#define CONTROL_JOBS_JOBHISTORY_H

/*
 * Whether an object had another jobTargetRef before its newest generation; asked of the API server
 * before Jobs are deleted because of it.
 */

#include <stdbool.h>

#include "crd/scaledjob.h"

struct work;

/* True while the answer is being fetched; its end leads to a reconcile. */
bool jobhistory_ask(struct work *work, const struct scaledjob *sj);
void jobhistory_stop(struct work *work);

#endif
