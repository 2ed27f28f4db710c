/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBTEMPLATE_H
#define DECIDE_JOBS_JOBTEMPLATE_H

/*
 * Since when an object has its present jobTargetRef, and all fingerprints of that. The API server
 * fills in defaults and prunes fields by the schema of the CRD each time it serves an object, so
 * with another CRD the same jobTargetRef has another fingerprint, in the same generation: KEDA's
 * CRD, ours, one of another version. All fingerprints that are seen in one generation are the same
 * jobTargetRef, and stay so in later generations until one comes with a fingerprint that is not
 * among them. Whether that is another jobTargetRef, or was served otherwise meanwhile, is not known
 * then; control/jobs/jobhistory finds it out. A value, kept beside the object
 * (cache/objects/object.h) for decide/jobs/jobspec.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOBTEMPLATE_PRINTS 8 /* as many changes of the CRD; of more the oldest is forgotten */

struct jobtemplate {
	struct jobtemplate_era {
		int64_t since, generation; /* the oldest and the newest in which it was seen */
		size_t count;
		char prints[JOBTEMPLATE_PRINTS][17]; /* the newest first */
	} now, before;
	/* in this generation it is known whether `now` differs from what was before; 0: in none */
	int64_t judged;
};

/*
 * In this generation of the object jobTargetRef was served, or a Job was made, with this
 * fingerprint (scaledjob_spec.template_print; "": unknown, which says nothing).
 */
void jobtemplate_see(struct jobtemplate *t, int64_t generation, const char *print);
bool jobtemplate_knows(const struct jobtemplate *t, const char *print);
/* In this earlier generation it was the same. */
void jobtemplate_reaches(struct jobtemplate *t, int64_t generation);
/* Whether a Job that was made in this generation of the object was made from it. */
bool jobtemplate_covers(const struct jobtemplate *t, int64_t generation);

#endif
