/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for the triggers of one object; their parameters are validated by the scalers. */
#include <stdlib.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/text.h"
#include "decide/validate/validate.h"
#include "decide/validate/validate_parts.h"

static int check_metric_type(const struct trigger *t, size_t index, struct err *err)
{
	static const char *const metric_types[] = { "AverageValue", "Value", "Utilization", NULL };

	if (!t->metric_type || !*t->metric_type)
		return 0;
	if (!text_is_one_of(t->metric_type, metric_types))
		return err_set(err, ERR_INVALID,
			"spec.triggers[%zu].metricType: \"%s\" is unknown: AverageValue, Value or, for cpu and memory, "
			"Utilization",
			index, t->metric_type);
	if (strcmp(t->metric_type, "Utilization") == 0 && !validate_is_resource_type(t->type))
		return err_set(err, ERR_INVALID,
			"spec.triggers[%zu].metricType: Utilization is for cpu and memory only: %s needs AverageValue "
			"or Value",
			index, t->type);
	return 0;
}

static int check_authentication(const struct trigger *t, size_t index, struct err *err)
{
	static const char *const kinds[] = { "", "TriggerAuthentication", "ClusterTriggerAuthentication", NULL };

	if (!t->auth_name)
		return 0;
	if (t->auth_kind && !text_is_one_of(t->auth_kind, kinds))
		return err_set(err, ERR_INVALID,
			"spec.triggers[%zu].authenticationRef.kind: \"%s\" is unknown: TriggerAuthentication or "
			"ClusterTriggerAuthentication",
			index, t->auth_kind);
	if (!dnsname_is_subdomain(t->auth_name, strlen(t->auth_name)))
		return err_set(err, ERR_INVALID,
			"spec.triggers[%zu].authenticationRef.name: \"%s\" cannot be the name of an object: lower case "
			"letters, digits, '-' and '.' are allowed",
			index, t->auth_name);
	return 0;
}

static int check_trigger(const struct trigger *t, size_t index, struct err *err)
{
	static const char *const live_only[] = { "cpu", "memory", "cron", NULL };

	if (!t->type || !*t->type)
		return err_set(err, ERR_INVALID,
			"spec.triggers[%zu].type: missing: say what kind of source it is, like redis", index);
	if (t->use_cached_metrics && text_is_one_of(t->type, live_only))
		return err_set(err, ERR_INVALID,
			"spec.triggers[%zu].useCachedMetrics: property \"useCachedMetrics\" is not supported for "
			"\"%s\" scaler: remove it",
			index, t->type);
	if (check_metric_type(t, index, err) < 0)
		return -1;
	return check_authentication(t, index, err);
}

static int compare_names(const void *a, const void *b)
{
	const struct trigger *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int check_names_unique(const struct trigger *triggers, size_t trigger_count, struct err *err)
{
	const struct trigger *named[SCALEDOBJECT_TRIGGERS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < trigger_count; i++)
		if (triggers[i].name && *triggers[i].name)
			named[count++] = &triggers[i];
	qsort(named, count, sizeof(named[0]), compare_names);
	for (size_t i = 1; i < count; i++)
		if (strcmp(named[i - 1]->name, named[i]->name) == 0)
			return err_set(err, ERR_INVALID,
				"spec.triggers: the name \"%s\" is used twice: each trigger needs a name of its own",
				named[i]->name);
	return 0;
}

int validate_triggers(const struct scaled *of, struct err *err)
{
	size_t count = of->trigger_count;

	if (count == 0)
		return err_set(err, ERR_INVALID, "spec.triggers: no triggers defined in the %s: at least one is needed",
			scaled_kind_name(of->kind));
	if (count > SCALEDOBJECT_TRIGGERS_MAX)
		return err_set(err, ERR_INVALID, "spec.triggers: %zu triggers are too many: at most %d", count,
			SCALEDOBJECT_TRIGGERS_MAX);
	for (size_t i = 0; i < count; i++)
		if (check_trigger(&of->triggers[i], i, err) < 0)
			return -1;
	return check_names_unique(of->triggers, count, err);
}
