/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of a jobTargetRef that every API server refuses in a Job, but accepts in a ScaledJob,
 * whose schema does not cover it.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "decide/validate/validate.h"

#define JOB_TARGET "spec.jobTargetRef."
#define JOB_POD    JOB_TARGET "template.spec."

struct told {
	void (*on_fault)(void *arg, const struct err *err);
	void *arg;
};

static void __attribute__((format(printf, 2, 3))) tell(const struct told *t, const char *fmt, ...)
{
	struct err err;
	va_list ap;

	va_start(ap, fmt);
	err_vset(&err, ERR_INVALID, fmt, ap);
	va_end(ap);
	t->on_fault(t->arg, &err);
}

static void judge_restart_policy(const struct told *t, const json_t *pod)
{
	const char *policy = json_str_or_empty(pod, "restartPolicy");

	if (*policy && strcmp(policy, "Never") != 0 && strcmp(policy, "OnFailure") != 0)
		tell(t, JOB_POD "restartPolicy: \"%.100s\" is not for Jobs: Never or OnFailure", policy);
}

static void judge_numbers(const struct told *t, const json_t *job)
{
	static const char *const names[] = { "activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex",
		"completions", "maxFailedIndexes", "parallelism", "ttlSecondsAfterFinished" };

	for (size_t i = 0; i < MEM_COUNT(names); i++) {
		json_int_t value = json_integer_value(json_object_get(job, names[i]));

		if (value < 0)
			tell(t, JOB_TARGET "%s: %lld is too small: at least 0", names[i], (long long)value);
	}
}

/* The API server gives each Job its own selector; a common one would match the Pods of all Jobs. */
static void judge_selector(const struct told *t, const json_t *job)
{
	if (json_object_size(json_object_get(job, "selector")) > 0 &&
		!json_is_true(json_object_get(job, "manualSelector")))
		tell(t, JOB_TARGET "selector: remove it: each Job is given one of its own");
}

/* Required in the Job already: a webhook that sets images in Pods is too late. */
static void judge_images(const struct told *t, const json_t *pod, const char *list)
{
	const json_t *container;
	size_t i;

	json_array_foreach(json_object_get(pod, list), i,
		container) if (json_is_object(container) && !*json_str_or_empty(container, "image"))
		tell(t, JOB_POD "%s[%zu].image: missing: a Job needs an image for each container", list, i);
}

void validate_jobs_of(const struct scaledjob *sj, void (*on_fault)(void *arg, const struct err *err), void *arg)
{
	const char *text = sj->spec.template_text;
	json_t *job = text ? json_parse(text, strlen(text), NULL) : NULL;
	const json_t *pod = json_object_get(json_object_get(job, "template"), "spec");
	struct told t = { on_fault, arg };

	judge_restart_policy(&t, pod);
	judge_numbers(&t, job);
	judge_selector(&t, job);
	judge_images(&t, pod, "containers");
	judge_images(&t, pod, "initContainers");
	json_decref(job);
}
