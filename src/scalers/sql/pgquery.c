/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/sql/pgquery.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

/*
 * Returns the end of the quotation that starts at c. A doubled quote is part of it, and so is an
 * escaped one where backslashes escape.
 */
static const char *skip_quoted(const char *c, bool backslashes)
{
	char quote = *c++;

	for (; *c; c++) {
		if (backslashes && *c == '\\' && c[1])
			c++;
		else if (*c == quote && c[1] == quote)
			c++;
		else if (*c == quote)
			return c + 1;
	}
	return c;
}

/* Skips $$...$$ or $tag$...$tag$; only the first character when it is neither. */
static const char *skip_dollar(const char *c)
{
	size_t len = 1;
	const char *end;

	while (is_word(c[len]) && !(len == 1 && isdigit((unsigned char)c[len])))
		len++;
	if (c[len] != '$')
		return c + 1;
	len++;
	for (end = c + len; *end; end++) {
		if (strncmp(end, c, len) == 0)
			return end + len;
	}
	return end;
}

/* These comments nest. */
static const char *skip_block(const char *c)
{
	unsigned depth = 0;

	for (; *c; c++) {
		if (c[0] == '/' && c[1] == '*') {
			depth++;
			c++;
		} else if (c[0] == '*' && c[1] == '/') {
			c++;
			if (--depth == 0)
				return c + 1;
		}
	}
	return c;
}

static const char *skip_token(const char *sql, const char *c)
{
	bool in_word = c > sql && is_word(c[-1]);

	if (*c == '\'')
		return skip_quoted(c, in_word && (c[-1] == 'e' || c[-1] == 'E') && (c - 1 == sql || !is_word(c[-2])));
	if (*c == '"')
		return skip_quoted(c, false);
	if (*c == '$' && !in_word)
		return skip_dollar(c);
	return c + 1;
}

bool pgquery_is_several(const char *sql)
{
	bool ended = false;

	for (const char *c = sql; *c;) {
		const char *next = c;

		if (isspace((unsigned char)*c))
			next = c + 1;
		else if (c[0] == '-' && c[1] == '-')
			next = c + strcspn(c, "\n");
		else if (c[0] == '/' && c[1] == '*')
			next = skip_block(c);
		if (next == c) {
			if (ended && *c != ';')
				return true;
			ended |= *c == ';';
			next = skip_token(sql, c);
		}
		c = next;
	}
	return false;
}
