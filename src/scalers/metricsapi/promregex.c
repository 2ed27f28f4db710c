/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/metricsapi/promregex.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DEPTH_MAX  32
#define REPEAT_MAX 1000

enum code { CODE_RANGES, CODE_ANY, CODE_SPLIT, CODE_JUMP, CODE_BEGIN, CODE_END };

struct range {
	uint32_t from, to;
};

/* Jumps are relative, so that a piece of the program may be moved and copied. */
struct instruction {
	enum code code;
	int to;              /* JUMP and SPLIT (beside the next one) */
	size_t first, count; /* RANGES */
	bool negated;
};

struct promregex {
	struct instruction *code; /* owned */
	size_t length;
	struct range *ranges;     /* owned, shared by all instructions */
	size_t range_count;
};

struct reader {
	const char *at;
	struct promregex *r;
	int depth;
	struct err *err;
};

static int wrong(const struct reader *in, const char *what)
{
	return err_set(in->err, ERR_INVALID, "the regular expression: %s", what);
}

/* A character, or a byte where there is none; behind it stands *next. */
static uint32_t character(const char *text, const char **next)
{
	const unsigned char *c = (const unsigned char *)text;
	int more = c[0] >= 0xF0 ? 3 : c[0] >= 0xE0 ? 2 : c[0] >= 0xC0 ? 1 : 0;
	uint32_t value = more == 3 ? c[0] & 0x07u : more == 2 ? c[0] & 0x0Fu : more == 1 ? c[0] & 0x1Fu : c[0];

	for (int i = 1; i <= more; i++) {
		if ((c[i] & 0xC0) != 0x80) {
			*next = text + 1;
			return c[0];
		}
		value = value << 6 | (c[i] & 0x3Fu);
	}
	*next = text + 1 + more;
	return value;
}

/* --- the program ------------------------------------------------------------------------------------------------------------------- */

/* Room for `count` instructions at `at`; what is behind moves. */
static int insert(struct reader *in, size_t at, size_t count)
{
	struct promregex *r = in->r;

	if (r->length + count > PROMREGEX_CODE_MAX)
		return wrong(in, "it is too large");
	r->code = mem_resize(r->code, r->length + count + 1, sizeof(*r->code));
	memmove(r->code + at + count, r->code + at, (r->length - at) * sizeof(*r->code));
	memset(r->code + at, 0, count * sizeof(*r->code));
	r->length += count;
	return 0;
}

static int emit(struct reader *in, size_t at, enum code code, int to)
{
	if (insert(in, at, 1))
		return -1;
	in->r->code[at].code = code;
	in->r->code[at].to = to;
	return 0;
}

static void add_range(struct promregex *r, uint32_t from, uint32_t to)
{
	r->ranges = mem_resize(r->ranges, r->range_count + 1, sizeof(*r->ranges));
	r->ranges[r->range_count++] = (struct range){ from, to };
}

/* An instruction for the ranges from `first` on. */
static int emit_ranges(struct reader *in, size_t first, bool negated)
{
	struct promregex *r = in->r;

	if (emit(in, r->length, CODE_RANGES, 0))
		return -1;
	r->code[r->length - 1].first = first;
	r->code[r->length - 1].count = r->range_count - first;
	r->code[r->length - 1].negated = negated;
	return 0;
}

/* --- single characters --------------------------------------------------------------------------------------------------------------- */

/* \d, \w, \s; false when the letter stands for none. */
static bool add_class(struct promregex *r, char letter)
{
	switch (letter) {
	case 'd':
		add_range(r, '0', '9');
		return true;
	case 'w':
		add_range(r, '0', '9');
		add_range(r, 'A', 'Z');
		add_range(r, 'a', 'z');
		add_range(r, '_', '_');
		return true;
	case 's':
		add_range(r, '\t', '\n');
		add_range(r, '\f', '\r');
		add_range(r, ' ', ' ');
		return true;
	default:
		return false;
	}
}

/* Behind a backslash: a sign, or a letter for a control character. */
static int read_escaped(struct reader *in, uint32_t *out)
{
	static const char letters[] = "nrtfv", meanings[] = "\n\r\t\f\v";
	const char *known = *in->at ? strchr(letters, *in->at) : NULL;

	if (!*in->at)
		return wrong(in, "there is nothing behind the last backslash");
	if (isalnum((unsigned char)*in->at) && !known)
		return wrong(in, "a backslash may stand before d w s D W S n r t f v and what is no letter or digit");
	*out = known ? (uint32_t)meanings[known - letters] : character(in->at, &in->at);
	in->at += known != NULL;
	return 0;
}

static int read_range_end(struct reader *in, uint32_t *out)
{
	if (*in->at != '\\') {
		*out = character(in->at, &in->at);
		return 0;
	}
	in->at++;
	return read_escaped(in, out);
}

static int read_range(struct reader *in)
{
	uint32_t from, to;

	if (in->at[0] == '[' && in->at[1] == ':')
		return wrong(in, "[[:...:]] is not supported");
	if (in->at[0] == '\\' && in->at[1] && add_class(in->r, in->at[1])) {
		in->at += 2;
		return 0;
	}
	if (read_range_end(in, &from))
		return -1;
	to = from;
	if (in->at[0] == '-' && in->at[1] && in->at[1] != ']') {
		in->at++;
		if (read_range_end(in, &to))
			return -1;
	}
	if (to < from)
		return wrong(in, "a range in [] ends before it begins");
	add_range(in->r, from, to);
	return 0;
}

/* Behind the [. A ] that stands first is one. */
static int read_brackets(struct reader *in)
{
	size_t first = in->r->range_count;
	bool negated = *in->at == '^';

	in->at += negated;
	do {
		if (!*in->at)
			return wrong(in, "the [ is not closed");
		if (read_range(in))
			return -1;
	} while (*in->at != ']');
	in->at++;
	return emit_ranges(in, first, negated);
}

static int read_literal(struct reader *in)
{
	size_t first = in->r->range_count;
	uint32_t c;

	if (*in->at != '\\') {
		c = character(in->at, &in->at);
	} else {
		char letter = *++in->at;
		bool negated = letter == 'D' || letter == 'W' || letter == 'S';

		if (letter && add_class(in->r, negated ? (char)tolower((unsigned char)letter) : letter)) {
			in->at++;
			return emit_ranges(in, first, negated);
		}
		if (read_escaped(in, &c))
			return -1;
	}
	add_range(in->r, c, c);
	return emit_ranges(in, first, false);
}

/* --- the grammar --------------------------------------------------------------------------------------------------------------------- */

static int read_choices(struct reader *in);

/* Behind the (. */
static int read_group(struct reader *in)
{
	if (strncmp(in->at, "?:", 2) == 0)
		in->at += 2;
	else if (*in->at == '?')
		return wrong(in, "of (?...) only (?:...) is supported");
	if (++in->depth > DEPTH_MAX)
		return wrong(in, "too many parentheses inside of each other");
	if (read_choices(in))
		return -1;
	in->depth--;
	if (*in->at != ')')
		return wrong(in, "a ( is not closed");
	in->at++;
	return 0;
}

static int read_atom(struct reader *in)
{
	switch (*in->at) {
	case '(':
		in->at++;
		return read_group(in);
	case '[':
		in->at++;
		return read_brackets(in);
	case '.':
		in->at++;
		return emit(in, in->r->length, CODE_ANY, 0);
	case '^':
		in->at++;
		return emit(in, in->r->length, CODE_BEGIN, 0);
	case '$':
		in->at++;
		return emit(in, in->r->length, CODE_END, 0);
	case '*':
	case '+':
	case '?':
		return wrong(in, "there is nothing to repeat before * + or ?");
	default:
		return read_literal(in);
	}
}

/* One more of the piece of `length` instructions at `from`, at the end. */
static int copy(struct reader *in, size_t from, size_t length)
{
	size_t to = in->r->length;

	if (insert(in, to, length))
		return -1;
	memcpy(in->r->code + to, in->r->code + from, length * sizeof(*in->r->code));
	return 0;
}

static int make_optional(struct reader *in, size_t start)
{
	return emit(in, start, CODE_SPLIT, (int)(in->r->length - start) + 1);
}

static int make_any_number(struct reader *in, size_t start)
{
	int length = (int)(in->r->length - start);

	return emit(in, in->r->length, CODE_JUMP, -length - 1) || emit(in, start, CODE_SPLIT, length + 2) ? -1 : 0;
}

/* The digits of {n,m}; -1: none. */
static long read_count(const char **at)
{
	long count = isdigit((unsigned char)**at) ? 0 : -1;

	for (; isdigit((unsigned char)**at); (*at)++)
		count = count > REPEAT_MAX ? count : 10 * count + (**at - '0');
	return count;
}

/* {n}, {n,} or {n,m}; false when it is not one, and then the brace is a character, as in RE2. */
static bool read_counts(struct reader *in, long *least, long *most)
{
	const char *at = in->at + 1;

	*least = *most = read_count(&at);
	if (*least < 0)
		return false;
	if (*at == ',') {
		at++;
		*most = read_count(&at);
	}
	if (*at != '}')
		return false;
	in->at = at + 1;
	return true;
}

/* most < 0: without end. The piece at `start` stands there once. */
static int repeat(struct reader *in, size_t start, long least, long most)
{
	size_t length = in->r->length - start;

	if (least > REPEAT_MAX || most > REPEAT_MAX || (most >= 0 && most < least))
		return wrong(in, "the numbers of a repetition {n,m} are too large, or in the wrong order");
	if (most == 0) {
		in->r->length = start;
		return 0;
	}
	for (long i = 1; i < least; i++)
		if (copy(in, start, length))
			return -1;
	if (most < 0) {
		size_t last = least > 0 ? in->r->length : start;

		return (least > 0 && copy(in, start, length)) || make_any_number(in, last) ? -1 : 0;
	}
	for (long i = least > 0 ? least : 1; i < most; i++) {
		size_t last = in->r->length;

		if (copy(in, start, length) || make_optional(in, last))
			return -1;
	}
	return least == 0 ? make_optional(in, start) : 0;
}

/* What stands behind an atom, once; a ? behind that only says which match is taken, and here there is but one. */
static int read_repetition(struct reader *in, size_t start)
{
	long least = 0, most = -1;

	switch (*in->at) {
	case '*':
	case '+':
		least = *in->at == '+';
		in->at++;
		break;
	case '?':
		most = 1;
		in->at++;
		break;
	case '{':
		if (read_counts(in, &least, &most))
			break;
		return 0;
	default:
		return 0;
	}
	in->at += *in->at == '?';
	if (*in->at == '*' || *in->at == '+' || *in->at == '?')
		return wrong(in, "two repetitions stand one behind the other");
	return repeat(in, start, least, most);
}

static int read_sequence(struct reader *in)
{
	while (*in->at && *in->at != '|' && *in->at != ')') {
		size_t start = in->r->length;

		if (read_atom(in) || read_repetition(in, start))
			return -1;
	}
	return 0;
}

static int read_choices(struct reader *in)
{
	size_t start = in->r->length;

	if (read_sequence(in))
		return -1;
	while (*in->at == '|') {
		size_t jump = in->r->length + 1;

		in->at++;
		if (emit(in, start, CODE_SPLIT, (int)(in->r->length - start) + 2) || emit(in, jump, CODE_JUMP, 0) || read_sequence(in))
			return -1;
		in->r->code[jump].to = (int)(in->r->length - jump);
	}
	return 0;
}

struct promregex *promregex_compile(const char *text, struct err *err)
{
	struct reader in = { text, mem_zalloc(sizeof(*in.r)), 0, err };
	int rc;

	in.r->code = mem_array(1, sizeof(*in.r->code));
	rc = strlen(text) > PROMREGEX_LENGTH_MAX ? wrong(&in, "longer than 512 characters") : read_choices(&in);

	if (rc == 0 && *in.at)
		rc = wrong(&in, "a ) stands there for nothing");
	if (rc == 0)
		return in.r;
	promregex_free(in.r);
	return NULL;
}

void promregex_free(struct promregex *r)
{
	if (!r)
		return;
	free(r->code);
	free(r->ranges);
	free(r);
}

/* --- matching: all places of the program that the text so far leads to ---------------------------------------------------------------- */

struct places {
	uint16_t *list;  /* where a character is awaited, or the end of the program */
	size_t count;
	bool *taken;     /* by instruction */
};

struct match {
	const struct promregex *r;
	uint16_t *stack;
	bool begin, end; /* of the text, where we are */
	size_t *budget;
};

static bool pay(struct match *m)
{
	if (*m->budget == 0)
		return false;
	--*m->budget;
	return true;
}

static void push(struct match *m, struct places *p, size_t *height, size_t place)
{
	if (p->taken[place])
		return;
	p->taken[place] = true;
	m->stack[(*height)++] = (uint16_t)place;
}

/* Everywhere one gets from a place without a character. Each place is taken once, so the stack has room. */
static void follow(struct match *m, struct places *p, size_t place)
{
	size_t height = 0;

	push(m, p, &height, place);
	while (height > 0 && pay(m)) {
		size_t at = m->stack[--height];
		const struct instruction *i = &m->r->code[at];

		if (at == m->r->length || i->code == CODE_RANGES || i->code == CODE_ANY) {
			p->list[p->count++] = (uint16_t)at;
			continue;
		}
		if (i->code == CODE_SPLIT || i->code == CODE_JUMP)
			push(m, p, &height, (size_t)((long)at + i->to));
		if (i->code == CODE_SPLIT || (i->code == CODE_BEGIN && m->begin) || (i->code == CODE_END && m->end))
			push(m, p, &height, at + 1);
	}
}

static bool accepts(const struct promregex *r, const struct instruction *i, uint32_t c)
{
	if (i->code == CODE_ANY)
		return true;
	for (size_t k = i->first; k < i->first + i->count; k++)
		if (c >= r->ranges[k].from && c <= r->ranges[k].to)
			return !i->negated;
	return i->negated;
}

static void step(struct match *m, const struct places *now, struct places *next, uint32_t c)
{
	next->count = 0;
	memset(next->taken, 0, (m->r->length + 1) * sizeof(bool));
	for (size_t i = 0; i < now->count && pay(m); i++)
		if (now->list[i] < m->r->length && accepts(m->r, &m->r->code[now->list[i]], c))
			follow(m, next, (size_t)now->list[i] + 1);
}

bool promregex_fits(const struct promregex *r, const char *text, size_t *budget)
{
	size_t size = r->length + 1;
	uint16_t *lists = mem_array(3 * size, sizeof(*lists));
	bool *taken = mem_array(2 * size, sizeof(*taken));
	struct places now = { lists, 0, taken }, next = { lists + size, 0, taken + size };
	struct match m = { r, lists + 2 * size, true, *text == '\0', budget };
	bool fits = false;

	follow(&m, &now, 0);
	while (*text && now.count > 0) {
		uint32_t c = character(text, &text);
		struct places last = now;

		m.begin = false;
		m.end = *text == '\0';
		step(&m, &now, &next, c);
		now = next;
		next = last;
	}
	for (size_t i = 0; i < now.count; i++)
		fits |= now.list[i] == r->length;
	fits = fits && !*text && *budget > 0;
	free(lists);
	free(taken);
	return fits;
}
