/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

/*
 * The one place that knows what valid UTF-8 is (RFC 3629: no overlong forms, no surrogates, nothing
 * past U+10FFFF). Errors, logs, JSON and metrics pass what they write through it. Pure.
 */

#include <stddef.h>

/*
 * Length (1 to 4) of the valid character at text, which has len bytes left; 0 when the bytes there
 * are none. A NUL byte counts as one.
 */
size_t utf8_step(const char *text, size_t len);

/* The longest length <= max that does not cut a character of valid text in two. */
size_t utf8_cut(const char *text, size_t len, size_t max);

#define UTF8_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

#endif
