/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PLAINTEXT_H
#define CLI_PLAINTEXT_H

/*
 * Prints texts from a cluster to a terminal. Control characters (C0, DEL, C1) become blanks, so
 * that text from others cannot control the terminal. One character counts as one column. Pure.
 */

#include <stddef.h>

#include "base/buf.h"

/* The width of a text. */
size_t plaintext_columns(const char *text);

/* Appends text, cut to `columns` (0: not cut) with "…" as the last. Returns the columns written. */
size_t plaintext_put(struct buf *out, const char *text, size_t columns);

/* Appends a text as one word for a shell, quoted if necessary. */
void plaintext_put_word(struct buf *out, const char *text);

/*
 * Appends label and, from column `indent` on, text, broken between words into lines of `width`
 * columns (0: one line), and a newline.
 */
void plaintext_put_field(struct buf *out, const char *label, const char *text, size_t indent, size_t width);

#endif
