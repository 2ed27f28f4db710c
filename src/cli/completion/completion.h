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

/*
 * The script for the lines, which end with NULL; the caller owns it. Flags without a command belong
 * to the first. NULL and ERR_INVALID: unknown shell.
 */
char *completion_script(const char *shell, const struct commandline *const *lines, struct err *err);

#endif
