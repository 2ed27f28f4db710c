/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMPLETION_COMPLETION_H
#define CLI_COMPLETION_COMPLETION_H

/*
 * `kscaled completion SHELL`: prints the script by which bash, zsh or fish completes the command
 * lines of kscaled. Made from the commands and what each shows of its line (cli/commandline), so
 * that nothing is written down for it. Connects to nothing.
 */

#include <stddef.h>

#include "base/err.h"
#include "cli/commandline.h"

struct completion_command {
	const char *name, *help;
	const struct commandline *line; /* NULL: nothing follows the name */
};

extern const struct commandline cli_completion_line;

/*
 * The script, which the caller owns. commands[0] is the one that flags without a command belong to.
 * NULL and ERR_INVALID: there is no such shell.
 */
char *completion_script(const char *shell, const struct completion_command *commands, size_t count, struct err *err);

/* The sub-command: argv[0] is its name. Returns the exit status: 0; 1: error; 2: wrong usage. */
int cli_completion(int argc, char **argv, const struct completion_command *commands, size_t count);

#endif
