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

/* The remaining room for the metadata of all triggers. */
struct trigger_room {
	size_t bytes, variables;
};

static bool names_variable(const char *key)
{
	static const char end[] = "FromEnv";
	size_t len = strlen(key), tail = sizeof(end) - 1;

	return len > tail && strcmp(key + len - tail, end) == 0;
}

static struct trigger_room room_for(const json_t *object)
{
	struct trigger_room needed = { 0, 0 };
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		needed.bytes += strlen(key) + json_string_length(value);
		needed.variables += names_variable(key);
	}
	return needed;
}

static int decode_metadata(const struct json_at *trigger, struct trigger *out, struct trigger_room *room,
	struct err *err)
{
	struct json_at at = json_field(trigger, "metadata");
	struct trigger_room needed;

	if (shape_object(&at, err) < 0)
		return -1;
	if (at.value == NULL)
		return 0;
	if (json_object_size(at.value) > METADATA_KEYS_MAX)
		return shape_wrong(&at, err, "%zu keys are too many: at most %d", json_object_size(at.value),
			METADATA_KEYS_MAX);
	needed = room_for(at.value);
	if (needed.variables > room->variables)
		return shape_wrong(&at, err,
			"too many parameters that name a variable (...FromEnv): at most %d in all triggers together",
			TRIGGER_VARIABLES_MAX);
	if (needed.bytes > room->bytes)
		return shape_wrong(&at, err, "too long: all triggers together may have %d bytes of metadata",
			METADATA_BYTES_MAX);
	room->bytes -= needed.bytes;
	room->variables -= needed.variables;
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

static int decode_trigger(const struct json_at *at, struct trigger *out, struct trigger_room *room, struct err *err)
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
	struct trigger_room room = { METADATA_BYTES_MAX, TRIGGER_VARIABLES_MAX };
	size_t count;

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
