/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBSPEC_H
#define DECIDE_JOBS_JOBSPEC_H

/*
 * What a Job of a ScaledJob looks like (keda-core.md 4.4), and which Jobs are to be deleted (4.5).
 * Pure.
 *
 * Differences from KEDA: the name is chosen here, not by the API server (generateName), so that a
 * create whose answer was lost can be repeated and meets the Job it made;
 * app.kubernetes.io/managed-by is kscaled; no label of the ScaledJob replaces
 * scaledjob.keda.sh/name, without which the Job would not be found again, and no annotation the two
 * that say what it was made from; the Pod template has no generateName, which no Job controller
 * reads; kubectl's last-applied-configuration is not copied (crd/meta.h).
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/job.h"
#include "crd/scaledjob.h"

#define JOBSPEC_NAME_MAX 63 /* a Job's name becomes a label of its Pods */
#define JOBSPEC_SUFFIX   5

/*
 * All of it but metadata.name. NULL and ERR_INVALID: there is no jobTargetRef, or it is no object.
 * Whatever else is wrong in it is for the API server to refuse. The caller owns it.
 */
json_t *jobspec_make(const struct scaledjob *sj, const char *version /* app.kubernetes.io/version */, struct err *err);

/*
 * "<name of the ScaledJob>-<suffix>", the name cut so that it fits and does not end in "-" or ".";
 * the suffix has JOBSPEC_SUFFIX characters of Kubernetes' own alphabet, made of `random`. Returns
 * out.
 */
char *jobspec_name(const struct scaledjob *sj, uint64_t random, char out[JOBSPEC_NAME_MAX + 1]);

enum jobspec_sweep {
	JOBSPEC_KEEP,
	/*
	 * finished, and one of those beyond successfulJobsHistoryLimit or failedJobsHistoryLimit
	 * that finished first (by name among equals)
	 */
	JOBSPEC_HISTORY,
	/*
	 * not finished, and made from another jobTargetRef, with a rollout strategy other than
	 * gradual
	 */
	JOBSPEC_ROLLOUT,
};

/*
 * What is to be done with each of the ScaledJob's Jobs, into out (count entries). Jobs that are
 * being deleted already are kept, and count in no limit. Deliberate differences from KEDA: a
 * rollout deletes no finished Job (the history limits keep those), and none whose jobTargetRef is
 * the one of now, whatever else was changed in the ScaledJob; a Job that does not say what it was
 * made from (KEDA's) is judged by its generation; nothing is rolled out while jobTargetRef cannot
 * be read; the newest failed Jobs are told by when they failed.
 */
void jobspec_sweep(const struct scaledjob *sj, const struct job *const *jobs, size_t count, enum jobspec_sweep *out);

#endif
