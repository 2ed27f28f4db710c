/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/explaintext_parts.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/ask/table.h"

static const char *yes_no(const json_t *value)
{
	return json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "";
}

static const char *number_or_empty(const json_t *object, const char *key, char text[32])
{
	return json_is_number(json_object_get(object, key)) ? explaintext_number(object, key, text) : "";
}

static void add_trigger(struct table *t, const json_t *one, const char *type)
{
	char value[32], activation[32], seconds[32], failures[32], index[32];
	bool indexed = json_is_integer(json_object_get(one, "index"));
	MEM_AUTO char *name = mem_printf("%s%s%s%s%s", indexed ? explaintext_number(one, "index", index) : "",
		indexed ? " " : "", type, *json_str_or_empty(one, "name") ? " " : "", json_str_or_empty(one, "name"));
	MEM_AUTO char *target = *json_str_or_empty(one, "target")
		? mem_printf("%s %s", json_str_or_empty(one, "target"), json_str_or_empty(one, "metricType"))
		: NULL;
	const json_t *age = json_object_get(one, "ageSeconds");
	bool falling_back = json_is_true(json_object_get(one, "fallingBack"));
	const char *read = number_or_empty(one, "value", value);

	table_add(t,
		(const char *const[]){ name, falling_back && !*read ? "nil" : read, target,
			number_or_empty(one, "activation", activation),
			falling_back ? "fallback" : yes_no(json_object_get(one, "active")),
			json_is_number(age) ? explaintext_age(json_number_value(age), seconds) : "",
			number_or_empty(one, "failures", failures), json_str_or_empty(one, "metric") });
}

#define NAMED_MAX 5 /* triggers named before one text; the others are counted */

static char *error_of(const json_t *one)
{
	const char *error = json_str_or_empty(one, "error"), *trouble = json_str_or_empty(one, "noFallback");

	if (!*error && !*trouble)
		return NULL;
	return mem_printf("%s%s%s%s", error, *error && *trouble ? "; " : "", *trouble ? "no fallback: " : "", trouble);
}

/* Not for "unwatched": only the leader watches. */
static char *push_of(const json_t *one)
{
	const json_t *push = json_object_get(one, "push");
	const char *state = json_str_or_empty(push, "state"), *why = json_str_or_empty(push, "why");

	return *state && strcmp(state, "unwatched") != 0 ? mem_printf("%s%s%s", state, *why ? ": " : "", why) : NULL;
}

/* Texts about triggers, in the order in which they are printed. */
static const struct text_kind {
	const char *label;
	const char *key, *before;            /* of the text in the trigger; what precedes it */
	char *(*text_of)(const json_t *one); /* instead; NULL: none; the caller owns it */
} errors = { "  error", .text_of = error_of },
  texts[] = {
	  { "  pause", "pause", "", NULL },
	  { "  remark", "remark", "", NULL },
	  { "  push", .text_of = push_of },
	  { "  metadata", "unknownKeys", "unknown parameters: ", NULL },
	  { "  metadata", "shortened", "", NULL },
	  { "  ignored", "ignored", "", NULL },
  };

/* NULL: none. The caller owns it. */
static char *text_of(const struct text_kind *kind, const json_t *one)
{
	const char *text = json_str_or_empty(one, kind->key ? kind->key : "");

	if (kind->text_of)
		return kind->text_of(one);
	return *text ? mem_printf("%s%s", kind->before, text) : NULL;
}

static bool has_text(const json_t *one, const struct text_kind *kind, const char *text)
{
	MEM_AUTO char *its = text_of(kind, one);

	return its && strcmp(its, text) == 0;
}

/* A text that several triggers share is printed once, after their names. */
static void put_shared(const struct explaintext_page *p, const struct text_kind *kind, const json_t *triggers,
	size_t first)
{
	MEM_AUTO char *text = text_of(kind, json_array_get(triggers, first));
	struct buf line = EXPLAINTEXT_LINE();
	size_t named = 0, more = 0;

	if (!text)
		return;
	for (size_t i = 0; i < json_array_size(triggers); i++) {
		const json_t *one = json_array_get(triggers, i);

		if (!has_text(one, kind, text))
			continue;
		if (i < first)
			return; /* printed already */
		if (named == NAMED_MAX)
			more++;
		else
			buf_printf(&line, "%s%s", named++ > 0 ? ", " : "", json_str_or_empty(one, "metric"));
	}
	if (more > 0)
		buf_printf(&line, " and %zu more", more);
	buf_printf(&line, ": %s", text);
	explaintext_field_of(p, kind->label, &line);
}

static void put_all(const struct explaintext_page *p, const struct text_kind *kind, const json_t *triggers)
{
	for (size_t i = 0; i < json_array_size(triggers); i++)
		put_shared(p, kind, triggers, i);
}

void explaintext_triggers(const struct explaintext_page *p, const json_t *answer)
{
	static const char *const headings[] = { "TRIGGER", "VALUE", "TARGET", "ABOVE", "ACTIVE", "AGE", "FAILURES",
		"METRIC", NULL };
	const json_t *triggers = json_object_get(answer, "triggers"), *composite = json_object_get(answer, "composite"),
		     *one;
	struct table table;
	size_t i;

	buf_putc(p->out, '\n');
	if (*json_str_or_empty(answer, "trouble")) {
		explaintext_field(p, "Triggers", json_str_or_empty(answer, "trouble"));
		return;
	}
	table_init(&table, headings);
	json_array_foreach(triggers, i, one) add_trigger(&table, one, json_str_or_empty(one, "type"));
	if (json_is_object(composite))
		add_trigger(&table, composite, "formula");
	table_print(&table, p->screen->columns, p->out);
	table_done(&table);
	put_all(p, &errors, triggers);
	if (json_is_object(composite)) {
		json_t *alone = json_pack("[O]", composite);

		put_all(p, &errors, alone);
		json_decref(alone);
	}
	for (i = 0; i < MEM_COUNT(texts); i++)
		put_all(p, &texts[i], triggers);
}
