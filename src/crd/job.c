/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"

#define GENERATION_DIGITS_MAX 18

/*
 * Read from the JSON, to avoid copying other labels and annotations. A wrong type counts as absent:
 * the API server has checked them.
 */

static int64_t generation(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits <= GENERATION_DIGITS_MAX && text[digits] == '\0' ? strtoll(text, NULL, 10) : -1;
}

static void decode_origin(const json_t *object, struct job *out)
{
	const json_t *metadata = json_object_get(object, "metadata"), *controller = meta_controller_in(object);
	const json_t *annotations = json_object_get(metadata, "annotations");
	const char *print = json_str_or_empty(annotations, JOB_TEMPLATE_ANNOTATION);

	out->owner = mem_dup(json_str_or_empty(json_object_get(metadata, "labels"), JOB_OWNER_LABEL));
	if (meta_refers_to(controller, "ScaledJob"))
		out->owner_uid = mem_dup(json_str_or_empty(controller, "uid"));
	out->for_generation = generation(json_str_or_empty(annotations, JOB_GENERATION_ANNOTATION));
	if (strlen(print) < sizeof(out->template_print))
		snprintf(out->template_print, sizeof(out->template_print), "%s", print);
}

/* The condition that finished the Job; NULL while it runs. */
static const json_t *final_condition(const json_t *status, enum job_state *state)
{
	const json_t *list = json_object_get(status, "conditions"), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *type = json_str_or_empty(one, "type");
		bool complete = strcmp(type, "Complete") == 0;

		if ((!complete && strcmp(type, "Failed") != 0) || !json_str_is(one, "status", "True"))
			continue;
		*state = complete ? JOB_COMPLETE : JOB_FAILED;
		return one;
	}
	return NULL;
}

/* A failed Job has no completionTime. */
static void decode_state(const json_t *status, struct job *out)
{
	const json_t *final = final_condition(status, &out->state);

	if (final == NULL)
		return;
	if (timestamp_parse(json_str_or_empty(status, "completionTime"), &out->finished_unix_ms, NULL) < 0 &&
		timestamp_parse(json_str_or_empty(final, "lastTransitionTime"), &out->finished_unix_ms, NULL) < 0)
		out->finished_unix_ms = 0;
}

struct job *job_decode(const json_t *object, struct err *err)
{
	struct job *job = mem_zalloc(sizeof(*job));

	if (meta_decode_slim(object, &job->meta, err) < 0) {
		free(job);
		return NULL;
	}
	decode_origin(object, job);
	decode_state(json_object_get(object, "status"), job);
	return job;
}

void job_free(struct job *job)
{
	if (job == NULL)
		return;
	meta_done(&job->meta);
	free(job->owner);
	free(job->owner_uid);
	free(job);
}
