/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/jobs/jobspec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "decide/inherit.h"

#define EXCLUDED_LABELS "scaledjob.keda.sh/job-excluded-labels"
#define OWNER_KIND      "ScaledJob"
#define ROLLOUT_GRADUAL "gradual"
#define NUMBER_TEXT     24

/* ---- Metadata ---- */

static json_t *make_labels(const struct scaledjob *sj, const char *version)
{
	struct strmap labels = { 0 };
	json_t *object;

	strmap_set(&labels, "app.kubernetes.io/name", sj->meta.name);
	inherit_labels(&sj->meta, version, EXCLUDED_LABELS, &labels);
	strmap_set(&labels, JOB_OWNER_LABEL, sj->meta.name); /* over the user's: the Job is found by it */
	object = inherit_map(&labels);
	strmap_done(&labels);
	return object;
}

/* Ours override the user's, too: a wrong version would delete a Job, or keep an outdated one. */
static json_t *make_annotations(const struct scaledjob *sj)
{
	json_t *object = inherit_map(&sj->meta.annotations);
	char generation[NUMBER_TEXT];

	snprintf(generation, sizeof(generation), "%" PRId64, sj->meta.generation);
	json_object_set_new(object, JOB_GENERATION_ANNOTATION, json_string(generation));
	json_object_set_new(object, JOB_TEMPLATE_ANNOTATION, json_string(sj->spec.template_print));
	return object;
}

static json_t *make_metadata(const struct scaledjob *sj, const char *version)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "namespace", sj->meta.namespace_, "labels", make_labels(sj, version),
		"annotations", make_annotations(sj), "ownerReferences", inherit_owners(OWNER_KIND, &sj->meta));
}

/* ---- Spec ---- */

/*
 * The object at key, created if absent. Borrowed. NULL if parent is NULL or the value is not an
 * object, which the API server will refuse.
 */
static json_t *object_at(json_t *parent, const char *key)
{
	json_t *value = json_object_get(parent, key);

	if (parent && (!value || json_is_null(value)))
		json_object_set_new(parent, key, value = json_object());
	return json_is_object(value) ? value : NULL;
}

static bool is_unset(const json_t *value)
{
	return !value || json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0);
}

static void dress_pods(json_t *spec, const char *name)
{
	json_t *template = json_object_get(spec, "template"), *pod = json_object_get(template, "spec"), *labels;

	if (!json_is_object(template))
		return;
	labels = object_at(object_at(template, "metadata"), "labels");
	json_object_set_new(labels, JOB_OWNER_LABEL, json_string(name));
	/* Always, the default of Pods, is invalid in a Job. */
	if (json_is_object(pod) && is_unset(json_object_get(pod, "restartPolicy")))
		json_object_set_new(pod, "restartPolicy", json_string("OnFailure"));
}

static json_t *make_spec(const struct scaledjob *sj, struct err *err)
{
	const char *text = sj->spec.template_text;
	json_t *spec = text ? json_parse(text, strlen(text), err) : NULL;

	if (spec)
		dress_pods(spec, sj->meta.name);
	else if (!text)
		err_set(err, ERR_INVALID, "%s",
			sj->spec_err ? sj->spec_err->msg
				     : "spec.jobTargetRef: missing: say what each Job looks like, as the spec "
				       "of a batch/v1 Job does");
	return spec;
}

json_t *jobspec_make(const struct scaledjob *sj, const char *version, struct err *err)
{
	json_t *spec = make_spec(sj, err);

	if (!spec)
		return NULL;
	return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "batch/v1", "kind", "Job", "metadata",
		make_metadata(sj, version), "spec", spec);
}

/* ---- Name ---- */

char *jobspec_name(const struct scaledjob *sj, uint64_t random, char out[JOBSPEC_NAME_MAX + 1])
{
	/* Without vowels and similar digits, so that it forms no words. */
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	const size_t room = JOBSPEC_NAME_MAX - JOBSPEC_SUFFIX - 1;
	size_t len = utf8_cut(sj->meta.name, strlen(sj->meta.name), room);

	while (len > 0 && (sj->meta.name[len - 1] == '-' || sj->meta.name[len - 1] == '.'))
		len--;
	memcpy(out, sj->meta.name, len);
	out[len++] = '-';
	for (size_t i = 0; i < JOBSPEC_SUFFIX; i++, random /= sizeof(letters) - 1)
		out[len++] = letters[random % (sizeof(letters) - 1)];
	out[len] = '\0';
	return out;
}

/* ---- Jobs to delete ---- */

/*
 * Generations are counted per object: those of another object with the same name are not
 * comparable.
 */
static bool is_of(const struct scaledjob *sj, const struct job *job)
{
	return job->owner_uid && strcmp(job->owner_uid, sj->meta.uid) == 0;
}

static bool is_covered(const struct scaledjob *sj, const struct jobtemplate *known, const struct job *job)
{
	return job->for_generation == sj->meta.generation || jobtemplate_covers(known, job->for_generation);
}

static bool is_outdated(const struct scaledjob *sj, const struct jobtemplate *known, const struct job *job)
{
	const char *now = sj->spec.template_print;

	if (!*now) /* the current template is unknown */
		return false;
	if (is_of(sj, job) && is_covered(sj, known, job))
		return false; /* even if the API server has served it differently since */
	if (!*job->template_print)
		return job->for_generation >= 0 && job->for_generation != sj->meta.generation;
	return strcmp(job->template_print, now) != 0 && !jobtemplate_knows(known, job->template_print);
}

/* Jobs of these generations were made from its template, too: a new leader has not seen it. */
static void learn(const struct scaledjob *sj, const struct job *const *jobs, size_t count, struct jobtemplate *known)
{
	for (size_t i = 0; i < count; i++)
		if (is_of(sj, jobs[i]) && is_covered(sj, known, jobs[i]))
			jobtemplate_see(known, sj->meta.generation, jobs[i]->template_print);
}

struct finished {
	const struct job *job;
	enum jobspec_sweep *out;
};

static int by_finish(const void *a, const void *b)
{
	const struct job *x = ((const struct finished *)a)->job, *y = ((const struct finished *)b)->job;

	if (x->finished_unix_ms != y->finished_unix_ms)
		return x->finished_unix_ms < y->finished_unix_ms ? -1 : 1;
	return strcmp(x->meta.name, y->meta.name);
}

/* Deletes the Jobs of one state beyond its limit that finished first. */
static void sweep_history(const struct job *const *jobs, size_t job_count, enum job_state state, int32_t limit,
	enum jobspec_sweep *out)
{
	MEM_AUTO struct finished *list = mem_array(job_count, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < job_count; i++)
		if (jobs[i]->state == state && jobs[i]->meta.deleted_unix_ms == 0)
			list[count++] = (struct finished){ jobs[i], &out[i] };
	qsort(list, count, sizeof(*list), by_finish);
	for (size_t i = 0; i + (size_t)limit < count; i++)
		*list[i].out = JOBSPEC_HISTORY;
}

void jobspec_sweep(const struct scaledjob *sj, struct jobtemplate *known, const struct job *const *jobs, size_t count,
	enum jobspec_sweep *out)
{
	bool rollout = !sj->spec.rollout_strategy || strcmp(sj->spec.rollout_strategy, ROLLOUT_GRADUAL) != 0;

	learn(sj, jobs, count, known);
	for (size_t i = 0; i < count; i++) {
		const struct job *job = jobs[i];

		out[i] = rollout && job->state == JOB_RUNNING && job->meta.deleted_unix_ms == 0 &&
				is_outdated(sj, known, job)
			? JOBSPEC_ROLLOUT
			: JOBSPEC_KEEP;
	}
	sweep_history(jobs, count, JOB_COMPLETE, scaledjob_successful_history(&sj->spec), out);
	sweep_history(jobs, count, JOB_FAILED, scaledjob_failed_history(&sj->spec), out);
}
