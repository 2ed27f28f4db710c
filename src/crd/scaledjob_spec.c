/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaledjob_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/textlist.h"
#include "crd/optional.h"
#include "crd/shape.h"

/*
 * Like json_get_string, but an empty text counts as absent: for KEDA "" is the default in all these
 * fields.
 */
static int get_word(const struct json_at *at, const char *key, char **out, struct err *err)
{
	if (json_get_string(at, key, out, err) < 0)
		return -1;
	if (*out != NULL && **out == '\0')
		mem_free_ptr(out);
	return 0;
}

/*
 * fingerprint_fast suffices: it depends on the text alone, so other versions and replicas compute
 * the same. Two templates with the same fingerprint, made on purpose, only keep their author's own
 * Jobs from being replaced.
 */
static int decode_template(const struct json_at *spec, struct scaledjob_spec *out, struct err *err)
{
	struct json_at at = json_field(spec, "jobTargetRef");
	char *text;
	size_t size;

	if (at.value == NULL)
		return 0; /* decide/validate reports it, in KEDA's words */
	if (shape_object(&at, err) < 0)
		return -1;
	text = json_dumps(at.value, JSON_SORT_KEYS | JSON_COMPACT);
	size = strlen(text);
	if (size > SCALEDJOB_TEMPLATE_BYTES_MAX) {
		free(text);
		return shape_wrong(&at, err, "too long: %zu bytes, at most %d", size, SCALEDJOB_TEMPLATE_BYTES_MAX);
	}
	out->template_text = text;
	snprintf(out->template_print, sizeof(out->template_print), "%016" PRIx64, fingerprint_fast(text, size));
	return 0;
}

static int decode_numbers(const struct json_at *spec, struct scaledjob_spec *out, struct err *err)
{
	const struct optional_field fields[] = {
		{ "pollingInterval", &out->polling_interval_s },
		{ "successfulJobsHistoryLimit", &out->successful_history },
		{ "failedJobsHistoryLimit", &out->failed_history },
		{ "minReplicaCount", &out->min_jobs },
		{ "maxReplicaCount", &out->max_jobs },
	};

	return optional_int32s(spec, fields, MEM_COUNT(fields), err);
}

static int decode_env_source(const struct json_at *spec, struct scaledjob_spec *out, struct err *err)
{
	return get_word(spec, "envSourceContainerName", &out->env_source_container, err);
}

/* The old field takes precedence (doc/keda.md 1.3). */
static int decode_rollout(const struct json_at *spec, struct scaledjob_spec *out, struct err *err)
{
	struct json_at at = json_field(spec, "rollout");
	int rc = get_word(spec, "rolloutStrategy", &out->rollout_strategy, err);
	MEM_AUTO char *strategy = NULL;

	if (rc < 0)
		err = NULL; /* only the first error is reported */
	if (shape_object(&at, err) < 0)
		return -1;
	if (get_word(&at, "strategy", &strategy, err) < 0 ||
		get_word(&at, "propagationPolicy", &out->propagation_policy, err) < 0)
		rc = -1;
	if (out->rollout_strategy == NULL) {
		out->rollout_strategy = strategy;
		strategy = NULL;
	}
	return rc;
}

static int decode_pending_conditions(const struct json_at *strategy, struct scaledjob_spec *out, struct err *err)
{
	struct json_at list = json_field(strategy, "pendingPodConditions");
	size_t count;

	if (shape_array(&list, SCALEDJOB_CONDITIONS_MAX, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct json_at element = json_element(&list, i);
		const char *text = json_plain_text(element.value);

		if (text == NULL)
			return json_wrong(&element, err, "must be a string, the type of a Pod's condition");
		textlist_add(&out->pending_conditions, &out->pending_condition_count, text);
	}
	return 0;
}

static int decode_strategy(const struct json_at *spec, struct scaledjob_spec *out, struct err *err)
{
	struct json_at at = json_field(spec, "scalingStrategy");

	if (shape_object(&at, err) < 0 || get_word(&at, "strategy", &out->strategy, err) < 0 ||
		optional_int32(&at, "customScalingQueueLengthDeduction", &out->queue_length_deduction, err) < 0 ||
		get_word(&at, "customScalingRunningJobPercentage", &out->running_job_percentage, err) < 0 ||
		get_word(&at, "multipleScalersCalculation", &out->calculation, err) < 0)
		return -1;
	return decode_pending_conditions(&at, out, err);
}

static int decode_triggers(const struct json_at *spec, struct scaledjob_spec *out, struct err *err)
{
	return trigger_decode_list(spec, &out->triggers, &out->trigger_count, err);
}

/* ---- The whole ---- */

typedef int (*decode_fn)(const struct json_at *spec, struct scaledjob_spec *out, struct err *err);

void scaledjob_spec_decode(const struct json_at *at, struct scaledjob_spec *out, struct err *err)
{
	static const decode_fn parts[] = { decode_template, decode_numbers, decode_rollout, decode_env_source,
		decode_strategy, decode_triggers };
	int rc = 0;

	memset(out, 0, sizeof(*out));
	out->polling_interval_s = out->successful_history = out->failed_history = INT32_UNSET;
	out->min_jobs = out->max_jobs = out->queue_length_deduction = INT32_UNSET;
	if (shape_required_object(at, err) < 0)
		return;
	for (size_t i = 0; i < MEM_COUNT(parts); i++)
		if (parts[i](at, out, rc == 0 ? err : NULL) < 0)
			rc = -1;
}

void scaledjob_spec_done(struct scaledjob_spec *s)
{
	free(s->template_text);
	free(s->rollout_strategy);
	free(s->propagation_policy);
	free(s->env_source_container);
	free(s->strategy);
	free(s->running_job_percentage);
	textlist_done(&s->pending_conditions, &s->pending_condition_count);
	free(s->calculation);
	trigger_free_list(s->triggers, s->trigger_count);
	memset(s, 0, sizeof(*s));
}
