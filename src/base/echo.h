/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ECHO_H
#define BASE_ECHO_H

/* Whether the words of an error show a secret that a server's answer repeats. Pure. */

#include <stdbool.h>

/*
 * words: made of the answer, or the answer's. They show it if it is in them, in any case of
 * letters (a host's name is in lower case). Where the answer has it, and words are a piece that was
 * cut off of it, its beginning counts, too: eight characters anywhere, at the end the half of it.
 * answer NULL: words are whole. secret NULL or "": there is none.
 */
bool echo_shows(const char *words, const char *answer, const char *secret);

#endif
