/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/values/re2.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/buf.h"
#include "base/mem.h"

#define DEPTH_MAX       32
#define REPEAT_MAX      1000
#define TRANSLATION_MAX 65536 /* bytes; \S in brackets is the longest: 37 for 2 */
#define HEAP_MAX_KIB    4096
#define FIRST_TRY       4   /* steps */
#define TEXT_PER_STEP   64  /* bytes of text, and */
#define CODE_PER_STEP   8   /* bytes of code that one step may scan */
#define CODE_FREE       192 /* not counted: the header and any simple expression */

#define COMPILE_OPTIONS                                                                                                \
	(PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_UTF | PCRE2_NEVER_UCP |      \
		PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C)

struct re2 {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
	size_t size, price; /* bytes of code, and the cost of one step */
};

/* ---- From RE2's syntax to PCRE2's ---- */

struct regex_reader {
	const char *at;
	struct buf out;  /* the translation */
	bool repeatable; /* a repetition may follow here */
	struct err *err;
};

static int wrong(struct err *err, const char *what)
{
	return err_set(err, ERR_INVALID, "the regular expression: %s", what);
}

/*
 * Escapes that PCRE2 interprets differently: its \v matches several characters and is part of \s.
 */
static const struct {
	char letter;
	const char *plain, *in_brackets;
} escapes[] = {
	{ 's', "[\\t\\n\\f\\r ]", "\\t\\n\\f\\r " },
	{ 'S', "[^\\t\\n\\f\\r ]", "\\x00-\\x08\\x0b\\x0e-\\x1f!-\\x{10ffff}" },
	{ 'v', "\\x0b", "\\x0b" },
};

/* Reads an escape after the backslash. *class: it matches several characters. */
static int read_escape(struct regex_reader *in, bool in_brackets, bool *class)
{
	char letter = *in->at;

	*class = letter && strchr("dDwWsS", letter);
	if (!letter)
		return wrong(in->err, "the last backslash must be followed by a character");
	if (isdigit((unsigned char)letter) || letter == 'g' || letter == 'k')
		return wrong(in->err, "back references are not supported");
	if (isalnum((unsigned char)letter) && !strchr("dDwWsSnrtfv", letter))
		return wrong(in->err,
			"a backslash may precede only d w s D W S n r t f v and characters other than letters and "
			"digits");
	in->at++;
	for (size_t i = 0; i < MEM_COUNT(escapes); i++) {
		if (escapes[i].letter == letter) {
			buf_puts(&in->out, in_brackets ? escapes[i].in_brackets : escapes[i].plain);
			return 0;
		}
	}
	buf_putc(&in->out, '\\');
	buf_putc(&in->out, letter);
	return 0;
}

/*
 * Reads a bracket expression after the [. A ] in first place is literal, and so is a - after an
 * escape such as \d.
 */
static int read_brackets(struct regex_reader *in)
{
	bool class = false, first = true;

	if (*in->at == '^')
		buf_putc(&in->out, *in->at++);
	for (; *in->at != ']' || first; first = false) {
		char c = *in->at++;

		if (!c)
			return wrong(in->err, "the [ is not closed");
		if (c == '[' && *in->at == ':')
			return wrong(in->err, "[[:...:]] is not supported");
		if (c == '\\' && read_escape(in, true, &class))
			return -1;
		if (c == '\\')
			continue;
		if (c == '[' || (c == '-' && class))
			buf_putc(&in->out, '\\');
		buf_putc(&in->out, c);
		class = false;
	}
	buf_putc(&in->out, *in->at++);
	return 0;
}

static int read_group(struct regex_reader *in)
{
	if (in->at[0] == '*')
		return wrong(in->err, "(*...) is not supported");
	if (in->at[0] == '?' && in->at[1] != ':')
		return wrong(in->err, "of (?...) only (?:...) is supported: no flags, names, look-around or callouts");
	if (in->at[0] == '?') {
		buf_puts(&in->out, "?:");
		in->at += 2;
	}
	return 0;
}

static long read_count(const char **at)
{
	long count = isdigit((unsigned char)**at) ? 0 : -1;

	for (; isdigit((unsigned char)**at); (*at)++)
		count = count > REPEAT_MAX ? count : 10 * count + (**at - '0');
	return count;
}

/* The length of {n}, {n,} or {n,m}; 0: the brace is literal, as in RE2; -1: invalid. */
static int counts_length(const struct regex_reader *in)
{
	const char *at = in->at + 1;
	long least = read_count(&at), most = least;

	if (least < 0)
		return 0;
	if (*at == ',') {
		at++;
		most = read_count(&at);
	}
	if (*at != '}')
		return 0;
	if (least > REPEAT_MAX || most > REPEAT_MAX || (most >= 0 && most < least))
		return wrong(in->err, "the numbers of a repetition {n,m} are too large, or in the wrong order");
	return (int)(at + 1 - in->at);
}

/* The length of a repetition; 0: none; -1: invalid. */
static int repetition_length(const struct regex_reader *in)
{
	if (*in->at == '{')
		return counts_length(in);
	return *in->at == '*' || *in->at == '+' || *in->at == '?';
}

/*
 * A ? after a repetition only selects among matches, and a whole-text match is unique. Other
 * suffixes are PCRE2 extensions.
 */
static int read_repetition(struct regex_reader *in, int length)
{
	if (!in->repeatable)
		return wrong(in->err, "there is nothing to repeat before * + ? or {n}");
	buf_append(&in->out, in->at, (size_t)length);
	in->at += length;
	if (*in->at == '?')
		buf_putc(&in->out, *in->at++);
	length = repetition_length(in);
	return length > 0 ? wrong(in->err, "a repetition follows another one") : length;
}

static int read_one(struct regex_reader *in)
{
	bool class;
	char c = *in->at++;

	in->repeatable = c != '(' && c != '|';
	if (c == '\\')
		return read_escape(in, false, &class);
	if (c == '{')
		buf_putc(&in->out, '\\');
	buf_putc(&in->out, c);
	return c == '[' ? read_brackets(in) : c == '(' ? read_group(in) : 0;
}

static int translate(struct regex_reader *in)
{
	while (*in->at) {
		int length = repetition_length(in);

		if (length < 0 || (length > 0 ? read_repetition(in, length) : read_one(in)))
			return -1;
	}
	return 0;
}

/* ---- Compiling ---- */

static int refused(int code, struct err *err)
{
	static const struct {
		int code;
		const char *text;
	} known[] = {
		{ PCRE2_ERROR_MISSING_CLOSING_PARENTHESIS, "a ( is not closed" },
		{ PCRE2_ERROR_UNMATCHED_CLOSING_PARENTHESIS, "a ) has no (" },
		{ PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP, "parentheses are nested too deeply" },
		{ PCRE2_ERROR_PATTERN_TOO_LARGE, "it is too large" },
		{ PCRE2_ERROR_CLASS_RANGE_ORDER, "a range in [] is in the wrong order" },
	};
	char text[128];

	for (size_t i = 0; i < MEM_COUNT(known); i++)
		if (known[i].code == code)
			return wrong(err, known[i].text);
	pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof(text));
	return wrong(err, text);
}

static void *get_memory(size_t size, void *arg)
{
	(void)arg;
	return mem_alloc(size);
}

static void free_memory(void *ptr, void *arg)
{
	(void)arg;
	free(ptr);
}

static int compile(struct re2 *r, const struct buf *pattern, struct err *err)
{
	pcre2_general_context *memory = pcre2_general_context_create(get_memory, free_memory, NULL);
	pcre2_compile_context *context = pcre2_compile_context_create(memory);
	PCRE2_SIZE offset;
	int code;

	pcre2_set_parens_nest_limit(context, DEPTH_MAX);
	r->code = pcre2_compile((PCRE2_SPTR)buf_text(pattern), pattern->len, COMPILE_OPTIONS, &code, &offset, context);
	r->data = pcre2_match_data_create(1, memory);
	r->limits = pcre2_match_context_create(memory);
	pcre2_set_heap_limit(r->limits, HEAP_MAX_KIB);
	pcre2_compile_context_free(context);
	pcre2_general_context_free(memory);
	if (!r->code)
		return refused(code, err);
	pcre2_pattern_info(r->code, PCRE2_INFO_SIZE, &r->size);
	r->price = 1 + (r->size > CODE_FREE ? (r->size - CODE_FREE) / CODE_PER_STEP : 0);
	return r->size > RE2_SIZE_MAX ? refused(PCRE2_ERROR_PATTERN_TOO_LARGE, err) : 0;
}

struct re2 *re2_compile(const char *text, struct err *err)
{
	struct regex_reader in = { .at = text, .out = BUF_INIT(TRANSLATION_MAX), .err = err };
	struct re2 *r = mem_zalloc(sizeof(*r));
	int rc = strlen(text) > RE2_LENGTH_MAX ? wrong(err, "longer than 512 characters") : translate(&in);

	if (rc == 0)
		rc = compile(r, &in.out, err);
	buf_done(&in.out);
	if (rc == 0)
		return r;
	re2_free(r);
	return NULL;
}

void re2_free(struct re2 *r)
{
	if (!r)
		return;
	pcre2_match_context_free(r->limits);
	pcre2_match_data_free(r->data);
	pcre2_code_free(r->code);
	free(r);
}

/* ---- Matching ---- */

/*
 * PCRE2 does not report the steps of a match, only that it exceeded a limit. So each attempt gets
 * four times the limit of the one before, and all attempts are charged.
 */
bool re2_matches(const struct re2 *r, const char *text, size_t *budget)
{
	size_t len = strlen(text), price = r->price + len / TEXT_PER_STEP;

	for (uint32_t steps = FIRST_TRY;; steps *= 4) {
		int rc;

		if (steps * price >= *budget)
			break;
		*budget -= steps * price;
		pcre2_set_match_limit(r->limits, steps);
		pcre2_set_depth_limit(r->limits, steps);
		rc = pcre2_match(r->code, (PCRE2_SPTR)text, len, 0, 0, r->data, r->limits);
		if (rc == PCRE2_ERROR_HEAPLIMIT)
			break;
		if (rc != PCRE2_ERROR_MATCHLIMIT && rc != PCRE2_ERROR_DEPTHLIMIT)
			return rc >= 0;
	}
	*budget = 0;
	return false;
}
