/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_DOTPATH_H
#define SCALERS_METRICSAPI_DOTPATH_H

/*
 * "a.b.1.c": names and indexes one below the other, for the formats of metrics-api that have no
 * path language of their own (yaml, xml). A backslash takes the meaning from the character behind
 * it: `a\.b` is one name, `\1` a name and no index. Compiled when the trigger is built.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define DOTPATH_PARTS_MAX  64
#define DOTPATH_LENGTH_MAX 1024

struct dotpath_part {
	char *name;   /* owned */
	bool indexed; /* all digits */
	bool escaped; /* with a backslash in it */
	size_t index;
};
struct dotpath {                    /* zeroed is empty */
	struct dotpath_part *parts; /* owned */
	size_t count;
};

/* ERR_INVALID `position 3: ...`; on failure *out needs no done. */
int dotpath_read(const char *text, struct dotpath *out, struct err *err);
void dotpath_done(struct dotpath *p);

/* Whether all of text is digits, and the number that they are. False: none, or too many. */
bool dotpath_index(const char *text, size_t *out);

/* The first `count` parts as they may be written, for messages; the caller owns it. */
char *dotpath_text(const struct dotpath *p, size_t count);

#endif
