/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* NULL, which stands for a text that is not there, equals NULL alone. */
static inline bool text_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* In ASCII letters of any case; most that differ do so at once. */
static inline bool text_equal_nocase(const char *a, const char *b)
{
	return ((a[0] ^ b[0]) & ~0x20) == 0 && strcasecmp(a, b) == 0;
}

/* What stands behind a prefix, in ASCII letters of any case; NULL when text does not begin so. */
static inline const char *text_behind_nocase(const char *text, const char *prefix)
{
	for (; *prefix; text++, prefix++)
		if (tolower((unsigned char)*text) != tolower((unsigned char)*prefix))
			return NULL;
	return text;
}

static inline bool text_begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
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

#endif
