/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASKING_H
#define CLI_ASKING_H

/*
 * What `kscaled explain` and `kscaled get` have in common: where to ask, how to write the answer,
 * and the exit statuses.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum asking_exit { ASKING_OK = 0, ASKING_UNKNOWN = 1, ASKING_UNREACHABLE = 2 /* wrong usage, too */ };

/*
 * Of the terminal that standard output is; both 0 when it is none, and then nothing is cut or left
 * out.
 */
struct asking_screen {
	size_t columns, rows;
};
struct asking_screen asking_screen(void);

/*
 * Asks and prints: the body as it came (json), or what `render` makes of it. command: "kscaled
 * get", for messages. Returns the exit status.
 */
typedef void (
	*asking_render)(const json_t *answer, const struct asking_screen *screen, const void *arg, struct buf *out);
enum asking_exit asking_run(const char *command, const char *address, const char *path, bool json, asking_render render,
	const void *arg);

/*
 * The kind that a word on the command line means: "scaledobject" for so, scaledobject,
 * scaledobjects; "scaledjob" likewise. NULL: none.
 */
const char *asking_kind(const char *word);

/* Whether a text may be part of a path: the name of a namespace or an object. */
bool asking_is_name(const char *text);

#endif
