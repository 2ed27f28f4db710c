/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SCALEDJOB_H
#define CRD_SCALEDJOB_H

/*
 * keda.sh/v1alpha1 ScaledJob as a plain struct (doc/keda.md 1.3). Everything the CRD allows is
 * decoded, even what decide/validate refuses with an error. Absent differs from zero: INT32_UNSET,
 * NULL.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/meta.h"
#include "crd/scaledobject.h"
#include "crd/trigger.h"
#include "crd/workload.h"

#define SCALEDJOB_TEMPLATE_BYTES_MAX (1024 * 1024)
#define SCALEDJOB_CONDITIONS_MAX     100 /* of pendingPodConditions */

struct scaledjob_spec {
	/*
	 * jobTargetRef as compact JSON with sorted keys; NULL when absent. Not decoded further: the
	 * API server validates each Job
	 */
	char *template_text;
	char template_print[17]; /* its fingerprint in hexadecimal, the same in every version of kscaled; "" when absent
				  */
	int32_t polling_interval_s; /* INT32_UNSET: the default, as below */
	int32_t successful_history, failed_history;
	int32_t min_jobs, max_jobs;
	char *rollout_strategy;   /* rolloutStrategy if written and not empty, otherwise rollout.strategy; NULL */
	char *propagation_policy; /* rollout.propagationPolicy; NULL */
	char *env_source_container;
	char *strategy;                 /* scalingStrategy.strategy; NULL */
	int32_t queue_length_deduction; /* customScalingQueueLengthDeduction; INT32_UNSET */
	char *running_job_percentage;   /* customScalingRunningJobPercentage, as written; NULL */
	char **pending_conditions;
	size_t pending_condition_count;
	char *calculation; /* scalingStrategy.multipleScalersCalculation; NULL */
	struct trigger *triggers;
	size_t trigger_count;
};

struct scaledjob { /* begins with its meta, as cache/objects/indexer requires */
	struct meta meta;
	struct scaledjob_spec spec;
	/*
	 * A ScaledJob's status uses some fields of a ScaledObject's: lastActiveTime, conditions,
	 * triggersTypes, authenticationsTypes, externalMetricNames, triggersActivity. The others
	 * stay unset.
	 */
	struct scaledobject_status status;
	struct err *spec_err;                /* as in crd/scaledobject.h; owned; NULL: none */
	uint64_t spec_digest, status_digest; /* likewise */
};

/* NULL and *err only if not even metadata can be read. The caller owns the result. */
struct scaledjob *scaledjob_decode(const json_t *object, struct err *err);
void scaledjob_free(struct scaledjob *sj);

/* The defaults and clamps of doc/keda.md 1.3 and 4.2. */
int32_t scaledjob_polling_interval_s(const struct scaledjob_spec *s); /* 30 */
int32_t scaledjob_successful_history(const struct scaledjob_spec *s); /* 100 */
int32_t scaledjob_failed_history(const struct scaledjob_spec *s);     /* 100 */
/* Jobs that always run: minReplicaCount, at most maxReplicaCount; default 0 */
int32_t scaledjob_min(const struct scaledjob_spec *s);
/*
 * Jobs beyond the minimum, at most: maxReplicaCount minus minReplicaCount; maxReplicaCount if
 * minReplicaCount is greater; 100, with nothing subtracted, if it is absent.
 */
int32_t scaledjob_max(const struct scaledjob_spec *s);

/*
 * Its Pod template as a workload, for the environment of its containers (`...FromEnv`); parsed at
 * each call. NULL if absent or not parsable. The caller owns it.
 */
struct workload *scaledjob_workload(const struct scaledjob *sj);

#endif
