/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_JOB_H
#define CRD_JOB_H

/*
 * A batch/v1 Job of a ScaledJob, reduced to its state and the version of the ScaledJob that made
 * it. Small, because there may be tens of thousands: meta comes from meta_decode_slim.
 */

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/meta.h"

/* Labels and annotations of a Job and of its Pods (doc/keda.md 1.5, 4.4). */
#define JOB_OWNER_LABEL           "scaledjob.keda.sh/name"
#define JOB_GENERATION_ANNOTATION "scaledjob.keda.sh/generation"
#define JOB_TEMPLATE_ANNOTATION                                                                                        \
	"scaledjob.kscaled.io/template" /* scaledjob_spec.template_print of its ScaledJob; KEDA's Jobs lack it */

enum job_state { JOB_RUNNING /* not finished; includes suspended and pending */, JOB_COMPLETE, JOB_FAILED };

struct job { /* begins with its meta, as cache/objects/indexer requires */
	struct meta meta;
	char *owner;             /* the ScaledJob's name, from the label; "" if absent */
	char *owner_uid;         /* of the controlling ScaledJob; NULL if nothing, or something else, controls it */
	int64_t for_generation;  /* the ScaledJob's when the Job was made; -1: unknown */
	char template_print[17]; /* "" when unknown */
	enum job_state state;    /* by the conditions Complete and Failed that are True (doc/keda.md 4.3) */
	/* status.completionTime, or when the condition became True, or 0; 0 while it runs */
	int64_t finished_unix_ms;
	size_t place; /* of cache/objects/jobs: its position among its owner's */
};

/*
 * The caller owns it. NULL and ERR_INVALID if metadata cannot be read; everything else may be
 * absent.
 */
struct job *job_decode(const json_t *object, struct err *err);
void job_free(struct job *job);

#endif
