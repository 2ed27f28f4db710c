/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/metricsapi/promtext.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define LABELS_MAX     256   /* of one series */
#define VALUE_MAX      65536 /* of one label, or a name */
#define NUMBER_MAX     128
#define BUDGET         1000000 /* for all regular expressions together: some milliseconds */

/* One line, without its end. */
struct line {
	const char *at, *end;
};

struct promtext {
	const struct promselector *selector;
	size_t number;                 /* of the line */
	struct buf rest;               /* the start of an incomplete line */
	struct buf name, label, value; /* reused for each line */
	bool *given;                   /* owned; per matcher: the series has its label */
	size_t budget;                 /* for regular expressions */
	bool name_known;               /* a series with the name was found */
	bool found;
	double result;
	struct err err; /* why the page is invalid */
};

static int wrong(struct promtext *p, const char *what)
{
	return err_set(&p->err, ERR_INVALID, "the answer is not a metrics page: line %zu: %s", p->number, what);
}

static bool at_end(const struct line *l)
{
	return l->at == l->end;
}

static bool looking_at(const struct line *l, char c)
{
	return !at_end(l) && *l->at == c;
}

static void skip_blanks(struct line *l)
{
	while (looking_at(l, ' ') || looking_at(l, '\t'))
		l->at++;
}

/* ---- Names and texts ---- */

static bool is_name(char c, bool first)
{
	return isalpha((unsigned char)c) || c == '_' || c == ':' || (!first && isdigit((unsigned char)c));
}

static int read_bare(struct promtext *p, struct line *l, struct buf *out)
{
	const char *start = l->at;

	buf_reset(out);
	while (!at_end(l) && is_name(*l->at, l->at == start))
		l->at++;
	buf_append(out, start, (size_t)(l->at - start));
	if (buf_failed(out))
		return wrong(p, "a name is too long");
	return l->at > start ? 0 : wrong(p, "expected a name");
}

/* "text" with \\, \" and \n. */
static int read_quoted(struct promtext *p, struct line *l, struct buf *out)
{
	buf_reset(out);
	for (l->at++; !looking_at(l, '"'); l->at++) {
		bool escape = looking_at(l, '\\');

		if (escape)
			l->at++;
		if (at_end(l))
			return wrong(p, "the quotes are not closed");
		if (escape && !strchr("\\\"n", *l->at))
			return wrong(p, "in quotes a backslash must precede \\, \" or n");
		buf_putc(out, escape && *l->at == 'n' ? '\n' : *l->at);
	}
	l->at++;
	return buf_failed(out) ? wrong(p, "a text in quotes is too long") : 0;
}

static int read_name(struct promtext *p, struct line *l, struct buf *out)
{
	return looking_at(l, '"') ? read_quoted(p, l, out) : read_bare(p, l, out);
}

/* ---- Labels ---- */

/* False: a matcher does not hold for this label. */
static bool matches(struct promtext *p)
{
	bool holds = true;

	for (size_t i = 0; holds && i < p->selector->count; i++) {
		const struct promselector_matcher *m = &p->selector->matchers[i];

		if (strcmp(m->label, buf_text(&p->label)) != 0)
			continue;
		p->given[i] = true;
		holds = promselector_holds(m, buf_text(&p->value), &p->budget);
	}
	return holds;
}

static bool missing_labels_match(struct promtext *p)
{
	for (size_t i = 0; i < p->selector->count; i++)
		if (!p->given[i] && !promselector_holds(&p->selector->matchers[i], "", &p->budget))
			return false;
	return true;
}

static bool is_selected(const struct promtext *p)
{
	return strcmp(buf_text(&p->name), p->selector->name) == 0;
}

/* Reads `name="value"`, or the series' own name in quotes (OpenMetrics' syntax for other names). */
static int read_label(struct promtext *p, struct line *l, bool *meant)
{
	bool quoted = looking_at(l, '"');

	if (read_name(p, l, &p->label))
		return -1;
	skip_blanks(l);
	if (quoted && p->name.len == 0 && !looking_at(l, '=')) {
		buf_puts(&p->name, buf_text(&p->label));
		return 0;
	}
	if (!looking_at(l, '='))
		return wrong(p, "expected = after a label");
	l->at++;
	skip_blanks(l);
	if (!looking_at(l, '"'))
		return wrong(p, "a label's value must be in quotes");
	if (read_quoted(p, l, &p->value))
		return -1;
	if (!p->found && *meant && (p->name.len == 0 || is_selected(p)))
		*meant = matches(p);
	return 0;
}

static int read_labels(struct promtext *p, struct line *l, bool *meant)
{
	l->at++;
	skip_blanks(l);
	for (size_t count = 0; !looking_at(l, '}'); count++) {
		if (count == LABELS_MAX)
			return wrong(p, "more than 256 labels");
		if (read_label(p, l, meant))
			return -1;
		skip_blanks(l);
		if (!looking_at(l, ',') && !looking_at(l, '}'))
			return wrong(p, "expected a comma or } after a label");
		if (looking_at(l, ','))
			l->at++;
		skip_blanks(l);
	}
	l->at++;
	return 0;
}

/* ---- Numbers ---- */

/* Reads a number as Go's ParseFloat does, except hexadecimal ones: +Inf, NaN, 1e3. */
static bool read_number(struct line *l, double *out)
{
	char text[NUMBER_MAX + 1], *behind;
	const char *start = l->at;
	size_t len;

	while (!at_end(l) && *l->at != ' ' && *l->at != '\t')
		l->at++;
	len = (size_t)(l->at - start);
	if (len == 0 || len > NUMBER_MAX)
		return false;
	memcpy(text, start, len);
	text[len] = '\0';
	if (strpbrk(text, "xX(_") || isspace((unsigned char)text[0]))
		return false;
	*out = strtod(text, &behind);
	return !*behind;
}

/* An exemplar (` # {trace_id="x"} 0.5 1700000000`) is ignored. */
static int read_value(struct promtext *p, struct line *l, double *value)
{
	double time;

	skip_blanks(l);
	if (!read_number(l, value))
		return wrong(p, "expected a value after the name and its labels");
	skip_blanks(l);
	if (!at_end(l) && !looking_at(l, '#') && !read_number(l, &time))
		return wrong(p, "expected a time after the value");
	skip_blanks(l);
	return at_end(l) || looking_at(l, '#') ? 0 : wrong(p, "there is something after the value and its time");
}

/* ---- Lines ---- */

static int read_series(struct promtext *p, struct line *l)
{
	bool meant = true;
	double value;

	buf_reset(&p->name);
	memset(p->given, 0, p->selector->count * sizeof(*p->given));
	if (!looking_at(l, '{') && read_bare(p, l, &p->name))
		return -1;
	skip_blanks(l);
	if (looking_at(l, '{') && read_labels(p, l, &meant))
		return -1;
	if (p->name.len == 0)
		return wrong(p, "the name is missing");
	if (read_value(p, l, &value))
		return -1;
	if (p->found || !is_selected(p))
		return 0;
	if (p->budget == 0)
		return err_set(&p->err, ERR_INVALID,
			"the answer is too large for the regular expressions of the selector");
	p->name_known = true;
	if (meant && missing_labels_match(p) && p->budget > 0) {
		p->found = true;
		p->result = value;
	}
	return 0;
}

static int read_line(struct promtext *p, struct line l)
{
	if (l.end > l.at && l.end[-1] == '\r')
		l.end--;
	skip_blanks(&l);
	return at_end(&l) || looking_at(&l, '#') ? 0 : read_series(p, &l);
}

/* Reads a line that began in an earlier piece. */
static int read_rest(struct promtext *p, const char *bytes, size_t len)
{
	int rc;

	buf_append(&p->rest, bytes, len);
	if (buf_failed(&p->rest))
		return wrong(p, "the line is too long");
	rc = read_line(p, (struct line){ p->rest.data, p->rest.data + p->rest.len });
	buf_reset(&p->rest);
	return rc;
}

static int result(struct promtext *p, double *out)
{
	if (!p->name_known)
		return err_set(&p->err, ERR_INVALID, "metric '%.200s' not found", p->selector->name);
	if (!p->found)
		return err_set(&p->err, ERR_INVALID, "value not found: metric '%.200s' has no series with these labels",
			p->selector->name);
	if (!isfinite(p->result))
		return err_set(&p->err, ERR_INVALID, "metric '%.200s' is %s, which is not a usable number",
			p->selector->name,
			isnan(p->result)        ? "NaN"
				: p->result > 0 ? "+Inf"
						: "-Inf");
	*out = p->result;
	return 0;
}

/* ---- The page ---- */

int promtext_feed(struct promtext *p, const char *bytes, size_t len)
{
	const char *at = bytes, *end = bytes + len, *newline;

	if (p->err.kind != ERR_NONE)
		return -1;
	if (len > 0 && memchr(bytes, '\0', len))
		return err_set(&p->err, ERR_INVALID, "the answer is not a metrics page: it contains a zero byte");
	for (; at < end && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL; at = newline + 1) {
		p->number++;
		if (p->rest.len > 0 ? read_rest(p, at, (size_t)(newline - at))
				    : read_line(p, (struct line){ at, newline }))
			return -1;
	}
	buf_append(&p->rest, at, (size_t)(end - at));
	if (!buf_failed(&p->rest))
		return 0;
	p->number++;
	return wrong(p, "the line is too long");
}

size_t promtext_buffered(const struct promtext *p)
{
	return p->rest.len;
}

int promtext_end(struct promtext *p, double *out, struct err *err)
{
	bool bad = p->err.kind != ERR_NONE;

	if (!bad && p->rest.len > 0) {
		p->number++;
		bad = read_rest(p, "", 0) != 0;
	}
	if (!bad && result(p, out) == 0)
		return 0;
	if (err)
		*err = p->err;
	return -1;
}

struct promtext *promtext_new(const struct promselector *selector)
{
	struct promtext *p = mem_zalloc(sizeof(*p));

	p->selector = selector;
	buf_init(&p->rest, LINE_MAX_BYTES);
	buf_init(&p->name, VALUE_MAX);
	buf_init(&p->label, VALUE_MAX);
	buf_init(&p->value, VALUE_MAX);
	p->given = mem_array(selector->count + 1, sizeof(bool));
	p->budget = BUDGET;
	return p;
}

void promtext_free(struct promtext *p)
{
	if (!p)
		return;
	buf_done(&p->rest);
	buf_done(&p->name);
	buf_done(&p->label);
	buf_done(&p->value);
	free(p->given);
	free(p);
}
