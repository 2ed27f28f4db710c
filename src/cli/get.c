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

/* A number's text; "" when it is not known. */
static const char *number(const json_t *value, char text[24])
{
	text[0] = '\0';
	if (json_is_integer(value))
		snprintf(text, 24, "%lld", (long long)json_integer_value(value));
	return text;
}

static const char *paused(const json_t *item)
{
	const json_t *pausing = json_object_get(item, "pausing");
	bool in = json_is_true(json_object_get(pausing, "scaleIn")),
	     out = json_is_true(json_object_get(pausing, "scaleOut"));

	if (json_is_true(json_object_get(item, "paused")) || (in && out))
		return "True";
	return in ? "ScaleIn" : out ? "ScaleOut" : "False";
}

/* ---- A table of each kind ---- */

static void add_object(struct table *t, const json_t *item, bool wide)
{
	const json_t *target = json_object_get(item, "target"), *hpa = json_object_get(item, "hpa");
	MEM_AUTO char *target_name = mem_printf("%s/%s", json_str_or_empty(target, "kind"),
		json_str_or_empty(target, "name"));
	char min[24], max[24], current[24], desired[24];
	const char *cells[TABLE_COLUMNS_MAX] = {
		json_str_or_empty(item, "namespace"),
		json_str_or_empty(item, "name"),
		target_name,
		number(json_object_get(item, "min"), min),
		number(json_object_get(item, "max"), max),
		number(json_object_get(target, "replicas"), current),
		number(json_object_get(hpa, "desired"), desired),
		json_str_or_empty(item, "ready"),
		json_str_or_empty(item, "active"),
		paused(item),
	};
	size_t n = 10;

	if (wide) {
		cells[n++] = json_str_or_empty(item, "fallback");
		cells[n++] = json_str_or_empty(item, "triggersTypes");
		cells[n++] = json_str_or_empty(hpa, "name");
		cells[n++] = json_str_or_empty(item, "rule");
	}
	cells[n] = json_str_or_empty(item, "reason");
	table_add(t, cells);
}

static void add_job(struct table *t, const json_t *item, bool wide)
{
	const json_t *jobs = json_object_get(item, "jobs");
	char min[24], max[24], running[24], complete[24], failed[24];
	const char *cells[TABLE_COLUMNS_MAX] = {
		json_str_or_empty(item, "namespace"),
		json_str_or_empty(item, "name"),
		number(json_object_get(item, "min"), min),
		number(json_object_get(item, "max"), max),
		number(json_object_get(jobs, "running"), running),
		json_str_or_empty(item, "ready"),
		json_str_or_empty(item, "active"),
		paused(item),
	};
	size_t n = 8;

	if (wide) {
		cells[n++] = json_str_or_empty(item, "strategy");
		cells[n++] = number(json_object_get(jobs, "complete"), complete);
		cells[n++] = number(json_object_get(jobs, "failed"), failed);
		cells[n++] = json_str_or_empty(item, "triggersTypes");
		cells[n++] = json_str_or_empty(item, "rule");
	}
	cells[n] = json_str_or_empty(item, "reason");
	table_add(t, cells);
}

static const struct kind {
	const char *word, *name;
	const char *const *headings, *const *wide_headings;
	void (*add)(struct table *t, const json_t *item, bool wide);
} kinds[] = {
	{ "scaledobject", "ScaledObject",
		(const char *const[]){ "NAMESPACE", "NAME", "TARGET", "MIN", "MAX", "CURRENT", "DESIRED", "READY",
			"ACTIVE", "PAUSED", "REASON", NULL },
		(const char *const[]){ "NAMESPACE", "NAME", "TARGET", "MIN", "MAX", "CURRENT", "DESIRED", "READY",
			"ACTIVE", "PAUSED", "FALLBACK", "TRIGGERS", "HPA", "RULE", "REASON", NULL },
		add_object },
	{ "scaledjob", "ScaledJob",
		(const char *const[]){ "NAMESPACE", "NAME", "MIN", "MAX", "RUNNING", "READY", "ACTIVE", "PAUSED",
			"REASON", NULL },
		(const char *const[]){ "NAMESPACE", "NAME", "MIN", "MAX", "RUNNING", "READY", "ACTIVE", "PAUSED",
			"STRATEGY", "COMPLETE", "FAILED", "TRIGGERS", "RULE", "REASON", NULL },
		add_job },
};

static bool is_wanted(const struct get_view *view, const struct kind *kind)
{
	return !view->kind || strcmp(view->kind, kind->word) == 0;
}

/* How many there are. apart: another table stands above. */
static size_t print_kind(const struct kind *kind, const json_t *items, const struct asking_screen *screen, bool wide,
	bool apart, struct buf *out)
{
	struct table table;
	const json_t *item;
	size_t i, count;

	table_init(&table, wide ? kind->wide_headings : kind->headings);
	json_array_foreach(items, i, item) if (strcmp(json_str_or_empty(item, "kind"), kind->name) == 0)
		kind->add(&table, item, wide);
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

struct arguments {
	const char *address, *namespace_;
	struct get_view view;
	bool json, help;
};

static bool take_format(struct arguments *a, const char *text)
{
	a->json = strcmp(text, "json") == 0;
	a->view.wide = strcmp(text, "wide") == 0;
	if (!a->json && !a->view.wide)
		fprintf(stderr, "kscaled get: -o: \"%s\" is neither wide nor json\n", text);
	return a->json || a->view.wide;
}

static bool read_arguments(int argc, char **argv, struct arguments *a)
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
static char *path_of(const struct arguments *a)
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
	struct arguments a = { .address = status_address };
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
