/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/get.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/plaintext.h"
#include "cli/table.h"

static const char help_text[] =
	"usage: kscaled get [OPTION]... [KIND]\n"
	"List the ScaledObjects and ScaledJobs that a running kscaled knows, with the reason for their replicas and "
	"Jobs.\n"
	"\n"
	"KIND is so (scaledobject, scaledobjects) or sj (scaledjob, scaledjobs); without it, both.\n"
	"\n"
	"  -n, --namespace NS           only those of this namespace\n"
	"  -A, --all-namespaces         those of all namespaces; so it is without -n\n"
	"  -o, --output FORMAT          wide (more columns) or json\n"
	"      --status-address HOST:PORT\n"
	"                               where kscaled answers (default: as the daemon's)\n"
	"      --help                   print this text\n";

/* ---- Cells ---- */

static char *target_of(const json_t *item)
{
	const json_t *target = json_object_get(item, "target");

	return mem_printf("%s/%s", json_str_or_empty(target, "kind"), json_str_or_empty(target, "name"));
}

static char *paused(const json_t *item)
{
	const json_t *pausing = json_object_get(item, "pausing");
	bool in = json_is_true(json_object_get(pausing, "scaleIn")),
	     out = json_is_true(json_object_get(pausing, "scaleOut"));

	if (json_is_true(json_object_get(item, "paused")) || (in && out))
		return mem_dup("True");
	return mem_dup(in ? "ScaleIn" : out ? "ScaleOut" : "False");
}

/* ---- A table of each kind ---- */

static const struct column {
	const char *heading;
	const char *part, *key;            /* where it stands in an item; part NULL: in the item itself */
	bool wide;                         /* with -o wide only */
	char *(*text)(const json_t *item); /* NULL: the text or number that stands there */
} object_columns[] = {
	{ "NAMESPACE", NULL, "namespace", false, NULL },
	{ "NAME", NULL, "name", false, NULL },
	{ "TARGET", NULL, NULL, false, target_of },
	{ "MIN", NULL, "min", false, NULL },
	{ "MAX", NULL, "max", false, NULL },
	{ "CURRENT", "target", "replicas", false, NULL },
	{ "DESIRED", "hpa", "desired", false, NULL },
	{ "READY", NULL, "ready", false, NULL },
	{ "ACTIVE", NULL, "active", false, NULL },
	{ "PAUSED", NULL, NULL, false, paused },
	{ "FALLBACK", NULL, "fallback", true, NULL },
	{ "TRIGGERS", NULL, "triggersTypes", true, NULL },
	{ "HPA", "hpa", "name", true, NULL },
	{ "RULE", NULL, "rule", true, NULL },
	{ "REASON", NULL, "reason", false, NULL },
	{ 0 },
}, job_columns[] = {
	{ "NAMESPACE", NULL, "namespace", false, NULL },
	{ "NAME", NULL, "name", false, NULL },
	{ "MIN", NULL, "min", false, NULL },
	{ "MAX", NULL, "max", false, NULL },
	{ "RUNNING", "jobs", "running", false, NULL },
	{ "READY", NULL, "ready", false, NULL },
	{ "ACTIVE", NULL, "active", false, NULL },
	{ "PAUSED", NULL, NULL, false, paused },
	{ "STRATEGY", NULL, "strategy", true, NULL },
	{ "COMPLETE", "jobs", "complete", true, NULL },
	{ "FAILED", "jobs", "failed", true, NULL },
	{ "TRIGGERS", NULL, "triggersTypes", true, NULL },
	{ "RULE", NULL, "rule", true, NULL },
	{ "REASON", NULL, "reason", false, NULL },
	{ 0 },
};

static const struct kind {
	const char *word, *name;
	const struct column *columns;
} kinds[] = {
	{ "scaledobject", "ScaledObject", object_columns },
	{ "scaledjob", "ScaledJob", job_columns },
};

/* The caller owns it; "" when it is not known. */
static char *cell(const struct column *c, const json_t *item)
{
	const json_t *value;

	if (c->text)
		return c->text(item);
	value = json_object_get(c->part ? json_object_get(item, c->part) : item, c->key);
	if (json_is_integer(value))
		return mem_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	return mem_dup(json_is_string(value) ? json_string_value(value) : "");
}

static void add_item(struct table *table, const struct column *columns, const json_t *item, bool wide)
{
	char *cells[TABLE_COLUMNS_MAX];
	size_t count = 0;

	for (const struct column *c = columns; c->heading; c++)
		if (wide || !c->wide)
			cells[count++] = cell(c, item);
	table_add(table, (const char *const *)cells);
	while (count > 0)
		free(cells[--count]);
}

static bool is_wanted(const struct get_view *view, const struct kind *kind)
{
	return !view->kind || strcmp(view->kind, kind->word) == 0;
}

/* How many there are. apart: another table stands above. */
static size_t print_kind(const struct kind *kind, const json_t *items, const struct asking_screen *screen, bool wide,
	bool apart, struct buf *out)
{
	const char *headings[TABLE_COLUMNS_MAX + 1] = { NULL };
	struct table table;
	const json_t *item;
	size_t i, count = 0;

	for (const struct column *c = kind->columns; c->heading; c++)
		if (wide || !c->wide)
			headings[count++] = c->heading;
	table_init(&table, headings);
	json_array_foreach(items, i, item) if (strcmp(json_str_or_empty(item, "kind"), kind->name) == 0)
		add_item(&table, kind->columns, item, wide);
	count = table.rows;
	if (count > 0 && apart)
		buf_putc(out, '\n');
	if (count > 0)
		table_print(&table, screen->columns, out);
	table_done(&table);
	return count;
}

/* What is not listed for not being known must not look as if it were not there. */
static void tell_unread(const json_t *answer, const struct get_view *view, struct buf *out)
{
	const json_t *jobs = json_object_get(answer, "scaledJobs");
	const char *trouble = json_str_or_empty(jobs, "trouble");

	if (is_wanted(view, &kinds[0]) && !json_is_true(json_object_get(answer, "synced")))
		buf_puts(out, "(kscaled has not read all objects yet)\n");
	if (is_wanted(view, &kinds[1]) && *trouble) {
		buf_puts(out, "(kscaled cannot read ScaledJobs: ");
		plaintext_put(out, trouble, 0);
		buf_puts(out, ")\n");
	} else if (is_wanted(view, &kinds[1]) && json_is_false(json_object_get(jobs, "synced"))) {
		buf_puts(out, "(kscaled has not read all ScaledJobs yet)\n");
	}
}

void get_render(const json_t *answer, const struct asking_screen *screen, const void *arg, struct buf *out)
{
	const struct get_view *view = arg;
	const json_t *items = json_object_get(answer, "items");
	size_t count = 0;

	tell_unread(answer, view, out);
	for (size_t i = 0; i < MEM_COUNT(kinds); i++)
		if (is_wanted(view, &kinds[i]))
			count += print_kind(&kinds[i], items, screen, view->wide, count > 0, out);
	if (count == 0)
		buf_printf(out, "No %s found.\n",
			!view->kind                          ? "ScaledObjects or ScaledJobs"
				: is_wanted(view, &kinds[0]) ? "ScaledObjects"
							     : "ScaledJobs");
}

/* ---- The command ---- */

struct get_arguments {
	const char *address, *namespace_;
	struct get_view view;
	bool json, help;
};

static bool take_format(struct get_arguments *a, const char *text)
{
	a->json = strcmp(text, "json") == 0;
	a->view.wide = strcmp(text, "wide") == 0;
	if (!a->json && !a->view.wide)
		fprintf(stderr, "kscaled get: -o: \"%s\" is neither wide nor json\n", text);
	return a->json || a->view.wide;
}

static bool read_arguments(int argc, char **argv, struct get_arguments *a)
{
	static const struct option options[] = {
		{ "namespace", required_argument, NULL, 'n' },
		{ "all-namespaces", no_argument, NULL, 'A' },
		{ "output", required_argument, NULL, 'o' },
		{ "status-address", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	optind = 0; /* glibc: begin anew, main may have used getopt before */
	while ((c = getopt_long(argc, argv, "n:Ao:h", options, NULL)) != -1) {
		switch (c) {
		case 'n': a->namespace_ = optarg; break;
		case 'A': a->namespace_ = NULL; break;
		case 's': a->address = optarg; break;
		case 'h': a->help = true; return true;
		case 'o':
			if (!take_format(a, optarg))
				return false;
			break;
		default: fputs("Try \"kscaled get --help\".\n", stderr); return false;
		}
	}
	if (optind < argc)
		a->view.kind = asking_kind(argv[optind]);
	if (optind < argc && (!a->view.kind || optind + 1 < argc))
		fprintf(stderr,
			"kscaled get: \"%.80s\" is neither so (scaledobjects) nor sj (scaledjobs); `kscaled explain "
			"NAMESPACE/NAME` tells about one object\n",
			argv[a->view.kind ? optind + 1 : optind]);
	else if (a->namespace_ && !asking_is_name(a->namespace_))
		fprintf(stderr, "kscaled get: --namespace: \"%.80s\" cannot be the name of a namespace\n",
			a->namespace_);
	else
		return true;
	return false;
}

/* "/objects", "/objects?namespace=shop&kind=scaledjob"; the caller owns it. */
static char *path_of(const struct get_arguments *a)
{
	const char *kind = a->view.kind, *namespace_ = a->namespace_;

	return mem_printf("/objects%s%s%s%s%s", namespace_ ? "?namespace=" : "", namespace_ ? namespace_ : "",
		!kind                ? ""
			: namespace_ ? "&"
				     : "?",
		kind ? "kind=" : "", kind ? kind : "");
}

int cli_get(int argc, char **argv, const char *status_address)
{
	static char name[] = "kscaled get"; /* what getopt's own messages begin with */
	struct get_arguments a = { .address = status_address };
	MEM_AUTO char *path = NULL;

	argv[0] = name;
	if (!read_arguments(argc, argv, &a))
		return ASKING_UNREACHABLE;
	if (a.help) {
		fputs(help_text, stdout);
		return ASKING_OK;
	}
	path = path_of(&a);
	return asking_run(name, a.address, path, a.json, get_render, &a.view);
}
