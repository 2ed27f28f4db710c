/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/get.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/table.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/output.h"

struct get_arguments {
	struct insightclient_ways ways;
	const char *namespace_, *output;
	const char *resource; /* NULL: both */
	bool all;
};

static const char *const formats[] = { "json", "wide", NULL };

static const struct option options[] = {
	{ "namespace", OPTION_LABEL, offsetof(struct get_arguments, namespace_), "NS", .help = "only this namespace",
		.letter = 'n' },
	{ "all-namespaces", OPTION_SWITCH, offsetof(struct get_arguments, all), .help = "all namespaces (the default)",
		.letter = 'A' },
	{ "output", OPTION_WORD, offsetof(struct get_arguments, output), "FORMAT",
		.help = "wide (more columns) or json", .letter = 'o', .words = formats },
	{ .name = NULL },
};

/* ---- A table ---- */

/* The shown columns. */
struct get_columns {
	size_t at[TABLE_COLUMNS_MAX];          /* index in the answer's columns */
	char *headings[TABLE_COLUMNS_MAX + 1]; /* owned; the first is the namespace's */
	size_t count;                          /* without that one */
};

static char *heading_of(const char *name)
{
	char *text = mem_dup(name);

	for (char *c = text; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return text;
}

static void choose_columns(const json_t *table, bool wide, struct get_columns *out)
{
	const json_t *definition;
	size_t i;

	*out = (struct get_columns){ .count = 0 };
	out->headings[0] = mem_dup("NAMESPACE");
	json_array_foreach(json_object_get(table, "columnDefinitions"), i, definition)
	{
		bool shown = wide || json_integer_value(json_object_get(definition, "priority")) == 0;

		if (!shown || out->count + 1 == TABLE_COLUMNS_MAX)
			continue;
		out->at[out->count++] = i;
		out->headings[out->count] = heading_of(json_str_or_empty(definition, "name"));
	}
}

/* "": null. The caller owns it. */
static char *cell_text(const json_t *value)
{
	if (json_is_integer(value))
		return mem_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return mem_dup(json_is_string(value) ? json_string_value(value) : "");
}

static void add_row(struct table *table, const struct get_columns *columns, const json_t *row)
{
	const json_t *all = json_object_get(row, "cells");
	char *cells[TABLE_COLUMNS_MAX] = { mem_dup(fields_text(row, "object.metadata.namespace")) };

	for (size_t i = 0; i < columns->count; i++)
		cells[i + 1] = cell_text(json_array_get(all, columns->at[i]));
	table_add(table, (const char *const *)cells);
	for (size_t i = 0; i <= columns->count; i++)
		free(cells[i]);
}

size_t get_render(const json_t *answer, const struct asking_screen *screen, bool wide, struct buf *out)
{
	struct get_columns columns;
	struct table table;
	const json_t *row;
	size_t i, count;

	choose_columns(answer, wide, &columns);
	table_init(&table, (const char *const *)columns.headings);
	json_array_foreach(json_object_get(answer, "rows"), i, row) add_row(&table, &columns, row);
	count = table.rows;
	if (count > 0 && out->len > 0)
		buf_putc(out, '\n'); /* below the previous table */
	if (count > 0)
		table_print(&table, screen->columns, out);
	table_done(&table);
	for (i = 0; columns.headings[i]; i++)
		free(columns.headings[i]);
	return count;
}

/* ---- The command line ---- */

static int check_words(struct get_arguments *a, char *const *words, int count, struct err *err)
{
	if (count > 0)
		a->resource = asking_resource(words[0]);
	if (count > 0 && (!a->resource || count > 1))
		return err_set(err, ERR_INVALID,
			"\"%.80s\" is neither so (scaledobjects) nor sj (scaledjobs); `kscaled explain "
			"NAMESPACE/NAME` explains one object",
			words[a->resource ? 1 : 0]);
	return 0;
}

/* ---- Asking ---- */

/* The answer for each kind; NULL: not asked for, or an error. */
struct get_answers {
	json_t *of[ASKING_KINDS];
	size_t count;
};

/*
 * The error of one kind is printed, and does not prevent the other: the user may be allowed to read
 * only one. The same error is printed once.
 */
static void ask(const struct get_arguments *a, struct insightclient *client, struct get_answers *out)
{
	struct err printed = { 0 };

	for (size_t i = 0; i < ASKING_KINDS; i++) {
		MEM_AUTO char *path = asking_path(asking_every_kind[i].resource, a->all ? NULL : a->namespace_, NULL);
		struct err err = { 0 };

		if (a->resource && strcmp(a->resource, asking_every_kind[i].resource) != 0)
			continue;
		if (insightclient_get(client, path, text_equal(a->output, "json") ? "application/json" : ASKING_TABLE,
			    &out->of[i], &err) == 0)
			out->count++;
		else if (strcmp(printed.msg, err.msg) != 0)
			fprintf(stderr, "kscaled get: %s\n", err.msg);
		printed = err;
	}
}

static enum asking_exit print_tables(const struct get_arguments *a, const struct get_answers *answers, struct err *err)
{
	struct asking_screen screen = asking_screen();
	struct buf out = BUF_INIT(SIZE_MAX);
	enum asking_exit status;
	size_t count = 0;

	for (size_t i = 0; i < ASKING_KINDS; i++)
		if (answers->of[i])
			count += get_render(answers->of[i], &screen, text_equal(a->output, "wide"), &out);
	if (count == 0)
		buf_printf(&out, "No %ss found.\n",
			answers->count > 1 ? "ScaledObjects or ScaledJob" : asking_every_kind[!answers->of[0]].kind);
	status = output_text(&out, err) < 0 ? ASKING_UNREACHABLE : ASKING_OK;
	buf_done(&out);
	return status;
}

/* One List, as kubectl prints several kinds. */
static enum asking_exit print_list(const struct get_answers *answers, struct err *err)
{
	json_t *list = json_pack("{s:s, s:s, s:{}, s:[]}", "apiVersion", "v1", "kind", "List", "metadata", "items");
	enum asking_exit status;

	for (size_t i = 0; i < ASKING_KINDS; i++)
		json_array_extend(json_object_get(list, "items"), json_object_get(answers->of[i], "items"));
	status = output_json(list, err) < 0 ? ASKING_UNREACHABLE : ASKING_OK;
	json_decref(list);
	return status;
}

static enum asking_exit run(const struct get_arguments *a, struct insightclient *client, struct err *err)
{
	enum asking_exit status = ASKING_UNREACHABLE;
	struct get_answers answers = { .count = 0 };

	ask(a, client, &answers);
	if (answers.count > 0)
		status = text_equal(a->output, "json") ? print_list(&answers, err) : print_tables(a, &answers, err);
	for (size_t i = 0; i < ASKING_KINDS; i++)
		json_decref(answers.of[i]);
	return status;
}

static int run_get(void *arguments, char **operands, int count, struct err *err)
{
	struct get_arguments *a = arguments;
	struct asking asking;
	int status = ASKING_UNREACHABLE;

	if (check_words(a, operands, count, err) < 0)
		return status;
	if (asking_begin(&asking, &a->ways, err) == 0)
		status = (int)run(a, asking.client, err);
	asking_done(&asking);
	return status;
}

const struct commandline cli_get_line = {
	.name = "get",
	.summary = "lists the objects of the running daemon",
	.usage = "[OPTION]... [KIND]",
	.text = "List the ScaledObjects and ScaledJobs of a running kscaled, with the reason for their replicas and\n"
		"Jobs.\n"
		"\n"
		"KIND is so (scaledobject, scaledobjects) or sj (scaledjob, scaledjobs); without it, both.",
	.tables = { { .options = options },
		{ .options = asking_options, .base = offsetof(struct get_arguments, ways) } },
	.removed = ASKING_REMOVED,
	.operands = true,
	.words = asking_kinds,
	.size = sizeof(struct get_arguments),
	.run = run_get,
};
