/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECKJOBSPEC_H
#define CLI_CHECKJOBSPEC_H

/*
 * What the schema of a ScaledJob lets pass in its jobTargetRef, and for which the API server refuses each Job, which is long after it took the ScaledJob: a few common faults, by Kubernetes' validation of batch/v1 Jobs. What is no
 * object, or of another type than the schema says, is no matter of this.
 */

#include <jansson.h>

#include "cli/findings.h"

void checkjobspec_run(const json_t *job /* spec.jobTargetRef; may be NULL */, struct findings *f);

#endif
