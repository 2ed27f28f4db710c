/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the live HPA with the desired one, finds its owner, and makes what to write. */
#include "decide/hpaspec.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "decide/annotations.h"
#include "decide/mark.h"

#define OWNER_KIND "ScaledObject"

static bool is_scaledobject(const json_t *reference, const char *name)
{
	return meta_refers_to(reference, OWNER_KIND) && json_str_is(reference, "name", name);
}

/* By name: the uid may be that of a deleted predecessor, whose HPA is not yet garbage collected. */
static bool is_ours_already(const struct scaledobject *so, const json_t *live_object)
{
	const json_t *labels = json_metadata(live_object, "labels"), *controller = meta_controller_in(live_object);

	if (controller)
		return is_scaledobject(controller, so->meta.name);
	return json_str_is(labels, HPASPEC_MANAGED_LABEL, "true") &&
		json_str_is(labels, HPASPEC_NAME_LABEL, so->meta.name);
}

/* ---- Field managers ---- */

/* KEDA's operator counts as us: its HPA is taken over. */
static bool is_our_manager(const json_t *entry)
{
	return json_str_is(entry, "manager", "kscaled") || json_str_is(entry, "manager", "keda");
}

static bool is_of_status(const json_t *entry)
{
	return *json_str_or_empty(entry, "subresource") != '\0';
}

/* Edits have managers of other names, such as kubectl-edit. */
static bool applies(const json_t *entry)
{
	static const char *const appliers[] = { "helm", "kubectl-client-side-apply", "argocd-controller", NULL };

	return !is_our_manager(entry) && !is_of_status(entry) &&
		json_object_get(json_object_get(entry, "fieldsV1"), "f:spec") &&
		(json_str_is(entry, "operation", "Apply") ||
			text_is_one_of(json_str_or_empty(entry, "manager"), appliers));
}

const char *hpaspec_applied_by(const json_t *live_object)
{
	const json_t *entries = json_metadata(live_object, "managedFields"), *entry;
	const char *ours = "", *who = NULL, *when = "";
	size_t i;

	/* The times have one form, in UTC and whole seconds, so their texts sort by time. */
	json_array_foreach(entries, i, entry)
	{
		const char *time = json_str_or_empty(entry, "time");

		if (is_our_manager(entry) && !is_of_status(entry) && strcmp(time, ours) > 0)
			ours = time;
		if (applies(entry) && strcmp(time, when) > 0) {
			when = time;
			who = json_str_or_empty(entry, "manager");
		}
	}
	return *ours && strcmp(when, ours) > 0 ? who : NULL;
}

/*
 * What managedFields say about a map of the metadata: "f:key" -> whether we alone have written it.
 * A set, as both may be long. The caller owns it.
 */
static json_t *written_keys(const json_t *live_object, const char *map)
{
	MEM_AUTO char *in = mem_printf("f:%s", map);
	const json_t *entries = json_metadata(live_object, "managedFields"), *entry;
	json_t *keys = json_object(), *nothing;
	const char *field;
	size_t i;

	json_array_foreach(entries, i, entry)
	{
		json_t *fields = json_object_get(json_object_get(json_object_get(entry, "fieldsV1"), "f:metadata"), in);
		bool ours = is_our_manager(entry);

		json_object_foreach(fields, field, nothing)
		{
			if (!ours || !json_object_get(keys, field))
				json_object_set_new(keys, field, json_boolean(ours));
		}
	}
	return keys;
}

/* ---- May it be used? ---- */

enum hpaspec_claim hpaspec_claim(const struct scaledobject *so, const json_t *live_object)
{
	struct annotations annotations;
	bool ours = is_ours_already(so, live_object);

	if (ours && !hpaspec_applied_by(live_object))
		return HPASPEC_OURS;
	if (so->spec.hpa_name && *so->spec.hpa_name && annotations_read(so, &annotations, NULL) == 0 &&
		annotations.transfer_hpa)
		return HPASPEC_TAKEABLE;
	return ours ? HPASPEC_GIVEN_AWAY : HPASPEC_FOREIGN;
}

bool hpaspec_is_managed(const struct hpa *hpa)
{
	return text_equal(strmap_get(&hpa->meta.labels, HPASPEC_MANAGED_LABEL), "true");
}

bool hpaspec_is_of(const struct hpa *hpa, const struct scaledobject *so)
{
	const struct owner_ref *owner = meta_controller(&hpa->meta);

	if (owner)
		return strcmp(owner->uid, so->meta.uid) == 0;
	return hpaspec_is_managed(hpa) && text_equal(strmap_get(&hpa->meta.labels, HPASPEC_NAME_LABEL), so->meta.name);
}

/* ---- Comparing with the live one ---- */

/* Keys that an HPA can only have from its ScaledObject; others may be foreign. */
static bool is_ours(const char *key)
{
	static const char *const families[] = { "autoscaling.keda.sh/", "scaledobject.keda.sh/", "kscaled.io/" };

	for (size_t i = 0; i < MEM_COUNT(families); i++)
		if (text_begins(key, families[i]))
			return true;
	return false;
}

static bool map_matches(const json_t *desired, const struct strmap *live)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)desired, key, value)
	{
		if (!text_equal(strmap_get(live, key), json_string_value(value)))
			return false;
	}
	for (size_t i = 0; i < live->count; i++)
		if (is_ours(live->pairs[i].key) && !json_object_get(desired, live->pairs[i].key))
			return false;
	return true;
}

static const json_t *owner_of(const json_t *desired)
{
	return json_array_get(json_metadata(desired, "ownerReferences"), 0);
}

bool hpaspec_matches(const json_t *desired, const struct hpa *live)
{
	const json_t *metadata = json_object_get(desired, "metadata");
	const struct owner_ref *controller = meta_controller(&live->meta);

	return hpa_spec_fingerprint(json_object_get(desired, "spec")) == live->spec_fingerprint &&
		map_matches(json_object_get(metadata, "labels"), &live->meta.labels) &&
		map_matches(json_object_get(metadata, "annotations"), &live->meta.annotations) && controller &&
		strcmp(controller->uid, json_str_or_empty(owner_of(desired), "uid")) == 0;
}

static uint64_t print_map(uint64_t mark, const json_t *desired, const struct strmap *live)
{
	for (size_t i = 0; i < live->count; i++)
		if (is_ours(live->pairs[i].key) || json_object_get(desired, live->pairs[i].key))
			mark = mark_text(mark_text(mark, live->pairs[i].key), live->pairs[i].value);
	return mark;
}

uint64_t hpaspec_print(const json_t *desired, const struct hpa *live)
{
	const json_t *metadata = json_object_get(desired, "metadata");
	const struct owner_ref *controller = meta_controller(&live->meta);
	uint64_t mark = mark_text(mark_word(0, live->spec_fingerprint), controller ? controller->uid : "");

	mark = print_map(mark, json_object_get(metadata, "labels"), &live->meta.labels);
	return print_map(mark_word(mark, live->meta.labels.count > 0), json_object_get(metadata, "annotations"),
		&live->meta.annotations);
}

/* ---- Writing over the live one ---- */

/* The owner itself, or a former object with its name. */
static bool is_owner(const json_t *reference, const json_t *owner)
{
	return json_str_is(reference, "uid", json_str_or_empty(owner, "uid")) ||
		is_scaledobject(reference, json_str_or_empty(owner, "name"));
}

/* The ScaledObject's annotations are among the desired ones. */
static bool may_take(const json_t *desired)
{
	const char *text = json_str_or_empty(json_metadata(desired, "annotations"), ANNOTATION_TRANSFER_HPA);
	bool yes;

	return annotations_read_bool(text, &yes) && yes;
}

/*
 * The live references, with the desired one replacing earlier ones of ours; NULL and *err if
 * another object is the controller.
 */
static json_t *merge_owners(const json_t *desired, const json_t *live, struct err *err)
{
	const json_t *metadata = json_object_get(live, "metadata"), *owner = owner_of(desired);
	json_t *merged = json_array(), *reference;
	size_t i;

	json_array_foreach(json_object_get(metadata, "ownerReferences"), i, reference)
	{
		bool controls = json_is_true(json_object_get(reference, "controller"));

		if (is_owner(reference, owner) || (controls && may_take(desired)))
			continue;
		if (controls) {
			json_decref(merged);
			err_set(err, ERR_CONFLICT,
				"HorizontalPodAutoscaler %s/%s is controlled by %s %s: give this one another name by "
				"spec.advanced.horizontalPodAutoscalerConfig.name, or delete that one",
				json_str_or_empty(metadata, "namespace"), json_str_or_empty(metadata, "name"),
				json_str_or_empty(reference, "kind"), json_str_or_empty(reference, "name"));
			return NULL;
		}
		json_array_append(merged, reference);
	}
	json_array_append_new(merged, json_deep_copy(owner));
	return merged;
}

static bool wrote_alone(const json_t *written, const char *key)
{
	MEM_AUTO char *field = mem_printf("f:%s", key);

	return json_is_true(json_object_get(written, field));
}

static void merge_map(json_t *metadata, const json_t *desired_metadata, const json_t *live_object, const char *name)
{
	json_t *desired = json_object_get(desired_metadata, name), *live = json_object_get(metadata, name), *value,
	       *written;
	const char *key;
	void *next;

	if (!json_is_object(live)) {
		if (desired)
			json_object_set_new(metadata, name, json_deep_copy(desired));
		return;
	}
	written = written_keys(live_object, name);
	json_object_foreach_safe(live, next, key, value)
	{
		if (!json_object_get(desired, key) && (is_ours(key) || wrote_alone(written, key)))
			json_object_del(live, key);
	}
	json_decref(written);
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
	if (!owners)
		return NULL;
	merged = json_deep_copy(live_object);
	metadata = json_object_get(merged, "metadata");
	json_object_del(merged, "status");          /* not ours, and ignored here */
	json_object_del(metadata, "managedFields"); /* if absent, the API server keeps its own */
	json_object_set(merged, "apiVersion", json_object_get(desired, "apiVersion"));
	json_object_set(merged, "kind", json_object_get(desired, "kind"));
	json_object_set_new(merged, "spec", json_deep_copy(json_object_get(desired, "spec")));
	json_object_set_new(metadata, "ownerReferences", owners);
	merge_map(metadata, desired_metadata, live_object, "labels");
	merge_map(metadata, desired_metadata, live_object, "annotations");
	return merged;
}

json_t *hpaspec_given_away(const json_t *live_object)
{
	json_t *object = json_deep_copy(live_object), *metadata = json_object_get(object, "metadata"),
	       *owners = json_object_get(metadata, "ownerReferences"), *labels = json_object_get(metadata, "labels");

	json_object_del(object, "status");
	json_object_del(metadata, "managedFields");
	for (size_t i = json_array_size(owners); i > 0; i--) {
		const json_t *owner = json_array_get(owners, i - 1);

		if (is_scaledobject(owner, json_str_or_empty(owner, "name")))
			json_array_remove(owners, i - 1);
	}
	json_object_del(labels, HPASPEC_MANAGED_LABEL);
	json_object_del(labels, HPASPEC_NAME_LABEL);
	return object;
}
