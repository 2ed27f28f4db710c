/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/scaledobject_parts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/textlist.h"
#include "base/timestamp.h"
#include "crd/intern.h"
#include "crd/shape.h"

/* A status has no more entries than a spec may: a longer list was not written by an autoscaler. */
#define NAMES_MAX (2 * SCALEDOBJECT_TRIGGERS_MAX)

/* The fields that are a single text, those of scaleTargetGVKR first. */
static const struct {
	const char *key;
	size_t offset;
} texts[] = {
	{ "group", offsetof(struct scaledobject_status, gvkr_group) },
	{ "version", offsetof(struct scaledobject_status, gvkr_version) },
	{ "kind", offsetof(struct scaledobject_status, gvkr_kind) },
	{ "resource", offsetof(struct scaledobject_status, gvkr_resource) },
	{ "scaleTargetKind", offsetof(struct scaledobject_status, target_kind) },
	{ "compositeScalerName", offsetof(struct scaledobject_status, composite_scaler_name) },
	{ "hpaName", offsetof(struct scaledobject_status, hpa_name) },
	{ "triggersTypes", offsetof(struct scaledobject_status, triggers_types) },
	{ "authenticationsTypes", offsetof(struct scaledobject_status, authentications_types) },
};
#define GVKR_TEXTS 4

static const char **text_at(struct scaledobject_status *s, size_t i)
{
	return (const char **)(void *)((char *)s + texts[i].offset);
}

static const char *text_in(const struct scaledobject_status *s, size_t i)
{
	return *(const char *const *)(const void *)((const char *)s + texts[i].offset);
}

/* ---- Reading ---- */

/* scaleTargetGVKR is read with all its parts, or not at all. */
static void decode_texts(const struct json_at *status, struct scaledobject_status *out)
{
	struct json_at gvkr = json_field(status, "scaleTargetGVKR");
	bool whole = true;

	for (size_t i = 0; i < MEM_COUNT(texts); i++)
		intern_get(i < GVKR_TEXTS ? &gvkr : status, texts[i].key, text_at(out, i), NULL);
	for (size_t i = 0; i < GVKR_TEXTS; i++)
		whole = whole && text_in(out, i) != NULL;
	for (size_t i = 0; i < GVKR_TEXTS && !whole; i++)
		intern_set(text_at(out, i), NULL);
}

static void decode_names(const struct json_at *status, const char *key, char ***names, size_t *count)
{
	struct json_at list = json_field(status, key);
	size_t length;

	shape_array(&list, NAMES_MAX, &length, NULL);
	for (size_t i = 0; i < length; i++) {
		const char *text = json_plain_text(json_array_get(list.value, i));

		if (text != NULL)
			textlist_add(names, count, text);
	}
}

/* The object at `key` if it is not empty and has at most NAMES_MAX entries, otherwise NULL. */
static const json_t *map_at(const struct json_at *status, const char *key)
{
	struct json_at at = json_field(status, key);

	return json_is_object(at.value) && json_object_size(at.value) > 0 && json_object_size(at.value) <= NAMES_MAX
		? at.value
		: NULL;
}

/* The position of a metric in health, or where to insert it. */
static size_t health_place(const struct scaledobject_status *s, const char *metric, bool *found)
{
	size_t low = 0, high = s->health_count;

	*found = false;
	while (low < high && !*found) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(metric, s->health[middle].metric);

		*found = order == 0;
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return high;
}

struct metric_state *scaledobject_health(const struct scaledobject_status *s, const char *metric)
{
	bool found;
	size_t at = health_place(s, metric, &found);

	return found ? &s->health[at] : NULL;
}

struct metric_state *scaledobject_add_health(struct scaledobject_status *s, const char *metric)
{
	bool found;
	size_t at = health_place(s, metric, &found);
	struct metric_state *h;

	s->health = mem_resize(s->health, s->health_count + 1, sizeof(*s->health));
	h = &s->health[at];
	memmove(h + 1, h, (s->health_count++ - at) * sizeof(*h));
	*h = (struct metric_state){ .metric = mem_dup(metric) };
	return h;
}

static int by_metric(const void *a, const void *b)
{
	return strcmp(((const struct metric_state *)a)->metric, ((const struct metric_state *)b)->metric);
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
		struct metric_state *h = &out->health[out->health_count++];
		struct json_at at = json_root(entry);

		h->metric = mem_dup(metric);
		json_get_int32(&at, "numberOfFailures", &h->failures, NULL);
		h->failing = json_str_is(entry, "status", "Failing");
	}
	qsort(out->health, out->health_count, sizeof(*out->health), by_metric);
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
		struct metric_state *a = &out->activity[out->activity_count++];

		a->metric = mem_dup(metric);
		a->active = json_is_true(json_object_get(entry, "isActive"));
	}
}

void scaledobject_status_decode(const struct json_at *at, struct scaledobject_status *out)
{
	struct json_at conditions;

	memset(out, 0, sizeof(*out));
	out->original_replicas = out->paused_replicas = INT32_UNSET;
	decode_texts(at, out);
	json_get_int32(at, "originalReplicaCount", &out->original_replicas, NULL);
	json_get_time(at, "lastActiveTime", &out->last_active_unix_ms, NULL);
	decode_names(at, "externalMetricNames", &out->external_metric_names, &out->external_metric_count);
	decode_names(at, "resourceMetricNames", &out->resource_metric_names, &out->resource_metric_count);
	conditions = json_field(at, "conditions");
	conditions_decode(&conditions, &out->conditions, NULL);
	decode_health(at, out);
	decode_activity(at, out);
	json_get_int32(at, "pausedReplicaCount", &out->paused_replicas, NULL);
}

/* ---- Writing ---- */

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

static void set_texts(json_t *object, const struct scaledobject_status *s)
{
	json_t *gvkr = s->gvkr_kind != NULL ? json_object() : NULL;

	for (size_t i = 0; i < MEM_COUNT(texts); i++)
		if (text_in(s, i) != NULL)
			json_object_set_new(i < GVKR_TEXTS ? gvkr : object, texts[i].key, json_string(text_in(s, i)));
	if (gvkr != NULL)
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
		json_object_set_new(entry, "status", json_string(s->health[i].failing ? "Failing" : "Happy"));
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

	set_texts(object, s);
	set_count(object, "originalReplicaCount", s->original_replicas);
	if (s->last_active_unix_ms != 0)
		json_object_set_new(object, "lastActiveTime",
			json_string(timestamp_format(s->last_active_unix_ms, text)));
	set_names(object, "externalMetricNames", s->external_metric_names, s->external_metric_count);
	set_names(object, "resourceMetricNames", s->resource_metric_names, s->resource_metric_count);
	if (s->conditions.count > 0)
		json_object_set_new(object, "conditions", conditions_encode(&s->conditions));
	set_health(object, s);
	set_activity(object, s);
	set_count(object, "pausedReplicaCount", s->paused_replicas);
	return object;
}

/* RFC 7396: what turns `from` into `to`; NULL if nothing differs. The caller owns it. */
static json_t *merge_diff(const json_t *from, const json_t *to)
{
	json_t *diff = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)to, key, value)
	{
		json_t *old = json_object_get(from, key);

		if (json_is_object(old) && json_is_object(value))
			json_object_set_new(diff, key, merge_diff(old, value)); /* a NULL is not set */
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

static bool same_states(const struct metric_state *a, size_t a_count, const struct metric_state *b, size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (strcmp(a[i].metric, b[i].metric) != 0 || a[i].failures != b[i].failures ||
			a[i].failing != b[i].failing || a[i].active != b[i].active)
			return false;
	return true;
}

static bool same_texts(const struct scaledobject_status *a, const struct scaledobject_status *b)
{
	for (size_t i = 0; i < MEM_COUNT(texts); i++)
		if (!text_equal(text_in(a, i), text_in(b, i)))
			return false;
	return true;
}

/*
 * True only if both are equal; a difference in order or in the fraction of a second is left to the
 * patch. Called at every tick of every object, so it makes no JSON.
 */
static bool surely_same(const struct scaledobject_status *a, const struct scaledobject_status *b, bool stored_times)
{
	return same_texts(a, b) && a->original_replicas == b->original_replicas &&
		a->last_active_unix_ms / 1000 == b->last_active_unix_ms / 1000 /* as stored */ &&
		textlist_equal(a->external_metric_names, a->external_metric_count, b->external_metric_names,
			b->external_metric_count) &&
		textlist_equal(a->resource_metric_names, a->resource_metric_count, b->resource_metric_names,
			b->resource_metric_count) &&
		conditions_equal(&a->conditions, &b->conditions, stored_times) &&
		same_states(a->health, a->health_count, b->health, b->health_count) &&
		same_states(a->activity, a->activity_count, b->activity, b->activity_count) &&
		a->paused_replicas == b->paused_replicas;
}

char *scaledobject_status_patch(const struct scaledobject_status *from, const struct scaledobject_status *to,
	bool stored_times)
{
	json_t *old, *new, *diff, *patch;
	char *text;

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
	if (diff == NULL)
		return NULL;
	patch = json_pack("{s:o}", "status", diff);
	text = json_text(patch);
	json_decref(patch);
	return text;
}

/* ---- Copying and freeing ---- */

static struct metric_state *copy_states(const struct metric_state *states, size_t count)
{
	struct metric_state *copy = count > 0 ? mem_array(count, sizeof(*copy)) : NULL;

	for (size_t i = 0; i < count; i++) {
		copy[i] = states[i];
		copy[i].metric = mem_dup(states[i].metric);
	}
	return copy;
}

void scaledobject_status_copy(struct scaledobject_status *to, const struct scaledobject_status *from)
{
	*to = *from;
	for (size_t i = 0; i < MEM_COUNT(texts); i++)
		*text_at(to, i) = intern_dup(text_in(from, i));
	to->external_metric_names = textlist_copy(from->external_metric_names, from->external_metric_count);
	to->resource_metric_names = textlist_copy(from->resource_metric_names, from->resource_metric_count);
	conditions_copy(&to->conditions, &from->conditions);
	to->health = copy_states(from->health, from->health_count);
	to->activity = copy_states(from->activity, from->activity_count);
}

void scaledobject_free_states(struct metric_state **states, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		free((*states)[i].metric);
	mem_free_ptr(states);
	*count = 0;
}

void scaledobject_status_done(struct scaledobject_status *s)
{
	for (size_t i = 0; i < MEM_COUNT(texts); i++)
		intern_free(text_in(s, i));
	textlist_done(&s->external_metric_names, &s->external_metric_count);
	textlist_done(&s->resource_metric_names, &s->resource_metric_count);
	conditions_done(&s->conditions);
	scaledobject_free_states(&s->health, &s->health_count);
	scaledobject_free_states(&s->activity, &s->activity_count);
	memset(s, 0, sizeof(*s));
	s->original_replicas = s->paused_replicas = INT32_UNSET;
}
