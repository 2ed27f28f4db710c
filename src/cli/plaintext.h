/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PLAINTEXT_H
#define CLI_PLAINTEXT_H

/*
 * Texts from a cluster on a terminal: whoever may write a condition must not be able to move the
 * cursor, so control characters (C0, DEL, C1) become blanks. One character counts as one column.
 * Pure.
 */

#include <stddef.h>

#include "base/buf.h"

size_t plaintext_columns(const char *text);

/*
 * Appends the text, cut to so many columns, its last being "…", when it is longer; 0: never cut.
 * Returns the columns written.
 */
size_t plaintext_put(struct buf *out, const char *text, size_t columns);

/*
 * Appends `label` and, from column `indent` on, the text, broken between words into lines of
 * `width` columns (0: one line). Ends with a newline.
 */
void plaintext_put_field(struct buf *out, const char *label, const char *text, size_t indent, size_t width);

#endif
