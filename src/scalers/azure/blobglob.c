/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/blobglob.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"
#include "scalers/values/re2.h"

/* A regular expression, whose steps are counted, or two texts around one run of stars. */
struct blobglob {
	struct re2 *regex;
	char *before, *behind; /* owned; NULL: regex is used */
};

struct glob_reader {
	const char *at;
	struct buf out; /* the expression */
	size_t open;    /* open braces */
	struct err *err;
};

static int wrong(struct glob_reader *in, const char *what)
{
	return err_set(in->err, ERR_INVALID, "%s", what);
}

/* ---- Characters ---- */

/* 0: not UTF-8. */
static size_t step(const char *at)
{
	return utf8_step(at, strnlen(at, 4));
}

/* Appends one whole character as a literal. */
static void put(struct glob_reader *in, const char *at, size_t len)
{
	if (len == 1 && ispunct((unsigned char)*at))
		buf_putc(&in->out, '\\');
	buf_append(&in->out, at, len);
}

/* Takes the next character, escaped or not, as a literal. */
static int take(struct glob_reader *in)
{
	size_t len;

	in->at += *in->at == '\\' && in->at[1];
	len = step(in->at);
	if (len == 0)
		return wrong(in, "it is not UTF-8");
	put(in, in->at, len);
	in->at += len;
	return 0;
}

/* ---- Sets ---- */

static const char *behind(const char *at)
{
	at += *at == '\\' && at[1];
	return at + step(at);
}

/* "a-c]" */
static bool is_range(const char *at)
{
	const char *second = behind(at);

	return *at && *second == '-' && second[1];
}

static int take_range(struct glob_reader *in)
{
	if (take(in))
		return -1;
	buf_putc(&in->out, *in->at++);
	if (take(in))
		return -1;
	return *in->at == ']' ? 0 : wrong(in, "a [] with a range must have nothing else: [a-c]");
}

static int take_set(struct glob_reader *in)
{
	buf_putc(&in->out, '[');
	in->at++;
	if (*in->at == '!') {
		buf_putc(&in->out, '^');
		in->at++;
	}
	if (*in->at == ']')
		return wrong(in, "[] is empty");
	if (is_range(in->at) && take_range(in))
		return -1;
	while (*in->at && *in->at != ']')
		if (take(in))
			return -1;
	if (!*in->at)
		return wrong(in, "a [ is not closed");
	buf_putc(&in->out, *in->at++);
	return 0;
}

/* ---- Patterns ---- */

static void take_stars(struct glob_reader *in)
{
	in->at += strspn(in->at, "*");
	buf_puts(&in->out, ".*");
}

/* The regular expression of a special character; NULL: none here. */
static const char *meaning(const struct glob_reader *in)
{
	switch (*in->at) {
	case '?': return ".";
	case '{': return "(?:";
	case '}': return in->open > 0 ? ")" : NULL;
	case ',': return in->open > 0 ? "|" : NULL;
	default: return NULL;
	}
}

static int take_one(struct glob_reader *in)
{
	const char *means = meaning(in);

	if (*in->at == '*') {
		take_stars(in);
		return 0;
	}
	if (*in->at == '[')
		return take_set(in);
	if (!means)
		return take(in);
	in->open += *in->at == '{';
	in->open -= *in->at == '}';
	buf_puts(&in->out, means);
	in->at++;
	return 0;
}

/* ---- One run of stars ---- */

/* The text without escapes; NULL: it has a special or invalid character. */
static char *plain(const char *text, size_t len)
{
	const char *end = text + len;
	char *out = mem_array(len + 1, 1), *to = out;

	while (text < end && !strchr("?[{*", *text)) {
		size_t one;

		text += *text == '\\' && text + 1 < end;
		one = step(text);
		if (one == 0)
			break;
		memcpy(to, text, one);
		to += one;
		text += one;
	}
	*to = '\0';
	if (text < end)
		mem_free_ptr(&out);
	return out;
}

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), tail = strlen(end);

	return len >= tail && strcmp(name + len - tail, end) == 0;
}

static bool take_texts(const char *pattern, struct blobglob *g)
{
	const char *star = pattern;

	while (*star && *star != '*')
		star += *star == '\\' && star[1] ? 2 : 1;
	if (!*star || star == pattern || !star[strspn(star, "*")] || strlen(pattern) > RE2_LENGTH_MAX)
		return false;
	g->before = plain(pattern, (size_t)(star - pattern));
	star += strspn(star, "*");
	g->behind = plain(star, strlen(star));
	if (g->before && g->behind)
		return true;
	mem_free_ptr(&g->before);
	mem_free_ptr(&g->behind);
	return false;
}

struct blobglob *blobglob_new(const char *pattern, struct err *err)
{
	struct glob_reader in = { .at = pattern + (*pattern == '/'), .out = BUF_INIT(RE2_LENGTH_MAX), .err = err };
	struct blobglob *g = mem_zalloc(sizeof(*g));
	int rc = 0;

	if (take_texts(in.at, g))
		return g;
	while (rc == 0 && *in.at)
		rc = take_one(&in);
	if (rc == 0 && in.open > 0)
		rc = wrong(&in, "a { is not closed");
	if (rc == 0 && buf_failed(&in.out))
		rc = wrong(&in, "it is too long");
	if (rc == 0)
		g->regex = re2_compile(buf_text(&in.out), err);
	buf_done(&in.out);
	if (g->regex)
		return g;
	err_wrap(err, "invalid glob pattern \"%.100s\"", pattern);
	free(g);
	return NULL;
}

void blobglob_free(struct blobglob *g)
{
	if (!g)
		return;
	re2_free(g->regex);
	free(g->before);
	free(g->behind);
	free(g);
}

int blobglob_matches(const struct blobglob *g, const char *name, size_t *budget, struct err *err)
{
	bool fits;

	if (g->before)
		return text_begins(name, g->before) && ends_in(name, g->behind);
	fits = re2_matches(g->regex, name, budget);
	return *budget == 0 ? err_set(err, ERR_INVALID, "the glob pattern takes too long: use fewer *") : fits;
}
