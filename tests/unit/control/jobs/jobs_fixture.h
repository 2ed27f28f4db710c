/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CONTROL_JOBS_JOBS_FIXTURE_H
#define TESTS_UNIT_CONTROL_JOBS_JOBS_FIXTURE_H

/*
 * ScaledJobs and their Jobs in the world of world.h. Jobs do not run by themselves: a Job stays as
 * created until the test finishes it.
 */

#include "../world.h"

#define SCALEDJOB(name) "/apis/keda.sh/v1alpha1/namespaces/default/scaledjobs/" name
#define JOBS            "/apis/batch/v1/namespaces/default/jobs"

/*
 * ScaledJob `name` with pollingInterval 10 and one trigger on source `name` with one item per Job;
 * spec: more of its fields, which win; or "". It is made, or its spec replaced.
 */
void jobs_scaledjob(const char *name, const char *spec);
/* And the time until it is Ready and nothing more happens. */
void jobs_ready(const char *name, const char *spec);

unsigned jobs_count(const char *name); /* of its Jobs, in any state */
void jobs_finish(const char *name, unsigned count,
	const char *condition /* "Complete", "Failed" */); /* so many of those that run, by name; the time of the end is
							      now */
/* each of its Jobs that has none gets a Pod in this phase */
void jobs_pods(const char *name, const char *phase);
const char *jobs_path(const char *name, unsigned nth); /* by name among its Jobs; good until the next call */
const char *jobs_sent_name(void);                      /* of the last create; good until the next call */

const char *jobs_condition(const char *name, const char *type); /* as world_condition */
void jobs_expect(const char *name, const char *type, const char *begins);
double jobs_counted(const char *family, const char *name);

#endif
