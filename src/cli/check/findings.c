/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/findings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define FINDINGS_MAX   200 /* per object; more are only counted */
#define LINE_MAX_BYTES 4096

struct finding {
	size_t line, order;
	bool warning;
	char *field; /* NULL */
	char *text;
};

void findings_init(struct findings *f, FILE *out, bool verbose)
{
	*f = (struct findings){ .out = out, .verbose = verbose };
}

void findings_begin(struct findings *f, const struct document *doc, const char *kind, const char *namespace_,
	const char *name)
{
	f->doc = doc;
	f->object_problems = 0;
	f->title = kind
		? mem_printf("%s %s%s%s: ", kind, namespace_, *namespace_ ? "/" : "", *name ? name : "(without a name)")
		: mem_dup("");
}

static bool is_reported(const struct findings *f, const char *field)
{
	for (size_t i = 0; field && i < f->count; i++)
		if (!f->list[i].warning && f->list[i].field && strcmp(f->list[i].field, field) == 0)
			return true;
	return false;
}

/* A line costs a search in the document, so only findings that are shown have one. */
static size_t line_of(const struct findings *f, const char *field)
{
	return field && f->count < FINDINGS_MAX ? documents_line(f->doc, field) : f->doc->line;
}

/* Takes ownership of text. */
static void add(struct findings *f, size_t line, bool warning, const char *field, char *text)
{
	f->warnings += warning;
	f->problems += !warning;
	f->object_problems += !warning;
	if (f->count == FINDINGS_MAX) {
		f->left_out++;
		free(text);
		return;
	}
	f->list = mem_resize(f->list, f->count + 1, sizeof(*f->list));
	f->list[f->count] = (struct finding){ line, f->count, warning, mem_dup(field), text };
	f->count++;
}

void findings_problem(struct findings *f, const char *field, const char *fmt, ...)
{
	va_list ap;

	if (is_reported(f, field))
		return;
	va_start(ap, fmt);
	add(f, line_of(f, field), false, field, mem_vprintf(fmt, ap));
	va_end(ap);
}

void findings_warning(struct findings *f, const char *field, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(f, line_of(f, field), true, field, mem_vprintf(fmt, ap));
	va_end(ap);
}

void findings_problem_at(struct findings *f, size_t line, const char *text)
{
	add(f, line, false, NULL, mem_dup(text));
}

/*
 * The field that a message begins with; NULL: none. The caller owns it. *rest: the text after it.
 */
static char *field_of(const char *message, const char **rest)
{
	static const char *const roots[] = { "spec", "metadata", "status", "apiVersion", "kind" };
	size_t len = strcspn(message, " ");

	*rest = message;
	if (message[len] != ' ' || len < 2 || message[len - 1] != ':')
		return NULL;
	for (size_t i = 0; i < MEM_COUNT(roots); i++) {
		const char *behind = text_behind(message, roots[i]);

		if (!behind || !strchr(".[:", *behind))
			continue;
		*rest = message + len + 1;
		return mem_dupn(message, len - 1);
	}
	return NULL;
}

void findings_problem_of(struct findings *f, const char *otherwise, const char *message)
{
	const char *rest;
	MEM_AUTO char *field = field_of(message, &rest);

	findings_problem(f, field ? field : otherwise, "%s", rest);
}

void findings_warning_of(struct findings *f, const char *message)
{
	const char *rest;
	MEM_AUTO char *field = field_of(message, &rest);
	MEM_AUTO char *first = mem_dupn(message, strcspn(message, " "));

	/* "spec.pollingInterval has no effect ...": a sentence about a field has its line, too. */
	if (is_reported(f, field ? field : first))
		return;
	if (!field && (text_begins(first, "spec.") || text_begins(first, "metadata.")))
		add(f, line_of(f, first), true, NULL, mem_dup(message));
	else
		findings_warning(f, field, "%s", rest);
}

static int compare(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void __attribute__((format(printf, 2, 3))) print_line(const struct findings *f, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7F)
			*c = '?';
	fprintf(f->out, "%s\n", line);
}

void findings_end(struct findings *f, bool checked)
{
	const char *file = f->doc->file;

	if (f->count > 0)
		qsort(f->list, f->count, sizeof(*f->list), compare);
	for (size_t i = 0; i < f->count; i++) {
		struct finding *one = &f->list[i];

		print_line(f, "%s:%zu: %s%s%s%s%s", file, one->line, f->title, one->warning ? "warning: " : "",
			one->field ? one->field : "", one->field ? ": " : "", one->text);
		free(one->field);
		free(one->text);
	}
	if (f->left_out > 0)
		print_line(f, "%s:%zu: %s%zu more are not shown", file, f->doc->line, f->title, f->left_out);
	if (f->verbose && f->object_problems == 0)
		print_line(f, "%s:%zu: %s%s", file, f->doc->line, f->title, checked ? "ok" : "not checked");
	free(f->list);
	free(f->title);
	f->list = NULL;
	f->title = NULL;
	f->count = f->left_out = 0;
}
