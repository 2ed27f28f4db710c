/* SPDX-License-Identifier: Apache-2.0 */
#include "explained.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "serve/insight/insight.h"

static json_t *unquoted(const char *quoted)
{
	MEM_AUTO char *text = mem_dup(quoted);
	json_t *json;

	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_parse(text, strlen(text), NULL);
	assert_non_null(json);
	return json;
}

struct scaledobject *given(const char *quoted)
{
	json_t *json = unquoted(quoted);
	struct scaledobject *so = scaledobject_decode(json, NULL);

	json_decref(json);
	assert_non_null(so);
	room.cache->object = so;
	return so;
}

struct scaledjob *given_job(const char *quoted)
{
	json_t *json = unquoted(quoted);
	struct scaledjob *sj = scaledjob_decode(json, NULL);

	json_decref(json);
	assert_non_null(sj);
	room.cache->job = sj;
	return sj;
}

struct httpd_request *ask(const char *path)
{
	static char uri[512];

	snprintf(uri, sizeof(uri), INSIGHT_PATH "%s", path);
	return room_send(ROUTE_SOCKET, "GET", uri, NULL, NULL, NULL);
}

json_t *ask_explanation(const char *path)
{
	json_t *body = room_body(ask(path)), *explanation = json_incref(json_object_get(body, "explanation"));

	assert_true(json_is_object(explanation));
	json_decref(body);
	return explanation;
}

static const json_t *member(const json_t *object, const char *path)
{
	MEM_AUTO char *copy = mem_dup(path);
	char *rest = copy, *key;

	while (object && (key = strsep(&rest, ".")) != NULL)
		object = json_is_array(object) ? json_array_get(object, (size_t)atoi(key))
					       : json_object_get(object, key);
	return object;
}

const json_t *at(const json_t *object, const char *path)
{
	const json_t *found = member(object, path);

	return json_is_null(found) ? NULL : found;
}

bool has(const json_t *object, const char *path)
{
	return member(object, path) != NULL;
}

void expect_text(const json_t *object, const char *path, const char *text)
{
	const char *found = json_string_value(at(object, path));

	if (!found || strcmp(found, text) != 0)
		fail_msg("%s is \"%s\", not \"%s\"", path, found ? found : "null", text);
}

void expect_int(const json_t *object, const char *path, int value)
{
	const json_t *found = at(object, path);

	if (!json_is_integer(found) || json_integer_value(found) != value)
		fail_msg("%s is %lld, not %d", path, (long long)json_integer_value(found), value);
}
