/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explaintext_parts.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/table.h"

static const char *yes_no(const json_t *value)
{
	return json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "";
}

static void add_trigger(struct table *t, const json_t *one, const char *type)
{
	char value[32] = "", activation[32] = "", seconds[32] = "", failures[32] = "", index[32] = "";
	bool indexed = json_is_integer(json_object_get(one, "index"));
	MEM_AUTO char *name = mem_printf("%s%s%s%s%s", indexed ? explaintext_number(json_object_get(one, "index"), index) : "", indexed ? " " : "", type, *json_str_or_empty(one, "name") ? " " : "", json_str_or_empty(one, "name"));
	MEM_AUTO char *target = *json_str_or_empty(one, "target") ? mem_printf("%s %s", json_str_or_empty(one, "target"), json_str_or_empty(one, "metricType")) : NULL;
	const char *cells[TABLE_COLUMNS_MAX] = { name, "", target, "", "", "", "", json_str_or_empty(one, "metric") };

	if (json_is_number(json_object_get(one, "value")))
		cells[1] = explaintext_number(json_object_get(one, "value"), value);
	else if (json_is_true(json_object_get(one, "fallingBack")))
		cells[1] = "nil";
	if (json_is_number(json_object_get(one, "activation")))
		cells[3] = explaintext_number(json_object_get(one, "activation"), activation);
	cells[4] = json_is_true(json_object_get(one, "fallingBack")) ? "fallback" : yes_no(json_object_get(one, "active"));
	if (json_is_number(json_object_get(one, "ageSeconds")))
		cells[5] = explaintext_age(json_number_value(json_object_get(one, "ageSeconds")), seconds);
	if (json_is_integer(json_object_get(one, "failures")))
		cells[6] = explaintext_number(json_object_get(one, "failures"), failures);
	table_add(t, cells);
}

static void say_error(const struct explaintext_page *p, const json_t *one)
{
	struct buf line = EXPLAINTEXT_LINE();

	if (*json_str_or_empty(one, "error"))
		buf_printf(&line, "%s: %s", json_str_or_empty(one, "metric"), json_str_or_empty(one, "error"));
	if (*json_str_or_empty(one, "noFallback"))
		buf_printf(&line, "%s no fallback: %s", line.len ? ";" : json_str_or_empty(one, "metric"), json_str_or_empty(one, "noFallback"));
	if (line.len)
		explaintext_field(p, "  error", buf_text(&line));
	buf_done(&line);
}

/* An "unwatched" source is said nothing of: it is the leader that watches. */
static void say_push(const struct explaintext_page *p, const json_t *one)
{
	const json_t *push = json_object_get(one, "push");
	struct buf line = EXPLAINTEXT_LINE();

	if (json_is_object(push) && strcmp(json_str_or_empty(push, "state"), "unwatched") != 0) {
		buf_printf(&line, "%s: %s%s%s", json_str_or_empty(one, "metric"), json_str_or_empty(push, "state"), *json_str_or_empty(push, "why") ? ": " : "", json_str_or_empty(push, "why"));
		explaintext_field(p, "  push", buf_text(&line));
	}
	buf_done(&line);
}

static void say_unknown(const struct explaintext_page *p, const json_t *one)
{
	struct buf line = EXPLAINTEXT_LINE();

	if (*json_str_or_empty(one, "unknownKeys")) {
		buf_printf(&line, "%s: no parameter has this name: %s", json_str_or_empty(one, "metric"), json_str_or_empty(one, "unknownKeys"));
		explaintext_field(p, "  metadata", buf_text(&line));
	}
	buf_done(&line);
}

void explaintext_triggers(const struct explaintext_page *p, const json_t *answer)
{
	static const char *const headings[] = { "TRIGGER", "VALUE", "TARGET", "ABOVE", "ACTIVE", "AGE", "FAILURES", "METRIC", NULL };
	const json_t *triggers = json_object_get(answer, "triggers"), *composite = json_object_get(answer, "composite"), *one;
	struct table table;
	size_t i;

	buf_putc(p->out, '\n');
	if (*json_str_or_empty(answer, "trouble")) {
		explaintext_field(p, "Triggers", json_str_or_empty(answer, "trouble"));
		return;
	}
	table_init(&table, headings);
	json_array_foreach(triggers, i, one)
		add_trigger(&table, one, json_str_or_empty(one, "type"));
	if (json_is_object(composite))
		add_trigger(&table, composite, "formula");
	table_print(&table, p->screen->columns, p->out);
	table_done(&table);
	json_array_foreach(triggers, i, one)
		say_error(p, one);
	if (json_is_object(composite))
		say_error(p, composite);
	json_array_foreach(triggers, i, one)
		say_push(p, one);
	json_array_foreach(triggers, i, one)
		say_unknown(p, one);
}
