/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/hpa.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crd/shape.h"

#define CONDITIONS_MAX 100

static void take_text(const json_t *object, const char *key, char **out)
{
	free(*out);
	*out = mem_dup(json_str_or_empty(object, key));
}

static void decode_scaling_active(const struct json_at *status, struct hpa *out)
{
	struct json_at list = json_field(status, "conditions");
	size_t count;

	if (shape_array(&list, CONDITIONS_MAX, &count, NULL) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_array_get(list.value, i);

		if (strcmp(json_str_or_empty(one, "type"), "ScalingActive") != 0)
			continue;
		take_text(one, "status", &out->scaling_active_status);
		take_text(one, "reason", &out->scaling_active_reason);
		take_text(one, "message", &out->scaling_active_message);
	}
}

/* The status is the HPA controller's; what cannot be read of it is as if it were not there yet. */
static void decode_status(const struct json_at *status, struct hpa *out)
{
	out->scaling_active_status = mem_dup("");
	out->scaling_active_reason = mem_dup("");
	out->scaling_active_message = mem_dup("");
	if (!json_is_object(status->value))
		return;
	json_get_int32(status, "currentReplicas", &out->current_replicas, NULL);
	json_get_int32(status, "desiredReplicas", &out->desired_replicas, NULL);
	decode_scaling_active(status, out);
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
	free(h->scaling_active_status);
	free(h->scaling_active_reason);
	free(h->scaling_active_message);
	free(h);
}
