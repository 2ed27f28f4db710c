/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/values/jsonpath.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/values/dotpath.h"
#include "scalers/values/jsonpath_parts.h"

/* The text of one path (a condition's path is a part of the whole) and the position in it. */
struct path_reader {
	const char *whole; /* for positions */
	const char *at, *end;
	int nested;
	struct err *err;
};

static struct jsonpath *compile(struct path_reader *r);

static int wrong_at(const struct path_reader *r, const char *at, const char *what)
{
	return err_set(r->err, ERR_INVALID, "position %zu: %s", (size_t)(at - r->whole) + 1, what);
}

static int wrong(const struct path_reader *r, const char *what)
{
	return wrong_at(r, r->at, what);
}

static bool at_end(const struct path_reader *r)
{
	return r->at == r->end;
}

static bool looking_at(const struct path_reader *r, char c)
{
	return !at_end(r) && *r->at == c;
}

/* ---- Conditions: #(path operator text) ---- */

/* The end of a quoted text that begins at `at`; NULL when it is not terminated. */
static const char *behind_quotes(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		if (*at == '\\')
			at++;
		else if (*at == '"')
			return at + 1;
	}
	return NULL;
}

/* The closing parenthesis of the one before `at`; NULL when there is none. */
static const char *closing(const char *at, const char *end)
{
	int depth = 1;

	while (at && at < end) {
		if (*at == '"') {
			at = behind_quotes(at, end);
			continue;
		}
		depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
		if (depth == 0)
			return at;
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	}
	return NULL;
}

/*
 * The start of the operator, or the end. Skips parentheses, which are conditions in the left side.
 */
static const char *find_operator(const char *at, const char *end)
{
	while (at && at < end && !strchr("=!<>%", *at)) {
		if (*at == '(')
			at = closing(at + 1, end);
		else
			at += *at == '\\' && at + 1 < end ? 2 : 1;
	}
	return at && at < end ? at : end;
}

static const struct {
	const char *text;
	enum jsonpath_operator operator;
} operators[] = {
	/* longer operators first */
	{ "==", JSONPATH_EQUAL },
	{ "!=", JSONPATH_UNEQUAL },
	{ "<=", JSONPATH_AT_MOST },
	{ ">=", JSONPATH_AT_LEAST },
	{ "!%", JSONPATH_UNLIKE },
	{ "=", JSONPATH_EQUAL },
	{ "<", JSONPATH_LESS },
	{ ">", JSONPATH_MORE },
	{ "%", JSONPATH_LIKE },
};

static int read_operator(struct path_reader *r, struct jsonpath_condition *c)
{
	for (size_t i = 0; i < MEM_COUNT(operators); i++) {
		size_t len = strlen(operators[i].text);

		if ((size_t)(r->end - r->at) < len || strncmp(r->at, operators[i].text, len) != 0)
			continue;
		c->operator= operators[i].operator;
		r->at += len;
		return 0;
	}
	return wrong(r, "an operator must be ==, !=, <, <=, >, >=, % or !%");
}

static void trim(const char **start, const char **end)
{
	while (*start < *end && isspace((unsigned char)**start))
		(*start)++;
	while (*end > *start && isspace((unsigned char)(*end)[-1]))
		(*end)--;
}

/* A JSON string, or bare text. */
static int read_right_side(struct path_reader *r, struct jsonpath_condition *c)
{
	json_t *value;
	char *behind;

	trim(&r->at, &r->end);
	if (looking_at(r, '~'))
		return wrong(r, "comparisons with ~true and the like are not supported");
	if (looking_at(r, '\''))
		return wrong(r, "texts must be in double quotes");
	if (looking_at(r, '"')) {
		if (behind_quotes(r->at, r->end) != r->end)
			return wrong(r, "there is something after the text in quotes");
		value = json_loadb(r->at, (size_t)(r->end - r->at), JSON_DECODE_ANY, NULL);
		if (!value)
			return wrong(r, "the text in quotes must be a JSON string");
		c->text = mem_dup(json_string_value(value));
		json_decref(value);
	} else {
		if (!at_end(r) && strchr("=<>!%", *r->at))
			return wrong(r, "an operator must be ==, !=, <, <=, >, >=, % or !%");
		c->text = mem_dupn(r->at, (size_t)(r->end - r->at));
	}
	errno = 0;
	c->number = strtod(c->text, &behind);
	c->is_number = *c->text && !isspace((unsigned char)*c->text) && !*behind;
	return 0;
}

static int read_left_side(struct path_reader *r, const char *end, struct jsonpath_condition *c)
{
	struct path_reader left = { r->whole, r->at, end, r->nested + 1, r->err };

	trim(&left.at, &left.end);
	r->at = end;
	if (at_end(&left))
		return 0; /* the element itself */
	if (left.nested > JSONPATH_NESTED_MAX)
		return wrong_at(r, left.at, "conditions are nested too deeply: at most 8");
	c->of = compile(&left);
	return c->of ? 0 : -1;
}

static int read_condition(struct path_reader *r, struct jsonpath_step *step)
{
	struct path_reader inner = { r->whole, r->at + 2, closing(r->at + 2, r->end), r->nested, r->err };

	if (!inner.end)
		return wrong(r, "the parenthesis after # is not closed");
	step->condition = mem_zalloc(sizeof(*step->condition));
	if (read_left_side(&inner, find_operator(inner.at, inner.end), step->condition))
		return -1;
	r->at = inner.end + 1;
	step->kind = JSONPATH_FIRST;
	if (looking_at(r, '#')) {
		step->kind = JSONPATH_ALL;
		r->at++;
	}
	if (at_end(&inner))
		return 0; /* the field exists */
	return read_operator(&inner, step->condition) || read_right_side(&inner, step->condition) ? -1 : 0;
}

/* ---- Steps ---- */

static const struct {
	const char *name;
	enum jsonpath_kind kind;
	bool refused;
} modifiers[] = {
	{ "this", JSONPATH_THIS, false },
	{ "reverse", JSONPATH_REVERSE, false },
	{ "values", JSONPATH_VALUES, false },
	{ "keys", JSONPATH_KEYS, false },
	{ "flatten", JSONPATH_FLATTEN, false },
	{ "ugly", JSONPATH_THIS, false },
	{ "pretty", JSONPATH_THIS, false },
	{ "valid", JSONPATH_THIS, false },
	{ "join", JSONPATH_THIS, true },
	{ "tostr", JSONPATH_THIS, true },
	{ "fromstr", JSONPATH_THIS, true },
	{ "group", JSONPATH_THIS, true },
	{ "dig", JSONPATH_THIS, true },
};

/* Reads @name. 1: not a modifier but a field name. */
static int read_modifier(struct path_reader *r, struct jsonpath_step *step)
{
	size_t len = 1;

	while (r->at + len < r->end && !strchr(".|:", r->at[len]))
		len++;
	for (size_t i = 0; i < MEM_COUNT(modifiers); i++) {
		if (strlen(modifiers[i].name) != len - 1 || strncmp(modifiers[i].name, r->at + 1, len - 1) != 0)
			continue;
		if (modifiers[i].refused)
			return wrong(r,
				"of the modifiers only @this, @reverse, @values, @keys and @flatten are supported");
		r->at += len;
		if (looking_at(r, ':'))
			return wrong(r, "arguments of modifiers are not supported");
		step->kind = modifiers[i].kind;
		return 0;
	}
	return 1;
}

/* Reads a name up to the next . or |. Patterns keep their backslashes. */
static int read_name(struct path_reader *r, struct jsonpath_step *step)
{
	const char *start = r->at;
	struct buf plain = BUF_INIT(JSONPATH_LENGTH_MAX), pattern = BUF_INIT(2 * JSONPATH_LENGTH_MAX);
	bool is_pattern = false, escaped = false;

	for (; !at_end(r) && *r->at != '.' && *r->at != '|'; r->at++) {
		if (*r->at == '\\') {
			escaped = true;
			buf_putc(&pattern, '\\');
			if (++r->at == r->end) {
				buf_done(&plain);
				buf_done(&pattern);
				return wrong_at(r, start, "the last backslash must be followed by a character");
			}
		} else {
			is_pattern |= *r->at == '*' || *r->at == '?';
		}
		buf_putc(&plain, *r->at);
		buf_putc(&pattern, *r->at);
	}
	step->text = buf_take(is_pattern ? &pattern : &plain);
	step->kind = is_pattern                            ? JSONPATH_PATTERN
		: !escaped && strcmp(step->text, "#") == 0 ? JSONPATH_HASH
							   : JSONPATH_KEY;
	step->indexed = !is_pattern && !escaped && dotpath_index(step->text, &step->index);
	buf_done(&plain);
	buf_done(&pattern);
	return 0;
}

/* Reads one step. */
static int read_step(struct path_reader *r, struct jsonpath_step *step)
{
	size_t left = (size_t)(r->end - r->at);
	int rc = 1;

	if (left > 0 && (*r->at == '{' || *r->at == '['))
		return wrong(r,
			"multipaths ({...}, [...]) are not supported; escape { and [ at the start of a name by a "
			"backslash");
	if (left > 0 && *r->at == '!' && (step->piped || r->at == r->whole))
		return wrong(r, "literals (!...) are not supported; escape ! at the start of a name by a backslash");
	if (left > 1 && r->at[0] == '#' && r->at[1] == '(')
		return read_condition(r, step);
	if (left > 1 && r->at[0] == '#' && r->at[1] == '[')
		return wrong(r, "conditions are written #(...)");
	if (left > 0 && *r->at == '@')
		rc = read_modifier(r, step);
	return rc > 0 ? read_name(r, step) : rc;
}

/* Reads the . or | before another step; 0 at the end. */
static int read_separator(struct path_reader *r, bool *piped)
{
	if (at_end(r))
		return 0;
	if (*r->at != '.' && *r->at != '|')
		return wrong(r, "a dot or | must follow here");
	*piped = *r->at == '|';
	r->at++;
	return 1;
}

static struct jsonpath *compile(struct path_reader *r)
{
	struct jsonpath *p = mem_zalloc(sizeof(*p));
	bool piped = false;
	int more = 1;

	while (more > 0) {
		struct jsonpath_step step = { .piped = piped };

		if (p->count == JSONPATH_STEPS_MAX) {
			more = wrong(r, "too many steps: at most 64");
			break;
		}
		more = read_step(r, &step);
		p->steps = mem_resize(p->steps, p->count + 1, sizeof(*p->steps));
		p->steps[p->count++] = step;
		if (more == 0)
			more = read_separator(r, &piped);
	}
	if (more == 0)
		return p;
	jsonpath_free(p);
	return NULL;
}

struct jsonpath *jsonpath_compile(const char *text, struct err *err)
{
	struct path_reader r = { text, text, text + strlen(text), 0, err };

	if (r.end - r.at > JSONPATH_LENGTH_MAX) {
		err_set(err, ERR_INVALID, "longer than %d characters", JSONPATH_LENGTH_MAX);
		return NULL;
	}
	if (strncmp(text, "..", 2) == 0) {
		wrong(&r, "JSON lines (..) are not supported");
		return NULL;
	}
	return compile(&r);
}

void jsonpath_free(struct jsonpath *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++) {
		struct jsonpath_condition *c = p->steps[i].condition;

		free(p->steps[i].text);
		if (c) {
			jsonpath_free(c->of);
			free(c->text);
			free(c);
		}
	}
	free(p->steps);
	free(p);
}
