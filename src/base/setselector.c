/* SPDX-License-Identifier: Apache-2.0 */
#include "base/setselector.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/selector.h"

#define TEXT_MAX_LEN 8192
#define SHOWN        100

enum token_kind { END, WORD, SIGN /* = == != > < */, NOT, OPEN, CLOSE, COMMA };

struct lexeme {
	enum token_kind kind;
	const char *start;
	size_t len;
};

struct set_reader {
	const char *whole, *at;
	struct lexeme token; /* the next one */
	struct buf out;
	struct err *err;
};

static void advance(struct set_reader *r)
{
	static const struct {
		const char *text;
		enum token_kind kind;
	} signs[] = { { "==", SIGN }, { "!=", SIGN }, { "=", SIGN }, { ">", SIGN }, { "<", SIGN }, { "!", NOT },
		{ "(", OPEN }, { ")", CLOSE }, { ",", COMMA } };

	r->at += strspn(r->at, " \t\r\n");
	r->token = (struct lexeme){ *r->at ? WORD : END, r->at, 0 };
	for (size_t i = 0; i < MEM_COUNT(signs); i++) {
		size_t len = strlen(signs[i].text);

		if (strncmp(r->at, signs[i].text, len) == 0) {
			r->token = (struct lexeme){ signs[i].kind, r->at, len };
			r->at += len;
			return;
		}
	}
	r->token.len = strcspn(r->at, " \t\r\n=!><(),");
	r->at += r->token.len;
}

static int wrong_token(struct set_reader *r, const char *what)
{
	return err_set(r->err, ERR_INVALID, "\"%.*s\" (character %zu): %s", SHOWN, r->whole,
		(size_t)(r->token.start - r->whole) + 1, what);
}

static bool is_word(const struct set_reader *r, const char *word)
{
	return r->token.kind == WORD && r->token.len == strlen(word) && memcmp(r->token.start, word, r->token.len) == 0;
}

static void put_token(struct set_reader *r)
{
	buf_append(&r->out, r->token.start, r->token.len);
	advance(r);
}

static int read_key(struct set_reader *r)
{
	if (r->token.kind != WORD)
		return wrong_token(r, "the key of a label is missing");
	if (!selector_is_key(r->token.start, r->token.len))
		return wrong_token(r, "is not a valid label key");
	put_token(r);
	return 0;
}

/* A value may be empty. */
static int read_value(struct set_reader *r)
{
	if (r->token.kind != WORD)
		return 0;
	if (!selector_is_value(r->token.start, r->token.len))
		return wrong_token(r, "is not a valid label value");
	put_token(r);
	return 0;
}

/* "(a,b)" */
static int read_set(struct set_reader *r)
{
	if (r->token.kind != OPEN)
		return wrong_token(r, "\"in\" and \"notin\" need values in brackets, as in (a,b)");
	put_token(r);
	if (r->token.kind == CLOSE)
		return wrong_token(r, "there must be a value between the brackets");
	for (;;) {
		if (read_value(r))
			return -1;
		if (r->token.kind != COMMA)
			break;
		put_token(r);
	}
	if (r->token.kind != CLOSE)
		return wrong_token(r, "a comma or a closing bracket is missing");
	put_token(r);
	return 0;
}

static int read_number(struct set_reader *r)
{
	if (r->token.kind != WORD || r->token.len > 18 || strspn(r->token.start, "0123456789") < r->token.len)
		return wrong_token(r, "\"<\" and \">\" need a whole number");
	put_token(r);
	return 0;
}

static int read_operator(struct set_reader *r)
{
	bool compares = *r->token.start == '<' || *r->token.start == '>';

	if (r->token.kind == SIGN) {
		if (*r->token.start == '=')
			r->token.len = 1;
		put_token(r);
		return compares ? read_number(r) : read_value(r);
	}
	if (is_word(r, "in") || is_word(r, "notin")) {
		buf_putc(&r->out, ' ');
		put_token(r);
		buf_putc(&r->out, ' ');
		return read_set(r);
	}
	if (r->token.kind == WORD || r->token.kind == OPEN || r->token.kind == NOT)
		return wrong_token(r, "the key must be followed by one of = == != in notin < >, a comma, or the end");
	return 0;
}

static int read_requirement(struct set_reader *r)
{
	bool negated = r->token.kind == NOT;

	if (negated)
		put_token(r);
	if (read_key(r))
		return -1;
	if (negated)
		return r->token.kind == COMMA || r->token.kind == END
			? 0
			: wrong_token(r, "!key must be followed by a comma or the end");
	return read_operator(r);
}

static int read_all(struct set_reader *r)
{
	if (strlen(r->whole) > TEXT_MAX_LEN)
		return err_set(r->err, ERR_INVALID, "\"%.*s...\" is longer than %d characters", SHOWN, r->whole,
			TEXT_MAX_LEN);
	for (;;) {
		if (read_requirement(r))
			return -1;
		if (r->token.kind == END)
			return 0;
		if (r->token.kind != COMMA)
			return wrong_token(r, "a comma or the end is needed");
		put_token(r);
	}
}

char *setselector_normal(const char *text, struct err *err)
{
	struct set_reader r = { .whole = text, .at = text, .out = BUF_INIT(2 * TEXT_MAX_LEN), .err = err };
	int rc;

	advance(&r);
	rc = read_all(&r);
	if (rc == 0)
		return buf_take(&r.out);
	buf_done(&r.out);
	return NULL;
}

/* ---- Evaluation ---- */

/* Whether the comma-separated list up to `end` contains the value. */
static bool is_among(const char *value, const char *list, const char *end)
{
	size_t len = strlen(value);

	for (;;) {
		size_t one = strcspn(list, ",)");

		if (list + one > end)
			one = (size_t)(end - list);
		if (one == len && memcmp(list, value, len) == 0)
			return true;
		list += one;
		if (list >= end)
			return false;
		list++;
	}
}

static bool is_whole_number(const char *text)
{
	const char *digits = text + (*text == '-' || *text == '+');
	size_t len = strlen(digits);

	return len > 0 && len <= 18 && strspn(digits, "0123456789") == len;
}

/* Evaluates one requirement. value NULL: the label is missing. what: the text behind the key. */
static bool requirement_fits(const char *value, const char *what, const char *end)
{
	if (what == end)
		return value != NULL;
	if (*what == '=')
		return value && is_among(value, what + 1, end);
	if (*what == '!')
		return !value || !is_among(value, what + 2, end);
	if (*what == '<' || *what == '>')
		return value && is_whole_number(value) &&
			(*what == '<' ? atoll(value) < atoll(what + 1) : atoll(value) > atoll(what + 1));
	if (strncmp(what, " in (", 5) == 0)
		return value && is_among(value, what + 5, end - 1);
	return !value || !is_among(value, what + strlen(" notin ("), end - 1);
}

bool setselector_matches(const char *normal, const struct strmap *labels)
{
	while (*normal) {
		bool absent = *normal == '!';
		size_t key_len = strcspn(normal + absent, " =!<>,");
		MEM_AUTO char *key = mem_dupn(normal + absent, key_len);
		const char *value = strmap_get(labels, key), *what = normal + absent + key_len,
			   *end = *what == ' ' ? strchr(what, ')') + 1 : what + strcspn(what, ",");

		if (absent ? value != NULL : !requirement_fits(value, what, end))
			return false;
		normal = end + (*end == ',');
	}
	return true;
}
