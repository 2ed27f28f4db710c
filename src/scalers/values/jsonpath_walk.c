/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates a compiled path on an answer. */
#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "scalers/values/jsonpath.h"
#include "scalers/values/jsonpath_parts.h"
#include "scalers/values/metricvalue.h"

/*
 * The budget counts steps of one character comparison, some two nanoseconds. Other work counts as:
 */
#define STEPS_MAX 5000000
#define VISIT     50  /* visiting a value */
#define REBUILD   800 /* copying a field to another object */

struct walk {
	size_t steps; /* remaining; 0: given up */
};

static json_t *run(struct walk *w, const struct jsonpath *p, json_t *value);

/* False: the budget is used up. */
static bool spend(struct walk *w, size_t steps)
{
	w->steps = steps < w->steps ? w->steps - steps : 0;
	return w->steps > 0;
}

static bool visit(struct walk *w)
{
	return spend(w, VISIT);
}

/* ---- Names ---- */

static size_t character_length(const char *text)
{
	size_t len = 1;

	while (((unsigned char)text[len] & 0xC0) == 0x80)
		len++;
	return len;
}

/*
 * Matches a pattern: * is any text, ? any character, \x is x. Only the last * is retried, so the
 * time is at most the product of the lengths.
 */
static bool fits(struct walk *w, const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL;

	while (*text && spend(w, 1)) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = text;
		} else if (*pattern == '?') {
			pattern++;
			text += character_length(text);
		} else if (*pattern && pattern[*pattern == '\\' && pattern[1]] == *text) {
			pattern += 1 + (*pattern == '\\' && pattern[1]);
			text++;
		} else if (star) {
			pattern = star;
			text = retry += character_length(retry);
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return w->steps > 0 && !*pattern;
}

/* ---- Conditions ---- */

/* Whether a comparison's result (negative, 0, positive) satisfies the operator. */
static bool holds(enum jsonpath_operator operator, int order)
{
	switch (operator) {
	case JSONPATH_EQUAL: return order == 0;
	case JSONPATH_UNEQUAL: return order != 0;
	case JSONPATH_LESS: return order < 0;
	case JSONPATH_AT_MOST: return order <= 0;
	case JSONPATH_MORE: return order > 0;
	case JSONPATH_AT_LEAST: return order >= 0;
	default: return false;
	}
}

static bool compare(struct walk *w, const struct jsonpath_condition *c, const json_t *value)
{
	bool truth;

	switch (json_typeof(value)) {
	case JSON_STRING:
		if (c->operator== JSONPATH_LIKE || c->operator== JSONPATH_UNLIKE)
			return fits(w, c->text, json_string_value(value)) == (c->operator== JSONPATH_LIKE);
		return holds(c->operator, strcmp(json_string_value(value), c->text));
	case JSON_REAL:
	case JSON_INTEGER:
		if (!c->is_number)
			return c->operator== JSONPATH_UNEQUAL;
		return holds(
			c->operator,(json_number_value(value) > c->number) - (json_number_value(value) < c->number));
	case JSON_TRUE:
	case JSON_FALSE:
		truth = strcmp(c->text, "true") == 0;
		if (!truth && strcmp(c->text, "false") != 0)
			return c->operator== JSONPATH_UNEQUAL;
		return holds(c->operator,(int) json_is_true(value) - (int)truth);
	default: /* null, objects and arrays are not compared */ return false;
	}
}

static bool is_meant(struct walk *w, const struct jsonpath_condition *c, json_t *element)
{
	json_t *value = c->of ? run(w, c->of, element) : json_incref(element);
	bool meant = value && (c->operator== JSONPATH_EXISTS || compare(w, c, value));

	json_decref(value);
	return meant;
}

/* ---- Modifiers ---- */

static json_t *reversed(struct walk *w, json_t *value)
{
	json_t *out = json_is_array(value) ? json_array() : json_object(), *one;
	const char *key;
	size_t i = json_array_size(value);

	for (; json_is_array(value) && i > 0 && visit(w); i--)
		json_array_append(out, json_array_get(value, i - 1));
	if (json_is_object(value)) { /* only the order changes, for patterns and @values */
		json_t *pairs = json_array();

		json_object_foreach(value, key, one) if (spend(w, REBUILD))
			json_array_append_new(pairs, json_pack("[sO]", key, one));
		for (i = json_array_size(pairs); i > 0; i--)
			json_object_set(out, json_string_value(json_array_get(json_array_get(pairs, i - 1), 0)),
				json_array_get(json_array_get(pairs, i - 1), 1));
		json_decref(pairs);
	}
	return out;
}

/* The names of an object, or its values. */
static json_t *fields(struct walk *w, json_t *object, bool names)
{
	json_t *out = json_array(), *one;
	const char *key;

	json_object_foreach(object, key, one) if (visit(w))
		json_array_append_new(out, names ? json_string(key) : json_incref(one));
	return out;
}

/* One level, as GJSON without arguments. */
static json_t *flattened(struct walk *w, json_t *list)
{
	json_t *out = json_array(), *one, *inner;
	size_t i, k;

	json_array_foreach(list, i, one)
	{
		if (!json_is_array(one) && visit(w))
			json_array_append(out, one);
		json_array_foreach(one, k, inner) if (visit(w)) json_array_append(out, inner);
	}
	return out;
}

static json_t *modified(struct walk *w, enum jsonpath_kind kind, json_t *value)
{
	switch (kind) {
	case JSONPATH_REVERSE:
		return json_is_array(value) || json_is_object(value) ? reversed(w, value) : json_incref(value);
	case JSONPATH_KEYS: return json_is_object(value) ? fields(w, value, true) : NULL;
	case JSONPATH_VALUES:
		return json_is_object(value)   ? fields(w, value, false)
			: json_is_array(value) ? json_incref(value)
					       : json_pack("[O]", value);
	case JSONPATH_FLATTEN: return json_is_array(value) ? flattened(w, value) : json_incref(value);
	default: return json_incref(value);
	}
}

/* ---- Steps: each returns a value with a count for the caller, or NULL where there is none ---- */

static json_t *walk_steps(struct walk *w, const struct jsonpath_step *step, const struct jsonpath_step *end,
	json_t *value);

static json_t *walk_key(struct walk *w, const struct jsonpath_step *step, const struct jsonpath_step *end,
	json_t *value)
{
	json_t *next = json_is_object(value) ? json_object_get(value, step->text)
		: step->indexed              ? json_array_get(value, step->index)
					     : NULL;

	return next ? walk_steps(w, step + 1, end, next) : NULL;
}

/* A matching field below which the rest of the path fails is skipped. */
static json_t *walk_pattern(struct walk *w, const struct jsonpath_step *step, const struct jsonpath_step *end,
	json_t *value)
{
	json_t *one, *found;
	const char *key;

	json_object_foreach(value, key, one)
	{
		found = visit(w) && fits(w, step->text, key) ? walk_steps(w, step + 1, end, one) : NULL;
		if (found)
			return found;
	}
	return NULL;
}

/* Applies the remaining steps to each element that satisfies the condition, if there is one. */
static json_t *walk_each(struct walk *w, const struct jsonpath_step *step, const struct jsonpath_step *end,
	json_t *list)
{
	json_t *out = json_array(), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		json_t *found = visit(w) && (!step->condition || is_meant(w, step->condition, one))
			? walk_steps(w, step + 1, end, one)
			: NULL;

		if (found)
			json_array_append_new(out, found);
	}
	return out;
}

static json_t *walk_hash(struct walk *w, const struct jsonpath_step *step, const struct jsonpath_step *end,
	json_t *value)
{
	if (!json_is_array(value))
		return walk_key(w, step, end, value);
	return step + 1 == end ? json_real((double)json_array_size(value)) : walk_each(w, step, end, value);
}

static json_t *walk_first(struct walk *w, const struct jsonpath_step *step, const struct jsonpath_step *end,
	json_t *value)
{
	json_t *one;
	size_t i;

	json_array_foreach(value, i, one) if (visit(w) && is_meant(w, step->condition, one)) return walk_steps(w,
		step + 1, end, one);
	return NULL;
}

static json_t *walk_modifier(struct walk *w, const struct jsonpath_step *step, const struct jsonpath_step *end,
	json_t *value)
{
	json_t *next = modified(w, step->kind, value);
	json_t *found = next ? walk_steps(w, step + 1, end, next) : NULL;

	json_decref(next);
	return found;
}

static json_t *walk_steps(struct walk *w, const struct jsonpath_step *step, const struct jsonpath_step *end,
	json_t *value)
{
	if (step == end)
		return json_incref(value);
	if (!visit(w))
		return NULL;
	switch (step->kind) {
	case JSONPATH_KEY: return walk_key(w, step, end, value);
	case JSONPATH_PATTERN: return walk_pattern(w, step, end, value);
	case JSONPATH_HASH: return walk_hash(w, step, end, value);
	case JSONPATH_FIRST: return walk_first(w, step, end, value);
	case JSONPATH_ALL: return json_is_array(value) ? walk_each(w, step, end, value) : NULL;
	default: return walk_modifier(w, step, end, value);
	}
}

/*
 * Evaluates the path from one | to the next: what follows a | applies to the whole result before
 * it.
 */
static json_t *run(struct walk *w, const struct jsonpath *p, json_t *value)
{
	size_t from = 0, to;

	json_incref(value);
	for (; value && from < p->count; from = to) {
		json_t *next;

		for (to = from + 1; to < p->count && !p->steps[to].piped; to++)
			;
		next = walk_steps(w, p->steps + from, p->steps + to, value);
		json_decref(value);
		value = next;
	}
	return value;
}

/* ---- The number ---- */

/*
 * Accepts integers of any length and a byte order mark; refuses duplicate names, which parsers
 * treat differently.
 */
json_t *jsonpath_load(const char *text, size_t len, struct err *err)
{
	static const char mark[] = "\xEF\xBB\xBF";
	size_t skip = len >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
	json_error_t where;
	json_t *tree;

	if (!json_is_bearable(text, len, err)) {
		err_wrap(err, "the text is too large");
		return NULL;
	}
	tree = json_loadb(text + skip, len - skip,
		JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &where);
	if (!tree)
		metricvalue_bad_json(&where, err);
	return tree;
}

int jsonpath_read_in(const struct jsonpath *p, json_t *tree, metricvalue_fn read, double *out, struct err *err)
{
	struct walk w = { STEPS_MAX };
	json_t *value = run(&w, p, tree);
	int rc = w.steps == 0 ? err_set(err, ERR_INVALID,
					"the text is too large for that path: it takes more than %d steps", STEPS_MAX)
			      : read(value, out, err);

	json_decref(value);
	return rc;
}

int jsonpath_read(const struct jsonpath *p, const char *text, size_t len, metricvalue_fn read, double *out,
	struct err *err)
{
	json_t *tree = jsonpath_load(text, len, err);
	int rc = tree ? jsonpath_read_in(p, tree, read, out, err) : -1;

	json_decref(tree);
	return rc;
}

int jsonpath_number(const struct jsonpath *p, const char *answer, size_t len, double *out, struct err *err)
{
	return jsonpath_read(p, answer, len, metricvalue_of_json, out, err);
}
