/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_JOBS_JOBTEMPLATE_H
#define DECIDE_JOBS_JOBTEMPLATE_H

/*
 * Since when an object has its present jobTargetRef, and all fingerprints of that. The API server
 * fills in defaults and prunes fields by the CRD's schema each time it serves an object, so with
 * another CRD (KEDA's, ours, another version) the same jobTargetRef has another fingerprint in the
 * same generation. All fingerprints seen in one generation belong to the same jobTargetRef, and
 * stay so in later generations until one comes with a new fingerprint. Whether that is another
 * jobTargetRef, or the same one served differently, is not known then; control/jobs/jobhistory
 * finds it out. A value, kept beside the object (cache/objects/object.h) for decide/jobs/jobspec.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOBTEMPLATE_PRINTS 8 /* changes of the CRD that are remembered; the oldest is forgotten first */

struct jobtemplate {
	struct jobtemplate_era {
		int64_t since, generation; /* the oldest and the newest in which it was seen */
		size_t count;
		char prints[JOBTEMPLATE_PRINTS][17]; /* newest first */
	} now, before;
	/*
	 * the generation for which it is known whether `now` differs from the one before; 0: none
	 */
	int64_t judged;
};

/*
 * In this generation of the object jobTargetRef was served, or a Job was made, with this
 * fingerprint (scaledjob_spec.template_print; "": unknown, which is ignored).
 */
void jobtemplate_see(struct jobtemplate *t, int64_t generation, const char *print);
bool jobtemplate_knows(const struct jobtemplate *t, const char *print);
/* In this earlier generation jobTargetRef was the same. */
void jobtemplate_reaches(struct jobtemplate *t, int64_t generation);
/* Whether a Job made in this generation of the object was made from the present jobTargetRef. */
bool jobtemplate_covers(const struct jobtemplate *t, int64_t generation);

#endif
