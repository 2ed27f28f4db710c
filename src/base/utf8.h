/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

/*
 * Validates UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF), for errors,
 * logs, JSON and metrics. Pure.
 */

#include <stddef.h>

/*
 * Length (1 to 4) of the character at text, of which len bytes remain; 0: not valid. NUL is a
 * character.
 */
size_t utf8_step(const char *text, size_t len);

/* The longest length <= max that does not split a character of valid text. */
size_t utf8_cut(const char *text, size_t len, size_t max);

#define UTF8_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

#endif
