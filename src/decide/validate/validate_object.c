/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for a ScaledObject alone. */
#include "decide/validate/validate.h"

#include <ctype.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/mem.h"
#include "decide/annotations.h"
#include "decide/validate/validate_parts.h"
#include "decide/verdict.h"

#define GROUP_VERSION_SIZE 254

/* ---- The target ---- */

static bool is_kind(const char *kind)
{
	if (!*kind || strlen(kind) > VALIDATE_LABEL_MAX)
		return false;
	for (; *kind; kind++)
		if (!isalnum((unsigned char)*kind))
			return false;
	return true;
}

static int validate_target(const struct scaled *of, struct err *err)
{
	const struct scaledobject_spec *s = &of->so->spec;
	char group[GROUP_VERSION_SIZE], version[GROUP_VERSION_SIZE];

	if (!s->target_name || !*s->target_name)
		return err_set(err, ERR_INVALID, "spec.scaleTargetRef.name: missing: name the workload to scale");
	if (!dnsname_is_subdomain(s->target_name, strlen(s->target_name)))
		return err_set(err, ERR_INVALID,
			"spec.scaleTargetRef.name: \"%s\" cannot be the name of a workload: lower case letters, "
			"digits, '-' and '.' are allowed",
			s->target_name);
	if (!is_kind(scaledobject_target_kind(s)))
		return err_set(err, ERR_INVALID, "spec.scaleTargetRef.kind: \"%s\" is not a kind, like Deployment",
			scaledobject_target_kind(s));
	return scaledobject_target_gv(s, group, version, sizeof(group), err);
}

/* ---- Numbers ---- */

static bool is_never_lower(const struct scaledobject_spec *s)
{
	return scaledobject_min(s) > 0 && s->idle_replicas == INT32_UNSET;
}

static int validate_periods(const struct scaled *of, struct err *err)
{
	const struct scaledobject_spec *s = &of->so->spec;
	/* Fields that only matter when scaling down are not checked otherwise. */
	const struct validate_bound bounds[] = {
		{ "spec.pollingInterval", s->polling_interval_s, 1 },
		{ "spec.initialCooldownPeriod", is_never_lower(s) ? INT32_UNSET : s->initial_cooldown_s, 0 },
		{ "spec.cooldownPeriod", is_never_lower(s) ? INT32_UNSET : s->cooldown_s, 0 },
	};

	return validate_bounds(bounds, MEM_COUNT(bounds), err);
}

static int validate_replicas(const struct scaled *of, struct err *err)
{
	const struct scaledobject_spec *s = &of->so->spec;
	int32_t min = scaledobject_min(s), max = scaledobject_hpa_max(s);
	/*
	 * KEDA compares idle with the HPA's minimum if minReplicaCount is written, so idle 0 with
	 * an explicit minimum of 0 passes (doc/keda.md 2.1, step 7).
	 */
	int32_t min_for_idle = s->min_replicas == INT32_UNSET ? 0 : scaledobject_hpa_min(s);

	const struct validate_bound bounds[] = {
		{ "spec.idleReplicaCount", s->idle_replicas, 0 },
		{ "spec.minReplicaCount", s->min_replicas, 0 },
		{ "spec.maxReplicaCount", s->max_replicas, 1 },
	};

	if (validate_bounds(bounds, MEM_COUNT(bounds), err) < 0)
		return -1;
	if (min > max)
		return err_set(err, ERR_INVALID,
			"spec.minReplicaCount: %d is more than maxReplicaCount %d%s: lower one or raise the other",
			(int)min, (int)max, s->max_replicas == INT32_UNSET ? " (the default)" : "");
	if (s->idle_replicas != INT32_UNSET && s->idle_replicas >= min_for_idle)
		return err_set(err, ERR_INVALID, "spec.idleReplicaCount: %d must be less than minReplicaCount %d%s",
			(int)s->idle_replicas, (int)min, s->min_replicas == INT32_UNSET ? " (the default)" : "");
	return 0;
}

/* ---- Names ---- */

static int validate_hpa_name(const struct scaled *of, struct err *err)
{
	char hpa_name[512];

	scaledobject_hpa_name(of->so, hpa_name, sizeof(hpa_name));
	if (strlen(hpa_name) > VALIDATE_LABEL_MAX)
		return err_set(err, ERR_INVALID,
			"the name of the HorizontalPodAutoscaler \"%s\" has %zu characters: at most %d: set "
			"spec.advanced.horizontalPodAutoscalerConfig.name or shorten metadata.name",
			hpa_name, strlen(hpa_name), VALIDATE_LABEL_MAX);
	return 0;
}

static int validate_hpa_name_letters(const struct scaled *of, struct err *err)
{
	char hpa_name[512];

	scaledobject_hpa_name(of->so, hpa_name, sizeof(hpa_name));
	if (!dnsname_is_subdomain(hpa_name, strlen(hpa_name)))
		return err_set(err, ERR_INVALID,
			"spec.advanced.horizontalPodAutoscalerConfig.name: \"%s\" cannot be the name of an object: "
			"lower case letters, digits, '-' and '.' are allowed",
			hpa_name);
	return 0;
}

/* ---- The rules ---- */

static int validate_annotations(const struct scaled *of, struct err *err)
{
	struct annotations annotations;

	return annotations_read(of->so, &annotations, err);
}

const struct validate_check validate_object_checks[] = {
	{ validate_decoded, "incorrect-spec", NULL, VALIDATE_ALWAYS },
	{ validate_target, "incorrect-target", "ScaledObject doesn't have correct scaleTargetRef specification",
		VALIDATE_ALWAYS },
	{ validate_replicas, "incorrect-replicas",
		"ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification", VALIDATE_ALWAYS },
	{ validate_triggers, "incorrect-triggers", "ScaledObject doesn't have correct triggers specification",
		VALIDATE_ALWAYS },
	{ validate_name, "name-too-long", NULL, VALIDATE_ALWAYS },
	{ validate_hpa_name, "hpa-name-too-long", NULL, VALIDATE_NEW },
	{ validate_hpa_name_letters, "incorrect-hpa-name", NULL, VALIDATE_ALWAYS },
	{ validate_periods, "incorrect-periods", NULL, VALIDATE_ALWAYS },
	{ validate_annotations, "incorrect-annotations", NULL, VALIDATE_ALWAYS },
	{ validate_fallback, "incorrect-fallback", NULL, VALIDATE_ALWAYS },
	{ validate_fallback_effect, "incorrect-fallback", NULL, VALIDATE_NEW },
	{ validate_modifiers, "scaling-modifiers", NULL, VALIDATE_ALWAYS },
	{ validate_modifiers_fallback, "scaling-modifiers-fallback", NULL, VALIDATE_ALWAYS },
	{ NULL, NULL, NULL, VALIDATE_ALWAYS },
};

static bool is_cron_by_value(const struct trigger *t)
{
	return t->type && strcmp(t->type, "cron") == 0 && t->metric_type && strcmp(t->metric_type, "Value") == 0;
}

size_t validate_warnings(const struct scaledobject *so, const char *out[VALIDATE_WARNINGS_MAX])
{
	const struct scaledobject_spec *s = &so->spec;
	bool idle_set = s->idle_replicas != INT32_UNSET, never_lower = is_never_lower(s);
	bool cached = false, multiplies = false;
	size_t count = 0;

	for (size_t i = 0; i < s->trigger_count; i++) {
		cached = cached || s->triggers[i].use_cached_metrics;
		multiplies = multiplies || is_cron_by_value(&s->triggers[i]);
	}
	if (s->polling_interval_s != INT32_UNSET && never_lower && !cached)
		out[count++] = "spec.pollingInterval has no effect on scaling: it matters when minReplicaCount or "
			       "idleReplicaCount is 0, or a trigger has useCachedMetrics";
	if (s->cooldown_s != INT32_UNSET && never_lower)
		out[count++] =
			"spec.cooldownPeriod has no effect: it matters when minReplicaCount or idleReplicaCount is 0";
	if (idle_set && s->idle_replicas > 0)
		out[count++] = "spec.idleReplicaCount of more than 0 does not hold: the HPA goes on and raises the "
			       "workload to minReplicaCount again, and so on in turns: only 0 stops it";
	if (multiplies && !verdict_has_composite(s))
		out[count++] = "spec.triggers: metricType Value of a cron trigger makes the HPA multiply the replicas "
			       "that there are by desiredReplicas, again and again up to maxReplicaCount: leave it out";
	return count;
}
