/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/hpa.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crd/phrase.h"
#include "crd/shape.h"

#define CONDITIONS_MAX 100

static void take_text(const json_t *object, const char *key, const char **out)
{
	phrase_set(out, json_str_or_empty(object, key));
}

static enum condition_status status_of(const json_t *condition)
{
	const char *text = json_str_or_empty(condition, "status");

	return strcmp(text, "True") == 0 ? CONDITION_TRUE : strcmp(text, "False") == 0 ? CONDITION_FALSE : CONDITION_UNKNOWN;
}

static void says_done(struct hpa_says *s)
{
	phrase_free(s->reason);
	phrase_free(s->message);
}

static void take_says(const json_t *condition, enum condition_status usual, struct hpa_says *out)
{
	says_done(out);
	out->status = status_of(condition);
	out->reason = phrase_dup(json_str_or_empty(condition, "reason"));
	out->message = out->status == usual ? NULL : phrase_dup(json_str_or_empty(condition, "message"));
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

	if (shape_array(&list, CONDITIONS_MAX, &count, NULL) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		take_condition(json_array_get(list.value, i), out);
}

/* The status is the HPA controller's; what cannot be read of it is as if it were not there yet. */
static void decode_status(const struct json_at *status, struct hpa *out)
{
	out->scaling_active_status = phrase_dup("");
	out->scaling_active_reason = phrase_dup("");
	out->scaling_active_message = phrase_dup("");
	if (!json_is_object(status->value))
		return;
	json_get_int32(status, "currentReplicas", &out->current_replicas, NULL);
	json_get_int32(status, "desiredReplicas", &out->desired_replicas, NULL);
	json_get_time(status, "lastScaleTime", &out->last_scale_unix_ms, NULL);
	decode_conditions(status, out);
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
	decode_status(&status, h);
	h->spec_fingerprint = hpa_spec_fingerprint(json_object_get(object, "spec"));
	return h;
}

void hpa_free(struct hpa *h)
{
	if (h == NULL)
		return;
	meta_done(&h->meta);
	phrase_free(h->scaling_active_status);
	phrase_free(h->scaling_active_reason);
	phrase_free(h->scaling_active_message);
	says_done(&h->able_to_scale);
	says_done(&h->scaling_limited);
	free(h);
}
