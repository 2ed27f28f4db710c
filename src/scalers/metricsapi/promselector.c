/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/metricsapi/promselector.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

struct selector_reader {
	const char *whole, *at;
	struct err *err;
};

static int wrong_at(const struct selector_reader *r, const char *at, const char *what)
{
	return err_set(r->err, ERR_INVALID, "position %zu: %s", (size_t)(at - r->whole) + 1, what);
}

static int wrong(const struct selector_reader *r, const char *what)
{
	return wrong_at(r, r->at, what);
}

static void skip_blanks(struct selector_reader *r)
{
	r->at += strspn(r->at, " \t\r\n");
}

/* A label name, or with colons a metric name. NULL: none. */
static char *read_bare_name(struct selector_reader *r, bool colons)
{
	size_t len = 0;

	while (isalpha((unsigned char)r->at[len]) || r->at[len] == '_' || (colons && r->at[len] == ':') ||
		(len > 0 && isdigit((unsigned char)r->at[len])))
		len++;
	r->at += len;
	return len > 0 ? mem_dupn(r->at - len, len) : NULL;
}

/* An escape in quotes, in Go's syntax as far as labels need it. */
static int read_escape(struct selector_reader *r, struct buf *out)
{
	static const char names[] = "abfnrtv\\'\"", meanings[] = "\a\b\f\n\r\t\v\\'\"";
	const char *known = *r->at ? strchr(names, *r->at) : NULL;

	if (!known)
		return wrong(r,
			"in quotes a backslash must precede one of a b f n r t v \\ ' \" (double it for the regular "
			"expression)");
	buf_putc(out, meanings[known - names]);
	r->at++;
	return 0;
}

/* "text", 'text' or `text` (without escapes). */
static int read_quoted(struct selector_reader *r, char **out)
{
	struct buf text = BUF_INIT(PROMSELECTOR_LENGTH_MAX + 1);
	const char *start = r->at;
	char quote = *r->at;
	int rc = 0;

	if (quote != '"' && quote != '\'' && quote != '`')
		return wrong(r, "expected a text in quotes");
	for (r->at++; rc == 0 && *r->at != quote;) {
		if (!*r->at) {
			rc = wrong_at(r, start, "the quotes are not closed");
		} else if (*r->at == '\\' && quote != '`') {
			r->at++;
			rc = read_escape(r, &text);
		} else {
			buf_putc(&text, *r->at++);
		}
	}
	if (rc == 0) {
		r->at++;
		*out = buf_take(&text);
	}
	buf_done(&text);
	return rc;
}

/* ---- Matchers ---- */

static const struct {
	const char *text;
	enum promselector_operator operator;
} operators[] = { { "!=", PROMSELECTOR_UNEQUAL }, { "=~", PROMSELECTOR_MATCH }, { "!~", PROMSELECTOR_NOMATCH },
	{ "=", PROMSELECTOR_EQUAL } };

static int read_operator(struct selector_reader *r, enum promselector_operator *out)
{
	skip_blanks(r);
	for (size_t i = 0; i < MEM_COUNT(operators); i++) {
		if (!text_begins(r->at, operators[i].text))
			continue;
		r->at += strlen(operators[i].text);
		*out = operators[i].operator;
		skip_blanks(r);
		return 0;
	}
	return wrong(r, "expected one of = != =~ !~");
}

/* Sets the metric's name, once. */
static int keep_name(const struct selector_reader *r, const char *at, struct promselector *s, char *name /* takes */)
{
	if (s->name) {
		free(name);
		return wrong_at(r, at, "the metric's name must be given once");
	}
	s->name = name;
	return 0;
}

static int add_matcher(struct selector_reader *r, struct promselector *s, struct promselector_matcher *m,
	const char *at)
{
	if (strcmp(m->label, "__name__") == 0) {
		char *name = m->value;

		if (m->operator!= PROMSELECTOR_EQUAL)
			return wrong_at(r, at, "__name__ can only be compared with =");
		m->value = NULL;
		return keep_name(r, at, s, name);
	}
	if (s->count == PROMSELECTOR_MATCHERS_MAX)
		return wrong_at(r, at, "too many matchers: at most 32");
	if (m->operator== PROMSELECTOR_MATCH || m->operator== PROMSELECTOR_NOMATCH) {
		m->regex = re2_compile(m->value, r->err);
		if (!m->regex)
			return err_wrap(r->err, "position %zu", (size_t)(at - r->whole) + 1);
	}
	s->matchers = mem_resize(s->matchers, s->count + 1, sizeof(*s->matchers));
	s->matchers[s->count++] = *m;
	*m = (struct promselector_matcher){ 0 };
	return 0;
}

/* `label="value"`, or `"name"` alone. */
static int read_matcher(struct selector_reader *r, struct promselector *s)
{
	struct promselector_matcher m = { .label = read_bare_name(r, false) };
	const char *at = r->at;
	bool quoted = !m.label;
	int rc = quoted ? read_quoted(r, &m.label) : 0;

	skip_blanks(r);
	if (rc == 0 && quoted && (*r->at == ',' || *r->at == '}'))
		return keep_name(r, at, s, m.label);
	if (rc == 0)
		rc = read_operator(r, &m.operator);
	at = r->at;
	if (rc == 0)
		rc = read_quoted(r, &m.value);
	if (rc == 0)
		rc = add_matcher(r, s, &m, at);
	free(m.label);
	free(m.value);
	return rc;
}

static int read_matchers(struct selector_reader *r, struct promselector *s)
{
	r->at++;
	skip_blanks(r);
	while (*r->at != '}') {
		if (read_matcher(r, s))
			return -1;
		skip_blanks(r);
		if (*r->at != ',' && *r->at != '}')
			return wrong(r, *r->at ? "expected a comma or }" : "the { is not closed");
		if (*r->at == ',')
			r->at++;
		skip_blanks(r);
	}
	r->at++;
	return 0;
}

static int read_selector(struct selector_reader *r, struct promselector *s)
{
	if (strlen(r->whole) > PROMSELECTOR_LENGTH_MAX)
		return err_set(r->err, ERR_INVALID, "longer than %d characters", PROMSELECTOR_LENGTH_MAX);
	skip_blanks(r);
	s->name = read_bare_name(r, true);
	skip_blanks(r);
	if (!s->name && *r->at != '{')
		return wrong(r, "expected a metric's name or {");
	if (*r->at == '{' && read_matchers(r, s))
		return -1;
	skip_blanks(r);
	if (*r->at)
		return wrong(r,
			"only an instant selector is supported, such as name{label=\"value\"}: no range, offset, "
			"function or operator");
	if (!s->name || !*s->name)
		return wrong_at(r, r->whole, "the metric's name is missing");
	return 0;
}

struct promselector *promselector_compile(const char *text, struct err *err)
{
	struct selector_reader r = { text, text, err };
	struct promselector *s = mem_zalloc(sizeof(*s));

	if (read_selector(&r, s) == 0)
		return s;
	promselector_free(s);
	return NULL;
}

void promselector_free(struct promselector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++) {
		struct promselector_matcher *m = &s->matchers[i];

		re2_free(m->regex);
		free(m->label);
		free(m->value);
	}
	free(s->matchers);
	free(s->name);
	free(s);
}

bool promselector_holds(const struct promselector_matcher *m, const char *value, size_t *budget)
{
	switch (m->operator) {
	case PROMSELECTOR_EQUAL: return strcmp(value, m->value) == 0;
	case PROMSELECTOR_UNEQUAL: return strcmp(value, m->value) != 0;
	case PROMSELECTOR_MATCH: return re2_matches(m->regex, value, budget);
	case PROMSELECTOR_NOMATCH: return !re2_matches(m->regex, value, budget);
	}
	return false;
}
