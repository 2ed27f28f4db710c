/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMPLETION_COMPLETION_PARTS_H
#define CLI_COMPLETION_COMPLETION_PARTS_H

/* The parsed command lines, from which a file per shell writes its script. */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum completion_kind { COMPLETION_OPEN, COMPLETION_FILES, COMPLETION_FOLDERS, COMPLETION_WORDS };

struct completion_option {
	char *name;     /* without its dashes; owned */
	char letter;    /* '\0': none */
	char *argument; /* owned; NULL: takes none */
	char *help;     /* owned */
	enum completion_kind kind;
	const char *const *words; /* of COMPLETION_WORDS */
};

/* The line of a command. */
struct completion_line {
	const char *name, *help;
	struct completion_option *options; /* owned */
	size_t count;
	enum completion_kind kind; /* of operands: never COMPLETION_FOLDERS */
	const char *const *words;
};

typedef void (*completion_write_fn)(struct buf *out, const struct completion_line *lines, size_t count);

void completion_bash(struct buf *out, const struct completion_line *lines, size_t count);
void completion_zsh(struct buf *out, const struct completion_line *lines, size_t count);
void completion_fish(struct buf *out, const struct completion_line *lines, size_t count);

#endif
