/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/schema.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/editdist.h"
#include "base/mem.h"

#define PATH_SIZE         512
#define MESSAGE_BYTES_MAX 1024
#define WORD_MAX          80 /* of an unknown value */

struct check {
	schema_fn fn;
	void *arg;
};

/* A value with its path. json_at itself does not distinguish null from absent. */
struct spot {
	struct json_at at;
	const json_t *value;
};

static void check_value(const struct check *c, const json_t *schema, const struct spot *spot);

static void __attribute__((format(printf, 3, 4)))
report(const struct check *c, const struct json_at *at, const char *fmt, ...)
{
	char path[PATH_SIZE];
	va_list ap;
	char *message;

	va_start(ap, fmt);
	message = mem_vprintf(fmt, ap);
	va_end(ap);
	c->fn(c->arg, json_path(at, path, sizeof(path)), message);
	mem_free_ptr(&message);
}

/* ---- Types ---- */

static bool is_integer(const json_t *v)
{
	return json_is_integer(v) || (json_is_real(v) && trunc(json_real_value(v)) == json_real_value(v));
}

static const struct type {
	const char *name, *a_name;
	unsigned fits; /* one bit for each jansson type */
} types[] = {
	{ "string", "a string", 1u << JSON_STRING },
	{ "integer", "a whole number", 1u << JSON_INTEGER },
	{ "number", "a number", 1u << JSON_INTEGER | 1u << JSON_REAL },
	{ "boolean", "true or false", 1u << JSON_TRUE | 1u << JSON_FALSE },
	{ "object", "an object", 1u << JSON_OBJECT },
	{ "array", "a list", 1u << JSON_ARRAY },
};

static const char *name_of(const json_t *value)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object",
		[JSON_ARRAY] = "a list",
		[JSON_STRING] = "a string",
		[JSON_INTEGER] = "a number",
		[JSON_REAL] = "a number",
		[JSON_TRUE] = "true",
		[JSON_FALSE] = "false",
		[JSON_NULL] = "null",
	};

	return names[json_typeof(value)];
}

/* Missing quotes around a number or a word like `yes` are the most common fault in metadata. */
static const char *advice(const char *wanted, const json_t *value)
{
	if (strcmp(wanted, "string") == 0 && (json_is_number(value) || json_is_boolean(value)))
		return ": put it in quotes";
	if (json_is_string(value) &&
		(strcmp(wanted, "integer") == 0 || strcmp(wanted, "number") == 0 || strcmp(wanted, "boolean") == 0))
		return ": remove the quotes";
	return "";
}

static bool check_type(const struct check *c, const json_t *schema, const struct spot *spot)
{
	const char *wanted = json_str_or_empty(schema, "type");
	/* 3.0 is also a whole number. */
	unsigned is = 1u << (is_integer(spot->value) ? JSON_INTEGER : json_typeof(spot->value));

	if (json_is_true(json_object_get(schema, "x-kubernetes-int-or-string"))) {
		if (json_is_string(spot->value) || is_integer(spot->value))
			return true;
		report(c, &spot->at, "must be a string or a whole number, not %s", name_of(spot->value));
		return false;
	}
	for (size_t i = 0; i < MEM_COUNT(types); i++) {
		if (strcmp(types[i].name, wanted) != 0 || types[i].fits & is)
			continue;
		report(c, &spot->at, "must be %s, not %s%s", types[i].a_name, name_of(spot->value),
			advice(wanted, spot->value));
		return false;
	}
	return true;
}

/* ---- One value ---- */

static void check_enum(const struct check *c, const json_t *schema, const struct spot *spot)
{
	const json_t *allowed = json_object_get(schema, "enum"), *one;
	const char *text = json_string_value(spot->value);
	struct editdist_best near = editdist_best_of(text ? text : "");
	struct buf list = BUF_INIT(MESSAGE_BYTES_MAX);
	size_t i;

	json_array_foreach(allowed, i, one)
	{
		const char *word = json_string_value(one);

		if (json_equal((json_t *)(uintptr_t)one, (json_t *)(uintptr_t)spot->value)) {
			buf_done(&list);
			return;
		}
		if (!word || !*word)
			continue;
		buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", word);
		editdist_offer(&near, word);
	}
	if (allowed)
		report(c, &spot->at, "\"%.*s\" is not one of %s%s%s%s", WORD_MAX, text ? text : "", buf_text(&list),
			near.name ? ": did you mean " : "", near.name ? near.name : "", near.name ? "?" : "");
	buf_done(&list);
}

static void check_number(const struct check *c, const json_t *schema, const struct spot *spot)
{
	const json_t *minimum = json_object_get(schema, "minimum"), *maximum = json_object_get(schema, "maximum");
	double value = json_number_value(spot->value), least = json_number_value(minimum),
	       most = json_number_value(maximum);
	bool small = json_str_is(schema, "format", "int32");

	if (small && (value < INT32_MIN || value > INT32_MAX))
		report(c, &spot->at, "%.15g is out of range: from %" PRId32 " to %" PRId32, value, INT32_MIN,
			INT32_MAX);
	else if (minimum && value < least)
		report(c, &spot->at, "%.15g is too small: at least %.15g", value, least);
	else if (maximum && value > most)
		report(c, &spot->at, "%.15g is too big: at most %.15g", value, most);
}

/* Characters are counted, not bytes. */
static size_t characters(const json_t *value)
{
	const char *text = json_string_value(value);
	size_t count = 0;

	for (size_t i = 0; i < json_string_length(value); i++)
		count += ((unsigned char)text[i] & 0xC0) != 0x80;
	return count;
}

static void check_length(const struct check *c, const json_t *schema, const struct spot *spot, const char *least_key,
	const char *most_key, size_t count, const char *what)
{
	const json_t *least = json_object_get(schema, least_key), *most = json_object_get(schema, most_key);

	if (least && (json_int_t)count < json_integer_value(least))
		report(c, &spot->at, count == 0 ? "must not be empty" : "has %zu %s: at least %" JSON_INTEGER_FORMAT,
			count, what, json_integer_value(least));
	else if (most && (json_int_t)count > json_integer_value(most))
		report(c, &spot->at, "has %zu %s: at most %" JSON_INTEGER_FORMAT, count, what,
			json_integer_value(most));
}

/* ---- Lists and objects ---- */

static void check_list(const struct check *c, const json_t *schema, const struct spot *spot)
{
	const json_t *items = json_object_get(schema, "items"), *value;
	size_t i;

	check_length(c, schema, spot, "minItems", "maxItems", json_array_size(spot->value), "entries");
	json_array_foreach(spot->value, i, value)
	{
		struct spot inner = { json_element(&spot->at, i), value };

		check_value(c, items, &inner);
	}
}

static void check_required(const struct check *c, const json_t *schema, const struct spot *spot)
{
	const json_t *name;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, name)
	{
		struct json_at field = json_field(&spot->at, json_string_value(name));

		if (!json_object_get(spot->value, json_string_value(name)))
			report(c, &field, "missing");
	}
}

static void report_unknown(const struct check *c, const json_t *properties, const struct json_at *at)
{
	struct editdist_best near = editdist_best_of(at->key);
	const char *name;
	json_t *ignored;

	json_object_foreach((json_t *)(uintptr_t)properties, name, ignored) editdist_offer(&near, name);
	(void)ignored;
	if (near.name)
		report(c, at, "unknown field: did you mean %s?", near.name);
	else
		report(c, at, "unknown field");
}

/*
 * An object without properties takes anything, such as metadata, whose schema the API server has.
 */
static void check_fields(const struct check *c, const json_t *schema, const struct spot *spot)
{
	const json_t *properties = json_object_get(schema, "properties"),
		     *additional = json_object_get(schema, "additionalProperties");
	bool open = (!properties && !additional) || json_is_true(additional) ||
		json_is_true(json_object_get(schema, "x-kubernetes-preserve-unknown-fields"));
	const char *key;
	json_t *value;

	check_required(c, schema, spot);
	json_object_foreach((json_t *)(uintptr_t)spot->value, key, value)
	{
		struct spot inner = { json_field(&spot->at, key), value };
		const json_t *known = json_object_get(properties, key);

		if (known || json_is_object(additional))
			check_value(c, known ? known : additional, &inner);
		else if (!open)
			report_unknown(c, properties, &inner.at);
	}
}

static void check_value(const struct check *c, const json_t *schema, const struct spot *spot)
{
	if (!schema || (json_is_null(spot->value) && json_is_true(json_object_get(schema, "nullable"))))
		return;
	if (!check_type(c, schema, spot))
		return;
	check_enum(c, schema, spot);
	if (json_is_number(spot->value))
		check_number(c, schema, spot);
	else if (json_is_string(spot->value))
		check_length(c, schema, spot, "minLength", "maxLength", characters(spot->value), "characters");
	else if (json_is_array(spot->value))
		check_list(c, schema, spot);
	else if (json_is_object(spot->value))
		check_fields(c, schema, spot);
}

void schema_check(const json_t *schema, const json_t *value, schema_fn fn, void *arg)
{
	struct check c = { fn, arg };
	struct spot root = { json_root(value), value };

	check_value(&c, schema, &root);
}
