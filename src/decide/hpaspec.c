/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/hpaspec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/text.h"
#include "decide/annotations.h"
#include "decide/inherit.h"
#include "decide/verdict.h"

#define SELECTOR_KEY       HPASPEC_NAME_LABEL
#define EXCLUDED_LABELS    "scaledobject.keda.sh/hpa-excluded-labels"
#define OWNER_KIND         "ScaledObject"
#define LABEL_VALUE_MAX    63
#define NAME_SIZE          512
#define GROUP_VERSION_SIZE 254

/* ---- Metadata ---- */

static void name_label(struct strmap *labels, const char *name)
{
	char value[LABEL_VALUE_MAX + 1];
	size_t len = strlen(name) < LABEL_VALUE_MAX ? strlen(name) : LABEL_VALUE_MAX;

	while (len > 0 && !isalnum((unsigned char)name[len - 1]))
		len--;
	memcpy(value, name, len);
	value[len] = '\0';
	strmap_set(labels, "app.kubernetes.io/name", value);
}

static json_t *make_labels(const struct scaledobject *so, const char *hpa_name, const char *version)
{
	struct strmap labels = { 0 };
	json_t *object;

	name_label(&labels, hpa_name);
	inherit_labels(&so->meta, version, EXCLUDED_LABELS, &labels);
	/* Override the user's: metric requests select by the first, the watch by the second. */
	strmap_set(&labels, SELECTOR_KEY, so->meta.name);
	strmap_set(&labels, HPASPEC_MANAGED_LABEL, "true");
	object = inherit_map(&labels);
	strmap_done(&labels);
	return object;
}

/*
 * The API server uses these annotations for its conversions between versions of the HPA and does
 * not store them: a copy would differ from the live HPA forever.
 */
static json_t *make_annotations(const struct scaledobject *so)
{
	static const char dropped[] = "autoscaling.alpha.kubernetes.io/";
	json_t *object = json_object();

	for (size_t i = 0; i < so->meta.annotations.count; i++) {
		const struct strmap_pair *p = &so->meta.annotations.pairs[i];

		if (!text_begins(p->key, dropped))
			json_object_set_new(object, p->key, json_string(p->value));
	}
	return object;
}

static json_t *make_metadata(const struct scaledobject *so, const char *version)
{
	char name[NAME_SIZE];

	scaledobject_hpa_name(so, name, sizeof(name));
	return json_pack("{s:s, s:s, s:o, s:o*, s:o}", "name", name, "namespace", so->meta.namespace_, "labels",
		make_labels(so, name, version), "annotations",
		so->meta.annotations.count > 0 ? make_annotations(so) : NULL, "ownerReferences",
		inherit_owners(OWNER_KIND, &so->meta));
}

/* ---- Spec ---- */

static json_t *make_target(const struct metric_spec *metric)
{
	static const char *const fields[] = { [METRIC_AVERAGE_VALUE] = "averageValue",
		[METRIC_VALUE] = "value",
		[METRIC_UTILIZATION] = "averageUtilization" };
	char text[QUANTITY_TEXT_MAX];

	return json_pack("{s:s, s:o}", "type", metric_target_type_name(metric->target_type),
		fields[metric->target_type],
		metric->target_type == METRIC_UTILIZATION ? json_integer(metric->target.milli / 1000)
							  : json_string(quantity_format(metric->target, text)));
}

static json_t *make_external(const struct scaledobject *so, const struct metric_spec *metric)
{
	return json_pack("{s:{s:s, s:{s:{s:s}}}}", "metric", "name", metric->name, "selector", "matchLabels",
		SELECTOR_KEY, so->meta.name);
}

static json_t *make_resource(const struct metric_spec *metric)
{
	return json_pack("{s:s, s:s*}", "name", metric->name, "container",
		metric->kind == METRIC_CONTAINER_RESOURCE ? metric->container : NULL);
}

/* How each kind is written, ordered by its type's name, as KEDA sorts them. */
static const struct {
	enum metric_kind kind;
	const char *type, *field;
} kinds[] = {
	{ METRIC_CONTAINER_RESOURCE, "ContainerResource", "containerResource" },
	{ METRIC_EXTERNAL, "External", "external" },
	{ METRIC_RESOURCE, "Resource", "resource" },
};

static json_t *make_metric(const struct scaledobject *so, const struct metric_spec *metric, size_t kind)
{
	json_t *body = metric->kind == METRIC_EXTERNAL ? make_external(so, metric) : make_resource(metric);

	json_object_set_new(body, "target", make_target(metric));
	return json_pack("{s:s, s:o}", "type", kinds[kind].type, kinds[kind].field, body);
}

/*
 * Sorted by type, within a type in the order of the triggers. The composite replaces all external
 * ones. KEDA then also drops ContainerResource metrics, but not Resource ones (doc/keda.md 2.2);
 * here both stay, so that no metric is dropped silently.
 */
static json_t *make_metrics(const struct scaledobject *so, const struct metric_spec *metrics, size_t count,
	const struct metric_spec *composite)
{
	json_t *list = json_array();

	for (size_t kind = 0; kind < MEM_COUNT(kinds); kind++) {
		bool replaced = kinds[kind].kind == METRIC_EXTERNAL && composite;

		if (replaced)
			json_array_append_new(list, make_metric(so, composite, kind));
		for (size_t i = 0; i < count && !replaced; i++)
			if (metrics[i].kind == kinds[kind].kind)
				json_array_append_new(list, make_metric(so, &metrics[i], kind));
	}
	return list;
}

static int check_metric(const struct metric_spec *m, bool in_hpa, struct err *err)
{
	char text[QUANTITY_TEXT_MAX];

	if (m->kind == METRIC_EXTERNAL && m->target_type == METRIC_UTILIZATION)
		return err_set(err, ERR_INVALID,
			"metric %s: metricType Utilization is for cpu and memory only: use AverageValue or Value",
			m->name);
	if (m->kind != METRIC_EXTERNAL && m->target_type == METRIC_VALUE)
		return err_set(err, ERR_INVALID,
			"metric %s: metricType Value is not for cpu and memory: use Utilization or AverageValue",
			m->name);
	if (in_hpa && m->target.milli <= 0) /* the API server would refuse the HPA */
		return err_set(err, ERR_INVALID, "metric %s: the target %s must be more than 0", m->name,
			quantity_format(m->target, text));
	return 0;
}

static int check_metrics(const struct scaledobject *so, const struct metric_spec *metrics, size_t count, bool composite,
	struct err *err)
{
	struct strmap seen = { 0 };
	int rc = 0;

	if (count == 0)
		return err_set(err, ERR_INVALID, "no metric specs returned from scalers for ScaledObject %s/%s",
			so->meta.namespace_, so->meta.name);
	for (size_t i = 0; i < count && rc == 0; i++) {
		const struct metric_spec *m = &metrics[i];
		bool external = m->kind == METRIC_EXTERNAL;

		if (external && strmap_get(&seen, m->name))
			rc = err_set(err, ERR_INVALID, "metricName %s defined multiple times in ScaledObject %s",
				m->name, so->meta.name);
		else
			rc = check_metric(m, !external || !composite, err);
		if (external)
			strmap_set(&seen, m->name, "");
	}
	strmap_done(&seen);
	return rc;
}

/* 1: the object has a composite metric, in *out; 0: it has none. */
static int find_composite(const struct scaledobject *so, struct metric_spec *out, struct err *err)
{
	const char *target;

	if (!verdict_has_composite(&so->spec))
		return 0;
	if (verdict_composite_metric(&so->spec, out))
		return 1;
	target = so->spec.modifiers->target;
	return err_set(err, ERR_INVALID,
		"spec.advanced.scalingModifiers.target: \"%.64s\" is not a number of at least 0.001",
		target ? target : "");
}

/* Sets selectPolicy of the direction to "Disabled"; the rest of it stays. */
static void disable(json_t **behavior, const char *direction)
{
	json_t *rules = json_object_get(*behavior, direction);

	if (!*behavior)
		*behavior = json_object();
	if (json_is_object(rules))
		json_object_set_new(rules, "selectPolicy", json_string("Disabled"));
	else
		json_object_set_new(*behavior, direction, json_pack("{s:s}", "selectPolicy", "Disabled"));
}

/* *out is NULL if there is nothing to set. */
static int make_behavior(const struct scaledobject *so, json_t **out, struct err *err)
{
	const char *written = so->spec.hpa_behavior;
	struct annotations annotations;

	*out = NULL;
	if (annotations_read(so, &annotations, err) < 0)
		return -1;
	if (written && (*out = json_parse(written, strlen(written), err)) == NULL)
		return -1;
	if (annotations.scale_in_paused)
		disable(out, "scaleDown");
	if (annotations.scale_out_paused)
		disable(out, "scaleUp");
	return 0;
}

static json_t *make_scale_target(const struct scaledobject_spec *s, const char *group, const char *version)
{
	MEM_AUTO char *api_version = mem_printf("%s%s%s", group, *group ? "/" : "", version);

	return json_pack("{s:s, s:s, s:s}", "apiVersion", api_version, "kind", scaledobject_target_kind(s), "name",
		s->target_name ? s->target_name : "");
}

static json_t *make_spec(const struct scaledobject *so, const struct metric_spec *metrics, size_t count,
	struct err *err)
{
	const struct scaledobject_spec *s = &so->spec;
	char group[GROUP_VERSION_SIZE], version[GROUP_VERSION_SIZE];
	struct metric_spec composite;
	int has_composite = find_composite(so, &composite, err);
	json_t *behavior;

	if (has_composite < 0 || check_metrics(so, metrics, count, has_composite == 1, err) < 0 ||
		scaledobject_target_gv(s, group, version, sizeof(group), err) < 0 ||
		make_behavior(so, &behavior, err) < 0)
		return NULL;
	return json_pack("{s:o, s:i, s:i, s:o, s:o*}", "scaleTargetRef", make_scale_target(s, group, version),
		"minReplicas", (int)scaledobject_hpa_min(s), "maxReplicas", (int)scaledobject_hpa_max(s), "metrics",
		make_metrics(so, metrics, count, has_composite == 1 ? &composite : NULL), "behavior", behavior);
}

json_t *hpaspec_make(const struct scaledobject *so, const struct metric_spec *metrics, size_t count,
	const char *version, struct err *err)
{
	json_t *spec = make_spec(so, metrics, count, err);

	if (!spec)
		return NULL;
	return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "autoscaling/v2", "kind", "HorizontalPodAutoscaler",
		"metadata", make_metadata(so, version), "spec", spec);
}
