/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_JOB_H
#define CRD_JOB_H

/*
 * A batch/v1 Job of a ScaledJob, reduced to its state and the version of the ScaledJob that it was
 * made from. Small, as there may be tens of thousands: meta is that of meta_decode_slim.
 */

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/meta.h"

/* Labels and annotations of a Job and of its Pods (doc/keda.md 1.5, 4.4). */
#define JOB_OWNER_LABEL           "scaledjob.keda.sh/name"
#define JOB_GENERATION_ANNOTATION "scaledjob.keda.sh/generation"
#define JOB_TEMPLATE_ANNOTATION                                                                                        \
	"scaledjob.kscaled.io/template" /* scaledjob_spec.template_print of what it was made from; KEDA's Jobs have    \
					   none */

enum job_state { JOB_RUNNING /* not finished, also suspended or pending */, JOB_COMPLETE, JOB_FAILED };

struct job { /* begins with its meta, as cache/objects/indexer wants it */
	struct meta meta;
	char *owner;             /* the ScaledJob's name, of the label; "" when it has none */
	char *owner_uid;         /* of the controlling ScaledJob; NULL when nothing, or something else, controls it */
	int64_t for_generation;  /* the ScaledJob's when the Job was made; -1: unknown */
	char template_print[17]; /* "" when unknown */
	enum job_state state;    /* by the conditions Complete and Failed that are True (doc/keda.md 4.3) */
	/* status.completionTime, else when the condition became True, else 0; 0 while it runs */
	int64_t finished_unix_ms;
	size_t place; /* cache/objects/jobs': where it stands among its owner's */
};

/* The caller owns it. NULL and ERR_INVALID when metadata cannot be read; all else may be absent. */
struct job *job_decode(const json_t *object, struct err *err);
void job_free(struct job *job);

#endif
