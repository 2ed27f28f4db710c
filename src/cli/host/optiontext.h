/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_OPTIONTEXT_H
#define CLI_HOST_OPTIONTEXT_H

/*
 * The options of a command as words for a shell, by their table: `kscaled join` notes its call,
 * `kscaled doctor` reads that and suggests calls. Pure.
 */

#include "base/buf.h"
#include "options/commandline.h"

/*
 * Appends " --NAME", between, and the value, of a text that is set or a count above 0; " --NAME" of
 * a true switch. Tables with other kinds of options are not for it.
 */
void optiontext_put(struct buf *out, const struct option *options, const void *values, char between);
void optiontext_put_one(struct buf *out, const char *option, const char *value, char between); /* NULL: not set */

/* The value of an option in such a text, with '=' between; "": a switch. NULL: not there. */
char *optiontext_find(const char *text, const char *option);

#endif
