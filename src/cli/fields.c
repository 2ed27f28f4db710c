/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/timestamp.h"

const json_t *fields_at(const json_t *object, const char *path)
{
	char key[64];

	while (object && *path) {
		size_t len = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		object = json_is_array(object) ? json_array_get(object, (size_t)atoi(key))
					       : json_object_get(object, key);
		path += len + (path[len] == '.');
	}
	return object;
}

const char *fields_text(const json_t *object, const char *path)
{
	const char *text = json_string_value(fields_at(object, path));

	return text ? text : "";
}

bool fields_is(const json_t *object, const char *path, const char *text)
{
	const char *found = json_string_value(fields_at(object, path));

	return found && strcmp(found, text) == 0;
}

json_int_t fields_number(const json_t *object, const char *path)
{
	return json_integer_value(fields_at(object, path));
}

int64_t fields_time(const json_t *object, const char *path)
{
	int64_t ms = 0;

	return timestamp_parse(fields_text(object, path), &ms, NULL) == 0 ? ms : 0;
}

const char *fields_namespace(const json_t *object)
{
	return fields_text(object, "metadata.namespace");
}

const char *fields_name(const json_t *object)
{
	return fields_text(object, "metadata.name");
}

const json_t *fields_entry(const json_t *list, const char *key, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (json_str_is(one, key, text))
			return one;
	}
	return NULL;
}

const json_t *fields_condition(const json_t *object, const char *type)
{
	return fields_entry(fields_at(object, "status.conditions"), "type", type);
}

bool fields_has_condition(const json_t *object, const char *type)
{
	return fields_is(fields_condition(object, type), "status", "True");
}
