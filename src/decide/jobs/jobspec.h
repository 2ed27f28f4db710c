/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBSPEC_H
#define DECIDE_JOBS_JOBSPEC_H

/*
 * The Jobs of a ScaledJob: their content (doc/keda.md 4.4), and which are deleted (4.5). Pure.
 *
 * Differences from KEDA: the name is chosen here, not by the API server (generateName), so that a
 * create whose answer was lost can be repeated without a second Job; app.kubernetes.io/managed-by
 * is kscaled; no label of the ScaledJob replaces scaledjob.keda.sh/name, by which the Job is found,
 * and no annotation those that record what it was made from; the Pod template has no generateName,
 * which Job controllers ignore; kubectl's last-applied-configuration is not copied (crd/meta.h).
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/job.h"
#include "crd/scaledjob.h"
#include "decide/jobs/jobtemplate.h"

#define JOBSPEC_NAME_MAX 63 /* a Job's name becomes a label of its Pods */
#define JOBSPEC_SUFFIX   5

/*
 * The whole object except metadata.name; the caller owns it. NULL and ERR_INVALID if jobTargetRef
 * is missing or not an object; the API server validates the rest of it.
 */
json_t *jobspec_make(const struct scaledjob *sj, const char *version /* app.kubernetes.io/version */, struct err *err);

/*
 * "<name of the ScaledJob>-<suffix>", the name cut to fit and not to end in "-" or "."; the suffix
 * has JOBSPEC_SUFFIX characters of Kubernetes' own alphabet, made from `random`. Returns out.
 */
char *jobspec_name(const struct scaledjob *sj, uint64_t random, char out[JOBSPEC_NAME_MAX + 1]);

enum jobspec_sweep {
	JOBSPEC_KEEP,
	/*
	 * among the first finished (by name among equals) of those beyond
	 * successfulJobsHistoryLimit or failedJobsHistoryLimit
	 */
	JOBSPEC_HISTORY,
	/*
	 * not finished, and made from an earlier jobTargetRef, with a rollout strategy other than
	 * gradual
	 */
	JOBSPEC_ROLLOUT,
};

/*
 * Selects the ScaledJob's Jobs to delete, into out (count entries). Jobs that are being deleted are
 * kept and count in no limit. known: the fingerprints under which its current jobTargetRef was
 * served (jobtemplate_see of the object as read); learns from the Jobs. Differences from KEDA: a
 * rollout deletes no finished Job (the history limits do), and none with the current jobTargetRef,
 * by its generation or its fingerprint, whatever else has changed in the ScaledJob; a Job without
 * the template annotation (KEDA's) is judged by its generation, and one without a generation
 * (KEDA's before 2.15) is kept; there is no rollout while jobTargetRef cannot be read; failed Jobs
 * are ordered by the time of failure.
 */
void jobspec_sweep(const struct scaledjob *sj, struct jobtemplate *known, const struct job *const *jobs, size_t count,
	enum jobspec_sweep *out);

#endif
