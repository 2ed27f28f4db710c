/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yamljson.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/yamlscalar.h"

#define TAGS_MAX  64   /* %TAG directives of a document */
#define READ_MOST 1024 /* bytes at a time, between which directives are counted */

/* What an alias refers to. */
struct anchor {
	char *name;
	json_t *value; /* a reference; NULL while it is being read */
	size_t weight; /* number of values in it */
	UT_hash_handle hh;
};

struct yamljson {
	yaml_parser_t parser;
	yaml_event_t event;
	const char *text;
	size_t len, values_max, read;
	json_t *(*read_scalar)(const yaml_event_t *scalar);
	bool too_many_tags;
	/* Of the current document: */
	struct anchor *anchors;
	struct places *places;
	size_t weight;
	int depth;
	struct err *err;
};

/*
 * Within one call libyaml compares each %TAG directive with all before it, and each tag with all of
 * them: 60,000 took 11 s. It asks for more bytes on the way, so they are counted here.
 */
static int on_read(void *arg, unsigned char *out, size_t room, size_t *len)
{
	struct yamljson *y = arg;
	size_t left = y->len - y->read, most = room < READ_MOST ? room : READ_MOST;

	*len = left < most ? left : most;
	memcpy(out, y->text + y->read, *len);
	y->read += *len;
	y->too_many_tags = y->parser.tag_directives.top - y->parser.tag_directives.start > TAGS_MAX;
	return !y->too_many_tags;
}

struct yamljson *yamljson_new(const char *text, size_t len, size_t values_max)
{
	struct yamljson *y = mem_zalloc(sizeof(*y));

	if (!yaml_parser_initialize(&y->parser))
		abort(); /* out of memory */
	yaml_parser_set_input(&y->parser, on_read, y);
	y->text = text;
	y->len = len;
	y->values_max = values_max;
	y->read_scalar = yamlscalar_read;
	return y;
}

void yamljson_keep_texts(struct yamljson *y)
{
	y->read_scalar = yamlscalar_text;
}

static void forget_anchors(struct yamljson *y)
{
	struct anchor *a, *next;

	HASH_ITER (hh, y->anchors, a, next) {
		HASH_DELETE(hh, y->anchors, a);
		json_decref(a->value);
		free(a->name);
		free(a);
	}
}

void yamljson_free(struct yamljson *y)
{
	if (!y)
		return;
	forget_anchors(y);
	yaml_event_delete(&y->event);
	yaml_parser_delete(&y->parser);
	free(y);
}

/* ---- Errors ---- */

static int wrong_event(struct yamljson *y, const char *what)
{
	return err_set(y->err, ERR_INVALID, "line %zu: %s", y->event.start_mark.line + 1, what);
}

static json_t *fail_value(struct yamljson *y, const char *what)
{
	wrong_event(y, what);
	return NULL;
}

/* For an error of its byte reader libyaml knows the offset but not the line. */
static size_t line_of_problem(const struct yamljson *y)
{
	size_t line = 1, end = y->parser.problem_offset < y->len ? y->parser.problem_offset : y->len;

	if (y->parser.error != YAML_READER_ERROR)
		return y->parser.problem_mark.line + 1;
	for (size_t i = 0; i < end; i++)
		line += y->text[i] == '\n';
	return line;
}

static int advance(struct yamljson *y)
{
	yaml_event_delete(&y->event);
	if (yaml_parser_parse(&y->parser, &y->event))
		return 0;
	if (y->too_many_tags)
		return err_set(y->err, ERR_INVALID, "line %zu: there are more than %d %%TAG directives",
			y->parser.mark.line + 1, TAGS_MAX);
	return err_set(y->err, ERR_INVALID, "line %zu: not YAML: %s", line_of_problem(y),
		y->parser.problem ? y->parser.problem : "it cannot be read");
}

/* ---- Anchors ---- */

static struct anchor *find_anchor(struct yamljson *y, const char *name)
{
	struct anchor *a;

	HASH_FIND_STR(y->anchors, name, a);
	return a;
}

/* NULL: no name. A name that was used before gets a new value. */
static struct anchor *begin_anchor(struct yamljson *y, const yaml_char_t *name)
{
	struct anchor *a = name ? find_anchor(y, (const char *)name) : NULL;

	if (a) {
		json_decref(a->value);
		a->value = NULL;
	} else if (name) {
		a = mem_zalloc(sizeof(*a));
		a->name = mem_dup((const char *)name);
		HASH_ADD_KEYPTR(hh, y->anchors, a->name, strlen(a->name), a);
	}
	return a;
}

static void end_anchor(struct anchor *a, json_t *value, size_t weight)
{
	if (!a)
		return;
	json_decref(a->value);
	a->value = json_incref(value);
	a->weight = weight;
}

static int count_weight(struct yamljson *y, size_t weight)
{
	y->weight += weight;
	if (y->weight <= y->values_max)
		return 0;
	return err_set(y->err, ERR_INVALID,
		"line %zu: the document has too many values (aliases count like their values): at most %zu",
		y->event.start_mark.line + 1, y->values_max);
}

static json_t *build_alias(struct yamljson *y)
{
	struct anchor *a = find_anchor(y, (const char *)y->event.data.alias.anchor);

	if (!a)
		return fail_value(y, "the alias refers to an anchor that does not exist");
	if (!a->value)
		return fail_value(y, "the alias refers to a value that it is part of");
	return count_weight(y, a->weight) == 0 ? json_incref(a->value) : NULL;
}

/* ---- Values ---- */

static json_t *build(struct yamljson *y, size_t place);

static int add_element(struct yamljson *y, json_t *list, size_t place)
{
	struct place at = { .parent = (uint32_t)place,
		.line = (uint32_t)y->event.start_mark.line + 1,
		.index = (uint32_t)json_array_size(list) };
	json_t *value = build(y, places_add(y->places, at));

	return value ? json_array_append_new(list, value) : -1;
}

static json_t *build_list(struct yamljson *y, size_t place)
{
	json_t *list = json_array();

	while (advance(y) == 0) {
		if (y->event.type == YAML_SEQUENCE_END_EVENT)
			return list;
		if (add_element(y, list, place) < 0)
			break;
	}
	json_decref(list);
	return NULL;
}

/* `<<: *base` adds the fields that the mapping itself does not have. */
static int merge_one(struct yamljson *y, json_t *object, const json_t *base)
{
	return json_is_object(base) ? json_object_update_missing(object, (json_t *)(uintptr_t)base)
				    : wrong_event(y, "<< takes a mapping, or a list of them");
}

/* In a list of mappings earlier ones take precedence. */
static int merge(struct yamljson *y, json_t *object, const json_t *base)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(base))
		return merge_one(y, object, base);
	json_array_foreach(base, i, one) if (merge_one(y, object, one) < 0) return -1;
	return 0;
}

/* Keeps a value that the document no longer contains, because places borrow its keys. */
static void keep_value(struct yamljson *y, json_t *value)
{
	if (!y->places->kept)
		y->places->kept = json_array();
	json_array_append(y->places->kept, value);
}

/* The key as stored in the object, where it stays when the value is replaced. */
static const char *reserve(json_t *object, const char *key)
{
	if (!json_object_get(object, key))
		json_object_set_new(object, key, json_null());
	return json_object_iter_key(json_object_iter_at(object, key));
}

static bool is_merge_key(const yaml_event_t *event)
{
	return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.tag &&
		strcmp((const char *)event->data.scalar.value, "<<") == 0;
}

static bool is_key(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT &&
		strlen((const char *)event->data.scalar.value) == event->data.scalar.length;
}

static int add_merged(struct yamljson *y, json_t *merged, struct place at)
{
	json_t *value;

	at.key = "<<";
	value = advance(y) == 0 ? build(y, places_add(y->places, at)) : NULL;
	if (!value)
		return -1;
	keep_value(y, value);
	return json_array_append_new(merged, value);
}

/* The event is the key. The values of `<<` go into `merged`. */
static int add_field(struct yamljson *y, json_t *object, json_t *merged, size_t place)
{
	struct place at = { .parent = (uint32_t)place, .line = (uint32_t)y->event.start_mark.line + 1 };
	const char *key = (const char *)y->event.data.scalar.value;
	json_t *before, *value;
	size_t own;

	if (!is_key(&y->event))
		return wrong_event(y, "a key must be a text");
	if (is_merge_key(&y->event))
		return add_merged(y, merged, at);
	before = json_object_get(object, key);
	at.key = reserve(object, key);
	own = places_add(y->places, at);
	if (before) {
		places_add_fault(y->places, own, at.key);
		keep_value(y, before);
	}
	value = advance(y) == 0 ? build(y, own) : NULL;
	return value ? json_object_set_new(object, at.key, value) : -1;
}

static int add_fields(struct yamljson *y, json_t *object, json_t *merged, size_t place)
{
	const json_t *base;
	size_t i;

	while (advance(y) == 0) {
		if (y->event.type != YAML_MAPPING_END_EVENT) {
			if (add_field(y, object, merged, place) < 0)
				return -1;
			continue;
		}
		json_array_foreach(merged, i, base) if (merge(y, object, base) < 0) return -1;
		return 0;
	}
	return -1;
}

static json_t *build_mapping(struct yamljson *y, size_t place)
{
	json_t *object = json_object(), *merged = json_array();

	if (add_fields(y, object, merged, place) < 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(merged);
	return object;
}

/* Builds the value that begins with this event, up to its last event. */
static json_t *build(struct yamljson *y, size_t place)
{
	struct anchor *anchor = NULL;
	size_t before = y->weight;
	json_t *value = NULL;

	if (count_weight(y, 1) < 0)
		return NULL;
	if (++y->depth > YAMLJSON_DEPTH_MAX)
		return fail_value(y, "nested too deep: at most 100 levels");
	switch (y->event.type) {
	case YAML_ALIAS_EVENT: value = build_alias(y); break;
	case YAML_SCALAR_EVENT:
		anchor = begin_anchor(y, y->event.data.scalar.anchor);
		value = y->read_scalar(&y->event);
		if (!value)
			return fail_value(y, "the value has a tag that is not understood, or is not what its tag says");
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = begin_anchor(y, y->event.data.sequence_start.anchor);
		value = build_list(y, place);
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = begin_anchor(y, y->event.data.mapping_start.anchor);
		value = build_mapping(y, place);
		break;
	default: return fail_value(y, "not YAML");
	}
	y->depth--;
	if (value)
		end_anchor(anchor, value, y->weight - before);
	return value;
}

static json_t *build_document(struct yamljson *y)
{
	struct place at = { .parent = PLACES_NONE, .line = (uint32_t)y->event.start_mark.line + 1 };
	json_t *value;

	y->weight = 0;
	y->depth = 0;
	value = build(y, places_add(y->places, at));
	forget_anchors(y);
	return value;
}

int yamljson_next(struct yamljson *y, json_t **out, struct places *places, struct err *err)
{
	y->err = err;
	y->places = places;
	do {
		if (advance(y) < 0)
			return -1;
		if (y->event.type == YAML_STREAM_END_EVENT)
			return 0;
	} while (y->event.type == YAML_STREAM_START_EVENT || y->event.type == YAML_DOCUMENT_START_EVENT ||
		y->event.type == YAML_DOCUMENT_END_EVENT);
	*out = build_document(y);
	return *out ? 1 : -1;
}
