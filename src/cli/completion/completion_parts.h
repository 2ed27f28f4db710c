/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMPLETION_COMPLETION_PARTS_H
#define CLI_COMPLETION_COMPLETION_PARTS_H

/* Shared by the files that write a script, one per shell. */

#include <stddef.h>

#include "base/buf.h"
#include "options/commandline.h"

enum completion_kind { COMPLETION_OPEN, COMPLETION_FILES, COMPLETION_FOLDERS, COMPLETION_WORDS };

/* Of the value of an option that takes one. */
enum completion_kind completion_kind(const struct option *option);
void completion_put_words(struct buf *out, const char *const *words); /* with blanks between them */

/* lines end with NULL; flags without a command belong to the first. */
typedef void (*completion_write_fn)(struct buf *out, const struct commandline *const *lines);

void completion_bash(struct buf *out, const struct commandline *const *lines);
void completion_zsh(struct buf *out, const struct commandline *const *lines);
void completion_fish(struct buf *out, const struct commandline *const *lines);

#endif
