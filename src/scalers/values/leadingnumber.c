/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/values/leadingnumber.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 128 /* longer than any number that people write */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Skips white space and copies the characters that may belong to a number. */
static void take_word(const char *text, size_t len, char word[LENGTH_MAX + 1])
{
	size_t at = 0, used = 0;

	while (at < len && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	while (used < LENGTH_MAX && at < len && text[at] && strchr("+-.0123456789eE_pPxX", text[at]))
		word[used++] = text[at++];
	word[used] = '\0';
}

/* Skips a sign and digits. */
static const char *skip_digits(const char *at)
{
	if (*at == '+' || *at == '-')
		at++;
	while (is_digit(*at))
		at++;
	return at;
}

/* Whether the digits belong to a hexadecimal number or one with underscores. */
static bool is_foreign(const char *word, const char *end)
{
	bool hexadecimal = (*end == 'x' || *end == 'X') && end > word && end[-1] == '0' &&
		(end - 1 == word || !is_digit(end[-2]));

	return *end == '_' || hexadecimal;
}

bool leadingnumber_decimal(const char *text, size_t len, double *out)
{
	char word[LENGTH_MAX + 1];
	const char *end, *first = word;

	take_word(text, len, word);
	first += *word == '+' || *word == '-';
	end = skip_digits(word);
	if (is_foreign(word, end))
		return false;
	if (*end == '.')
		for (end++; is_digit(*end);)
			end++;
	if (end == first || (end == first + 1 && *first == '.'))
		return false;
	if (*end == 'e' || *end == 'E') {
		const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');

		if (!is_digit(*exponent))
			return false;
		end = skip_digits(end + 1);
	}
	if (*end == '_' || *end == 'p' || *end == 'P' || end - word == LENGTH_MAX)
		return false;
	word[end - word] = '\0';
	*out = strtod(word, NULL);
	return isfinite(*out);
}

bool leadingnumber_whole(const char *text, size_t len, double *out)
{
	char word[LENGTH_MAX + 1];
	const char *end;
	long long number;

	take_word(text, len, word);
	end = skip_digits(word);
	if (end == word || !is_digit(end[-1]) || *end == '_' || end - word == LENGTH_MAX)
		return false;
	word[end - word] = '\0';
	errno = 0;
	number = strtoll(word, NULL, 10);
	*out = (double)number;
	return errno == 0;
}
