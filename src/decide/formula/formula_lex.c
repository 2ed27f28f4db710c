/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decide/formula/formula_parts.h"

#define NUMBER_SIZE 128
#define SHOWN_MAX   40 /* bytes of the formula in a message */

int formula_lex_shown(const struct formula_token *token)
{
	return token->len < SHOWN_MAX ? (int)token->len : SHOWN_MAX;
}

bool formula_lex_is(const struct formula_token *token, const char *word)
{
	return strlen(word) == token->len && memcmp(word, token->text, token->len) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* expr-lang takes letters of all scripts; here any character beyond ASCII counts as one. */
static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_name(char c)
{
	return is_name_start(c) || is_digit(c);
}

/* Bytes of the white space at text: a no-break space often comes from a web page. */
static size_t space_len(const char *text)
{
	if ((unsigned char)text[0] == 0xC2 && ((unsigned char)text[1] == 0xA0 || (unsigned char)text[1] == 0x85))
		return 2;
	return text[0] && strchr(" \t\n\v\f\r", text[0]) ? 1 : 0;
}

static void advance(struct formula_lexer *lexer, size_t len)
{
	for (size_t i = 0; i < len; i++, lexer->at++) {
		if (*lexer->at == '\n') {
			lexer->place.line++;
			lexer->place.column = 1;
		} else if (((unsigned char)*lexer->at & 0xC0) != 0x80) {
			lexer->place.column++;
		}
	}
}

static int skip_blank(struct formula_lexer *lexer, struct err *err)
{
	for (;;) {
		size_t len = space_len(lexer->at);

		if (len == 0 && strncmp(lexer->at, "//", 2) == 0)
			len = strcspn(lexer->at, "\n");
		if (len == 0 && strncmp(lexer->at, "/*", 2) == 0) {
			const char *end = strstr(lexer->at + 2, "*/");
			if (!end)
				return formula_wrong(err, lexer->place, "this comment does not end: */ is missing");
			len = (size_t)(end + 2 - lexer->at);
		}
		if (len == 0)
			return 0;
		advance(lexer, len);
	}
}

/* ---- Numbers ---- */

static int number_value(struct formula_token *token, int base, bool real, struct err *err)
{
	char text[NUMBER_SIZE], *end;
	size_t len = 0, skip = base == 10 ? 0 : 2;
	int shown = formula_lex_shown(token);

	if (token->len >= sizeof(text))
		return formula_wrong(err, token->place, "the number %.*s... is too long", shown, token->text);
	for (size_t i = skip; i < token->len; i++)
		if (token->text[i] != '_')
			text[len++] = token->text[i];
	text[len] = '\0';
	token->kind = real ? TOKEN_FLOAT : TOKEN_INT;
	if (real) {
		token->number.real = strtod(text, &end);
		if (base != 10 || *end)
			return formula_wrong(err, token->place, "%.*s is not a number", shown, token->text);
		if (isinf(token->number.real))
			return formula_wrong(err, token->place, "the number %.*s is too large", shown, token->text);
		return 0;
	}
	if (len == 0)
		return formula_wrong(err, token->place, "%.*s is not a number", shown, token->text);
	errno = 0;
	token->number.integer = strtoll(text, NULL, base);
	if (errno != 0)
		return formula_wrong(err, token->place, "the integer %.*s is too large: write %.*s.0", shown,
			token->text, shown, token->text);
	return 0;
}

/* 1 1.5 .5 1e3 1_000 0x1F 0o17 0b101; the dots of 1..5 belong to the range. */
static int read_number(struct formula_lexer *lexer, struct formula_token *token, struct err *err)
{
	static const struct {
		const char *prefix, *digits;
		int base;
	} bases[] = {
		{ "xX", "0123456789abcdefABCDEF_", 16 },
		{ "oO", "01234567_", 8 },
		{ "bB", "01_", 2 },
	};
	const char *text = lexer->at, *digits = "0123456789_";
	int base = 10;
	size_t len = 0;
	bool real = false;

	for (size_t i = 0; i < MEM_COUNT(bases); i++)
		if (text[0] == '0' && text[1] && strchr(bases[i].prefix, text[1])) {
			base = bases[i].base;
			digits = bases[i].digits;
			len = 2;
		}
	len += strspn(text + len, digits);
	bool range = text[len] == '.' && text[len + 1] == '.';
	if (!range && text[len] == '.') {
		real = true;
		len += 1 + strspn(text + len + 1, digits);
	}
	if (!range && (text[len] == 'e' || text[len] == 'E')) {
		real = true;
		len++;
		if (text[len] == '+' || text[len] == '-')
			len++;
		len += strspn(text + len, digits);
	}
	token->len = len;
	if (!range && is_name(text[len]))
		return formula_wrong(err, token->place, "%.*s%c is not a number, and a name begins with a letter",
			formula_lex_shown(token), text, (unsigned char)text[len] < 0x80 ? text[len] : '?');
	if (number_value(token, base, real, err) < 0)
		return -1;
	advance(lexer, len);
	return 0;
}

/* ---- Words and signs ---- */

static int read_name(struct formula_lexer *lexer, struct formula_token *token, struct err *err)
{
	static const struct {
		const char *word;
		enum formula_token_kind kind;
	} words[] = {
		{ "let", TOKEN_LET },
		{ "if", TOKEN_IF },
		{ "else", TOKEN_ELSE },
		{ "not", TOKEN_NOT },
		{ "in", TOKEN_IN },
		{ "and", TOKEN_AND },
		{ "or", TOKEN_OR },
		{ "matches", TOKEN_END },
		{ "contains", TOKEN_END },
		{ "startsWith", TOKEN_END },
		{ "endsWith", TOKEN_END },
	};
	size_t len = 0;

	while (is_name(lexer->at[len]) && space_len(lexer->at + len) == 0)
		len++;
	token->kind = TOKEN_NAME;
	token->len = len;
	for (size_t i = 0; i < MEM_COUNT(words); i++)
		if (formula_lex_is(token, words[i].word))
			token->kind = words[i].kind;
	if (token->kind == TOKEN_END)
		return formula_wrong(err, token->place, "%.*s is for texts, which a formula here cannot have", (int)len,
			lexer->at);
	advance(lexer, len);
	return 0;
}

/* A character that begins no token. */
static int wrong_character(const char *text, struct formula_place place, struct err *err)
{
	if (strchr("'\"`", text[0]))
		return formula_wrong(err, place, "texts in quotes are not supported: a formula is about numbers");
	if (text[0] == '.' || strncmp(text, "?.", 2) == 0)
		return formula_wrong(err, place,
			"members (a.b) are not supported: a trigger's name in a formula is made of letters, digits and "
			"_");
	if (text[0] == '&')
		return formula_wrong(err, place, "unexpected &: write && or and");
	return formula_wrong(err, place, "unexpected character %c", text[0] > ' ' && text[0] < 0x7F ? text[0] : '?');
}

static int read_sign(struct formula_lexer *lexer, struct formula_token *token, struct err *err)
{
	static const struct {
		const char *sign;
		enum formula_token_kind kind;
	} signs[] = {
		/* the longer first */
		{ "??", TOKEN_COALESCE },
		{ "?.", TOKEN_END },
		{ "&&", TOKEN_AND },
		{ "||", TOKEN_OR },
		{ "==", TOKEN_EQ },
		{ "!=", TOKEN_NE },
		{ "<=", TOKEN_LE },
		{ ">=", TOKEN_GE },
		{ "**", TOKEN_POWER },
		{ "..", TOKEN_RANGE },
		{ "<", TOKEN_LT },
		{ ">", TOKEN_GT },
		{ "+", TOKEN_PLUS },
		{ "-", TOKEN_MINUS },
		{ "*", TOKEN_STAR },
		{ "/", TOKEN_SLASH },
		{ "%", TOKEN_PERCENT },
		{ "^", TOKEN_POWER },
		{ "|", TOKEN_PIPE },
		{ "!", TOKEN_BANG },
		{ "?", TOKEN_QUESTION },
		{ ":", TOKEN_COLON },
		{ ",", TOKEN_COMMA },
		{ ";", TOKEN_SEMICOLON },
		{ "=", TOKEN_ASSIGN },
		{ "#", TOKEN_HASH },
		{ "(", TOKEN_LPAREN },
		{ ")", TOKEN_RPAREN },
		{ "[", TOKEN_LBRACKET },
		{ "]", TOKEN_RBRACKET },
		{ "{", TOKEN_LBRACE },
		{ "}", TOKEN_RBRACE },
	};

	for (size_t i = 0; i < MEM_COUNT(signs); i++) {
		size_t len = strlen(signs[i].sign);
		if (strncmp(lexer->at, signs[i].sign, len) != 0)
			continue;
		if (signs[i].kind == TOKEN_END)
			break;
		token->kind = signs[i].kind;
		token->len = len;
		advance(lexer, len);
		return 0;
	}
	return wrong_character(lexer->at, token->place, err);
}

int formula_lex_next(struct formula_lexer *lexer, struct formula_token *out, struct err *err)
{
	if (skip_blank(lexer, err) < 0)
		return -1;
	*out = (struct formula_token){ .kind = TOKEN_END, .place = lexer->place, .text = lexer->at };
	if (!*lexer->at)
		return 0;
	if (is_digit(lexer->at[0]) || (lexer->at[0] == '.' && is_digit(lexer->at[1])))
		return read_number(lexer, out, err);
	if (is_name_start(lexer->at[0]))
		return read_name(lexer, out, err);
	return read_sign(lexer, out, err);
}
