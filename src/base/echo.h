/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ECHO_H
#define BASE_ECHO_H

/* Detects whether an error message shows a secret that a server's answer repeats. Pure. */

#include <stdbool.h>

/*
 * words: the message, made from the answer or quoting it. True if the secret is in it, ignoring
 * case (host names are lower-cased). If the answer contains the secret and words may be a truncated
 * piece of the answer, part of the secret counts, too: its first eight characters anywhere, or the
 * first half of it at the end. answer NULL: words are not truncated. secret NULL or "": always
 * false.
 */
bool echo_shows(const char *words, const char *answer, const char *secret);

#endif
