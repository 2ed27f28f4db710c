/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fakecluster_parts.h"

#include "base/json.h"
#include "base/mem.h"

#define PHASE_IS_NOT "status.phase!="

/*
 * A list's query, taken apart. Of selectors those forms are heeded that somebody asks with: "label
 * in (a,b)", and "status.phase!=x,status.phase!=y".
 */
struct query {
	char *collection;
	char *label, *values; /* values: ",a,b,"; NULL: all */
	char *not_phases;     /* ",Pending,Failed,"; NULL: all */
	size_t limit, offset;
	json_t *items;
	size_t passed;
};

static char *unescape(const char *text, size_t len)
{
	char *out = mem_alloc(len + 1), *to = out;

	for (size_t i = 0; i < len; i++) {
		unsigned byte;

		if (text[i] == '%' && i + 2 < len && sscanf(text + i + 1, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			i += 2;
		} else {
			*to++ = text[i];
		}
	}
	*to = '\0';
	return out;
}

/* The caller owns it; NULL when absent. */
static char *parameter(const char *path, const char *name)
{
	const char *at = strchr(path, '?');
	size_t len = strlen(name);

	while (at) {
		at++;
		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return unescape(at + len + 1, strcspn(at + len + 1, "&"));
		at = strchr(at, '&');
	}
	return NULL;
}

static void take_labels(struct query *q, const char *selector)
{
	static const char in[] = " in (";
	const char *at = selector ? strstr(selector, in) : NULL;

	if (!at)
		return;
	q->label = mem_dupn(selector, (size_t)(at - selector));
	at += strlen(in);
	q->values = mem_printf(",%.*s,", (int)strcspn(at, ")"), at);
}

static void take_phases(struct query *q, const char *selector)
{
	MEM_AUTO char *copy = mem_dup(selector);
	char *rest = copy, *one;

	if (!selector || strncmp(selector, PHASE_IS_NOT, strlen(PHASE_IS_NOT)) != 0)
		return;
	q->not_phases = mem_dup(",");
	while ((one = strsep(&rest, ",")) != NULL) {
		char *longer;

		assert_true(strncmp(one, PHASE_IS_NOT, strlen(PHASE_IS_NOT)) == 0);
		longer = mem_printf("%s%s,", q->not_phases, one + strlen(PHASE_IS_NOT));
		free(q->not_phases);
		q->not_phases = longer;
	}
}

static bool is_among(const char *list, const char *text)
{
	MEM_AUTO char *part = mem_printf(",%s,", text);

	return strstr(list, part) != NULL;
}

static bool fits(const struct query *q, const json_t *object)
{
	const char *value = json_str_or_empty(json_object_get(json_object_get(object, "metadata"), "labels"),
		q->label ? q->label : "");

	return (!q->values || is_among(q->values, value)) &&
		(!q->not_phases ||
			!is_among(q->not_phases, json_str_or_empty(json_object_get(object, "status"), "phase")));
}

static void on_each(void *arg, const char *path, json_t *object)
{
	struct query *q = arg;
	size_t len = strlen(q->collection);

	if (strncmp(path, q->collection, len) != 0 || path[len] != '/' || strchr(path + len + 1, '/') ||
		!fits(q, object))
		return;
	if (q->passed++ >= q->offset && (q->limit == 0 || json_array_size(q->items) < q->limit))
		json_array_append(q->items, object);
}

/*
 * A token is an offset: pages are of what is there when they are asked for, not of one moment as
 * the real ones.
 */
int fakelist_do(const char *path, json_t **answer)
{
	MEM_AUTO char *labels = parameter(path, "labelSelector"), *fields = parameter(path, "fieldSelector"),
		      *limit = parameter(path, "limit"), *token = parameter(path, "continue");
	struct query q = { .collection = mem_dupn(path, strcspn(path, "?")),
		.limit = limit ? strtoul(limit, NULL, 10) : 0,
		.offset = token ? strtoul(token, NULL, 10) : 0,
		.items = json_array() };
	json_t *meta = json_object();

	take_labels(&q, labels);
	take_phases(&q, fields);
	fakecluster_each(on_each, &q);
	if (q.offset + json_array_size(q.items) < q.passed) {
		/* what must be escaped, as in real ones */
		MEM_AUTO char *next = mem_printf("%zu=", q.offset + json_array_size(q.items));

		json_object_set_new(meta, "continue", json_string(next));
	}
	*answer = json_pack("{s:o, s:o}", "metadata", meta, "items", q.items);
	free(q.collection);
	free(q.label);
	free(q.values);
	free(q.not_phases);
	return 0;
}
