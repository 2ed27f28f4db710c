/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/validate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LABEL 63      /* names that become label values (keda-core.md 7.7) */
#define NAME_MAX_SUBDOMAIN 253 /* RFC 1123 subdomain, Kubernetes' names */
#define GROUP_VERSION_SIZE 254

/* ---- The target ---- */

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* k8s.io/apimachinery IsDNS1123Subdomain. A name becomes part of a URL, so nothing else may pass. */
static bool is_subdomain(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > NAME_MAX_SUBDOMAIN)
		return false;
	for (size_t i = 0; i < len; i++) {
		char before = i == 0 ? '.' : name[i - 1], after = i + 1 == len ? '.' : name[i + 1];
		bool joint = name[i] == '-' || name[i] == '.';

		if (!is_lower_alnum(name[i]) && !(joint && before != '.' && after != '.'))
			return false;
	}
	return true;
}

static bool is_kind(const char *kind)
{
	if (*kind == '\0' || strlen(kind) > NAME_MAX_LABEL)
		return false;
	for (; *kind != '\0'; kind++)
		if (!isalnum((unsigned char)*kind))
			return false;
	return true;
}

static int validate_target(const struct scaledobject *so, struct err *err)
{
	const struct scaledobject_spec *s = &so->spec;
	char group[GROUP_VERSION_SIZE], version[GROUP_VERSION_SIZE];

	if (s->target_name == NULL || *s->target_name == '\0')
		return err_set(err, ERR_INVALID, "spec.scaleTargetRef.name: missing: name the workload to scale");
	if (!is_subdomain(s->target_name))
		return err_set(err, ERR_INVALID, "spec.scaleTargetRef.name: \"%s\" cannot be the name of a workload: lower case letters, digits, '-' and '.' are allowed", s->target_name);
	if (!is_kind(scaledobject_target_kind(s)))
		return err_set(err, ERR_INVALID, "spec.scaleTargetRef.kind: \"%s\" is not a kind, like Deployment", scaledobject_target_kind(s));
	return scaledobject_target_gv(s, group, version, sizeof(group), err);
}

/* ---- Numbers ---- */

static int check_least(const char *field, int32_t value, int32_t least, struct err *err)
{
	if (value == INT32_UNSET || value >= least)
		return 0;
	return err_set(err, ERR_INVALID, "%s: %d is too small: at least %d", field, (int)value, (int)least);
}

static int check_least_values(const struct scaledobject_spec *s, struct err *err)
{
	const struct { const char *field; int32_t value, least; } bounds[] = {
		{ "spec.pollingInterval", s->polling_interval_s, 1 },
		{ "spec.initialCooldownPeriod", s->initial_cooldown_s, 0 },
		{ "spec.cooldownPeriod", s->cooldown_s, 0 },
		{ "spec.idleReplicaCount", s->idle_replicas, 0 },
		{ "spec.minReplicaCount", s->min_replicas, 0 },
		{ "spec.maxReplicaCount", s->max_replicas, 1 },
		{ "spec.fallback.failureThreshold", s->fallback ? s->fallback->failure_threshold : 0, 0 },
		{ "spec.fallback.replicas", s->fallback ? s->fallback->replicas : 0, 0 },
	};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		if (check_least(bounds[i].field, bounds[i].value, bounds[i].least, err) < 0)
			return -1;
	return 0;
}

static int validate_replicas(const struct scaledobject *so, struct err *err)
{
	const struct scaledobject_spec *s = &so->spec;
	int32_t min = scaledobject_min(s), max = scaledobject_hpa_max(s);
	/* KEDA compares idle with the HPA's minimum when minReplicaCount is written, so that idle 0 beside an explicit minimum of 0 passes (keda-core.md 2.3 row 7). */
	int32_t min_for_idle = s->min_replicas == INT32_UNSET ? 0 : scaledobject_hpa_min(s);

	if (check_least_values(s, err) < 0)
		return -1;
	if (min > max)
		return err_set(err, ERR_INVALID, "spec.minReplicaCount: %d is more than maxReplicaCount %d%s: lower one or raise the other", (int)min, (int)max,
			       s->max_replicas == INT32_UNSET ? " (the default)" : "");
	if (s->idle_replicas != INT32_UNSET && s->idle_replicas >= min_for_idle)
		return err_set(err, ERR_INVALID, "spec.idleReplicaCount: %d must be less than minReplicaCount %d%s", (int)s->idle_replicas, (int)min,
			       s->min_replicas == INT32_UNSET ? " (the default)" : "");
	return 0;
}

/* ---- Triggers ---- */

static bool is_one_of(const char *text, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

static int check_trigger(const struct trigger *t, size_t index, struct err *err)
{
	static const char *const live_only[] = { "cpu", "memory", "cron", NULL };
	static const char *const resources[] = { "cpu", "memory", NULL };
	static const char *const metric_types[] = { "AverageValue", "Value", "Utilization", NULL };

	if (t->type == NULL || *t->type == '\0')
		return err_set(err, ERR_INVALID, "spec.triggers[%zu].type: missing: say what kind of source it is, like redis", index);
	if (t->use_cached_metrics && is_one_of(t->type, live_only))
		return err_set(err, ERR_INVALID, "spec.triggers[%zu].useCachedMetrics: property \"useCachedMetrics\" is not supported for %s scaler: remove it", index, t->type);
	if (t->metric_type == NULL || *t->metric_type == '\0')
		return 0;
	if (!is_one_of(t->metric_type, metric_types))
		return err_set(err, ERR_INVALID, "spec.triggers[%zu].metricType: \"%s\" is unknown: AverageValue, Value or, for cpu and memory, Utilization", index, t->metric_type);
	if (strcmp(t->metric_type, "Utilization") == 0 && !is_one_of(t->type, resources))
		return err_set(err, ERR_INVALID, "spec.triggers[%zu].metricType: Utilization is for cpu and memory only: %s needs AverageValue or Value", index, t->type);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct trigger *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int check_names_unique(const struct scaledobject_spec *s, struct err *err)
{
	const struct trigger *named[SCALEDOBJECT_TRIGGERS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < s->trigger_count && count < SCALEDOBJECT_TRIGGERS_MAX; i++)
		if (s->triggers[i].name != NULL && *s->triggers[i].name != '\0')
			named[count++] = &s->triggers[i];
	qsort(named, count, sizeof(named[0]), compare_names);
	for (size_t i = 1; i < count; i++)
		if (strcmp(named[i - 1]->name, named[i]->name) == 0)
			return err_set(err, ERR_INVALID, "spec.triggers: the name \"%s\" is used twice: each trigger needs a name of its own", named[i]->name);
	return 0;
}

static int validate_triggers(const struct scaledobject *so, struct err *err)
{
	const struct scaledobject_spec *s = &so->spec;

	if (s->trigger_count == 0)
		return err_set(err, ERR_INVALID, "spec.triggers: no triggers defined in the ScaledObject: at least one is needed");
	if (s->trigger_count > SCALEDOBJECT_TRIGGERS_MAX)
		return err_set(err, ERR_INVALID, "spec.triggers: %zu triggers are too many: at most %d", s->trigger_count, SCALEDOBJECT_TRIGGERS_MAX);
	for (size_t i = 0; i < s->trigger_count; i++)
		if (check_trigger(&s->triggers[i], i, err) < 0)
			return -1;
	return check_names_unique(s, err);
}

/* ---- Names ---- */

static int validate_names(const struct scaledobject *so, struct err *err)
{
	char hpa_name[512];

	if (strlen(so->meta.name) > NAME_MAX_LABEL)
		return err_set(err, ERR_INVALID, "metadata.name: \"%s\" has %zu characters: at most %d, as it becomes the value of a label", so->meta.name, strlen(so->meta.name), NAME_MAX_LABEL);
	scaledobject_hpa_name(so, hpa_name, sizeof(hpa_name));
	if (strlen(hpa_name) > NAME_MAX_LABEL)
		return err_set(err, ERR_INVALID, "the name of the HorizontalPodAutoscaler \"%s\" has %zu characters: at most %d: set spec.advanced.horizontalPodAutoscalerConfig.name or shorten metadata.name",
			       hpa_name, strlen(hpa_name), NAME_MAX_LABEL);
	if (!is_subdomain(hpa_name))
		return err_set(err, ERR_INVALID, "spec.advanced.horizontalPodAutoscalerConfig.name: \"%s\" cannot be the name of an object: lower case letters, digits, '-' and '.' are allowed", hpa_name);
	return 0;
}

/* ---- What this version does not do yet ---- */

static int refuse(struct err *err, const char *what, const char *hint)
{
	return err_set(err, ERR_INVALID, "%s is not supported by this version of kscaled: %s", what, hint);
}

/* Go's ParseBool; what it cannot read counts as true for KEDA (keda-core.md 1.5), so only a readable false is one. */
static bool is_false(const char *text)
{
	static const char *const words[] = { "0", "f", "F", "false", "FALSE", "False", NULL };

	return is_one_of(text, words);
}

static int check_annotations(const struct meta *meta, struct err *err)
{
	static const char family[] = "autoscaling.keda.sh/";
	char what[NAME_MAX_SUBDOMAIN * 2];

	for (size_t i = 0; i < meta->annotations.count; i++) {
		const struct strmap_pair *p = &meta->annotations.pairs[i];
		bool ours = strncmp(p->key, family, strlen(family)) == 0 || strcmp(p->key, "scaledobject.keda.sh/transfer-hpa-ownership") == 0;
		bool number = strcmp(p->key, "autoscaling.keda.sh/paused-replicas") == 0;

		if (!ours || (!number && is_false(p->value)))
			continue;
		snprintf(what, sizeof(what), "metadata.annotations[%.300s]", p->key);
		return refuse(err, what, "remove the annotation");
	}
	return 0;
}

static int check_trigger_supported(const struct trigger *t, size_t index, struct err *err)
{
	char what[64];

	if (t->use_cached_metrics) {
		snprintf(what, sizeof(what), "spec.triggers[%zu].useCachedMetrics", index);
		return refuse(err, what, "remove it (readings are shared between all who ask anyway)");
	}
	if (t->auth_name != NULL) {
		snprintf(what, sizeof(what), "spec.triggers[%zu].authenticationRef", index);
		return refuse(err, what, "give the credentials by ...FromEnv from plain values of the workload's environment");
	}
	return 0;
}

static int check_target_supported(const struct scaledobject_spec *s, struct err *err)
{
	static const char *const kinds[] = { "Deployment", "StatefulSet", NULL };
	char group[GROUP_VERSION_SIZE], version[GROUP_VERSION_SIZE];
	const char *kind = scaledobject_target_kind(s);

	if (scaledobject_target_gv(s, group, version, sizeof(group), err) < 0)
		return -1;
	if (strcmp(group, "apps") == 0 && strcmp(version, "v1") == 0 && is_one_of(kind, kinds))
		return 0;
	return err_set(err, ERR_INVALID, "spec.scaleTargetRef: %s%s%s %s is not supported by this version of kscaled: apps/v1 Deployment and StatefulSet are", group, *group ? "/" : "", version, kind);
}

int validate_supported(const struct scaledobject *so, struct err *err)
{
	const struct scaledobject_spec *s = &so->spec;

	if (check_target_supported(s, err) < 0)
		return -1;
	if (s->fallback != NULL)
		return refuse(err, "spec.fallback", "remove it (while a trigger fails, nothing is scaled in)");
	if (s->modifiers != NULL)
		return refuse(err, "spec.advanced.scalingModifiers", "remove it");
	for (size_t i = 0; i < s->trigger_count; i++)
		if (check_trigger_supported(&s->triggers[i], i, err) < 0)
			return -1;
	return check_annotations(&so->meta, err);
}

/* ---- All of it ---- */

static int validate_decoded(const struct scaledobject *so, struct err *err)
{
	if (so->spec_err.kind == ERR_NONE)
		return 0;
	if (err != NULL)
		*err = so->spec_err;
	return -1;
}

typedef int (*check_fn)(const struct scaledobject *so, struct err *err);

/* KEDA's reconciler puts a step's text before the cause (keda-core.md 2.3); NULL: KEDA has no such step. */
static const struct { check_fn check; const char *step; } checks[] = {
	{ validate_decoded, NULL },
	{ validate_target, "ScaledObject doesn't have correct scaleTargetRef specification" },
	{ validate_replicas, "ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification" },
	{ validate_triggers, "ScaledObject doesn't have correct triggers specification" },
	{ validate_names, NULL },
};

int validate_scaledobject(const struct scaledobject *so, struct err *err)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].check(so, err) < 0)
			return -1;
	return 0;
}

int validate_for_reconcile(const struct scaledobject *so, struct err *err)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (checks[i].check(so, err) == 0)
			continue;
		return checks[i].step != NULL ? err_wrap(err, "%s", checks[i].step) : -1;
	}
	return validate_supported(so, err);
}
