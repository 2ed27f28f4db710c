/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

/*
 * `kscaled completion SHELL`: prints the script for bash, zsh or fish that completes kscaled's
 * command lines, generated from the command-line tables (options/commandline). Makes no connection.
 */

#include <stddef.h>

#include "base/err.h"
#include "options/commandline.h"

extern const struct commandline cli_completion_line;

/*
 * The script, which the caller owns. Flags without a command belong to commands[0]. NULL and
 * ERR_INVALID: unknown shell.
 */
char *completion_script(const char *shell, const struct commandline *const *commands, size_t count, struct err *err);

/* The sub-command: argv[0] is its name. Returns the exit status: 0; 1: error; 2: wrong usage. */
int cli_completion(int argc, char **argv, const struct commandline *const *commands, size_t count);

#endif
