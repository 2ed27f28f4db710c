/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

/* What <string.h> lacks for strings. Pure. */

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* NULL, an absent text, equals only NULL. */
static inline bool text_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Ignores the case of ASCII letters. The first byte is compared first: most texts differ there. */
static inline bool text_equal_nocase(const char *a, const char *b)
{
	return ((a[0] ^ b[0]) & ~0x20) == 0 && strcasecmp(a, b) == 0;
}

/*
 * The text behind the prefix, ignoring the case of ASCII letters; NULL: text does not begin with
 * it.
 */
static inline const char *text_behind_nocase(const char *text, const char *prefix)
{
	for (; *prefix; text++, prefix++)
		if (tolower((unsigned char)*text) != tolower((unsigned char)*prefix))
			return NULL;
	return text;
}

/* The text behind the prefix; NULL: text does not begin with it. */
static inline const char *text_behind(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* Neither NULL nor "". */
static inline bool text_is_given(const char *text)
{
	return text && *text;
}

/* The text; NULL if it is empty. */
static inline const char *text_given(const char *text)
{
	return text_is_given(text) ? text : NULL;
}

static inline bool text_begins(const char *text, const char *prefix)
{
	return text_behind(text, prefix) != NULL;
}

static inline int text_hex_digit(char c)
{
	char lower = (char)(c | 0x20);

	return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The byte that the first two hexadecimal digits of text stand for ("4f"); -1: not two digits. */
static inline int text_hex_byte(const char *text, size_t len)
{
	int high = len >= 2 ? text_hex_digit(text[0]) : -1, low = len >= 2 ? text_hex_digit(text[1]) : -1;

	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Decodes percent-encoding in place. -1: a '%' without two hexadecimal digits, or a zero byte. */
static inline int text_unescape(char *text, bool plus_is_space)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		char c = *from;

		if (c == '%') {
			int byte = text_hex_byte(from + 1, strnlen(from + 1, 2));

			if (byte <= 0)
				return -1;
			c = (char)byte;
			from += 2;
		} else if (c == '+' && plus_is_space) {
			c = ' ';
		}
		*to++ = c;
	}
	*to = '\0';
	return 0;
}

/*
 * Decodes %XX in place, except %00; leaves invalid escapes. Returns the new length; the text is
 * NUL-terminated there.
 */
static inline size_t text_percent_decode(char *text, size_t len)
{
	size_t to = 0;

	for (size_t i = 0; i < len; i++, to++) {
		int byte = text[i] == '%' ? text_hex_byte(text + i + 1, len - i - 1) : -1;

		text[to] = byte > 0 ? (char)byte : text[i];
		i += byte > 0 ? 2 : 0;
	}
	text[to] = '\0';
	return to;
}

/* words, here and below: NULL-terminated */
static inline bool text_begins_with_one_of(const char *text, const char *const *words)
{
	while (*words && !text_begins(text, *words))
		words++;
	return *words != NULL;
}

static inline bool text_has_one_of(const char *text, const char *const *words)
{
	while (*words && !strstr(text, *words))
		words++;
	return *words != NULL;
}

static inline bool text_is_one_of(const char *text, const char *const *words)
{
	while (*words && strcmp(text, *words) != 0)
		words++;
	return *words != NULL;
}

/* The beginning of a foreign text, with blanks for control characters. Returns out. */
static inline char *text_line(const char *text, size_t len, char *out, size_t size)
{
	size_t i = 0;

	for (; i + 1 < size && i < len; i++)
		out[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
	out[i] = '\0';
	return out;
}

/* The text without these characters at both ends. Cuts the end in place. */
static inline char *text_trim(char *text, const char *blanks)
{
	text += strspn(text, blanks);
	for (size_t len = strlen(text); len > 0 && strchr(blanks, text[len - 1]); len--)
		text[len - 1] = '\0';
	return text;
}

#endif
