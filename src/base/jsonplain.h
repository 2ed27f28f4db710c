/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSONPLAIN_H
#define BASE_JSONPLAIN_H

/*
 * Reads the JSON that API servers write, in fewer instructions than jansson, which takes a text
 * character by character: that was a fifth of what the creation of an object costs. base/json calls
 * this first and jansson for the rest. So it judges nothing: what is unusual (an exponent, a
 * large number, an escape beyond ASCII, deep nesting) or wrong ends it, and jansson says what it
 * is. Debian 12 has no faster library in C that is kept up; yyjson, of later ones, may take this
 * module's place.
 */

#include <jansson.h>
#include <stddef.h>

/*
 * The value of the whole text, the same as jansson's; the caller owns it. NULL: this is not for
 * here, whether it is JSON or not.
 */
json_t *jsonplain_read(const char *text, size_t len);

#endif
