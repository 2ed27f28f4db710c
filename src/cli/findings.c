/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/findings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FINDINGS_MAX   200 /* of one object; more are counted */
#define LINE_MAX_BYTES 4096

struct finding {
	size_t line, order;
	bool warning;
	char *field; /* NULL */
	char *text;
};

void findings_init(struct findings *f, FILE *out, bool verbose)
{
	memset(f, 0, sizeof(*f));
	f->out = out;
	f->verbose = verbose;
}

void findings_begin(struct findings *f, const struct document *doc, const char *kind, const char *namespace_,
	const char *name)
{
	const char *shown = name && *name ? name : "(without a name)";

	f->doc = doc;
	f->judged_problems = 0;
	if (!kind)
		f->title = mem_dup("");
	else if (*namespace_)
		f->title = mem_printf("%s %s/%s: ", kind, namespace_, shown);
	else
		f->title = mem_printf("%s %s: ", kind, shown);
}

static bool is_told(const struct findings *f, const char *field)
{
	for (size_t i = 0; field && i < f->count; i++)
		if (!f->list[i].warning && f->list[i].field && strcmp(f->list[i].field, field) == 0)
			return true;
	return false;
}

/* To find a line costs a walk over the document, so only what is shown has one. */
static size_t line_of(const struct findings *f, const char *field)
{
	return field && f->count < FINDINGS_MAX ? documents_line(f->doc, field) : f->doc->line;
}

/* Takes the text. */
static void add(struct findings *f, size_t line, bool warning, const char *field, char *text)
{
	if (warning)
		f->warnings++;
	else
		f->problems++;
	f->judged_problems += !warning;
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

	if (is_told(f, field))
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

void findings_problem_at(struct findings *f, size_t line, const char *field, const char *text)
{
	add(f, line, false, field, mem_dup(text));
}

/*
 * The field that a message begins with, the caller's; NULL when it begins with none. *rest is what
 * stands behind.
 */
static char *field_of(const char *message, const char **rest)
{
	static const char *const roots[] = { "spec", "metadata", "status", "apiVersion", "kind" };
	size_t len = strcspn(message, " ");

	*rest = message;
	if (message[len] != ' ' || len < 2 || message[len - 1] != ':')
		return NULL;
	for (size_t i = 0; i < MEM_COUNT(roots); i++) {
		size_t root = strlen(roots[i]);

		if (strncmp(message, roots[i], root) != 0 || !strchr(".[:", message[root]))
			continue;
		*rest = message + len + 1;
		return mem_dupn(message, len - 1);
	}
	return NULL;
}

void findings_problem_of(struct findings *f, const char *otherwise, const struct err *err)
{
	const char *rest;
	MEM_AUTO char *field = field_of(err->msg, &rest);

	findings_problem(f, field ? field : otherwise, "%s", rest);
}

void findings_warning_of(struct findings *f, const char *message)
{
	const char *rest;
	MEM_AUTO char *field = field_of(message, &rest);
	size_t len = strcspn(message, " ");
	MEM_AUTO char *first = mem_dupn(message, len);

	/*
	 * "spec.pollingInterval has no effect ...": a sentence about a field, whose line is known
	 * too.
	 */
	if (is_told(f, field ? field : first))
		return;
	if (!field && (strncmp(first, "spec.", 5) == 0 || strncmp(first, "metadata.", 9) == 0))
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

void findings_end(struct findings *f, bool judged)
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
	if (f->verbose && f->judged_problems == 0)
		print_line(f, "%s:%zu: %s%s", file, f->doc->line, f->title, judged ? "ok" : "not judged");
	free(f->list);
	free(f->title);
	f->list = NULL;
	f->title = NULL;
	f->count = f->left_out = 0;
}
