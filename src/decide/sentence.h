/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_SENTENCE_H
#define DECIDE_SENTENCE_H

/*
 * A sentence that explains a decision, appended piece by piece to the caller's buffer. It is cut at
 * the end of the buffer, never inside a UTF-8 character.
 */

#include <stdbool.h>
#include <stddef.h>

struct sentence {
	char *out;
	size_t size, len;
	bool full;
};

struct sentence sentence_in(char *out, size_t size); /* empty; size 0 is fine */
void sentence_add(struct sentence *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
