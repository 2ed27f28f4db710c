/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/hpa.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "crd/intern.h"
#include "crd/shape.h"

#define CONDITIONS_MAX 100
#define EXTERNALS_MAX  2000
#define OWNERSHIP      "validations.keda.sh/hpa-ownership" /* "false": may share its target with a ScaledObject */

static void take_text(const json_t *object, const char *key, const char **out)
{
	intern_set(out, json_str_or_empty(object, key));
}

static void says_done(struct hpa_says *s)
{
	intern_free(s->reason);
	intern_free(s->message);
}

static void take_says(const json_t *condition, enum condition_status usual, struct hpa_says *out)
{
	says_done(out);
	out->status = condition_status_of(json_str_or_empty(condition, "status"));
	out->reason = intern_dup(json_str_or_empty(condition, "reason"));
	out->message = out->status == usual ? NULL : intern_dup(json_str_or_empty(condition, "message"));
}

static void take_condition(const json_t *one, struct hpa *out)
{
	const char *type = json_str_or_empty(one, "type");

	if (strcmp(type, "AbleToScale") == 0) {
		take_says(one, CONDITION_TRUE, &out->able_to_scale);
	} else if (strcmp(type, "ScalingLimited") == 0) {
		take_says(one, CONDITION_FALSE, &out->scaling_limited);
	} else if (strcmp(type, "ScalingActive") == 0) {
		take_text(one, "status", &out->scaling_active_status);
		take_text(one, "reason", &out->scaling_active_reason);
		take_text(one, "message", &out->scaling_active_message);
	}
}

static void decode_conditions(const struct json_at *status, struct hpa *out)
{
	struct json_at list = json_field(status, "conditions");
	size_t count;

	shape_array(&list, CONDITIONS_MAX, &count, NULL);
	for (size_t i = 0; i < count; i++)
		take_condition(json_array_get(list.value, i), out);
}

/* The HPA controller writes it: a field that cannot be read counts as absent. */
static void decode_status(const struct json_at *status, struct hpa *out)
{
	out->scaling_active_status = intern_dup("");
	out->scaling_active_reason = intern_dup("");
	out->scaling_active_message = intern_dup("");
	json_get_int32(status, "currentReplicas", &out->current_replicas, NULL);
	json_get_int32(status, "desiredReplicas", &out->desired_replicas, NULL);
	json_get_time(status, "lastScaleTime", &out->last_scale_unix_ms, NULL);
	decode_conditions(status, out);
}

/* -1 if it is of another type or cannot be read; then it counts as absent. */
static int read_external(const json_t *metric, struct hpa_external *out)
{
	static const char *const targets[] = { "averageValue", "value" };
	const json_t *external = json_object_get(metric, "external"), *target = json_object_get(external, "target");
	const char *name = json_str_or_empty(json_object_get(external, "metric"), "name");

	if (!*name)
		return -1;
	for (size_t i = 0; i < MEM_COUNT(targets); i++) {
		const char *text = json_str_or_empty(target, targets[i]);

		if (*text && quantity_parse(text, &out->target, NULL) == 0) {
			out->name = mem_dup(name);
			return 0;
		}
	}
	return -1;
}

static void decode_externals(const json_t *spec, struct hpa *out)
{
	const json_t *metrics = json_object_get(spec, "metrics");
	size_t count = json_array_size(metrics);

	if (count == 0 || count > EXTERNALS_MAX)
		return;
	out->externals = mem_array(count, sizeof(*out->externals));
	for (size_t i = 0; i < count; i++)
		if (read_external(json_array_get(metrics, i), &out->externals[out->external_count]) == 0)
			out->external_count++;
}

static void decode_target(const json_t *object, struct hpa *out)
{
	const json_t *annotations = json_metadata(object, "annotations");
	const json_t *target = json_object_get(json_object_get(object, "spec"), "scaleTargetRef");

	if (json_str_is(annotations, OWNERSHIP, "false"))
		return;
	out->target_api_version = intern_dup(json_str_or_empty(target, "apiVersion"));
	out->target_kind = intern_dup(json_str_or_empty(target, "kind"));
	out->target_name = mem_dup(json_str_or_empty(target, "name"));
}

struct hpa *hpa_decode_slim(const json_t *object, struct err *err)
{
	struct hpa *h = mem_zalloc(sizeof(*h));

	if (meta_decode_slim(object, &h->meta, err) < 0) {
		free(h);
		return NULL;
	}
	h->slim = true;
	decode_target(object, h);
	return h;
}

struct hpa *hpa_decode(const json_t *object, struct err *err)
{
	struct hpa *h = mem_zalloc(sizeof(*h));
	struct json_at root = json_root(object), status;

	if (meta_decode(object, &h->meta, err) < 0) {
		free(h);
		return NULL;
	}
	status = json_field(&root, "status");
	decode_target(object, h);
	decode_status(&status, h);
	decode_externals(json_object_get(object, "spec"), h);
	h->spec_fingerprint = hpa_spec_fingerprint(json_object_get(object, "spec"));
	return h;
}

void hpa_free(struct hpa *h)
{
	if (h == NULL)
		return;
	meta_done(&h->meta);
	intern_free(h->target_api_version);
	intern_free(h->target_kind);
	free(h->target_name);
	intern_free(h->scaling_active_status);
	intern_free(h->scaling_active_reason);
	intern_free(h->scaling_active_message);
	says_done(&h->able_to_scale);
	says_done(&h->scaling_limited);
	for (size_t i = 0; i < h->external_count; i++)
		free(h->externals[i].name);
	free(h->externals);
	free(h);
}
