/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/trigger.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "crd/shape.h"

#define METADATA_KEYS_MAX  1000         /* of one trigger */
#define METADATA_BYTES_MAX (512 * 1024) /* of all triggers: all of it is kept in memory and read at every poll */

static void trigger_done(struct trigger *t)
{
	free(t->type);
	free(t->name);
	free(t->metric_type);
	free(t->auth_name);
	free(t->auth_kind);
	strmap_done(&t->metadata);
}

static size_t bytes_of(const json_t *object)
{
	size_t bytes = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value) bytes += strlen(key) + json_string_length(value);
	return bytes;
}

static int decode_metadata(const struct json_at *trigger, struct trigger *out, size_t *room, struct err *err)
{
	struct json_at at = json_field(trigger, "metadata");
	size_t bytes;

	if (shape_object(&at, err) < 0)
		return -1;
	if (at.value == NULL)
		return 0;
	if (json_object_size(at.value) > METADATA_KEYS_MAX)
		return shape_wrong(&at, err, "%zu keys are too many: at most %d", json_object_size(at.value),
			METADATA_KEYS_MAX);
	bytes = bytes_of(at.value);
	if (bytes > *room)
		return shape_wrong(&at, err, "too long: all triggers together may have %d bytes of metadata",
			METADATA_BYTES_MAX);
	*room -= bytes;
	return json_get_strmap(trigger, "metadata", &out->metadata, err);
}

static int decode_authentication(const struct json_at *trigger, struct trigger *out, struct err *err)
{
	struct json_at at = json_field(trigger, "authenticationRef");

	if (at.value == NULL)
		return 0;
	if (shape_object(&at, err) < 0 || json_get_string(&at, "name", &out->auth_name, err) < 0 ||
		json_get_string(&at, "kind", &out->auth_kind, err) < 0)
		return -1;
	return out->auth_name != NULL ? 0 : shape_missing(&at, "name", err);
}

static int decode_trigger(const struct json_at *at, struct trigger *out, size_t *room, struct err *err)
{
	if (at->value == NULL)
		return shape_missing(at, "type", err);
	if (shape_object(at, err) < 0 || json_get_string(at, "type", &out->type, err) < 0 ||
		json_get_string(at, "name", &out->name, err) < 0 ||
		json_get_string(at, "metricType", &out->metric_type, err) < 0 ||
		json_get_bool(at, "useCachedMetrics", &out->use_cached_metrics, err) < 0 ||
		decode_metadata(at, out, room, err) < 0)
		return -1;
	return decode_authentication(at, out, err);
}

int trigger_decode_list(const struct json_at *spec, struct trigger **out, size_t *out_count, struct err *err)
{
	struct json_at list = json_field(spec, "triggers");
	size_t count, room = METADATA_BYTES_MAX;

	*out = NULL;
	*out_count = 0;
	if (shape_array(&list, SCALEDOBJECT_TRIGGERS_MAX, &count, err) < 0)
		return -1;
	if (count == 0)
		return 0;
	*out = mem_array(count, sizeof(**out));
	*out_count = count;
	for (size_t i = 0; i < count; i++) {
		struct json_at element = json_element(&list, i);

		if (decode_trigger(&element, &(*out)[i], &room, err) < 0)
			return -1;
	}
	return 0;
}

void trigger_free_list(struct trigger *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		trigger_done(&list[i]);
	free(list);
}
