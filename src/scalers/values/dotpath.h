/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_VALUES_DOTPATH_H
#define SCALERS_VALUES_DOTPATH_H

/*
 * Paths such as "a.b.1.c" of names and indexes, for formats without a path language (yaml, xml). A
 * backslash escapes the next character: `a\.b` is one name, `\1` is a name, not an index. Compiled
 * when the trigger is built.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define DOTPATH_PARTS_MAX  64
#define DOTPATH_LENGTH_MAX 1024

struct dotpath_part {
	char *name;   /* owned */
	bool indexed; /* all digits */
	bool escaped; /* contains a backslash */
	size_t index;
};
struct dotpath {                    /* empty when zeroed */
	struct dotpath_part *parts; /* owned */
	size_t count;
};

/* ERR_INVALID `position 3: ...`; on failure *out needs no done. */
int dotpath_read(const char *text, struct dotpath *out, struct err *err);
void dotpath_done(struct dotpath *p);

/* True and *out when text consists of digits only and fits. */
bool dotpath_index(const char *text, size_t *out);

/* The first `count` parts as text, escaped, for messages; the caller owns it. */
char *dotpath_text(const struct dotpath *p, size_t count);

#endif
