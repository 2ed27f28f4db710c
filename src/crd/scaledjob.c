/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaledjob.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crd/optional.h"
#include "crd/scaledjob_parts.h"
#include "crd/scaledobject_parts.h"

#define DEFAULT_POLLING_INTERVAL_S 30
#define DEFAULT_HISTORY            100
#define DEFAULT_MAX_JOBS           100

struct scaledjob *scaledjob_decode(const json_t *object, struct err *err)
{
	struct scaledjob *sj = mem_zalloc(sizeof(*sj));
	struct json_at root = json_root(object), spec, status;
	struct err spec_err = { 0 };

	if (meta_decode(object, &sj->meta, err) < 0) {
		free(sj);
		return NULL;
	}
	spec = json_field(&root, "spec");
	status = json_field(&root, "status");
	scaledjob_spec_decode(&spec, &sj->spec, &spec_err);
	if (spec_err.kind != ERR_NONE)
		err_keep(&sj->spec_err, &spec_err);
	scaledobject_status_decode(&status, &sj->status);
	sj->spec_digest = json_digest(spec.value);
	sj->status_digest = json_digest(status.value);
	return sj;
}

void scaledjob_free(struct scaledjob *sj)
{
	if (sj == NULL)
		return;
	meta_done(&sj->meta);
	scaledjob_spec_done(&sj->spec);
	scaledobject_status_done(&sj->status);
	err_keep(&sj->spec_err, NULL);
	free(sj);
}

int32_t scaledjob_polling_interval_s(const struct scaledjob_spec *s)
{
	return optional_or(s->polling_interval_s, DEFAULT_POLLING_INTERVAL_S);
}

/* decide/validate refuses a negative limit; here it counts as the default. */
static int32_t history(int32_t limit)
{
	return limit >= 0 ? limit : DEFAULT_HISTORY;
}

int32_t scaledjob_successful_history(const struct scaledjob_spec *s)
{
	return history(s->successful_history);
}

int32_t scaledjob_failed_history(const struct scaledjob_spec *s)
{
	return history(s->failed_history);
}

static int32_t written_or(int32_t value, int32_t otherwise)
{
	int32_t number = optional_or(value, otherwise);

	return number > 0 ? number : 0;
}

int32_t scaledjob_min(const struct scaledjob_spec *s)
{
	int32_t min = written_or(s->min_jobs, 0), max = written_or(s->max_jobs, INT32_MAX);

	return min < max ? min : max;
}

int32_t scaledjob_max(const struct scaledjob_spec *s)
{
	int32_t min = written_or(s->min_jobs, 0), max = written_or(s->max_jobs, DEFAULT_MAX_JOBS);

	return s->max_jobs == INT32_UNSET || min > max ? max : max - min;
}

struct workload *scaledjob_workload(const struct scaledjob *sj)
{
	const char *text = sj->spec.template_text;
	json_t *spec = text != NULL ? json_parse(text, strlen(text), NULL) : NULL;
	struct workload *w;

	if (spec == NULL)
		return NULL;
	w = workload_decode_template(&sj->meta, spec);
	json_decref(spec);
	return w;
}
