/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

/*
 * `kscaled completion SHELL`: prints the script for bash, zsh or fish that completes kscaled's
 * command lines. The script calls `kscaled completion SHELL -- WORD...` for the candidates, which
 * come from the command-line tables (options/commandline). Makes no connection.
 */

#include "base/buf.h"
#include "base/err.h"
#include "options/commandline.h"

/*
 * words[0] is the shell. Alone: appends its script to out. Else the candidates for the last word,
 * one per line, with help where the shell shows it; ":files" or ":folders" in place of paths. The
 * other words are those of the command line so far, without `kscaled`. lines end with NULL; flags
 * without a command belong to the first. ERR_INVALID: unknown shell.
 */
int completion_print(const struct commandline *const *lines, char *const *words, int count, struct buf *out,
	struct err *err);

#endif
