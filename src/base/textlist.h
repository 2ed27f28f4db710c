/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXTLIST_H
#define BASE_TEXTLIST_H

/*
 * A growing list of texts: a pointer and a count, which a struct has as its own fields. NULL and 0:
 * empty.
 */

#include <stdbool.h>
#include <stddef.h>

void textlist_add(char ***list, size_t *count, const char *text); /* a copy, which the list owns */
void textlist_done(char ***list, size_t *count);                  /* frees it; it is empty afterwards */

/* The caller owns the copy; NULL: it has none. */
char **textlist_copy(char *const *list, size_t count);

bool textlist_equal(char *const *a, size_t a_count, char *const *b, size_t b_count);
bool textlist_has(char *const *list, size_t count, const char *text);

#endif
