/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/get.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/table.h"

static const char help_text[] =
	"usage: kscaled get [OPTION]...\n"
	"List the ScaledObjects that a running kscaled knows, with the reason for their replicas.\n"
	"\n"
	"  -n, --namespace NS           only those of this namespace\n"
	"  -A, --all-namespaces         those of all namespaces; so it is without -n\n"
	"  -o, --output FORMAT          wide (more columns) or json\n"
	"      --status-address HOST:PORT\n"
	"                               where kscaled answers (default: as the daemon's)\n"
	"      --help                   print this text\n";

/* --- the table ---------------------------------------------------------------------------------------------------------------- */

static const char *const headings[] = { "NAMESPACE", "NAME", "TARGET", "MIN", "MAX", "CURRENT", "DESIRED", "READY", "ACTIVE", "PAUSED", "REASON", NULL };
static const char *const wide_headings[] = { "NAMESPACE", "NAME", "TARGET", "MIN", "MAX", "CURRENT", "DESIRED", "READY", "ACTIVE", "PAUSED", "FALLBACK", "TRIGGERS", "HPA", "RULE", "REASON", NULL };

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
	bool in = json_is_true(json_object_get(pausing, "scaleIn")), out = json_is_true(json_object_get(pausing, "scaleOut"));

	if (json_is_true(json_object_get(item, "paused")) || (in && out))
		return "True";
	return in ? "ScaleIn" : out ? "ScaleOut" : "False";
}

static void add_item(struct table *t, const json_t *item, bool wide)
{
	const json_t *target = json_object_get(item, "target"), *hpa = json_object_get(item, "hpa");
	MEM_AUTO char *target_name = mem_printf("%s/%s", json_str_or_empty(target, "kind"), json_str_or_empty(target, "name"));
	char min[24], max[24], current[24], desired[24];
	const char *cells[TABLE_COLUMNS_MAX] = {
		json_str_or_empty(item, "namespace"), json_str_or_empty(item, "name"), target_name, number(json_object_get(item, "min"), min), number(json_object_get(item, "max"), max),
		number(json_object_get(target, "replicas"), current), number(json_object_get(hpa, "desired"), desired), json_str_or_empty(item, "ready"), json_str_or_empty(item, "active"), paused(item),
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

void get_render(const json_t *answer, const struct asking_screen *screen, const void *wide, struct buf *out)
{
	const json_t *items = json_object_get(answer, "items"), *item;
	struct table table;
	size_t i;

	if (!json_is_true(json_object_get(answer, "synced")))
		buf_puts(out, "(kscaled has not read all objects yet)\n");
	if (!json_array_size(items)) {
		buf_puts(out, "No ScaledObjects found.\n");
		return;
	}
	table_init(&table, *(const bool *)wide ? wide_headings : headings);
	json_array_foreach(items, i, item)
		add_item(&table, item, *(const bool *)wide);
	table_print(&table, screen->columns, out);
	table_done(&table);
}

/* --- the command -------------------------------------------------------------------------------------------------------------- */

struct arguments {
	const char *address, *namespace_;
	bool json, wide, help;
};

static bool take_format(struct arguments *a, const char *text)
{
	a->json = strcmp(text, "json") == 0;
	a->wide = strcmp(text, "wide") == 0;
	if (!a->json && !a->wide)
		fprintf(stderr, "kscaled get: -o: \"%s\" is neither wide nor json\n", text);
	return a->json || a->wide;
}

static bool read_arguments(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{ "namespace", required_argument, NULL, 'n' }, { "all-namespaces", no_argument, NULL, 'A' }, { "output", required_argument, NULL, 'o' },
		{ "status-address", required_argument, NULL, 's' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
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
		fprintf(stderr, "kscaled get: \"%s\" is no option; `kscaled explain NAMESPACE/NAME` tells about one object\n", argv[optind]);
	else if (a->namespace_ && !asking_is_name(a->namespace_))
		fprintf(stderr, "kscaled get: --namespace: \"%.80s\" cannot be the name of a namespace\n", a->namespace_);
	else
		return true;
	return false;
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
	path = mem_printf("/objects%s%s", a.namespace_ ? "?namespace=" : "", a.namespace_ ? a.namespace_ : "");
	return asking_run(name, a.address, path, a.json, get_render, &a.wide);
}
