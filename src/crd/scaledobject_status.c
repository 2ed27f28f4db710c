/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaledobject_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "crd/intern.h"
#include "crd/shape.h"

#define NAMES_MAX                                                                                                      \
	(2 * SCALEDOBJECT_TRIGGERS_MAX) /* a status says no more than a spec may; anything longer was not written by   \
					   an autoscaler */

/* ---- Reading ---- */

static void decode_gvkr(const struct json_at *status, struct scaledobject_status *out)
{
	struct json_at at = json_field(status, "scaleTargetGVKR");

	if (!json_is_object(at.value))
		return;
	intern_get(&at, "group", &out->gvkr_group, NULL);
	intern_get(&at, "version", &out->gvkr_version, NULL);
	intern_get(&at, "kind", &out->gvkr_kind, NULL);
	intern_get(&at, "resource", &out->gvkr_resource, NULL);
	if (out->gvkr_group != NULL && out->gvkr_version != NULL && out->gvkr_kind != NULL &&
		out->gvkr_resource != NULL)
		return;
	intern_clear(&out->gvkr_group);
	intern_clear(&out->gvkr_version);
	intern_clear(&out->gvkr_kind);
	intern_clear(&out->gvkr_resource);
}

/* A string without a NUL inside, else NULL. Borrowed. */
static const char *text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text != NULL && strlen(text) == json_string_length(value) ? text : NULL;
}

static void decode_names(const struct json_at *status, const char *key, char ***names, size_t *count)
{
	struct json_at list = json_field(status, key);
	size_t length;

	if (shape_array(&list, NAMES_MAX, &length, NULL) < 0 || length == 0)
		return;
	*names = mem_array(length, sizeof(char *));
	for (size_t i = 0; i < length; i++) {
		const char *text = text_of(json_array_get(list.value, i));

		if (text != NULL)
			(*names)[(*count)++] = mem_dup(text);
	}
}

/* The object at `key` when it is one of bearable size, else NULL. */
static const json_t *map_at(const struct json_at *status, const char *key)
{
	struct json_at at = json_field(status, key);

	return json_is_object(at.value) && json_object_size(at.value) > 0 && json_object_size(at.value) <= NAMES_MAX
		? at.value
		: NULL;
}

static void decode_health(const struct json_at *status, struct scaledobject_status *out)
{
	const json_t *map = map_at(status, "health");
	const char *metric;
	json_t *entry;

	if (map == NULL)
		return;
	out->health = mem_array(json_object_size(map), sizeof(*out->health));
	json_object_foreach((json_t *)(uintptr_t)map, metric, entry)
	{
		struct metric_health *h = &out->health[out->health_count++];
		struct json_at at = json_root(entry);

		h->metric = mem_dup(metric);
		if (!json_is_object(entry))
			continue;
		json_get_int32(&at, "numberOfFailures", &h->failures, NULL);
		h->failing = strcmp(json_str_or_empty(entry, "status"), "Failing") == 0;
	}
}

static void decode_activity(const struct json_at *status, struct scaledobject_status *out)
{
	const json_t *map = map_at(status, "triggersActivity");
	const char *metric;
	json_t *entry;

	if (map == NULL)
		return;
	out->activity = mem_array(json_object_size(map), sizeof(*out->activity));
	json_object_foreach((json_t *)(uintptr_t)map, metric, entry)
	{
		struct metric_activity *a = &out->activity[out->activity_count++];

		a->metric = mem_dup(metric);
		a->active = json_is_true(json_object_get(entry, "isActive"));
	}
}

void scaledobject_status_decode(const struct json_at *at, struct scaledobject_status *out)
{
	struct json_at conditions;

	memset(out, 0, sizeof(*out));
	out->original_replicas = out->paused_replicas = INT32_UNSET;
	if (!json_is_object(at->value))
		return;
	intern_get(at, "scaleTargetKind", &out->target_kind, NULL);
	decode_gvkr(at, out);
	json_get_int32(at, "originalReplicaCount", &out->original_replicas, NULL);
	json_get_time(at, "lastActiveTime", &out->last_active_unix_ms, NULL);
	decode_names(at, "externalMetricNames", &out->external_metric_names, &out->external_metric_count);
	decode_names(at, "resourceMetricNames", &out->resource_metric_names, &out->resource_metric_count);
	intern_get(at, "compositeScalerName", &out->composite_scaler_name, NULL);
	conditions = json_field(at, "conditions");
	conditions_decode(&conditions, &out->conditions, NULL);
	decode_health(at, out);
	decode_activity(at, out);
	json_get_int32(at, "pausedReplicaCount", &out->paused_replicas, NULL);
	intern_get(at, "hpaName", &out->hpa_name, NULL);
	intern_get(at, "triggersTypes", &out->triggers_types, NULL);
	intern_get(at, "authenticationsTypes", &out->authentications_types, NULL);
}

/* ---- Writing ---- */

static void set_text(json_t *object, const char *key, const char *text)
{
	if (text != NULL)
		json_object_set_new(object, key, json_string(text));
}

static void set_count(json_t *object, const char *key, int32_t count)
{
	if (count != INT32_UNSET)
		json_object_set_new(object, key, json_integer(count));
}

static void set_names(json_t *object, const char *key, char *const *names, size_t count)
{
	json_t *array;

	if (count == 0)
		return;
	array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_string(names[i]));
	json_object_set_new(object, key, array);
}

static void set_gvkr(json_t *object, const struct scaledobject_status *s)
{
	json_t *gvkr;

	if (s->gvkr_kind == NULL)
		return;
	gvkr = json_object();
	set_text(gvkr, "group", s->gvkr_group);
	set_text(gvkr, "version", s->gvkr_version);
	set_text(gvkr, "kind", s->gvkr_kind);
	set_text(gvkr, "resource", s->gvkr_resource);
	json_object_set_new(object, "scaleTargetGVKR", gvkr);
}

static void set_health(json_t *object, const struct scaledobject_status *s)
{
	json_t *map;

	if (s->health_count == 0)
		return;
	map = json_object();
	for (size_t i = 0; i < s->health_count; i++) {
		json_t *entry = json_object();

		json_object_set_new(entry, "numberOfFailures", json_integer(s->health[i].failures));
		set_text(entry, "status", s->health[i].failing ? "Failing" : "Happy");
		json_object_set_new(map, s->health[i].metric, entry);
	}
	json_object_set_new(object, "health", map);
}

static void set_activity(json_t *object, const struct scaledobject_status *s)
{
	json_t *map;

	if (s->activity_count == 0)
		return;
	map = json_object();
	for (size_t i = 0; i < s->activity_count; i++) {
		json_t *entry = json_object();

		json_object_set_new(entry, "isActive", json_boolean(s->activity[i].active));
		json_object_set_new(map, s->activity[i].metric, entry);
	}
	json_object_set_new(object, "triggersActivity", map);
}

json_t *scaledobject_status_encode(const struct scaledobject_status *s)
{
	json_t *object = json_object();
	char text[TIMESTAMP_TEXT_MAX];

	set_text(object, "scaleTargetKind", s->target_kind);
	set_gvkr(object, s);
	set_count(object, "originalReplicaCount", s->original_replicas);
	if (s->last_active_unix_ms != 0)
		set_text(object, "lastActiveTime", timestamp_format(s->last_active_unix_ms, text));
	set_names(object, "externalMetricNames", s->external_metric_names, s->external_metric_count);
	set_names(object, "resourceMetricNames", s->resource_metric_names, s->resource_metric_count);
	set_text(object, "compositeScalerName", s->composite_scaler_name);
	if (s->conditions.count > 0)
		json_object_set_new(object, "conditions", conditions_encode(&s->conditions));
	set_health(object, s);
	set_activity(object, s);
	set_count(object, "pausedReplicaCount", s->paused_replicas);
	set_text(object, "hpaName", s->hpa_name);
	set_text(object, "triggersTypes", s->triggers_types);
	set_text(object, "authenticationsTypes", s->authentications_types);
	return object;
}

/* RFC 7396: what turns `from` into `to`; NULL when nothing does. The caller owns it. */
static json_t *merge_diff(const json_t *from, const json_t *to)
{
	json_t *diff = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)to, key, value)
	{
		json_t *old = json_object_get(from, key);

		if (json_is_object(old) && json_is_object(value))
			json_object_set_new(diff, key, merge_diff(old, value)); /* NULL is not set */
		else if (old == NULL || !json_equal(old, value))
			json_object_set(diff, key, value);
	}
	json_object_foreach((json_t *)(uintptr_t)from, key, value) if (json_object_get(to, key) == NULL)
		json_object_set_new(diff, key, json_null());
	if (json_object_size(diff) > 0)
		return diff;
	json_decref(diff);
	return NULL;
}

static char *patch_text(json_t *diff)
{
	json_t *patch = json_object();
	char *text;

	json_object_set_new(patch, "status", diff);
	text = json_text(patch);
	json_decref(patch);
	return text;
}

static bool same_names(char *const *a, size_t a_count, char *const *b, size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

static bool same_health(const struct scaledobject_status *a, const struct scaledobject_status *b)
{
	if (a->health_count != b->health_count)
		return false;
	for (size_t i = 0; i < a->health_count; i++)
		if (strcmp(a->health[i].metric, b->health[i].metric) != 0 ||
			a->health[i].failures != b->health[i].failures || a->health[i].failing != b->health[i].failing)
			return false;
	return true;
}

static bool same_activity(const struct scaledobject_status *a, const struct scaledobject_status *b)
{
	if (a->activity_count != b->activity_count)
		return false;
	for (size_t i = 0; i < a->activity_count; i++)
		if (strcmp(a->activity[i].metric, b->activity[i].metric) != 0 ||
			a->activity[i].active != b->activity[i].active)
			return false;
	return true;
}

/*
 * Certainly the same; what only differs in order or in a second's fraction is left to the patch to
 * find out. Asked at every tick of every object, so without making JSON of either.
 */
static bool surely_same(const struct scaledobject_status *a, const struct scaledobject_status *b, bool stored_times)
{
	return text_equal(a->target_kind, b->target_kind) && text_equal(a->gvkr_group, b->gvkr_group) &&
		text_equal(a->gvkr_version, b->gvkr_version) && text_equal(a->gvkr_kind, b->gvkr_kind) &&
		text_equal(a->gvkr_resource, b->gvkr_resource) && a->original_replicas == b->original_replicas &&
		a->last_active_unix_ms / 1000 == b->last_active_unix_ms / 1000 /* as stored */ &&
		same_names(a->external_metric_names, a->external_metric_count, b->external_metric_names,
			b->external_metric_count) &&
		same_names(a->resource_metric_names, a->resource_metric_count, b->resource_metric_names,
			b->resource_metric_count) &&
		text_equal(a->composite_scaler_name, b->composite_scaler_name) &&
		conditions_equal(&a->conditions, &b->conditions, stored_times) && same_health(a, b) &&
		same_activity(a, b) && a->paused_replicas == b->paused_replicas &&
		text_equal(a->hpa_name, b->hpa_name) && text_equal(a->triggers_types, b->triggers_types) &&
		text_equal(a->authentications_types, b->authentications_types);
}

char *scaledobject_status_patch(const struct scaledobject_status *from, const struct scaledobject_status *to,
	bool stored_times)
{
	json_t *old, *new, *diff;

	if (surely_same(from, to, stored_times))
		return NULL;
	old = scaledobject_status_encode(from);
	new = scaledobject_status_encode(to);
	if (!stored_times && conditions_equal(&from->conditions, &to->conditions, false)) {
		json_object_del(old, "conditions");
		json_object_del(new, "conditions");
	}
	diff = merge_diff(old, new);
	json_decref(old);
	json_decref(new);
	return diff != NULL ? patch_text(diff) : NULL;
}

/* ---- Copying and freeing ---- */

static char **copy_names(char *const *names, size_t count)
{
	char **copy = count > 0 ? mem_array(count, sizeof(char *)) : NULL;

	for (size_t i = 0; i < count; i++)
		copy[i] = mem_dup(names[i]);
	return copy;
}

static void copy_health(struct scaledobject_status *to, const struct scaledobject_status *from)
{
	to->health = from->health_count > 0 ? mem_array(from->health_count, sizeof(*to->health)) : NULL;
	for (size_t i = 0; i < from->health_count; i++) {
		to->health[i] = from->health[i];
		to->health[i].metric = mem_dup(from->health[i].metric);
	}
}

static void copy_activity(struct scaledobject_status *to, const struct scaledobject_status *from)
{
	to->activity = from->activity_count > 0 ? mem_array(from->activity_count, sizeof(*to->activity)) : NULL;
	for (size_t i = 0; i < from->activity_count; i++) {
		to->activity[i] = from->activity[i];
		to->activity[i].metric = mem_dup(from->activity[i].metric);
	}
}

void scaledobject_status_copy(struct scaledobject_status *to, const struct scaledobject_status *from)
{
	*to = *from;
	to->target_kind = intern_dup(from->target_kind);
	to->gvkr_group = intern_dup(from->gvkr_group);
	to->gvkr_version = intern_dup(from->gvkr_version);
	to->gvkr_kind = intern_dup(from->gvkr_kind);
	to->gvkr_resource = intern_dup(from->gvkr_resource);
	to->external_metric_names = copy_names(from->external_metric_names, from->external_metric_count);
	to->resource_metric_names = copy_names(from->resource_metric_names, from->resource_metric_count);
	to->composite_scaler_name = intern_dup(from->composite_scaler_name);
	conditions_copy(&to->conditions, &from->conditions);
	copy_health(to, from);
	copy_activity(to, from);
	to->hpa_name = intern_dup(from->hpa_name);
	to->triggers_types = intern_dup(from->triggers_types);
	to->authentications_types = intern_dup(from->authentications_types);
}

static void free_names(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

void scaledobject_status_done(struct scaledobject_status *s)
{
	intern_free(s->target_kind);
	intern_free(s->gvkr_group);
	intern_free(s->gvkr_version);
	intern_free(s->gvkr_kind);
	intern_free(s->gvkr_resource);
	free_names(s->external_metric_names, s->external_metric_count);
	free_names(s->resource_metric_names, s->resource_metric_count);
	intern_free(s->composite_scaler_name);
	conditions_done(&s->conditions);
	for (size_t i = 0; i < s->health_count; i++)
		free(s->health[i].metric);
	free(s->health);
	for (size_t i = 0; i < s->activity_count; i++)
		free(s->activity[i].metric);
	free(s->activity);
	intern_free(s->hpa_name);
	intern_free(s->triggers_types);
	intern_free(s->authentications_types);
	memset(s, 0, sizeof(*s));
	s->original_replicas = s->paused_replicas = INT32_UNSET;
}
