/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A Job, or a list of them, and which are swept away: only what ended, and what runs of another
 * version, and of what ended just as much is left as the limits let.
 */

#include <string.h>

#include "crd/job.h"
#include "decide/jobs/jobspec.h"
#include "fuzz.h"

#define JOBS_MAX 200
#define LIMIT    2

static void check_job(const struct job *job)
{
	must(job->meta.name != NULL && job->meta.namespace_ != NULL && job->meta.uid != NULL &&
		job->meta.resource_version != NULL && job->owner != NULL);
	must(job->meta.labels.count + job->meta.annotations.count + job->meta.finalizer_count + job->meta.owner_count ==
		0);
	must(job->for_generation >= -1);
	must(memchr(job->template_print, '\0', sizeof(job->template_print)) != NULL);
	must(job->state != JOB_RUNNING || job->finished_unix_ms == 0);
}

static void check_sweep(const struct job *const *jobs, size_t count)
{
	char uid[] = "u-2";
	const struct scaledjob sj = {
		.meta = { .generation = 7, .uid = uid },
		.spec = { .template_print = "f58693991d96ea17", .successful_history = LIMIT, .failed_history = LIMIT }
	};
	enum jobspec_sweep out[JOBS_MAX];
	size_t left[3] = { 0 }, had[3] = { 0 };
	struct jobtemplate known = { 0 };

	jobspec_sweep(&sj, &known, jobs, count, out);
	for (size_t i = 0; i < count; i++) {
		must(out[i] != JOBSPEC_ROLLOUT || jobs[i]->state == JOB_RUNNING);
		must(out[i] != JOBSPEC_HISTORY || jobs[i]->state != JOB_RUNNING);
		must(out[i] == JOBSPEC_KEEP || jobs[i]->meta.deleted_unix_ms == 0);
		had[jobs[i]->state] += jobs[i]->meta.deleted_unix_ms == 0;
		left[jobs[i]->state] += out[i] == JOBSPEC_KEEP && jobs[i]->meta.deleted_unix_ms == 0;
	}
	must(left[JOB_COMPLETE] == (had[JOB_COMPLETE] < LIMIT ? had[JOB_COMPLETE] : LIMIT));
	must(left[JOB_FAILED] == (had[JOB_FAILED] < LIMIT ? had[JOB_FAILED] : LIMIT));
}

static struct job *decode(const json_t *value)
{
	struct err err;
	struct job *job = job_decode(value, &err);

	must(job != NULL || (err.kind == ERR_INVALID && err.msg[0] != '\0'));
	if (job != NULL)
		check_job(job);
	return job;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *value = json_parse((const char *)data, size, NULL);
	struct job *jobs[JOBS_MAX];
	size_t count = 0, length = json_is_array(value) ? json_array_size(value) : 1;

	for (size_t i = 0; value != NULL && i < length && count < JOBS_MAX; i++) {
		struct job *job = decode(json_is_array(value) ? json_array_get(value, i) : value);

		if (job != NULL)
			jobs[count++] = job;
	}
	check_sweep((const struct job *const *)jobs, count);
	for (size_t i = 0; i < count; i++)
		job_free(jobs[i]);
	json_decref(value);
	return 0;
}
