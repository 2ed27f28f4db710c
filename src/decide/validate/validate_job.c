/* SPDX-License-Identifier: Apache-2.0 */
/* Rules and warnings for a ScaledJob alone (doc/keda.md 4.1, 7.2). */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "decide/annotations.h"
#include "decide/jobs/jobs_parts.h"
#include "decide/validate/validate.h"
#include "decide/validate/validate_parts.h"

/* ---- The rules ---- */

static int validate_present(const struct scaled *of, struct err *err)
{
	if (of->sj->spec.template_text)
		return 0;
	return err_set(err, ERR_INVALID,
		"spec.jobTargetRef: missing: say what each Job looks like, as the spec of a batch/v1 Job does");
}

/* Only what kscaled itself needs: the rest depends on the API server's version. */
static int validate_template(const struct scaled *of, struct err *err)
{
	const char *text = of->sj->spec.template_text;
	json_t *spec = text ? json_parse(text, strlen(text), err) : NULL;
	const json_t *template = json_object_get(spec, "template");
	int rc = text && !spec ? -1 : 0;

	if (spec && (!template || json_is_null(template)))
		rc = err_set(err, ERR_INVALID,
			"spec.jobTargetRef.template: missing: a Job needs the template of its Pods");
	else if (spec && !json_is_object(template))
		rc = err_set(err, ERR_INVALID,
			"spec.jobTargetRef.template: must be an object: the template of the Job's Pods");
	json_decref(spec);
	return rc;
}

/*
 * KEDA claims to ignore them, but refuses them, too: their scaler does without a metricType, the
 * rule below does with one.
 */
static int validate_types(const struct scaled *of, struct err *err)
{
	for (size_t i = 0; i < of->trigger_count; i++) {
		const char *type = of->triggers[i].type;

		if (validate_is_resource_type(type))
			return err_set(err, ERR_INVALID,
				"spec.triggers[%zu].type: \"%s\": remove this trigger: it is read by a "
				"HorizontalPodAutoscaler, and a ScaledJob has none",
				i, type);
	}
	return 0;
}

static int validate_metric_types(const struct scaled *of, struct err *err)
{
	for (size_t i = 0; i < of->trigger_count; i++) {
		const char *type = validate_is_resource_type(of->triggers[i].type) ? NULL : of->triggers[i].metric_type;

		if (type && *type)
			return err_set(err, ERR_INVALID,
				"spec.triggers[%zu].metricType: \"%s\": remove it: a ScaledJob always compares what is "
				"to be done with the work for one Job (AverageValue)",
				i, type);
	}
	return 0;
}

static int validate_counts(const struct scaled *of, struct err *err)
{
	const struct validate_bound bounds[] = {
		{ "spec.minReplicaCount", of->sj->spec.min_jobs, 0 },
		{ "spec.maxReplicaCount", of->sj->spec.max_jobs, 1 },
	};

	return validate_bounds(bounds, MEM_COUNT(bounds), err);
}

static int validate_history(const struct scaled *of, struct err *err)
{
	const struct validate_bound bounds[] = {
		{ "spec.successfulJobsHistoryLimit", of->sj->spec.successful_history, 0 },
		{ "spec.failedJobsHistoryLimit", of->sj->spec.failed_history, 0 },
	};

	return validate_bounds(bounds, MEM_COUNT(bounds), err);
}

static int validate_periods(const struct scaled *of, struct err *err)
{
	const struct validate_bound bounds[] = { { "spec.pollingInterval", of->sj->spec.polling_interval_s, 1 } };

	return validate_bounds(bounds, MEM_COUNT(bounds), err);
}

static int validate_annotations(const struct scaled *of, struct err *err)
{
	bool paused;

	return annotations_read_paused(&of->meta->annotations, &paused, err);
}

const struct validate_check validate_job_checks[] = {
	{ validate_decoded, "incorrect-spec", NULL, VALIDATE_ALWAYS },
	{ validate_present, "missing-job", "ScaledJob.spec.jobTargetRef not found", VALIDATE_ALWAYS },
	{ validate_template, "incorrect-job", NULL, VALIDATE_ALWAYS },
	/* KEDA's reconciler fails on them when it builds the scalers */
	{ validate_types, "incorrect-type", "Failed to ensure ScaledJob is correctly created", VALIDATE_RECONCILE },
	/* before validate_triggers, which would demand another metricType */
	{ validate_metric_types, "incorrect-metric-type", "Cannot set metricType in ScaledJob triggers",
		VALIDATE_RECONCILE },
	{ validate_triggers, "incorrect-triggers", "ScaledJob doesn't have correct triggers specification",
		VALIDATE_ALWAYS },
	{ validate_name, "name-too-long", NULL, VALIDATE_ALWAYS },
	{ validate_counts, "incorrect-replicas", NULL, VALIDATE_ALWAYS },
	{ validate_history, "incorrect-history", NULL, VALIDATE_ALWAYS },
	{ validate_periods, "incorrect-periods", NULL, VALIDATE_ALWAYS },
	{ validate_annotations, "incorrect-annotations", NULL, VALIDATE_ALWAYS },
	{ NULL, NULL, NULL, VALIDATE_ALWAYS },
};

/* ---- Warnings ---- */

static bool says_custom(const struct scaledjob *sj)
{
	return sj->spec.strategy && strcmp(sj->spec.strategy, "custom") == 0;
}

static bool has_metric_type(const struct scaledjob *sj)
{
	const struct scaled of = scaled_of_job(sj);

	return validate_metric_types(&of, NULL) < 0;
}

static bool has_cached_metrics(const struct scaledjob *sj)
{
	bool cached = false;

	for (size_t i = 0; i < sj->spec.trigger_count; i++)
		cached = cached || sj->spec.triggers[i].use_cached_metrics;
	return cached;
}

static bool has_resource_type(const struct scaledjob *sj)
{
	const struct scaled of = scaled_of_job(sj);

	return validate_types(&of, NULL) < 0;
}

static bool min_above_max(const struct scaledjob *sj)
{
	return sj->spec.min_jobs != INT32_UNSET && sj->spec.max_jobs != INT32_UNSET &&
		sj->spec.min_jobs > sj->spec.max_jobs;
}

static bool has_idle_custom(const struct scaledjob *sj)
{
	return !says_custom(sj) && (sj->spec.queue_length_deduction != INT32_UNSET || sj->spec.running_job_percentage);
}

static bool has_broken_custom(const struct scaledjob *sj)
{
	return says_custom(sj) && jobs_strategy(&sj->spec) != JOBS_STRATEGY_CUSTOM;
}

static bool has_idle_conditions(const struct scaledjob *sj)
{
	return sj->spec.pending_condition_count > 0 && !jobs_needs_pods(&sj->spec);
}

/*
 * Whether the schema does not allow the word. That is possible only where the schema is looser;
 * then it has the same effect as in KEDA.
 */
static bool is_unknown(const char *word, const char *const *known)
{
	return word && !text_is_one_of(word, known);
}

static bool has_unknown_strategy(const struct scaledjob *sj)
{
	return is_unknown(sj->spec.strategy, jobs_strategies);
}

static bool has_unknown_calculation(const struct scaledjob *sj)
{
	return is_unknown(sj->spec.calculation, jobs_calculations);
}

static bool has_unknown_rollout(const struct scaledjob *sj)
{
	static const char *const known[] = { "gradual", "immediate", NULL };

	return is_unknown(sj->spec.rollout_strategy, known);
}

static bool has_unknown_propagation(const struct scaledjob *sj)
{
	static const char *const known[] = { "foreground", "background", NULL };

	return is_unknown(sj->spec.propagation_policy, known);
}

static const struct {
	bool (*holds)(const struct scaledjob *sj);
	const char *text;
} surprises[] = {
	{ has_metric_type,
		"spec.triggers: metricType cannot be set in a ScaledJob: nothing is scaled until it is removed" },
	{ has_resource_type,
		"spec.triggers: cpu and memory cannot be used in a ScaledJob: nothing is scaled until they are "
		"removed" },
	{ has_cached_metrics, "spec.triggers: useCachedMetrics has no effect in a ScaledJob" },
	{ min_above_max,
		"spec.minReplicaCount is more than maxReplicaCount: it is taken as maxReplicaCount, so many Jobs run "
		"always, and as many more while there is work" },
	{ has_unknown_strategy,
		"spec.scalingStrategy.strategy must be default, custom, accurate or eager: it is taken as "
		"default" },
	{ has_idle_custom,
		"spec.scalingStrategy: customScalingQueueLengthDeduction and customScalingRunningJobPercentage have no "
		"effect without strategy custom" },
	{ has_broken_custom,
		"spec.scalingStrategy: customScalingRunningJobPercentage is not a number, such as \"0.5\": without one "
		"strategy custom is taken as default" },
	{ has_idle_conditions,
		"spec.scalingStrategy.pendingPodConditions has no effect: only the strategies accurate and eager look "
		"at Pods" },
	{ has_unknown_calculation,
		"spec.scalingStrategy.multipleScalersCalculation must be max, min, avg or sum: it is taken as "
		"max" },
	{ has_unknown_rollout,
		"spec.rollout.strategy (or rolloutStrategy) is neither gradual nor immediate: it is taken as "
		"immediate" },
	{ has_unknown_propagation,
		"spec.rollout.propagationPolicy is neither background nor foreground: it is taken as background" },
};

static const struct {
	const char *annotation, *text;
} idle_annotations[] = {
	{ ANNOTATION_PAUSED_REPLICAS,
		"metadata.annotations[" ANNOTATION_PAUSED_REPLICAS "] has no effect on a ScaledJob: " ANNOTATION_PAUSED
		" pauses it" },
	{ ANNOTATION_PAUSED_IN,
		"metadata.annotations[" ANNOTATION_PAUSED_IN
		"] has no effect on a ScaledJob: its running Jobs are never ended for having too little to do" },
	{ ANNOTATION_PAUSED_OUT,
		"metadata.annotations[" ANNOTATION_PAUSED_OUT "] has no effect on a ScaledJob: " ANNOTATION_PAUSED
		" pauses it" },
	{ ANNOTATION_FORCE,
		"metadata.annotations[" ANNOTATION_FORCE
		"] has no effect on a ScaledJob: minReplicaCount keeps Jobs without work" },
};

#define SURPRISES        MEM_COUNT(surprises)
#define IDLE_ANNOTATIONS MEM_COUNT(idle_annotations)
_Static_assert(SURPRISES + IDLE_ANNOTATIONS <= VALIDATE_JOB_WARNINGS_MAX, "the caller's list has room for all of them");

size_t validate_job_warnings(const struct scaledjob *sj, const char *out[VALIDATE_JOB_WARNINGS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < SURPRISES; i++)
		if (surprises[i].holds(sj))
			out[count++] = surprises[i].text;
	for (size_t i = 0; i < IDLE_ANNOTATIONS; i++)
		if (strmap_get(&sj->meta.annotations, idle_annotations[i].annotation))
			out[count++] = idle_annotations[i].text;
	return count;
}
