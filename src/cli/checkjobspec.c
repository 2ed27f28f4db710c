/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/checkjobspec.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

#define JOB_TARGET "spec.jobTargetRef."
#define JOB_POD JOB_TARGET "template.spec."

static void judge_restart_policy(struct findings *f, const json_t *pod)
{
	const char *policy = json_str_or_empty(pod, "restartPolicy");

	if (*policy && strcmp(policy, "Never") != 0 && strcmp(policy, "OnFailure") != 0)
		findings_problem(f, JOB_POD "restartPolicy", "\"%.100s\" is not for Jobs: Never or OnFailure", policy);
}

static void judge_numbers(struct findings *f, const json_t *job)
{
	static const char *const names[] = { "activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "completions", "maxFailedIndexes", "parallelism", "ttlSecondsAfterFinished" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		json_int_t value = json_integer_value(json_object_get(job, names[i]));
		MEM_AUTO char *field = mem_printf(JOB_TARGET "%s", names[i]);

		if (value < 0)
			findings_problem(f, field, "%lld is too small: at least 0", (long long)value);
	}
}

/* A Job finds its Pods by labels that are made for it; a selector of all its siblings would take theirs. */
static void judge_selector(struct findings *f, const json_t *job)
{
	if (json_object_size(json_object_get(job, "selector")) > 0 && !json_is_true(json_object_get(job, "manualSelector")))
		findings_problem(f, JOB_TARGET "selector", "remove it: each Job is given one of its own");
}

/* An image that something puts into Pods as they are made comes too late for the Job. */
static void judge_images(struct findings *f, const json_t *pod, const char *list)
{
	const json_t *container;
	size_t i;

	json_array_foreach(json_object_get(pod, list), i, container) {
		MEM_AUTO char *field = mem_printf(JOB_POD "%s[%zu].image", list, i);

		if (json_is_object(container) && !*json_str_or_empty(container, "image"))
			findings_problem(f, field, "missing: a Job needs an image for each container");
	}
}

void checkjobspec_run(const json_t *job, struct findings *f)
{
	const json_t *pod = json_object_get(json_object_get(job, "template"), "spec");

	judge_restart_policy(f, pod);
	judge_numbers(f, job);
	judge_selector(f, job);
	judge_images(f, pod, "containers");
	judge_images(f, pod, "initContainers");
}
