/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/hpaspec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"

#define SELECTOR_KEY "scaledobject.keda.sh/name"
#define EXCLUDED_LABELS "scaledobject.keda.sh/hpa-excluded-labels"
#define OWNER_KIND "ScaledObject"
#define OWNER_GROUP "keda.sh/"
#define OWNER_API_VERSION "keda.sh/v1alpha1"
#define LABEL_VALUE_MAX 63
#define NAME_SIZE 512
#define GROUP_VERSION_SIZE 254

/* ---- Metadata ---- */

static json_t *strmap_json(const struct strmap *map)
{
	json_t *object = json_object();

	for (size_t i = 0; i < map->count; i++)
		json_object_set_new(object, map->pairs[i].key, json_string(map->pairs[i].value));
	return object;
}

/* Whether key is one of the comma-separated parts of list; parts are taken as they stand (keda-core.md 1.5). */
static bool in_list(const char *list, const char *key)
{
	size_t len = strlen(key);

	for (const char *part = list; part != NULL; part = strchr(part, ','), part = part != NULL ? part + 1 : NULL)
		if (strcspn(part, ",") == len && strncmp(part, key, len) == 0)
			return true;
	return false;
}

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
	const char *excluded = strmap_get(&so->meta.annotations, EXCLUDED_LABELS);
	struct strmap labels = { 0 };
	json_t *object;

	name_label(&labels, hpa_name);
	strmap_set(&labels, "app.kubernetes.io/version", version);
	strmap_set(&labels, "app.kubernetes.io/part-of", so->meta.name);
	strmap_set(&labels, "app.kubernetes.io/managed-by", "kscaled");
	for (size_t i = 0; i < so->meta.labels.count; i++)
		if (!in_list(excluded, so->meta.labels.pairs[i].key))
			strmap_set(&labels, so->meta.labels.pairs[i].key, so->meta.labels.pairs[i].value);
	/* After the user's: the one is what metric requests carry, the other what our watch selects on. */
	strmap_set(&labels, SELECTOR_KEY, so->meta.name);
	strmap_set(&labels, HPASPEC_MANAGED_LABEL, "true");
	object = strmap_json(&labels);
	strmap_done(&labels);
	return object;
}

static json_t *make_owner(const struct scaledobject *so)
{
	json_t *owner = json_object();

	json_object_set_new(owner, "apiVersion", json_string(OWNER_API_VERSION));
	json_object_set_new(owner, "kind", json_string(OWNER_KIND));
	json_object_set_new(owner, "name", json_string(so->meta.name));
	json_object_set_new(owner, "uid", json_string(so->meta.uid));
	json_object_set_new(owner, "controller", json_true());
	json_object_set_new(owner, "blockOwnerDeletion", json_true());
	return owner;
}

/* The API server keeps this family for its own conversions between versions of the HPA and drops it from what it stores: copied, it would be missing for ever. */
static json_t *make_annotations(const struct scaledobject *so)
{
	static const char dropped[] = "autoscaling.alpha.kubernetes.io/";
	json_t *object = json_object();

	for (size_t i = 0; i < so->meta.annotations.count; i++) {
		const struct strmap_pair *p = &so->meta.annotations.pairs[i];

		if (strncmp(p->key, dropped, strlen(dropped)) != 0)
			json_object_set_new(object, p->key, json_string(p->value));
	}
	return object;
}

static json_t *make_metadata(const struct scaledobject *so, const char *version)
{
	json_t *metadata = json_object(), *owners = json_array();
	char name[NAME_SIZE];

	scaledobject_hpa_name(so, name, sizeof(name));
	json_array_append_new(owners, make_owner(so));
	json_object_set_new(metadata, "name", json_string(name));
	json_object_set_new(metadata, "namespace", json_string(so->meta.namespace_));
	json_object_set_new(metadata, "labels", make_labels(so, name, version));
	if (so->meta.annotations.count > 0)
		json_object_set_new(metadata, "annotations", make_annotations(so));
	json_object_set_new(metadata, "ownerReferences", owners);
	return metadata;
}

/* ---- Spec ---- */

static json_t *make_target(const struct metric_spec *metric)
{
	json_t *target = json_object();
	char text[QUANTITY_TEXT_MAX];

	json_object_set_new(target, "type", json_string(metric_target_type_name(metric->target_type)));
	json_object_set_new(target, metric->target_type == METRIC_VALUE ? "value" : "averageValue", json_string(quantity_format(metric->target, text)));
	return target;
}

static json_t *make_metric(const struct scaledobject *so, const struct metric_spec *metric)
{
	json_t *object = json_object(), *external = json_object(), *identifier = json_object(), *selector = json_object(), *labels = json_object();

	json_object_set_new(labels, SELECTOR_KEY, json_string(so->meta.name));
	json_object_set_new(selector, "matchLabels", labels);
	json_object_set_new(identifier, "name", json_string(metric->name));
	json_object_set_new(identifier, "selector", selector);
	json_object_set_new(external, "metric", identifier);
	json_object_set_new(external, "target", make_target(metric));
	json_object_set_new(object, "type", json_string("External"));
	json_object_set_new(object, "external", external);
	return object;
}

static int check_metrics(const struct scaledobject *so, const struct metric_spec *metrics, size_t count, struct err *err)
{
	struct strmap seen = { 0 };
	char text[QUANTITY_TEXT_MAX];
	int rc = 0;

	if (count == 0)
		return err_set(err, ERR_INVALID, "no metric specs returned from scalers for ScaledObject %s/%s", so->meta.namespace_, so->meta.name);
	for (size_t i = 0; i < count && rc == 0; i++) {
		const struct metric_spec *m = &metrics[i];

		if (strmap_get(&seen, m->name) != NULL)
			rc = err_set(err, ERR_INVALID, "metricName %s defined multiple times in ScaledObject %s", m->name, so->meta.name);
		else if (m->target_type == METRIC_UTILIZATION)
			rc = err_set(err, ERR_INVALID, "metric %s: metricType Utilization is for cpu and memory only: use AverageValue or Value", m->name);
		else if (m->target.milli <= 0) /* the API server would refuse the HPA */
			rc = err_set(err, ERR_INVALID, "metric %s: the target %s must be more than 0", m->name, quantity_format(m->target, text));
		strmap_set(&seen, m->name, "");
	}
	strmap_done(&seen);
	return rc;
}

static json_t *make_scale_target(const struct scaledobject_spec *s, const char *group, const char *version)
{
	json_t *target = json_object();
	char *api_version = mem_printf("%s%s%s", group, *group != '\0' ? "/" : "", version);

	json_object_set_new(target, "apiVersion", json_string(api_version));
	json_object_set_new(target, "kind", json_string(scaledobject_target_kind(s)));
	json_object_set_new(target, "name", json_string(s->target_name != NULL ? s->target_name : ""));
	free(api_version);
	return target;
}

static json_t *make_spec(const struct scaledobject *so, const struct metric_spec *metrics, size_t count, struct err *err)
{
	const struct scaledobject_spec *s = &so->spec;
	char group[GROUP_VERSION_SIZE], version[GROUP_VERSION_SIZE];
	json_t *spec, *list, *behavior = NULL;

	if (scaledobject_target_gv(s, group, version, sizeof(group), err) < 0)
		return NULL;
	if (s->hpa_behavior != NULL && (behavior = json_parse(s->hpa_behavior, strlen(s->hpa_behavior), err)) == NULL)
		return NULL;
	spec = json_object();
	list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, make_metric(so, &metrics[i]));
	json_object_set_new(spec, "scaleTargetRef", make_scale_target(s, group, version));
	json_object_set_new(spec, "minReplicas", json_integer(scaledobject_hpa_min(s)));
	json_object_set_new(spec, "maxReplicas", json_integer(scaledobject_hpa_max(s)));
	json_object_set_new(spec, "metrics", list);
	if (behavior != NULL)
		json_object_set_new(spec, "behavior", behavior);
	return spec;
}

json_t *hpaspec_make(const struct scaledobject *so, const struct metric_spec *metrics, size_t count, const char *version, struct err *err)
{
	json_t *object, *spec;

	if (check_metrics(so, metrics, count, err) < 0)
		return NULL;
	spec = make_spec(so, metrics, count, err);
	if (spec == NULL)
		return NULL;
	object = json_object();
	json_object_set_new(object, "apiVersion", json_string("autoscaling/v2"));
	json_object_set_new(object, "kind", json_string("HorizontalPodAutoscaler"));
	json_object_set_new(object, "metadata", make_metadata(so, version));
	json_object_set_new(object, "spec", spec);
	return object;
}

/* ---- Comparing with the live one ---- */

/* Keys that get onto an HPA only from its ScaledObject: without it there, they are left over. Any other key may be somebody else's. */
static bool is_ours(const char *key)
{
	static const char *const families[] = { "autoscaling.keda.sh/", "scaledobject.keda.sh/", "kscaled.io/" };

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strncmp(key, families[i], strlen(families[i])) == 0)
			return true;
	return false;
}

static bool map_matches(const json_t *desired, const struct strmap *live)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)desired, key, value) {
		const char *has = strmap_get(live, key);

		if (has == NULL || strcmp(has, json_string_value(value)) != 0)
			return false;
	}
	for (size_t i = 0; i < live->count; i++)
		if (is_ours(live->pairs[i].key) && json_object_get(desired, live->pairs[i].key) == NULL)
			return false;
	return true;
}

static const json_t *owner_of(const json_t *desired)
{
	return json_array_get(json_object_get(json_object_get(desired, "metadata"), "ownerReferences"), 0);
}

bool hpaspec_matches(const json_t *desired, const struct hpa *live)
{
	const json_t *metadata = json_object_get(desired, "metadata");
	const struct owner_ref *controller = meta_controller(&live->meta);

	return hpa_spec_fingerprint(json_object_get(desired, "spec")) == live->spec_fingerprint &&
	       map_matches(json_object_get(metadata, "labels"), &live->meta.labels) &&
	       map_matches(json_object_get(metadata, "annotations"), &live->meta.annotations) &&
	       controller != NULL && strcmp(controller->uid, json_str_or_empty(owner_of(desired), "uid")) == 0;
}

/* ---- Writing over the live one ---- */

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
	return strcmp(json_str_or_empty(a, key), json_str_or_empty(b, key)) == 0;
}

/* The owner itself, or an earlier object of its name that is gone. */
static bool is_owner(const json_t *reference, const json_t *owner)
{
	if (same_text(reference, owner, "uid"))
		return true;
	return same_text(reference, owner, "kind") && same_text(reference, owner, "name") &&
	       strncmp(json_str_or_empty(reference, "apiVersion"), OWNER_GROUP, strlen(OWNER_GROUP)) == 0;
}

/* NULL and *err when another object controls it; else the live references with ours in the place of what was ours before. */
static json_t *merge_owners(const json_t *desired, const json_t *live, struct err *err)
{
	const json_t *metadata = json_object_get(live, "metadata"), *owner = owner_of(desired);
	json_t *merged = json_array(), *reference;
	size_t i;

	json_array_foreach(json_object_get(metadata, "ownerReferences"), i, reference) {
		if (is_owner(reference, owner))
			continue;
		if (json_is_true(json_object_get(reference, "controller"))) {
			json_decref(merged);
			err_set(err, ERR_CONFLICT, "HorizontalPodAutoscaler %s/%s is controlled by %s %s: give this one another name by spec.advanced.horizontalPodAutoscalerConfig.name, or delete that one",
				json_str_or_empty(metadata, "namespace"), json_str_or_empty(metadata, "name"), json_str_or_empty(reference, "kind"), json_str_or_empty(reference, "name"));
			return NULL;
		}
		json_array_append(merged, reference);
	}
	json_array_append_new(merged, json_deep_copy(owner));
	return merged;
}

static void merge_map(json_t *metadata, const json_t *desired_metadata, const char *name)
{
	json_t *desired = json_object_get(desired_metadata, name), *live = json_object_get(metadata, name), *value;
	const char *key;
	void *next;

	if (!json_is_object(live)) {
		if (desired != NULL)
			json_object_set_new(metadata, name, json_deep_copy(desired));
		return;
	}
	json_object_foreach_safe(live, next, key, value)
		if (is_ours(key) && json_object_get(desired, key) == NULL)
			json_object_del(live, key);
	json_object_update(live, desired);
}

json_t *hpaspec_merge(const json_t *desired, const json_t *live_object, struct err *err)
{
	const json_t *desired_metadata = json_object_get(desired, "metadata");
	json_t *owners, *merged, *metadata;

	if (!json_is_object(json_object_get(live_object, "metadata"))) {
		err_set(err, ERR_INVALID, "not a Kubernetes object");
		return NULL;
	}
	owners = merge_owners(desired, live_object, err);
	if (owners == NULL)
		return NULL;
	merged = json_deep_copy(live_object);
	metadata = json_object_get(merged, "metadata");
	json_object_del(merged, "status");           /* not ours, and ignored here */
	json_object_del(metadata, "managedFields");  /* absent, the API server goes on with its own */
	json_object_set(merged, "apiVersion", json_object_get(desired, "apiVersion"));
	json_object_set(merged, "kind", json_object_get(desired, "kind"));
	json_object_set_new(merged, "spec", json_deep_copy(json_object_get(desired, "spec")));
	json_object_set_new(metadata, "ownerReferences", owners);
	merge_map(metadata, desired_metadata, "labels");
	merge_map(metadata, desired_metadata, "annotations");
	return merged;
}
