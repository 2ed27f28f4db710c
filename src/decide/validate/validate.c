/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/validate/validate.h"

#include <ctype.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/mem.h"
#include "decide/annotations.h"
#include "decide/validate/validate_parts.h"
#include "decide/verdict.h"

#define NAME_MAX_LABEL     63 /* names that become label values (keda-core.md 7.7) */
#define GROUP_VERSION_SIZE 254

/* ---- The target ---- */

static bool is_kind(const char *kind)
{
	if (!*kind || strlen(kind) > NAME_MAX_LABEL)
		return false;
	for (; *kind; kind++)
		if (!isalnum((unsigned char)*kind))
			return false;
	return true;
}

static int validate_target(const struct scaledobject *so, struct err *err)
{
	const struct scaledobject_spec *s = &so->spec;
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

int validate_bounds(const struct validate_bound *bounds, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (bounds[i].value != INT32_UNSET && bounds[i].value < bounds[i].least)
			return err_set(err, ERR_INVALID, "%s: %d is too small: at least %d", bounds[i].field,
				(int)bounds[i].value, (int)bounds[i].least);
	return 0;
}

static int validate_periods(const struct scaledobject *so, struct err *err)
{
	const struct scaledobject_spec *s = &so->spec;
	const struct validate_bound bounds[] = {
		{ "spec.pollingInterval", s->polling_interval_s, 1 },
		{ "spec.initialCooldownPeriod", s->initial_cooldown_s, 0 },
		{ "spec.cooldownPeriod", s->cooldown_s, 0 },
	};

	return validate_bounds(bounds, MEM_COUNT(bounds), err);
}

static int validate_replicas(const struct scaledobject *so, struct err *err)
{
	const struct scaledobject_spec *s = &so->spec;
	int32_t min = scaledobject_min(s), max = scaledobject_hpa_max(s);
	/*
	 * KEDA compares idle with the HPA's minimum when minReplicaCount is written, so that idle 0
	 * beside an explicit minimum of 0 passes (keda-core.md 2.3 row 7).
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

int validate_label_name(const char *name, struct err *err)
{
	size_t len = strlen(name);

	if (len <= NAME_MAX_LABEL)
		return 0;
	return err_set(err, ERR_INVALID,
		"metadata.name: \"%s\" has %zu characters: at most %d, as it becomes the value of a label: create it "
		"anew under a shorter name",
		name, len, NAME_MAX_LABEL);
}

static int validate_name(const struct scaledobject *so, struct err *err)
{
	return validate_label_name(so->meta.name, err);
}

static int validate_hpa_name(const struct scaledobject *so, struct err *err)
{
	char hpa_name[512];

	scaledobject_hpa_name(so, hpa_name, sizeof(hpa_name));
	if (strlen(hpa_name) > NAME_MAX_LABEL)
		return err_set(err, ERR_INVALID,
			"the name of the HorizontalPodAutoscaler \"%s\" has %zu characters: at most %d: set "
			"spec.advanced.horizontalPodAutoscalerConfig.name or shorten metadata.name",
			hpa_name, strlen(hpa_name), NAME_MAX_LABEL);
	return 0;
}

static int validate_hpa_name_letters(const struct scaledobject *so, struct err *err)
{
	char hpa_name[512];

	scaledobject_hpa_name(so, hpa_name, sizeof(hpa_name));
	if (!dnsname_is_subdomain(hpa_name, strlen(hpa_name)))
		return err_set(err, ERR_INVALID,
			"spec.advanced.horizontalPodAutoscalerConfig.name: \"%s\" cannot be the name of an object: "
			"lower case letters, digits, '-' and '.' are allowed",
			hpa_name);
	return 0;
}

/* ---- All of it ---- */

static int validate_decoded(const struct scaledobject *so, struct err *err)
{
	if (!so->spec_err)
		return 0;
	if (err)
		*err = *so->spec_err;
	return -1;
}

static int validate_annotations(const struct scaledobject *so, struct err *err)
{
	struct annotations annotations;

	return annotations_read(so, &annotations, err);
}

static int validate_spec_triggers(const struct scaledobject *so, struct err *err)
{
	return validate_triggers("ScaledObject", so->spec.triggers, so->spec.trigger_count, err);
}

/*
 * The order in which an object is looked at: the first fault is the one that is told. step: what
 * KEDA's reconciler puts before the cause (keda-core.md 2.3); NULL where it has no such step.
 * reason: the label of keda_webhook_scaled_object_validation_errors_total, KEDA's where it has one
 * (keda-core.md 7.7).
 */
static const struct {
	int (*check)(const struct scaledobject *so, struct err *err);
	const char *reason, *step;
} checks[] = {
	{ validate_decoded, "incorrect-spec", NULL },
	{ validate_target, "incorrect-target", "ScaledObject doesn't have correct scaleTargetRef specification" },
	{ validate_replicas, "incorrect-replicas",
		"ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification" },
	{ validate_spec_triggers, "incorrect-triggers", "ScaledObject doesn't have correct triggers specification" },
	{ validate_name, "name-too-long", NULL },
	{ validate_hpa_name, "hpa-name-too-long", NULL },
	{ validate_hpa_name_letters, "incorrect-hpa-name", NULL },
	{ validate_periods, "incorrect-periods", NULL },
	{ validate_annotations, "incorrect-annotations", NULL },
	{ validate_fallback, "incorrect-fallback", NULL },
	{ validate_modifiers, "scaling-modifiers", NULL },
	{ validate_modifiers_fallback, "scaling-modifiers-fallback", NULL },
};

/* The first check that fails; MEM_COUNT(checks): none does. */
static size_t first_failing(const struct scaledobject *so, struct err *err)
{
	size_t i = 0;

	while (i < MEM_COUNT(checks) && checks[i].check(so, err) == 0)
		i++;
	return i;
}

int validate_scaledobject(const struct scaledobject *so, const char **reason, struct err *err)
{
	size_t i = first_failing(so, err);

	if (reason)
		*reason = i < MEM_COUNT(checks) ? checks[i].reason : NULL;
	return i < MEM_COUNT(checks) ? -1 : 0;
}

void validate_every(const struct scaledobject *so, void (*on_fault)(void *arg, const struct err *err), void *arg)
{
	struct err err = { 0 };

	for (size_t i = 0; i < MEM_COUNT(checks); i++)
		if (checks[i].check(so, &err) < 0) {
			on_fault(arg, &err);
			if (checks[i].check == validate_decoded)
				return;
		}
}

int validate_for_reconcile(const struct scaledobject *so, struct err *err)
{
	size_t i = first_failing(so, err);

	if (i == MEM_COUNT(checks))
		return 0;
	return checks[i].step ? err_wrap(err, "%s", checks[i].step) : -1;
}

static bool is_cron_by_value(const struct trigger *t)
{
	return t->type && strcmp(t->type, "cron") == 0 && t->metric_type && strcmp(t->metric_type, "Value") == 0;
}

size_t validate_warnings(const struct scaledobject *so, const char *out[VALIDATE_WARNINGS_MAX])
{
	const struct scaledobject_spec *s = &so->spec;
	bool idle_set = s->idle_replicas != INT32_UNSET, never_lower = scaledobject_min(s) > 0 && !idle_set;
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
